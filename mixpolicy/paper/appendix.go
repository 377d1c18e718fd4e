package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

func checkMeanZero(context.Context) Finding {
	p, rng, worst := smallProblem(mixpolicy.Ball(2)), rand.New(rand.NewPCG(1, 1)), 0.0
	for range 20 {
		lambda := exponentials(rng, p.MDP().Pairs())
		delta := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()} // θ_t − θ
		along := mapped(gradientErrors(p, lambda), func(e []float64) float64 { return floats.Dot(e, delta) })
		worst = max(worst, math.Abs(floats.Dot(p.Features().Sampling(), along))/floats.Norm(along, math.Inf(1)))
	}
	return holds(worst, "the mean over all pairs is at most %.1g of the greatest value, for 20 random λ and directions", worst)
}

func checkErrorBound(context.Context) Finding {
	p := smallProblem(mixpolicy.Ball(2))
	k, rng := must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 20, CostScale: 1})), rand.New(rand.NewPCG(3, 3))
	ce, printed, corrected, tight := k.Ce(mixpolicy.Corrected), 0.0, 0.0, 0.0
	for range 100 {
		lambda := draws(k.Pairs, func() float64 { return sq(sq(rng.NormFloat64())) })
		floats.Scale(k.G/floats.Norm(lambda, 2), lambda)
		for i, e := range gradientErrors(p, lambda) {
			// (A.3) replaces |c − λ| by |c| + |λ|, and still writes =.
			g, c := floats.Norm(stochasticGradient(p, lambda, i), 2), p.MDP().Costs()[i]
			printed = max(printed, relativeError(g, (c+lambda[i])*g/math.Abs(c-lambda[i])))
			corrected, tight = max(corrected, excess(floats.Norm(e, 2), ce)), max(tight, floats.Norm(e, 2)/ce)
		}
	}
	return holdsCorrected(printed, corrected, "the printed equality replaces |c−λ| by |c|+|λ|, and is off by up to %.2g of its size; "+
		"as an inequality, it holds, and the largest ‖e‖ is %.2f C_e", printed, tight)
}

// SquaredExponential returns the expectation E exp(X²/(8R²C_e²)) of (A.4) for a variable X that takes the value x[i]
// with probability chances[i]. The parameter radius is R, and ce is C_e.
func SquaredExponential(x, chances []float64, radius, ce float64) float64 {
	return expected(chances, x, func(v float64) float64 { return math.Exp(sq(v) / (8 * sq(radius*ce))) })
}

func checkExponentialMoment(context.Context) Finding {
	p := banditProblem(mixpolicy.Ball(1), -100, -1) // c_max = −1
	k := must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 2, CostScale: 1}))
	x := mapped(gradientErrors(p, nil), func(e []float64) float64 { return floats.Dot(e, []float64{0.5, -0.5}) })
	moment := func(ce float64) float64 { return SquaredExponential(x, p.Features().Sampling(), 1, ce) }
	printed, corrected := moment(k.A*(2-1)+(2-math.Sqrt2)*k.PsiNorm), moment(k.Ce(mixpolicy.Corrected))
	attained := SquaredExponential([]float64{30, -30}, []float64{0.5, 0.5}, 3, 5) // X = ±2RC_e attains √e
	worst := max(excess(corrected, math.Exp(0.5)), excess(math.Exp(0.5), 2), relativeError(attained, math.Exp(0.5)))
	return holdsCorrected(excess(printed, math.Exp(0.5)), worst,
		"costs −100 and −1, one state: the expectation is %.2g with c_max = −1, and %.4f ≤ √e with max|c| = 100", printed, corrected)
}

// orliczError returns the relative error of the equation E exp((|X|/n)^ν) = 2, which defines the norm n. Unless n > 0,
// it returns +∞.
func orliczError(nu, n float64, x, chances []float64) float64 {
	if !(n > 0) {
		return math.Inf(1)
	}
	return relativeError(expected(chances, x, func(v float64) float64 { return math.Exp(math.Pow(math.Abs(v)/n, nu)) }), 2)
}

