package theory_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

func TestSubordinateNorms(t *testing.T) {
	const d = 4
	f := garnetProblem(t, 3, d, mixpolicy.Ball(2)).Features()
	var svd mat.SVD
	if !svd.Factorize(f.Dense(), mat.SVDNone) {
		t.Fatal("SVD failed")
	}
	// The Gram matrix has an eigenvalue error of some d ulps of the largest; its root half.
	if want, got := svd.Values(nil)[0], theory.SubordinateNorm(f, linprog.L2); math.Abs(got-want) > 8*d*0x1p-53*want {
		t.Errorf("σ_max = %v, SVD of Ψ says %v", got, want)
	}
	// ‖Ψθ‖₂ is convex: over a polytope a vertex attains its maximum.
	row := make([]float64, f.MDP().Pairs())
	size := func(theta []float64) float64 { f.MulVec(row, theta); return floats.Norm(row, 2) }
	var signs, units float64
	theta := make([]float64, d)
	for mask := range 1 << d {
		for j := range theta {
			theta[j] = float64(2*(mask>>j&1) - 1)
		}
		signs = max(signs, size(theta))
	}
	for j := range d {
		clear(theta)
		theta[j] = 1
		units = max(units, size(theta))
	}
	for norm, want := range map[linprog.Norm]float64{linprog.LInf: signs, linprog.L1: units} {
		if got := theory.SubordinateNorm(f, norm); math.Abs(got-want) > 1e-14*want {
			t.Errorf("‖Ψ‖ for %v = %v, vertices say %v", norm, got, want)
		}
	}
	// The dual side of the definition, max ‖Ψᵀx‖⁎/‖x‖₂: never more, and attained at x = Ψθ.
	for _, norm := range []linprog.Norm{linprog.L2, linprog.LInf, linprog.L1} {
		bound := theory.SubordinateNorm(f, norm)
		rng := rand.New(rand.NewPCG(1, uint64(norm)))
		x, g, best := make([]float64, len(row)), make([]float64, d), 0.0
		for range 200 {
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			for range 50 { // x ← Ψθ for the θ of norm 1 that ⟨Ψᵀx, θ⟩ is greatest at
				f.MulVecT(g, x)
				best = max(best, norm.Dual().Of(g)/floats.Norm(x, 2))
				f.MulVec(x, steepest(norm, g))
			}
		}
		if best > bound*(1+1e-14) || best < bound*(1-1e-9) {
			t.Errorf("%v: greatest ‖Ψᵀx‖⁎/‖x‖₂ found is %v, SubordinateNorm says %v", norm, best, bound)
		}
	}
}

// steepest returns argmax ⟨g, θ⟩ over ‖θ‖ ≤ 1.
func steepest(norm linprog.Norm, g []float64) []float64 {
	theta := make([]float64, len(g))
	switch norm {
	case linprog.L2:
		floats.ScaleTo(theta, 1/floats.Norm(g, 2), g)
	case linprog.LInf:
		for j, v := range g {
			theta[j] = math.Copysign(1, v)
		}
	case linprog.L1:
		top := 0
		for j, v := range g {
			if math.Abs(v) > math.Abs(g[top]) {
				top = j
			}
		}
		theta[top] = math.Copysign(1, g[top])
	}
	return theta
}

// generic hides what a modulus is, so that MaxDivergence has to climb.
type generic struct{ bregman.Modulus }

