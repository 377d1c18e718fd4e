package priorwork

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// RandomizedLP is Wang's randomised primal–dual method for discounted MDPs with a generative model. With rewards
// r = (c_max − c)/(c_max − c_min) ∈ [0, 1], it seeks the saddle point of the full LP's Lagrangian,
//
//	min_v max_ξ (1−γ)αᵀv + Σ ξ_a(s) (r_a(s) + γP_a(s)v − v(s)),
//
// over 0 ⪯ v ⪯ M1 and distributions ξ on pairs. Let ξ(s) = Σ_a ξ_a(s). (The parameters M, θ, β and α′ are given below,
// and α is the initial distribution.) A step draws a state s with probability (1−θ)ξ(s) + θα(s), and then an action a
// with probability π_a(s) = ξ_a(s)/ξ(s). It queries the cost of (s, a) and a next state s′, draws s₀ ~ α, and updates ξ
// and v:
//
//	ξ_a(s) ← ξ_a(s) exp(β (γv(s′) − v(s) + r − M) / Pr(s, a)), normalised
//	v ← Π[v − α′((1−γ)e_{s₀} + γe_{s′} − e_s)]
//
// Here Pr(s, a) is the probability with which a step draws (s, a), and Π is the projection onto 0 ⪯ v ⪯ M1. A step
// takes O(m + log n) operations. The answer is the average of the policies π of all steps. The published method
// requires v ∈ [0, 1/(1−γ)]ⁿ and ξ(s) ≥ θα(s). Its parameters for T steps are
//
//	θ = 1−γ,  M = 1/(1−γ),  β = θ√(ln(nm+1)/(2nmT)),  α′ = βn/(2(1−γ)²).
//
// Our ξ may violate ξ(s) ≥ θα(s). But a step draws each s with a probability of at least θα(s), because of the term
// θα(s) above. If costs have no noise, M = 1/(1−γ) is the least M for which the exponent in the update of ξ is never
// positive. This exponent must not be positive, because the analysis (as for [PiLearning]) uses e^x ≤ 1 + x + x²/2,
// which holds only for x ≤ 0.
//
// After T = Õ(nm/((1−γ)⁶ε²)) steps, the answer is ε-optimal in expectation. In the worst case, every method needs
// Ω(nm/((1−γ)³ε²)) queries for an ε-optimal policy (Azar, Munos and Kappen 2013).
//
// Source: Wang, Mathematics of Operations Research 45(2), 2020 (arXiv 1704.01869). We did not have the text of this
// article; we took θ, M, β and α′ from a public implementation.
//
// Deviations: see [Publications].
type RandomizedLP struct {
	// Steps is T, on which the step sizes depend; required.
	Steps int
	// Rate multiplies the step sizes β and α′; 0 means 1, as published.
	Rate float64
}

// Name implements [mixpolicy.Method].
func (a RandomizedLP) Name() string { return "randomised LP" }

// Start implements [mixpolicy.Method].
func (a RandomizedLP) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	x := p.MDP()
	if x.Criterion().Average() {
		return nil, errors.New("priorwork: the randomised LP is for discounted cost; PiLearning is for average cost")
	}
	rate, err := learningRate(a.Rate, a.Steps)
	if err != nil {
		return nil, err
	}
	gamma, n, nm := x.Gamma(), float64(x.States()), float64(x.Pairs())
	theta := 1 - gamma
	beta := theta * math.Sqrt(math.Log(nm+1)/(2*nm*float64(a.Steps)))
	return newGame(p, o, game{
		alpha: x.Initial(), theta: theta, lo: 0, hi: 1 / (1 - gamma), shift: 1 / (1 - gamma),
		dual: rate * beta, primal: rate * beta * n / (2 * (1 - gamma) * (1 - gamma)),
	})
}

