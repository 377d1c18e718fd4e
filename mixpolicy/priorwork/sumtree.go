package priorwork

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// sumTree draws from a distribution that changes an entry at a time: a complete binary
// tree whose inner nodes hold the sums of their children. Drawing and setting take
// ⌈log₂ k⌉ steps. Sums are made anew on the way up and never subtracted from, so each has a
// relative error of ⌈log₂ k⌉·2⁻⁵³, however small what is left of it.
type sumTree struct {
	leaves int
	node   []float64 // node 1 is the root; children of i are 2i and 2i+1
}

func newSumTree(weights []float64) *sumTree {
	t := &sumTree{leaves: 1}
	for t.leaves < len(weights) {
		t.leaves *= 2
	}
	t.node = make([]float64, 2*t.leaves)
	copy(t.node[t.leaves:], weights)
	for i := t.leaves - 1; i > 0; i-- {
		t.node[i] = t.node[2*i] + t.node[2*i+1]
	}
	return t
}

func (t *sumTree) total() float64       { return t.node[1] }
func (t *sumTree) weight(k int) float64 { return t.node[t.leaves+k] }

// set changes a weight.
func (t *sumTree) set(k int, w float64) {
	i := t.leaves + k
	t.node[i] = w
	for i >>= 1; i > 0; i >>= 1 {
		t.node[i] = t.node[2*i] + t.node[2*i+1]
	}
}

// draw returns k with probability weight(k)/total().
func (t *sumTree) draw(rng *rand.PCG) int {
	i := 1
	for x := uniform(rng) * t.node[1]; i < t.leaves; {
		i *= 2
		// Rounding may leave x at the end of an empty branch.
		if left := t.node[i]; x >= left && t.node[i+1] > 0 {
			x -= left
			i++
		}
	}
	return i - t.leaves
}

// scale multiplies every weight by a power of two, which is exact but for underflow.
func (t *sumTree) scale(f float64) {
	for i := range t.node {
		t.node[i] *= f
	}
}

// uniform returns a number in [0, 1).
func uniform(rng *rand.PCG) float64 { return float64(rng.Uint64()>>11) * 0x1p-53 }

// drawRow returns k with probability proportional to row[k].
func drawRow(rng *rand.PCG, row []float64) int {
	var total float64
	for _, w := range row {
		total += w
	}
	if !(total > 0) || math.IsInf(total, 1) {
		panic(fmt.Sprintf("priorwork: drawing from weights %v", row))
	}
	x := uniform(rng) * total
	last := 0
	for k, w := range row {
		if w == 0 {
			continue
		}
		if last = k; x < w {
			break
		}
		x -= w
	}
	return last
}
