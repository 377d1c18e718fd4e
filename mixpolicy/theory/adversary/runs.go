package adversary

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// game is (2.18) for a process of one state and average cost, three actions, and two policies: Ψ is
// then any matrix with columns that are distributions. What the proofs use of an MDP is in Ψ.
type game struct {
	p     *mixpolicy.Problem
	k     *theory.Constants
	phi   bregman.Modulus
	start []float64
	best  *linprog.Solution
	c     []float64
}

// gameParameters are those of newGame.
var gameParameters = append(append([]Parameter{
	{Name: "class", Lo: 0, Hi: 3}, {Name: "R", Lo: 0.75, Hi: 1e4, Log: true}, {Name: "β", Lo: 1e-4, Hi: 1e3, Log: true}, {Name: "θ₀", Lo: -0.999, Hi: 0.999},
}, several(6, Parameter{Name: "ψ", Hi: 1})...), several(3, Parameter{Name: "c", Lo: -1, Hi: 1})...)

func newGame(x []float64) *game {
	class := []mixpolicy.Class{mixpolicy.Ball(x[1]), mixpolicy.Cube(x[1]), mixpolicy.Simplex()}[min(int(x[0]), 2)]
	cost := x[10:13]
	y := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 1, Actions: 3, Criterion: mixpolicy.AverageCost,
		Dynamics: func(_, a int) (float64, []mixpolicy.Transition) {
			return cost[a], []mixpolicy.Transition{{To: 0, P: 1}}
		}}))
	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(y, distribution(x[4:7]...), distribution(x[7:10]...)))
	g := &game{p: mixpolicy.Must(mixpolicy.NewProblem(f, class)), phi: mixpolicy.DefaultModulus(class), c: cost}
	g.start = g.at(x[3])
	g.k = mixpolicy.Must(theory.NewConstants(g.p, mixpolicy.PrimalDual{Beta: x[2], CostScale: 1, Theta0: g.start}))
	g.best = mixpolicy.Must(g.p.Optimum(context.Background()))
	return g
}

// at is the point of Θ₂ ∩ Θ_R at a fraction t ∈ [−1, 1] of the way from its centre to its ends.
func (g *game) at(t float64) []float64 {
	class := g.p.Class()
	half := 0.5 // the simplex
	switch class.Norm {
	case linprog.L2:
		half = math.Sqrt((class.R*class.R - 0.5) / 2)
	case linprog.LInf:
		half = class.R - 0.5
	}
	return []float64{0.5 + t*half, 0.5 - t*half}
}

// state is ∇φ(θ_t), θ_t and λ_t of a run, and the sum of ηθ so far.
type state struct{ y, theta, lambda, sum []float64 }

func (g *game) begin() state {
	y := make([]float64, 2)
	g.phi.Gradient(y, g.start)
	return state{y, g.start, make([]float64, 3), make([]float64, 2)}
}

// steps are step sizes in units of 1/A(c_max+G), which bounds 1/‖ĝ‖⁎.
func (g *game) steps(x []float64) []float64 { return scaled(1/(g.k.A*(g.k.Cost+g.k.G)), x) }

// step is an iteration of Algorithm 1 with the given pair for a sample; tilde is θ̃_t.
func (g *game) step(s state, eta float64, pair int) (next state, sample, tilde []float64) {
	f := g.p.Features()
	sample, tilde = make([]float64, 2), make([]float64, 2)
	f.Row(sample, pair)
	floats.Scale((g.c[pair]-s.lambda[pair])/f.Sampling()[pair], sample)
	next.y = floats.AddScaledTo(make([]float64, 2), s.y, -eta, sample)
	g.phi.ConjugateGradient(tilde, next.y)
	mixpolicy.Must(bregman.ProjectDual(g.phi, next.y, nil))
	next.theta = make([]float64, 2)
	g.phi.ConjugateGradient(next.theta, next.y)

	ascent := make([]float64, 3)
	g.p.GradLambda(ascent, s.theta)
	next.lambda = floats.AddScaledTo(make([]float64, 3), s.lambda, eta, ascent)
	g.project(next.lambda)
	next.sum = floats.AddScaledTo(make([]float64, 2), s.sum, eta, s.theta)
	return next, sample, tilde
}

