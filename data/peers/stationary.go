package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// residual is the ‖μ − μP‖₁ at which a stationary measure is good enough.
const residual = 1e-10

// stationary is the computation of the stationary measure of the network under each of two policies. We and the peers
// receive the matrix P^π of all states. Finding the recurrent class is part of the work.
func stationary(quick bool) (all []func() race) {
	var w models.Network
	if quick {
		w.Buffers = [4]int{9, 7, 7, 9}
	}
	for _, rule := range []models.Rule{models.Longer, models.LastBuffer} {
		all = append(all, func() race {
			x := mixpolicy.Must(w.MDP())
			chain := mixpolicy.Must(x.Under(mixpolicy.Must(w.Policy(x, rule))))
			only := mixpolicy.UniformPolicy(chain)
			return race{
				instance: fmt.Sprintf("stationary measure, network of %s states, %v", data.Thousands(x.States()), rule),
				problem:  matrixOf(chain),
				method:   "multilevel",
				ours: func(ctx context.Context, _ int) ([]float64, error) {
					q, err := mixpolicy.Occupation(ctx, chain, only,
						mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel, Tolerance: residual})
					if err != nil {
						return nil, err
					}
					return q.State, nil
				},
				peers: []string{"BiCGSTAB, ILU", "BiCGSTAB", "GMRES, ILU", "GMRES", "power iteration", "sparse LU", "ARPACK"},
				agree: func(ours, theirs []float64) error { return sameMeasure(chain, ours, theirs) },
			}
		})
	}
	return all
}

// matrixOf returns the transition matrix in compressed rows, a row for each pair.
func matrixOf(x *mixpolicy.MDP) instance {
	ptr := []int32{0}
	col, val := make([]int32, 0, x.Transitions()), make([]float64, 0, x.Transitions())
	for s := range x.States() {
		for a := range x.Actions() {
			to, prob := x.Next(s, a)
			col, val = append(col, to...), append(val, prob...)
			ptr = append(ptr, int32(len(col)))
		}
	}
	return instance{
		Arrays: map[string]any{"ptr.i32": ptr, "col.i32": col, "val.f64": val},
		Numbers: map[string]float64{"states": float64(x.States()), "actions": float64(x.Actions()),
			"gamma": x.Gamma(), "residual": residual},
	}
}

// sameMeasure returns an error if the residual of the peer's measure is more than 1 % above the constant residual, or
// if the measure does not add up to 1. The measure may differ from ours by 10⁴ times the constant residual in the ℓ₁
// norm, because a chain of this size mixes in at most about 10⁴ steps.
func sameMeasure(x *mixpolicy.MDP, ours, theirs []float64) error {
	if len(theirs) != len(ours) {
		return fmt.Errorf("%d states, want %d", len(theirs), len(ours))
	}
	// The peer may round sums of 10⁶ terms differently.
	if r := x.FlowResidual(theirs); !(r <= 1.01*residual) {
		return fmt.Errorf("the residual ‖μ − μP‖₁ is %.3g, want at most %.3g", r, 1.01*residual)
	}
	if total := floats.Sum(theirs); math.Abs(total-1) > 1e-9 {
		return fmt.Errorf("the measure adds up to %v, want 1", total)
	}
	if d := floats.Distance(ours, theirs, 1); d > 1e4*residual {
		return fmt.Errorf("the ℓ₁ distance from our measure is %.3g, want at most %.3g", d, 1e4*residual)
	}
	return nil
}
