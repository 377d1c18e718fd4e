package bregman

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
)

// A Report is the result of [Check]. It holds the evidence that a modulus is right, or says what is wrong with the
// modulus.
type Report struct {
	Modulus      string
	Dim          int
	Findings     []Finding     // one for each cause of failures; none if no failure was found
	Examinations []Examination // what was examined, and the results

	// Taylor is the remainder |φ(x+he) − φ(x) − h⟨∇φ(x), e⟩| against h, for one point x and one direction e. On
	// logarithmic axes, the slope of this curve must tend to 2 as h → 0.
	Taylor []Point
	// Boundary is ‖∇φ(x) − ∇φ(x₀)‖ on one path from x₀ to the boundary, against the share of the path that
	// remains. The norm must grow without bound. Boundary is empty if no path met a boundary.
	Boundary []Point
}

// A Point is a point of a curve.
type Point struct{ X, Y float64 }

// A Finding is one cause of failures: the method at fault and its likely mistake.
type Finding struct {
	Method string // the method at fault, such as "Deriv"; "φ" for a function given to FromFunc or FromVectorFunc
	Kind   Kind   // the class of the finding, which tells how severe the finding is
	Words  string // what is wrong
	Where  string // a point at which the mistake shows, such as "x = 0.3"; for a panic, the file and line
	// At Where, the method that ClaimedName names returns Claimed, and the other methods imply Measured. For the kind
	// Allocates, Measured is the mean number of allocations per call. Measured is NaN if the finding has no such number.
	Measured, Claimed float64

	// The curves show the measured and the claimed numbers over the variable that Axis names, "x" or "y". The curves
	// may be empty.
	Axis, MeasuredName, ClaimedName string
	MeasuredCurve, ClaimedCurve     []Point
}

// A Kind is a class of findings. The constants list the classes by severity, the worst first.
type Kind int

const (
	Invalid     Kind = iota // Validate returns an error
	Panics                  // a method panics
	NotLegendre             // φ is not a Legendre function on its domain
	Disagrees               // a method disagrees with the others
	Overflows               // a method is wrong only for large numbers
	Unsafe                  // a method changes its argument, or is wrong if called in place or repeatedly
	Allocates               // ∇φ or ∇φ* allocates memory
	Stopped                 // the context ended before the examinations did
)

// String returns the kind in words.
func (k Kind) String() string {
	return [...]string{
		"wrong parameters", "a panic", "not a Legendre function", "methods disagree", "overflow", "unsafe to call", "allocates", "stopped",
	}[k]
}

// String returns the finding as one line.
func (f Finding) String() string {
	s := fmt.Sprintf("%v: %s", f.Kind, f.Words)
	if f.Where != "" {
		s += ", at " + f.Where
	}
	if !math.IsNaN(f.Measured) && !math.IsNaN(f.Claimed) {
		s += fmt.Sprintf(": measured %s, claimed %s", apart(f.Measured, f.Claimed), apart(f.Claimed, f.Measured))
	}
	return s
}

// apart formats v with six digits, or with as many as distinguish it from other.
func apart(v, other float64) string {
	n := 6
	for ; v != other && n < 17 && fmt.Sprintf("%.*g", n, v) == fmt.Sprintf("%.*g", n, other); n++ {
	}
	return strings.ReplaceAll(fmt.Sprintf("%.*g", n, v+0), "-", "−") // +0: no −0
}

// digits formats a number for a sentence.
func digits(v float64) string { return apart(v, v) }

// An Examination is the result of testing one property in many cases.
type Examination struct {
	Name  string  // the property
	OK    bool    // whether the property holds in all cases
	Worst float64 // the error in the worst case, where the error is greatest relative to its limit
	Limit float64 // the greatest error that is allowed in this case
	Where string  // the worst case, if the property fails
	Note  string  // why the examination was omitted, or another remark
}

// Err returns nil if there are no findings, or an error that lists them. With Err, [Check] can be used in a test:
//
//	if err := bregman.Check(ctx, m, 4, 1).Err(); err != nil {
//		t.Error(err)
//	}
func (r *Report) Err() error {
	if len(r.Findings) == 0 {
		return nil
	}
	s := fmt.Sprintf("bregman: %s in ℝ^%d:", r.Modulus, r.Dim)
	for _, f := range r.Findings {
		s += "\n\t" + f.String()
	}
	return errors.New(s)
}

// String returns a line with the modulus and d, a line for each finding, and a table with a line for each
// examination. Unless the context ends, the same modulus, dimension and seed give the same text.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, d = %d\n", r.Modulus, r.Dim)
	for _, f := range r.Findings {
		fmt.Fprintln(&b, f)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, e := range r.Examinations {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Verdict(), e.Name, e.Share(), strings.TrimSpace(e.Note+" "+e.Where))
	}
	w.Flush()
	return b.String()
}

// Verdict returns "holds", "FAILS", or "–" if there was nothing to examine.
func (e Examination) Verdict() string {
	if !e.OK {
		return "FAILS"
	} else if e.Limit == 0 && e.Note != "" {
		return "–"
	}
	return "holds"
}

// Share returns the worst error relative to its limit, such as "3 %" if the property holds, or "40 times" if it
// fails. If there was nothing to examine, Share returns an empty text.
func (e Examination) Share() string {
	switch share := e.Worst / e.Limit; {
	case e.Limit == 0:
		return ""
	case share <= 0:
		return "0 %"
	case share < 0.001:
		return "< 0.1 %"
	case share <= 1:
		return fmt.Sprintf("%.3g %%", 100*share)
	case share < 1000:
		return fmt.Sprintf("%.3g times", share)
	default:
		return fmt.Sprintf("%.0e times", share)
	}
}

// worse records a case if it is the worst so far, and reports whether the case is wrong. NaN is
// worse than every number.
func (e *Examination) worse(err, limit float64, format string, args ...any) (wrong bool) {
	ratio := err / limit
	switch {
	case err <= 0 && limit == 0:
		ratio = 0
	case math.IsNaN(ratio), math.IsInf(ratio, 1):
		err, limit, ratio = math.Inf(1), 1, math.Inf(1)
	}
	if e.Limit == 0 || ratio > e.Worst/e.Limit {
		e.Worst, e.Limit, e.Where = err, limit, ""
		if e.OK = ratio <= 1; !e.OK {
			e.Where = fmt.Sprintf(format, args...)
		}
	}
	return ratio > 1
}

// must records a case that is either right or wrong.
func (e *Examination) must(ok bool, format string, args ...any) (wrong bool) {
	return e.worse(map[bool]float64{false: 1}[ok], 0.5, format, args...)
}

// A vector is formatted with at most four entries.
type vector []float64

func (v vector) String() string {
	if len(v) == 1 {
		return digits(v[0])
	} else if len(v) > 4 {
		return fmt.Sprintf("%.4g…", []float64(v[:4]))
	}
	return fmt.Sprintf("%.6g", []float64(v))
}
