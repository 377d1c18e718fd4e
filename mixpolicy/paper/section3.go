package paper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// minimumOnLine is the minimum of a convex f over Θ₂ ∩ Θ_R, for the Euclidean ball and d = 2,
// where θ = (x, 1−x) and (x − ½)² ≤ (R² − ½)/2.
func minimumOnLine(p *mixpolicy.Problem, f func(theta []float64) float64) float64 {
	half := math.Sqrt((sq(p.Class().R) - 0.5) / 2)
	return -maximum(func(x float64) float64 { return -f([]float64{x, 1 - x}) }, 0.5-half, 0.5+half)
}

func checkStrongDuality(context.Context) Finding {
	p := must(QueueProblem(mixpolicy.Ball(2)))
	best, lambda := must(p.Optimum(context.Background())), must(theory.Multipliers(p))
	return holds(max(relativeError(p.DualBound(lambda), best.Objective), relativeError(p.Lagrangian(best.Theta, lambda), best.Objective)),
		"queue: min cᵀΨθ = %.9g, and min over θ of 𝓛(θ, λ*) = %.9g", best.Objective, p.DualBound(lambda))
}

func checkSaddle(context.Context) Finding {
	p, best := smallOptimum(mixpolicy.Ball(2))
	lambda := must(theory.Multipliers(p))
	saddle, rng := p.Lagrangian(best.Theta, lambda), rand.New(rand.NewPCG(32, 0))
	return holds(worstIn(2000, func() float64 {
		theta, other := scaled(2, normals(rng, 3)), scaled(10, exponentials(rng, len(lambda)))
		noError(p.Class().Norm.Project(theta, theta, 2))
		return max(excess(p.Lagrangian(best.Theta, other), saddle), excess(saddle, p.Lagrangian(theta, lambda)))
	}), "the exact optimum and its multipliers satisfy both inequalities against 2000 random θ and λ")
}

// checkLambdaBall uses a problem with a rare pair. For any γ, the multiplier of a binding constraint (Ψθ)_a(s) ≥ 0
// grows as the pair (s, a) becomes rarer.
func checkLambdaBall(context.Context) Finding {
	p := rarePairProblem()
	best, size := must(p.Optimum(context.Background())), floats.Norm(must(theory.Multipliers(p)), 2)
	// max {𝓛(θ,λ) : λ ⪰ 0, ‖λ‖₂ ≤ G} = cᵀΨθ + G‖[Ψθ]₋‖₂
	minimax := func(g float64) float64 {
		return minimumOnLine(p, func(theta []float64) float64 { return p.Objective(theta) + 2*g*p.Violation(theta) })
	}
	small, below, above := minimax(1/(1-p.MDP().Gamma())), minimax(0.99*size), minimax(1.01*size)
	corrected := relativeError(above, best.Objective)
	if relativeError(below, best.Objective) < 1e-4 { // a smaller ball is enough: ‖λ*‖₂ is not the threshold
		corrected = math.Inf(1)
	}
	// The search stops at neighbouring floating-point numbers, where the slope is up to 2G‖Ψ‖. Hence the tolerance
	// 10⁻⁶.
	return holdsCorrected(relativeError(small, best.Objective), corrected,
		"64 states, γ = 0.1, costs 0 and 1: ‖λ*‖₂ = %.3g; the min–max value is %.4g for G = 1/(1−γ), %.5g for G = 0.99‖λ*‖₂, "+
			"%.5g for G = 1.01‖λ*‖₂, and the optimum is %.5g", size, small, below, above, best.Objective).within(1e-6)
}

func checkMultiplierNorm(context.Context) Finding {
	x, _, xi := dualOptimum(mixpolicy.Corrected)
	sum, want := floats.Sum(must(theory.Multipliers(smallProblem(mixpolicy.Cube(1.5))))), 1/(1-x.Gamma())
	// The lemma states Σ_a λ_a(s) = p(s), but does not define p. We take p to be the weights of (4.1), and these
	// weights to be α. For λ = ξ*/(1−γ), the sum is α plus γ times the inflow.
	byState, balance, lambda := 0.0, 0.0, scaled(want, xi)
	in, m := inflow(x, lambda), x.Actions()
	for s, alpha := range x.Initial() {
		out := floats.Sum(lambda[s*m : (s+1)*m])
		byState, balance = max(byState, math.Abs(out-alpha)), max(balance, relativeError(out, alpha+x.Gamma()*in[s]))
	}
	return holdsCorrected(max(relativeError(sum, want), byState), max(relativeError(floats.Sum(lambda), want), balance),
		"γ = 0.9: for (2.18), ‖λ*‖₁ = %.4g, not 1/(1−γ) = %.4g, the norm of the multipliers ξ*/(1−γ) of (2.9b); "+
			"the sums of these multipliers over a are up to %.3g away from α", sum, want, byState)
}

func checkGradLambda(context.Context) Finding {
	p, theta, xi := smallTheta()
	// 𝓛 is affine in λ, so a difference quotient is exact.
	slope, g := make([]float64, len(xi)), make([]float64, len(xi))
	for i := range slope {
		slope[i] = p.Lagrangian(theta, unit(len(xi), i)) - p.Objective(theta)
	}
	p.GradLambda(g, theta)
	printed, corrected := relativeVectorError(xi, slope), relativeVectorError(g, slope)
	return holdsCorrected(printed, corrected,
		"+Ψθ differs from the difference quotients by %.2g of the largest, and −Ψθ by %.1g", printed, corrected)
}

