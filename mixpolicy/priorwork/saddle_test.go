package priorwork

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// ‖S^{1/2}Ψ‖₂ ≤ 1, by singular values; it is attained, at θ = 1.
func TestRowScaledNorm(t *testing.T) {
	for _, p := range []*mixpolicy.Problem{section6(mixpolicy.Ball(2)), garnetProblem(mixpolicy.Ball(2))} {
		s := newSaddle(p)
		m := p.Features().Dense()
		for i, w := range s.weights {
			row := m.RawRowView(i)
			if math.Abs(w-floats.Sum(row)) > 8*0x1p-53*w {
				t.Fatalf("weight %v of row %d, want %v", w, i, floats.Sum(row))
			}
			floats.Scale(1/math.Sqrt(w), row)
		}
		var svd mat.SVD
		if !svd.Factorize(m, mat.SVDNone) {
			t.Fatal("no singular values")
		}
		if norm := svd.Values(nil)[0]; math.Abs(norm-1) > 1e-14*float64(len(s.weights)) {
			t.Errorf("‖S^{1/2}Ψ‖ = %v, want 1", norm)
		}
	}
}

// Mirror-prox has a certified gap that falls as 1/t, with wiggles: over ten times the
// iterations the gap and the violation together fall to a third at least.
func TestMirrorProxRate(t *testing.T) {
	for _, class := range classes {
		for _, p := range []*mixpolicy.Problem{section6(class), garnetProblem(class)} {
			best := mixpolicy.Must(p.Optimum(t.Context()))
			lo, hi := p.MDP().CostRange()
			inexact := func(r *mixpolicy.Result) float64 { return math.Abs(r.DualityGap) + (hi-lo)*r.NegativeMass }
			few, many := solve(t, p, MirrorProx{}, 300), solve(t, p, MirrorProx{}, 3000)
			if a, b := inexact(few), inexact(many); b > a/3 && b > 1e-9*(hi-lo) {
				t.Errorf("%v: error %v after 300 iterations, %v after 3000", class, a, b)
			}
			if !many.HasDual || many.DualBound > best.Objective+1e-12*hi || floats.Min(many.Lambda) < 0 || many.Queries != 0 {
				t.Errorf("%v: %+v", class, many.Certificate)
			}
		}
	}
}

// The theorem itself (Nemirovski 2004): for every (θ, λ), λ ⪰ 0, the average satisfies
// 𝓛(θ̂, λ) − 𝓛(θ, λ̂) ≤ [σD(θ; θ₀) + ‖λ‖²_{S⁻¹}/2σ]/(ηt). At the optimum's multipliers, and at
// none.
func TestMirrorProxBound(t *testing.T) {
	for _, p := range []*mixpolicy.Problem{section6(mixpolicy.Ball(2)), garnetProblem(mixpolicy.Ball(2))} {
		phi := bregman.Ball{R: 2}
		best := mixpolicy.Must(p.Optimum(t.Context()))
		const iterations = 500
		r := solve(t, p, MirrorProx{}, iterations)
		m := r.Run.(*mirrorProx)
		start := make([]float64, p.Dim())
		floats.AddConst(1/float64(p.Dim()), start)
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
				bound := (m.sigma*phi.Divergence(theta, start) + size/(2*m.sigma)) / (m.eta * iterations)
				if gap > bound+1e-9*math.Abs(best.Objective) {
					t.Errorf("𝓛(θ̂, λ) − 𝓛(θ, λ̂) = %v, want at most %v", gap, bound)
				}
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
			if math.Abs(r.Gap) > 1e-12*scale || math.Abs(r.DualityGap) > 1e-12*scale || r.Merit > 1e-12*scale || r.Queries != 0 {
				t.Errorf("%v: gap %v, duality gap %v, merit %v, optimum %v", class, r.Gap, r.DualityGap, r.Merit, best.Objective)
			}
			if r.DualBound > best.Objective+1e-11*scale || floats.Min(r.Lambda) < 0 {
				t.Errorf("%v: bound %v, optimum %v", class, r.DualBound, best.Objective)
			}
		}
	}
}

