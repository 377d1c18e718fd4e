package bregman

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// ulp is the distance from 1 to the next larger float64.
const ulp = 0x1p-52

// A line is the function J′ along y + z1, with what is needed to evaluate it.
type line struct {
	m       Modulus
	kernel  Coordinatewise // nil if m is not separable
	curver  Curver         // for slopes; nil if unknown
	kcurver KernelCurver   // the same for the kernel
	y, u    []float64
	pivot   float64 // near the entries of y that matter: y + z1 is evaluated as (y − pivot) + (z + pivot)
	target  float64 // φ′(1/d)
}

// A sample is what one evaluation tells.
type sample struct {
	z     float64 // reckoned from −pivot
	r     float64 // J′(z) = 1ᵀθ − 1
	size  float64 // ‖θ‖₁, the scale of the rounding error of r
	g     float64 // h(z) − φ′(1/d), with the sign of r; ±∞ if θ̄ is on the boundary
	slope float64 // g′(z), NaN if unknown
}

func (l *line) at(z float64) sample {
	s := sample{z: z, slope: math.NaN()}
	for i, v := range l.y {
		l.u[i] = (v - l.pivot) + z
	}
	var curvature float64
	if l.curver != nil {
		curvature = l.curver.ConjugateCurvature(l.u)
	}
	l.m.ConjugateGradient(l.u, l.u)
	var acc sum.Accumulator
	acc.Add(-1)
	for _, v := range l.u {
		acc.Add(v)
		s.size += math.Abs(v)
	}
	s.r = acc.Value()
	d := float64(len(l.y))
	mean := (1 + s.r) / d
	s.g = math.Copysign(math.Inf(1), s.r)
	if l.kernel != nil {
		if lo, hi := l.kernel.Domain(); lo < mean && mean < hi {
			h := l.kernel.Deriv(mean)
			s.g = h - l.target
			if l.curver != nil && l.kcurver != nil {
				s.slope = curvature / d / l.kcurver.ConjCurvature(h)
			}
		}
		return s
	}
	for i := range l.u {
		l.u[i] = mean
	}
	if l.m.InDomain(l.u) {
		l.m.Gradient(l.u, l.u)
		s.g = sum.Of(l.u)/d - l.target
		if l.curver != nil {
			s.slope = curvature / l.curver.ConjugateCurvature(l.u)
		}
	}
	return s
}

// met reports whether r is zero to within the rounding of the θᵢ.
func (s sample) met() bool { return math.Abs(s.r) <= ulp*s.size }

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
	l.curver, _ = m.(Curver)
	l.kernel, _ = m.(Coordinatewise)
	l.kcurver, _ = m.(KernelCurver)
	a, b, err := l.bracket()
	if err != nil {
		return 0, 0, 0, err
	}
	z, evals, err = l.root(a, b)
	return l.pivot, z, evals, err
}

func (l *line) bracket() (a, b float64, err error) {
	d := float64(len(l.y))
	if l.kernel == nil {
		l.pivot = l.y[0]
		for i := range l.u {
			l.u[i] = 1 / d
		}
		if l.m.InDomain(l.u) {
			l.m.Gradient(l.u, l.u)
			l.target = sum.Of(l.u) / d
		}
		return math.Inf(-1), math.Inf(1), nil
	}
	lo, hi := l.kernel.Domain()
	if !(lo < 1/d && 1/d < hi) {
		return 0, 0, fmt.Errorf("bregman: the domain (%g, %g)^%d of %v does not meet the hyperplane 1ᵀθ = 1: need %g < 1/d = %g < %g",
			lo, hi, len(l.y), l.m, lo, 1/d, hi)
	}
	l.target = l.kernel.Deriv(1 / d)
	a, b, l.pivot = separableBracket(l.kernel, l.y, l.u)
	return a, b, nil
}

// separableBracket returns a ≤ z ≤ b from order statistics of y.
//
// Let y₍₁₎ ≥ y₍₂₎ ≥ … and let (lo, hi) be the kernel's domain. At z = φ′(x) − y₍ₖ₎ the k
// largest entries have θ ≥ x and the others θ > lo, so 1ᵀθ ≥ 1 if kx + (d−k)lo = 1: that z
// is an upper bound. The k−1 largest have θ < hi and the others θ ≤ x, so it is a lower
// bound if (k−1)hi + (d−k+1)x = 1. With q = (1 − d·lo)/(hi − lo), the number of
// coordinates that would have to sit at hi were all others at lo, x is inside the
// interval for the upper bound if k > q and for the lower one if k − 1 < q.
func separableBracket(k Coordinatewise, y, u []float64) (a, b, pivot float64) {
	lo, hi := k.Domain()
	d := len(y)
	q := (1 - float64(d)*lo) / (hi - lo)
	up, down := d, 1
	switch {
	case math.IsInf(lo, -1):
		up = d
	case math.IsInf(hi, 1):
		up = 1
	default:
		up = min(max(int(math.Floor(q))+1, 1), d)
	}
	switch {
	case math.IsInf(hi, 1):
		down = 1
	case math.IsInf(lo, -1):
		down = d
	default:
		down = min(max(int(math.Ceil(q)), 1), d)
	}
	rest := func(n int, end float64) float64 {
		if n == 0 {
			return 0
		}
		return float64(n) * end
	}
	copy(u, y)
	atUp := orderStatistic(u, up-1)
	atDown := atUp
	if down != up {
		copy(u, y)
		atDown = orderStatistic(u, down-1)
	}
	pivot = atUp/2 + atDown/2
	a = k.Deriv((1-rest(down-1, hi))/float64(d-down+1)) - (atDown - pivot)
	b = k.Deriv((1-rest(d-up, lo))/float64(up)) - (atUp - pivot)
	// The bounds are as good as φ′ and a few roundings.
	a -= 8 * ulp * math.Abs(a)
	b += 8 * ulp * math.Abs(b)
	if math.IsNaN(a) {
		a = math.Inf(-1)
	}
	if math.IsNaN(b) {
		b = math.Inf(1)
	}
	return a, b, pivot
}

