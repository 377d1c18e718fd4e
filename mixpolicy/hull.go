package mixpolicy

// A walk is the path W₀ = 0, W₁, … of a point in ℝᵈ whose coordinate sum does not
// decrease, and answers how far behind its own maximum it is in a direction.
type walk interface {
	// add appends a point.
	add(w []float64)
	// drawdown returns max_k ⟨ψ, W_k − W_t⟩ ≥ 0 for the last point W_t and ψ ⪰ 0.
	drawdown(psi []float64) float64
	// size returns how many numbers are held.
	size() int
	// reset leaves the path of the single point 0.
	reset()
}

// hull is a walk in ℝ². A direction ψ ⪰ 0 with ψ₁ ≥ ψ₂ has
//
//	⟨ψ, W⟩ = ψ₂(W₁ + W₂) + (ψ₁ − ψ₂)W₁,
//
// where neither coefficient is negative and the sum W₁ + W₂ never falls. So a point
// can be the maximum only while no later one has as great a W₁: those that can have W₁
// falling and W₂ rising, and the maximum is a vertex of their upper hull. A new point
// only ever removes from the end of that hull, which makes it a stack, and the vertex
// of a direction is found by bisection. Directions with ψ₁ < ψ₂ have a stack of their
// own, with the coordinates exchanged.
type hull struct{ sides [2]chain }

// chain is a stack of hull vertices: major falls, minor rises, and so does the slope
// of the fall. Its top is W_t.
type chain []vertex

type vertex struct{ major, minor float64 }

func newHull() *hull {
	h := new(hull)
	for k := range h.sides {
		h.sides[k] = make(chain, 0, 1024)
	}
	h.reset()
	return h
}

func (h *hull) reset() {
	for k := range h.sides {
		h.sides[k] = append(h.sides[k][:0], vertex{})
	}
}

func (h *hull) size() int { return 2 * (len(h.sides[0]) + len(h.sides[1])) }

func (h *hull) add(w []float64) {
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

// above tells whether b is above the segment from a to p.
func (b vertex) above(a, p vertex) bool {
	return (b.major-a.major)*(p.minor-a.minor) > (p.major-a.major)*(b.minor-a.minor)
}

func (h *hull) drawdown(psi []float64) float64 {
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
	// The first edge that does not rise begins at the maximum; edge last does not.
	lo, hi := 0, last-1
	for lo < hi {
		k := int(uint(lo+hi) / 2)
		if c.rises(k+1, major, minor) {
			lo = k + 1
		} else {
			hi = k
		}
	}
	return max(0, major*(c[lo].major-c[last].major)+minor*(c[lo].minor-c[last].minor))
}

// rises tells whether vertex k is further in the direction than the one before.
func (c chain) rises(k int, major, minor float64) bool {
	return major*(c[k].major-c[k-1].major)+minor*(c[k].minor-c[k-1].minor) > 0
}
