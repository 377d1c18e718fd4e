package priorwork

import (
	"fmt"
	"math"
)

// positive returns v, or the given default if v is 0.
func positive(v, byDefault float64, what string) (float64, error) {
	if v == 0 {
		v = byDefault
	}
	if !(v > 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("priorwork: %s = %v, want a finite number > 0", what, v)
	}
	return v, nil
}

// barycentre returns (1/d, …, 1/d), which is feasible for (2.18) whatever Ψ ⪰ 0 is.
func barycentre(d int) []float64 {
	theta := make([]float64, d)
	for j := range theta {
		theta[j] = 1 / float64(d)
	}
	return theta
}
