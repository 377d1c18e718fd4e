package priorwork

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// ConstraintSampling is the approximate LP (4.7), (4.8) of de Farias and Van Roy (2004), with sampled constraints. A
// step draws a pair (s, a) ~ η and queries its cost. The answer is the greedy policy for Φν̂, where ν̂ solves the
// program ([ALP]) with the constraints of the pairs drawn so far.
//
// The published η is the distribution that [Lyapunov.Sampling] returns for the optimal policy's measure. This measure
// is unknown before the problem is solved. In the authors' experiment of 2003, the state is the length x of a queue.
// The program of this experiment has all constraints, the state-relevance weights (1−ξ)ξˣ with ξ = 0.9 or 0.999, and
// the basis 1, x, x², x³. (We know the experiment from a secondary source.)
//
// Source: de Farias and Van Roy, Mathematics of Operations Research 29(3), 2004.
//
// Deviations: see [Publications].
type ConstraintSampling struct {
	Basis    *mat.Dense // Φ
	Weights  []float64  // α; nil means the MDP's initial distribution
	Sampling []float64  // η, a distribution over pairs; nil means (4.4) with u = 1 and with the μ that [Visits] returns
	Bound    float64    // B in Γ, as in ALP.Bound
}

// Name implements [mixpolicy.Method].
func (a ConstraintSampling) Name() string { return "ALP, sampled constraints" }

// constraintSampling is a run of [ConstraintSampling].
type constraintSampling struct {
	policyOnly
	ConstraintSampling // with Sampling filled in
	p                  *mixpolicy.Problem
	oracle             *mixpolicy.Oracle
	table              *alias.Table
	known              map[int]bool
	pairs              []int
	cost               []float64
}

// Start implements [mixpolicy.Method].
func (a ConstraintSampling) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	x := p.MDP()
	if err := checkBasis(x, a.Basis); err != nil {
		return nil, err
	}
	if a.Sampling == nil {
		a.Sampling = make([]float64, x.Pairs())
		mu := Visits(p)
		for i := range a.Sampling {
			a.Sampling[i] = mu[i/x.Actions()] / float64(x.Actions())
		}
	}
	if len(a.Sampling) != x.Pairs() {
		return nil, fmt.Errorf("priorwork: sampling distribution of constraints has %d entries, want one per pair: %d",
			len(a.Sampling), x.Pairs())
	}
	table, err := alias.New(a.Sampling)
	if err != nil {
		return nil, fault.At("priorwork", "sampling distribution of constraints", err)
	}
	return &constraintSampling{ConstraintSampling: a, p: p, oracle: o, table: table, known: make(map[int]bool)}, nil
}

// Step implements [mixpolicy.Run].
func (a *constraintSampling) Step() error {
	pair, m := a.table.Draw(a.oracle.Rand()), a.p.MDP().Actions()
	cost, _ := a.oracle.Query(pair/m, pair%m)
	if !a.known[pair] {
		a.known[pair] = true
		a.pairs, a.cost = append(a.pairs, pair), append(a.cost, cost)
	}
	return nil
}

// Policy implements [mixpolicy.PolicyRun].
func (a *constraintSampling) Policy(ctx context.Context) (*mixpolicy.Policy, error) {
	return policyOf(a.solve(ctx))
}

// solve solves the program with the constraints drawn so far.
func (a *constraintSampling) solve(ctx context.Context) (*Approximation, error) {
	return ALP{Basis: a.Basis, Weights: a.Weights, Bound: a.Bound}.solve(ctx, a.p.MDP(), a.pairs, a.cost)
}

// Solve draws pairs with the random numbers of PCG(seed, 0), and solves the program with the constraints of the drawn
// pairs. The parameter constraints, the number of draws, must be at least 1.
func (a ConstraintSampling) Solve(ctx context.Context, p *mixpolicy.Problem, constraints int, seed uint64) (*Approximation, error) {
	r, err := mixpolicy.Solve(ctx, p, a, mixpolicy.Settings{Iterations: constraints, Seed: seed, Uncertified: true})
	if err != nil {
		return nil, err
	}
	return r.Run.(*constraintSampling).solve(ctx)
}

