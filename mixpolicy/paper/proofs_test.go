package paper

import (
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Every step of section 5 holds along every run in the corrected form. Those that are
// right as printed are evaluated as printed only.
func TestProofs(t *testing.T) {
	steps, err := Proofs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
			t.Errorf("%+v: printed and corrected form, or one that holds, are wanted", s)
		}
	}
}

// The plain implementation and mixpolicy.PrimalDual, lazy and dense, have the same
// iterates. They differ by rounding in ∇φ, which the run amplifies by at most the
// products of step and curvature; 1e-9 is far below any step.
func TestTraceAgainstPrimalDual(t *testing.T) {
	p, err := QueueProblem(mixpolicy.Ball(2))
	if err != nil {
		t.Fatal(err)
	}
	const iterations = 500
	r, err := NewTrace(p, TraceSettings{Iterations: iterations, StepSize: mixpolicy.InverseSqrt(4), Beta: 0.5, CostScale: cMax, Seed: 3, Stream: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
		m := mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(4), Beta: 0.5, CostScale: cMax, Multipliers: kind}
		q, err := mixpolicy.Solve(t.Context(), p, m, mixpolicy.Settings{Iterations: iterations, Seed: 3, Stream: 2, Uncertified: true})
		if err != nil {
			t.Fatal(err)
		}
		last := r.Steps[iterations-1].Next
		for j := range q.Theta {
			if math.Abs(q.Theta[j]-r.Theta[j]) > 1e-9 || math.Abs(q.Last[j]-last[j]) > 1e-9 {
				t.Errorf("%v: θ̂ = %v and θ_T = %v, the plain run has %v and %v", kind, q.Theta, q.Last, r.Theta, last)
			}
		}
		if kind == mixpolicy.DenseMultipliers {
			for i, l := range q.Lambda {
				if math.Abs(l/cMax-r.Lambda[i]) > 1e-9 {
					t.Fatalf("λ̂ of pair %d = %v, the plain run has %v", i, l/cMax, r.Lambda[i])
				}
			}
		}
	}
}