// meanGradient returns the expectation of (3.5a) over the sampled pair, and ∇_θ𝓛.
func meanGradient(p *mixpolicy.Problem, lambda []float64) (mean, gradient []float64) {
	mean, gradient = make([]float64, p.Dim()), make([]float64, p.Dim())
	for i, q := range p.Features().Sampling() {
		floats.AddScaled(mean, q, stochasticGradient(p, lambda, i))
	}
	p.GradTheta(gradient, lambda)
	return mean, gradient
}

func checkUnbiased(context.Context) Finding {
	p := smallProblem(mixpolicy.Ball(2))
	lambda := scaled(3, exponentials(rand.New(rand.NewPCG(36, 0)), p.MDP().Pairs()))
	return holds(relativeVectorError(meanGradient(p, lambda)), "the expectation over all 24 pairs is Ψᵀ(c − λ)")
}

// checkDrawnPair: taken literally, the first line of (3.6) is the sample itself, because the probabilities add up to 1.
func checkDrawnPair(context.Context) Finding {
	p := smallProblem(mixpolicy.Ball(2))
	mean, gradient := meanGradient(p, make([]float64, p.MDP().Pairs()))
	off := floats.Norm(gradientErrors(p, nil)[0], 2) / floats.Norm(gradient, 2)
	return holdsCorrected(off, relativeVectorError(mean, gradient), "literally, the sum is the sample, off by %.3g‖∇_θ𝓛‖ for one pair", off)
}

// checkIndexSet: section 3.1 draws i from {0, …, d}, but 0 is not a policy.
func checkIndexSet(context.Context) Finding {
	p := smallProblem(mixpolicy.Ball(2))
	mean, gradient := meanGradient(p, make([]float64, p.MDP().Pairs()))
	d := float64(p.Dim())
	return holdsCorrected(relativeVectorError(scaled(d/(d+1), mean), gradient), relativeVectorError(mean, gradient),
		"with i uniform on {0, …, %d}, the mean is %.3g of the gradient if i = 0 gives no sample", p.Dim(), d/(d+1))
}

func checkBallValue(context.Context) Finding {
	phi := bregman.Ball{R: 2}
	worst := worstOf([][]float64{{0, 0}, {1, 0.5}, {-1.2, 1.3}, {1.9, 0.1}}, func(x []float64) float64 {
		return relativeError(phi.Value(x), -math.Sqrt(4-floats.Dot(x, x)))
	})
	return holds(max(worst, relativeError(phi.Value([]float64{2, 1}), math.Inf(1))), "equal at four points, and +∞ outside the ball")
}

func checkBallConjugate(context.Context) Finding {
	return holds(conjugateError(bregman.Ball{R: 2}, 2), "φ* equals the supremum found by search, at 200 points")
}

// printedDivergence compares a printed formula with Definition 2.5.
func printedDivergence(phi bregman.Modulus, size float64, printed func(x, y []float64) float64) Finding {
	rng := rand.New(rand.NewPCG(39, 0))
	return holds(worstIn(500, func() float64 {
		uniform := func() float64 { return size * (2*rng.Float64() - 1) }
		x, y := draws(3, uniform), draws(3, uniform)
		return definedDivergence(phi, x, y, printed(x, y))
	}), "the printed formula equals the definition at 500 pairs of points")
}

func checkBallDivergence(context.Context) Finding {
	const r = 2.0
	return printedDivergence(bregman.Ball{R: r}, 1.1, func(x, y []float64) float64 {
		return (r*r-floats.Dot(x, y))/math.Sqrt(r*r-floats.Dot(y, y)) - math.Sqrt(r*r-floats.Dot(x, x))
	})
}

func checkCubeValue(context.Context) Finding {
	phi := bregman.Cube(1.5)
	worst := worstOf([]float64{0, 0.3, -1.4, 1.4999, -0.7, 0.9}, func(x float64) float64 {
		want := (1.5+x)*math.Log(1.5+x) + (1.5-x)*math.Log(1.5-x)
		return math.Abs(phi.Value([]float64{x})-want) / sizeOf(want, 1)
	})
	return holds(max(worst, relativeError(phi.Value([]float64{-1.5}), 3*math.Log(3))), "equal at seven points") // 0 log 0 = 0
}

func checkCubeConjugate(context.Context) Finding {
	rng, phi := rand.New(rand.NewPCG(311, 0)), bregman.Cube(1.5)
	worst := worstIn(200, func() float64 {
		y, printed, size := []float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()}, 0.0, 0.0
		for _, v := range y {
			a, b := -1.5*v, -3*math.Log(3/(math.Exp(v)+1))
			printed, size = printed+(a+b), size+sizeOf(a, b)
		}
		return math.Abs(printed-phi.Conjugate(y)) / size
	})
	return holds(max(worst, conjugateError(phi, 1.5)),
		"the printed formula equals φ*, which equals the supremum found by search; the formula overflows from θ = 710 on")
}

func checkCubeDivergence(context.Context) Finding {
	const r = 1.5
	return printedDivergence(bregman.Cube(r), 1.45, func(x, y []float64) (d float64) {
		for i, a := range x {
			b := y[i]
			d += (a+r)*math.Log((a+r)/(b+r)) + (r-a)*math.Log((r-a)/(r-b))
		}
		return d
	})
}

// mirrorStep is one step (3.14) of mirror descent with η = 0.7, from θ on the hyperplane.
type mirrorStep struct {
	phi              bregman.Modulus
	theta, g         []float64 // θ and ĝ
	tilde, tildeDual []float64 // θ̃ and ∇φ(θ̃)
	z                float64   // by [bregman.Shift]
	next             []float64 // θ₊, by [bregman.Project]
}

