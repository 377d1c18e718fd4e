package paper

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/mixpolicy/lab/mixpolicy"
)

// smallLP is min cᵀx subject to G x ≤ h and A x = b, x free, for gonum's simplex method.
type smallLP struct {
	c    []float64
	g, a [][]float64
	h, b []float64
}

func (p *smallLP) atMost(row []float64, h float64)  { p.g, p.h = append(p.g, row), append(p.h, h) }
func (p *smallLP) equals(row []float64, b float64)  { p.a, p.b = append(p.a, row), append(p.b, b) }
func (p *smallLP) atLeast(row []float64, h float64) { p.atMost(negated(row), -h) }

// solve returns the optimum and a solution; the optimum is −∞ if it is unbounded and +∞
// if there is no feasible point.
func (p *smallLP) solve() (float64, []float64, error) {
	n := len(p.c)
	var eq mat.Matrix
	if len(p.a) > 0 {
		eq = rowsOf(p.a)
	}
	c, a, b := lp.Convert(p.c, rowsOf(p.g), p.h, eq, p.b)
	value, x, err := lp.Simplex(c, a, b, 1e-11, nil)
	switch {
	case errors.Is(err, lp.ErrUnbounded):
		return math.Inf(-1), nil, nil
	case errors.Is(err, lp.ErrInfeasible):
		return math.Inf(1), nil, nil
	case err != nil:
		return 0, nil, fmt.Errorf("paper: simplex: %w", err)
	}
	solution := make([]float64, n) // Convert splits x into its parts
	for j := range solution {
		solution[j] = x[j] - x[n+j]
	}
	return value, solution, nil
}

func rowsOf(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

func negated(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = -v
	}
	return y
}

// bellmanRow is row (s, a) of I − γP_a, so that row·v ≤ c_a(s) is one constraint of (2.9b).
func bellmanRow(x *mixpolicy.MDP, s, a int) []float64 {
	row := make([]float64, x.States())
	row[s] = 1
	to, p := x.Next(s, a)
	for k, s2 := range to {
		row[s2] -= x.Gamma() * p[k]
	}
	return row
}

// primalLP is (2.9) as a minimum of −αᵀv, with the constraint as corrected (≤ c) or as
// printed (≥ c).
func primalLP(x *mixpolicy.MDP, form mixpolicy.Form) *smallLP {
	p := &smallLP{c: negated(x.Initial())}
	for s := range x.States() {
		for a := range x.Actions() {
			if form == mixpolicy.Printed {
				p.atLeast(bellmanRow(x, s, a), x.Cost(s, a))
			} else {
				p.atMost(bellmanRow(x, s, a), x.Cost(s, a))
			}
		}
	}
	return p
}

// dualLP is (2.13), with ξᵀ(Q − γP) = (1−γ)αᵀ or, as printed, ξᵀ(P − Q) = 0.
func dualLP(x *mixpolicy.MDP, form mixpolicy.Form) *smallLP {
	pairs := x.Pairs()
	p := &smallLP{c: append([]float64(nil), x.Costs()...)}
	for i := range pairs {
		unit := make([]float64, pairs)
		unit[i] = 1
		p.atLeast(unit, 0)
	}
	gamma := x.Gamma()
	if form == mixpolicy.Printed {
		gamma = 1
		ones := make([]float64, pairs)
		for i := range ones {
			ones[i] = 1
		}
		p.equals(ones, 1)
	}
	states := x.States()
	if form == mixpolicy.Printed {
		states-- // the rows of P − Q add up to 0: one is implied
	}
	for s2 := range states {
		row := make([]float64, pairs)
		for s := range x.States() {
			for a := range x.Actions() {
				i := x.Pair(s, a)
				if s == s2 {
					row[i]++
				}
				to, prob := x.Next(s, a)
				for k, next := range to {
					if int(next) == s2 {
						row[i] -= gamma * prob[k]
					}
				}
			}
		}
		p.equals(row, (1-gamma)*x.Initial()[s2])
	}
	return p
}
