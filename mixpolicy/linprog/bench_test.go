package linprog

import (
	"context"
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

func benchmark(b *testing.B, p Mixture, s Settings) {
	b.ReportAllocs()
	var sol *Solution
	for b.Loop() {
		var err error
		if sol, err = p.Solve(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(sol.Scans), "scans")
	b.ReportMetric(float64(sol.Pivots), "pivots")
	b.ReportMetric(sol.Gap()/math.Abs(sol.Objective), "gap")
}

func BenchmarkQueue(b *testing.B) {
	p := Mixture{B: costs(2, 1), Psi: measures(400, 2, 0, 1), R: 100}
	for _, p.Norm = range []Norm{L2, LInf, L1} {
		b.Run(p.Norm.String(), func(b *testing.B) { benchmark(b, p, Settings{}) })
	}
	sol, _ := p.Solve(context.Background(), Settings{})
	b.Run("warm", func(b *testing.B) { benchmark(b, p, Settings{Warm: sol.Active()}) })
}

func BenchmarkNetwork(b *testing.B) {
	const d = 8
	for _, c := range []struct {
		name string
		psi  Columns
	}{
		{"product form", queueLike([]int{39, 26, 26, 39}, 4, d, 1)},
		{"no structure", measures(39*26*26*39*4, d, .2, 1)},
	} {
		for _, r := range []float64{1, 10, math.Inf(1)} {
			p := Mixture{B: costs(d, 1), Psi: c.psi, R: r}
			b.Run(fmt.Sprintf("%s R=%v", c.name, r), func(b *testing.B) { benchmark(b, p, Settings{}) })
		}
	}
}

func BenchmarkManyFeatures(b *testing.B) {
	const d = 400
	for _, sparse := range []float64{0, .9} {
		psi := measures(10000, d, sparse, 1)
		for _, norm := range []Norm{L2, LInf, L1} {
			for _, r := range []float64{1.5, 10} {
				p := Mixture{B: costs(d, 1), Psi: psi, Norm: norm, R: r}
				b.Run(fmt.Sprintf("sparse=%v %v R=%v", sparse, norm, r), func(b *testing.B) { benchmark(b, p, Settings{}) })
			}
		}
		p := Mixture{B: costs(d, 1), Psi: psi, R: math.Inf(1)}
		b.Run(fmt.Sprintf("sparse=%v free", sparse), func(b *testing.B) { benchmark(b, p, Settings{}) })
	}
}
