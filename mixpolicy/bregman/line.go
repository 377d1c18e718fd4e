package bregman

import (
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A line is the function J′ along y + z1, seen in a coordinate g in which it is nearly
// straight. There are four.
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
//   - A modulus that knows its own coordinate, a [straightener].
//   - A φ whose domain does not have the diagonal's point (1/d)1: g = J′.
type line struct {
	m      Modulus
	kernel Coordinatewise // nil if m is not separable
	curver KernelCurver   // nil with the kernel
	j2     Curver         // the same for a modulus that is not separable
	box    boxed          // nil unless the coordinates differ
	own    straightener   // nil unless m knows its own coordinate
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
	sketchAt(i int, y float64) (x, slope float64)
}

// A straightener is a modulus, not separable, that knows a function of u = y + z1 that has
// the root of J′ and is nearly straight in z.
type straightener interface {
	straight(u []float64) (g, slope float64)
	// bracket returns bounds of the root, given the least and the largest entry of y.
	bracket(least, largest float64) (a, b float64)
	// start is about where the root is but for ψ(1/d), between where the mean of y + z1 is 0 and
	// where the middle of its range is.
	start(mean, middle float64) float64
	// amplification is how many ulps θᵢ moves when its yᵢ + z moves by one.
	amplification() float64
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

// curvature returns (φ*)″ at coordinate i.
func (l *line) curvature(i int, y float64) float64 {
	if l.box != nil {
		return l.box.curvatureAt(i, y)
	}
	return l.curver.ConjCurvature(y)
}

// sketch returns a stand-in for θᵢ and its slope, NaN if there is none.
func (l *line) sketch(i int, y float64) (x, slope float64) {
	if l.box != nil {
		return l.box.sketchAt(i, y)
	}
	return sketch(l.kernel, y)
}

// A sample is what one evaluation tells.
type sample struct {
	z         float64 // reckoned from −pivot
	r         float64 // J′(z) = 1ᵀθ − 1
	curvature float64 // J″(z), NaN if unknown
	noise     float64 // what rounding may make of r: two ulps of every θᵢ, one of every yᵢ + z
	g         float64 // has the sign of r; ±∞ where it is not known
	slope     float64 // g′(z), NaN if unknown
	h         float64 // ψ(θ̄), if that is the coordinate
}

// Where h is within a factor of 1 ± nearly of its target, h − target has lost half of its
// digits, and its tangent, a multiple of r, still has half of them right.
const nearly = 0x1p-26

// at evaluates J′ and the coordinate g.
func (l *line) at(z float64) sample {
	for i, v := range l.y {
		l.u[i] = (v - l.pivot) + z
	}
	if l.bounded {
		return l.atBox(z)
	}
	s := sample{z: z, slope: math.NaN(), curvature: math.NaN()}
	d := float64(len(l.y))
	if l.curver != nil {
		s.curvature = 0
		for _, v := range l.u {
			c := l.curver.ConjCurvature(v)
			s.curvature += c
			s.noise += c * math.Abs(v)
		}
	} else if l.j2 != nil {
		s.curvature = l.j2.ConjugateCurvature(l.u)
	}
	if l.own != nil {
		s.g, s.slope = l.own.straight(l.u)
	}
	l.m.ConjugateGradient(l.u, l.u)
	var acc sum.Accumulator
	acc.Add(-1)
	var size float64
	for _, v := range l.u {
		acc.Add(v)
		size += math.Abs(v)
	}
	s.r = acc.Value()
	s.noise = 2 * ulp * (s.noise + size)
	switch {
	case l.own != nil:
		s.noise += 2 * ulp * size * l.own.amplification()
		return s
	case l.kernel == nil: // as if θᵢ moved by an ulp for one of its yᵢ + z
		s.noise += 2 * ulp * size
	}
	mean := (1 + s.r) / d
	switch {
	case l.kernel != nil:
		s.g = math.Copysign(math.Inf(1), s.r)
		if lo, hi := l.kernel.Domain(); lo < mean && mean < hi {
			h := l.kernel.Deriv(mean)
			s.g = h - l.target
			s.slope = s.curvature / d / l.curver.ConjCurvature(h)
		}
	case l.diagonal:
		s.g = math.Copysign(math.Inf(1), s.r)
		if h, ok := l.psi(mean); ok {
			s.g, s.h = h-l.target, h
			if l.symmetric && l.j2 != nil {
				s.slope = s.curvature / l.j2.ConjugateCurvature(l.u)
			} else if up, ok := l.psi(mean * (1 + nearly)); ok {
				s.slope = s.curvature / d * (up - h) / (mean * nearly)
			}
		}
	default:
		s.g, s.slope = s.r, s.curvature
	}
	return s.nearRoot(l.target)
}

// nearRoot replaces g by its tangent where that is more accurate.
func (s sample) nearRoot(target float64) sample {
	if math.Abs(s.g) < nearly*math.Abs(target) {
		if tangent := s.r * (s.slope / s.curvature); tangent-tangent == 0 {
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
	s.slope, s.curvature = da/below+db/above, da+db
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
