package paper

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/mixpolicy/lab/data"
)

// NetworkQuantity says what a [NetworkRow] tells.
type NetworkQuantity string

const (
	PolicyCost    NetworkQuantity = "cost"           // exact, of the policy; Lo and Hi from the error estimate of its measure
	SimulatedCost NetworkQuantity = "simulated cost" // with 95 % interval; At is steps a stream
	Optimum       NetworkQuantity = "optimum"        // of (2.18); Lo is the certified bound, Residual the violation
	Weight        NetworkQuantity = "weight"         // θ*ⱼ

	// Of the answers after At queries: mean over trials with 95 % interval.
	LearntObjective NetworkQuantity = "cᵀΨθ"
	LearntMass      NetworkQuantity = "negative mass"
	LearntMerit     NetworkQuantity = "merit" // mixpolicy.Problem.Merit
)

// Queues are the quantities P(xᵢ = At), for i = 1 to 4.
func Queues() [4]NetworkQuantity {
	return [4]NetworkQuantity{"queue 1", "queue 2", "queue 3", "queue 4"}
}

// NetworkRow is a number about the network, with what vouches for it.
type NetworkRow struct {
	Dynamics, Base string // the set of base policies
	What           NetworkQuantity
	Of             string // rule, policy or method
	At             float64
	Value, Lo, Hi  float64
	Residual       float64 // L1 flow residual of the measure behind it
}

// NetworkRecord is a list of them.
type NetworkRecord []NetworkRow

// Select returns the rows of a dynamics and a quantity, in order. An empty base or of
// stands for all.
func (r NetworkRecord) Select(dynamics fmt.Stringer, base string, what NetworkQuantity, of string) (rows NetworkRecord) {
	for _, row := range r {
		if row.Dynamics == dynamics.String() && row.What == what && (base == "" || row.Base == base) && (of == "" || row.Of == of) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Columns returns at, values and intervals, for a curve.
func (r NetworkRecord) Columns() (at, value, lo, hi []float64) {
	for _, row := range r {
		at, value, lo, hi = append(at, row.At), append(value, row.Value), append(lo, row.Lo), append(hi, row.Hi)
	}
	return at, value, lo, hi
}

var networkHeader = []string{"dynamics", "base", "what", "of", "at", "value", "lo", "hi", "residual"}

// Write writes the record as CSV with a header, numbers to twelve digits.
func (r NetworkRecord) Write(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{networkHeader}
	for _, row := range r {
		f := []string{row.Dynamics, row.Base, string(row.What), row.Of}
		for _, v := range []float64{row.At, row.Value, row.Lo, row.Hi} {
			f = append(f, strconv.FormatFloat(v, 'g', 12, 64))
		}
		rows = append(rows, append(f, strconv.FormatFloat(row.Residual, 'g', 2, 64)))
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("paper: network record: %w", err)
	}
	return nil
}

// ReadNetwork reads a record as [NetworkRecord.Write] writes it; errors name the line.
func ReadNetwork(r io.Reader) (NetworkRecord, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("paper: network record: %w", err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], networkHeader) {
		return nil, fmt.Errorf("paper: network record: want the header %v", networkHeader)
	}
	var out NetworkRecord
	for k, f := range rows[1:] {
		row := NetworkRow{Dynamics: f[0], Base: f[1], What: NetworkQuantity(f[2]), Of: f[3]}
		for i, to := range []*float64{&row.At, &row.Value, &row.Lo, &row.Hi, &row.Residual} {
			if *to, err = strconv.ParseFloat(f[4+i], 64); err != nil || math.IsNaN(*to) {
				return nil, fmt.Errorf("paper: network record, line %d: %s %q, want a number", k+2, networkHeader[4+i], f[4+i])
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// RecordedNetwork returns data/network.csv, which [FullNetworks] computed: minutes of
// work at full size.
func RecordedNetwork() (NetworkRecord, error) {
	f, err := data.Files.Open("network.csv")
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	defer f.Close()
	return ReadNetwork(f)
}
