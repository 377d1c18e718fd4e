package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// ulp is the distance from 1 to the next larger float64.
const ulp = 0x1p-52

// A line is the function J′ along y + z1, seen in a coordinate g in which it is nearly
// straight. There are three.
//
//   - Modulus not separable: g = ψ(θ̄) − ψ(1/d), where θ̄ = (1/d)1ᵀθ and ψ(t) is the
//     derivative of φ along the diagonal, (1/d) 1ᵀ∇φ(t1).
//   - Separable, domain with an infinite end: the same; here ψ = φ′, so that φ′(θ̄) is the
//     mean of the yᵢ + z in the sense of φ′.
//   - Separable, domain (lo, hi) bounded: J′ is a staircase if the yᵢ are far apart, each
//     coordinate rising from lo to hi in its turn. With k coordinates to be near hi at
//     the root, those of the k largest yᵢ, let A = Σ (hi − θᵢ) over them and
//     B = Σ (θᵢ − lo) over the others. Then 1ᵀθ − 1 = B + f − A, where
//     f = k·hi + (d−k)·lo − 1 is at most half a step for the right k, and
//     g = log(B + f⁺) − log(A + f⁻), which stays steep where J′ is flat.
type line struct {
	m       Modulus
	kernel  Coordinatewise // nil if m is not separable
	curver  KernelCurver   // nil if slopes are unknown
	y, u    []float64
	pivot   float64 // near the yᵢ that matter: y + z1 is evaluated as (y − pivot) + (z + pivot)
	target  float64 // ψ(1/d)
	bounded bool
	lo, hi  float64
	k       int     // of the coordinate g of a bounded domain
	least   float64 // the k-th largest yᵢ
	f       float64
}

// A sample is what one evaluation tells.
type sample struct {
	z     float64 // reckoned from −pivot
	r     float64 // J′(z) = 1ᵀθ − 1
	noise float64 // what rounding alone may make of r
	g     float64 // has the sign of r; ±∞ where it is not known
	slope float64 // g′(z), NaN if unknown
}

// Where h is within a factor of 1 ± nearly of its target, h − target has lost half of its
// digits, and its tangent, a multiple of r, still has half of them right.
const nearly = 0x1p-26

// newton solves 1ᵀ∇φ*((y − pivot) + z) = 1, an equation in which no rounding of the sum
// z − pivot appears.
func newton(m Modulus, y, scratch []float64) (pivot, z float64, evals int, err error) {
	if err := checkDual(y); err != nil {
		return 0, 0, 0, err
	}
	if v, ok := m.(Validator); ok {
		if err := v.Validate(); err != nil {
			return 0, 0, 0, err
		}
	}
	if scratch == nil {
		scratch = make([]float64, len(y))
	}
	checkLen(scratch, y)
	l := line{m: m, y: y, u: scratch}
	l.kernel, _ = m.(Coordinatewise)
	l.curver, _ = m.(KernelCurver)
	var start, a, b float64
	if l.kernel != nil {
		start, a, b, err = l.prepareSeparable()
	} else {
		start, a, b = l.prepare()
	}
	if err != nil {
		return 0, 0, 0, err
	}
	z, evals, err = l.root(start, a, b)
	return l.pivot, z, evals, err
}

// prepare returns where to start, which is exact if the yᵢ are equal, and no bounds.
func (l *line) prepare() (start, a, b float64) {
	d := float64(len(l.y))
	l.pivot = l.y[0]
	for i := range l.u {
		l.u[i] = 1 / d
	}
	if l.m.InDomain(l.u) {
		l.m.Gradient(l.u, l.u)
		l.target = sum.Of(l.u) / d
		for i, v := range l.y {
			l.u[i] = v - l.pivot
		}
		start = l.target - sum.Of(l.u)/d
	}
	a, b = realLine()
	return start, a, b
}