// mirrorSteps returns 60 steps with each of four moduli, from random points and with random gradients.
func mirrorSteps() (steps []mirrorStep) {
	rng := rand.New(rand.NewPCG(313, 0))
	for _, phi := range []bregman.Modulus{bregman.Ball{R: 1.5}, bregman.Cube(1.2), bregman.NegativeEntropy(), bregman.Euclidean()} {
		for range 60 {
			s, y := mirrorStep{phi: phi, g: normals(rng, 3), next: make([]float64, 3)}, normals(rng, 3)
			must(bregman.ProjectDual(phi, y, nil))
			s.theta = inverse(phi, y)
			s.tilde = inverse(phi, floats.AddScaledTo(y, slope(phi, s.theta), -0.7, s.g))
			s.tildeDual, s.z = slope(phi, s.tilde), must(bregman.Shift(phi, y, nil))
			noError(bregman.Project(phi, s.next, s.tilde))
			steps = append(steps, s)
		}
	}
	return steps
}

// alongSteps checks a property of mirror descent at all mirrorSteps.
func alongSteps(numbers string, deviation func(mirrorStep) float64) check {
	return func(context.Context) Finding { return holds(worstOf(mirrorSteps(), deviation), "%s", numbers) }
}

// beaten compares x, which should minimise f over 1ᵀθ = 1 in ℝ³, with the point that a search finds. It returns the
// greatest of three numbers: the excess of f(x) over the value that the search finds, the squared distance between the
// two points, and |1ᵀx − 1|; the distance is squared because f is flat at its minimum. The search uses no derivatives:
// it moves along six directions, with shorter steps when no direction improves f.
func beaten(f func([]float64) float64, x []float64) float64 {
	theta := uniform(3)
	for least, step := f(theta), 0.1; step > 1e-9; {
		improved := false
		for _, e := range [][]float64{{1, -1, 0}, {-1, 1, 0}, {1, 0, -1}, {-1, 0, 1}, {0, 1, -1}, {0, -1, 1}} {
			y := floats.AddScaledTo(make([]float64, 3), theta, step, e)
			if v := f(y); v < least {
				theta, least, improved = y, v, true
			}
		}
		if step /= 2; improved {
			step *= 3
		}
	}
	return max(excess(f(x), f(theta)), sq(floats.Distance(x, theta, 2)), math.Abs(floats.Sum(x)-1))
}

const notBeaten = "a search of the hyperplane finds no better point than the step of Algorithm 1, for four moduli, 240 steps"

var (
	// checkMirrorStep: θ₊ minimises ⟨g, θ⟩ + D(θ;θ_t)/η over the hyperplane.
	checkMirrorStep = alongSteps(notBeaten, func(s mirrorStep) float64 {
		return beaten(func(x []float64) float64 {
			return floats.Dot(s.g, difference(x, s.theta)) + bregman.Divergence(s.phi, x, s.theta)/0.7
		}, s.next)
	})
	// checkProjection: θ₊ minimises D(θ;θ̃) over the hyperplane.
	checkProjection = alongSteps(notBeaten, func(s mirrorStep) float64 {
		return beaten(func(x []float64) float64 { return bregman.Divergence(s.phi, x, s.tilde) }, s.next)
	})
	checkDualStep = alongSteps("∇φ(θ̃) = ∇φ(θ) − ηĝ for four moduli, 240 steps", func(s mirrorStep) float64 {
		want := slope(s.phi, s.theta)
		floats.AddScaled(want, -0.7, s.g)
		return relativeVectorError(want, s.tildeDual)
	})
	// checkKKT: the gradient of D(θ;θ̃), which is ∇φ(θ) − ∇φ(θ̃), equals z1 at θ₊.
	checkKKT = alongSteps("∇φ(θ₊) − ∇φ(θ̃) = z1 for four moduli, 240 steps", func(s mirrorStep) (worst float64) {
		for j, a := range slope(s.phi, s.next) {
			worst = max(worst, math.Abs(a-s.tildeDual[j]-s.z)/sizeOf(a, s.tildeDual[j], s.z))
		}
		return worst
	})
	checkShiftPrimal = alongSteps("θ₊ = ∇φ*(z1 + ∇φ(θ̃)) for four moduli, 240 steps", func(s mirrorStep) float64 {
		return relativeVectorError(inverse(s.phi, shifted(s.tildeDual, s.z)), s.next)
	})
	checkShiftRoot = alongSteps("1ᵀθ₊ = 1 for four moduli, 240 steps", func(s mirrorStep) float64 {
		return math.Abs(sumAt(s.phi, s.tildeDual, s.z)-1) / sizeOf(s.next...)
	})
	checkShiftMinimum = alongSteps("J(z) is the minimum found by search, for four moduli, 240 steps", func(s mirrorStep) float64 {
		least := -maximum(func(by float64) float64 { return -s.j(s.z + by) }, -3, 3)
		return math.Abs(s.j(s.z)-least) / sizeOf(s.j(s.z), s.z)
	})
)

// j is J(z) = φ*(∇φ(θ̃) + z1) − z of the step, (3.19).
func (s mirrorStep) j(z float64) float64 { return bregman.J(s.phi, s.tildeDual, z) }

// sumAt is 1ᵀ∇φ*(y + z1).
func sumAt(phi bregman.Modulus, y []float64, z float64) float64 {
	return floats.Sum(inverse(phi, shifted(y, z)))
}

// differenceTolerance bounds the error of a fourth-order difference with the step 10⁻³: 10⁻¹² times a fifth derivative
// of J (for J′) or a sixth (for J″), plus 2⁻⁵² divided by the step (for J′) or by its square (for J″).
const differenceTolerance, differenceStep = 1e-8, 1e-3

