package paper

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// An erratum of several places needs the printed form to fail, and the corrected one to pass, in
// each, by the tolerance of each.
func TestEveryPlace(t *testing.T) {
	place := func(printed, corrected, tolerance float64) check {
		return func(context.Context) Finding {
			return Finding{Printed: printed, Corrected: corrected, Tolerance: tolerance, Numbers: "x"}
		}
	}
	for _, tt := range []struct {
		places                       []check
		printedHolds, correctedHolds bool
	}{
		{[]check{place(1, 0, 1e-9), place(0.02, 0.005, 0.01)}, false, true},
		{[]check{place(1, 0, 1e-9), place(0.005, 0.005, 0.01)}, true, true},
		{[]check{place(1, 1e-6, 1e-9), place(1, 0, 0.01)}, false, false},
		{[]check{place(math.Inf(1), 0, 0), place(1, math.NaN(), 0.01)}, false, false},
	} {
		f := everyPlace(tt.places...)(t.Context())
		if f.PrintedHolds() != tt.printedHolds || f.CorrectedHolds() != tt.correctedHolds || f.Numbers != "x; x" {
			t.Errorf("%+v, want printed %v and corrected %v", f, tt.printedHolds, tt.correctedHolds)
		}
	}
}

// A case in which the printed form fails makes it fail, and a corrected form has to hold there too.
func TestAlsoPrinted(t *testing.T) {
	f := holdsCorrected(0, 0, "along").within(1e-3)
	if g := alsoPrinted(f, holdsCorrected(1, 0, "case")); g.PrintedHolds() || !g.CorrectedHolds() || g.Numbers != "along; case" {
		t.Errorf("%+v", g)
	}
	if g := alsoPrinted(f, holdsCorrected(1, 1e-2, "case")); g.CorrectedHolds() {
		t.Errorf("%+v", g)
	}
}

// Chains whose classes are seen at a glance: two loops, a cycle, and a transient state before two
// absorbing ones.
func TestRecurrentClasses(t *testing.T) {
	for _, tt := range []struct {
		next [][]float64
		want int
	}{
		{[][]float64{{1, 0}, {0, 1}}, 2},
		{[][]float64{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, 1},
		{[][]float64{{0, 0.5, 0.5}, {0, 1, 0}, {0, 0, 1}}, 2},
		{[][]float64{{0.5, 0.5}, {0, 1}}, 1},
	} {
		x := must(mixpolicy.New(mixpolicy.Spec{States: len(tt.next), Actions: 1, Criterion: mixpolicy.AverageCost,
			Dynamics: func(s, _ int) (float64, []mixpolicy.Transition) {
				var to []mixpolicy.Transition
				for k, p := range tt.next[s] {
					if p > 0 {
						to = append(to, mixpolicy.Transition{To: k, P: p})
					}
				}
				return 0, to
			}}))
		if got := recurrentClasses(x, must(mixpolicy.StateIndependent(x, 1))); got != tt.want {
			t.Errorf("%v: %d recurrent classes, want %d", tt.next, got, tt.want)
		}
	}
}

// The counts of four rows, and of all errata.
func TestSummary(t *testing.T) {
	row := func(v Verdict, erratum string) Row { return Row{Entry: Entry{Errata: erratum}, Verdict: v} }
	got := Summary([]Row{row(Holds, ""), row(HoldsAsCorrected, "stationary"), row(HoldsAsCorrected, "stationary"), row(HoldsAsCorrected, "argmin"), row(Defines, "")})
	want := "Of the 5 equations and statements, 1 hold as printed and 1 are definitions. " +
		"When corrected 3 hold: 2 after an error, 0 after a gap in the argument, 0 after a slip of sign, index or constant, 0 in one of two readings, 1 after a misprint. "
	if !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var number []int
	for _, kind := range Kinds() {
		n := 0
		for _, e := range Errata() {
			if e.Kind == kind {
				n++
			}
		}
		number = append(number, n)
	}
	want = fmt.Sprintf("Of %d errata, %d are errors, %d gaps, %d slips, %d ambiguities and %d misprints.", len(Errata()), number[0], number[1], number[2], number[3], number[4])
	if !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at its end", got, want)
	}
}
