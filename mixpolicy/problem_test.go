package mixpolicy_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// small returns (2.18) for a random MDP of 6 states and 2 actions with d random base
// policies.
func small(tb testing.TB, d int, class mixpolicy.Class, c mixpolicy.Criterion) *mixpolicy.Problem {
	tb.Helper()
	x := mixpolicy.Must(models.Garnet{States: 6, Actions: 2, Branches: 3, Ring: true, Seed: 5, Criterion: c}.MDP())
	policies := make([]*mixpolicy.Policy, d)
	for j := range policies {
		policies[j] = mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, row []float64) {
			row[0] = []float64{.95, .5, .05}[(s+2*j)%3] - .01*float64(j) // different policies, so that rows of Ψ bind
			row[1] = 1 - row[0]
		}))
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(tb.Context(), x, policies...)), class))
}

// naive returns Ψθ, entry by entry.
func naive(f *mixpolicy.Features, theta []float64) []float64 {
	y := make([]float64, f.MDP().Pairs())
	for j, v := range theta {
		for i, psi := range f.Column(j) {
			y[i] += psi * v
		}
	}
	return y
}

// drawFinite draws n numbers in [−bound, bound].
func drawFinite(t *rapid.T, n int, bound float64, name string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-bound, bound), n, n).Draw(t, name)
}

// (3.1): 𝓛(θ, λ) = cᵀΨθ − λᵀΨθ. (3.4), (3.6): its gradients are −Ψθ, with the sign that (3.4) omits, and Ψᵀ(c − λ).
// Package paper compares the gradients with difference quotients.
func TestLagrangian_3_1_3_4_3_6(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	g, along := make([]float64, 3), make([]float64, 12)
	rapid.Check(t, func(t *rapid.T) {
		theta, lambda := drawFinite(t, 3, 5, "θ"), drawFinite(t, 12, 5, "λ")
		p.GradTheta(g, lambda)
		p.GradLambda(along, theta)
		var want, size float64
		slope := make([]float64, 3)
		for i, v := range naive(p.Features(), theta) {
			reduced := p.MDP().Costs()[i] - lambda[i]
			want += reduced * v
			size += math.Abs(reduced * v)
			for j := range slope {
				slope[j] += reduced * p.Features().Column(j)[i]
			}
			if math.Abs(along[i]+v) > 100*u { // two sums of 3 terms, at most 5 each
				t.Fatalf("∂𝓛/∂λ%d = %v, want −(Ψθ)ᵢ = %v", i, along[i], -v)
			}
		}
		// Sums of 12 terms, taken in two orders.
		if got := p.Lagrangian(theta, lambda); math.Abs(got-want) > 40*u*(size+40) {
			t.Fatalf("𝓛 = %v, want %v", got, want)
		}
		if off := floats.Distance(g, slope, math.Inf(1)); off > 40*u*6 { // |c − λ| ≤ 6, Σψ = 1
			t.Fatalf("∇_θ𝓛 = %v, want %v", g, slope)
		}
	})
}

// Proposition 3.1: V(θ) = ½‖[Ψθ]₋‖₂. NegativeMass is ‖[Ψθ]₋‖₁, as in the source of Lemma 3.3.
func TestViolation_Proposition_3_1(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	rapid.Check(t, func(t *rapid.T) {
		theta := drawFinite(t, 3, 100, "θ")
		var squares, mass float64
		for _, v := range naive(p.Features(), theta) {
			squares += math.Min(v, 0) * math.Min(v, 0)
			mass -= math.Min(v, 0)
		}
		const tolerance = 16 * u * 300
		if got, want := p.Violation(theta), math.Sqrt(squares)/2; math.Abs(got-want) > tolerance {
			t.Fatalf("V = %v, want %v", got, want)
		}
		if got := p.NegativeMass(theta); math.Abs(got-mass) > tolerance {
			t.Fatalf("negative mass %v, want %v", got, mass)
		}
	})
	if v := p.Violation([]float64{.2, .3, .5}); v != 0 {
		t.Errorf("V = %v for a convex combination of measures, want 0", v)
	}
}

func drawClass(t *rapid.T, d int) mixpolicy.Class {
	excess := rapid.Float64Range(1e-3, 20).Draw(t, "R − least")
	switch rapid.IntRange(0, 2).Draw(t, "norm") {
	case 0:
		return mixpolicy.Ball(excess + 1/math.Sqrt(float64(d)))
	case 1:
		return mixpolicy.Cube(excess + 1/float64(d))
	}
	return mixpolicy.Class{Norm: linprog.L1, R: 1 + excess}
}

// drawFeasible draws a point of the class on the hyperplane: a random point, pulled towards (1/d, …, 1/d) until it is
// in the class.
func drawFeasible(t *rapid.T, c mixpolicy.Class, d int) []float64 {
	x := drawFinite(t, d, 50, "point")
	var mean float64
	for _, v := range x {
		mean += v / float64(d)
	}
	theta := make([]float64, d)
	for s := rapid.Float64Range(0, 1).Draw(t, "share"); ; s *= .9 {
		for j := range x {
			theta[j] = 1/float64(d) + s*(x[j]-mean)
		}
		if c.Size(theta) <= c.R {
			return theta
		}
	}
}