// central compares a derivative of J at z + 0.3 with a fourth-order central difference: a weighted sum of five values,
// divided by the given divisor.
func central(what string, weights [5]float64, divisor float64, derivative func(bregman.Modulus, []float64, float64) float64) check {
	return func(ctx context.Context) Finding {
		return alongSteps(what, func(s mirrorStep) (difference float64) {
			for k, w := range weights {
				difference += w * s.j(s.z+0.3+float64(k-2)*differenceStep) / divisor
			}
			want := derivative(s.phi, s.tildeDual, s.z+0.3)
			return math.Abs(difference-want) / (1 + math.Abs(want))
		})(ctx).within(differenceTolerance)
	}
}

var checkJ = central("the difference quotients of J are the left side of (3.18)",
	[5]float64{1, -8, 0, 8, -1}, 12*differenceStep, bregman.JDeriv)
var checkJSecond = central("the second differences of J are 1ᵀ∇²φ*1",
	[5]float64{-1, 16, -30, 16, -1}, 12*differenceStep*differenceStep, bregman.JSecond)

func checkBallJ(context.Context) Finding {
	phi := bregman.Ball{R: 2}
	return holds(worstOf([][]float64{{0.3, -0.4}, {1.2, 1.3}, {-1.9, 0.2}}, func(theta []float64) float64 {
		root := math.Sqrt(4 - floats.Dot(theta, theta))
		return worstOf([]float64{-1, 0, 0.7}, func(z float64) float64 {
			return relativeError(2*math.Sqrt(1+sq(z+theta[0]/root)+sq(z+theta[1]/root))-z, bregman.J(phi, slope(phi, theta), z))
		})
	}), "the printed formula equals (3.19) with (3.8), at nine pairs of θ and z")
}

func checkClosedForm(context.Context) Finding {
	phi, rng, v := bregman.Ball{R: 2}, rand.New(rand.NewPCG(322, 0)), []float64{0.3, -0.1}
	off := func(v []float64, z float64) float64 { return math.Abs(sumAt(phi, v, z) - 1) }
	printed := off(v, must(phi.PrintedShift(v)))
	corrected := max(off(v, must(phi.Shift(v))), worstIn(200, func() float64 {
		v := normals(rng, 2)
		return off(v, must(phi.Shift(v)))
	}))
	return holdsCorrected(printed, corrected,
		"R = 2, V = (0.3, −0.1): |J′| = %.4f at the printed z; at the corrected z, |J′| is at most %.1g for 201 V", printed, corrected)
}

// checkUnitBall: for R = 1/√d, J falls to 1ᵀV/d, which may be negative; the paper says that J is positive and goes to
// 0.
func checkUnitBall(context.Context) Finding {
	v, phi, last, rise := []float64{0.3, -0.1, 0.5}, bregman.Ball{R: 1 / math.Sqrt(3)}, math.Inf(1), 0.0
	for z := -10.0; z < 1e4; z = z*1.1 + 20 {
		j := bregman.J(phi, v, z)
		rise, last = max(rise, excess(j, last)), j
	}
	limit, far := floats.Sum(v)/3, bregman.J(phi, v, 1e6)
	// At z = 10⁶, J − limit ≈ (1+‖w‖²)/(2dz), where w is V minus its mean. This difference and the rounding error of
	// 10⁶·2⁻⁵² are together below 10⁻⁵.
	return holdsCorrected(max(far, rise), max(relativeError(far, limit), rise),
		"R = 1/√3: J falls, and J(10⁶) = %.6f; the limit is 1ᵀV/d = %.6f, not 0, and it may be negative", far, limit).within(1e-5)
}

// checkLambdaStep: (3.26) should be the step of projected ascent, which maximises the model
// ⟨∇_λ𝓛, λ′⟩ − ‖λ′ − λ‖²/2η over λ′ ∈ Λ.
func checkLambdaStep(context.Context) Finding {
	r, printed, corrected := smallTrace(TraceSettings{Iterations: 50, StepSize: mixpolicy.InverseSqrt(4), Beta: 10}), 0.0, 0.0
	for _, s := range r.Steps {
		model := func(l []float64) float64 {
			d := difference(l, s.Lambda)
			return floats.Dot(s.Ascent, l) - floats.Dot(d, d)/(2*s.Eta)
		}
		next := floats.AddScaledTo(make([]float64, len(s.Lambda)), s.Lambda, -s.Eta, s.Ascent) // printed: λ + ηΨθ
		floats.Scale(r.G/max(r.G, floats.Norm(next, 2)), next)
		best := model(s.NextLambda)
		// Where Ψθ ⪰ 0, the printed step is in Λ, but gains less; elsewhere, it may be outside Λ.
		printed = max(printed, (best-model(next))/sizeOf(best, model(next)), -floats.Min(next))
		for i := range s.NextLambda {
			for _, by := range []float64{1e-3, -1e-3} {
				l := slices.Clone(s.NextLambda)
				l[i] = max(0, l[i]+by)
				projectLambda(l, r.G)
				corrected = max(corrected, (model(l)-best)/sizeOf(best, floats.Norm(s.Ascent, 2)*floats.Norm(l, 2), 1e-6))
			}
		}
	}
	return holdsCorrected(printed, corrected,
		"the printed step leaves Λ or misses the maximum, by up to %.2g; no neighbour in Λ beats [λ − ηΨθ]₊ scaled into Λ", printed)
}

// checkAverages compares the averages of [Trace] with the averages of a plain run with the same
// draws.
func checkAverages(ctx context.Context) Finding {
	r := smallTrace(TraceSettings{Iterations: 100, StepSize: mixpolicy.InverseSqrt(1), Beta: 20, Seed: 1})
	q := must(mixpolicy.Solve(ctx, r.Problem, mixpolicy.PrimalDual{Beta: 20, Multipliers: mixpolicy.DenseMultipliers, CostScale: 1},
		mixpolicy.Settings{Iterations: 100, Seed: 1, Uncertified: true}))
	return holds(max(relativeVectorError(q.Theta, r.Theta), relativeVectorError(q.Lambda, r.Lambda)),
		"θ̂ and λ̂ of 100 iterations equal those of a plain run; the paper's loop counts t = 1, …, T, but its averages t = 0, …, T−1")
}