func TestMaxDivergence(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	for _, tt := range []struct {
		phi   bregman.Modulus
		class mixpolicy.Class
		d     int
	}{
		{bregman.Ball{R: 2}, mixpolicy.Ball(2), 2},
		{bregman.Ball{R: 0.8}, mixpolicy.Ball(0.8), 5},
		{bregman.Cube(1.5), mixpolicy.Cube(1.5), 3},
		{bregman.Cube(0.4), mixpolicy.Cube(0.4), 6},
		{bregman.NegativeEntropy(), mixpolicy.Simplex(), 4},
		{bregman.Euclidean(), mixpolicy.Ball(3), 4},
	} {
		t.Run(fmt.Sprint(tt.phi, " ", tt.class, " ", tt.d), func(t *testing.T) {
			start := make([]float64, tt.d)
			for j := range start {
				start[j] = 1 / float64(tt.d) * (1 + 0.2*(rng.Float64()-0.5))
			}
			floats.Scale(1/floats.Sum(start), start)
			want := theory.MaxDivergence(tt.phi, tt.class, start)
			// No point of the class is further, and projections of far points, which are on
			// its boundary, come within a few per cent.
			theta, far, best := make([]float64, tt.d), make([]float64, tt.d), 0.0
			for range 20_000 {
				for j := range far {
					far[j] = 1e6 * rng.NormFloat64()
				}
				if err := tt.class.Norm.Project(theta, far, tt.class.R); err != nil {
					t.Fatal(err)
				}
				for j := range theta { // rounding may have put θ outside of the domain
					theta[j] = start[j] + (1-0x1p-48)*(theta[j]-start[j])
				}
				best = max(best, bregman.Divergence(tt.phi, theta, start))
			}
			if !(best <= want*(1+1e-9)) || best < 0.95*want {
				t.Errorf("MaxDivergence = %v, the best of random points %v", want, best)
			}
			if climbed := theory.MaxDivergence(generic{tt.phi}, tt.class, start); math.Abs(climbed-want) > 0.01*want {
				t.Errorf("climbing reaches %v, want %v", climbed, want)
			}
		})
	}
	// From the centre of the ball, D is the radius of its section.
	if got, want := theory.MaxDivergence(bregman.Ball{R: 2}, mixpolicy.Ball(2), []float64{.5, .5}), math.Sqrt(3.5); math.Abs(got-want) > 1e-15*4 {
		t.Errorf("D = %v, want √(R² − 1/d) = %v", got, want)
	}
}

// Over the cube the greatest divergence is that of a vertex: of all of them, for starts that
// favour some coordinates, and for radii with one and with several numbers of entries at +R.
func TestMaxDivergenceVertices(t *testing.T) {
	for _, start := range [][]float64{{.25, .25, .25, .25}, {.4, .1, .2, .3}, {-.1, .5, .3, .3}} {
		for _, r := range []float64{.55, .7, 1, 1.5, 4} {
			phi, d := bregman.Cube(r), len(start)
			var want float64
			theta := make([]float64, d)
			for last := range d {
				for signs := range 1 << d {
					theta[last] = 1
					for j := range d {
						if j != last {
							theta[j] = r * float64(2*(signs>>j&1)-1)
							theta[last] -= theta[j]
						}
					}
					if math.Abs(theta[last]) <= r {
						want = max(want, bregman.Divergence(phi, theta, start))
					}
				}
			}
			if got := theory.MaxDivergence(phi, mixpolicy.Cube(r), start); math.Abs(got-want) > 1e-12*want {
				t.Errorf("R = %v from %v: %v, the vertices say %v", r, start, got, want)
			}
		}
	}
}

// (5.31): the corrected bounds of the sums hold for every T, the printed ones fail at 1.
func TestStepSums(t *testing.T) {
	s := theory.SumSteps(mixpolicy.InverseSqrt(2), 2)
	if want := (theory.StepSums{T: 2, Sum: 2 + math.Sqrt2, Squares: 6, Fourth: 20}); s.T != 2 ||
		math.Abs(s.Sum-want.Sum) > 1e-15*want.Sum || math.Abs(s.Squares-6) > 1e-14 || math.Abs(s.Fourth-20) > 1e-13 {
		t.Errorf("sums of 2, √2 are %+v, want %+v", s, want)
	}
	for form, want := range map[mixpolicy.Form]theory.StepSums{
		mixpolicy.Printed:   {T: 4, Sum: 3, Squares: 8 * math.Ln2, Fourth: 2},
		mixpolicy.Corrected: {T: 4, Sum: 2 * (math.Sqrt(5) - 1), Squares: 1 + 2*math.Ln2, Fourth: 1.75},
	} {
		if b := theory.InverseSqrtSums(form, 4); b.T != 4 || math.Abs(b.Sum-want.Sum) > 8*u*b.Sum || math.Abs(b.Squares-want.Squares) > 8*u*b.Squares || b.Fourth != want.Fourth {
			t.Errorf("%v, T = 4: %+v, want %+v", form, b, want)
		}
	}
	for n := 1; n <= 2000; n++ {
		s = theory.SumSteps(mixpolicy.InverseSqrt(1), n)
		b := theory.InverseSqrtSums(mixpolicy.Corrected, n)
		if s.Sum < b.Sum || s.Squares > b.Squares || s.Fourth > b.Fourth {
			t.Fatalf("T = %d: sums %+v, bounds %+v", n, s, b)
		}
		if p := theory.InverseSqrtSums(mixpolicy.Printed, n); n == 1 && p.Squares >= s.Squares || n > 1 && p.Sum < s.Sum {
			t.Fatalf("T = %d: the printed bounds %+v hold for %+v", n, p, s)
		}
		if n > 20 {
			n += n / 3
		}
	}
}