func checkConditional(context.Context) Finding {
	return holds(orliczError(2, must(theory.OrliczNorm(2, variable, chances)), variable, chances), "at σ = ‖X‖_ψ₂, the expectation is 2")
}

func checkAzuma(context.Context) Finding {
	corrected, _ := worstTail("A.6")
	// If X = ±σ√ln 2 with a random sign, the norm of X is σ, and |X| ≥ σ√ln 2 is certain. The printed bound on the
	// probability of this event is 2exp(−cσ ln 2), which vanishes as σ grows.
	const sigma, c = 1e6, 0.25
	printed := 2 * math.Exp(-c*sq(sigma)*math.Ln2/sigma)
	return holdsCorrected(excess(1, printed), corrected, "a random sign of norm σ = 10⁶ is certain to deviate by σ√ln 2; the printed "+
		"bound, with Σσ_t, is %.2g; with Σσ_t² and c = ¼, the bound holds for the exact probabilities of sums of signs", printed).within(0)
}

// UnitExponents returns the three exponents of (A.7) without their divisor K²: ⟨e,v⟩², ‖e‖⁎²‖v‖² and (C(d)C_e‖v‖₂)².
// The parameter comparison is C(d).
func UnitExponents(norm linprog.Norm, e, v []float64, comparison, ce float64) (inner, middle, bound float64) {
	return sq(floats.Dot(e, v)), sq(norm.Dual().Of(e) * norm.Of(v)), sq(comparison * ce * floats.Norm(v, 2))
}

// similarPolicies returns a problem, a vector v, and the constants of the problem. The problem has one state (n = 1),
// two actions and a hundred policies (d = 100), and its class is the ℓ₁ ball. The entries of v are equal, and the
// entries of each gradient error e are nearly equal.
func similarPolicies() (p *mixpolicy.Problem, v []float64, k *theory.Constants) {
	x := bandit(100, 0)
	policy := func(chance float64) *mixpolicy.Policy { return must(mixpolicy.StateIndependent(x, chance, 1-chance)) }
	p = mixtureProblem(x, mixpolicy.Simplex(), mapped(floats.Span(make([]float64, 100), 0.49, 0.51), policy)...)
	return p, slices.Repeat([]float64{0.1}, 100), must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 1, CostScale: 1}))
}

func checkUnitExponents(context.Context) Finding {
	p, v, k := similarPolicies()
	inner, middle, bound := UnitExponents(p.Class().Norm, gradientErrors(p, nil)[0], v, k.Comparison, k.Ce(mixpolicy.Corrected))
	return holdsCorrected(excess(middle, bound/sq(k.Comparison)), max(excess(inner, middle), excess(middle, bound)), // C(1) = 1
		"one state, 100 similar policies: ‖v‖₁ = 10‖v‖₂, but C(n) = 1; C(d) = %.3g is enough", k.Comparison)
}

func checkUnitDirections(context.Context) Finding {
	p, v, k := similarPolicies()
	inner, chances := mapped(gradientErrors(p, nil), func(e []float64) float64 { return floats.Dot(e, v) }), p.Features().Sampling()
	norm, bound := must(theory.OrliczNorm(2, inner, chances)), math.Sqrt2*k.Ce(mixpolicy.Corrected)
	return holdsCorrected(excess(norm, bound), max(excess(norm, bound*k.Comparison), orliczError(2, norm, inner, chances)),
		"one state, 100 similar policies: ‖⟨e,v⟩‖_ψ₂ = %.3g, √2C_e = %.3g, C(n) = 1, and C(d) = %.3g", norm, bound, k.Comparison)
}

func checkBernstein(context.Context) Finding {
	worst, count := worstTail("A.9")
	return holds(worst, "with c = ¼, the bound holds for exact probabilities of %d deviations of sums of 1 to 100 exponential variables; "+
		"the proof applies the bound to dependent errors, for which it also holds, with norms and means given the past", count).within(0)
}