// prepareSeparable returns where to start and bounds a ≤ z ≤ b from order statistics of y.
//
// Let y₍₁₎ ≥ y₍₂₎ ≥ …. At z = φ′(x) − y₍ₖ₎ the k largest entries have θ ≥ x and the others
// θ > lo, so 1ᵀθ ≥ 1 if kx + (d−k)lo = 1: that z is an upper bound. The k−1 largest have
// θ < hi and the others θ ≤ x, so it is a lower bound if (k−1)hi + (d−k+1)x = 1. With
// q = (1 − d·lo)/(hi − lo), the number of coordinates that would have to sit at hi were
// all others at lo, x is inside (lo, hi) for the upper bound if k > q and for the lower
// one if k − 1 < q.
func (l *line) prepareSeparable() (start, a, b float64, err error) {
	n := len(l.y)
	d := float64(n)
	lo, hi := l.kernel.Domain()
	l.lo, l.hi = lo, hi
	if !(lo < 1/d && 1/d < hi) {
		return 0, 0, 0, fmt.Errorf("bregman: the domain (%g, %g)^%d of %v does not meet the hyperplane 1ᵀθ = 1: need %g < 1/d = %g < %g",
			lo, hi, n, l.m, lo, 1/d, hi)
	}
	l.target = l.kernel.Deriv(1 / d)
	l.bounded = !math.IsInf(lo, -1) && !math.IsInf(hi, 1)
	up, down := n, 1
	switch {
	case l.bounded:
		q := (1 - d*lo) / (hi - lo)
		up = min(max(int(math.Floor(q))+1, 1), n)
		down = min(max(int(math.Ceil(q)), 1), n)
		l.k = min(max(int(math.Round(q)), 0), n)
		l.f = math.FMA(float64(l.k), hi, math.FMA(float64(n-l.k), lo, -1))
		l.least = l.order(max(l.k, 1))
	case math.IsInf(lo, -1) && !math.IsInf(hi, 1):
		down = n
	case math.IsInf(hi, 1) && !math.IsInf(lo, -1):
		up = 1
	}
	yUp := l.order(up)
	yDown := yUp
	if down != up {
		yDown = l.order(down)
	}
	l.pivot = yUp/2 + yDown/2
	atEnd := func(n int, end float64) float64 {
		if n == 0 {
			return 0
		}
		return float64(n) * end
	}
	a = l.kernel.Deriv((1-atEnd(down-1, hi))/float64(n-down+1)) - (yDown - l.pivot)
	b = l.kernel.Deriv((1-atEnd(n-up, lo))/float64(up)) - (yUp - l.pivot)
	// The bounds are as good as φ′ and a few roundings.
	a -= 8 * ulp * math.Abs(a)
	b += 8 * ulp * math.Abs(b)
	if math.IsNaN(a) {
		a = math.Inf(-1)
	}
	if math.IsNaN(b) {
		b = math.Inf(1)
	}
	if a < l.pivot && l.pivot < b {
		return l.pivot, a, b, nil // z = 0: after a small step the shift is small
	}
	if mid := a + (b-a)/2; mid-mid == 0 {
		return mid, a, b, nil
	}
	return between(a, b), a, b, nil
}

// order returns the k-th largest yᵢ.
func (l *line) order(k int) float64 {
	copy(l.u, l.y)
	return orderStatistic(l.u, k-1)
}

