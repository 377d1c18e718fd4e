package theory_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// The bounds of section 3.2 agree with values computed by hand for simple numbers: √(nm) = 2, σ_max
// max‖θ‖₂ = 3/2, A(c_max+G) = 132, (c_max√(nm)+G)‖Ψ‖ = 17/2, and so C_e = 281/2. In the printed
// form, C_e = 8·11 + 9/2 = 185/2. For Ση² = 2 and ln(1/δ) = 9, √(2 ln(1/δ) Ση²) = 6.
func TestBoundsByHand(t *testing.T) {
	k := &theory.Constants{
		Pairs: 4, Dim: 2, R: 3, Reach: 6, Cost: 5, Beta: 7, G: 7,
		A: 11, PsiNorm: .5, SigmaMax: .25, Comparison: 2, Mu: .5, D: 13, DStar: 9, LambdaStar: 3, Tangent: 2,
	}
	s := theory.StepSums{T: 10, Sum: 8, Squares: 2}
	delta := math.Exp(-9)
	log9 := 2 * math.Log(3)
	objective := (13 + 9./8*2 + 289./4/.5*2 + 281*281/4./.5*2 + 2*3*281/2.*6) / 8
	sharp := (9 + 9./8*2 + 24*24/(2*.5)*2 + 2*3*24*6.) / 8
	printedB := 2*3*.25 + 9./2 + 185*185/4.
	printedTerms := []float64{1. / 5, printedB * 4 * log9 / 5, 4 * math.Sqrt2 * 3 * 185 / 2 * log9 / 5, 185 / 2. * 2 * 4 * log9 * log9 / 5} // 2√9 − 1 = 5
	printed := floats.Sum(printedTerms)
	for what, tt := range map[string]struct{ got, want float64 }{
		"GradientBound":                 {k.GradientBound(), 8.5},
		"C_e":                           {k.Ce(mixpolicy.Corrected), 140.5},
		"C_e printed":                   {k.Ce(mixpolicy.Printed), 92.5},
		"B":                             {k.B(mixpolicy.Corrected), 9./8 + 2*(289./4+281*281/4.)},
		"B printed":                     {k.B(mixpolicy.Printed), printedB},
		"D":                             {k.Divergence(mixpolicy.Corrected), 13},
		"ObjectiveBound":                {k.ObjectiveBound(s, delta).Value, objective},
		"ExpectedObjectiveBound":        {k.ExpectedObjectiveBound(s).Value, objective - 2*3*281/2.*6/8},
		"ViolationBound":                {k.ViolationBound(s, delta).Value, 3*5*2*.5/7 + objective/14 + 7./32},
		"RefinedObjectiveBound":         {k.RefinedObjectiveBound(s, delta).Value, sharp},
		"RefinedViolationBound":         {k.RefinedViolationBound(s, delta).Value, (sharp + 49./16) / (2 * (7 - 3))},
		"PrintedObjectiveBound":         {k.PrintedObjectiveBound(1, 9).Value, printed},
		"PrintedObjectiveBound, T = 1":  {k.PrintedObjectiveBound(3, 1).Value, 3},
		"PrintedExpectedObjectiveBound": {k.PrintedExpectedObjectiveBound(1, 9).Value, (1 + printedB*(1+log9)) / 5},
		"its first term":                {k.PrintedExpectedObjectiveBound(1, 9).Terms[0].Value, 1. / 5},
		"PrintedViolationBound":         {k.PrintedViolationBound(1, 9).Value, 3*5*2*.5/7 + printed/14 + 7./4},
	} {
		if math.Abs(tt.got-tt.want) > 64*0x1p-53*tt.want {
			t.Errorf("%s = %v, want %v", what, tt.got, tt.want)
		}
	}
	for i, term := range k.PrintedObjectiveBound(1, 9).Terms {
		if math.Abs(term.Value-printedTerms[i]) > 64*u*printedTerms[i] {
			t.Errorf("term %d of the printed bound is %+v, want %v", i, term, printedTerms[i])
		}
	}
	convex := *k
	convex.Mu = 2
	b := convex.RefinedObjectiveBound(s, delta)
	for i, want := range []theory.Term{
		{Name: "D, from the start", Value: 9. / 8}, {Name: "σ_max, from the dual steps", Value: 9. / 8 * 2 / 8},
		{Name: "‖∇𝓛‖⁎, from the primal steps", Value: 24 * 24 / 4. * 2 / 8}, {Name: "C_e√ln, from their deviation", Value: 2 * 3 * 24 * 6. / 8},
	} {
		if got := b.Terms[i]; got.Name != want.Name || math.Abs(got.Value-want.Value) > 64*u*want.Value {
			t.Errorf("term %d of the sharp bound is %+v, want %+v", i, got, want)
		}
	}
	if !math.IsInf(k.Divergence(mixpolicy.Printed), 1) {
		t.Error("(3.29) as printed is finite")
	}
	for what, b := range map[string]theory.Bound{
		"no ball": k.With(math.Inf(1)).RefinedViolationBound(s, delta), "G = ‖λ*‖": k.With(3).RefinedViolationBound(s, delta),
		"G = ‖λ*‖, θ₀ = θ*": (&theory.Constants{G: 3, LambdaStar: 3, Mu: 1}).RefinedViolationBound(s, delta),
	} {
		if !math.IsInf(b.Value, 1) || !math.IsInf(b.Terms[0].Value, 1) {
			t.Errorf("%s: bound %+v, want +∞", what, b)
		}
	}
	if got := k.ObjectiveBound(s, delta).Largest(); got.Name != "C_e², from the estimation errors" || got.Value != 281*281/4./.5*2/8 {
		t.Errorf("largest term %+v", got)
	}
}

