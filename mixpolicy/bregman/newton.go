package bregman

import (
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// ulp is the distance from 1 to the next larger float64.
const ulp = 0x1p-52

// A line is the function J′ along y + z1, seen in a coordinate g in which it is nearly
// straight. There are three.
//
//   - A kernel whose interval has an infinite end, or a φ that is not separable:
//     g = ψ(θ̄) − ψ(1/d), where θ̄ = (1/d)1ᵀθ and ψ(t) is the mean entry of ∇φ(t1). For a
//     kernel ψ = φ′, and ψ(θ̄) is the mean of the yᵢ + z in the sense of φ′.
//   - A bounded interval (loᵢ, hiᵢ) for each coordinate: J′ is a staircase if the yᵢ are far
//     apart, each coordinate rising from lo to hi in its turn. Let T be those that are to
//     be near hi at the root, the first to rise, A = Σ (hi − θ) over T and B = Σ (θ − lo)
//     over the others. Then 1ᵀθ − 1 = B + f − A, where f is what 1ᵀθ − 1 would be with all
//     at their ends. T is chosen to bring f near 0, and g = log(B + f⁺) − log(A + f⁻), which
//     stays steep where J′ is flat.
//   - A φ whose domain does not have the diagonal's point (1/d)1: g = J′.
type line struct {
	m      Modulus
	kernel Coordinatewise // nil if m is not separable
	curver KernelCurver   // nil if the kernel's slopes are unknown
	j2     Curver         // the same for a modulus that is not separable
	box    boxed          // nil unless the coordinates differ
	y, u   []float64
	pivot  float64 // near the yᵢ that matter: y + z1 is evaluated as (y − pivot) + (z + pivot)

	bounded bool // all intervals are bounded

	diagonal  bool    // the diagonal t1 meets the domain at 1/d
	symmetric bool    // and ∇φ is along the diagonal there
	target    float64 // ψ(1/d)
	centre    float64 // the z at which y + z1 has mean 0

	least float64 // the key of the last member of T
	ties  int     // how many of the coordinates with that key are in T
	f     float64
}

// boxed describes coordinates with bounded intervals.
type boxed interface {
	side(i int) (lo, hi float64)
	halfway(i int) float64 // the yᵢ for which θᵢ is in the middle
	curvatureAt(i int, y float64) float64
}

func (l *line) side(i int) (lo, hi float64) {
	if l.box != nil {
		return l.box.side(i)
	}
	return l.kernel.Domain()
}

// key orders the coordinates by when they rise.
func (l *line) key(i int) float64 {
	if l.box != nil {
		return l.y[i] - l.box.halfway(i)
	}
	return l.y[i]
}

// curvature returns (φ*)″ at coordinate i, NaN if unknown.
func (l *line) curvature(i int, y float64) float64 {
	switch {
	case l.box != nil:
		return l.box.curvatureAt(i, y)
	case l.curver != nil:
		return l.curver.ConjCurvature(y)
	}
	return math.NaN()
}

// A sample is what one evaluation tells.
type sample struct {
	z     float64 // reckoned from −pivot
	r     float64 // J′(z) = 1ᵀθ − 1
	noise float64 // what rounding may make of r: two ulps of every θᵢ, one of every yᵢ + z
	g     float64 // has the sign of r; ±∞ where it is not known
	slope float64 // g′(z), NaN if unknown
	h     float64 // ψ(θ̄), if that is the coordinate
}

// Where h is within a factor of 1 ± nearly of its target, h − target has lost half of its
// digits, and its tangent, a multiple of r, still has half of them right.
const nearly = 0x1p-26

// newton solves 1ᵀ∇φ*((y − pivot) + z) = 1, an equation in which no rounding of the sum
// z − pivot appears. With near, the y of a modulus that is not separable is known to be so
// near the solution that the entries that matter have their final size.
func newton(m Modulus, y, scratch []float64, near bool) (pivot, z float64, evals int, err error) {
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
	if sep, ok := m.(Separable); ok {
		l.kernel = sep.Kernel
		l.curver, _ = sep.Kernel.(KernelCurver)
	} else {
		l.kernel, _ = m.(Coordinatewise)
		l.curver, _ = m.(KernelCurver)
		l.j2, _ = m.(Curver)
	}
	var start, a, b float64
	if l.kernel != nil {
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

// prepare returns where to start, and no bounds.
func (l *line) prepare() (start, a, b float64, err error) {
	a, b = realLine()
	if box, ok := l.m.(boxed); ok && l.allBounded(box) {
		l.box, l.bounded = box, true
		if err := l.prepareBox(); err != nil {
			return 0, 0, 0, err
		}
		return 0, a, b, nil
	}
	d := float64(len(l.y))
	l.target, l.diagonal = l.psi(1 / d)
	if !l.diagonal {
		return 0, a, b, nil
	}
	l.symmetric = true
	for _, v := range l.u {
		l.symmetric = l.symmetric && math.Abs(v-l.target) <= 8*ulp*math.Abs(l.target)
	}
	// If all yᵢ were equal, ȳ + z = ψ(1/d) would be the root; if they are far apart and φ is
	// symmetric, it is larger, of the order of their deviations if θ is not too near the boundary.
	l.pivot = l.y[0]
	for i, v := range l.y {
		l.u[i] = v - l.pivot
	}
	l.centre = -sum.Of(l.u) / d
	if l.symmetric {
		return l.centre + math.Hypot(l.target, Norm(2).Of(l.u)), a, b, nil
	}
	return l.centre + l.target, a, b, nil
}

// psi returns the mean entry of ∇φ(t1), which it leaves in l.u, and false if t1 is not in the
// domain.
func (l *line) psi(t float64) (float64, bool) {
	for i := range l.u {
		l.u[i] = t
	}
	if !l.m.InDomain(l.u) {
		return 0, false
	}
	l.m.Gradient(l.u, l.u)
	return sum.Of(l.u) / float64(len(l.u)), true
}

func (l *line) allBounded(box boxed) bool {
	for i := range l.y {
		if lo, hi := box.side(i); math.IsInf(lo, -1) || math.IsInf(hi, 1) {
			return false
		}
	}
	return true
}

// prepareBox chooses T: the coordinates in the order of their keys, until f is nearest to 0.
func (l *line) prepareBox() error {
	var lowest, highest sum.Accumulator
	for i := range l.y {
		l.u[i] = l.key(i)
		lo, hi := l.side(i)
		lowest.Add(lo)
		highest.Add(hi)
	}
	if !(lowest.Value() < 1 && 1 < highest.Value()) {
		return fmt.Errorf("bregman: the domain of %v does not meet the hyperplane 1ᵀθ = 1: its points have 1ᵀθ from %g to %g", l.m, lowest.Value(), highest.Value())
	}
	slices.Sort(l.u)
	// The sum with all keys ≥ u[n] at hi rises as n falls; the first n to pass 1 is found by
	// halving, and one of its two neighbours is T.
	low, high := 0, len(l.u) // the sum is ≥ 1 from low down, < 1 at high
	for high-low > 1 {
		mid := low + (high-low)/2
		if l.excess(l.u[mid]) >= 0 {
			low = mid
		} else {
			high = mid
		}
	}
	l.least = l.u[low]
	l.f = l.excess(l.least)
	l.pivot = l.least
	if high < len(l.u) {
		if f := l.excess(l.u[high]); -f < l.f {
			l.least, l.f = l.u[high], f
		}
	} else if f := l.excess(math.Inf(1)); -f < l.f {
		l.least, l.f = math.Inf(1), f
	}
	l.ties = len(l.y)
	return nil
}

// excess returns 1ᵀθ − 1 with every coordinate of key ≥ least at hi and the others at lo.
func (l *line) excess(least float64) float64 {
	var acc sum.Accumulator
	acc.Add(-1)
	for i := range l.y {
		lo, hi := l.side(i)
		if l.key(i) >= least {
			acc.Add(hi)
		} else {
			acc.Add(lo)
		}
	}
	return acc.Value()
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
		k := min(max(int(math.Round(q)), 0), n)
		l.f = math.FMA(float64(k), hi, math.FMA(float64(n-k), lo, -1))
		l.least = l.order(max(k, 1))
		l.ties = k
		for _, v := range l.y {
			if v > l.least {
				l.ties--
			}
		}
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
	if mid := a + (b-a)/2; mid-mid == 0 && (a < 0) != (b < 0) {
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
		return l.atBox(z)
	}
	s := sample{z: z, slope: math.NaN()}
	d := float64(len(l.y))
	curvature := math.NaN() // J″
	if l.curver != nil {
		curvature = 0
		for _, v := range l.u {
			c := l.curver.ConjCurvature(v)
			curvature += c
			s.noise += c * math.Abs(v)
		}
	} else if l.j2 != nil {
		curvature = l.j2.ConjugateCurvature(l.u)
	}
	l.m.ConjugateGradient(l.u, l.u)
	var acc sum.Accumulator
	acc.Add(-1)
	for _, v := range l.u {
		acc.Add(v)
		s.noise += math.Abs(v)
	}
	s.r = acc.Value()
	s.noise *= 2 * ulp
	mean := (1 + s.r) / d
	switch {
	case l.kernel != nil:
		s.g = math.Copysign(math.Inf(1), s.r)
		if lo, hi := l.kernel.Domain(); lo < mean && mean < hi {
			h := l.kernel.Deriv(mean)
			s.g = h - l.target
			if l.curver != nil {
				s.slope = curvature / d / l.curver.ConjCurvature(h)
			}
		}
	case l.diagonal:
		s.g = math.Copysign(math.Inf(1), s.r)
		if h, ok := l.psi(mean); ok {
			s.g, s.h = h-l.target, h
			if l.symmetric && l.j2 != nil {
				s.slope = curvature / l.j2.ConjugateCurvature(l.u)
			} else if up, ok := l.psi(mean * (1 + nearly)); ok {
				s.slope = curvature / d * (up - h) / (mean * nearly)
			}
		}
	default:
		s.g, s.slope = s.r, curvature
	}
	return s.nearRoot(curvature, l.target)
}

// nearRoot replaces g by its tangent where that is more accurate.
func (s sample) nearRoot(curvature, target float64) sample {
	if math.Abs(s.g) < nearly*math.Abs(target) {
		if tangent := s.r * (s.slope / curvature); tangent-tangent == 0 {
			s.g = tangent
		}
	}
	return s
}

// atBox is at for bounded coordinates.
func (l *line) atBox(z float64) sample {
	s := sample{z: z}
	var da, db float64 // −A′ and B′
	ties := l.ties
	for i, v := range l.u {
		c := l.curvature(i, v)
		s.noise += c * math.Abs(v)
		if l.inT(i, &ties) {
			da += c
		} else {
			db += c
		}
	}
	if math.IsNaN(s.noise) {
		s.noise = 0
	}
	l.m.ConjugateGradient(l.u, l.u)
	var a, b, r sum.Accumulator
	r.Add(-1)
	ties = l.ties
	for i, v := range l.u {
		r.Add(v)
		s.noise += math.Abs(v)
		lo, hi := l.side(i)
		if l.box != nil { // θ is the sum of an end and a gap
			if v-lo < hi-v {
				s.noise += math.Abs(lo)
			} else {
				s.noise += math.Abs(hi)
			}
		}
		if l.inT(i, &ties) {
			a.Add(hi - v)
		} else {
			b.Add(v - lo)
		}
	}
	s.r = r.Value()
	s.noise *= 2 * ulp
	below, above := a.Value()+max(0, -l.f), b.Value()+max(0, l.f) // above − below = r
	s.g = math.Log1p(s.r / below)
	s.slope = da/below + db/above
	if l.kernel == nil || math.Abs(s.r) < nearly*below {
		return s
	}
	_, hi := l.kernel.Domain()
	d := float64(len(l.y))
	p, q := l.kernel.Deriv(hi-below/d), l.kernel.Deriv(hi-above/d)
	if g := p - q; g-g == 0 {
		s.g = g
		s.slope = da/d/l.curvature(0, p) + db/d/l.curvature(0, q)
	}
	return s
}

// inT reports whether coordinate i is in T: those with a key above the least are, and of
// those with the least the first few.
func (l *line) inT(i int, ties *int) bool {
	key := l.key(i)
	if key == l.least && *ties > 0 {
		*ties--
		return true
	}
	return key > l.least
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
		case math.Abs(s.r) <= s.noise && s.noise < math.Inf(1):
			return z, evals, nil
		case s.r < 0:
			below = s
		default:
			above = s
		}
		next := l.newton(s)
		if !(s.slope > 0) {
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
		if slow >= 3 || !inside(next) {
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