// PiLearning is Wang's primal–dual π-learning for average cost with a generative model. Apart from the values of the
// parameters, PiLearning differs from [RandomizedLP] in three respects: γ = 1; no s₀ is drawn; and a relative value
// function h with −2t1 ⪯ h ⪯ 2t1 replaces v. Here, t is the field MixingTime, whose comment says which t are large
// enough. The analysis assumes that, for some τ ≥ 1, the stationary measure of every policy gives each state a
// probability in [1/(√τ n), √τ/n]. Hence θ = 1/√τ, and α is uniform. The other parameters are
//
//	M = 4t + 1,  β = (1/t)√(ln(nm)/(2nmT)),  α′ = n t²β.
//
// With these parameters, T = Õ((τt)²nm/ε²) steps are enough for an ε-optimal policy. In the worst case, every method
// needs Ω(nm·t/ε²) queries.
//
// Let costs have no noise. Then M = 4t + 1 is the least M for which the exponent in the update of ξ is never positive,
// because h(s′) − h(s) ≤ 4t and r ≤ 1. For this M, the exponent is at least −(8t+1)β/Pr(s, a). Let π* be an optimal
// policy, with the measure ξ* and the relative value function h*. The potential (1−θ)KL(ξ*‖ξ) + (θ/n)Σ_s KL(π*(s)‖π(s))
// starts at ln(nm) or less. Because e^x ≤ 1 + x + x²/2 for x ≤ 0, a step increases the potential in expectation by at
// most ½β²(8t+1)² Σ_{s,a} Pr(s, a)/Pr(s, a) = ½β²(8t+1)²nm, minus β times the contribution of ξ to the gap. (The gap is
// defined below.) The gradient estimate for h satisfies ‖e_{s′} − e_s‖² ≤ 2. So after T steps, the expected gap is at
// most
//
//	ln(nm)/(βT) + ½β(8t+1)²nm + n(2t)²/(2α′T) + α′ .
//
// The sum of the first two terms is least for a β of the order of (1/t)√(ln(nm)/(nmT)). With α′ = nt²β, the third term
// is 2/(βT), which is less than the first term if nm > 7. The fourth term is less than the second term divided by 32m.
//
// The gap is the mean over the steps k of 𝓛(h_k, ξ*) − 𝓛(h*, ξ_k). The only h in this gap that is not an iterate is h*.
// So in the analysis, t only has to be so large that h*, plus a suitable constant, stays between −2t and 2t. This
// condition holds if t bounds the mixing times of all policies. For the queue of section 6, max h* − min h* = 146.2 for
// costs divided by c_max − c_min, so t = 37 is enough. Every bound on the mixing times of all policies of this queue is
// too large to be useful, because one policy, with the service rate 0.8 up to length 66 and 0.2 above this length, has
// a mixing time of at least 1/(4Φ) > 3·10¹³, where Φ is the conductance of the policy's chain.
//
// Source: Wang, arXiv 1710.06100, 2017. We did not have its text.
//
// Deviations: see [Publications].
type PiLearning struct {
	// Steps is T; required.
	Steps int
	// MixingTime is t; required. Let h* be the relative value function of an optimal policy, for costs divided by
	// c_max − c_min. Then max h* − min h* must be at most 4t. This holds if t bounds the mixing times of all policies.
	MixingTime float64
	// Range is τ ≥ 1; required. If τ is too small, the method draws some states more often than the optimal policy
	// visits them, and the answer is biased.
	Range float64
	// Rate multiplies the step sizes β and α′; 0 means 1.
	Rate float64
}

// Name implements [mixpolicy.Method].
func (a PiLearning) Name() string { return "π-learning" }

// Start implements [mixpolicy.Method].
func (a PiLearning) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	x := p.MDP()
	if !x.Criterion().Average() {
		return nil, errors.New("priorwork: π-learning is for average cost; RandomizedLP is for discounted cost")
	}
	rate, e1 := learningRate(a.Rate, a.Steps)
	t, e2 := positive(a.MixingTime, 0, "MixingTime")
	tau, e3 := positive(a.Range, 0, "Range τ")
	if err := errors.Join(e1, e2, e3); err != nil {
		return nil, err
	}
	if tau < 1 {
		return nil, fmt.Errorf("priorwork: Range τ = %v, want at least 1", tau)
	}
	n, nm := float64(x.States()), float64(x.Pairs())
	beta := math.Sqrt(math.Log(nm)/(2*nm*float64(a.Steps))) / t
	return newGame(p, o, game{
		alpha: barycentre(x.States()), theta: 1 / math.Sqrt(tau), lo: -2 * t, hi: 2 * t, shift: 4*t + 1,
		dual: rate * beta, primal: rate * beta * n * t * t,
	})
}

func learningRate(rate float64, steps int) (float64, error) {
	if steps < 1 {
		return 0, fmt.Errorf("priorwork: Steps = %d, want at least 1, because the step sizes depend on Steps", steps)
	}
	return positive(rate, 1, "Rate")
}