// Proposition 3.1, corrected: no run of the corrected algorithm exceeds the bounds,
// whatever the modulus, β, the schedule and the seed. The level 1 − δ is 0.95: with 40
// independent streams two misses a configuration would be expected of a bound that is
// exact, and none is allowed.
func TestBoundsAlongRuns(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    *mixpolicy.Problem
		m    mixpolicy.PrimalDual
	}{
		{"queue, ball", queueProblem(t, 20, mixpolicy.Ball(2)), mixpolicy.PrimalDual{Beta: 50, CostScale: 430.72}},
		{"queue, cube", queueProblem(t, 20, mixpolicy.Cube(1.5)), mixpolicy.PrimalDual{Beta: 5, CostScale: 430.72}},
		{"queue, large steps", queueProblem(t, 20, mixpolicy.Ball(2)), mixpolicy.PrimalDual{Beta: 50, CostScale: 430.72, StepSize: mixpolicy.InverseSqrt(16)}},
		{"garnet, ball", garnetProblem(t, 1, 3, mixpolicy.Ball(2)), mixpolicy.PrimalDual{Beta: 20}},
		{"garnet, simplex", garnetProblem(t, 2, 3, mixpolicy.Simplex()), mixpolicy.PrimalDual{Beta: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const delta = 0.05
			k := mixpolicy.Must(theory.NewConstants(tt.p, tt.m))
			best := mixpolicy.Must(tt.p.Optimum(t.Context()))
			scale := max(tt.m.CostScale, 1)
			schedule := tt.m.StepSize
			if schedule == nil {
				schedule = mixpolicy.InverseSqrt(1)
			}
			iterations := []int{10, 100, 1000}
			for stream := range uint64(40) {
				for _, n := range iterations {
					r := mixpolicy.Must(mixpolicy.Solve(context.Background(), tt.p, tt.m, mixpolicy.Settings{Iterations: n, Seed: 5, Stream: stream, Uncertified: true}))
					s := theory.SumSteps(schedule, n)
					gap := (r.Objective - best.Objective) / scale
					exceeds := func(what string, value float64, b theory.Bound) {
						if !(value <= b.Value) || math.IsNaN(b.Value) {
							t.Errorf("stream %d, T = %d: %s %v exceeds %+v", stream, n, what, value, b)
						}
					}
					exceeds("gap", gap, k.ObjectiveBound(s, delta))
					exceeds("gap", gap, k.SharpObjectiveBound(s, delta))
					exceeds("violation", r.Violation, k.ViolationBound(s, delta))
					exceeds("violation", r.Violation, k.SharpViolationBound(s, delta))
					if sharp, plain := k.SharpObjectiveBound(s, delta).Value, k.ObjectiveBound(s, delta).Value; sharp > plain {
						t.Errorf("T = %d: the sharp bound %v is above the plain one %v", n, sharp, plain)
					}
				}
			}
		})
	}
}

// The constants of (5.29), (5.30) and (A.3) bound what they say, at the worst λ and pair.
func TestGradientBounds(t *testing.T) {
	p := garnetProblem(t, 4, 3, mixpolicy.Cube(2))
	k := mixpolicy.Must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 30}))
	f, dual := p.Features(), p.Class().Norm.Dual()
	rng := rand.New(rand.NewPCG(4, 4))
	lambda, g, row := make([]float64, k.Pairs), make([]float64, k.Dim), make([]float64, k.Dim)
	for range 300 {
		for i := range lambda {
			lambda[i] = math.Abs(rng.NormFloat64())
		}
		floats.Scale(k.G/floats.Norm(lambda, 2), lambda)
		p.GradTheta(g, lambda)
		if v := dual.Of(g); v > k.GradientBound() {
			t.Errorf("‖∇_θ𝓛‖⁎ = %v > %v", v, k.GradientBound())
		}
		for i, q := range f.Sampling() {
			f.Row(row, i)
			floats.Scale((p.MDP().Costs()[i]-lambda[i])/q, row)
			if v := dual.Of(row); v > k.A*(k.Cost+k.G) {
				t.Errorf("‖ĝ‖⁎ = %v > %v", v, k.A*(k.Cost+k.G))
			}
			floats.Sub(row, g)
			if v := dual.Of(row); v > k.Ce(mixpolicy.Corrected) {
				t.Errorf("‖e‖⁎ = %v > C_e = %v", v, k.Ce(mixpolicy.Corrected))
			}
		}
	}
}