// GaussianAverage returns E exp(√(2λ)⟨x, W⟩) for a fixed x and W ~ N(0, I). This is the left side of (A.10), given
// X = x. GaussianAverage uses Gauss–Hermite quadrature, with the weight exp(−w²) and 60 points along x.
func GaussianAverage(lambda float64, x []float64) float64 {
	slope := math.Sqrt(2*lambda) * floats.Norm(x, 2)
	along := func(w float64) float64 { return math.Exp(slope * math.Sqrt2 * w) }
	return quad.Fixed(along, math.Inf(-1), math.Inf(1), 60, quad.Hermite{}, 0) / math.Sqrt(math.Pi)
}

// GaussianBound is (1−2λ)^{−d/2}, the bound at the end of (A.11), for λ < ½.
func GaussianBound(lambda float64, d int) float64 { return math.Pow(1-2*lambda, -float64(d)/2) }

// SquaredNormMoment returns the exact value of E exp(λ(‖X‖² − E‖X‖²)) for X ~ N(0, I_d) and λ < ½.
func SquaredNormMoment(lambda float64, d int) float64 {
	return math.Exp(-float64(d) * (math.Log1p(-2*lambda)/2 + lambda))
}

func checkGaussianAverage(context.Context) Finding {
	var worst float64
	for _, x := range [][]float64{{1, 0}, {0.5, -0.3}, {1, 1.2}} {
		for _, lambda := range []float64{0.05, 0.2, 0.45} {
			worst = max(worst, relativeError(GaussianAverage(lambda, x), math.Exp(lambda*floats.Dot(x, x))))
		}
	}
	// 10⁻⁹ bounds the error of the quadrature at these points.
	return holds(worst, "the two sides agree by quadrature at nine points; the display before (A.10) omits two exponentials").within(1e-9)
}

// gaussian returns E f(X) for X ~ N(0, 1), by quadrature on [−30, 30].
func gaussian(f func(x float64) float64) float64 {
	return quad.Fixed(func(x float64) float64 { return f(x) * math.Exp(-x*x/2) }, -30, 30, 400, nil, 0) / math.Sqrt(2*math.Pi)
}

// checkGaussianBound: E exp(λ‖X‖²) ≤ (1−2λ)^{−d/2} for X with variance proxy 1. The check uses three X: with random
// signs as entries, for which the left side is exp(λd); with entries uniform on [−√3, √3]; and with normal entries, for
// which both sides are equal.
func checkGaussianBound(context.Context) Finding {
	var printed, corrected float64
	for _, d := range []int{1, 2, 10} {
		n := float64(d)
		for _, lambda := range []float64{0.01, 0.1, 0.3, 0.45} {
			bound := math.Log(GaussianBound(lambda, d))
			density := func(x float64) float64 { return math.Exp(lambda*x*x) / (2 * math.Sqrt(3)) }
			uniform := quad.Fixed(density, -math.Sqrt(3), math.Sqrt(3), 60, nil, 0)
			equal := n * math.Log(gaussian(func(x float64) float64 { return math.Exp(lambda * x * x) }))
			corrected = max(corrected, excess(lambda*n, bound), excess(n*math.Log(uniform), bound), relativeError(equal, bound))
			// The second term of (A.11) as printed is E exp(‖√(2λ)X‖₂/2); for signs, ‖X‖₂ = √d.
			printed = max(printed, excess(lambda*n, math.Sqrt(2*lambda*n)/2))
		}
	}
	return holdsCorrected(printed, corrected, "for signs and uniform entries, the first term is at most the last; for d = 10 signs and "+
		"λ = 0.3, the first term is e³ = %.3g, the printed second term %.3g", math.Exp(3), math.Exp(math.Sqrt(6)/2)).within(quadrature)
}

// quadrature bounds the relative error of [gaussian] if f(x)exp(−x²/2) falls at least as fast as exp(−x²/20).
const quadrature = 1e-9