// LyapunovFactor returns
//
//	β_u = γ max_{s,a} Σ_{s′} P_a(s,s′) u(s′) / u(s)
//
// for a function u ≻ 0 on the states; u is a Lyapunov function if β_u < 1. (The paper prints Σ_s instead of Σ_{s′}, and
// u(s) instead of u(s′).) For the constant u = 1, β_u = γ. LyapunovFactor returns an error under average cost, or if u
// does not have one finite positive entry for each state.
func LyapunovFactor(x *mixpolicy.MDP, u []float64) (float64, error) {
	if x.Criterion().Average() {
		return 0, fmt.Errorf("priorwork: Lyapunov function under average cost, want a discount factor")
	}
	if len(u) != x.States() {
		return 0, fmt.Errorf("priorwork: Lyapunov function of %d entries, want one per state: %d", len(u), x.States())
	}
	for s, v := range u {
		if !(v > 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf("priorwork: Lyapunov function is %v in state %s, want a finite number > 0", v, x.StateName(s))
		}
	}
	var beta float64
	for s := range u {
		for a := range x.Actions() {
			to, prob := x.Next(s, a)
			var e float64
			for k, s2 := range to {
				e += prob[k] * u[s2]
			}
			beta = max(beta, x.Gamma()*e/u[s])
		}
	}
	return beta, nil
}

// BestFit returns min_ν ‖v − Φν‖_{∞,1/u} = min_ν max_s |v(s) − (Φν)(s)|/u(s) for a u ≻ 0, and a ν that attains this
// minimum. BestFit solves the linear program min ε subject to |v − Φν| ⪯ εu. It panics unless v and u have one entry
// for each row of Φ.
func BestFit(ctx context.Context, phi *mat.Dense, v, u []float64) (distance float64, nu []float64, err error) {
	n, d := phi.Dims()
	if len(v) != n || len(u) != n {
		panic(fmt.Sprintf("priorwork: BestFit: v has %d entries, u has %d and Φ has %d rows, want equal numbers", len(v), len(u), n))
	}
	// (Φν)(s)/u(s) − ε ≤ v(s)/u(s) and −(Φν)(s)/u(s) − ε ≤ −v(s)/u(s), for x = (ε, ν).
	c := constraints{columns: zeroVectors(d+1, 2*n), rhs: make([]float64, 2*n)}
	for s := range n {
		c.columns[0][2*s], c.columns[0][2*s+1] = -1, -1
		for j := range d {
			w := phi.At(s, j) / u[s]
			c.columns[j+1][2*s], c.columns[j+1][2*s+1] = w, -w
		}
		c.rhs[2*s], c.rhs[2*s+1] = v[s]/u[s], -v[s]/u[s]
	}
	b := make([]float64, d+1)
	b[0] = -1
	var x []float64
	k, err := whiten(ctx, c)
	if err == nil {
		x, _, err = k.maximise(ctx, b, c)
	}
	if err != nil {
		return 0, nil, fault.At("priorwork", "best fit", err)
	}
	return x[0], x[1:], nil
}

// Lyapunov holds a Lyapunov function u and its factor β_u. The methods of this type compute quantities that theorems
// derive from u. ALPBound, Sampling and Zeta belong to theorems of de Farias and Van Roy, and SALPBound belongs to a
// theorem of Desai, Farias and Moallemi.
type Lyapunov struct {
	U    []float64 // u, one entry per state
	Beta float64   // β_u < 1
}

// NewLyapunov computes β_u. It returns the errors of [LyapunovFactor], and an error if β_u ≥ 1.
func NewLyapunov(x *mixpolicy.MDP, u []float64) (*Lyapunov, error) {
	beta, err := LyapunovFactor(x, u)
	if err != nil {
		return nil, err
	}
	if beta >= 1 {
		return nil, fmt.Errorf("priorwork: Lyapunov factor β_u = %v, want less than 1", beta)
	}
	return &Lyapunov{u, beta}, nil
}

// ALPBound returns the right side of (4.3) for u, which must be in the span of Φ:
//
//	E_α|v* − Φν*| ≤ 2αᵀu/(1−β_u) · min_ν ‖v* − Φν‖_{∞,1/u}.
//
// Here ν* is a solution of the [ALP] that has the weights α, all constraints and no Bound. The bound is Theorem 3 of de
// Farias and Van Roy (2003). The parameter distance is min_ν ‖v* − Φν‖_{∞,1/u}, which [BestFit] computes. (The paper
// prints (Ψu)(s) instead of u(s).)
func (l *Lyapunov) ALPBound(alpha []float64, distance float64) float64 {
	return 2 * sum.Dot(alpha, l.U) / (1 - l.Beta) * distance
}

