package data

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/internal/csvrows"
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

	// Bytes are those of the problem's arrays, 0 where a cache may hold them, and Bandwidth is how
	// many memory hands over a second, measured beside the times.
	Bytes, Bandwidth float64

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

// Floor returns the seconds in which memory hands over the problem once. It is 0 where a cache may
// hold it, or the bandwidth was not measured.
func (c Comparison) Floor() float64 {
	if c.Bandwidth == 0 {
		return 0
	}
	return c.Bytes / c.Bandwidth
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

var header = []string{
	"work", "instance", "ours", "ours_median", "ours_least", "ours_greatest", "ours_cpu", "ours_threads", "bytes", "bandwidth",
	"peer", "method", "peer_median", "peer_least", "peer_greatest", "peer_cpu", "peer_threads",
	"outcome", "repetitions", "machine", "go", "python", "date", "ratio",
}

// line is a row of peers.csv. Its last column is for readers of the file: it follows from
// the others.
type line struct {
	Comparison
	ratio string
}

// fields are in the order of the header.
func (l *line) fields() []any {
	return []any{
		&l.Work, &l.Instance, &l.Ours, &l.We.Median, &l.We.Least, &l.We.Greatest, &l.OurCPU, &l.Threads, &l.Bytes, &l.Bandwidth,
		&l.Peer, &l.Method, &l.They.Median, &l.They.Least, &l.They.Greatest, &l.TheirCPU, &l.TheirThreads,
		&l.Outcome, &l.Repetitions, &l.Machine, &l.Go, &l.Python, &l.Date, &l.ratio,
	}
}

// told is the last column.
func (c Comparison) told() string {
	ratio, bound := c.Ratio()
	switch {
	case math.IsNaN(ratio):
		return ""
	case bound:
		return "≥" + number(ratio)
	}
	return number(ratio)
}

// precision is four digits, which is more than a time has.
const precision = 4

func number(v float64) string { return strconv.FormatFloat(v, 'g', precision, 64) }

// WriteComparisons writes them as CSV with a header. Numbers are rounded to four digits.
func WriteComparisons(w io.Writer, all []Comparison) error {
	var lines []line
	for _, c := range all {
		l := line{Comparison: c}
		for _, field := range l.fields() {
			if v, ok := field.(*float64); ok { // what the ratio follows from
				*v, _ = strconv.ParseFloat(number(*v), 64)
			}
		}
		l.ratio = l.told()
		lines = append(lines, l)
	}
	if err := csvrows.Write(w, header, lines, (*line).fields, precision); err != nil {
		return fmt.Errorf("data: peers.csv: %w", err)
	}
	return nil
}

// Comparisons are those of peers.csv.
func Comparisons() ([]Comparison, error) {
	f, err := Files.Open("peers.csv")
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	defer f.Close()
	return ReadComparisons(f)
}

// ReadComparisons reads what [WriteComparisons] has written. An error names the line and
// the column.
func ReadComparisons(r io.Reader) ([]Comparison, error) {
	lines, err := csvrows.Read(r, header, (*line).fields, func(l *line) error {
		for i, field := range l.fields() {
			if v, ok := field.(*float64); ok && !(*v >= 0 && *v <= math.MaxFloat64) {
				return fmt.Errorf("%s %v, want a finite number ≥ 0", header[i], *v)
			}
		}
		if want := l.told(); l.ratio != want {
			return fmt.Errorf("ratio %q does not follow from the other columns, want %q", l.ratio, want)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("data: peers.csv: %w", err)
	}
	var all []Comparison
	for _, l := range lines {
		all = append(all, l.Comparison)
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