// game is a run of [RandomizedLP] or of [PiLearning], which differ only in the parameters of the game.
// The runs of [BoxMirror] and [OfflinePrimalDual] use parts of a game.
type game struct {
	policyOnly
	alpha         []float64 // the distribution of s₀ and, with probability θ, of s
	theta, shift  float64   // θ, M
	lo, hi        float64   // the bounds of v
	dual, primal  float64   // β, α′
	x             *mixpolicy.MDP
	oracle        *mixpolicy.Oracle
	start         *alias.Table // draws from α
	least, spread float64      // c_min, c_max − c_min

	t    int
	v    []float64
	xi   *sumTree  // ξ, not normalised
	sum  []float64 // Σ π over the steps up to the last change of π(s)
	last []int     // last[s] is the step of the last change of π(s)
}

// newGame starts a game with the parameters of set.
func newGame(p *mixpolicy.Problem, o *mixpolicy.Oracle, set game) (_ *game, err error) {
	g := &set
	g.x, g.oracle = p.MDP(), o
	if g.start, err = alias.New(g.alpha); err != nil {
		return nil, fault.At("priorwork", "initial distribution", err)
	}
	g.least, _ = g.x.CostRange()
	g.spread = balance(p) // 1 if all costs are equal
	g.v = make([]float64, g.x.States())
	g.xi = newSumTree(barycentre(g.x.Pairs()))
	g.sum, g.last = make([]float64, g.x.Pairs()), make([]int, g.x.States())
	return g, nil
}

// row returns ξ(s, ·), not normalised, borrowed.
func (g *game) row(s int) []float64 {
	from, m := g.xi.leaves+s*g.x.Actions(), g.x.Actions()
	return g.xi.node[from : from+m]
}

// Step implements [mixpolicy.Run].
func (g *game) Step() error {
	rng, m := g.oracle.Rand(), g.x.Actions()
	var pair int
	if uniform(rng) < g.theta {
		s := g.start.Draw(rng)
		pair = s*m + drawRow(rng, g.row(s))
	} else {
		pair = g.xi.draw(rng)
	}
	s := pair / m
	row := g.row(s)
	inState := sumOf(row)
	// Pr(s, a) = ((1−θ)ξ(s) + θα(s)) π_a(s)
	probability := ((1-g.theta)*inState/g.xi.total() + g.theta*g.alpha[s]) * g.xi.weight(pair) / inState

	cost, next := g.oracle.Query(s, pair%m)
	reward := 1 - (cost-g.least)/g.spread
	advantage := g.x.Gamma()*g.v[next] - g.v[s] + reward - g.shift // ≤ 0 if costs have no noise

	g.record(s)
	// A pair whose weight is below 2⁻⁴⁰⁰ times the weight of its state is, in practice, never drawn again. But every
	// weight must stay positive, because otherwise all weights of a state could become 0.
	weight := g.xi.weight(pair) * math.Exp(g.dual*advantage/probability)
	g.xi.set(pair, max(weight, 0x1p-400*inState, 0x1p-900))
	if g.xi.total() < 0x1p-400 {
		g.xi.scale(0x1p400)
	}

	g.move(s, next)
	return nil
}

// move makes the step of v for a transition from s to next, and counts the step.
func (g *game) move(s, next int) {
	moved, gamma := [3]int{s, next, next}, g.x.Gamma()
	if gamma < 1 {
		moved[2] = g.start.Draw(g.oracle.Rand())
		g.v[moved[2]] -= g.primal * (1 - gamma)
	}
	g.v[next] -= g.primal * gamma
	g.v[s] += g.primal
	for _, k := range moved { // project only after all moves, because a state may occur twice
		g.v[k] = min(max(g.v[k], g.lo), g.hi)
	}
	g.t++
}

// record adds π(s) to g.sum once for each step since π(s) last changed, including the present step.
func (g *game) record(s int) {
	row := g.row(s)
	f := float64(g.t+1-g.last[s]) / sumOf(row)
	for a, w := range row {
		g.sum[s*len(row)+a] += f * w
	}
	g.last[s] = g.t + 1
}

// Policy implements [mixpolicy.PolicyRun]: it returns the average of the policies π.
func (g *game) Policy(context.Context) (*mixpolicy.Policy, error) {
	total := append([]float64(nil), g.sum...)
	for s := range g.v {
		row := g.row(s)
		f := (float64(g.t-g.last[s]) + 0x1p-20) / sumOf(row) // because of 2⁻²⁰, the answer before the first step is π
		for a, w := range row {
			total[s*len(row)+a] = max(0, total[s*len(row)+a]+f*w)
		}
	}
	return mixpolicy.PolicyOf(g.x, total)
}

