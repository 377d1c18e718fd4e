package linprog

import (
	"errors"
	"math"
	"testing"
)

// Two rows that are nearly one, and cross the hyperplane far away: the optimum of θ₁ is −2ᵏ, and is not
// taken for −∞.
func TestNearlyARay(t *testing.T) {
	for k := 20; k < 53; k++ {
		e := math.Ldexp(1, -k)
		p := Mixture{B: []float64{1, 0}, Psi: Columns{{1, 1 + e}, {1 + e, 1}}, R: math.Inf(1)}
		sol, err := p.Solve(background, Settings{})
		var unb *UnboundedError
		var stalled *StalledError
		// θ₁ + (1+e)θ₂ ≥ 0, (1+e)θ₁ + θ₂ ≥ 0, θ₁+θ₂ = 1: 1 + eθ₁ ≥ 0.
		want := -1 / e
		switch {
		case errors.As(err, &unb):
			t.Errorf("2^-%d: %v", k, err)
		case errors.As(err, &stalled):
			if !(stalled.Bound <= want && want <= stalled.Objective) {
				t.Errorf("2^-%d: %+v", k, stalled)
			}
		case err != nil || !(math.Abs(sol.Objective-want) <= sol.Gap()-1e-9*want):
			t.Errorf("2^-%d: %v, %v, want %v", k, sol, err, want)
		}
	}
}