// (3.36) agrees with values computed by hand. For τ = 1/ln 2, e^{−1/τ} = ½. The printed form uses
// V = ¼‖[Ψθ]₋‖₂ = ¼.
func TestDistanceByHand(t *testing.T) {
	half, average := mixpolicy.Discounted(.5), mixpolicy.AverageCost
	never, once := math.Inf(1), 0. // values of τ
	for what, tt := range map[string]struct{ got, want float64 }{
		"printed":                       {theory.Distance(mixpolicy.Printed, half, 3, .5, 9), (2*3*.25*math.Log(4) + 3*.25) / .5},
		"discounted":                    {theory.Distance(mixpolicy.Corrected, half, 1/math.Ln2, 9, .25), 1./4 + 1./8/(1-1./4)},
		"discounted, no mixing":         {theory.Distance(mixpolicy.Corrected, half, never, 9, .25), 1./4 + 1./8*2},
		"discounted, more than (1−γ)/γ": {theory.Distance(mixpolicy.Corrected, half, never, 9, 1.5), 1.5 + 1},
		"average":                       {theory.Distance(mixpolicy.Corrected, average, 1/math.Ln2, 9, .25), 1./4 + 1./5*2},
		"average, mixes at once":        {theory.Distance(mixpolicy.Corrected, average, once, 9, .25), 1./4 + 1./5},
		"average, no mixing":            {theory.Distance(mixpolicy.Corrected, average, never, 9, .25), 1./4 + 1},
		"average, slow":                 {theory.Distance(mixpolicy.Corrected, average, 1e20, 9, 1e-30), 1e-10},
		"half of distributions at most": {theory.Distance(mixpolicy.Corrected, average, 10, 9, 2), 2 + 1},
		"infinite":                      {theory.Distance(mixpolicy.Corrected, half, 10, 9, never), never},
		"feasible":                      {theory.Distance(mixpolicy.Corrected, average, never, 9, 0), 0},
		"feasible, printed":             {theory.Distance(mixpolicy.Printed, average, 2, 0, 9), 0},
	} {
		if !(math.Abs(tt.got-tt.want) <= 8*u*tt.want) && tt.got != tt.want {
			t.Errorf("%s: %v, want %v", what, tt.got, tt.want)
		}
	}
	for _, bad := range [][3]float64{{-1, 1, 1}, {1, -1, 1}, {1, 1, -1}, {math.NaN(), 1, 1}, {1, math.NaN(), 1}, {1, 1, math.NaN()}} {
		panics(t, "theory: distance for τ", func() { theory.Distance(mixpolicy.Corrected, half, bad[0], bad[1], bad[2]) })
	}
}

