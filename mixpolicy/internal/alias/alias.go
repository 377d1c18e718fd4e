// Package alias draws from a fixed discrete distribution in constant time (Walker 1977,
// with Vose's O(n) construction).
package alias

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Table draws i with the probability pᵢ that [New] defines. It is immutable and safe for concurrent use.
type Table struct {
	slots []slot
}

// Draw chooses a slot k uniformly. The slot gives k with probability threshold/2⁶⁴, and
// its alias otherwise. Threshold and alias are in one cache line.
type slot struct {
	threshold uint64
	alias     int32
}

// New returns the table with pᵢ = wᵢ/Σw, for weights w ≥ 0 with a finite sum Σw > 0.
// If a weight is negative or not finite, the error names the first such weight.
func New(w []float64) (*Table, error) {
	n := len(w)
	if n == 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("alias: %d weights, want 1 to 2³¹−1", n)
	}
	var total float64
	for i, x := range w {
		if !(x >= 0) || math.IsInf(x, 1) {
			return nil, fmt.Errorf("alias: weight %d is %v, want a finite number ≥ 0", i, x)
		}
		total += x
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return nil, fmt.Errorf("alias: weights add up to %v, want a finite number > 0", total)
	}
	// scaled[i] = n pᵢ. If scaled[i] < 1, the rest of slot i belongs to an index j with
	// scaled[j] ≥ 1.
	scaled := make([]float64, n)
	small, large := make([]int32, 0, n), make([]int32, 0, n)
	for i, x := range w {
		scaled[i] = x / total * float64(n)
		if scaled[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	t := &Table{slots: make([]slot, n)}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.slots[s] = slot{threshold: uint64(math.Ldexp(max(scaled[s], 0), 64)), alias: l}
		scaled[l] -= 1 - scaled[s]
		if scaled[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// Up to rounding, the remaining indices fill their slots.
	for _, i := range append(small, large...) {
		t.slots[i] = slot{threshold: math.MaxUint64, alias: i}
		if w[i] == 0 { // never return an index of probability zero
			t.slots[i] = slot{threshold: 0, alias: int32(floats.MaxIdx(w))}
		}
	}
	return t, nil
}

// Draw returns i with probability pᵢ. Draw allocates no memory.
func (t *Table) Draw(rng *rand.PCG) int {
	// For a random x < 2⁶⁴, the integer part of x·n/2⁶⁴ is the slot, and the fraction,
	// uniform to within n/2⁶⁴, is the coin.
	k, coin := bits.Mul64(rng.Uint64(), uint64(len(t.slots)))
	s := t.slots[k]
	if coin < s.threshold {
		return int(k)
	}
	return int(s.alias)
}
