package linprog

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// An incumbent is the best feasible point that is known. The points of the path are not
// feasible until the end, but where a feasible point c is known, so is one on the way from c
// to x:
//
//	c + s (x − c),   s = min {Ψᵢc/(Ψᵢc − Ψᵢx) : Ψᵢx < 0},
//
// and a scan looks at the rows with Ψᵢx < 0 in any case. For measures c = 1/d is feasible.
type incumbent struct {
	centre    []float64 // c; nil if none is known
	theta     []float64 // nil if none is known
	objective float64   // bᵀθ; +∞ if none is known
}

// begin looks whether the centre of the ball in the hyperplane is feasible.
func (s *solver) begin(ctx context.Context) error {
	s.best.objective = math.Inf(1)
	var square float64
	for _, g := range s.g {
		square += g * g
	}
	c := make([]float64, s.d)
	floats.ScaleTo(c, 1/square, s.g)
	found, _, err := s.scan(ctx, c, nil)
	s.scans++
	if err != nil || len(found) > 0 {
		if ctx.Err() != nil {
			err = nil // run will say so
		}
		return err
	}
	s.best = incumbent{centre: c, theta: c, objective: s.value(c)}
	return nil
}

// toward improves the incumbent from a scan of x.
func (s *solver) toward(x []float64, share float64) {
	c := s.best.centre
	// ‖c + s(x − c)‖ ≤ (1−s)‖c‖ + s‖x‖.
	if out, in := s.norm.Of(x), s.norm.Of(c); out > s.radius {
		share = min(share, max(0, (s.radius-in)/(out-in)))
	}
	share *= 1 - s.rounding()
	theta := make([]float64, s.d)
	for j, v := range c {
		theta[j] = v + share*(x[j]-v)
	}
	if f := s.value(theta); f < s.best.objective {
		s.best.theta, s.best.objective = theta, f
	}
}