// project is the projection onto the multipliers λ ⪰ 0 of ‖λ‖₂ ≤ G.
func (g *game) project(lambda []float64) {
	for i, v := range lambda {
		lambda[i] = max(v, 0)
	}
	floats.Scale(g.k.G/max(g.k.G, floats.Norm(lambda, 2)), lambda)
}

// each calls f with the end of every path of samples, and its probability.
func (g *game) each(s state, eta []float64, probability float64, f func(s state, probability float64)) {
	if len(eta) == 0 {
		f(s, probability)
		return
	}
	for pair, q := range g.p.Features().Sampling() {
		if q > 0 {
			next, _, _ := g.step(s, eta[0], pair)
			g.each(next, eta[1:], probability*q, f)
		}
	}
}

func sums(eta []float64) theory.StepSums {
	s := theory.StepSums{T: len(eta)}
	for _, v := range eta {
		s.Sum, s.Squares, s.Fourth = s.Sum+v, s.Squares+v*v, s.Fourth+v*v*v*v
	}
	return s
}

// outcome is the value of a quantity at the end of a path, and the path's probability.
type outcome struct{ value, probability float64 }

// quantile is the least v with P[value > v] ≤ δ.
func quantile(all []outcome, delta float64) float64 {
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(b.value, a.value) })
	above := 0.0
	for _, o := range all {
		if above += o.probability; above > delta {
			return o.value
		}
	}
	return all[len(all)-1].value
}

// games is the space of Proposition 3.1 and Theorem 3.4: T ≤ 2 iterations, all paths of samples with
// their probabilities. A bound with probability 1 − δ is violated if the 1 − δ quantile is greater.
func games() Space {
	const (
		slope = "C_e is a sum of two numbers that each bound the slope ‖cᵀΨ‖⁎ of the objective, so that B ≥ 5‖cᵀΨ‖⁎²/μ, and (D + Bη²)/η ≥ 2√(BD) is √10 times the gap of one step at least"
		union = "the worst cases of its terms exclude each other: it takes ‖Ψθ_t‖₂, ‖ĝ_t‖⁎, the noise and the distance from the optimum each at their greatest; path by path, see (5.36) and (3.33) of the other space"
	)
	return Space{
		Name: "runs of one or two steps, every path",
		Parameters: append(append([]Parameter(nil), gameParameters...),
			Parameter{Name: "T", Lo: 1, Hi: 3}, Parameter{Name: "η1", Lo: 1e-3, Hi: 10, Log: true}, Parameter{Name: "η2", Lo: 1e-3, Hi: 10, Log: true},
			Parameter{Name: "δ", Lo: 1e-3, Hi: 0.999}),
		Bounds: []Bound{
			{Statement: "3.31", What: "1−δ quantile of the gap ≤ ObjectiveBound", Loose: slope},
			{Statement: "3.32", What: "mean gap ≤ ExpectedObjectiveBound", Loose: slope},
			{Statement: "3.33", What: "1−δ quantile of V(θ̂) ≤ ViolationBound", Loose: "it contains ObjectiveBound, whose " + slope},
			{Statement: "3.31", What: "1−δ quantile of the gap ≤ SharpObjectiveBound"},
			{Statement: "3.33", What: "1−δ quantile of V(θ̂) ≤ SharpViolationBound", Loose: union},
			{Statement: "3.38", What: "1−δ quantile of cᵀξ^θ̂ − cᵀΨθ* ≤ PolicyBound", Loose: union},
		},
		Sides: func(x []float64) []Side {
			g := newGame(x)
			n := len(gameParameters)
			eta := g.steps(x[n+1 : n+1+min(int(x[n]), 2)])
			delta, s := x[n+3], sums(eta)
			var gaps, violations, excess []outcome
			var expected, size float64
			xi := make([]float64, 3)
			g.each(g.begin(), eta, 1, func(end state, probability float64) {
				theta := scaled(1/s.Sum, end.sum)
				gap := g.p.Objective(theta) - g.best.Objective
				size = max(size, floats.Norm(theta, 1))
				expected += probability * gap
				gaps = append(gaps, outcome{gap, probability})
				violations = append(violations, outcome{g.p.Violation(theta), probability})
				g.p.Features().MulVec(xi, theta)
				for i, v := range xi {
					xi[i] = max(v, 0)
				}
				excess = append(excess, outcome{floats.Dot(g.c, distribution(xi...)) - g.best.Objective, probability})
			})
			gap, violation := quantile(gaps, delta), quantile(violations, delta)
			return []Side{
				{gap, g.k.ObjectiveBound(s, delta).Value, size},
				{expected, g.k.ExpectedObjectiveBound(s).Value, size},
				{violation, g.k.ViolationBound(s, delta).Value, size},
				{gap, g.k.SharpObjectiveBound(s, delta).Value, size},
				{violation, g.k.SharpViolationBound(s, delta).Value, size},
				{quantile(excess, delta), g.k.PolicyBound(s, 0, delta), size},
			}
		},
	}
}