// forked is the process of two states that attains Lemma 3.3: from 0 action a goes to 1 with
// probability d, action b surely; from 1 back with probability p.
func forked(t *testing.T, c mixpolicy.Criterion, d, p float64) *mixpolicy.MDP {
	t.Helper()
	up := []float64{d, 1}
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 2, Actions: 2, Criterion: c, Initial: []float64{0, 1},
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			if s == 1 {
				return 0, transitions([]float64{p, 1 - p})
			}
			return 0, transitions([]float64{1 - up[a], up[a]})
		},
	}))
}

// exact returns the total variation between u and the measure of its policy, and the corrected
// bound of it, with the contraction of the policy.
func exact(t *testing.T, x *mixpolicy.MDP, u []float64) (tv, bound, tau float64) {
	t.Helper()
	pi := mixpolicy.Must(mixpolicy.PolicyOf(x, u))
	var mass float64
	for _, v := range u {
		mass += max(0, -v)
	}
	c := mixpolicy.Must(theory.ContractionCoefficient(t.Context(), x, pi, 1))
	tau = -1 / math.Log(c.Coefficient) // 0 for a coefficient of 0, +∞ for 1
	q := mixpolicy.Must(x.Occupation(t.Context(), pi))
	return theory.TotalVariation(u, q.Pair), theory.Distance(mixpolicy.Corrected, x.Criterion(), math.Abs(tau), 0, mass), math.Abs(tau)
}

// Lemma 3.3 is attained, under both criteria, whatever the mass and the mixing. The first two rows
// are where τε ln(1/ε) + 3ε/2, which cites a lemma without its remainder, is exceeded.
func TestDistanceIsAttained(t *testing.T) {
	for _, d := range []float64{.4, .1, .01, .5} {
		for _, p := range []float64{1e-6, .5, .9} {
			if p > 1-d {
				continue // the coefficient |1 − p − d| is that of a chain which alternates
			}
			for _, c := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(.9), mixpolicy.Discounted(.2)} {
				eps := (d + (1-c.Gamma())/c.Gamma()) / (1 - d) // for which u(1) = 0
				x := forked(t, c, d, p)
				u := []float64{1 + eps, -eps, 0, 0}
				// u has the flow: into 1 comes (1−γ) + γ(d(1+ε) − ε) = 0.
				tv, bound, tau := exact(t, x, u)
				if math.Abs(tv-bound) > 1e-9 { // 10⁻¹⁶ over 1−δ ≥ 10⁻⁶, and some operations
					t.Errorf("%v, d = %v, p = %v: distance %v, bound %v", c, d, p, tv, bound)
				}
				if wrong := tau*eps*math.Log(1/eps) + 1.5*eps; c.Average() && (d == .4 && p == 1e-6 || d == .1 && p == .9) && tv <= wrong {
					t.Errorf("d = %v, p = %v: %v is not above τε ln(1/ε) + 3ε/2 = %v", d, p, tv, wrong)
				}
			}
		}
	}
}

// Lemma 3.3 over random processes of two and three states, whose total variations are exact.
func TestDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 36))
	distribution := func(n int) []float64 {
		p := make([]float64, n)
		for i := range p {
			p[i] = rng.ExpFloat64()
			if rng.IntN(3) == 0 {
				p[i] = 1e-3 * rng.Float64()
			}
		}
		floats.Scale(1/floats.Sum(p), p)
		return p
	}
	closest := 0.
	for range 4000 {
		n := 2 + rng.IntN(2)
		c := mixpolicy.AverageCost
		if rng.IntN(2) == 0 {
			c = mixpolicy.Discounted(rng.Float64())
		}
		rows := make([][]float64, 2*n)
		for i := range rows {
			rows[i] = distribution(n)
		}
		x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: n, Actions: 2, Criterion: c, Initial: distribution(n),
			Dynamics: func(s, a int) (float64, []mixpolicy.Transition) { return 0, transitions(rows[2*s+a]) }}))
		u, scale := make([]float64, 2*n), math.Exp(4*rng.NormFloat64())
		for _, weight := range []float64{1 + scale, -scale} { // any combination of measures has the flow
			actions := make([]int, n)
			for s := range actions {
				actions[s] = rng.IntN(2)
			}
			q := mixpolicy.Must(x.Occupation(t.Context(), mixpolicy.Must(mixpolicy.Deterministic(x, actions))))
			floats.AddScaled(u, weight, q.Pair)
		}
		tv, bound, _ := exact(t, x, u)
		if !(tv <= bound+1e-9) { // as above
			t.Errorf("%v: distance %v of u = %v, bound %v", c, tv, u, bound)
		}
		if bound > 1e-9 {
			closest = max(closest, tv/bound)
		}
	}
	if closest < .9 {
		t.Errorf("no distance is more than %v of its bound", closest)
	}
}