// at evaluates J′ and the coordinate g.
func (l *line) at(z float64) sample {
	for i, v := range l.y {
		l.u[i] = (v - l.pivot) + z
	}
	if l.bounded {
		return l.atBounded(z)
	}
	s := sample{z: z, slope: math.NaN()}
	d := float64(len(l.y))
	var curvature float64 // J″
	if l.curver != nil {
		for _, v := range l.u {
			c := l.curver.ConjCurvature(v)
			curvature += c
			s.noise += c * math.Abs(v)
		}
	} else if c, ok := l.m.(Curver); ok {
		curvature = c.ConjugateCurvature(l.u)
	}
	l.m.ConjugateGradient(l.u, l.u)
	var acc sum.Accumulator
	acc.Add(-1)
	for _, v := range l.u {
		acc.Add(v)
		s.noise += math.Abs(v)
	}
	s.r = acc.Value()
	s.noise *= ulp
	mean := (1 + s.r) / d
	s.g = math.Copysign(math.Inf(1), s.r)
	if l.kernel != nil {
		if l.lo < mean && mean < l.hi {
			h := l.kernel.Deriv(mean)
			s.g = h - l.target
			if l.curver != nil {
				s.slope = curvature / d / l.curver.ConjCurvature(h)
			}
		}
		return s.nearRoot(curvature, l.target)
	}
	for i := range l.u {
		l.u[i] = mean
	}
	if l.m.InDomain(l.u) {
		l.m.Gradient(l.u, l.u)
		s.g = sum.Of(l.u)/d - l.target
		if c, ok := l.m.(Curver); ok { // exact if φ is symmetric in the coordinates
			s.slope = curvature / c.ConjugateCurvature(l.u)
		}
	}
	return s.nearRoot(curvature, l.target)
}

// nearRoot replaces g by its tangent where that is more accurate.
func (s sample) nearRoot(curvature, target float64) sample {
	if tangent := s.r * (s.slope / curvature); math.Abs(tangent) < nearly*math.Abs(target) {
		s.g = tangent
	}
	return s
}

func (l *line) atBounded(z float64) sample {
	s := sample{z: z, slope: math.NaN()}
	var da, db float64 // −A′ and B′
	ties := l.ties()
	if l.curver != nil {
		left := ties
		for i, v := range l.u {
			c := l.curver.ConjCurvature(v)
			s.noise += c * math.Abs(v)
			if l.isTop(l.y[i], &left) {
				da += c
			} else {
				db += c
			}
		}
	}
	l.m.ConjugateGradient(l.u, l.u)
	var a, b, r sum.Accumulator
	r.Add(-1)
	for i, v := range l.u {
		r.Add(v)
		s.noise += math.Abs(v)
		if l.isTop(l.y[i], &ties) {
			a.Add(l.hi - v)
		} else {
			b.Add(v - l.lo)
		}
	}
	s.r = r.Value()
	s.noise *= ulp
	below, above := a.Value()+max(0, -l.f), b.Value()+max(0, l.f) // above − below = r
	s.g = math.Log1p(s.r / below)
	if l.curver != nil {
		s.slope = da/below + db/above
	}
	return s
}

// ties returns how many of the entries equal to the k-th largest are among the k largest.
func (l *line) ties() int {
	n := l.k
	for _, v := range l.y {
		if v > l.least {
			n--
		}
	}
	return n
}

// isTop reports whether an entry y is one of the k largest; entries equal to the k-th
// are until there are enough.
func (l *line) isTop(y float64, ties *int) bool {
	if y == l.least && *ties > 0 {
		*ties--
		return true
	}
	return y > l.least && l.k > 0
}

// root finds the zero of J′ between the bounds a and b, or beyond them if they prove wrong
// in the last digits. The next point is Newton's in the coordinate g, or the secant's
// where slopes are unknown. If that is outside the bracket, or three steps in a row were not
// half as long as the ones before them, the bracket is halved: in turns by length, and by
// number of floating-point numbers, of which there are no more than 2⁶⁴. So the iteration
// ends for any increasing J′, continuous or not.
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
		case math.Abs(s.r) <= s.noise:
			return z, evals, nil
		case s.r < 0:
			below = s
		default:
			above = s
		}
		next := s.z - s.g/s.slope
		if !(s.slope > 0) {
			next = secant(below, above)
			if !inside(next) && evals > 1 {
				next = secant(previous, s)
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
		if slow >= 3 || !inside(next) {
			lo, hi := max(below.z, min(a, z)), min(above.z, max(b, z))
			next = lo + (hi-lo)/2
			if halvings%2 == 1 || !inside(next) {
				next = between(lo, hi)
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

// secant returns the zero of the line through two samples.
func secant(p, q sample) float64 { return p.z - p.g*((q.z-p.z)/(q.g-p.g)) }
