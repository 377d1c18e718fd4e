package bregman

import (
	"fmt"
	"math"
)

// ulp is the distance from 1 to the next larger float64.
const ulp = 0x1p-52

// newton solves 1ᵀ∇φ*((y − pivot) + z) = 1, an equation in which no rounding of the sum
// z − pivot appears. With near, the y of a modulus that is not separable is known to be so
// near the solution that the entries that matter have their final size.
func newton(m Modulus, y, scratch []float64, near bool) (pivot, z float64, evals int, err error) {
	if err := checkDual(y); err != nil {
		return 0, 0, 0, err
	}
	if err := validate(m); err != nil {
		return 0, 0, 0, err
	}
	if scratch == nil {
		scratch = make([]float64, len(y))
	}
	checkLen(scratch, y)
	l := line{m: m, y: y, u: scratch}
	if sep, ok := m.(Separable); ok {
		l.kernel = sep.Kernel
	} else {
		l.kernel, _ = m.(Coordinatewise)
		l.j2, _ = m.(Curver)
	}
	var start, a, b float64
	if l.kernel != nil {
		l.curver = curverOf(l.kernel)
		start, a, b, err = l.prepareSeparable()
	} else {
		start, a, b, err = l.prepare()
	}
	if err != nil {
		return 0, 0, 0, err
	}
	if near && l.kernel == nil && !l.bounded {
		l.pivot, start = 0, 0
	}
	z, evals, err = l.root(start, a, b)
	return l.pivot, z, evals, err
}

// patience is the number of evaluations after which nothing but the number of floating-point
// numbers between is halved: many times what a modulus needs.
const patience = 64

// root finds the zero of J′ between the bounds a and b, or beyond them if they prove wrong
// in the last digits. The next point is that of a cubic through two samples, or Newton's in
// the coordinate g, or the secant's where slopes are unknown. If that is outside the bracket,
// or three steps in a row were not half as long as the ones before them, the bracket is
// halved: in turns by length, and by number of floating-point numbers. These are no more than
// 2⁶⁴, so after patience + 66 evaluations the iteration has ended for any J′, continuous or
// increasing or not.
func (l *line) root(z, a, b float64) (root float64, evals int, err error) {
	below := sample{z: math.Inf(-1), r: math.Inf(-1), g: math.Inf(-1)}
	above := sample{z: math.Inf(1), r: math.Inf(1), g: math.Inf(1)}
	inside := func(z float64) bool { return below.z < z && z < above.z }
	var previous sample
	step, slow, halvings := math.Inf(1), 0, 0
	for evals = 1; ; evals++ {
		s := l.at(z)
		switch {
		case math.IsNaN(s.r):
			return 0, evals, fmt.Errorf("bregman: y + z1 leaves the domain of φ* of %v at z = %g", l.m, z-l.pivot)
		case s.r < below.r-s.disorder() || s.r > above.r+s.disorder():
			return 0, evals, fmt.Errorf("bregman: J′ = %g at z = %g is not between %g at %g and %g at %g: ∇φ* of %v is not increasing",
				s.r, z-l.pivot, below.r, below.z-l.pivot, above.r, above.z-l.pivot, l.m)
		case math.Abs(s.r) <= s.noise && s.noise < math.Inf(1):
			return z, evals, nil
		case s.r < 0:
			below = s
		default:
			above = s
		}
		next := l.newton(s)
		if t, ok := cubic(s, below, above, previous); ok && evals > 1 && inside(t) {
			next = t
		} else if !(s.slope > 0) {
			next = math.NaN()
			if evals > 1 {
				next = secant(previous, s)
			}
			if !inside(next) {
				next = secant(below, above)
			}
			if !inside(next) {
				next = s.z - s.g // ψ has slope 1 where the entries of y are equal
			}
		}
		if math.Abs(next-z) <= 2*ulp*math.Abs(z) { // as good as z can be told; see that it is
			next = z - math.Copysign(4*ulp*math.Abs(z), s.r)
		}
		if next <= a && below.z < a {
			next = a
		}
		if next >= b && above.z > b {
			next = b
		}
		if math.Abs(next-z) > step/2 {
			slow++
		} else {
			slow = 0
		}
		if evals > patience {
			next = between(below.z, above.z)
		} else if slow >= 3 || !inside(next) {
			lo, hi := max(below.z, min(a, z)), min(above.z, max(b, z))
			next = lo + (hi-lo)/2
			if halvings%2 == 1 || !inside(next) {
				next = between(lo, hi)
			}
			if !inside(next) { // a bound has proved wrong: the root is not far beyond it
				next = z - math.Copysign(4*max(step, ulp*math.Abs(z)), s.r)
			}
			if !inside(next) {
				next = between(below.z, above.z)
			}
			halvings++
			slow = 0
		}
		if above.z-below.z <= 4*ulp*math.Abs(z) || !inside(next) {
			if math.IsInf(below.r, -1) || math.IsInf(above.r, 1) {
				return 0, evals, fmt.Errorf("bregman: no z has 1ᵀ∇φ*(y + z1) = 1: the domain of %v does not meet the hyperplane 1ᵀθ = 1 in ℝ^%d", l.m, len(l.y))
			}
			if -below.r < above.r {
				return below.z, evals, nil
			}
			return above.z, evals, nil
		}
		step = math.Abs(next - z)
		previous, z = s, next
	}
}

