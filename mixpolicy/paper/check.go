package paper

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Finding is what a check of an equation or statement found: how far each form is from
// being true, as a number that is 0, to within Tolerance, for what is true. It is the
// relative difference of two sides, the relative excess of a left side over a right one,
// or the like; Numbers says what.
type Finding struct {
	Printed   float64 // +∞: meaningless or without content as printed
	Corrected float64 // of the corrected form; NaN: there is none
	Tolerance float64 // what rounding, or a stated statistical error, may take
	Numbers   string
}

// PrintedHolds and CorrectedHolds compare with the tolerance; NaN does not hold.
func (f Finding) PrintedHolds() bool { return f.Printed <= f.Tolerance }

// CorrectedHolds is PrintedHolds for the corrected form.
func (f Finding) CorrectedHolds() bool { return f.Corrected <= f.Tolerance }

// Verdict of an assertion.
func (f Finding) Verdict() Verdict {
	switch {
	case f.PrintedHolds():
		return Holds
	case f.CorrectedHolds():
		return HoldsAsCorrected
	}
	return Fails
}

// rounding is the default tolerance of an equality between two computations of a few
// thousand operations each: 10⁴ · 2⁻⁵³, and a factor ten for ill conditioning.
const rounding = 1e-11

// right is the finding of something that is right as printed.
func right(off float64, format string, v ...any) (Finding, error) {
	return Finding{Printed: off, Corrected: off, Tolerance: rounding, Numbers: fmt.Sprintf(format, v...)}, nil
}

// mended is the finding of something that is to be corrected.
func mended(printed, corrected float64, format string, v ...any) (Finding, error) {
	return Finding{Printed: printed, Corrected: corrected, Tolerance: rounding, Numbers: fmt.Sprintf(format, v...)}, nil
}

// off is the relative difference |a − b|/max(|a|, |b|), 0 for 0 and 0.
func off(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
}

// offAll is the greatest difference of entries relative to the greatest entry.
func offAll(x, y []float64) float64 {
	var far, size float64
	for i := range x {
		if math.IsNaN(x[i]) != math.IsNaN(y[i]) {
			return math.NaN()
		}
		far, size = max(far, math.Abs(x[i]-y[i])), max(size, math.Abs(x[i]), math.Abs(y[i]))
	}
	if far == 0 {
		return 0
	}
	return far / size
}

// excess is how much lhs exceeds rhs, relative to their size; 0 if it does not.
func excess(lhs, rhs float64) float64 {
	switch {
	case lhs <= rhs:
		return 0
	case math.IsInf(lhs, 1):
		return math.Inf(1)
	}
	return (lhs - rhs) / max(math.Abs(lhs), math.Abs(rhs))
}

// check computes a finding.
type check func(ctx context.Context) (Finding, error)

// proofSteps are the rows of [Proofs], computed once.
var proofSteps = sync.OnceValues(func() ([]Step, error) { return Proofs(context.Background()) })

// alongRuns is the check of an equation of section 5 by [Proofs].
func alongRuns(number string) check {
	return func(context.Context) (Finding, error) {
		steps, err := proofSteps()
		if err != nil {
			return Finding{}, err
		}
		f := Finding{Printed: math.NaN(), Corrected: math.NaN(), Tolerance: stepTolerance}
		describe := func(s Step) string {
			sign := "≤"
			if s.Equality {
				sign = "="
			}
			return fmt.Sprintf("%v: %.6g %s %.6g (%s)", s.Form, s.LHS, sign, s.RHS, s.Run)
		}
		for _, s := range steps {
			if s.Equation != number {
				continue
			}
			value := max(0, -s.relative())
			if s.Form == mixpolicy.Printed {
				f.Printed = value
			} else {
				f.Corrected = value
			}
			if f.Numbers != "" {
				f.Numbers += "; "
			}
			f.Numbers += describe(s)
		}
		if f.Numbers == "" {
			return f, fmt.Errorf("paper: no run evaluates (%s)", number)
		}
		if math.IsNaN(f.Corrected) {
			f.Corrected = f.Printed
		}
		return f, nil
	}
}