// root finds the zero of J′ in [a, b]. Every evaluation shrinks the bracket. The next
// point is Newton's in the coordinate h, or the secant's where slopes are unknown; if
// that is outside the bracket, or the bracket has not halved in two evaluations, it is
// the bracket's middle in the order of the floating-point numbers, of which at most 64
// in a row can be needed. So the iteration ends for any increasing J′, continuous or not.
func (l *line) root(a, b float64) (z float64, evals int, err error) {
	if a < l.pivot && l.pivot < b {
		z = l.pivot // after a small step the shift is small
	} else {
		z = between(a, b)
	}
	below := sample{z: a, r: math.Inf(-1), g: math.Inf(-1)}
	above := sample{z: b, r: math.Inf(1), g: math.Inf(1)}
	var previous sample
	width, slow := math.Inf(1), 0
	for evals = 1; evals < 500; evals++ {
		s := l.at(z)
		switch {
		case math.IsNaN(s.r):
			return 0, evals, fmt.Errorf("bregman: y + z1 leaves the domain of φ* of %v at z = %g", l.m, z)
		case s.met():
			return z, evals, nil
		case s.r < 0:
			below = s
		default:
			above = s
		}
		next := s.z - s.g/s.slope
		if math.Abs(next-z) <= 2*ulp*math.Abs(z) { // as good as z can be told; see that it is
			next = z - math.Copysign(4*ulp*math.Abs(z), s.r)
		}
		if !(below.z < next && next < above.z) {
			next = secant(below, above)
		}
		if !(below.z < next && next < above.z) && evals > 1 {
			next = secant(previous, s)
		}
		if !(below.z < next && next < above.z) {
			next = s.z - s.g // h has slope 1 where the entries of y are equal
		}
		if w := above.z - below.z; w < width && w <= width/2 {
			width, slow = w, 0
		} else {
			slow++
		}
		if slow >= 2 || !(below.z < next && next < above.z) {
			next = between(below.z, above.z)
		}
		if above.z-below.z <= 4*ulp*math.Abs(z) || !(below.z < next && next < above.z) {
			if -below.r < above.r {
				return below.z, evals, nil
			}
			return above.z, evals, nil
		}
		previous, z = s, next
	}
	return z, evals, nil
}

// secant returns the zero of the line through two samples.
func secant(p, q sample) float64 { return p.z - p.g*((q.z-p.z)/(q.g-p.g)) }

// between returns a number between a and b: their mean if they are within a factor of
// two of each other, else the middle of the floating-point numbers between them.
func between(a, b float64) float64 {
	a, b = max(a, -math.MaxFloat64), min(b, math.MaxFloat64)
	if a/b > 0.5 && a/b < 2 {
		return a + (b-a)/2
	}
	i, j := ordinal(a), ordinal(b)
	return fromOrdinal(i>>1 + j>>1 + i&j&1)
}

// ordinal numbers the floating-point numbers in increasing order, 0 being number 0.
func ordinal(x float64) int64 {
	n := int64(math.Float64bits(math.Abs(x)))
	if x < 0 {
		return -n
	}
	return n
}

func fromOrdinal(n int64) float64 {
	if n < 0 {
		return -math.Float64frombits(uint64(-n))
	}
	return math.Float64frombits(uint64(n))
}

// orderStatistic returns the entry of u that is larger than n others, reckoned from the
// largest (n = 0), and reorders u. It is a quickselect that sorts what is left should it
// not shrink.
func orderStatistic(u []float64, n int) float64 {
	if n == 0 {
		return slices.Max(u)
	}
	n = len(u) - 1 - n // from the smallest
	if n == 0 {
		return slices.Min(u)
	}
	for rounds := 2 * bits.Len(uint(len(u))); len(u) > 32 && rounds > 0; rounds-- {
		p := median(u[0], u[len(u)/2], u[len(u)-1])
		less, same := 0, 0
		for i, v := range u {
			switch {
			case v < p:
				u[i] = u[less+same]
				u[less+same] = u[less]
				u[less] = v
				less++
			case v == p:
				u[i] = u[less+same]
				u[less+same] = v
				same++
			}
		}
		switch {
		case n < less:
			u = u[:less]
		case n < less+same:
			return p
		default:
			n -= less + same
			u = u[less+same:]
		}
	}
	slices.Sort(u)
	return u[n]
}

func median(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