// BoxMirror is Jin and Sidford's stochastic mirror descent for the saddle point of [RandomizedLP] or, under average
// cost, of [PiLearning]. The values v are in the box |v| ≤ 2M, and the measure μ is in the simplex. M is 1/(1−γ) under
// discounted cost, and t (the field MixingTime) under average cost. Apart from a guard against rounding, the method
// sets no lower bound on the entries of μ, so it needs no knowledge of the stationary measures. Each of the two
// gradient estimates comes from a query of its own, and is computed at the v and μ before the step:
//
//	(s, a) ~ μ, then s′, and s₀ ~ α:   v ← Π[v − η_v((1−γ)e_{s₀} + γe_{s′} − e_s)]
//	(s, a) uniform, then s′:           μ_a(s) ← μ_a(s) exp(η_μ nm (r + γv(s′) − v(s))), normalised
//
// Π is the projection onto the box. A step takes O(log nm) operations. The answer is the policy of the average μ. The
// box |v| ≤ M already contains v*. The method uses a box that is twice as wide. Because of the greater width, a small
// gap implies a good policy. The estimate g of the v-gradient satisfies ‖g‖² ≤ 2, and the estimate g′ of the μ-gradient
// satisfies Σμg′² ≤ nm(4M+1)² in expectation. The analysis uses e^x ≤ 1 + x + x², which holds for x ≤ 1. For the step
// sizes below, the exponents in the update of μ are at most 1 if T ≥ nm ln(nm). Let v̄ and μ̄ be the averages after T
// steps, for such a T. Then for every fixed v with |v| ≤ 2M and μ in the simplex, the gap 𝓛(v̄, μ) − 𝓛(v, μ̄) has an
// expectation of at most
//
//	2nM²/(η_vT) + η_v + ln(nm)/(η_μT) + η_μ nm(4M+1)².
//
// This bound is least for
//
//	η_v = M√(2n/T),   η_μ = √(ln(nm)/(nm T))/(4M + 1).
//
// So T = Õ(nm M²/ε²) steps are enough for an expected gap of ε. Under discounted cost, a gap of (1−γ)ε is enough for an
// ε-optimal policy, so Õ(nm/((1−γ)⁴ε²)) steps are enough.
//
// Source: Jin and Sidford, ICML 2020 (arXiv 2008.12776). We had only its abstract.
//
// Deviations: see [Publications].
type BoxMirror struct {
	// Steps is T, on which the step sizes depend; required.
	Steps int
	// MixingTime is t; required under average cost. It must be so large that h*, plus a suitable constant, stays
	// between −t and t. Here, h* is the relative value function of an optimal policy, for costs divided by
	// c_max − c_min.
	MixingTime float64
	// Rate multiplies the step sizes η_v and η_μ; 0 means 1.
	Rate float64
}

// Name implements [mixpolicy.Method].
func (a BoxMirror) Name() string { return "mirror descent in a box and a simplex" }

// Start implements [mixpolicy.Method].
func (a BoxMirror) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	x := p.MDP()
	rate, e1 := learningRate(a.Rate, a.Steps)
	reach, e2 := horizon(x, a.MixingTime)
	if err := errors.Join(e1, e2); err != nil {
		return nil, err
	}
	start := x.Initial()
	if x.Criterion().Average() {
		start = barycentre(x.States())
	}
	n, nm, steps := float64(x.States()), float64(x.Pairs()), float64(a.Steps)
	g, err := newGame(p, o, game{alpha: start, lo: -2 * reach, hi: 2 * reach, primal: rate * reach * math.Sqrt(2*n/steps),
		dual: rate * math.Sqrt(math.Log(nm)*nm/steps) / (4*reach + 1)})
	return &boxMirror{game: g, since: make([]float64, x.Pairs())}, err
}

// horizon returns 1/(1−γ), or t under average cost.
func horizon(x *mixpolicy.MDP, mixingTime float64) (float64, error) {
	if x.Criterion().Average() {
		return positive(mixingTime, 0, "MixingTime")
	}
	return 1 / (1 - x.Gamma()), nil
}

// boxMirror keeps in sum[k] the sum Σμ of pair k up to the last change of the pair's weight w. Each step adds w/total
// to Σμ. So between two changes of w, Σμ grows by w times the growth of inverse.
type boxMirror struct {
	*game
	inverse float64   // Σ 1/total over the steps since Step last scaled all weights
	since   []float64 // since[k] is the value of inverse at the last change of the weight of pair k, scaling included
}

