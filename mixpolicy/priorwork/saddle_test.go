package priorwork

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// The theorem of Nemirovski (2004): for every θ and every λ ⪰ 0, the averages satisfy
// 𝓛(θ̂, λ) − 𝓛(θ, λ̂) ≤ [σD(θ; θ₀) + ‖λ‖²_{S⁻¹}/2σ]/(ηt). The test combines θ = θ* and θ = θ₀ with λ = 0 and λ = 3λ*.
func TestMirrorProxBound(t *testing.T) {
	for _, class := range classes {
		for _, p := range []*mixpolicy.Problem{section6(class), garnetProblem(class)} {
			best := mixpolicy.Must(p.Optimum(t.Context()))
			const iterations = 500
			r := solve(p, MirrorProx{}, iterations)
			m, start := r.Run.(*mirrorProx), barycentre(p.Dim())
			none, optimal := zeros(p.MDP().Pairs()), zeros(p.MDP().Pairs())
			for _, y := range best.Rows {
				optimal[y.Row] = 3 * y.Lambda()
			}
			for _, lambda := range [][]float64{none, optimal} {
				size := floats.Dot(m.s.weights, floats.MulTo(zeros(len(lambda)), lambda, lambda))
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

// Restarted PDHG converges linearly: after 1600 iterations, the gap to the optimum and the duality gap are rounding
// errors of about 10⁻¹⁵, relative to the optimum. Without restarts, the gap to the optimum would be 10⁻⁹ after 3200
// iterations.
func TestPDHGConverges(t *testing.T) {
	for _, class := range append(classes, mixpolicy.Class{Norm: linprog.L1, R: 2}) {
		for _, p := range []*mixpolicy.Problem{section6(class), garnetProblem(class)} {
			r := solve(p, PDHG{}, 1600)
			scale := math.Abs(mixpolicy.Must(p.Optimum(t.Context())).Objective)
			for _, gap := range []float64{r.Gap, r.DualityGap, r.PenalisedGap, min(0, floats.Min(r.Lambda))} {
				if math.Abs(gap) > 1e-12*scale || r.Queries != 0 {
					t.Errorf("%v: %+v, optimum %v", class, r.Certificate, scale)
				}
			}
		}
	}
}

// LastIterate runs its method unchanged, but answers with the last iterate.
func TestLastIterate(t *testing.T) {
	p := section6(mixpolicy.Ball(2))
	_, top := p.MDP().CostRange()
	a := solve(p, mixpolicy.PrimalDual{CostScale: top}, 500)
	b := solve(p, LastIterate{mixpolicy.PrimalDual{CostScale: top}}, 500)
	if !floats.Equal(a.Last, b.Theta) || !floats.Equal(a.Last, b.Last) || b.Method != "primal–dual, last iterate" {
		t.Errorf("%s: %v, want %v", b.Method, b.Theta, a.Last)
	}
}
