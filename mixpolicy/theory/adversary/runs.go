package adversary

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// game is a run of Algorithm 1 on (2.18), for a process with one state and three actions, and two base policies. With
// one state, Ψ may be any matrix whose columns are distributions. The proofs of Proposition 3.1 use the MDP only
// through Ψ, the costs and G.
type game struct {
	*paper.Trace
	best *linprog.Solution
	c    []float64
}

// gameParameters are the 13 parameters of newGame.
var gameParameters = slices.Concat(uniform(1, "class", 0, 3), logarithmic(1, "R", 0.75, 1e4), logarithmic(1, "β", 1e-4, 1e3),
	uniform(1, "θ₀", -0.999, 0.999), uniform(6, "ψ", 0, 1), uniform(3, "c", -1, 1))

func newGame(x []float64, by mixpolicy.Criterion) *game {
	g := &game{c: x[10:13]}
	y := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 1, Actions: 3, Criterion: by,
		Dynamics: func(_, a int) (float64, []mixpolicy.Transition) { return g.c[a], []mixpolicy.Transition{{To: 0, P: 1}} }}))
	f := mixpolicy.Must(mixpolicy.FeaturesFromColumns(y, distribution(x[4:7]...), distribution(x[7:10]...)))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, classOf(x[0], x[1])))
	g.Trace = mixpolicy.Must(paper.NewTrace(p, paper.TraceSettings{Beta: x[2], Start: pointOf(p.Class(), x[3])}))
	g.best = mixpolicy.Must(p.Optimum(context.Background()))
	return g
}

// classOf returns the ball, the cube or the simplex.
func classOf(which, r float64) mixpolicy.Class {
	return []mixpolicy.Class{mixpolicy.Ball(r), mixpolicy.Cube(r), mixpolicy.Simplex()}[min(int(which), 2)]
}

// pointOf returns the point of Θ₂ ∩ Θ_R at a fraction t ∈ [−1, 1] of the way from the centre to an end.
func pointOf(class mixpolicy.Class, t float64) []float64 {
	half := []float64{linprog.L2: math.Sqrt((class.R*class.R - 0.5) / 2), linprog.LInf: class.R - 0.5, linprog.L1: 0.5}[class.Norm]
	return []float64{0.5 + t*half, 0.5 - t*half}
}

// steps returns the step sizes x/(A(c_max+G)). The divisor is an upper bound on ‖ĝ‖⁎.
func (g *game) steps(x []float64) []float64 { return scaled(1/(g.K.A*(g.K.Cost+g.K.G)), x) }

// game.each calls f with Σηθ and the probability of the path, at the end of every path of samples.
func (g *game) each(last paper.TraceStep, sum, eta []float64, probability float64, f func(sum []float64, probability float64)) {
	if len(eta) == 0 {
		f(sum, probability)
		return
	}
	sum = floats.AddScaledTo(make([]float64, 2), sum, eta[0], last.Next)
	for pair, q := range g.Problem.Features().Sampling() {
		if q > 0 {
			g.each(mixpolicy.Must(g.After(last, eta[0], pair)), sum, eta[1:], probability*q, f)
		}
	}
}

// outcome is the value of a quantity at the end of a path, and the path's probability.
type outcome struct{ value, probability float64 }

func (o outcome) compare(other outcome) int { return cmp.Compare(o.value, other.value) }

// quantile returns the least v with P[value > v] ≤ δ.
func quantile(all []outcome, delta float64) float64 {
	slices.SortFunc(all, func(a, b outcome) int { return b.compare(a) })
	above := 0.0
	for _, o := range all {
		if above += o.probability; above > delta {
			return o.value
		}
	}
	return all[len(all)-1].value
}

