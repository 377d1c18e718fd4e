package priorwork

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
)

var _ System = (*ConstraintSampling)(nil)

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

	p      *mixpolicy.Problem
	oracle *mixpolicy.Oracle
	table  *alias.Table
	known  map[int]bool
	pairs  []int
	cost   []float64
}

// Name implements [System].
func (a *ConstraintSampling) Name() string { return "ALP, sampled constraints" }

// Init implements [System].
func (a *ConstraintSampling) Init(p *mixpolicy.Problem, o *mixpolicy.Oracle) error {
	a.p, a.oracle, a.table = p, o, nil
	a.known, a.pairs, a.cost = make(map[int]bool), nil, nil
	if err := checkBasis(p.MDP(), a.Basis); err != nil {
		return err
	}
	if a.Sampling == nil {
		return nil
	}
	if len(a.Sampling) != p.MDP().Pairs() {
		return fmt.Errorf("priorwork: sampling distribution of constraints has %d entries, want one per pair: %d", len(a.Sampling), p.MDP().Pairs())
	}
	var err error
	if a.table, err = alias.New(a.Sampling); err != nil {
		return fmt.Errorf("priorwork: sampling distribution of constraints: %w", err)
	}
	return nil
}

// Step implements [System].
func (a *ConstraintSampling) Step() error {
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
	return nil
}

// Solve returns the approximation over the constraints drawn so far.
func (a *ConstraintSampling) Solve(ctx context.Context) (*Approximation, error) {
	return ALP{Basis: a.Basis, Weights: a.Weights, Bound: a.Bound}.solve(ctx, a.p.MDP(), a.pairs, a.cost)
}

// Answer implements [System].
func (a *ConstraintSampling) Answer(ctx context.Context) (*Answer, error) {
	v, err := a.Solve(ctx)
	if err != nil {
		return nil, err
	}
	return &Answer{Policy: v.Policy}, nil
}