// paths is the space of what holds surely, along any path of samples: the steps of section 5 that lead
// to (∗) of theory.Constants.ObjectiveBound, what follows from (∗), and the constants.
func paths() Space {
	bound := func(statement, what string) Bound { return Bound{Statement: statement, What: what} }
	return Space{
		Name: "one path of up to three steps",
		Parameters: append(append([]Parameter(nil), gameParameters...), append(append(append([]Parameter{
			{Name: "T", Lo: 1, Hi: 4}, {Name: "θ", Lo: -1, Hi: 1}},
			several(3, Parameter{Name: "η", Lo: 1e-3, Hi: 10, Log: true})...), several(3, Parameter{Name: "i", Hi: 3})...), several(3, Parameter{Name: "λ", Hi: 1})...)...),
		Bounds: []Bound{
			bound("5.6", "D(θ;θ_{t+1}) ≤ D(θ;θ̃_t)"),
			bound("5.9", "η⟨ĝ, θ_t−θ̃_t⟩ ≤ ½η²‖ĝ‖⁎² + ½‖θ_t−θ̃_t‖²"),
			bound("5.10", "(μ/2)‖θ_t−θ̃_t‖² ≤ D(θ̃_t;θ_t), ball and cube"),
			bound("5.11", "D(θ_t;θ̃_t) ≤ η²‖ĝ‖⁎²/2μ, ball and cube"),
			bound("5.12", "η⟨ĝ, θ_t−θ⟩ + D(θ;θ_{t+1}) ≤ D(θ;θ_t) + η²‖ĝ‖⁎²/2μ"),
			bound("5.13", "Ση⟨∇_θ𝓛 + e, θ_t−θ⟩ ≤ D(θ;θ₀) + Ση²(‖∇_θ𝓛‖⁎² + ‖e‖⁎²)/μ"),
			bound("5.15", "‖λ_{t+1}−λ‖₂ ≤ ‖λ_t + η∇_λ𝓛 − λ‖₂"),
			bound("5.16", "Ση⟨∇_λ𝓛, λ−λ_t⟩ ≤ ½‖λ‖² + ½Ση²‖∇_λ𝓛‖²"),
			bound("5.18", "Ση(𝓛(θ_t,λ) − 𝓛(θ,λ_t) + ⟨e, θ_t−θ⟩) ≤ D(θ;θ₀) + ½‖λ‖² + Ση²((‖∇_θ𝓛‖⁎² + ‖e‖⁎²)/μ + ½‖∇_λ𝓛‖²)"),
			bound("5.21", "the same with ½‖ĝ‖⁎² for ‖∇_θ𝓛‖⁎² + ‖e‖⁎², which is (∗)"),
			bound("5.25", "−λᵀΨθ̂ − ‖λ‖²/2S ≤ its value at S[Ψθ̂]₋, scaled into the ball"),
			bound("5.28", "cᵀΨ(θ̂−θ*) + Ση⟨e, θ_t−θ*⟩/S ≤ right side of (∗) for λ = 0 over S"),
			{Statement: "5.35", What: "cᵀΨ(θ*−θ̂) ≤ 2R c_max√(nm)‖Ψ‖", Loose: "the barycentre of the class is feasible, so that R would do for 2R: cᵀΨθ* is at most its cost"},
			{Statement: "5.36", What: "V(θ̂) + Ση⟨e, θ_t−θ*⟩/2GS ≤ R c_max√(nm)‖Ψ‖/G + (right side of (∗) for λ = 0)/2GS + G/4S"},
			bound("3.33", "2(G−‖λ*‖₂)V(θ̂) + Ση⟨e, θ_t−θ*⟩/S ≤ (right side of (∗) for λ = 0 + ½G²)/S"),
			bound("3.30", "min_k ‖ĝ − k1‖⁎ ≤ Tangent·(c_max+G)"),
			{Statement: "A.3", What: "‖e‖⁎ ≤ C_e"},
			bound("3.34a", "½‖∇_λ𝓛‖² + ½‖ĝ‖⁎²/μ ≤ B"),
			bound("5.29", "‖Ψθ‖₂ ≤ σ_max max‖θ‖₂"),
			bound("5.30", "‖Ψᵀ(c−λ)‖⁎ ≤ (c_max√(nm)+G)‖Ψ‖"),
			bound("§2", "‖Ψᵀx‖⁎ ≤ ‖Ψ‖_{⁎,2}‖x‖₂"),
			bound("A.2", "|⟨e, θ_t−θ⟩| ≤ 2R‖e‖⁎"),
		},
		Sides: func(x []float64) []Side {
			g := newGame(x)
			n := len(gameParameters)
			steps := min(int(x[n]), 3)
			eta, samples := g.steps(x[n+2:n+2+steps]), x[n+5:n+8]
			theta := g.at(x[n+1])
			// λ is in the ball: a vector of the orthant, shortened if it is longer than 1.
			lambda := scaled(g.k.G/max(1, floats.Norm(x[n+8:n+11], 2)), x[n+8:n+11])
			return g.surely(eta, samples, theta, lambda)
		},
	}
}

