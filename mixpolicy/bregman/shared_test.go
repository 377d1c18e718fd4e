//go:build !race

package bregman

import (
	"math"
	"strings"
	"testing"
)

// A slice that a closure shares can't be seen, and calls have to meet: at once on a machine at rest, where
// others work in most of the times. Under the race detector that ends the test.
func TestSharedByClosuresIsFound(t *testing.T) {
	terms := make([]float64, 4)
	m := draft{conj: func(y float64) float64 {
		for i := range terms {
			terms[i] = y / 4
		}
		y = terms[0] + terms[1] + terms[2] + terms[3]
		return 2 * (y / (1 + math.Abs(y)))
	}}.modulus()
	for seed := range uint64(40) {
		err := Check(m, 2, seed).Err()
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), "ConjDeriv gives other numbers when it is called from several goroutines") {
			t.Error(err)
		}
		return
	}
	t.Error("not found in forty times")
}