// checkAlgorithm runs both forms with 1 times the ball's modulus. For a multiple of this modulus, we have no closed
// form of z, so the runs find z by minimising J, as step (4) states. The printed (3.22) does not minimise J.
func checkAlgorithm(ctx context.Context) Finding {
	p := must(QueueProblem(mixpolicy.Ball(2)))
	run := func(form mixpolicy.Form) (theta []float64, deviation float64) {
		m := mixpolicy.PrimalDual{Form: form, Modulus: bregman.Scale(bregman.Ball{R: 2}, 1), CostScale: cMax, Beta: 50,
			StepSize: mixpolicy.InverseSqrt(64)}
		r := must(mixpolicy.Solve(ctx, p, m, mixpolicy.Settings{Iterations: 100_000, Seed: 1, Uncertified: true}))
		return r.Theta, must(p.PenalisedGap(r.Theta)) / must(p.Optimum(ctx)).Objective
	}
	// The tolerance distinguishes an answer near the optimum from one at the far end of the class.
	first, printed := run(mixpolicy.Printed)
	second, corrected := run(mixpolicy.Corrected)
	return holdsCorrected(printed, corrected, "queue, 10⁵ iterations, η₀ = 64, β = 50: θ̂ = %.3f as printed, %.3f corrected; "+
		"the penalised gaps are %.2g and %.2g of the optimum", first, second, printed, corrected).within(0.1)
}

// checkDiameter: as θ₂ approaches the boundary, D(θ₁;θ₂) grows like 1/√distance. At a quarter of the distance, D is
// about twice as large, so D has no maximum. D(θ;θ₀) has a maximum: for the ball at an end of the chord 1ᵀθ = 1, for
// the cube and the simplex at a vertex.
func checkDiameter(context.Context) Finding {
	ball := bregman.Ball{R: 2}
	at := func(k int) float64 {
		return bregman.Divergence(ball, []float64{-1, 1.5}, []float64{2 * (1 - math.Ldexp(1, -k)), 0})
	}
	far, printed := at(40), math.Inf(1)
	for k := 10; k < 40; k += 2 {
		if !(at(k+2) >= 1.9*at(k)) {
			printed = 0
		}
	}
	from := func(start ...float64) float64 { return theory.MaxDivergence(ball, mixpolicy.Ball(2), start) }
	half := math.Sqrt(3.5 / 2) // θ = (½ ± h, ½ ∓ h) is on the sphere of radius 2
	chord, third := (4-(0.6*(0.5-half)+0.4*(0.5+half)))/math.Sqrt(4-0.6*0.6-0.4*0.4), []float64{0.5, 0.3, 0.2}
	cube := worstOf([][]float64{{1, 1, -1}, {1, -1, 1}, {-1, 1, 1}}, func(v []float64) float64 { // 1ᵀv = 1
		return bregman.Divergence(bregman.Cube(1), v, third)
	})
	corrected := max(relativeError(from(0.6, 0.4), chord),
		relativeError(theory.MaxDivergence(bregman.Cube(1), mixpolicy.Cube(1), third), cube),
		relativeError(theory.MaxDivergence(bregman.NegativeEntropy(), mixpolicy.Simplex(), third), math.Log(5)))
	return holdsCorrected(printed, corrected,
		"R = 2: D(θ₁;θ₂) = %.3g with θ₂ within 2⁻³⁹ of the sphere, and +∞ in the limit; max D(θ;θ₀) is %.4f from θ₀ = (0.6, 0.4), and "+
			"√(R²−½) = %.4f from the centre; for a cube and the simplex, the maximum is at a vertex", far, from(0.6, 0.4), from(0.5, 0.5))
}

func checkA(context.Context) Finding {
	p, k := rawConstants()
	var want float64
	for i, a := range p.Features().Column(0) {
		b := p.Features().Column(1)[i]
		want = max(want, math.Hypot(a, b)/((a+b)/2))
	}
	return holds(relativeError(k.A, want), "queue: A = %.6g", k.A)
}

// farHorizon is a T so large that a bound that goes to 0 is below the trivial bound, and farSums are the sums of the
// step sizes for this T.
const farHorizon = 1e18

var farSums = theory.InverseSqrtSums(mixpolicy.Corrected, farHorizon)

// trivialGap bounds |cᵀΨ(θ − θ′)| for any θ and θ′ of the class, because ‖c‖₂ ≤ max|c|√(nm).
func trivialGap(k *theory.Constants) float64 {
	return 2 * k.R * k.Cost * math.Sqrt(float64(k.Pairs)) * k.PsiNorm
}

// rareCostRuns makes 100 runs, each with T = 100, on a problem where large errors are likely. The problem has one
// state. The first policy costs nothing, except for an action of the given cost, which it takes with probability 0.1.
// The second policy always costs half of the first policy's mean. Few samples show the high cost. The class with R = 1
// is the simplex, where no gap is negative.
func rareCostRuns(ctx context.Context, high float64) (k *theory.Constants, gaps []float64) {
	x := bandit(0, high, high/20)
	risky, safe := must(mixpolicy.StateIndependent(x, 0.9, 0.1, 0)), must(mixpolicy.StateIndependent(x, 0, 0, 1))
	p, method := mixtureProblem(x, mixpolicy.Ball(1), risky, safe), mixpolicy.PrimalDual{Beta: 1, CostScale: 1}
	for stream := range uint64(100) {
		gaps = append(gaps, must(mixpolicy.Solve(ctx, p, method, mixpolicy.Settings{Iterations: 100, Seed: 331, Stream: stream})).Gap)
	}
	return must(theory.NewConstants(p, method)), gaps
}

