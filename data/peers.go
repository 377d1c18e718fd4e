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

// Measured is the median, the least and the greatest of the seconds of repeated calls.
type Measured struct{ Median, Least, Greatest float64 }

// Comparison is a row of peers.csv: what we take for a piece of work, and what one
// method of a peer takes for the same, measured in turns by go run ./data/peers.
type Comparison struct {
	Work     string // its short name, as the command's --only has it
	Instance string // of the work, in words
	Ours     string // our method; empty if the instance says it
	We       Measured
	OurCPU   float64 // seconds of all cores together, median
	Threads  int     // that we may use

	Peer   string // a package and its version
	Method string // the peer's
	They   Measured
	// TheirCPU and TheirThreads are as OurCPU and Threads.
	TheirCPU     float64
	TheirThreads int
	// Outcome is empty if the peer had the same answer as we; else it says what happened. One that was stopped has the time it had in They.
	Outcome     string
	Repetitions int // of the peer

	Machine string // model of the processor and number of cores
	Go      string
	Python  string
	Date    string // of the measurement, YYYY-MM-DD
}

// stopped is how the outcome of a peer begins that did not finish in the time it had.
const stopped = "stopped"

// Stopped is the outcome of a peer that had this many seconds and did not finish.
func Stopped(seconds float64) string { return fmt.Sprintf("%s after %.3g s", stopped, seconds) }

// Ratio returns how many times as long the peer takes: a lower bound if it was stopped,
// and NaN if it failed.
func (c Comparison) Ratio() (ratio float64, bound bool) {
	if c.Outcome != "" && !strings.HasPrefix(c.Outcome, stopped) {
		return math.NaN(), false
	}
	return c.They.Median / c.We.Median, c.Outcome != ""
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
	{"machine", func(c *Comparison) any { return &c.Machine }},
	{"go", func(c *Comparison) any { return &c.Go }},
	{"python", func(c *Comparison) any { return &c.Python }},
	{"date", func(c *Comparison) any { return &c.Date }},
}

// ratio is the last column, for readers of the file: it follows from the others.
func (c Comparison) ratio() string {
	ratio, bound := c.Ratio()
	switch {
	case math.IsNaN(ratio):
		return ""
	case bound:
		return "≥" + number(ratio)
	}
	return number(ratio)
}

// header returns the names of the columns.
func header() []string {
	var names []string
	for _, k := range columns {
		names = append(names, k.name)
	}
	return append(names, "ratio")
}

// number writes four digits, which is more than a time has.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// WriteComparisons writes them as CSV with a header. Numbers are rounded to four digits.
func WriteComparisons(w io.Writer, all []Comparison) error {
	rows := [][]string{header()}
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
				*v, _ = strconv.ParseFloat(text, 64) // what the ratio follows from
			}
		}
		rows = append(rows, append(row, c.ratio()))
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
	if want := header(); !slices.Equal(rows[0], want) {
		return nil, fmt.Errorf("data: peers.csv has the columns %q, want %q", rows[0], want)
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
		if got, want := row[len(columns)], c.ratio(); got != want {
			return nil, fmt.Errorf("data: peers.csv, row %d, column ratio: %q does not follow from the others, want %q", i+1, got, want)
		}
		all = append(all, c)
	}
	return all, nil
}

// The table of peers.csv in README.md is between these lines.
const (
	readmeBegin = "<!-- from data/peers.csv, by go run ./data/peers -->\n"
	readmeEnd   = "<!-- end of data/peers.csv -->\n"
)

// WithComparisons returns the README with its table made anew from the rows.
func WithComparisons(readme string, all []Comparison) (string, error) {
	before, rest, begins := strings.Cut(readme, readmeBegin)
	_, after, ends := strings.Cut(rest, readmeEnd)
	if !begins || !ends {
		return "", fmt.Errorf("data: README.md has no place for the comparison, want the lines %q and %q", readmeBegin, readmeEnd)
	}
	return before + readmeBegin + comparisonTable(all) + readmeEnd + after, nil
}

// comparisonTable is Markdown: of each work the first problem, with the best peer.
func comparisonTable(all []Comparison) string {
	var b strings.Builder
	b.WriteString("| problem | this module | best peer | ratio |\n|---|---|---|---|\n")
	last := ""
	for _, c := range Best(all) {
		if c.Work == last {
			continue
		}
		last = c.Work
		ours, theirs := seconds(c.We.Median), c.Outcome
		if c.Ours != "" {
			ours += ", " + c.Ours
		}
		if theirs == "" {
			theirs = seconds(c.They.Median)
		}
		ratio := ""
		switch r, bound := c.Ratio(); {
		case math.IsNaN(r):
		case bound:
			ratio = "**≥ " + digits(r) + " ×**"
		default:
			ratio = "**" + digits(r) + " ×**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s, %s: %s | %s |\n", c.Instance, ours, c.Peer, c.Method, theirs, ratio)
	}
	return b.String()
}

// seconds writes a time with the prefix that suits it.
func seconds(v float64) string {
	for _, p := range []struct {
		prefix string
		size   float64
	}{{"", 1}, {"m", 1e-3}, {"µ", 1e-6}} {
		if v >= p.size {
			return digits(v/p.size) + " " + p.prefix + "s"
		}
	}
	return digits(v/1e-9) + " ns"
}

// digits writes two digits, or all of those before the point.
func digits(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		return Thousands(int(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', max(0, 1-int(math.Floor(math.Log10(v)))), 64)
}

// Thousands writes n with commas between thousands.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
