package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

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

// comparisonTable is Markdown: the best peer of every work and instance.
func comparisonTable(all []Comparison) string {
	var b strings.Builder
	b.WriteString("| work | ours | best peer | ratio | target |\n|---|---|---|---|---|\n")
	asked := Best(slices.DeleteFunc(slices.Clone(all), func(c Comparison) bool { return c.Faster == 0 }))
	for _, c := range Best(all) {
		ours := quantity(c.We.Median, c.Unit)
		if c.Outcome == NotReached {
			ours = "more than " + ours
		}
		if c.Ours != "" {
			ours += ", " + c.Ours
		}
		peer, ratio := "", ""
		if c.Peer != "" {
			what := c.Outcome
			if what == "" {
				what = quantity(c.They.Median, c.Unit)
			}
			peer = fmt.Sprintf("%s, %s: %s", c.Peer, c.Method, what)
			r, bound := c.Ratio()
			switch {
			case math.IsNaN(r):
			case bound:
				ratio = "≥ " + digits(r)
			default:
				ratio = digits(r)
			}
			if ratio != "" {
				ratio = "**" + ratio + " ×**"
			}
		}
		want := c.wanted("")
		if k := slices.IndexFunc(asked, func(a Comparison) bool { return a.Instance == c.Instance }); k >= 0 && c.Faster == 0 {
			a := asked[k]
			r, _ := a.Ratio()
			want = a.wanted(fmt.Sprintf(" %s, now %s", a.Method, digits(r)))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", c.Instance, ours, peer, ratio, want)
	}
	return b.String()
}

// wanted says what was, than what if not the peer shown, and whether it is so.
func (c Comparison) wanted(than string) string {
	var parts []string
	if c.Faster > 0 {
		parts = append(parts, fmt.Sprintf("≥ %s ×%s", digits(c.Faster), than))
	}
	if c.Most > 0 {
		parts = append(parts, "≤ "+quantity(c.Most, c.Unit))
	}
	if len(parts) == 0 {
		return ""
	}
	verdict := "yes"
	if !c.Met() {
		verdict = "**no**"
	}
	return strings.Join(parts, ", ") + ": " + verdict
}

// quantity writes a number with its unit; seconds with the prefix that suits them.
func quantity(v float64, unit string) string {
	if unit == "s" {
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
	return digits(v) + " " + unit
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
