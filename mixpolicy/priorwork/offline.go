package priorwork

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// OfflinePrimalDual learns from a log of transitions (s, a, c, s′) with (s, a) ~ q, and does not know P, Ψ or q. It is
// the method of Gabbianelli, Neu, Papini and Okolo for linear MDPs, with the indicators of the pairs as features. An
// occupation measure is written as ξ = q∘β, an entrywise product. So, apart from the term with the initial distribution
// α, all gradients are expectations under q. The transitions of the log estimate these expectations, and q itself is
// not needed. Let r be the rewards of [RandomizedLP], and v(s) = Σ_a π_a(s)θ_a(s). The method seeks the saddle point of
//
//	max_β min_{θ,ρ}  (1−γ)αᵀv + ρ + E_{(s,a)~q} β_a(s) (r_a(s) − ρ + γP_a(s)v − θ_a(s))
//
// over 0 ⪯ β ⪯ C and |θ| ⪯ H, and improves the policy π at the same time. Under discounting, H = 1/(1−γ) and ρ = 0.
// Under average cost, H = t (the field MixingTime), and 0 ≤ ρ ≤ 1. The method makes T rounds of two stages. In the
// first stage, K transitions move θ and, under average cost, ρ:
//
//	θ ← Π[θ + η(β_a(s)e_{(s,a)} − γβ_a(s)e_{s′}∘π − (1−γ)e_{s₀}∘π)],   s₀ ~ α,   ρ ← Π[ρ − (η/2H√(nm))(1 − β_a(s))].
//
// In the second stage, one more transition moves β and π:
//
//	β_a(s) ← Π[β_a(s) + ζ(r − ρ + γv̄(s′) − θ̄_a(s))],   π_a(s) ∝ exp(α′ Σ θ̄_a(s)).
//
// Here Π is the projection onto the bounds above, e_s∘π has the entries π_a(s) at the pairs (s, a) and 0 elsewhere, θ̄
// is the mean of the K iterates of θ, v̄ is the v that belongs to θ̄, and the sum Σ is over the rounds so far. The
// answer is one of the T policies, drawn uniformly. A step uses one transition. A step that moves θ takes O(m)
// operations, and a step that moves β takes O(nm). The step sizes η, ζ and α′ minimise bounds on the regret of θ, β and
// π, respectively:
//
//	η = 2H√(nm/K)/(1 + 2C),   ζ = C√(nm/T)/(2H + 1),   α′ = √(2 ln m/T)/H.
//
// The source shows that O(ε⁻⁴) transitions are enough for an ε-optimal policy.
//
// Source: Gabbianelli, Neu, Papini and Okolo, AISTATS 2024 (arXiv 2305.12944). We had only its abstract.
//
// Deviations: see [Publications].
type OfflinePrimalDual struct {
	Steps int // T(K+1), the length of the log; required
	Inner int // K; 0 means ⌊√Steps⌋
	// Coverage is C; required. At every pair, the measure of an optimal policy must be at most C times q.
	Coverage float64
	// MixingTime is t; required under average cost. A t that is enough for [BoxMirror], plus 1, is enough here.
	MixingTime float64
	// Rate multiplies the step size α′; 0 means 1.
	Rate float64
}

// Name implements [mixpolicy.Method].
func (a OfflinePrimalDual) Name() string { return "offline primal–dual" }

// offline is a run of [OfflinePrimalDual]. In its game, hi is H, primal and dual are η and ζ, and t counts the
// policies so far.
type offline struct {
	*game
	rate, cover, rho, slow float64   // α′, C, ρ and the step size of ρ
	inner, k               int       // K, and the number of transitions since β moved
	beta, theta, mean, pi  []float64 // β, θ, a mean that equals θ̄ once k = K, and scratch for π(s)
	logit, chosen          []float64 // α′ Σ θ̄ of the present policy, and of the answer
}

// Start implements [mixpolicy.Method].
func (a OfflinePrimalDual) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	x := p.MDP()
	rate, e1 := learningRate(a.Rate, a.Steps)
	inner, e2 := positive(float64(a.Inner), math.Floor(math.Sqrt(float64(a.Steps))), "Inner K")
	cover, e3 := positive(a.Coverage, 0, "Coverage C")
	reach, e4 := horizon(x, a.MixingTime)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return nil, err
	}
	rounds, m, nm, v := max(1, float64(a.Steps)/(inner+1)), x.Actions(), float64(x.Pairs()), zeroVectors(4, x.Pairs())
	slow := 1 / math.Sqrt(inner) / (1 + 2*cover)
	g, err := newGame(p, o, game{alpha: x.Initial(), hi: reach, primal: 2 * reach * math.Sqrt(nm) * slow,
		dual: cover * math.Sqrt(nm/rounds) / (2*reach + 1)})
	return &offline{game: g, rate: rate * math.Sqrt(2*math.Log(float64(m))/rounds) / reach, cover: cover, slow: slow, inner: int(inner),
		beta: slices.Repeat([]float64{1}, x.Pairs()), theta: v[0], mean: v[1], logit: v[2], chosen: v[3], pi: make([]float64, m)}, err
}

// Step implements [mixpolicy.Run].
func (a *offline) Step() error {
	pair, cost, next := a.oracle.Transition()
	gamma, w, m := a.x.Gamma(), a.beta[pair], len(a.pi)
	if a.k < a.inner {
		a.move(pair, w)
		a.lower(next, gamma*w)
		a.lower(a.start.Draw(a.oracle.Rand()), 1-gamma)
		if gamma == 1 {
			a.rho = min(max(0, a.rho-a.slow*(1-w)), 1)
		}
		a.k++
		return nil
	}
	ahead := gamma*floats.Dot(a.policy(next), a.mean[next*m:(next+1)*m]) - a.rho - a.mean[pair]
	a.beta[pair] = min(max(0, w+a.dual*(1-(cost-a.least)/a.spread+ahead)), a.cover)
	if a.t++; uniform(a.oracle.Rand())*float64(a.t) < 1 { // so each of the t policies is chosen with probability 1/t
		copy(a.chosen, a.logit)
	}
	floats.AddScaled(a.logit, a.rate, a.mean)
	copy(a.mean, a.theta)
	a.k = 0
	return nil
}

// policy returns π(s), borrowed.
func (a *offline) policy(s int) []float64 {
	softmax(a.pi, a.logit[s*len(a.pi):(s+1)*len(a.pi)], math.Inf(-1))
	return a.pi
}

// lower uses move to subtract ηwπ(s) from θ(s).
func (a *offline) lower(s int, w float64) {
	for b, v := range a.policy(s) {
		a.move(s*len(a.pi)+b, -w*v)
	}
}

// move adds η·by to entry i of θ, projects this entry, and adds the effect of its change to the mean of the K iterates.
func (a *offline) move(i int, by float64) {
	before := a.theta[i]
	a.theta[i] = min(max(before+a.primal*by, -a.hi), a.hi)
	a.mean[i] += (a.theta[i] - before) * float64(a.inner-a.k) / float64(a.inner)
}

// Policy implements [mixpolicy.PolicyRun].
func (a *offline) Policy(context.Context) (*mixpolicy.Policy, error) {
	return mixpolicy.PolicyFunc(a.x, func(s int, row []float64) { softmax(row, a.chosen[s*len(row):(s+1)*len(row)], math.Inf(-1)) })
}
