package bregman_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

// byHand are ∇φ* as loops over whole vectors, for [BenchmarkLift] to compare the lifts with.
var byHand = []struct {
	lifted Modulus
	loop   func(dst, y []float64)
}{
	{Euclidean(), func(dst, y []float64) { copy(dst, y) }},
	{Burg(), func(dst, y []float64) {
		for i, v := range y {
			if v < 0 {
				dst[i] = -1 / v
			} else {
				dst[i] = inf
			}
		}
	}},
	{Hellinger(2), func(dst, y []float64) {
		for i, v := range y {
			if n := math.Sqrt(1 + v*v); n <= math.MaxFloat64 {
				dst[i] = 2 * v / n
			} else {
				dst[i] = math.Copysign(2, v)
			}
		}
	}},
	{Cube(2), func(dst, y []float64) {
		for i, v := range y {
			dst[i] = 2 * math.Tanh(v/2)
		}
	}},
	{NegativeEntropy(), func(dst, y []float64) {
		for i, v := range y {
			dst[i] = math.Exp(v)
		}
	}},
}

// What the call of a kernel for each entry costs, beside the same loop written by hand.
func BenchmarkLift(b *testing.B) {
	const d = 1024
	y, dst := normal(source(1), d, 1), make([]float64, d)
	for i := range y {
		y[i] = -math.Abs(y[i]) // in the range of every ∇φ
	}
	for _, c := range byHand {
		for name, f := range map[string]func(dst, y []float64){"lifted": c.lifted.ConjugateGradient, "by hand": c.loop} {
			b.Run(fmt.Sprintf("%v/%s", c.lifted, name), func(b *testing.B) {
				for b.Loop() {
					f(dst, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/d, "ns/element")
			})
		}
	}
}

func BenchmarkGallery(b *testing.B) {
	const d = 1024
	y, dst := normal(source(1), d, 1), make([]float64, d)
	for i := range y {
		y[i] = -math.Abs(y[i]) // in the range of every ∇φ
	}
	for _, m := range Gallery(d, 2) {
		b.Run(strings.ReplaceAll(fmt.Sprint(m), " ", "_"), func(b *testing.B) {
			for b.Loop() {
				m.ConjugateGradient(dst, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/d, "ns/element")
		})
	}
}

func BenchmarkProjectDual(b *testing.B) {
	for _, d := range []int{2, 1024} {
		y, dst, scratch := normal(source(1), d, 1), make([]float64, d), make([]float64, d)
		for _, m := range []Modulus{Ball{R: 2}, Cube(2), Euclidean(), NegativeEntropy()} {
			b.Run(fmt.Sprintf("%T/d=%d", m, d), func(b *testing.B) {
				for b.Loop() {
					copy(dst, y)
					if _, err := ProjectDual(m, dst, scratch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