// laws returns the bounds of Proposition 3.1 and Theorem 3.4, for T ≤ 2 iterations and all paths of samples with their
// probabilities. A bound that holds with probability 1 − δ is violated if the 1 − δ quantile exceeds it. A γ < 1
// affects only (3.38) and G, which is at least 1/(1−γ).
func (g *game) laws(x []float64) []Law {
	const (
		slope = "C_e is the sum of two bounds on the slope ‖cᵀΨ‖⁎, so B ≥ 5‖cᵀΨ‖⁎²/μ, and 2√(BD) is √10 times the gap of one step"
		union = "‖Ψθ_t‖₂, ‖ĝ_t‖⁎, noise and distance do not take their greatest values together; for single paths, see (5.36) and (3.33)"
	)
	eta := g.steps(x[1 : 1+min(int(x[0]), 2)])
	delta, s := x[3], theory.SumSteps(mixpolicy.StepFunc(func(t int) float64 { return eta[t] }), len(eta))
	var gaps, violations, excess []outcome
	expected, size, xi := 0.0, 0.0, make([]float64, 3)
	g.each(g.Last(), make([]float64, 2), eta, 1, func(sum []float64, probability float64) {
		theta := scaled(1/s.Sum, sum)
		gap := g.Problem.Objective(theta) - g.best.Objective
		size = max(size, floats.Norm(theta, 1))
		expected += probability * gap
		gaps = append(gaps, outcome{gap, probability})
		violations = append(violations, outcome{g.Problem.Violation(theta), probability})
		g.Problem.Features().MulVec(xi, theta)
		excess = append(excess, outcome{floats.Dot(g.c, distribution(positive(xi)...)) - g.best.Objective, probability})
	})
	gap, v := quantile(gaps, delta), quantile(violations, delta)
	return []Law{
		{"3.31", "1−δ quantile of the gap ≤ ObjectiveBound", slope, Side{gap, g.K.ObjectiveBound(s, delta).Value, size}},
		{"3.32", "mean gap ≤ ExpectedObjectiveBound", slope, Side{expected, g.K.ExpectedObjectiveBound(s).Value, size}},
		{"3.33", "1−δ quantile of V(θ̂) ≤ ViolationBound", "it contains ObjectiveBound, whose " + slope,
			Side{v, g.K.ViolationBound(s, delta).Value, size}},
		{"3.31", "1−δ quantile of the gap ≤ RefinedObjectiveBound", "", Side{gap, g.K.RefinedObjectiveBound(s, delta).Value, size}},
		{"3.33", "1−δ quantile of V(θ̂) ≤ RefinedViolationBound", union, Side{v, g.K.RefinedViolationBound(s, delta).Value, size}},
		{"3.38", "1−δ quantile of cᵀξ^θ̂ − cᵀΨθ* ≤ PolicyBound", union, Side{quantile(excess, delta), g.K.PolicyBound(s, 0, delta), size}},
	}
}

// positive replaces the entries of x by those of [x]₊, and returns x.
func positive(x []float64) []float64 {
	for i, v := range x {
		x[i] = max(v, 0)
	}
	return x
}

// path is a run of a game, with the points θ and λ at which the laws are checked.
type path struct {
	*game
	theta, lambda []float64

	s, v, gap           float64   // Ση, V(θ̂) and cᵀΨ(θ̂ − θ*)
	short               []float64 // [Ψθ̂]₋
	squares, parts      float64   // Ση²‖ĝ‖⁎²/2μ, and Ση²(‖∇_θ𝓛‖⁎² + ‖e‖⁎²)/μ
	star, noise         float64   // right side of (∗) for θ* and λ = 0 without its last sum, and Ση⟨e, θ_t−θ*⟩
	whole, far, trivial float64   // the sizes of the terms in sums over the path and in averages; R c_max√(nm)‖Ψ‖
}

