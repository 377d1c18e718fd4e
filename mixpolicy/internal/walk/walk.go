// Package walk stores the path W₀ = 0, W₁, … of a point in ℝᵈ, and computes, for a given direction, how far the last
// point is behind the path's maximum in this direction. The lazy multipliers of Algorithm 1 are computed from such
// distances.
package walk

import (
	"cmp"
	"sort"
)

// Walk is a path that begins at 0. The sum of the coordinates never decreases along the path.
type Walk interface {
	// Add appends the point w, of d coordinates.
	Add(w []float64)
	// Drawdown returns max_k ⟨ψ, W_k − W_t⟩ ≥ 0 for the last point W_t and ψ ⪰ 0.
	Drawdown(psi []float64) float64
	// Size returns the number of stored coordinates of points.
	Size() int
	// Reset sets the path to the single point 0.
	Reset()
}

// New returns a walk in ℝᵈ. For d = 2, the walk stores a hull, which stays small if the steps converge. For other d,
// the walk stores every point in a tree.
func New(d int) Walk {
	if d == 2 {
		return newHull()
	}
	return newSegments(d)
}

// hull is a walk in ℝ². A direction ψ ⪰ 0 with ψ₁ ≥ ψ₂ satisfies
//
//	⟨ψ, W⟩ = ψ₂(W₁ + W₂) + (ψ₁ − ψ₂)W₁,
//
// where neither coefficient is negative and the sum W₁ + W₂ never falls. So a point
// matters only if W₁ is smaller at all later points. Along the points that matter, W₁
// falls and W₂ rises, and the maximum is a vertex of their upper hull. A new point
// removes vertices only from the end of this hull. So the hull is a stack, and
// bisection finds the maximum in a direction. Directions with ψ₁ < ψ₂ use a second
// stack, with the coordinates exchanged.
type hull struct{ sides [2]chain }

// chain is a stack of hull vertices. From the bottom to the top, major falls, minor rises,
// and the hull, with minor as the height, becomes flatter. The top is W_t.
type chain []vertex

type vertex struct{ major, minor float64 }

func newHull() *hull { return &hull{[2]chain{make(chain, 1, 1024), make(chain, 1, 1024)}} }

func (h *hull) Reset() {
	for k := range h.sides {
		h.sides[k] = append(h.sides[k][:0], vertex{})
	}
}

func (h *hull) Size() int { return 2 * (len(h.sides[0]) + len(h.sides[1])) }

func (h *hull) Add(w []float64) {
	h.sides[0].push(vertex{w[0], w[1]})
	h.sides[1].push(vertex{w[1], w[0]})
}

func (c *chain) push(p vertex) {
	s := *c
	for len(s) > 0 && s[len(s)-1].major <= p.major {
		s = s[:len(s)-1]
	}
	for len(s) > 1 && !s[len(s)-1].above(s[len(s)-2], p) {
		s = s[:len(s)-1]
	}
	*c = append(s, p)
}

// above reports whether b is above the segment from a to p, with minor as the height.
func (b vertex) above(a, p vertex) bool {
	return (b.major-a.major)*(p.minor-a.minor) > (p.major-a.major)*(b.minor-a.minor)
}

func (h *hull) Drawdown(psi []float64) float64 {
	if psi[0] >= psi[1] {
		return h.sides[0].drawdown(psi[0], psi[1])
	}
	return h.sides[1].drawdown(psi[1], psi[0])
}

func (c chain) drawdown(major, minor float64) float64 {
	last := len(c) - 1
	if last == 0 || c.rises(last, major, minor) {
		return 0
	}
	// Edge k leads to vertex k. The first edge that does not rise begins at the maximum; the last edge does not rise.
	best := c[sort.Search(last-1, func(k int) bool { return !c.rises(k+1, major, minor) })]
	return max(0, major*(best.major-c[last].major)+minor*(best.minor-c[last].minor))
}

// rises reports whether vertex k is further in the direction than vertex k−1.
func (c chain) rises(k int, major, minor float64) bool {
	return major*(c[k].major-c[k-1].major)+minor*(c[k].minor-c[k-1].minor) > 0
}

// segments is a walk in ℝᵈ, stored as a binary tree over time. A node covers the points W_k, a ≤ k ≤ b,
// and stores a bound E on how far any of these points is ahead of the chord from W_a to W_b:
//
//	W_k ⪯ (1−s)W_a + sW_b + E  for some s ∈ [0, 1],  coordinate by coordinate,  E ⪰ 0.
//
// For ψ ⪰ 0, this gives max_k ⟨ψ, W_k⟩ ≤ max(⟨ψ, W_a⟩, ⟨ψ, W_b⟩) + ⟨ψ, E⟩, and a search skips
// every node whose bound does not exceed the best value so far. (The maximum of each
// coordinate also gives a bound. But if the steps change slowly, that bound is off by the length of
// the segment, and the bound with E only by the size of the changes.)
//
// Two nodes [a, m], [m, b] with E′, E″ join into a node with
//
//	E = max(E′, E″) + [W_m − (1−s)W_a − sW_b]₊,
//
// for any one s ∈ [0, 1], because the distance of the broken line W_a, W_m, W_b ahead of the chord rises from 0
// at W_a to at most the bracket at W_m, and falls back to 0 at W_b. A good s is (m−a)/(b−a).
// The code uses the same quotient of differences, but of coordinate sums instead of indices.
//
// Adding a point costs O(d) on average. A search visits O(log t) nodes if few points come near the
// maximum, and all nodes in the worst case.
type segments struct {
	d      int
	points []float64   // W_k at k·d
	excess [][]float64 // excess[l][i·d:] begins with the E of node i in level l; this node begins at point i·block·2ˡ

	chord, psi []float64 // scratch
	offset     float64   // ⟨ψ, W_t⟩ of the search
	best       float64
}