// MinLinear returns min gᵀθ over 1ᵀθ = 1, ‖θ‖ ≤ R. For this problem, without the rows Ψθ ⪰ 0,
// linprog finds the same minimum, and no random point of the class has a smaller gᵀθ.
func TestMinLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 5).Draw(t, "d")
		c, g := drawClass(t, d), drawFinite(t, d, 10, "g")
		none := make(linprog.Columns, d)
		sol := mixpolicy.Must(linprog.Mixture{B: g, Psi: none, Norm: c.Norm, R: c.R}.Solve(context.Background(), linprog.Settings{}))
		got := c.MinLinear(g)
		// Rounding of R‖g‖⁎, a few operations for each coordinate.
		tolerance := 64 * float64(d) * u * (1 + c.R) * 10 * float64(d)
		if got > sol.Objective+tolerance || got < sol.Bound-tolerance {
			t.Fatalf("min = %v, linprog says %v, at least %v", got, sol.Objective, sol.Bound)
		}
		if unbounded := (mixpolicy.Class{Norm: c.Norm, R: math.Inf(1)}); d > 1 && floats.Max(g) > floats.Min(g) && !math.IsInf(unbounded.MinLinear(g), -1) {
			t.Fatalf("min = %v without a bound, want −∞", unbounded.MinLinear(g))
		}
		flat := make([]float64, d)
		floats.AddConst(g[0], flat)
		if v := (mixpolicy.Class{Norm: c.Norm, R: math.Inf(1)}).MinLinear(flat); math.Abs(v-g[0]) > 4*u*10 {
			t.Fatalf("min = %v of the constant %v", v, g[0])
		}
		var at float64
		for j, v := range drawFeasible(t, c, d) {
			at += g[j] * v
		}
		if at < got-tolerance {
			t.Fatalf("min = %v, but %v is attained", got, at)
		}
	})
}

// Weak duality: for any λ ⪰ 0, DualBound ≤ cᵀΨθ for all feasible θ. Strong duality: for the multipliers of the optimum,
// DualBound is the optimal cost.
func TestDuality_3_1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, mixpolicy.AverageCost)
		psi := drawFeatures(t, x, 4)
		d := psi.Dim()
		class := drawClass(t, d)
		p := mixpolicy.Must(mixpolicy.NewProblem(psi, class))
		lambda := rapid.SliceOfN(rapid.Float64Range(0, 20), x.Pairs(), x.Pairs()).Draw(t, "λ")
		theta := drawFeasible(t, class, d)
		for k := 0; p.Violation(theta) > 0 && k < 200; k++ { // move θ towards 1/d, which is feasible
			for j := range theta {
				theta[j] = .8*theta[j] + .2/float64(d)
			}
		}
		// The tolerance is for the rounding of R‖Ψᵀ(c − λ)‖ with |c − λ| ≤ 30, and for 0.8²⁰⁰ ≈ 10⁻¹⁹ of a violation.
		tolerance := 64 * float64(d*d) * u * (1 + class.R) * 30
		if low, f := p.DualBound(lambda), p.Objective(theta); low > f+tolerance {
			t.Fatalf("DualBound = %v > cᵀΨθ = %v", low, f)
		}
		best := mixpolicy.Must(p.Optimum(t.Context()))
		if low := p.DualBound(lambda); low > best.Objective+tolerance {
			t.Fatalf("DualBound = %v > optimum %v", low, best.Objective)
		}
		clear(lambda)
		for _, m := range best.Rows {
			lambda[m.Row] = m.Lambda()
		}
		tolerance *= 1 + floats.Max(lambda)
		if low := p.DualBound(lambda); math.Abs(low-best.Objective) > tolerance+best.Gap() {
			t.Fatalf("DualBound(λ*) = %v, optimum %v", low, best.Objective)
		}
	})
}

// Optimum stores the result of a finished computation, but not of a cancelled one.
func TestOptimumContext(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 30 { // by chance, the computation starts or does not
		if _, err := p.Optimum(ctx); err == nil {
			t.Error("no error from a cancelled context")
		}
	}
	first := mixpolicy.Must(p.Optimum(t.Context()))
	if again := mixpolicy.Must(p.Optimum(t.Context())); again != first {
		t.Error("the optimum was computed twice")
	}
}