func checkSquaredMoment(context.Context) Finding {
	const d = 10
	printed, corrected := SquaredNormMoment(math.Sqrt(math.Ln2)/2, d), 0.0
	for _, d := range []int{1, 2, 5, 10, 100, 10_000} {
		corrected = max(corrected, excess(SquaredNormMoment(min(0.25, math.Sqrt(math.Ln2/float64(2*d))), d), 2))
	}
	return holdsCorrected(excess(printed, 2), corrected, "X ~ N(0, I₁₀): the expectation is %.3g at λ = √(ln 2)/2, "+
		"and above 2 from d = 2 on; at λ = min(¼, √(ln 2/2d)), it is at most 2 for d up to 10⁴", printed).within(quadrature)
}

// witnessAbsolute takes Y = X² − 1 for X ~ N(0, 1), and the λ of the proof.
func witnessAbsolute(context.Context) Finding {
	lambda := math.Sqrt(math.Ln2) / 2
	between := func(sign, lo, hi float64) float64 { // E e^{±λY} over lo < |X| < hi
		law := func(x float64) float64 { return math.Exp(sign*lambda*(x*x-1) - x*x/2) }
		return 2 * quad.Fixed(law, lo, hi, 200, nil, 0) / math.Sqrt(2*math.Pi)
	}
	absolute, plain := between(-1, 0, 1)+between(1, 1, 30), SquaredNormMoment(lambda, 1)
	return holdsCorrected(excess(absolute, 2), max(excess(plain, 2), relativeError(between(1, 0, 30), plain)),
		"X ~ N(0, 1), Y = X² − 1, λ = √(ln 2)/2: E e^{λ|Y|} = %.4g, and E e^{λY} = %.4g", absolute, plain).within(quadrature)
}

// checkExponentialStep checks the display before (A.12): (1−2λ)^{−d/2} ≤ exp(4λ²).
func checkExponentialStep(context.Context) Finding {
	const d, lambda = 10, 0.1
	left, centred := math.Pow(1-2*lambda, -d/2.0), SquaredNormMoment(lambda, d)
	printed, corrected := math.Exp(4*lambda*lambda), math.Exp(2*d*lambda*lambda)
	return holdsCorrected(excess(left, printed), excess(centred, corrected), "d = 10, λ = 0.1: (1−2λ)^{−d/2} = %.3g, but exp(4λ²) = %.3g; "+
		"centred, (1−2λ)^{−d/2}e^{−λd} = %.3g ≤ exp(2dλ²) = %.3g, which holds for λ ≤ ¼", left, printed, centred, corrected)
}

func checkSumNorm(context.Context) Finding {
	// Two dependent variables: X, and a function of X.
	y := mapped(variable, func(x float64) float64 { return math.Abs(x) - 1 })
	both := floats.AddTo(make([]float64, len(y)), variable, y)
	return holds(worstOf([]float64{1, 2}, func(nu float64) float64 {
		norm := func(v []float64) float64 { return must(theory.OrliczNorm(nu, v, chances)) }
		return excess(norm(both), norm(variable)+norm(y))
	}), "the norms satisfy the triangle inequality, so C_s = 1")
}

// checkSquaredNorm: for X ~ N(0, I_d), ‖X‖_ψ₂ = √(8/3) in every direction, and ‖‖X‖²‖_ψ₁ is the
// β with (1−2/β)^{−d/2} = 2.
func checkSquaredNorm(context.Context) Finding {
	const k2 = 8.0 / 3
	norm, corrected := func(d float64) float64 { return 2 / -math.Expm1(-2*math.Ln2/d) }, 0.0
	for _, d := range []int{1, 2, 10, 1000} {
		n := float64(d)
		// At β = norm(d), E exp(‖X‖²/β) = 2, so β is the norm.
		corrected = max(corrected, excess(norm(n), n*k2*(1+rounding)),
			relativeError(SquaredNormMoment(1/norm(n), d)*math.Exp(n/norm(n)), 2))
	}
	printed := math.Sqrt(math.Ln2) / 2 * k2
	return holdsCorrected(excess(norm(100), printed), corrected,
		"X ~ N(0, I_d): the norm of ‖X‖² is %.4g for d = 1 and %.4g for d = 100, but ½√ln 2 K² = %.4g; d K² bounds the norm",
		norm(1), norm(100), printed)
}
