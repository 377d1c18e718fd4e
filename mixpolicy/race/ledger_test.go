package race_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// The ledger computes the regret of θ and its three terms separately, and the terms add up to the regret, up to
// rounding. The regrets of θ and λ add up to the gap of the averages θ̂ and λ̂ of Solve with the same seed.
func TestLedgerAddsUp(t *testing.T) {
	p, lambda := section6(), mixpolicy.Must(theory.Multipliers(section6()))
	for _, m := range []bregman.Modulus{bregman.Ball{R: 2}, bregman.Hellinger(2)} {
		a := mixpolicy.PrimalDual{Modulus: m, StepSize: mixpolicy.InverseSqrt(16), Beta: 20, Multipliers: mixpolicy.DenseMultipliers}
		l := mixpolicy.Must(race.LedgerOf(t.Context(), p, a, 2000, 5))
		v := func(k int) float64 { return l.Terms[k][len(l.Queries)-1] }
		run := mixpolicy.Must(mixpolicy.Solve(t.Context(), p, a, mixpolicy.Settings{Iterations: 2000, Seed: 5}))
		gap := (p.Lagrangian(run.Theta, lambda) - p.Lagrangian(mixpolicy.Must(p.Optimum(t.Context())).Theta, run.Lambda)) / run.Optimum
		if off := math.Abs(v(0)-v(1)-v(2)-v(3)) + math.Abs(v(0)+v(4)-gap); !(off <= 1e-9*(math.Abs(gap)+v(2))) {
			t.Errorf("%v: %s are %g, %g, %g, %g, %g and the gap is %g: off by %g", m, race.LedgerTerms[:5], v(0), v(1), v(2), v(3), v(4), gap, off)
		}
	}
}

func TestLedgerErrors(t *testing.T) {
	p := section6()
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if l, err := race.LedgerOf(soon, p, mixpolicy.PrimalDual{}, 1<<40, 5); !errors.Is(err, context.DeadlineExceeded) || l == nil || len(l.Queries) == 0 {
		t.Errorf("when its context has ended: %v, %v", l, err)
	}
	for _, a := range []mixpolicy.PrimalDual{{Form: mixpolicy.Printed}, {RowScaling: true}, {Recency: 1}} {
		wantError(t, second(race.LedgerOf(t.Context(), p, a, 2000, 5)), "race: ledger of 2000 iterations", "the corrected form")
	}
	wantError(t, second(race.LedgerOf(t.Context(), p, mixpolicy.PrimalDual{}, 0, 5)), "ledger of 0 iterations")
}