// lost is the size of [Side] for a D(x;y) of a y with the given relative error, which decides much of it
// next to a boundary where ∇φ is infinite.
func lost(phi bregman.Modulus, x, y []float64, relative float64) float64 {
	at := bregman.Divergence(phi, x, y)
	if math.IsInf(at, 1) {
		return at // all is lost
	}
	return math.Abs(bregman.Divergence(phi, x, scaled(1-relative, y))-at) / rounding
}

// surely evaluates the bounds of [paths].
func (g *game) surely(eta, samples, theta, lambda []float64) []Side {
	k, norm := g.k, g.p.Class().Norm
	dual, f := norm.Dual(), g.p.Features()
	d := func(x, y []float64) float64 { return bregman.Divergence(g.phi, x, y) }
	last := func(y []float64) float64 { return lost(g.phi, theta, y, 0x1p-50) } // a few roundings
	optimum := g.best.Theta
	var side struct{ s6, s9, s10, s11, s12, s15, tangent, error, b, hoelder Side }
	worst := func(at *Side, left, right, size float64) {
		if s := (Side{left, right, size}); s.Violated() || s.Ratio() > at.Ratio() {
			*at = s
		}
	}
	var primal, noise, atBest, noiseBest, ascent, squares, parts, ascents, size float64
	at, gradient, up := g.begin(), make([]float64, 2), make([]float64, 3)
	for t, step := range eta {
		pair := min(int(samples[t]), 2)
		for f.Sampling()[pair] == 0 {
			pair = (pair + 1) % 3
		}
		next, sample, tilde := g.step(at, step, pair)
		g.p.GradTheta(gradient, at.lambda)
		g.p.GradLambda(up, at.theta)
		e, move := difference(sample, gradient), difference(at.theta, tilde)
		sizes := d(theta, at.theta) + step*floats.Norm(sample, 1)*(floats.Norm(at.theta, 1)+floats.Norm(theta, 1)+floats.Norm(tilde, 1))
		near := sizes + last(at.theta) + last(tilde) + last(next.theta)
		turn := step * floats.Dot(sample, move)
		g2 := step * step * dual.Of(sample) * dual.Of(sample)
		moved := norm.Of(move) * norm.Of(move)
		worst(&side.s6, d(theta, next.theta), d(theta, tilde), near)
		worst(&side.s9, turn, g2/2+moved/2, sizes)
		if norm != linprog.L1 { // the entropy is strongly convex on the simplex, where θ̃_t is not
			// A move is a difference: one of 10⁻⁴ of the class has 12 digits.
			short := 1e-4 * k.Mu * k.Reach * k.Reach
			worst(&side.s10, k.Mu/2*moved, d(tilde, at.theta), short)
			worst(&side.s11, d(at.theta, tilde), g2/(2*k.Mu), short)
		}
		worst(&side.s12, step*floats.Dot(sample, difference(at.theta, theta))+d(theta, next.theta), d(theta, at.theta)+g2/(2*k.Mu), near)
		free := floats.AddScaledTo(make([]float64, 3), at.lambda, step, up)
		worst(&side.s15, floats.Distance(next.lambda, lambda, 2), floats.Distance(free, lambda, 2), 0)
		middle := (sample[0] + sample[1]) / 2 // the mean, the midrange and a median of two numbers
		worst(&side.tangent, dual.Of([]float64{sample[0] - middle, sample[1] - middle}), k.Tangent*(k.Cost+k.G), 0)
		worst(&side.hoelder, math.Abs(floats.Dot(e, difference(at.theta, theta))), 2*k.R*dual.Of(e), 0)

		// The constants at the λ that is given, in place of λ_t.
		other := make([]float64, 2)
		f.Row(other, pair)
		floats.Scale((g.c[pair]-lambda[pair])/f.Sampling()[pair], other)
		mean := make([]float64, 2)
		g.p.GradTheta(mean, lambda)
		worst(&side.error, dual.Of(difference(other, mean)), k.Ce(mixpolicy.Corrected), 0)
		psi := make([]float64, 3)
		f.MulVec(psi, theta)
		worst(&side.b, floats.Dot(psi, psi)/2+dual.Of(other)*dual.Of(other)/(2*k.Mu), k.B(mixpolicy.Corrected), 0)

		primal += step * floats.Dot(gradient, difference(at.theta, theta))
		noise += step * floats.Dot(e, difference(at.theta, theta))
		atBest += step * floats.Dot(gradient, difference(at.theta, optimum))
		noiseBest += step * floats.Dot(e, difference(at.theta, optimum))
		ascent += step * floats.Dot(up, difference(lambda, at.lambda))
		squares += g2 / (2 * k.Mu)
		parts += step * step * (dual.Of(gradient)*dual.Of(gradient) + dual.Of(e)*dual.Of(e)) / k.Mu
		ascents += step * step * floats.Dot(up, up) / 2
		size += sizes + step*floats.Norm(up, 1)*(floats.Norm(lambda, 1)+floats.Norm(at.lambda, 1))
		at = next
	}
	s := floats.Sum(eta)
	hat := scaled(1/s, at.sum)
	start, half := d(theta, g.start), floats.Dot(lambda, lambda)/2
	star := d(optimum, g.start) + squares + ascents // right side of (∗) for θ*, λ = 0
	gap, v := g.p.Objective(hat)-g.best.Objective, g.p.Violation(hat)
	far := floats.Norm(hat, 1) + floats.Norm(optimum, 1)
	short := make([]float64, 3) // [Ψθ̂]₋
	g.p.GradLambda(short, hat)
	for i, w := range short {
		short[i] = max(w, 0)
	}
	bracket := func(l []float64) float64 { return floats.Dot(l, short) - floats.Dot(l, l)/(2*s) }
	top := scaled(s, short)
	g.project(top)
	psi, back, mean := make([]float64, 3), make([]float64, 2), make([]float64, 2)
	f.MulVec(psi, theta)
	f.MulVecT(back, lambda)
	g.p.GradTheta(mean, lambda)
	sharp := Side{2*(k.G-k.LambdaStar)*v + noiseBest/s, (star + k.G*k.G/2) / s, size / s}
	if k.G <= k.LambdaStar {
		sharp = Side{Right: math.Inf(1)}
	}
	trivial := k.Cost * math.Sqrt(3) * k.PsiNorm * k.R
	return []Side{
		side.s6, side.s9, side.s10, side.s11, side.s12,
		{primal + noise, start + parts, size},
		side.s15,
		{ascent, half + ascents, size},
		{primal + noise + ascent, start + half + parts + ascents, size},
		{primal + noise + ascent, start + half + squares + ascents, size},
		{bracket(lambda), bracket(top), s * floats.Dot(short, short)},
		{gap + noiseBest/s, star / s, far + size/s},
		{-gap, 2 * trivial, far},
		{v + noiseBest/(2*k.G*s), trivial/k.G + star/(2*k.G*s) + k.G/(4*s), far + size/(2*k.G*s)},
		sharp,
		side.tangent, side.error, side.b,
		{floats.Norm(psi, 2), k.SigmaMax * k.Reach, 0},
		{dual.Of(mean), k.GradientBound(), 0},
		{dual.Of(back), k.PsiNorm * floats.Norm(lambda, 2), 0},
		side.hoelder,
	}
}

func difference(x, y []float64) []float64 { return floats.SubTo(make([]float64, len(x)), x, y) }
