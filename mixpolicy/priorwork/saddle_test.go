package priorwork

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The theorem itself (Nemirovski 2004): for every (θ, λ), λ ⪰ 0, the average satisfies
// 𝓛(θ̂, λ) − 𝓛(θ, λ̂) ≤ [σD(θ; θ₀) + ‖λ‖²_{S⁻¹}/2σ]/(ηt). At the optimum's multipliers, and at
// none.
func TestMirrorProxBound(t *testing.T) {
	for _, class := range classes {
		for _, p := range []*mixpolicy.Problem{section6(class), garnetProblem(class)} {
			best := mixpolicy.Must(p.Optimum(t.Context()))
			const iterations = 500
			r := solve(t, p, MirrorProx{}, iterations)
			m, start := r.Run.(*mirrorProx), barycentre(p.Dim())
			none, optimal := make([]float64, p.MDP().Pairs()), make([]float64, p.MDP().Pairs())
			for _, y := range best.Rows {
				optimal[y.Row] = 3 * y.Lambda()
			}
			for _, lambda := range [][]float64{none, optimal} {
				var size float64
				for i, v := range lambda {
					size += m.s.weights[i] * v * v
				}
				for _, theta := range [][]float64{best.Theta, start} {
					gap := p.Lagrangian(r.Theta, lambda) - p.Lagrangian(theta, r.Lambda)
					bound := (m.sigma*bregman.Divergence(mixpolicy.DefaultModulus(class), theta, start) + size/(2*m.sigma)) / (m.eta * iterations)
					if gap > bound+1e-9*math.Abs(best.Objective) {
						t.Errorf("%v: 𝓛(θ̂, λ) − 𝓛(θ, λ̂) = %v, want at most %v", class, gap, bound)
					}
				}
			}
			if !r.HasDual || r.DualBound > best.Objective+1e-12*math.Abs(best.Objective) || floats.Min(r.Lambda) < 0 || r.Queries != 0 {
				t.Errorf("%v: %+v", class, r.Certificate)
			}
		}
	}
}

// Restarted PDHG converges linearly: after 1600 iterations rounding is all that is left, 10⁻¹⁵
// or so, with its own proof. Without restarts there would be 10⁻⁹ left after 3200.
func TestPDHGConverges(t *testing.T) {
	for _, class := range append(classes, mixpolicy.Class{Norm: linprog.L1, R: 2}) {
		for _, p := range []*mixpolicy.Problem{section6(class), garnetProblem(class)} {
			best := mixpolicy.Must(p.Optimum(t.Context()))
			r := solve(t, p, PDHG{}, 1600)
			scale := math.Abs(best.Objective)
			if math.Abs(r.Gap) > 1e-12*scale || math.Abs(r.DualityGap) > 1e-12*scale || r.PenalisedGap > 1e-12*scale || r.Queries != 0 {
				t.Errorf("%v: gap %v, duality gap %v, penalised gap %v, optimum %v", class, r.Gap, r.DualityGap, r.PenalisedGap, best.Objective)
			}
			if r.DualBound > best.Objective+1e-11*scale || floats.Min(r.Lambda) < 0 {
				t.Errorf("%v: bound %v, optimum %v", class, r.DualBound, best.Objective)
			}
		}
	}
}

// σ stays where θ or λ has not moved since the restart: there is no ratio.
func TestPDHGRestartWithoutMove(t *testing.T) {
	for _, move := range []int{0, 1} {
		a := begin[*pdhg](t, garnetProblem(mixpolicy.Ball(2)), PDHG{})
		x, sigma := newPoint(len(a.theta), len(a.lambda)), a.sigma
		x.set(a.start)
		[][]float64{x.theta, x.lambda}[move][0]++
		if a.restart(x); a.sigma != sigma || !floats.Equal(a.theta, x.theta) || !floats.Equal(a.lambda, x.lambda) {
			t.Errorf("σ = %v, want %v", a.sigma, sigma)
		}
	}
}

// LastIterate is its method, but for the answer.
func TestLastIterate(t *testing.T) {
	p := section6(mixpolicy.Ball(2))
	_, top := p.MDP().CostRange()
	a := solve(t, p, mixpolicy.PrimalDual{CostScale: top}, 500)
	b := solve(t, p, LastIterate{mixpolicy.PrimalDual{CostScale: top}}, 500)
	if !floats.Equal(a.Last, b.Theta) || !floats.Equal(a.Last, b.Last) || b.Method != "primal–dual, last iterate" {
		t.Errorf("%s: %v, want %v", b.Method, b.Theta, a.Last)
	}
}

// σ is the range of the costs, or 1 if they are all equal.
func TestBalance(t *testing.T) {
	x := mixpolicy.Must(models.Machine{Criterion: mixpolicy.Discounted(.5)}.MDP())
	for _, c := range []struct {
		cost []float64
		want float64
	}{{[]float64{3, 5, 4, 10}, 7}, {[]float64{-3, 5, 4, 1}, 8}, {[]float64{2, 2, 2, 2}, 1}} {
		y := mixpolicy.Must(x.WithCosts(c.cost))
		p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), y, mixpolicy.UniformPolicy(y))), mixpolicy.Simplex()))
		if got := balance(p); got != c.want {
			t.Errorf("costs %v: %v, want %v", c.cost, got, c.want)
		}
	}
}