func newPath(x []float64) *path {
	n := len(gameParameters)
	p := &path{game: newGame(x, mixpolicy.AverageCost), theta: pointOf(classOf(x[0], x[1]), x[n+1]), short: make([]float64, 3)}
	p.lambda = scaled(p.K.G/max(1, floats.Norm(x[n+8:n+11], 2)), x[n+8:n+11]) // scaled into the ball
	best, sampling := p.best.Theta, p.Problem.Features().Sampling()
	for t, eta := range p.steps(x[n+2 : n+2+min(int(x[n]), 3)]) {
		pair := min(int(x[n+5+t]), 2)
		for sampling[pair] == 0 {
			pair = (pair + 1) % 3
		}
		mixpolicy.Must(0, p.Extend(eta, pair))
		s := p.Steps[t]
		g, mean, e := p.dual(s.Sample), p.dual(s.Mean), p.dual(s.Error)
		p.squares += eta * eta * g * g / (2 * p.Mu)
		p.parts += eta * eta * (mean*mean + e*e) / p.Mu
		p.star += eta * eta * floats.Dot(s.Ascent, s.Ascent) / 2
		p.noise += eta * floats.Dot(s.Error, difference(s.Theta, best))
		p.whole += p.size(s) + eta*floats.Norm(s.Ascent, 1)*(floats.Norm(p.lambda, 1)+floats.Norm(s.Lambda, 1))
	}
	p.s, p.v, p.gap = p.Sums.Sum, p.Problem.Violation(p.Theta), p.Problem.Objective(p.Theta)-p.best.Objective
	p.star += bregman.Divergence(p.Phi, best, p.Steps[0].Theta) + p.squares
	p.far = floats.Norm(p.Theta, 1) + floats.Norm(best, 1)
	p.trivial = p.K.R * p.K.Cost * math.Sqrt(3) * p.K.PsiNorm
	p.Problem.GradLambda(p.short, p.Theta)
	positive(p.short)
	return p
}

func (p *path) dual(x []float64) float64 { return p.Problem.Class().Norm.Dual().Of(x) }

func (p *path) size(s paper.TraceStep) float64 {
	lengths := floats.Norm(s.Theta, 1) + floats.Norm(p.theta, 1) + floats.Norm(s.Tilde, 1)
	return bregman.Divergence(p.Phi, p.theta, s.Theta) + s.Eta*floats.Norm(s.Sample, 1)*lengths
}

// bracket returns lᵀ[Ψθ̂]₋ − ‖l‖²/2S, which is at least −lᵀΨθ̂ − ‖l‖²/2S for l ⪰ 0. Here S = Ση.
func (p *path) bracket(l []float64) float64 {
	return floats.Dot(l, p.short) - floats.Dot(l, l)/(2*p.s)
}

// none is the Side of a bound that says nothing.
var none = Side{Left: math.Inf(-1), Right: 1}

// Side.or returns other if other is violated, or if neither is and other has the greater ratio. Otherwise, it returns s.
func (s Side) or(other Side) Side {
	if other.Violated() || !s.Violated() && other.Ratio() > s.Ratio() {
		return other
	}
	return s
}

// These functions return the size of a law's terms, for the law's rounding error: whole for sums over a path; average
// for sums divided by Ση; near for divergences next to a boundary, which a few roundings of a point may change a lot;
// and move for the square of a move. A move is a difference of points: if its size is 10⁻⁴ Reach, 12 digits are right.
// Moves are not checked for the entropy, because its constant of strong convexity holds on the simplex, and θ̃_t is not
// on the simplex.
func whole(p *path, _ paper.TraceStep) float64   { return p.whole }
func average(p *path, _ paper.TraceStep) float64 { return p.far + p.whole/p.s }
func near(p *path, s paper.TraceStep) float64 {
	last := func(y []float64) float64 { return lost(p.Phi, p.theta, y, 0x1p-50) }
	return p.size(s) + last(s.Theta) + last(s.Tilde) + last(s.Next)
}
func move(p *path, _ paper.TraceStep) float64 {
	if p.Problem.Class().Norm == linprog.L1 {
		return math.Inf(1)
	}
	return 1e-4 * p.Mu * p.K.Reach * p.K.Reach
}