// rareCost is the high cost in checks that use only one high cost, and rareSums are the sums of 100 step sizes.
const rareCost = 100_000

var rareSums = theory.SumSteps(mixpolicy.InverseSqrt(1), 100)

// boundRun is a run of the corrected algorithm with its constants and the sums of its step sizes.
type boundRun struct {
	*mixpolicy.Result
	k         *theory.Constants
	steps     theory.StepSums
	scaledGap float64 // the gap for the scaled costs
}

// boundRuns are 120 runs, on the queue and on the small problem.
func boundRuns(ctx context.Context) (runs []boundRun) {
	for _, e := range []struct {
		p *mixpolicy.Problem
		m mixpolicy.PrimalDual
	}{
		{must(QueueProblem(mixpolicy.Ball(2))), mixpolicy.PrimalDual{Beta: 50, CostScale: cMax}},
		{smallProblem(mixpolicy.Cube(1.5)), mixpolicy.PrimalDual{Beta: 20, CostScale: 1}},
	} {
		k := must(theory.NewConstants(e.p, e.m))
		for _, n := range []int{10, 1000} {
			for stream := range uint64(30) {
				r := must(mixpolicy.Solve(ctx, e.p, e.m, mixpolicy.Settings{Iterations: n, Seed: 31, Stream: stream}))
				runs = append(runs, boundRun{r, k, theory.SumSteps(mixpolicy.InverseSqrt(1), n), r.Gap / max(1, e.m.CostScale)})
			}
		}
	}
	return runs
}

// The checks of (3.31)–(3.33) use two values of D. With D = +∞, as printed in (3.29), a bound has no content: it stays
// above the trivial bound for all T, while the corrected bound falls below the trivial bound. With the finite D that
// the proof needs, runs decide whether the bound holds.

func checkObjectiveBound(ctx context.Context) Finding {
	k, gaps := rareCostRuns(ctx, rareCost)
	finite, rare := k.PrintedObjectiveBound(k.D, 100).Value, k.ObjectiveBound(rareSums, 0.05)
	likely := func(gaps []float64, bound float64) (exceed int, least float64) {
		exceed = floats.Count(func(gap float64) bool { return gap > bound }, gaps)
		return exceed, leastChance(exceed, len(gaps))
	}
	// A smaller c₀ or c₁ makes the bound larger, at most by the factor 1/min{c₀, c₁}. But the bound contains no cost,
	// and gaps grow with costs.
	const small = 1e-6
	_, larger := rareCostRuns(ctx, rareCost/small)
	failures, lo := likely(gaps, finite)
	kinder, kind := likely(larger, finite/small)
	vacuous := excess(k.PrintedObjectiveBound(k.Divergence(mixpolicy.Printed), farHorizon).Value, trivialGap(k))
	refined := k.RefinedObjectiveBound(rareSums, 0.05)
	worst, loosest := max(excess(floats.Max(gaps), rare.Value), excess(floats.Max(gaps), refined.Value)), 0.0
	for _, r := range boundRuns(ctx) {
		bound := r.k.ObjectiveBound(r.steps, 0.05).Value
		worst = max(worst, excess(r.scaledGap, bound), excess(r.k.ObjectiveBound(farSums, 0.05).Value, trivialGap(r.k)))
		loosest = max(loosest, bound/math.Abs(r.scaledGap))
	}
	return holdsCorrected(min(vacuous, excess(lo, 4./100), excess(kind, 4./100)), worst,
		"printed: with D = +∞, the bound says nothing; with a finite D, c₀ = c₁ = 1, T = 100 and a cost of 10⁵ that few samples show, "+
			"%d of %d runs exceed the bound, where 4 may; with c₀ = c₁ = 10⁻⁶ and a cost of 10¹¹, %d runs do; corrected: in these runs, "+
			"gaps are up to %.4g, and the bound is %.3g; none of 120 other runs exceeds its bound, which is up to %.1g times the gap",
		failures, len(gaps), kinder, floats.Max(gaps), rare.Value, loosest)
}

func checkExpectedBound(ctx context.Context) Finding {
	k, gaps := rareCostRuns(ctx, rareCost)
	finite, seen := k.PrintedExpectedObjectiveBound(k.D, 100).Value, race.TInterval(gaps, confidence)
	vacuous := excess(k.PrintedExpectedObjectiveBound(k.Divergence(mixpolicy.Printed), farHorizon).Value, trivialGap(k))
	rare := k.ExpectedObjectiveBound(rareSums).Value
	worst := excess(seen.Mean, rare)
	for group := range slices.Chunk(boundRuns(ctx), 30) { // trials of one problem and one T
		mean, r := stat.Mean(mapped(group, func(r boundRun) float64 { return r.scaledGap }), nil), group[0]
		last := r.k.ExpectedObjectiveBound(farSums).Value
		worst = max(worst, excess(last, trivialGap(r.k)), excess(mean, r.k.ExpectedObjectiveBound(r.steps).Value))
	}
	return holdsCorrected(min(vacuous, excess(seen.Lo, finite)), worst,
		"printed: D = +∞ bounds nothing; with a finite D, the bound is %.4g, but for a rare cost of 10⁵, the mean gap is %.4g [%.4g, "+
			"%.4g]; corrected: the bound is %.3g; no mean of 30 other runs exceeds its bound", finite, seen.Mean, seen.Lo, seen.Hi, rare)
}

