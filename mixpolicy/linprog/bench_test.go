package linprog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// measures returns d columns of n entries with sum 1. An entry is zero with probability
// sparse, and otherwise proportional to the cube of an exponential variable.
func measures(n, d int, sparse float64, seed uint64) Columns {
	rng := rand.New(rand.NewPCG(seed, 1))
	psi := make(Columns, d)
	for j := range psi {
		psi[j] = make([]float64, n)
		sum := 0.0
		for i := range psi[j] {
			if rng.Float64() >= sparse {
				psi[j][i] = math.Pow(rng.ExpFloat64(), 3)
			}
			sum += psi[j][i]
		}
		floats.Scale(1/sum, psi[j])
	}
	return psi
}

// queueLike returns d measures on the state–action pairs of a network of queues with the given
// sizes and m actions. Each is the product of a distribution over actions and of truncated
// geometric measures, which span many orders of magnitude.
func queueLike(sizes []int, m, d int, seed uint64) Columns {
	rng := rand.New(rand.NewPCG(seed, 2))
	n := m
	for _, k := range sizes {
		n *= k
	}
	psi := make(Columns, d)
	for j := range psi {
		psi[j] = make([]float64, n)
		ratio := vector(len(sizes), func() float64 { return .5 + .55*rng.Float64() })
		action := vector(m, rng.ExpFloat64)
		floats.Scale(1/floats.Sum(action), action)
		for i := range psi[j] {
			s, p := i/m, action[i%m]
			for k, size := range sizes {
				p *= math.Pow(ratio[k], float64(s%size))
				s /= size
			}
			psi[j][i] = p
		}
		floats.Scale(1/floats.Sum(psi[j]), psi[j])
	}
	return psi
}

func costs(d int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	return vector(d, func() float64 { return 30 + 10*rng.NormFloat64() })
}

// BenchmarkSolve computes the table in the package's doc comment.
func BenchmarkSolve(b *testing.B) {
	network := []int{39, 26, 26, 39}
	for _, c := range []struct {
		name string
		psi  Columns
		norm Norm
	}{
		{"8 variables, 4112784 rows of product form, ℓ₂", queueLike(network, 4, 8, 1), L2},
		{"50 variables, 100000 rows, ℓ₂", measures(100_000, 50, .2, 1), L2},
		{"400 variables, 10000 rows, ℓ₂", measures(10_000, 400, 0, 1), L2},
		{"400 variables, 10000 rows, ℓ₁", measures(10_000, 400, 0, 1), L1},
	} {
		for _, r := range []float64{1.5, 10, math.Inf(1)} {
			p := Mixture{B: costs(len(c.psi), 1), Psi: c.psi, Norm: c.norm, R: r}
			b.Run(fmt.Sprintf("%s, R = %v", c.name, r), func(b *testing.B) {
				b.ReportAllocs()
				var sol *Solution
				for b.Loop() {
					sol = must(p.Solve(b.Context(), Settings{}))
				}
				b.ReportMetric(float64(sol.Scans), "scans")
				b.ReportMetric(float64(sol.Pivots), "pivots")
				b.ReportMetric(sol.Gap()/math.Abs(sol.Objective), "gap")
			})
		}
	}
}
