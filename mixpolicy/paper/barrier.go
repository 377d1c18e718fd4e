package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ProjectByBarrier stores in dst the Euclidean projection of y onto {1ᵀθ = 1, ‖θ‖₂ ≤ R} by
// a general interior-point method, as a convex solver would: Newton's method for
//
//	min t·½‖θ − y‖² − log(R² − ‖θ‖²)  subject to  1ᵀθ = 1,
//
// the equality kept by the KKT system, for t rising by tens to 10¹². The barrier has the
// parameter 1, so the answer's ½‖θ − y‖² is within 1/t of the least. It stands for the
// CVX call of section 6; the closed form is linprog.Norm.Project.
func ProjectByBarrier(dst, y []float64, r float64) error {
	d := len(y)
	if r*r*float64(d) <= 1 {
		return fmt.Errorf("paper: ball of radius %v misses the hyperplane 1ᵀθ = 1 for d = %d", r, d)
	}
	for j := range dst {
		dst[j] = 1 / float64(d)
	}
	kkt := mat.NewDense(d+1, d+1, nil)
	rhs, step := mat.NewVecDense(d+1, nil), mat.NewVecDense(d+1, nil)
	var lu mat.LU
	trial := make([]float64, d)
	value := func(x []float64, t float64) float64 {
		gap := r*r - floats.Dot(x, x)
		if gap <= 0 {
			return math.Inf(1)
		}
		dist := floats.Distance(x, y, 2)
		return t*dist*dist/2 - math.Log(gap)
	}
	for t := 1.0; t <= 1e12; t *= 10 {
		for range 50 { // self-concordant: some ten steps are enough from the last t
			gap := r*r - floats.Dot(dst, dst)
			kkt.Zero()
			for i, xi := range dst {
				rhs.SetVec(i, -(t*(xi-y[i]) + 2*xi/gap))
				for j, xj := range dst {
					kkt.Set(i, j, 4*xi*xj/(gap*gap))
				}
				kkt.Set(i, i, kkt.At(i, i)+t+2/gap)
				kkt.Set(i, d, 1)
				kkt.Set(d, i, 1)
			}
			rhs.SetVec(d, 0)
			lu.Factorize(kkt)
			if err := lu.SolveVecTo(step, false, rhs); err != nil {
				if _, poor := err.(mat.Condition); !poor {
					return fmt.Errorf("paper: barrier at t = %g: %w", t, err)
				}
			}
			var decrement float64
			for i := range dst {
				decrement += rhs.AtVec(i) * step.AtVec(i)
			}
			if decrement < 1e-12 {
				break
			}
			now, length := value(dst, t), 1.0
			for {
				for i := range trial {
					trial[i] = dst[i] + length*step.AtVec(i)
				}
				if value(trial, t) <= now-0.1*length*decrement || length < 1e-10 {
					break
				}
				length /= 2
			}
			copy(dst, trial)
		}
	}
	return nil
}