func exactly(*path, paper.TraceStep) float64 { return 0 }

// law returns the sides of a law of [paper.Laws], in its corrected form, at the worst iteration.
func (p *path) law(number string, size func(*path, paper.TraceStep) float64) Side {
	laws, worst := paper.Laws(), none
	l := laws[slices.IndexFunc(laws, func(l paper.Law) bool { return l.Number == number })]
	p.Visit(l, [][]float64{p.theta}, [][]float64{p.lambda}, func(t int, printed, s paper.Sides) {
		if s.Relation == "" {
			s = printed // the printed law is right
		}
		if rough := size(p, p.Steps[max(t, 0)]); !math.IsInf(rough, 1) { // otherwise no digit is left
			worst = worst.or(Side{s.Left, s.Right, max(math.Abs(s.Size), rough)})
		}
	})
	return worst
}

// paths returns the bounds that hold with certainty along any path of samples: the laws of section
// 5 that lead to (∗) of theory.Constants.ObjectiveBound, the consequences of (∗), and the
// inequalities behind the constants.
func paths(x []float64) []Law {
	p := newPath(x)
	gapSum := p.law("5.18", whole)
	star := gapSum // with ½‖ĝ‖⁎² instead of ‖∇_θ𝓛‖⁎² + ‖e‖⁎²
	star.Right += p.squares - p.parts
	top := scaled(min(p.s, p.K.G/floats.Norm(p.short, 2)), p.short)
	ball, multipliers := 2*p.K.G*p.s, map[bool]Side{false: none, true: {2*(p.K.G-p.K.LambdaStar)*p.v + p.noise/p.s,
		(p.star + p.K.G*p.K.G/2) / p.s, p.whole / p.s}}[p.K.G > p.K.LambdaStar]
	up, back, mean, sample := make([]float64, 3), make([]float64, 2), make([]float64, 2), make([]float64, 2)
	p.Problem.GradTheta(mean, p.lambda)
	p.Problem.Features().MulVec(up, p.theta)
	p.Problem.Features().MulVecT(back, p.lambda)
	psi, along, noise, size := floats.Norm(up, 2), none, none, none
	for _, s := range p.Steps {
		half := (s.Sample[0] - s.Sample[1]) / 2 // for two numbers, the mean is also the midrange and a median
		along = along.or(Side{p.dual([]float64{half, -half}), p.K.Tangent * (p.K.Cost + p.K.G), 0})
		p.Problem.Features().Row(sample, s.Pair) // (3.5a) and ∇_θ𝓛 at the given λ, instead of λ_t
		floats.Scale((p.c[s.Pair]-p.lambda[s.Pair])/p.Problem.Features().Sampling()[s.Pair], sample)
		g := p.dual(sample)
		noise = noise.or(Side{p.dual(difference(sample, mean)), p.K.Ce(mixpolicy.Corrected), 0})
		size = size.or(Side{psi*psi/2 + g*g/(2*p.Mu), p.K.B(mixpolicy.Corrected), 0})
	}
	return []Law{
		{"5.6", "D(θ;θ_{t+1}) ≤ D(θ;θ̃_t)", "", p.law("5.6", near)},
		{"5.9", "η⟨ĝ, θ_t−θ̃_t⟩ ≤ ½η²‖ĝ‖⁎² + ½‖θ_t−θ̃_t‖²", "", p.law("5.9", (*path).size)},
		{"5.10", "(μ/2)‖θ_t−θ̃_t‖² ≤ D(θ̃_t;θ_t), ball and cube", "", p.law("5.10", move)},
		{"5.11", "D(θ_t;θ̃_t) ≤ η²‖ĝ‖⁎²/2μ, ball and cube", "", p.law("5.11", move)},
		{"5.12", "η⟨ĝ, θ_t−θ⟩ ≤ D(θ;θ_t) − D(θ;θ_{t+1}) + η²‖ĝ‖⁎²/2μ", "", p.law("5.12", near)},
		{"5.13", "Ση⟨∇_θ𝓛, θ_t−θ⟩ ≤ D(θ;θ₀) − Ση⟨e, θ_t−θ⟩ + Ση²(‖∇_θ𝓛‖⁎² + ‖e‖⁎²)/μ", "", p.law("5.13", whole)},
		{"5.15", "‖λ_{t+1}−λ‖₂ ≤ ‖λ_t + η∇_λ𝓛 − λ‖₂", "", p.law("5.15", exactly)},
		{"5.16", "Ση⟨∇_λ𝓛, λ−λ_t⟩ ≤ ½‖λ‖² + ½Ση²‖∇_λ𝓛‖²", "", p.law("5.16", whole)},
		{"5.18", "Ση(𝓛(θ_t,λ) − 𝓛(θ,λ_t)) ≤ D(θ;θ₀) + ½‖λ‖² − Ση⟨e, θ_t−θ⟩ + Ση²((‖∇_θ𝓛‖⁎² + ‖e‖⁎²)/μ + ½‖∇_λ𝓛‖²)", "", gapSum},
		{"5.21", "the same with ½‖ĝ‖⁎² for ‖∇_θ𝓛‖⁎² + ‖e‖⁎², which is (∗)", "", star},
		{"5.25", "−λᵀΨθ̂ − ‖λ‖²/2S ≤ its value at S[Ψθ̂]₋, scaled into the ball", "",
			Side{p.bracket(p.lambda), p.bracket(top), p.s * floats.Dot(p.short, p.short)}},
		{"5.28", "cᵀΨ(θ̂−θ*) ≤ right side of (5.18) for θ*, λ = 0 over S", "", p.law("5.28", average)},
		{"5.35", "cᵀΨ(θ*−θ̂) ≤ 2R c_max√(nm)‖Ψ‖",
			"the barycentre is feasible, so cᵀΨθ* is at most its cost: R would be enough", Side{-p.gap, 2 * p.trivial, p.far}},
		{"5.36", "V(θ̂) + Ση⟨e, θ_t−θ*⟩/2GS ≤ R c_max√(nm)‖Ψ‖/G + (right side of (∗) for λ = 0)/2GS + G/4S", "",
			Side{p.v + p.noise/ball, p.trivial/p.K.G + p.star/ball + p.K.G/(4*p.s), p.far + p.whole/ball}},
		{"3.33", "2(G−‖λ*‖₂)V(θ̂) + Ση⟨e, θ_t−θ*⟩/S ≤ (right side of (∗) for λ = 0 + ½G²)/S", "", multipliers},
		{"3.30", "min_k ‖ĝ − k1‖⁎ ≤ Tangent·(c_max+G)", "", along},
		{"A.3", "‖e‖⁎ ≤ C_e", "", noise},
		{"3.34a", "½‖∇_λ𝓛‖² + ½‖ĝ‖⁎²/μ ≤ B", "", size},
		{"5.29", "‖Ψθ‖₂ ≤ σ_max max‖θ‖₂", "", Side{psi, p.K.SigmaMax * p.K.Reach, 0}},
		{"5.30", "‖Ψᵀ(c−λ)‖⁎ ≤ (c_max√(nm)+G)‖Ψ‖", "", Side{p.dual(mean), p.K.GradientBound(), 0}},
		{"§2", "‖Ψᵀx‖⁎ ≤ ‖Ψ‖_{⁎,2}‖x‖₂", "", Side{p.dual(back), p.K.PsiNorm * floats.Norm(p.lambda, 2), 0}},
		{"A.2", "|⟨e, θ_t−θ⟩| ≤ 2R‖e‖⁎", "", p.law("A.2", exactly)},
	}
}