// newton returns the next point of Newton's method in g, or, far from the root of a symmetric
// φ, in log h against log v, with v the mean of y + z1: of a radial φ h is about a power of v,
// of exponent 1 where v is below ‖y − ȳ1‖ and up to 2 above, and proportional to v again where
// it is far above.
func (l *line) newton(s sample) float64 {
	if v := s.z - l.centre; l.symmetric && v > 0 && s.h > 0 && math.Abs(s.g) > l.target/8 {
		return l.centre + v*math.Pow(l.target/s.h, min(s.h/(v*s.slope), 1))
	}
	return s.z - s.g/s.slope
}

// secant returns the zero of the line through two samples.
func secant(p, q sample) float64 { return p.z - p.g*((q.z-p.z)/(q.g-p.g)) }

// cubic returns the zero of the straightest of the cubics through s and one of the others, in g
// or in r, and false if none is straight enough to be trusted. What would extrapolate is none.
func cubic(s sample, others ...sample) (z float64, ok bool) {
	const straight = 0.3 // slopes that differ by a third over the part of the way that is left
	least := straight
	for _, o := range others {
		if o.z == s.z || math.IsInf(o.z, 0) {
			continue
		}
		if next, bend := hermite(o.z, o.g, o.slope, s.z, s.g, s.slope); bend < least {
			z, least = next, bend
		}
		if next, bend := hermite(o.z, o.r, o.curvature, s.z, s.r, s.curvature); bend < least {
			z, least = next, bend
		}
	}
	return z, least < straight
}

// hermite returns the zero of an increasing function with values gp, gq and slopes mp, mq at p
// and q, as the value at 0 of the cubic Hermite interpolant of its inverse, and how bent that is
// between q and the zero: 0 if all slopes agree. It is NaN, and infinitely bent, if |gq| ≥ |gq − gp|,
// or a slope of the inverse is more than three times the chord's, within which the interpolant
// certainly increases (Fritsch and Carlson 1980).
//
// Where p and q come near the zero, the error is of order (z − p)²(z − q)²: Newton's method with
// p = q has order 2, and this, with the last two points, 1 + √3.
func hermite(p, gp, mp, q, gq, mq float64) (z, bend float64) {
	rise := gq - gp
	chord := rise / (q - p)
	a, b := chord/mp, chord/mq
	w := gq / rise // how far back from q the zero is
	if !(a > 0 && a <= 3 && b > 0 && b <= 3 && math.Abs(w) < 1) {
		return math.NaN(), math.Inf(1)
	}
	v := 1 - w
	z = q + w*w*(3-2*w)*(p-q) + rise*v*w*(w/mp-v/mq)
	return z, math.Abs(w) * (math.Abs(math.Log(a)) + math.Abs(math.Log(b)))
}

// disorder is by how much J′ may seem to fall as z rises: what leaves half of its digits. More is
// no rounding, but a ∇φ* that does not increase.
func (s sample) disorder() float64 { return s.noise / nearly }
