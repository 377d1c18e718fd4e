package linprog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// measures returns d columns of n entries that sum to 1, of Gamma-like weights, with
// the given part of the entries zero.
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
		for i := range psi[j] {
			psi[j][i] /= sum
		}
	}
	return psi
}

// queueLike returns d measures on the states of a four-dimensional network: products
// of truncated geometric measures, of many different scales down to the smallest
// numbers, split over actions.
func queueLike(sizes []int, m, d int, seed uint64) Columns {
	rng := rand.New(rand.NewPCG(seed, 2))
	n := m
	for _, k := range sizes {
		n *= k
	}
	psi := make(Columns, d)
	for j := range psi {
		psi[j] = make([]float64, n)
		ratio := make([]float64, len(sizes))
		for k := range ratio {
			ratio[k] = .5 + .55*rng.Float64()
		}
		action := make([]float64, m)
		sum := 0.0
		for a := range action {
			action[a] = rng.ExpFloat64()
			sum += action[a]
		}
		for a := range action {
			action[a] /= sum
		}
		total := 0.0
		for i := range psi[j] {
			s, p := i/m, action[i%m]
			for k, size := range sizes {
				p *= math.Pow(ratio[k], float64(s%size))
				s /= size
			}
			psi[j][i] = p
			total += p
		}
		for i := range psi[j] {
			psi[j][i] /= total
		}
	}
	return psi
}

func costs(d int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	b := make([]float64, d)
	for j := range b {
		b[j] = 30 + 10*rng.NormFloat64()
	}
	return b
}

// BenchmarkSolve is the table of the package's doc comment, and more.
func BenchmarkSolve(b *testing.B) {
	network := []int{39, 26, 26, 39}
	for _, c := range []struct {
		name string
		psi  Columns
		norm Norm
	}{
		{"2 variables, 400 rows, ℓ₂", measures(400, 2, 0, 1), L2},
		{"8 variables, 4112784 rows of product form, ℓ₂", queueLike(network, 4, 8, 1), L2},
		{"8 variables, 4112784 rows, ℓ₂", measures(39*26*26*39*4, 8, .2, 1), L2},
		{"50 variables, 100000 rows, ℓ₂", measures(100_000, 50, .2, 1), L2},
		{"400 variables, 10000 rows, ℓ₂", measures(10_000, 400, 0, 1), L2},
		{"400 variables, 10000 rows, ℓ∞", measures(10_000, 400, 0, 1), LInf},
		{"400 variables, 10000 rows, ℓ₁", measures(10_000, 400, 0, 1), L1},
		{"400 variables, 10000 sparse rows, ℓ₂", measures(10_000, 400, .9, 1), L2},
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
