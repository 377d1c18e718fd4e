package data

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/internal/csvrows"
)

// Measured holds the median, least and greatest time of a call, in seconds.
type Measured struct {
	Median   float64 `csv:"median,%.4g"`
	Least    float64 `csv:"least,%.4g"`
	Greatest float64 `csv:"greatest,%.4g"`
}

// Comparison is a row of peers.csv: our time for a piece of work, and the time of one method of a peer (another
// package) for the same work. The command go run ./data/peers measures the two times.
type Comparison struct {
	Work     string   `csv:"work"`     // the short name of the work, as in the command's flag --only
	Instance string   `csv:"instance"` // the instance of the work, in words
	Ours     string   `csv:"ours"`     // our method; empty if Instance names our method
	We       Measured `csv:"ours_"`
	OurCPU   float64  `csv:"ours_cpu,%.4g"` // median processor time of all cores together, in seconds
	Threads  int      `csv:"ours_threads"`  // the number of threads that we may use

	// Bytes is the size of the problem's arrays. Bandwidth is the number of bytes that the cores can read and write in
	// memory in a second, measured just before the times. Bytes and Bandwidth are 0 if a cache may hold the arrays.
	Bytes     float64 `csv:"bytes,%.4g"`
	Bandwidth float64 `csv:"bandwidth,%.4g"`

	Peer   string   `csv:"peer"`   // the package and its version
	Method string   `csv:"method"` // the peer's method
	They   Measured `csv:"peer_"`
	// TheirCPU and TheirThreads are for the peer what OurCPU and Threads are for us.
	TheirCPU     float64 `csv:"peer_cpu,%.4g"`
	TheirThreads int     `csv:"peer_threads"`
	// Outcome is empty if the peer returned our answer; otherwise, Outcome says what happened. If the peer was stopped,
	// all numbers in [Comparison.They] are the time limit.
	Outcome     string `csv:"outcome"`
	Repetitions int    `csv:"repetitions"` // how often the peer did the work, or 1 if it was stopped or failed

	Machine string `csv:"machine"` // model of the processor and number of cores
	Go      string `csv:"go"`
	Python  string `csv:"python"`
	Date    string `csv:"date"` // of the measurement, YYYY-MM-DD

	Told string `csv:"ratio"` // the ratio as text, for readers of the file
}

// stopped is the first word of the outcome of a peer that did not finish within its time limit.
const stopped = "stopped"

// Stopped returns the outcome of a peer that was stopped after the given number of seconds.
func Stopped(seconds float64) string { return fmt.Sprintf("%s after %.3g s", stopped, seconds) }

// Ratio returns the peer's median time divided by ours, or NaN if the peer failed, or gave an answer that differs from
// ours. If bound is true, the peer was stopped, and the ratio is a lower bound.
func (c Comparison) Ratio() (ratio float64, bound bool) {
	if c.Outcome != "" && !strings.HasPrefix(c.Outcome, stopped) {
		return math.NaN(), false
	}
	return c.They.Median / c.We.Median, c.Outcome != ""
}

// Floor returns the time, in seconds, to read the problem's arrays from memory once, at the measured bandwidth. The
// time is 0 if a cache may hold the arrays, or if the bandwidth was not measured.
func (c Comparison) Floor() float64 {
	if c.Bandwidth == 0 {
		return 0
	}
	return c.Bytes / c.Bandwidth
}

// Best returns one row for each work and instance: the row of the fastest method that returned our answer. The rows
// stay in the order of the instances. If no method returned our answer, Best returns the row of the method that was
// stopped after the longest time. If no method was stopped either, Best returns the first row of the instance.
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

// told returns the text of the last column: the ratio, with ≥ before a lower bound, or "" if the ratio is NaN.
func (c Comparison) told() string {
	ratio, bound := c.Ratio()
	if math.IsNaN(ratio) {
		return ""
	}
	return map[bool]string{true: "≥"}[bound] + number(ratio)
}

// number writes a value to four digits. The times are less accurate than four digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// times returns pointers to the numbers of seconds, of bytes, and of bytes a second.
func (c *Comparison) times() []*float64 {
	return []*float64{&c.We.Median, &c.We.Least, &c.We.Greatest, &c.OurCPU, &c.Bytes, &c.Bandwidth,
		&c.They.Median, &c.They.Least, &c.They.Greatest, &c.TheirCPU}
}

// WriteComparisons writes the rows as CSV with a header. It rounds times, sizes and bandwidths to four digits, and sets
// [Comparison.Told] from the rounded times.
func WriteComparisons(w io.Writer, all []Comparison) error {
	all = slices.Clone(all)
	for k := range all {
		c := &all[k]
		for _, v := range c.times() {
			*v, _ = strconv.ParseFloat(number(*v), 64)
		}
		c.Told = c.told()
	}
	return csvrows.Encode(w, all)
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

// ReadComparisons reads rows that [WriteComparisons] has written. If a row is wrong, the error names its line.
func ReadComparisons(r io.Reader) ([]Comparison, error) {
	all, err := csvrows.Decode(r, func(c *Comparison) error {
		for _, v := range c.times() {
			if !(*v >= 0 && *v <= math.MaxFloat64) {
				return fmt.Errorf("a time, a size or a bandwidth is %v, want a finite number ≥ 0", *v)
			}
		}
		if want := c.told(); c.Told != want {
			return fmt.Errorf("ratio %q does not follow from the other columns, want %q", c.Told, want)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("data: peers.csv: %w", err)
	}
	return all, nil
}

// The table of peers.csv in README.md is between these lines.
const (
	readmeBegin = "<!-- from data/peers.csv, by go run ./data/peers -->\n"
	readmeEnd   = "<!-- end of data/peers.csv -->\n"
)

// WithComparisons replaces the README's table of peers.csv with a table of the given rows, and returns the new README.
func WithComparisons(readme string, all []Comparison) (string, error) {
	before, rest, begins := strings.Cut(readme, readmeBegin)
	_, after, ends := strings.Cut(rest, readmeEnd)
	if !begins || !ends {
		return "", fmt.Errorf("data: README.md has no place for the comparison, want the lines %q and, below, %q", readmeBegin, readmeEnd)
	}
	return before + readmeBegin + comparisonTable(all) + readmeEnd + after, nil
}

// comparisonTable returns a table in Markdown, with a row for each work: its first instance, and the best peer on this
// instance.
func comparisonTable(all []Comparison) string {
	var b strings.Builder
	b.WriteString("| problem | this module | best peer | ratio |\n|---|---|---|---|\n")
	last := ""
	for _, c := range Best(all) {
		if c.Work == last {
			continue
		}
		last = c.Work
		ours, theirs := seconds(c.We.Median), cmp.Or(c.Outcome, seconds(c.They.Median))
		if c.Ours != "" {
			ours += ", " + c.Ours
		}
		ratio := ""
		if r, bound := c.Ratio(); !math.IsNaN(r) {
			ratio = "**" + map[bool]string{true: "≥ "}[bound] + digits(r) + " ×**"
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

// digits writes whole numbers and numbers ≥ 10 to three digits and without decimals. It writes other numbers to two
// digits.
func digits(v float64) string {
	if v >= 10 || v == math.Trunc(v) {
		unit := math.Pow(10, max(0, math.Floor(math.Log10(v))-2))
		return Thousands(int(math.Round(v/unit) * unit))
	}
	return strconv.FormatFloat(v, 'f', max(0, 1-int(math.Floor(math.Log10(v)))), 64)
}

// Thousands writes n ≥ 0 with a comma before each group of three digits, as in 12,345.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
