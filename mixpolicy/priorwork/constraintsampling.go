package priorwork

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
)

var (
	_ mixpolicy.Method    = ConstraintSampling{}
	_ mixpolicy.PolicyRun = (*constraintSampling)(nil)
)

// ConstraintSampling is the approximate LP over sampled constraints (4.7), (4.8), of de Farias
// and Van Roy (2004): a step draws a pair (s, a) ~ η and asks for its cost, and the
// answer is the policy that is greedy for the Φν̂ of the program over the pairs drawn so
// far ([ALP]).
//
// As published η is [Lyapunov.Sampling] with the optimal policy's measure, which is not
// known. In their experiment with a queue (2003) the program has all constraints, with
// state-relevance weights (1−ξ)ξˣ, ξ = 0.9 or 0.999, and basis 1, x, x², x³.
type ConstraintSampling struct {
	Basis    *mat.Dense // Φ
	Weights  []float64  // α; nil is the MDP's initial distribution
	Sampling []float64  // η over pairs; nil is the oracle's, (1/d) Σ ψⁱ
	Bound    float64    // of Γ; see ALP
}

// Name implements [mixpolicy.Method].
func (a ConstraintSampling) Name() string { return "ALP, sampled constraints" }

// constraintSampling is a run of [ConstraintSampling].
type constraintSampling struct {
	ConstraintSampling
	p      *mixpolicy.Problem
	oracle *mixpolicy.Oracle
	table  *alias.Table
	t      int
	known  map[int]bool
	pairs  []int
	cost   []float64
}

// Start implements [mixpolicy.Method].
func (a ConstraintSampling) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	r := &constraintSampling{ConstraintSampling: a, p: p, oracle: o, known: make(map[int]bool)}
	if err := checkBasis(p.MDP(), a.Basis); err != nil {
		return nil, err
	}
	if a.Sampling == nil {
		return r, nil
	}
	if len(a.Sampling) != p.MDP().Pairs() {
		return nil, fmt.Errorf("priorwork: sampling distribution of constraints has %d entries, want one per pair: %d", len(a.Sampling), p.MDP().Pairs())
	}
	var err error
	if r.table, err = alias.New(a.Sampling); err != nil {
		return nil, fmt.Errorf("priorwork: sampling distribution of constraints: %w", err)
	}
	return r, nil
}

// Step implements [mixpolicy.Run].
func (a *constraintSampling) Step() error {
	var pair int
	var cost float64
	if a.table == nil {
		pair, cost = a.oracle.Sample()
	} else {
		pair = a.table.Draw(a.oracle.Rand())
		m := a.p.MDP().Actions()
		cost, _ = a.oracle.Query(pair/m, pair%m)
	}
	if !a.known[pair] {
		a.known[pair] = true
		a.pairs, a.cost = append(a.pairs, pair), append(a.cost, cost)
	}
	a.t++
	return nil
}

// View implements [mixpolicy.Run].
func (a *constraintSampling) View(s *mixpolicy.Snapshot) error {
	*s = mixpolicy.Snapshot{Iteration: a.t, Queries: a.oracle.Queries()}
	return nil
}

// Policy implements [mixpolicy.PolicyRun].
func (a *constraintSampling) Policy(ctx context.Context) (*mixpolicy.Policy, error) {
	v, err := a.solve(ctx)
	if err != nil {
		return nil, err
	}
	return v.Policy, nil
}

// solve returns the approximation over the constraints drawn so far.
func (a *constraintSampling) solve(ctx context.Context) (*Approximation, error) {
	return ALP{Basis: a.Basis, Weights: a.Weights, Bound: a.Bound}.solve(ctx, a.p.MDP(), a.pairs, a.cost)
}

// Solve draws that many constraints, with the random numbers of PCG(seed, 0), and returns the
// approximation over them.
func (a ConstraintSampling) Solve(ctx context.Context, p *mixpolicy.Problem, constraints int, seed uint64) (*Approximation, error) {
	r, err := mixpolicy.Solve(ctx, p, a, mixpolicy.Settings{Iterations: constraints, Seed: seed, Uncertified: true})
	if err != nil {
		return nil, err
	}
	return r.Run.(*constraintSampling).solve(ctx)
}
