package data

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Measured sums up repetitions of one thing, such as the seconds of a call: the median,
// the least and the greatest. Of queries the latter two are the ends of an interval that
// holds the median of all runs with 95 % confidence.
type Measured struct{ Median, Least, Greatest float64 }

// Comparison is a row of peers.csv: what we take for a piece of work, and what one
// method of a peer takes for the same, measured in turns by go run ./data/peers.
type Comparison struct {
	Work     string // its short name, as the command's --only has it
	Instance string // of the work, in words
	Unit     string // s, queries, GiB or ×
	Ours     string // our method; empty if the instance says it
	We       Measured
	OurCPU   float64 // seconds of all cores together, median
	Threads  int     // that we may use

	Peer   string // a package and its version; empty if there is none
	Method string // the peer's
	They   Measured
	// TheirCPU and TheirThreads are as OurCPU and Threads.
	TheirCPU     float64
	TheirThreads int
	// Outcome is empty if the peer came to the same answer as we, and tells otherwise what
	// happened. One that was stopped has the time it had in They. Without a peer it is
	// empty, or NotReached.
	Outcome     string
	Repetitions int // of the peer; of ours if there is none

	Faster float64 // wanted: They/We at least; 0 if nothing is
	Most   float64 // wanted: We at most; 0 if nothing is

	Machine string // model of the processor and number of cores
	Go      string
	Python  string // empty if there is no peer
	Date    string // of the measurement, YYYY-MM-DD
}

// NotReached is the outcome if half of the runs had not arrived when they ended, which is
// then the median.
const NotReached = "not reached"

// stopped is how the outcome of a peer begins that did not finish in the time it had.
const stopped = "stopped"

// Stopped is the outcome of a peer that had this many seconds and did not finish.
func Stopped(seconds float64) string { return fmt.Sprintf("%s after %.3g s", stopped, seconds) }

// Ratio returns how many times as long the peer takes: a lower bound if it was stopped,
// and NaN if it failed or there is none.
func (c Comparison) Ratio() (ratio float64, bound bool) {
	if c.Peer == "" || c.Outcome != "" && !strings.HasPrefix(c.Outcome, stopped) {
		return math.NaN(), false
	}
	return c.They.Median / c.We.Median, c.Outcome != ""
}

// Met tells whether the row has what was wanted.
func (c Comparison) Met() bool {
	ratio, _ := c.Ratio()
	return !(ratio < c.Faster) && (c.Most == 0 || c.We.Median <= c.Most)
}

// Best returns of every work and instance the row of the best peer, in the order of the
// file: the fastest that finished, or the one that was stopped last.
func Best(all []Comparison) []Comparison {
	var best []Comparison
	for _, c := range all {
		k := slices.IndexFunc(best, func(b Comparison) bool { return b.Work == c.Work && b.Instance == c.Instance })
		if k < 0 {
			best = append(best, c)
		} else if better(c, best[k]) {
			best[k] = c
		}
	}
	return best
}

func better(a, b Comparison) bool {
	ra, boundA := a.Ratio()
	rb, boundB := b.Ratio()
	switch {
	case math.IsNaN(ra) || math.IsNaN(rb):
		return !math.IsNaN(ra)
	case boundA != boundB:
		return boundB
	case boundA:
		return ra > rb
	}
	return ra < rb
}

// column is one of peers.csv: its name, and where its value is.
type column struct {
	name string
	at   func(*Comparison) any
}

