package mixpolicy_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// The printed form without a ball: λ = ΨW gives the iterates and the multipliers of the
// vector that (3.26) updates.
func TestPrintedLazily_3_26(t *testing.T) {
	p := geometricProblem(t, 100, 3)
	var s [2]mixpolicy.Snapshot
	for k, kind := range []mixpolicy.Multipliers{mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers} {
		m := start(t, p, mixpolicy.PrimalDual{Form: mixpolicy.Printed, Multipliers: kind})
		for range 500 {
			if err := m.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.View(&s[k]); err != nil {
			t.Fatal(err)
		}
	}
	// 500 steps of 3 products each round λ, and through it θ, by 1500·2⁻⁵³ of their size.
	const tol = 1e-12
	if d := floats.Distance(s[0].Last, s[1].Last, math.Inf(1)); !(d <= tol) {
		t.Errorf("θ differ by %v", d)
	}
	largest := floats.Norm(s[0].Lambda, math.Inf(1))
	if d := floats.Distance(s[0].Lambda, s[1].Lambda, math.Inf(1)); !(d <= tol*largest) || largest == 0 {
		t.Errorf("λ̂ differ by %v, the largest is %v", d, largest)
	}
}
