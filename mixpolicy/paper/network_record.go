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
	TotalLength   NetworkQuantity = "total length"   // P(‖x‖₁ = At)
	ServesFirst   NetworkQuantity = "serves queue 1" // probability that server 1 works on queue 1 in state At
	Optimum       NetworkQuantity = "optimum"        // of (2.18); Lo is the certified bound, Residual the violation
	Weight        NetworkQuantity = "weight"         // θ*ⱼ
	LeastWeight   NetworkQuantity = "least weight"   // min θⱼ over Ψθ ⪰ 0, 1ᵀθ = 1, ‖θ‖ ≤ R
	MixedPolicies NetworkQuantity = "mixed policies" // cost of (1−w)π¹ + wπ² (2.16) at At = w
	MixedMeasures NetworkQuantity = "mixed measures" // that of the policy of (1−w)ψ¹ + wψ² (2.17)

	// Of the answers after At queries: mean over trials with 95 % interval.
	LearntObjective NetworkQuantity = "cᵀΨθ"
	LearntMass      NetworkQuantity = "negative mass" // ‖[Ψθ]₋‖₁
	LearntSum       NetworkQuantity = "1ᵀθ"
	LearntGap       NetworkQuantity = "penalised gap" // see penalisedGap
	// Tuning is the penalised gap of a configuration in the trials that choose; At is η₀.
	Tuning NetworkQuantity = "tuning"
	// Overflow is the number of iterations after which such a trial left the range of
	// floating point.
	Overflow NetworkQuantity = "overflow"
	// LearntCost is the true cost of the learnt policies, mean over trials with 95 %
	// interval. The cost of each is a PolicyCost of the name that [TrialName] gives.
	LearntCost NetworkQuantity = "mean cost"

	// Of the dual ALP, by iteration: the parts of f_ω (4.14).
	DualObjective NetworkQuantity = "dual ALP: cᵀΨθ"
	DualNegative  NetworkQuantity = "dual ALP: negative mass"
	DualFlow      NetworkQuantity = "dual ALP: flow"
	DualCost      NetworkQuantity = "dual ALP: cost" // true, of the policy of the average so far
)

// TrialName names the policy that a method's k-th trial left, from 0.
func TrialName(method string, k int) string { return fmt.Sprintf("%s, trial %d", method, k+1) }

// NetworkRow is a number about the network, with what vouches for it and what it takes to
// compute it again.
type NetworkRow struct {
	Part          string // of [NetworkParts], which computes it
	Dynamics      string
	Buffers       string
	Base          string // the set of base policies
	What          NetworkQuantity
	Of            string // rule, policy or method
	At            float64
	Value, Lo, Hi float64
	Residual      float64 // L1 flow residual of the measure behind it
	Trials        int     // behind a mean; 0 for an exact number
	Seed          uint64
	Settings      string // of the method
}

// NetworkRecord is a list of them.
type NetworkRecord []NetworkRow

// Select returns the rows that agree with like in Part, Dynamics, Buffers, Base, What and
// Of, in order; what like leaves empty may be anything.
func (r NetworkRecord) Select(like NetworkRow) (rows NetworkRecord) {
	for _, row := range r {
		if agree(row.Part, like.Part) && agree(row.Dynamics, like.Dynamics) && agree(row.Buffers, like.Buffers) &&
			agree(row.Base, like.Base) && agree(row.What, like.What) && agree(row.Of, like.Of) {
			rows = append(rows, row)
		}
	}
	return rows
}

func agree[text ~string](value, want text) bool { return want == "" || value == want }

// One is the only row of [NetworkRecord.Select]; the error says how many there are else.
func (r NetworkRecord) One(like NetworkRow) (NetworkRow, error) {
	rows := r.Select(like)
	if len(rows) != 1 {
		return NetworkRow{}, fmt.Errorf("paper: network record: %d rows like %+v, want 1", len(rows), like)
	}
	return rows[0], nil
}

// Columns returns at, values and intervals, for a curve.
func (r NetworkRecord) Columns() (at, value, lo, hi []float64) {
	for _, row := range r {
		at, value, lo, hi = append(at, row.At), append(value, row.Value), append(lo, row.Lo), append(hi, row.Hi)
	}
	return at, value, lo, hi
}

var networkHeader = []string{"part", "dynamics", "buffers", "base", "what", "of", "at", "value", "lo", "hi", "residual", "trials", "seed", "settings"}

// Write writes the record as CSV with a header, numbers to twelve digits.
func (r NetworkRecord) Write(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{networkHeader}
	for _, row := range r {
		f := []string{row.Part, row.Dynamics, row.Buffers, row.Base, string(row.What), row.Of}
		for _, v := range []float64{row.At, row.Value, row.Lo, row.Hi} {
			f = append(f, strconv.FormatFloat(v, 'g', 12, 64))
		}
		f = append(f, strconv.FormatFloat(row.Residual, 'g', 2, 64))
		rows = append(rows, append(f, strconv.Itoa(row.Trials), strconv.FormatUint(row.Seed, 10), row.Settings))
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
		row := NetworkRow{Part: f[0], Dynamics: f[1], Buffers: f[2], Base: f[3], What: NetworkQuantity(f[4]), Of: f[5], Settings: f[13]}
		for i, to := range []*float64{&row.At, &row.Value, &row.Lo, &row.Hi, &row.Residual} {
			if *to, err = strconv.ParseFloat(f[6+i], 64); err != nil || math.IsNaN(*to) {
				return nil, fmt.Errorf("paper: network record, line %d: %s %q, want a number", k+2, networkHeader[6+i], f[6+i])
			}
		}
		if row.Trials, err = strconv.Atoi(f[11]); err != nil {
			return nil, fmt.Errorf("paper: network record, line %d: %s %q, want a whole number", k+2, networkHeader[11], f[11])
		}
		if row.Seed, err = strconv.ParseUint(f[12], 10, 64); err != nil {
			return nil, fmt.Errorf("paper: network record, line %d: %s %q, want a whole number ≥ 0", k+2, networkHeader[12], f[12])
		}
		out = append(out, row)
	}
	return out, nil
}

// RecordedNetwork returns data/network.csv, which [NetworkParts] compute: the better part
// of an hour of work at full size.
func RecordedNetwork() (NetworkRecord, error) {
	f, err := data.Files.Open("network.csv")
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	defer f.Close()
	return ReadNetwork(f)
}