// A step of PDHG from the start, with dense matrices: θ⁺ = Π(θ − Ψᵀc/σ), λ⁺ = [−σSΨ(2θ⁺ − θ)]₊.
// The second one begins there.
func TestPDHGStepsByHand(t *testing.T) {
	p := garnetProblem(mixpolicy.Ball(2))
	psi, d, pairs := p.Features().Dense(), p.Dim(), p.MDP().Pairs()
	const sigma = 3.
	a := begin[*pdhg](t, p, PDHG{})
	a.sigma = sigma
	theta := mat.NewVecDense(d, barycentre(d))
	lambda := mat.NewVecDense(pairs, nil)
	var g, price, ahead, flow mat.VecDense
	for k := range 3 {
		price.SubVec(mat.NewVecDense(pairs, p.MDP().Costs()), lambda)
		g.MulVec(psi.T(), &price)
		next := mat.NewVecDense(d, nil)
		next.AddScaledVec(theta, -1/sigma, &g)
		if err := p.Class().Norm.Project(next.RawVector().Data, next.RawVector().Data, 2); err != nil {
			t.Fatal(err)
		}
		ahead.AddScaledVec(next, 1, next)
		ahead.SubVec(&ahead, theta)
		flow.MulVec(psi, &ahead)
		for i := range pairs {
			if w := floats.Sum(psi.RawRowView(i)); w > 0 {
				lambda.SetVec(i, max(0, lambda.AtVec(i)-sigma*flow.AtVec(i)/w))
			}
		}
		theta = next
		if err := a.Step(); err != nil {
			t.Fatal(err)
		}
		if floats.Distance(a.theta, theta.RawVector().Data, math.Inf(1)) > 1e-13 || floats.Distance(a.lambda, lambda.RawVector().Data, math.Inf(1)) > 1e-12 {
			t.Fatalf("step %d: θ = %v, λ up to %v; want %v, %v", k, a.theta, floats.Max(a.lambda), theta.RawVector().Data, mat.Max(lambda))
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

// The variance-reduced form: its b̂ is the plug-in's, and with scaled rows it is near the
// optimum of the queue after 10,000 queries.
func TestVarianceReduced(t *testing.T) {
	p := section6(mixpolicy.Ball(2))
	_, top := p.MDP().CostRange()
	m := VarianceReduced{CostScale: top}
	r := solve(t, p, m, 10_000)
	reduced := r.Run.(*varianceReduced)
	plug := solve(t, p, mixpolicy.PlugIn{}, 10_000).Run.(mixpolicy.Estimator)
	for j, b := range plug.Estimate() {
		if math.Abs(reduced.b[j]*top-b) > 1e-12*b*100 { // 10⁴ roundings, which mostly cancel
			t.Errorf("b̂%d = %v, plug-in has %v", j+1, reduced.b[j]*top, b)
		}
	}
	best := mixpolicy.Must(p.Optimum(t.Context()))
	// λ̂ is in units of the true costs: its bound is near the optimum, which no other scale gives.
	if r.Merit > .05*best.Objective || r.DualBound > best.Objective || r.DualBound < .9*best.Objective || r.Queries != 10_000 {
		t.Errorf("%v", &r.Certificate)
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

func TestKnownCostErrors(t *testing.T) {
	for _, m := range []mixpolicy.Method{
		MirrorProx{Modulus: bregman.Ball{R: .7}}, VarianceReduced{CostScale: -1}, VarianceReduced{Modulus: bregman.Cube(.1)},
	} {
		if _, err := mixpolicy.Solve(context.Background(), section6(mixpolicy.Ball(2)), m, mixpolicy.Settings{Iterations: 1}); err == nil {
			t.Errorf("%+v: no error", m)
		}
	}
}

func BenchmarkSaddle(b *testing.B) {
	for _, m := range []mixpolicy.Method{MirrorProx{}, PDHG{}, VarianceReduced{CostScale: 1e4}} {
		b.Run(m.Name(), func(b *testing.B) {
			p := section6(mixpolicy.Ball(2))
			run := begin[mixpolicy.Run](b, p, m)
			for b.Loop() {
				if err := run.Step(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