// block is the number of steps in a leaf, which is searched point by point. Fewer steps
// would take more memory for E, and more would slow down a search.
const block = 16

func newSegments(d int) *segments {
	return &segments{d: d, points: make([]float64, d, 1024*d), chord: make([]float64, d)}
}

func (s *segments) Reset() {
	s.points = s.points[:s.d]
	for l := range s.excess {
		s.excess[l] = s.excess[l][:0]
	}
}

func (s *segments) Size() int { return len(s.points) }

func (s *segments) point(k int) []float64 { return s.points[k*s.d : (k+1)*s.d] }

func (s *segments) Add(w []float64) {
	s.points = append(s.points, w...)
	last := len(s.points)/s.d - 1
	if last%block == 0 {
		s.leaf(last/block - 1)
	}
}

// leaf adds the node of block i, and every node that this node completes.
func (s *segments) leaf(i int) {
	a, b := i*block, (i+1)*block
	e := s.grow(0)
	for k := a + 1; k < b; k++ {
		s.between(a, k, b)
		for j, v := range s.point(k) {
			e[j] = max(e[j], v-s.chord[j])
		}
	}
	for l, length := 1, 2*block; i&1 == 1; l, length = l+1, 2*length {
		i >>= 1
		e, below := s.grow(l), s.excess[l-1][2*i*s.d:]
		s.between(i*length, i*length+length/2, (i+1)*length)
		for j, v := range s.point(i*length + length/2) {
			e[j] = max(below[j], below[s.d+j]) + max(0, v-s.chord[j])
		}
	}
}

// grow appends a node with E = 0 to level l.
func (s *segments) grow(l int) []float64 {
	if l == len(s.excess) {
		s.excess = append(s.excess, nil)
	}
	s.excess[l] = append(s.excess[l], s.point(0)...)
	return s.excess[l][len(s.excess[l])-s.d:]
}

// between sets s.chord to the point of the chord from W_a to W_b that has the same
// coordinate sum as W_m.
func (s *segments) between(a, m, b int) {
	wa, wm, wb := s.point(a), s.point(m), s.point(b)
	var part, whole float64
	for j := range s.d {
		part += wm[j] - wa[j]
		whole += wb[j] - wa[j]
	}
	fraction := min(1, max(0, part/cmp.Or(whole, 1))) // whole is 0 if the coordinate sum did not change
	for j := range s.chord {
		s.chord[j] = wa[j] + fraction*(wb[j]-wa[j])
	}
}

func (s *segments) Drawdown(psi []float64) float64 {
	last := len(s.points)/s.d - 1
	s.psi, s.best = psi, 0
	s.offset = s.along(s.point(last))
	end := last - last%block
	s.scan(end, last)
	// The complete nodes form a forest: one tree for each binary digit 1 of the number of complete blocks.
	for l, length := 0, block; l < len(s.excess); l, length = l+1, 2*length {
		if (end/length)&1 == 1 {
			s.search(l, end/length-1, s.value(end-length), s.value(end))
			end -= length
		}
	}
	return s.best
}

// value returns ⟨ψ, W_k − W_t⟩.
func (s *segments) value(k int) float64 { return s.along(s.point(k)) - s.offset }

// along returns ⟨ψ, x⟩.
func (s *segments) along(x []float64) float64 {
	var v float64
	for j, p := range s.psi {
		v += p * x[j]
	}
	return v
}

func (s *segments) scan(a, b int) {
	for k := a; k < b; k++ {
		s.best = max(s.best, s.value(k))
	}
}

// search looks in node i of level l, whose ends have the values va and vb, for a better
// point than the best so far.
func (s *segments) search(l, i int, va, vb float64) {
	if max(va, vb)+s.along(s.excess[l][i*s.d:]) <= s.best {
		return
	}
	s.best = max(s.best, va)
	if l == 0 {
		s.scan(i*block+1, (i+1)*block)
		return
	}
	vm := s.value((2*i + 1) * block << (l - 1))
	if va > vb {
		s.search(l-1, 2*i, va, vm)
		s.search(l-1, 2*i+1, vm, vb)
	} else {
		s.search(l-1, 2*i+1, vm, vb)
		s.search(l-1, 2*i, va, vm)
	}
}