// checkViolationBound checks (3.33), which states no probability, although α_T depends on one.
func checkViolationBound(ctx context.Context) Finding {
	printed, worst, finite := math.Inf(1), 0.0, 0
	for _, r := range boundRuns(ctx) {
		trivial := r.k.SigmaMax * r.k.Reach / 2 // bounds ½‖[Ψθ]₋‖₂ for any θ of the class
		printed = min(printed, excess(r.k.PrintedViolationBound(r.k.Divergence(mixpolicy.Printed), farHorizon).Value, trivial))
		if r.Violation > r.k.PrintedViolationBound(r.k.D, r.steps.T).Value {
			finite++
		}
		last := r.k.RefinedViolationBound(farSums, 0.05).Value
		worst = max(worst, excess(r.Violation, r.k.ViolationBound(r.steps, 0.05).Value),
			excess(r.Violation, r.k.RefinedViolationBound(r.steps, 0.05).Value), excess(last, trivial))
	}
	return holdsCorrected(printed, worst, "printed: the bound states no probability, and contains α_T of (3.31), which is +∞ "+
		"because D is; with a finite D, %d of 120 runs exceed the bound; corrected: no run exceeds the bound", finite)
}

func checkProposition(ctx context.Context) Finding {
	i, ii, iii := checkObjectiveBound(ctx), checkExpectedBound(ctx), checkViolationBound(ctx)
	return holdsCorrected(min(i.Printed, ii.Printed, iii.Printed), max(i.Corrected, ii.Corrected, iii.Corrected), "%s", i.Numbers)
}

// rawConstants returns the problem of the queue and its constants. The costs, up to about 10⁴, are not scaled.
func rawConstants() (*mixpolicy.Problem, *theory.Constants) {
	p := must(QueueProblem(mixpolicy.Ball(2)))
	return p, must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 1, CostScale: 1}))
}

func checkCe(context.Context) Finding {
	p, k := rawConstants()
	largest := worstOf(gradientErrors(p, nil), func(e []float64) float64 { return floats.Norm(e, 2) })
	printed, corrected := k.Ce(mixpolicy.Printed), k.Ce(mixpolicy.Corrected)
	return holdsCorrected(excess(largest, printed), excess(largest, corrected),
		"queue, costs up to 10⁴: the largest ‖e‖ at λ = 0 is %.4g, C_e is %.4g as printed, without c_max, and %.4g with c_max",
		largest, printed, corrected)
}

func checkB(context.Context) Finding {
	p, k := rawConstants()
	// B must bound ½‖∇_λ𝓛‖² + ½‖ĝ‖²/μ; need is the second term at λ = 0, for the worst pair.
	lambda, largest := make([]float64, k.Pairs), 0.0
	for i := range k.Pairs {
		largest = max(largest, sq(floats.Norm(stochasticGradient(p, lambda, i), 2)))
	}
	need, printed, corrected := largest/(2*k.Mu), k.B(mixpolicy.Printed), k.B(mixpolicy.Corrected)
	return holdsCorrected(excess(need, printed), excess(need, corrected), "queue, costs up to 10⁴: ½‖ĝ‖²/μ is up to %.4g; "+
		"B is %.4g as printed, with norms that are not squared and without costs, and %.4g corrected", need, printed, corrected)
}

// checkRate: the corrected bound (3.31), divided by ln T, is ~ T^(2p − ½) for β ~ T^p.
func checkRate(context.Context) Finding {
	k := must(theory.NewConstants(must(QueueProblem(mixpolicy.Ball(2))), mixpolicy.PrimalDual{Beta: 1, CostScale: cMax}))
	quarter, _ := boundExponents(k, 0.25)
	eighth, _ := boundExponents(k, 0.125)
	none, _ := boundExponents(k, 0)
	return holdsCorrected(excess(quarter+1, 0.75), excess(eighth+1, 0.75),
		"(3.31) divided by ln T is ~ T^%.3f for β ~ T^¼, so it does not vanish, ~ T^%.3f for β ~ T^⅛, the claimed rate, "+
			"and ~ T^%.3f for constant β", quarter, eighth, none).within(0.005)
}

// sharedMass returns a problem of two policies that never agree, a θ for which the negative mass of Ψθ, 0.1, is spread
// over all states, and the total variation distance between Ψθ and the measure of its policy.
func sharedMass(states int) (p *mixpolicy.Problem, theta []float64, tv float64) {
	x := oneStepMDP(states)
	p = mixtureProblem(x, mixpolicy.Ball(10), must(mixpolicy.StateIndependent(x, 1, 0)), must(mixpolicy.StateIndependent(x, 0, 1)))
	theta = []float64{1.1, -0.1}
	return p, theta, apart(p, theta)
}

// apart is the total variation distance between Ψθ and the measure of the policy (2.20).
func apart(p *mixpolicy.Problem, theta []float64) float64 {
	return theory.TotalVariation(combination(p, theta), policyMeasure(p, theta).Pair)
}

