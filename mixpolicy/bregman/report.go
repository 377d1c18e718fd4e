package bregman

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
)

// A Report is the evidence that a modulus is what it must be, from [Check].
type Report struct {
	Modulus  string
	Dim      int
	Findings []Finding

	// Taylor is the remainder |φ(x+he) − φ(x) − h⟨∇φ(x), e⟩| against h for one x and e, whose
	// slope on logarithmic axes must be 2.
	Taylor []Point
	// Boundary is the change of ∇φ since the start against what is left of the way, on one
	// way to the boundary: it must grow without bound. It is empty if no boundary was met.
	Boundary []Point
	// Speed is the time of ∇φ* for an entry of a vector, in nanoseconds. It is the one thing here
	// that differs between runs, and String leaves it out.
	Speed float64
}

// A Point of a curve.
type Point struct{ X, Y float64 }

// A Finding is the result of one examination.
type Finding struct {
	Name  string  // what must hold
	OK    bool    // whether it does
	Worst float64 // the worst case met: an error relative to Limit's scale
	Limit float64 // what Worst may be
	Where string  // the worst case, if it fails
	Note  string  // why it was left out, or what else is worth knowing
}

// Err returns nil if everything holds, or an error that lists what does not. It makes Check a
// test helper:
//
//	if err := bregman.Check(m, 4, 1).Err(); err != nil {
//		t.Error(err)
//	}
func (r *Report) Err() error {
	var failed []string
	for _, f := range r.Findings {
		if !f.OK {
			failed = append(failed, fmt.Sprintf("%s: %.3g, limit %.3g, at %s", f.Name, f.Worst, f.Limit, f.Where))
		}
	}
	if failed == nil {
		return nil
	}
	return fmt.Errorf("bregman: %s in ℝ^%d is no Legendre function, or its methods disagree:\n\t%s", r.Modulus, r.Dim, strings.Join(failed, "\n\t"))
}

// String is a table with a line for each finding. The same modulus, dimension and seed give
// the same table.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, d = %d\n", r.Modulus, r.Dim)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		verdict := "ok"
		switch {
		case !f.OK:
			verdict = "FAILS"
		case f.Limit == 0 && f.Note != "":
			verdict = "–"
		}
		fmt.Fprintf(w, "%s\t%s\t", verdict, f.Name)
		if f.Limit != 0 {
			fmt.Fprintf(w, "%.2g\tof %.2g", f.Worst, f.Limit)
		} else {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintf(w, "\t%s\n", strings.TrimSpace(f.Note+" "+f.Where))
	}
	w.Flush()
	return b.String()
}

// worse records a case if it is the worst so far. What is not a number is the worst of all.
func (f *Finding) worse(err, limit float64, format string, args ...any) {
	ratio := err / limit
	switch {
	case err <= 0 && limit == 0:
		ratio = 0
	case math.IsNaN(ratio), math.IsInf(ratio, 1):
		err, limit, ratio = math.Inf(1), 1, math.Inf(1)
	}
	if f.Limit != 0 && !(ratio > f.Worst/f.Limit) {
		return
	}
	f.Worst, f.Limit, f.Where = err, limit, ""
	if f.OK = ratio <= 1; !f.OK {
		f.Where = fmt.Sprintf(format, args...)
	}
}

// must records a case that is right or wrong.
func (f *Finding) must(ok bool, format string, args ...any) {
	wrong := 1.0
	if ok {
		wrong = 0
	}
	f.worse(wrong, 0.5, format, args...)
}

// A vector in a finding: what is not needed is cut off.
type vector []float64

func (v vector) String() string {
	if len(v) > 4 {
		return fmt.Sprintf("%.4g…", []float64(v[:4]))
	}
	return fmt.Sprintf("%.6g", []float64(v))
}
