package bregman

import "math"

// A KernelSketcher is a kernel on a bounded interval that knows a sketch of (φ*)′: a few
// arithmetic operations that rise from lo to hi as (φ*)′ does, and miss its distance from the
// nearer end by a few percent at most. It returns the sketch and its slope at y.
//
// A kernel whose (φ*)′ comes to its ends like a power of 1/y ought to have one. The tails of many
// far coordinates together are then as high as one coordinate's whole rise, so that the order of
// the yᵢ does not tell where J′ of (3.23) crosses 0, as it does for exponential tails. The root
// for the sketches does, and the solver starts there.
type KernelSketcher interface {
	Sketch(y float64) (x, slope float64)
}

// sketch returns the sketch of k at y, NaN if it has none.
func sketch(k any, y float64) (x, slope float64) {
	if s, ok := k.(KernelSketcher); ok {
		return s.Sketch(y)
	}
	return math.NaN(), math.NaN()
}

// isSketched reports whether all coordinates have sketches.
func (l *line) isSketched() bool {
	if !l.bounded {
		return false
	}
	for i := range l.y {
		if x, _ := l.sketch(i, 0); math.IsNaN(x) {
			return false
		}
		if l.box == nil {
			return true // they are all alike
		}
	}
	return true
}

// sketchedRoot returns about where J′ would be 0 if the sketches were all there is to it,
// for a root between a and b.
//
// J′ is a staircase, a step where each coordinate is halfway up. Halving finds the two steps
// between which the root is, in some log₂ d evaluations of the sketches, and a few Newton or
// Hermite steps the place between, to a part of a step's width: the sketches are no better.
func (l *line) sketchedRoot(a, b float64) float64 {
	low, high := sample{z: a, r: math.Inf(-1)}, sample{z: b, r: math.Inf(1)}
	inside := func(z float64) bool { return low.z < z && z < high.z }
	evaluate := func(z float64) {
		s := sample{z: z, r: -1}
		for i, v := range l.y {
			x, slope := l.sketch(i, (v-l.pivot)+z)
			s.r += x
			s.curvature += slope
		}
		if s.r < 0 {
			low = s
		} else {
			high = s
		}
	}
	steps := l.u[:0]
	for i := range l.y {
		if z := l.pivot - l.key(i); inside(z) {
			steps = append(steps, z)
		}
	}
	for len(steps) > 0 {
		evaluate(median(steps[0], steps[len(steps)/2], steps[len(steps)-1]))
		between := steps[:0]
		for _, z := range steps {
			if inside(z) {
				between = append(between, z)
			}
		}
		steps = between
	}
	for _, end := range []sample{low, high} {
		if math.IsInf(end.r, 0) && !math.IsInf(end.z, 0) && low.z < high.z {
			evaluate(end.z)
		}
	}
	lo, hi := l.side(0)
	_, steepest := l.sketch(0, l.y[0]-l.key(0))
	width := (hi - lo) / steepest
	first, last := low.z, high.z
	for range 24 {
		best := low
		if -low.r > high.r {
			best = high
		}
		if !(low.z < high.z) || math.Abs(best.r) < best.curvature*width/256 {
			return best.z
		}
		next, bend := hermite(low.z, low.r, low.curvature, high.z, high.r, high.curvature)
		if bend > 1 || !inside(next) {
			// Tails are powers of the distance from a step: halve its logarithm.
			left, right := low.z-first+width, last-high.z+width
			switch length := high.z - low.z; {
			case math.IsInf(high.z, 1):
				next = low.z + 7*left
			case math.IsInf(low.z, -1):
				next = high.z - 7*right
			case right-left > length/2: // near the first step
				next = low.z + (math.Sqrt(left)*math.Sqrt(left+length) - left)
			case left-right > length/2:
				next = high.z - (math.Sqrt(right)*math.Sqrt(right+length) - right)
			default:
				next = low.z + length/2
			}
		}
		if !inside(next) {
			return best.z
		}
		evaluate(next)
	}
	return low.z + (high.z-low.z)/2
}