// checkDistance evaluates the bound (3.36) for two policies that never agree, where the negative mass of Ψθ is spread
// over as many pairs as there are states. It also evaluates the bound for processes that attain the corrected form.
func checkDistance(ctx context.Context) Finding {
	p, theta, tv := sharedMass(64)
	v, mass := p.Violation(theta), p.NegativeMass(theta)
	printed := theory.Distance(mixpolicy.Printed, p.MDP().Criterion(), 1, v, mass)
	bound := theory.Distance(mixpolicy.Corrected, p.MDP().Criterion(), 0, v, mass)
	criteria := []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.99), mixpolicy.Discounted(0.9),
		mixpolicy.Discounted(0.5), mixpolicy.Discounted(0.1)} // these and the ε below are from data/adversaries.csv
	worst := worstOf(criteria, func(c mixpolicy.Criterion) float64 {
		return worstOf([][2]float64{{1e-3, 1e-3}, {1e-3, 0.9}, {0.01, 0.3}, {0.1, 0.3}, {0.5, 0.5}, {2, 0.01}}, func(e [2]float64) float64 {
			// In state 0, action 0 leads to state 1 with probability d, and action 1 with probability 1; in state 1,
			// the probability of leaving is back. If u(0,1) = −ε, the flow determines u(1,0), which is in the variable
			// `one`; see [theory.Distance].
			eps, back, gamma := e[0], e[1], c.Gamma()
			d, one := max(0, (eps-(1-gamma)/gamma)/(1+eps)), max(0, ((1-gamma)-gamma*eps)/(1-gamma*(1-back)))
			y := process(2, 2, c, unit(2, 1), func(s, a int) (float64, []float64) {
				leave := [][]float64{{d, 1}, {back, back}}[s][a]
				next := []float64{leave, leave}
				next[s] = 1 - leave
				return 0, next
			})
			u := []float64{1 + eps - one, -eps, one, 0}
			q := must(y.Occupation(ctx, must(mixpolicy.PolicyOf(y, u))))
			return relativeError(theory.TotalVariation(u, q.Pair), theory.Distance(mixpolicy.Corrected, c, -1/math.Log(1-d-back), 0, eps))
		})
	})
	return holdsCorrected(excess(tv, printed), max(worst, excess(tv, bound)),
		"64 states, γ = 0.1, τ = 1, negative mass 0.1 in 64 pairs: the distance is %.3g, the printed bound %.3g, the corrected one %.3g; "+
			"30 processes of two states attain the corrected bound (ε from 0.001 to 2; γ = 0.1, 0.5, 0.9, 0.99, 1)", tv, printed, bound)
}

// checkSampleSize: [fewQueries] tests the T of (3.37), and 1000 T. The corrected T must be at least 2¹⁷, which is
// enough in runs, and must not grow faster than n², like its closed form (see [theory.Constants.SampleComplexity]).
func checkSampleSize(ctx context.Context) Finding {
	const epsilon, rho, enough = 0.1, 0.1, 1 << 17
	proved := func(copies int, rho float64) float64 {
		k := must(theory.NewConstants(clippedProblem(copies), mixpolicy.PrimalDual{CostScale: 1}))
		return must(k.With(2*k.LambdaStar).SampleComplexity(epsilon, rho))
	}
	least, counts := fewQueries()
	one, power := proved(1, rho), math.Log(proved(100, rho)/proved(50, rho))/math.Ln2
	runs := floats.Max(clippedRuns(ctx, clippedProblem(1), enough, 10)) // ‖λ*‖₂ = 5
	return holdsCorrected(excess(least, epsilon), max(excess(runs, epsilon), excess(enough, one), excess(power, 2)),
		"how many of 5 runs end farther than ε = 0.1 from the best of the class, for β = 1.2, β = T^¼ and β = 2‖λ*‖₂: %s"+
			"the corrected T is %.2g for 2 states, where 2¹⁷ were enough in 5 of 5 runs; it grows like n^%.2f from 100 to 200 states, "+
			"and is %.2g for 2 states and ρ = 10⁻¹⁰⁰", counts, one, power, proved(1, 1e-100)).within(0)
}

// checkNearBest: (3.38) compares the policy with ξ*, which the paper defines as the optimum over all policies (2.13).
// The class need not contain a policy near ξ*.
func checkNearBest(ctx context.Context) Finding {
	_, full, _ := dualOptimum(mixpolicy.Corrected)
	p, best := smallOptimum(mixpolicy.Ball(2))
	k := must(theory.NewConstants(p, mixpolicy.PrimalDual{CostScale: 1}))
	k = k.With(2 * k.LambdaStar)
	const epsilon, runs, iterations = 0.1, 20, 2000
	bound := k.PolicyBound(theory.SumSteps(mixpolicy.InverseSqrt(1), iterations), math.Inf(1), 0.05)
	var costs []float64
	for stream := range uint64(runs) {
		r := must(mixpolicy.Solve(ctx, p, mixpolicy.PrimalDual{Beta: k.G, CostScale: 1},
			mixpolicy.Settings{Iterations: iterations, Seed: 338, Stream: stream, Uncertified: true}))
		costs = append(costs, policyMeasure(p, r.Theta).Cost(p.MDP().Costs()))
	}
	return holdsCorrected(excess(floats.Min(costs), full+epsilon), excess(floats.Max(costs)-best.Objective, bound),
		"the best of all policies costs %.4f, the best of the class %.4f, and the best of 20 runs of 2000 iterations %.4f, which is not "+
			"within 0.1 of the best of all policies; corrected, with the best of the class for ξ*: no excess is above the bound %.3g",
		full, best.Objective, floats.Min(costs), bound)
}

// copies is the queue with each of its base policies k times. With ‖·‖_∞ as the norm of the class, the radius R/k
// allows the same Ψθ as the radius R without the copies, but ‖Ψ‖_{*,2} is k times as large. In Algorithm 1 with the
// cube's modulus, copies have the same gradients, so their coefficients stay equal, and add up to the coefficient
// without copies.
func copies(k int, class mixpolicy.Class) *mixpolicy.Problem {
	x, base := queueModel()
	psi := must(mixpolicy.NewFeatures(context.Background(), x, base...))
	columns := slices.Repeat([][]float64{psi.Column(0), psi.Column(1)}, k)
	return must(mixpolicy.NewProblem(must(mixpolicy.FeaturesFromColumns(x, columns...)), class))
}