// NewConstants agrees with the definitions.
func TestConstants(t *testing.T) {
	for _, tt := range []struct {
		class                 mixpolicy.Class
		reach, comparison, mu float64
	}{
		{mixpolicy.Ball(2), 2, 1, 1. / 2},           // (3.7) is 1/R-strongly convex
		{mixpolicy.Cube(2), 2 * math.Sqrt(3), 1, 1}, // (3.10): 2/R in ℓ₂, and ‖x‖₂ ≥ ‖x‖_∞
		{mixpolicy.Simplex(), 1, math.Sqrt(3), 1},   // entropy, in ℓ₁: Pinsker
	} {
		p := garnetProblem(t, 6, 3, tt.class)
		k := mixpolicy.Must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 20, CostScale: 4}))
		if k.Reach != tt.reach || k.Comparison != tt.comparison || k.Mu != tt.mu {
			t.Errorf("%v: max ‖θ‖₂ = %v, C(n) = %v, μ = %v, want %v, %v, %v", tt.class, k.Reach, k.Comparison, k.Mu, tt.reach, tt.comparison, tt.mu)
		}
		lo, hi := p.MDP().CostRange()
		if want := max(-lo, hi) / 4; k.Cost != want {
			t.Errorf("%v: c_max = %v, want %v", tt.class, k.Cost, want)
		}
		if k.G != 20 || k.With(0).G != 1/(1-p.MDP().Gamma()) || k.With(30).G != 30 {
			t.Errorf("%v: G = %v for β = 20, %v for 0, %v for 30", tt.class, k.G, k.With(0).G, k.With(30).G)
		}
		best := mixpolicy.Must(p.Optimum(t.Context()))
		var squares float64
		for _, m := range best.Rows {
			squares += m.Lambda() / 4 * m.Lambda() / 4
		}
		if want := math.Sqrt(squares); math.Abs(k.LambdaStar-want) > 1e-15*want {
			t.Errorf("%v: ‖λ*‖₂ = %v, want %v", tt.class, k.LambdaStar, want)
		}

		// If the class is small, θ* is on its boundary. If rounding puts θ* outside the domain, Divergence returns +∞.
		phi := mixpolicy.DefaultModulus(tt.class)
		if want := bregman.Divergence(phi, best.Theta, barycentre(3)); !(k.DStar > 0 && k.DStar <= k.D) || want <= k.D && math.Abs(k.DStar-want) > 1e-12*want {
			t.Errorf("%v: D(θ*; θ₀) = %v, want %v, at most %v", tt.class, k.DStar, want, k.D)
		}

		f, dual := p.Features(), tt.class.Norm.Dual()
		row := make([]float64, 3)
		var a, tangent float64
		for i, q := range f.Sampling() {
			f.Row(row, i)
			floats.Scale(1/q, row)
			a = max(a, dual.Of(row))
			// ‖x − k1‖ is convex in k, and least between the extremes of x.
			from, to := floats.Min(row), floats.Max(row)
			at := func(k float64) float64 {
				y := append([]float64(nil), row...)
				floats.AddConst(-k, y)
				return dual.Of(y)
			}
			for range 200 {
				if one, two := from+(to-from)/3, to-(to-from)/3; at(one) < at(two) {
					to = two
				} else {
					from = one
				}
			}
			tangent = max(tangent, at(from))
		}
		if math.Abs(k.A-a) > 1e-14*a || math.Abs(k.Tangent-tangent) > 1e-9*tangent {
			t.Errorf("%v: A = %v, along the hyperplane %v; want %v, %v", tt.class, k.A, k.Tangent, a, tangent)
		}
	}

	// Under average cost, λ is not confined to a ball unless β sets its radius.
	p := queueProblem(t, 0, mixpolicy.Ball(2))
	k := mixpolicy.Must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 5, CostScale: 1e4}))
	s := theory.SumSteps(mixpolicy.InverseSqrt(1), 100)
	if none := k.With(0); k.G != 5 || !math.IsInf(none.G, 1) ||
		!math.IsInf(none.ViolationBound(s, .1).Value, 1) || !math.IsInf(none.PrintedViolationBound(1, 100).Value, 1) || !math.IsInf(none.RefinedViolationBound(s, .1).Value, 1) {
		t.Errorf("average cost: G = %v for β = 5, %v for 0, with violations bounded by %v", k.G, none.G, none.ViolationBound(s, .1))
	}
	if _, err := k.SampleComplexity(.1, .1); err == nil {
		t.Error("Theorem 3.4 under average cost gave no error")
	}
	for _, bad := range []mixpolicy.PrimalDual{
		{RowScaling: true}, {Theta0: []float64{2, -1}}, {CostScale: -1}, {Theta0: []float64{1}}, {Modulus: generic{bregman.Ball{R: 2}}},
		{Modulus: bregman.Euclidean()}, {Modulus: bregman.Ball{R: 2.1}}, {Modulus: bregman.Cube(2)},
	} {
		if _, err := theory.NewConstants(p, bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// NewConstants handles costs of both signs, and a modulus that is strongly convex in a norm other than the class's,
// such as −Σ ln xⱼ in ℓ₂ on the simplex, where ‖x‖₂² ≥ ‖x‖₁²/d.
func TestConstantsBySettings(t *testing.T) {
	for _, costs := range [][]float64{{-3, 1}, {-1, 3}, {-3, -1}, {3, 1}} {
		x := mixpolicy.Must(twoStates(.5, .5).WithCosts(costs))
		f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, []float64{1, 0}, []float64{0, 1}))
		k := mixpolicy.Must(theory.NewConstants(mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2))), mixpolicy.PrimalDual{Beta: 1, CostScale: 2}))
		if k.Cost != 1.5 {
			t.Errorf("costs %v: c_max = %v, want 1.5", costs, k.Cost)
		}
	}
	phi := bregman.Burg()
	for _, tt := range []struct {
		p     float64
		class mixpolicy.Class
		want  float64 // ‖x‖_p² over the square of the class's norm, at (1, 1, 1) or a unit vector
	}{
		{2, mixpolicy.Simplex(), 1. / 3}, {1, mixpolicy.Simplex(), 1}, {math.Inf(1), mixpolicy.Simplex(), 1. / 9},
		{2, mixpolicy.Ball(1), 1}, {1, mixpolicy.Ball(1), 1}, {4, mixpolicy.Ball(1), 1 / math.Sqrt(3)}, {math.Inf(1), mixpolicy.Ball(1), 1. / 3},
		{2, mixpolicy.Cube(1), 1}, {math.Inf(1), mixpolicy.Cube(1), 1},
	} {
		phi.Mu, phi.P = 1, tt.p
		k := mixpolicy.Must(theory.NewConstants(garnetProblem(t, 6, 3, tt.class), mixpolicy.PrimalDual{Beta: 20, CostScale: 4, Modulus: phi}))
		if math.Abs(k.Mu-tt.want) > 4*u {
			t.Errorf("ℓ_%v and %v: μ = %v, want %v", tt.p, tt.class, k.Mu, tt.want)
		}
	}
}