var columns = []column{
	{"work", func(c *Comparison) any { return &c.Work }},
	{"instance", func(c *Comparison) any { return &c.Instance }},
	{"unit", func(c *Comparison) any { return &c.Unit }},
	{"ours", func(c *Comparison) any { return &c.Ours }},
	{"ours_median", func(c *Comparison) any { return &c.We.Median }},
	{"ours_least", func(c *Comparison) any { return &c.We.Least }},
	{"ours_greatest", func(c *Comparison) any { return &c.We.Greatest }},
	{"ours_cpu", func(c *Comparison) any { return &c.OurCPU }},
	{"ours_threads", func(c *Comparison) any { return &c.Threads }},
	{"peer", func(c *Comparison) any { return &c.Peer }},
	{"method", func(c *Comparison) any { return &c.Method }},
	{"peer_median", func(c *Comparison) any { return &c.They.Median }},
	{"peer_least", func(c *Comparison) any { return &c.They.Least }},
	{"peer_greatest", func(c *Comparison) any { return &c.They.Greatest }},
	{"peer_cpu", func(c *Comparison) any { return &c.TheirCPU }},
	{"peer_threads", func(c *Comparison) any { return &c.TheirThreads }},
	{"outcome", func(c *Comparison) any { return &c.Outcome }},
	{"repetitions", func(c *Comparison) any { return &c.Repetitions }},
	{"ratio_wanted", func(c *Comparison) any { return &c.Faster }},
	{"ours_at_most", func(c *Comparison) any { return &c.Most }},
	{"machine", func(c *Comparison) any { return &c.Machine }},
	{"go", func(c *Comparison) any { return &c.Go }},
	{"python", func(c *Comparison) any { return &c.Python }},
	{"date", func(c *Comparison) any { return &c.Date }},
}

// derived are further columns, for readers of the file: they follow from the others.
var derived = []struct {
	name string
	of   func(Comparison) string
}{
	{"ratio", func(c Comparison) string {
		ratio, bound := c.Ratio()
		switch {
		case math.IsNaN(ratio):
			return ""
		case bound:
			return "≥" + number(ratio)
		}
		return number(ratio)
	}},
	{"met", func(c Comparison) string { return strconv.FormatBool(c.Met()) }},
}

// number writes four digits, which is more than a time has.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// WriteComparisons writes them as CSV with a header. Numbers are rounded to four digits.
func WriteComparisons(w io.Writer, all []Comparison) error {
	var head []string
	for _, k := range columns {
		head = append(head, k.name)
	}
	for _, k := range derived {
		head = append(head, k.name)
	}
	rows := [][]string{head}
	for _, c := range all {
		var row []string
		for _, k := range columns {
			switch v := k.at(&c).(type) {
			case *string:
				row = append(row, *v)
			case *int:
				row = append(row, strconv.Itoa(*v))
			case *float64:
				text := number(*v)
				row = append(row, text)
				*v, _ = strconv.ParseFloat(text, 64) // what derived columns follow from
			}
		}
		for _, k := range derived {
			row = append(row, k.of(c))
		}
		rows = append(rows, row)
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("data: peers.csv: %w", err)
	}
	return nil
}

// ReadComparisons reads what [WriteComparisons] has written. An error names the line and
// the column.
func ReadComparisons(r io.Reader) ([]Comparison, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("data: peers.csv: %w", err)
	}
	if len(rows) == 0 {
		return nil, errors.New("data: peers.csv is empty, want a header")
	}
	width := len(columns) + len(derived)
	for j, name := range rows[0] {
		if len(rows[0]) != width || j < len(columns) && name != columns[j].name || j >= len(columns) && name != derived[j-len(columns)].name {
			return nil, fmt.Errorf("data: peers.csv has the columns %q, want those that go run ./data/peers writes", rows[0])
		}
	}
	var all []Comparison
	for i, row := range rows[1:] {
		var c Comparison
		for j, k := range columns {
			var err error
			switch v := k.at(&c).(type) {
			case *string:
				*v = row[j]
			case *int:
				*v, err = strconv.Atoi(row[j])
			case *float64:
				*v, err = strconv.ParseFloat(row[j], 64)
				if err == nil && !(*v >= 0 && *v <= math.MaxFloat64) {
					err = errors.New("want a finite number ≥ 0")
				}
			}
			if err != nil {
				return nil, fmt.Errorf("data: peers.csv, row %d, column %s: %q: %w", i+1, k.name, row[j], err)
			}
		}
		for j, k := range derived {
			if got, want := row[len(columns)+j], k.of(c); got != want {
				return nil, fmt.Errorf("data: peers.csv, row %d, column %s: %q does not follow from the others, want %q", i+1, k.name, got, want)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// Comparisons returns the rows of peers.csv.
func Comparisons() ([]Comparison, error) {
	f, err := Files.Open("peers.csv")
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	return ReadComparisons(f)
}
