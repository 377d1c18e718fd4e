package linprog

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
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

// named is how benchmarks call the norms.
var named = map[Norm]string{L2: "ℓ₂", LInf: "ℓ∞", L1: "ℓ₁"}

func BenchmarkQueue(b *testing.B) {
	p := Mixture{B: costs(2, 1), Psi: measures(400, 2, 0, 1), R: 100}
	for _, p.Norm = range []Norm{L2, LInf, L1} {
		b.Run(named[p.Norm], func(b *testing.B) {
			benchmark(b, p, Settings{})
		})
	}
	sol, _ := p.Solve(context.Background(), Settings{})
	b.Run("warm", func(b *testing.B) { benchmark(b, p, Settings{Warm: rowsOf(sol)}) })
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
			b.Run(fmt.Sprintf("%s R=%v", c.name, r), func(b *testing.B) {
				benchmark(b, p, Settings{})
			})
		}
	}
}

// generated is a Ψ that is too large to be stored: d measures of product form on a network
// of four queues, with the action by the last of them,
//
//	ψʲ(s, a) = f¹_j(s₁) f²_j(s₂) f³_j(s₃) f⁴_j(s₄, a),
//
// given by the four tables.
type generated struct {
	d     int
	sizes [4]int       // of the tables; the last one has pairs
	table [4][]float64 // f_j(s) at s·d + j
}

func newGenerated(sizes [4]int, actions, d int, seed uint64) *generated {
	rng := rand.New(rand.NewPCG(seed, 4))
	g := &generated{d: d, sizes: sizes}
	g.sizes[3] *= actions
	for k := range g.table {
		g.table[k] = make([]float64, g.sizes[k]*d)
		for j := range d {
			ratio, sum := .5+.55*rng.Float64(), 0.0
			column := make([]float64, g.sizes[k])
			for s := range column {
				if k < 3 {
					column[s] = math.Pow(ratio, float64(s))
				} else {
					column[s] = math.Pow(ratio, float64(s/actions)) * rng.ExpFloat64()
				}
				sum += column[s]
			}
			for s, v := range column {
				g.table[k][s*d+j] = v / sum
			}
		}
	}
	return g
}

func (g *generated) Dims() (n, d int) { return g.sizes[0] * g.sizes[1] * g.sizes[2] * g.sizes[3], g.d }

func (g *generated) row(k, s int) []float64 { return g.table[k][s*g.d:][:g.d] }

func (g *generated) Row(dst []float64, i int) {
	copy(dst, g.row(3, i%g.sizes[3]))
	for k := 2; k >= 0; k-- {
		i /= g.sizes[k+1]
		floats.Mul(dst, g.row(k, i%g.sizes[k]))
	}
}

func (g *generated) Apply(dst []float64, from int, theta []float64) {
	w := make([]float64, g.d)
	for len(dst) > 0 {
		i, last := from/g.sizes[3], from%g.sizes[3]
		copy(w, theta)
		for k := 2; k >= 0; k-- {
			floats.Mul(w, g.row(k, i%g.sizes[k]))
			i /= g.sizes[k]
		}
		count := min(len(dst), g.sizes[3]-last)
		for s := range count {
			dst[s] = floats.Dot(w, g.row(3, last+s))
		}
		dst, from = dst[count:], from+count
	}
}

func BenchmarkGenerated(b *testing.B) {
	const d = 400
	psi := newGenerated([4]int{39, 26, 26, 39}, 4, d, 1)
	for _, r := range []float64{1.5, 10, math.Inf(1)} {
		p := Mixture{B: costs(d, 1), Psi: psi, R: r}
		b.Run(fmt.Sprintf("R=%v", r), func(b *testing.B) { benchmark(b, p, Settings{}) })
	}
}

func BenchmarkFiftyFeatures(b *testing.B) {
	const d = 50
	psi := measures(100_000, d, .2, 1)
	for _, r := range []float64{1.5, 10, math.Inf(1)} {
		p := Mixture{B: costs(d, 1), Psi: psi, R: r}
		b.Run(fmt.Sprintf("R=%v", r), func(b *testing.B) { benchmark(b, p, Settings{}) })
	}
}

func BenchmarkManyFeatures(b *testing.B) {
	const d = 400
	for _, sparse := range []float64{0, .9} {
		psi := measures(10000, d, sparse, 1)
		for _, norm := range []Norm{L2, LInf, L1} {
			for _, r := range []float64{1.5, 10} {
				p := Mixture{B: costs(d, 1), Psi: psi, Norm: norm, R: r}
				b.Run(fmt.Sprintf("sparse=%v %v R=%v", sparse, named[norm], r), func(b *testing.B) {
					benchmark(b, p, Settings{})
				})
			}
		}
		p := Mixture{B: costs(d, 1), Psi: psi, R: math.Inf(1)}
		b.Run(fmt.Sprintf("sparse=%v free", sparse), func(b *testing.B) {
			benchmark(b, p, Settings{})
		})
	}
}
