package walk

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// drawdown computes max_k ⟨ψ, W_k − W_t⟩ by a scan of the whole path.
func drawdown(path [][]float64, psi []float64) (most float64) {
	last := floats.Dot(psi, path[len(path)-1])
	for _, w := range path {
		most = max(most, floats.Dot(psi, w)-last)
	}
	return most
}

// A walk's drawdown equals the result of a scan of the whole path.
func TestWalkDrawdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 4).Draw(t, "d")
		walks := []Walk{newSegments(d)}
		if d == 2 {
			walks = append(walks, newHull())
		}
		// The steps have a coordinate sum η ≥ 0. A step is repeated some eight times, and may be
		// 0 or large. All entries are integers, so sums are exact and ties occur.
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		length := rapid.IntRange(0, 300).Draw(t, "steps")
		reach := rapid.SampledFrom([]int{0, 1, 3, 100}).Draw(t, "reach")
		path := [][]float64{make([]float64, d)}
		theta := make([]float64, d)
		for k := range length {
			if k == 0 || rng.IntN(8) == 0 {
				eta := float64(rng.IntN(4))
				rest := eta
				for j := 1; j < d; j++ {
					theta[j] = float64(rng.IntN(2*reach+1) - reach)
					rest -= theta[j]
				}
				theta[0] = rest
			}
			w := append([]float64(nil), path[k]...)
			floats.Add(w, theta)
			path = append(path, w)
			for _, walk := range walks {
				walk.Add(w)
			}
		}
		psi := make([]float64, d)
		for range 20 {
			for j := range psi {
				psi[j] = float64(rng.IntN(5))
			}
			want := drawdown(path, psi)
			for _, walk := range walks {
				if got := walk.Drawdown(psi); got != want {
					t.Fatalf("%T: drawdown %v along %v, want %v", walk, got, psi, want)
				}
			}
		}
	})
}

// On long walks in every orthant, with and without noise, the search skips nodes on several
// levels, and still finds the same maximum as a scan of all points.
func TestWalkDrawdownOfLongWalks(t *testing.T) {
	const d, steps = 3, 2000
	rng := rand.New(rand.NewPCG(8, 1))
	for _, wobble := range []float64{0, .01, 1, 100} {
		for signs := range 1 << d {
			walk := newSegments(d)
			points := [][]float64{make([]float64, d)}
			w, size := make([]float64, d), 0.
			for k := range steps {
				for j := range w {
					w[j] += (float64(2*(signs>>j&1)-1)*(1+float64(j)) + wobble*rng.NormFloat64()) / math.Sqrt(float64(k+1))
				}
				walk.Add(w)
				points, size = append(points, slices.Clone(w)), max(size, floats.Norm(w, 1))
				if k%97 != 0 && k != steps-1 {
					continue
				}
				psi := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
				psi[rng.IntN(d)] *= float64(rng.IntN(2))
				want := drawdown(points, psi)
				if got := walk.Drawdown(psi); math.Abs(got-want) > 16*0x1p-53*size {
					t.Fatalf("wobble %v, signs %b, after %d steps: %v, want %v", wobble, signs, k+1, got, want)
				}
			}
		}
	}
}

// If θ settles, the hull stays small, however long the run is. At first, it holds the point 0 on each of its two sides.
func TestHullStaysSmall(t *testing.T) {
	h := newHull()
	if n := h.Size(); n != 4 {
		t.Errorf("the hull of a point holds %d numbers, want 4", n)
	}
	w := make([]float64, 2)
	for k := range 100_000 {
		eta, wobble := 1/math.Sqrt(float64(k+1)), .3*math.Cos(float64(k))
		w[0] += eta * (1.1 + wobble)
		w[1] += eta * (-.1 - wobble)
		h.Add(w)
	}
	// The hull of a random walk of n steps has about 2 ln n vertices, and the hull of a wobbling
	// line has no more. The limit allows twice as many on each side, with two numbers per vertex.
	if n := h.Size(); n > 4*4*12 {
		t.Errorf("the hull holds %d numbers after 100,000 steps", n)
	}
}