// The class must meet the hyperplane 1ᵀθ = 1 in more than a point, unless d = 1.
func TestClassErrors(t *testing.T) {
	f := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost).Features()
	for _, c := range []struct {
		class mixpolicy.Class
		says  string
	}{
		{mixpolicy.Ball(1 / math.Sqrt(2)), "want R > 0.707107"},
		{mixpolicy.Class{Norm: 9, R: 2}, "Norm(9)"},
		{mixpolicy.Cube(.5), "want R > 0.5"},
		{mixpolicy.Class{Norm: linprog.L1, R: .99}, "want R ≥ 1"},
		{mixpolicy.Ball(math.NaN()), "R is NaN"},
		{mixpolicy.Ball(-1), "want R > 0.707107"},
	} {
		wantError(t, errOf(mixpolicy.NewProblem(f, c.class)), c.says)
	}
	one := small(t, 1, mixpolicy.Ball(2), mixpolicy.AverageCost).Features() // d = 1: a point is enough
	for class, f := range map[mixpolicy.Class]*mixpolicy.Features{
		mixpolicy.Ball(.71): f, mixpolicy.Cube(.51): f, mixpolicy.Simplex(): f, mixpolicy.Unbounded(): f,
		mixpolicy.Ball(1): one, mixpolicy.Cube(1): one,
	} {
		if _, err := mixpolicy.NewProblem(f, class); err != nil {
			t.Errorf("%v: %v", class, err)
		}
	}
	wantError(t, errOf(mixpolicy.NewProblem(one, mixpolicy.Ball(.99))), "want R ≥ 1")
	if _, err := mixpolicy.NewProblem(nil, mixpolicy.Ball(2)); err == nil {
		t.Error("no error for nil features")
	}
}

// The penalised gap is the gap plus a penalty for each kind of violation: the violation times a weight, the greater
// of the range of costs and twice the largest multiplier. For every θ in ℝᵈ, feasible or not, the penalised gap is at
// least the gap, and at least the negative mass times the largest multiplier of the rows. At the optimum, it is 0.
func TestPenalisedGap(t *testing.T) {
	for k, class := range []mixpolicy.Class{
		mixpolicy.Ball(.578), mixpolicy.Ball(1.1), mixpolicy.Cube(.6), mixpolicy.Cube(2), {Norm: linprog.L1, R: 1.5}, mixpolicy.Simplex(),
	} {
		p := small(t, 3, class, mixpolicy.AverageCost)
		if k%2 == 1 { // costs below 0
			f := p.Features()
			x := priced(f.MDP(), func(c float64) float64 { return c - 2 })
			p = mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, f.Column(0), f.Column(1), f.Column(2))), class))
		}
		best := mixpolicy.Must(p.Optimum(t.Context()))
		lo, hi := p.MDP().CostRange()
		var lambda float64
		for _, m := range best.Rows {
			lambda = max(lambda, m.Lambda())
		}
		// The tolerance is for rounding, 2⁻⁵³ of the weights times ‖θ‖, and for the error of the optimum itself.
		weights := 2*(lambda+math.Abs(best.Hyperplane)+best.Ball) + 3*(hi-lo)
		tolerance := 1000*u*weights + 10*math.Abs(best.Gap())
		if m := mixpolicy.Must(p.PenalisedGap(best.Theta)); math.Abs(m) > tolerance {
			t.Errorf("%v: penalised gap %v of the optimum", class, m)
		}
		rapid.Check(t, func(t *rapid.T) {
			theta := drawFinite(t, 3, 4, "θ")
			if rapid.Bool().Draw(t, "on the hyperplane") {
				wider := class
				wider.R *= rapid.SampledFrom([]float64{1, 1.2, 3}).Draw(t, "how far out")
				theta = drawFeasible(t, wider, 3)
			}
			gap, mass := p.Objective(theta)-best.Objective, p.NegativeMass(theta)
			want := gap + max(2*lambda, hi-lo)*mass + max(2*math.Abs(best.Hyperplane), hi-lo)*math.Abs(floats.Sum(theta)-1) +
				max(2*best.Ball, hi-lo)*max(0, class.Size(theta)-class.R)
			m := mixpolicy.Must(p.PenalisedGap(theta))
			if math.Abs(m-want) > tolerance || m < lambda*mass-tolerance || m < gap-tolerance {
				t.Fatalf("%v: penalised gap %v of θ = %v, want %v; gap %v, negative mass %v", class, m, theta, want, gap, mass)
			}
		})
	}
}

// A feature with an entry of 10⁻³¹⁰ makes a multiplier overflow. The penalised gap is still 0 at the optimum, and +∞
// at a point that violates this row.
func TestPenalisedGapOfAnInfiniteMultiplier(t *testing.T) {
	x := mixpolicy.Must(islands(mixpolicy.AverageCost).WithCosts([]float64{0, 0, 1, 0}))
	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, []float64{1e-310, 0, .5, .5}, []float64{0, .25, .375, .375}))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	if m, err := p.PenalisedGap([]float64{0, 1}); err != nil || !(math.Abs(m) <= 4*u) {
		t.Errorf("penalised gap %v of the optimum, %v", m, err)
	}
	if m, err := p.PenalisedGap([]float64{-.5, 1.5}); err != nil || !math.IsInf(m, 1) {
		t.Errorf("penalised gap %v of an infeasible point, %v", m, err)
	}
}
