package paper

import (
	"context"
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// For an erratum in several places, the printed form must fail, and the corrected form must hold, in every place,
// within the tolerance of that place.
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

// [also] adds a check: the printed form fails if it fails in the added check, and the corrected form must hold in both
// checks.
func TestAlso(t *testing.T) {
	found := func(f Finding) check { return func(context.Context) Finding { return f } }
	along := found(holdsCorrected(0, 0, "along").within(1e-3))
	if g := also(along, found(holdsCorrected(1, 0, "case")))(t.Context()); g.PrintedHolds() || !g.CorrectedHolds() || g.Numbers != "along; case" {
		t.Errorf("%+v", g)
	}
	if g := also(along, found(holdsCorrected(1, 1e-2, "case")))(t.Context()); g.CorrectedHolds() {
		t.Errorf("%+v", g)
	}
}

// The recurrent classes of the chains are obvious: two absorbing states, a cycle, and a transient state before two
// absorbing states or one.
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
		x := process(len(tt.next), 1, mixpolicy.AverageCost, nil, func(s, _ int) (float64, []float64) { return 0, tt.next[s] })
		if got := recurrentClasses(x, must(mixpolicy.StateIndependent(x, 1))); got != tt.want {
			t.Errorf("%v: %d recurrent classes, want %d", tt.next, got, tt.want)
		}
	}
}

// Along every run, each step of section 5 holds as printed, or has a corrected form that holds. Steps with a corrected
// form fail as printed, and have the corrected form in their field Beside.
func TestProofs(t *testing.T) {
	steps := mixpolicy.Must(Proofs(t.Context()))
	corrected := map[string]bool{}
	for _, s := range steps {
		if s.Form == mixpolicy.Corrected {
			corrected[s.Equation] = true
			if !s.Holds() {
				t.Errorf("%+v does not hold", s)
			}
		}
	}
	for _, s := range steps {
		if s.Form == mixpolicy.Printed && s.Holds() == corrected[s.Equation] {
			t.Errorf("%+v: want a printed form that fails and has a corrected form, or one that holds and has none", s)
		}
		if s.Form == mixpolicy.Corrected || !corrected[s.Equation] {
			continue
		}
		if b := s.Beside; b == nil || b.Form != mixpolicy.Corrected || b.Run != s.Run || b.At != s.At || !b.Holds() {
			t.Errorf("%+v: the corrected form beside it is %+v", s, b)
		}
	}
}