// SALPBound returns the right side of (4.13) for u ⪰ 1, which need not be in the span of Φ:
//
//	E_α|v* − Φν*| ≤ min_ν ‖v* − Φν‖_{∞,1/u} · (αᵀu + 2 μᵀu (1+β_u)/(1−γ)).
//
// The bound is Theorem 2 of Desai, Farias and Moallemi (2012). It holds for a solution ν* of the smoothed program
// ([SALP]) with the weights α, the penalty [PublishedPenalty] and the slack weights μ = μ^{π*}_α, the measure of the
// optimal policy. The parameter distance is min_ν ‖v* − Φν‖_{∞,1/u}, which [BestFit] computes. (The paper prints u ⪯ 1
// instead of u ⪰ 1.)
func (l *Lyapunov) SALPBound(alpha, mu []float64, gamma, distance float64) float64 {
	return distance * (sum.Dot(alpha, l.U) + 2*sum.Dot(mu, l.U)*(1+l.Beta)/(1-gamma))
}

// Sampling returns the distribution (4.4) over pairs, from which constraints are sampled:
//
//	η(s,a) = μ(s)u(s) / (m μᵀu).
//
// The guarantee (4.9) holds for μ = μ^{π*}_α, the measure of the optimal policy, which is known only once the problem
// is solved. Practical choices of μ are the measure of a known policy, or geometric weights; these choices have no
// guarantee.
func (l *Lyapunov) Sampling(x *mixpolicy.MDP, mu []float64) ([]float64, error) {
	if _, err := stateWeights(x, mu, nil, "sampling weights of states"); err != nil {
		return nil, err
	}
	m := x.Actions()
	eta := make([]float64, x.Pairs())
	for i := range eta {
		eta[i] = mu[i/m] * l.U[i/m]
	}
	floats.Scale(1/sum.Of(eta), eta)
	return eta, nil
}

// Zeta returns ζ of (4.5),
//
//	ζ = (1+β_u)/2 · μᵀu/(αᵀv*) · sup_{ν∈Γ} ‖v* − Φν‖_{∞,1/u}.
//
// The parameter optimal is v*, and spread is the supremum over ν. The value αᵀv* must be positive; it is positive if
// all costs are positive.
func (l *Lyapunov) Zeta(alpha, mu, optimal []float64, spread float64) float64 {
	return (1 + l.Beta) / 2 * sum.Dot(mu, l.U) / sum.Dot(alpha, optimal) * spread
}

// sampleSize returns a number of sampled constraints that is enough for d variables: with probability at least 1−δ, for
// every point that satisfies the sampled constraints, the constraints that the point violates have a total probability
// of at most ε under the sampling distribution. The number is
//
//	n₀ = (4/ε)(d ln(12/ε) + ln(2/δ))
//
// (de Farias and Van Roy 2004, Theorem 1).
func sampleSize(d int, epsilon, delta float64) float64 {
	if d < 1 || !(epsilon > 0 && epsilon < 1 && delta > 0 && delta < 1) {
		panic(fmt.Sprintf("priorwork: sample size for d = %d, ε = %v, δ = %v, want d ≥ 1, and ε and δ in (0, 1)", d, epsilon, delta))
	}
	return 4 / epsilon * (float64(d)*math.Log(12/epsilon) + math.Log(2/delta))
}

// CostSampleSize returns (4.6),
//
//	n₀ = 16mζ/((1−γ)ε) · (d ln(48mζ/((1−γ)ε)) + ln(2/δ)).
//
// If at least n₀ constraints are sampled from (4.4), the inequality
//
//	E_α|v* − Φν̂| ≤ E_α|v* − Φν*| + ε E_α v*                                 (4.9)
//
// holds with probability at least 1−δ, by Theorem 2 of de Farias and Van Roy (2004). Here, ν̂ solves the program with
// the sampled constraints, and ν* solves the program with all constraints. (In (4.6), the paper prints ln(2/δ) outside
// the product.) By Theorem 1 of the same article, with probability at least 1−δ, the constraints that Φν̂ violates have
// a total probability of at most (1−γ)ε/(4mζ) under (4.4). If this bound is 1 or more, no constraint is needed, and
// CostSampleSize returns 0. Otherwise, CostSampleSize panics unless this bound is positive, d ≥ 1 and 0 < δ < 1.
func CostSampleSize(d, m int, zeta, gamma, epsilon, delta float64) float64 {
	measure := (1 - gamma) * epsilon / (4 * float64(m) * zeta)
	if measure >= 1 {
		return 0
	}
	return sampleSize(d, measure, delta)
}
