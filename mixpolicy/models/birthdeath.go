package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// BirthDeath is the chain on n states 0, …, n−1 that goes from k to k+1 with
// probability Up[k], from k+1 to k with probability Down[k] (k = 0, …, n−2), and
// else stays. Its stationary distribution is known in closed form, so that it tests
// every method that computes one.
type BirthDeath struct {
	Up, Down []float64 // n−1 each, positive; Up[k] + Down[k−1] ≤ 1

	// Cost of a step in state k; nil is k.
	Cost func(k int) float64
}

// States returns n.
func (c BirthDeath) States() int { return len(c.Up) + 1 }

func (c BirthDeath) check() error {
	if len(c.Up) != len(c.Down) {
		return fmt.Errorf("models: birth–death chain with %d probabilities up and %d down, want as many", len(c.Up), len(c.Down))
	}
	for k := range c.States() {
		if k < len(c.Up) && !(c.Up[k] > 0 && c.Down[k] > 0) {
			return fmt.Errorf("models: birth–death chain: states %d and %d: up %v, down %v, want both positive", k, k+1, c.Up[k], c.Down[k])
		}
		if leave := c.leave(k); !(leave <= 1+0x1p-52) {
			return fmt.Errorf("models: birth–death chain: state %d is left with probability %v, want at most 1", k, leave)
		}
	}
	return nil
}

// leave returns the probability of a move from k.
func (c BirthDeath) leave(k int) float64 {
	var p float64
	if k > 0 {
		p += c.Down[k-1]
	}
	if k < len(c.Up) {
		p += c.Up[k]
	}
	return p
}

// MDP builds the chain as an average-cost MDP with a single action.
func (c BirthDeath) MDP() (*mixpolicy.MDP, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	cost := c.Cost
	if cost == nil {
		cost = func(k int) float64 { return float64(k) }
	}
	next := make([]mixpolicy.Transition, 0, 3)
	return mixpolicy.New(mixpolicy.Spec{
		States: c.States(), Actions: 1, Criterion: mixpolicy.AverageCost,
		Dynamics: func(k, _ int) (float64, []mixpolicy.Transition) {
			next = append(next[:0], mixpolicy.Transition{To: k, P: max(0, 1-c.leave(k))})
			if k > 0 {
				next = append(next, mixpolicy.Transition{To: k - 1, P: c.Down[k-1]})
			}
			if k < len(c.Up) {
				next = append(next, mixpolicy.Transition{To: k + 1, P: c.Up[k]})
			}
			return cost(k), next
		},
	})
}

// logStationary returns log μ. Detailed balance, μ(k)Up[k] = μ(k+1)Down[k], gives
//
//	log μ(k) = Σ_{i<k} log(Up[i]/Down[i]) − log Σ_j exp(…)
//
// with an absolute error of a few 2⁻⁵³ · Σ_{i<k} |log(Up[i]/Down[i])|, so that the
// measure of a state is known even where it underflows.
func (c BirthDeath) logStationary() ([]float64, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	logs := make([]float64, c.States())
	var total sum.Accumulator
	for k := range c.Up {
		total.Add(logRatio(c.Up[k], c.Down[k]))
		logs[k+1] = total.Value()
	}
	top := slices.Max(logs)
	var z sum.Accumulator
	for _, v := range logs {
		z.Add(math.Exp(v - top))
	}
	shift := top + math.Log(z.Value())
	for k := range logs {
		logs[k] -= shift
	}
	return logs, nil
}

// Stationary returns μ, to a relative error of a few 2⁻⁵³ · Σ |log(Up/Down)|; it
// underflows to 0 where log μ < −745.
func (c BirthDeath) Stationary() ([]float64, error) {
	mu, err := c.logStationary()
	for k, v := range mu {
		mu[k] = math.Exp(v)
	}
	return mu, err
}

// logRatio returns log(x/y). For x near y the difference x − y is exact, and the
// logarithm keeps its relative digits, which log of a rounded quotient loses.
func logRatio(x, y float64) float64 {
	if r := x / y; r < 0.5 || r > 2 {
		return math.Log(r)
	}
	return math.Log1p((x - y) / y)
}
