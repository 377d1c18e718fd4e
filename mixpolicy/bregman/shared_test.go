//go:build !race

package bregman_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

// sharing keeps what it computes in a slice that all calls use.
type sharing struct {
	Ball
	scratch []float64
}

func (b sharing) ConjugateGradient(dst, y []float64) {
	copy(b.scratch, y)
	b.Ball.ConjugateGradient(dst, b.scratch)
}

// Calls that share a slice have to meet: at once on a machine at rest, where others work in most of the
// times. Under the race detector that ends the test.
func TestSharedScratchIsFound(t *testing.T) {
	terms := make([]float64, 4)
	closure := draft{conj: func(y float64) float64 {
		for i := range terms {
			terms[i] = y / 4
		}
		y = terms[0] + terms[1] + terms[2] + terms[3]
		return 2 * (y / (1 + math.Abs(y)))
	}}.modulus()
	for want, m := range map[string]Modulus{"ConjDeriv": closure, "ConjugateGradient": sharing{Ball{R: 2}, make([]float64, 40)}} {
		for seed := uint64(0); ; seed++ {
			err := Check(m, 40, seed).Err()
			if err == nil && seed < 40 {
				continue
			}
			if err == nil || !strings.Contains(err.Error(), want+" gives other numbers when it is called from two goroutines") {
				t.Errorf("%s: %v", want, err)
			}
			break
		}
	}
}
