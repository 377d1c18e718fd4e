package bregman_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

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
