package priorwork

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleRandomizedLP() {
	w, p := everyPair(mixpolicy.Discounted(0.8))
	best, _, _ := w.Optimum()
	const steps = 100_000
	r := mixpolicy.Must(mixpolicy.Solve(background, p, RandomizedLP{Steps: steps}, mixpolicy.Settings{Iterations: steps, Seed: 1}))
	fmt.Printf("optimal cost %.4f, after %d queries %.4f\n", best, r.Queries, r.PolicyCost)
	// Output:
	// optimal cost 1.3333, after 100000 queries 1.4547
}

// Draws from a tree and from a row have the right frequencies. By Hoeffding, a frequency is off by more than
// √(ln(2/δ)/2N) with probability at most δ.
func TestDraws(t *testing.T) {
	w := []float64{0.1, 0, 0.5, 0.15, 0.25, 0}
	const draws = 100_000
	tolerance := math.Sqrt(math.Log(2*6/1e-9) / (2 * draws))
	for what, draw := range map[string]func(*rand.PCG) int{
		"tree": newSumTree(w).draw,
		"row":  func(rng *rand.PCG) int { return drawRow(rng, []float64{2, 0, 10, 3, 5, 0}) },
	} {
		count, rng := make([]float64, 8), rand.NewPCG(3, 0)
		for range draws {
			count[draw(rng)] += 1. / draws
		}
		for k, v := range w {
			if math.Abs(count[k]-v) > tolerance || v == 0 && count[k] > 0 {
				t.Errorf("%s: frequency of %d is %v, want %v", what, k, count[k], v)
			}
		}
	}
}