func barycentre(d int) []float64 {
	theta := make([]float64, d)
	floats.AddConst(1/float64(d), theta)
	return theta
}

// Theorem 3.4: for each ρ, SampleComplexity is the least power of 2^{1/8} that meets the theorem's condition.
// PrintedSampleComplexity is (3.37) as printed.
func TestSampleComplexity(t *testing.T) {
	p := garnetProblem(t, 1, 3, mixpolicy.Ball(2))
	k := mixpolicy.Must(theory.NewConstants(p, mixpolicy.PrimalDual{}))
	k = k.With(2 * k.LambdaStar)
	const epsilon = .1
	excess := func(n, rho float64) float64 {
		s := theory.StepSums{Sum: 2 * (math.Sqrt(n+1) - 1), Squares: 1 + math.Log(n)}
		// With v = 2√(nm) V, which is at least ‖[u]₋‖₁, the distance is v + min{1, v·min{γ, 1/(1+v)}/(1−γ)}.
		mass := 2 * math.Sqrt(float64(p.MDP().Pairs())) * k.RefinedViolationBound(s, rho).Value
		return k.RefinedObjectiveBound(s, rho).Value + k.Spread*(mass+min(1, .9*mass/(1-.9), mass/(1+mass)/(1-.9)))
	}
	last := 0.
	for _, rho := range []float64{.5, .01, 1e-30, 1e-300} {
		n := mixpolicy.Must(k.SampleComplexity(epsilon, rho))
		if over, before := excess(n, rho), excess(n*math.Exp2(-1./8), rho); over > epsilon*(1+1e-9) || before <= epsilon {
			t.Errorf("T = %v leaves an excess of %v, and 2^{−1/8}T leaves %v; want %v between them", n, over, before, epsilon)
		}
		if e := 8 * math.Log2(n); math.Abs(e-math.Round(e)) > 1e-9 || n <= last {
			t.Errorf("ρ = %v: T = 2^{%v/8} = %v, after %v for a greater ρ", rho, e, n, last)
		}
		last = n
	}
	tau := 3.
	want := float64(p.MDP().Pairs())
	for range 4 {
		want *= tau * k.PsiNorm / (.1 * epsilon)
	}
	if got := k.PrintedSampleComplexity(tau, epsilon); math.Abs(got-want) > 1e-12*want {
		t.Errorf("(3.37) printed: %v, want %v", got, want)
	}
	outside := *k
	outside.LambdaStar = k.G
	for says, err := range map[string]error{
		"ε = 0": second(k.SampleComplexity(0, .1)), "ρ = 0": second(k.SampleComplexity(.1, 0)), "ρ = 1": second(k.SampleComplexity(.1, 1)),
		"ε = NaN": second(k.SampleComplexity(math.NaN(), .1)), "want a finite G > ‖λ*‖₂": second(outside.SampleComplexity(.1, .1)),
	} {
		wantError(t, err, says)
	}
	// Here ε is the bound after one or two iterations, so one or two iterations meet ε exactly.
	few := &theory.Constants{Pairs: 4, R: 3, Reach: 6, Cost: 5, Spread: 8, G: 7, SigmaMax: .25, Mu: .5, DStar: 9, LambdaStar: 3, Tangent: 2}
	for _, n := range []int{1, 2} {
		epsilon := few.PolicyBound(theory.InverseSqrtSums(mixpolicy.Corrected, n), math.Inf(1), .1)
		if got := mixpolicy.Must(few.SampleComplexity(epsilon, .1)); got != float64(n) {
			t.Errorf("T = %v, want %d", got, n)
		}
	}
	if n, err := k.SampleComplexity(1e-300, .1); err != nil || !math.IsInf(n, 1) {
		t.Errorf("ε = 10⁻³⁰⁰: T = %v, %v, want +∞", n, err)
	}
}

func second[T any](_ T, err error) error { return err }

// Computations with powers of large matrices, or with thousands of policies, stop when their context ends.
func TestWorkEndsWithItsContext(t *testing.T) {
	x := mixpolicy.Must(models.Queue{Buffer: 1000, Arrival: .5, Rates: []float64{.4999, .5001}}.MDP())
	p := mixpolicy.UniformPolicy(x)
	prompt.Check(t, map[string]func(ctx context.Context) error{
		"mixing time": func(ctx context.Context) error { _, err := theory.MixingTime(ctx, x, p, 1e-9); return err },
		"mixing curve": func(ctx context.Context) error {
			_, err := theory.MixingCurve(ctx, x, p, nil, 1e9)
			return err
		},
		"contraction": func(ctx context.Context) error {
			_, err := theory.ContractionCoefficient(ctx, x, p, 1<<60-1)
			return err
		},
		"uniform mixing time": func(ctx context.Context) error { _, err := theory.UniformMixingTime(ctx, x, .5); return err },
		"ergodicity":          func(ctx context.Context) error { _, err := theory.UniformErgodicity(ctx, x); return err },
	})
}