// lost returns the Size of a [Side] for D(x;y) if y has the given relative error. Next to a boundary where
// ∇φ is infinite, this error changes D a lot.
func lost(phi bregman.Modulus, x, y []float64, relative float64) float64 {
	at := bregman.Divergence(phi, x, y)
	if math.IsInf(at, 1) {
		return at // no digit is left
	}
	return math.Abs(bregman.Divergence(phi, x, scaled(1-relative, y))-at) / rounding
}

func difference(x, y []float64) []float64 { return floats.SubTo(make([]float64, len(x)), x, y) }

// divergences returns laws for two points of Θ₂ ∩ Θ_R in three dimensions, with the modulus of their
// class: ball, cube or simplex.
func divergences(v []float64) []Law {
	class := classOf(v[0], v[1])
	phi := mixpolicy.DefaultModulus(class)
	centre := []float64{1. / 3, 1. / 3, 1. / 3}
	// point projects 2R times the direction onto the class, and moves the result inside.
	point := func(direction []float64, inside float64) []float64 {
		x := make([]float64, 3)
		mixpolicy.Must(0, class.Norm.Project(x, scaled(2*class.R, direction), class.R))
		return floats.AddScaledTo(x, centre, inside, difference(x, centre))
	}
	x, y := point(v[3:6], 1-0x1p-30), point(v[6:9], 1-v[2])
	move, norm := difference(x, y), class.Norm
	mu, _, _ := bregman.StrongConvexity(phi) // in the class's norm or, for the cube, in ℓ₂, where ‖·‖_∞ ≤ ‖·‖₂
	d := bregman.Divergence(phi, x, y)
	z, projected, pythagoras := scaled(1+v[3]/2, y), make([]float64, 3), Side{} // z is not on Θ₂
	if phi.InDomain(z) {
		mixpolicy.Must(0, bregman.Project(phi, projected, z))
		left, right := bregman.Divergence(phi, projected, z)+bregman.Divergence(phi, x, projected), bregman.Divergence(phi, x, z)
		pythagoras = Side{left, right, right + lost(phi, x, projected, 0x1p-43)} // the projection is right to 13 digits
	}
	return []Law{
		{"5.10", "(μ/2)‖x−y‖² ≤ D(x;y), μ in the norm of the class", "",
			Side{mu / 2 * norm.Of(move) * norm.Of(move), d, 1e-4 * mu * class.R * class.R}},
		{"3.29", "D(x;y) ≤ MaxDivergence from y", "", Side{d, theory.MaxDivergence(phi, class, y), 0}},
		{"5.4", "D(P(z);z) + D(x;P(z)) ≤ D(x;z), P the projection onto Θ₂", "", pythagoras},
	}
}

// exactSums are Ση, Ση² and Ση⁴ of η_t = 1/√(t+1) for T = 0, …, 10⁶.
var exactSums = sync.OnceValue(func() []theory.StepSums {
	all := make([]theory.StepSums, 1_000_001)
	for t, s := range all[:1_000_000] {
		n := float64(t + 1)
		all[t+1] = theory.StepSums{T: t + 1, Sum: s.Sum + 1/math.Sqrt(n), Squares: s.Squares + 1/n, Fourth: s.Fourth + 1/n/n}
	}
	return all
})

// stepSums returns the laws (5.31).
func stepSums(x []float64) []Law {
	s := exactSums()[int(x[0])]
	b := theory.InverseSqrtSums(mixpolicy.Corrected, s.T)
	return []Law{
		{"5.31a", "2(√(T+1) − 1) ≤ Ση", "", Side{b.Sum, s.Sum, 0}},
		{"5.31b", "Ση² ≤ 1 + ln T", "", Side{s.Squares, b.Squares, 0}},
		{"5.31b", "Ση⁴ ≤ 2 − 1/T", "", Side{s.Fourth, b.Fourth, 0}},
	}
}