// Step implements [mixpolicy.Run].
func (g *boxMirror) Step() error {
	from, m := g.xi.draw(g.oracle.Rand()), g.x.Actions()
	_, next := g.oracle.Query(from/m, from%m)
	pair := int(uniform(g.oracle.Rand()) * float64(g.x.Pairs()))
	cost, to := g.oracle.Query(pair/m, pair%m)
	if total := g.xi.total(); !(0x1p-400 < total && total < 0x1p400) {
		for k := range g.since {
			g.sum[k], g.since[k] = g.measure(k), 0
		}
		g.inverse = 0
		g.xi.scale(math.Ldexp(1, -math.Ilogb(total)))
	}
	g.inverse += 1 / g.xi.total()
	g.sum[pair], g.since[pair] = g.measure(pair), g.inverse
	grown := g.xi.weight(pair) * math.Exp(g.dual*(1-(cost-g.least)/g.spread+g.x.Gamma()*g.v[to]-g.v[pair/m]))
	g.xi.set(pair, max(grown, 0x1p-400*g.xi.total())) // not 0, so that the pair can be drawn again
	g.move(from/m, next)
	return nil
}

// measure returns Σμ of pair k, over the steps done.
func (g *boxMirror) measure(k int) float64 { return g.sum[k] + g.xi.weight(k)*(g.inverse-g.since[k]) }

// Policy implements [mixpolicy.PolicyRun]: it returns the policy of the average μ.
func (g *boxMirror) Policy(context.Context) (*mixpolicy.Policy, error) {
	total := make([]float64, len(g.since))
	for k := range total {
		// Because of 2⁻²⁰, the answer before the first step is the policy of μ.
		total[k] = g.measure(k) + 0x1p-20*g.xi.weight(k)/g.xi.total()
	}
	return mixpolicy.PolicyOf(g.x, total)
}

func sumOf(x []float64) float64 {
	var total float64
	for _, v := range x {
		total += v
	}
	return total
}

// sumTree draws from a distribution whose entries change one at a time. It is a complete binary tree whose inner nodes
// hold the sums of their children. For k entries, drawing and setting take ⌈log₂ k⌉ steps. Sums are recomputed from
// the leaf to the root, without subtractions, so each has a relative error of at most ⌈log₂ k⌉·2⁻⁵³, however small it
// becomes.
type sumTree struct {
	leaves int
	node   []float64 // node 1 is the root; children of i are 2i and 2i+1
}

func newSumTree(weights []float64) *sumTree {
	t := &sumTree{leaves: 1}
	for t.leaves < len(weights) {
		t.leaves *= 2
	}
	t.node = make([]float64, 2*t.leaves)
	copy(t.node[t.leaves:], weights)
	for i := t.leaves - 1; i > 0; i-- {
		t.node[i] = t.node[2*i] + t.node[2*i+1]
	}
	return t
}

func (t *sumTree) total() float64       { return t.node[1] }
func (t *sumTree) weight(k int) float64 { return t.node[t.leaves+k] }

func (t *sumTree) set(k int, w float64) {
	i := t.leaves + k
	t.node[i] = w
	for i >>= 1; i > 0; i >>= 1 {
		t.node[i] = t.node[2*i] + t.node[2*i+1]
	}
}

// draw returns k with probability weight(k)/total().
func (t *sumTree) draw(rng *rand.PCG) int {
	i := 1
	for x := uniform(rng) * t.node[1]; i < t.leaves; {
		i *= 2
		// Because of rounding, x ≥ left is possible although the right branch is empty.
		if left := t.node[i]; x >= left && t.node[i+1] > 0 {
			x -= left
			i++
		}
	}
	return i - t.leaves
}

// scale multiplies every weight by a power of two, which is exact except for underflow.
func (t *sumTree) scale(f float64) {
	for i := range t.node {
		t.node[i] *= f
	}
}

// uniform returns a number in [0, 1).
func uniform(rng *rand.PCG) float64 { return float64(rng.Uint64()>>11) * 0x1p-53 }

// drawRow returns k with probability proportional to row[k].
func drawRow(rng *rand.PCG, row []float64) int {
	total := sumOf(row)
	if !(total > 0) || math.IsInf(total, 1) {
		panic(fmt.Sprintf("priorwork: drawing from weights %v, want a finite positive sum", row))
	}
	x := uniform(rng) * total
	last := 0
	for k, w := range row {
		if w == 0 {
			continue
		}
		if last = k; x < w {
			break
		}
		x -= w
	}
	return last
}
