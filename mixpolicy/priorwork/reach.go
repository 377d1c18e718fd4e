package priorwork

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Reach is how many queries a contestant needed to come to a goal and stay there.
type Reach struct {
	Goal float64

	// Median and the interval for it are those of the runs' numbers of queries, as seen at the
	// checkpoints; +Inf stands for more than all of them.
	Median, Lo, Hi float64
	Confidence     float64 // of the interval, at least what was asked for if there are enough runs

	Reached, Runs int
}

// Reach looks for the first checkpoint of each run from which on its score, such as
// [Look.Score] or the cost of the policy, is at most goal. The interval is between order statistics and assumes nothing of their
// distribution: with N runs the k-th and the (N+1−k)-th enclose the median with
// probability 1 − 2 Pr{Bin(N, ½) < k}. It panics unless confidence is in (0, 1).
func (r *Race) Reach(score func(Look) float64, goal, confidence float64) Reach {
	if !(confidence > 0 && confidence < 1) {
		panic(fmt.Sprintf("priorwork: confidence %v, want between 0 and 1", confidence))
	}
	out := Reach{Goal: goal, Runs: len(r.Runs)}
	var at []float64
	for _, run := range r.Runs {
		first := math.Inf(1)
		for _, look := range slices.Backward(run) {
			if score(look) > goal {
				break
			}
			first = look.Queries
		}
		if !math.IsInf(first, 1) {
			out.Reached++
		}
		at = append(at, first)
	}
	slices.Sort(at)
	n := len(at)
	binomial := distuv.Binomial{N: float64(n), P: 0.5}
	k := 1 // the smallest and the greatest, if no more can be had
	for 2*(k+1) <= n && 1-2*binomial.CDF(float64(k)) >= confidence {
		k++
	}
	out.Lo, out.Hi, out.Confidence = at[k-1], at[n-k], 1-2*binomial.CDF(float64(k-1))
	out.Median = at[(n-1)/2] // for even n the lower one: the mean of two could be between ∞ and a number
	return out
}
