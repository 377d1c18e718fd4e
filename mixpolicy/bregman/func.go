package bregman

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/num/hyperdual"
)

// A Dual is a hyper-dual number. Evaluating a function at such a number gives the value and the first and second
// derivatives of the function, exact to rounding (Fike and Alonso 2011). Package gonum.org/v1/gonum/num/hyperdual
// provides the operations, such as Add, Mul, Log and Sqrt.
type Dual = hyperdual.Number

// FromClosures returns the modulus Σᵢ φ(xᵢ) on (lo, hi)ᵈ. The arguments value, deriv and conjDeriv are φ, φ′ and (φ*)′,
// where (φ*)′ is the inverse of φ′. Unlike a [Kernel], these functions need no new type.
//
//	m := bregman.FromClosures("half circle",
//		func(x float64) float64 { return -math.Sqrt(1 - x*x) },
//		func(x float64) float64 { return x / math.Sqrt(1-x*x) },
//		func(y float64) float64 { return y / math.Hypot(1, y) }, -1, 1)
func FromClosures(name string, value, deriv, conjDeriv func(float64) float64, lo, hi float64) Separable {
	return Separable{Kernel: closures{value, deriv, conjDeriv, lo, hi}, Name: name}
}

type closures struct {
	value, deriv, conjDeriv func(float64) float64
	lo, hi                  float64
}

func (k closures) Value(x float64) float64     { return k.value(x) }
func (k closures) Deriv(x float64) float64     { return k.deriv(x) }
func (k closures) ConjDeriv(y float64) float64 { return k.conjDeriv(y) }
func (k closures) Domain() (lo, hi float64)    { return k.lo, k.hi }

// FromFunc returns the modulus Σᵢ φ(xᵢ) on (lo, hi)ᵈ, for a function φ that is strictly convex on (lo, hi). Automatic
// differentiation gives φ′ and φ″, and root finding gives (φ*)′. FromFunc is the quickest way to a new modulus, but
// the returned modulus is tens of times slower than a hand-written [Kernel].
//
//	m := bregman.FromFunc("entropy", func(x bregman.Dual) bregman.Dual {
//		return hyperdual.Mul(x, hyperdual.Log(x))
//	}, 0, math.Inf(1))
//	err := bregman.Check(ctx, m, 3, 1).Err()
func FromFunc(name string, phi func(x Dual) Dual, lo, hi float64) Separable {
	return Separable{Kernel: automatic{phi, lo, hi}, Name: name}
}

type automatic struct {
	phi    func(x Dual) Dual
	lo, hi float64
}

func (f automatic) Value(x float64) float64  { return f.phi(Dual{Real: x}).Real }
func (f automatic) Deriv(x float64) float64  { return f.phi(Dual{Real: x, E1mag: 1}).E1mag }
func (f automatic) Domain() (lo, hi float64) { return f.lo, f.hi }
func (f automatic) at(x float64) Dual        { return f.phi(Dual{Real: x, E1mag: 1, E2mag: 1}) }

// ConjCurvature returns 1/φ″(x) at the x with φ′(x) = y.
func (f automatic) ConjCurvature(y float64) float64 { return 1 / f.at(f.ConjDeriv(y)).E1E2mag }

// ConjDeriv returns the x in (lo, hi) with φ′(x) = y, to within rounding of x. If there is no such x, ConjDeriv
// returns hi for a y above the range of φ′, and lo for a y below the range. If φ′ is not increasing, or is not a
// number, the result is meaningless; [Check] finds such mistakes. ConjDeriv uses Newton's method, in a bracket that
// shrinks at every evaluation. If φ″ ≤ 0, or if Newton's step would leave the bracket or is more than half as long as
// the previous step, ConjDeriv instead halves the number of floating-point numbers in the bracket. So the search ends
// for any φ.
func (f automatic) ConjDeriv(y float64) float64 {
	a, b, x, step := f.lo, f.hi, 0., math.Inf(1)
	switch {
	case math.IsNaN(y):
		return y
	case !math.IsInf(a, -1):
		x = a + min((b-a)/2, max(1, math.Abs(a)))
	case !math.IsInf(b, 1):
		x = b - max(1, math.Abs(b))
	}
	for range 500 {
		v := f.at(x)
		first, second := v.E1mag, v.E1E2mag
		switch {
		case first < y:
			a = x
		case first > y:
			b = x
		default: // at the root, or φ′ is NaN
			return x + 0*first
		}
		next := x - (first-y)/second
		if second > 0 && second <= math.MaxFloat64 && math.Abs(next-x) <= ulp/2*math.Abs(x) {
			break
		}
		if !(second > 0 && a < next && next < b) || math.Abs(next-x) > step/2 {
			next = between(a, b)
		}
		switch inside := a < next && next < b; { // if not inside, no number is between a and b
		case !inside && a == f.lo:
			return a
		case !inside && b == f.hi:
			return b
		case !inside:
			return x
		}
		step, x = math.Abs(next-x), next
	}
	return x
}

// Sum returns φ = φ₁ + φ₂ for two [Separable] moduli in ℝᵈ, on the intersection of their domains. If the modulus a or b
// is not a Separable in ℝᵈ, the Validate method of the returned modulus returns an error. If φ₁ and φ₂ are Legendre
// functions whose domains overlap, φ is a Legendre function, with
//
//	∇φ = ∇φ₁ + ∇φ₂,   D = D₁ + D₂,   φ*(y) = min_u φ₁*(u) + φ₂*(y − u),
//
// and ∇φ*(y) is the x with ∇φ₁(x) + ∇φ₂(x) = y. In general, there is no formula for x, so root finding computes x, as
// for [FromFunc]. If φ₁ is μ₁-strongly convex in ℓ_p and φ₂ is μ₂-strongly convex in ℓ_q, where p ≤ q, then φ is
// (μ₁ + μ₂)-strongly convex in ℓ_q, because ‖·‖_q ≤ ‖·‖_p.
//
//	m := bregman.Sum(3, bregman.NegativeEntropy(), bregman.Scale(bregman.Burg(), 0.1)) // an entropy with a barrier
func Sum(d int, a, b Modulus) Modulus {
	s, one := asSeparable(a)
	t, two := asSeparable(b)
	fits := one && two && (s.Each == nil || len(s.Each) == d) && (t.Each == nil || len(t.Each) == d)
	sum := Separable{Name: nameOf(a) + " + " + nameOf(b), Each: make([]Kernel, d), Mu: s.Mu + t.Mu, P: max(s.P, t.P)}
	for i := 0; i < d && fits; i++ {
		f, g := s.at(i), t.at(i)
		lo, hi := f.Domain()
		from, to := g.Domain()
		add := func(x Dual) Dual { return hyperdual.Add(dual(f, x), dual(g, x)) }
		sum.Each[i] = automatic{add, max(lo, from), min(hi, to)}
	}
	return sum
}

// dual evaluates k at a dual number x with x.E1E2mag = 0.
func dual(k Kernel, x Dual) Dual {
	g := k.Deriv(x.Real)
	return Dual{Real: k.Value(x.Real), E1mag: g * x.E1mag, E2mag: g * x.E2mag, E1E2mag: x.E1mag * x.E2mag / kernelCurvature(k, g)}
}

// FromVectorFunc returns the modulus φ that the function phi computes from the whole vector x; φ must be strictly
// convex. Outside the domain of φ, phi must return NaN or +Inf. The square root and the logarithm of a negative
// number are NaN without further code. The last argument must be a point inside the domain; its length is the
// dimension d. Automatic differentiation gives ∇φ with ⌈d/2⌉ evaluations of phi, and ∇²φ with d(d+1)/2 evaluations.
// Newton's method gives ∇φ*, and evaluates ∇²φ in each step, so d should be small. The function phi must be safe for
// concurrent calls, and must neither change nor keep x.
//
//	ball := bregman.FromVectorFunc("half sphere", func(x []bregman.Dual) bregman.Dual {
//		gap := bregman.Dual{Real: 4}
//		for _, v := range x {
//			gap = hyperdual.Sub(gap, hyperdual.Mul(v, v))
//		}
//		return hyperdual.Scale(-1, hyperdual.Sqrt(gap)) // −√(4 − ‖x‖²)
//	}, []float64{0, 0, 0})
func FromVectorFunc(name string, phi func(x []Dual) Dual, inside []float64) Modulus {
	return &vectorFunc{name: name, phi: phi, inside: slices.Clone(inside)}
}

type vectorFunc struct {
	name   string
	phi    func(x []Dual) Dual
	inside []float64
	free   sync.Pool // of unused newtonWork
}

type newtonWork struct {
	dual               []Dual
	x, rest, step, try []float64
	from, start, goal  []float64 // on the path to y: the last point, ∇φ at the first point, and ∇φ at the next point
	hess               blas64.Symmetric
}

func (m *vectorFunc) Validate() error {
	if !m.InDomain(m.inside) {
		return fmt.Errorf("bregman: modulus %q: φ or ∇φ is ±∞ or is not a number at %v, which should be in the domain", m.name, m.inside)
	}
	return nil
}

func (m *vectorFunc) String() string { return m.name }

func (m *vectorFunc) work(x []float64) *newtonWork {
	checkLen(x, m.inside)
	w, _ := m.free.Get().(*newtonWork)
	if d := len(x); w == nil {
		w = &newtonWork{dual: make([]Dual, d), hess: blas64.Symmetric{N: d, Stride: d, Data: make([]float64, d*d), Uplo: blas.Upper}}
		for _, v := range []*[]float64{&w.x, &w.rest, &w.step, &w.try, &w.from, &w.start, &w.goal} {
			*v = make([]float64, d)
		}
	}
	w.at(x)
	return w
}

func (w *newtonWork) at(x []float64) {
	for i, v := range x {
		w.dual[i] = Dual{Real: v}
	}
}

// Value returns φ(x), or +∞ where phi returns NaN.
func (m *vectorFunc) Value(x []float64) float64 {
	w := m.work(x)
	defer m.free.Put(w)
	if v := m.phi(w.dual).Real; !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// Gradient stores ∇φ(x) in dst. Each evaluation of phi gives two entries, or one entry if only one is left.
func (m *vectorFunc) Gradient(dst, x []float64) {
	checkLen(dst, x)
	w := m.work(x)
	defer m.free.Put(w)
	for i := 0; i < len(dst); i += 2 {
		j := min(i+1, len(dst)-1)
		w.dual[i].E1mag, w.dual[j].E2mag = 1, 1
		v := m.phi(w.dual)
		w.dual[i].E1mag, w.dual[j].E2mag = 0, 0
		dst[j], dst[i] = v.E2mag, v.E1mag
	}
}

// InDomain reports whether φ and ∇φ are finite numbers at x.
func (m *vectorFunc) InDomain(x []float64) bool {
	w := m.work(x)
	defer m.free.Put(w)
	v := m.Value(x)
	m.Gradient(w.try, x)
	return v-v == 0 && firstNonFinite(w.try) < 0
}

// ConjugateGradient stores in dst the x with ∇φ(x) = y. Newton's method starts at x₀, the last argument of
// FromVectorFunc. If Newton's method does not converge, ConjugateGradient follows the path
// ∇φ(x) = ∇φ(x₀) + s(y − ∇φ(x₀)) from s = 0 to 1, with adaptive steps. For a y beyond the range of ∇φ, the path ends
// next to the boundary. If φ is not convex, or if the domain is unbounded on the side of y, the path may end away from
// the boundary. If so, the entries of dst are NaN, [ProjectDual] returns an error, and [Check] says why.
func (m *vectorFunc) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	w := m.work(m.inside)
	defer m.free.Put(w)
	copy(w.from, m.inside)
	m.Gradient(w.start, m.inside)
	for s, part := 0., 1.; s < 1; {
		for i, v := range y {
			if w.goal[i] = v; s+part < 1 {
				w.goal[i] = w.start[i] + (s+part)*(v-w.start[i])
			}
		}
		copy(w.x, w.from)
		switch {
		case m.newton(w, w.goal):
			copy(w.from, w.x)
			s, part = s+part, min(2*part, 1-s-part)
		case part < 1e-6*s || part < 1e-300:
			copy(w.x, w.from)
			floats.AddScaledTo(w.try, w.x, 1e-6*(1+maxAbs(w.x))/maxAbs(y), y)
			if m.InDomain(w.try) { // the path has ended away from the boundary
				floats.AddConst(math.NaN(), w.x)
			}
			s = 1
		default:
			part /= 8
		}
	}
	copy(dst, w.x)
}

// newton moves x to the solution of ∇φ(x) = y. It halves each step until two conditions hold: the step ends in the
// domain; and at the end of the step, the slope of ⟨x, y⟩ − φ(x) is at least minus a quarter of the slope at the start.
// It succeeds when ∇φ(x) = y, when a step no longer changes x, or when three short steps in a row leave at least half
// of ‖y − ∇φ(x)‖_∞. It fails after 400 steps, if ∇²φ(x) is not positive definite, or if a step overflows.
func (m *vectorFunc) newton(w *newtonWork, y []float64) bool {
	m.Gradient(w.rest, w.x)
	floats.SubTo(w.rest, y, w.rest)
	d, before, slow := len(y), math.Inf(1), 0 // before: the size that three short steps should halve; slow: the number of these steps
	for range 400 {
		size := maxAbs(w.rest)
		if size == 0 {
			return true
		}
		w.at(w.x)
		for i := range d { // the step is ∇²φ(x)⁻¹(y − ∇φ(x)), divided by size
			for j := i; j < d; j++ {
				w.dual[i].E1mag, w.dual[j].E2mag = 1, 1
				w.hess.Data[i*d+j] = m.phi(w.dual).E1E2mag
				w.dual[i].E1mag, w.dual[j].E2mag = 0, 0
			}
			w.step[i] = w.rest[i] / size
		}
		u, ok := lapack64.Potrf(w.hess)
		if !ok {
			return false
		}
		blas64.Trsv(blas.Trans, u, blas64.Vector{N: d, Inc: 1, Data: w.step})
		blas64.Trsv(blas.NoTrans, u, blas64.Vector{N: d, Inc: 1, Data: w.step})
		short, changed := m.advance(w, y, size)
		if slow++; size < before/2 || !short {
			slow, before = 0, size
		}
		if !changed || slow == 3 { // only rounding is left, unless the step overflows
			return firstNonFinite(w.step) < 0
		}
	}
	return false
}

// advance moves x by t times the step, with the first acceptable t of t₀, t₀/2, …, where t₀ is size, or less if the
// step is very long. It stores the new y − ∇φ(x) in rest. It reports whether Newton's whole step changes x by at most
// 2⁻²⁶‖x‖_∞, and whether x changed. If the step is not finite, t is NaN or 0, and x does not change.
func (m *vectorFunc) advance(w *newtonWork, y []float64, size float64) (short, changed bool) {
	const leap = 1000 // a step is at most leap·(1 + ‖x‖_∞) long in each coordinate, so nothing overflows
	top, slope := maxAbs(w.x), floats.Dot(w.rest, w.step)/size
	t := min(size, leap*(1+top)/maxAbs(w.step))
	for short = t == size; ; t /= 2 {
		changed = false
		for i, v := range w.x {
			w.try[i] = v + t*w.step[i]
			move := math.Abs(w.try[i] - v)
			short, changed = short && move <= 0x1p-26*top, changed || move > ulp*math.Abs(v)
		}
		if !changed {
			return short, false
		}
		if v := m.Value(w.try); v-v != 0 {
			continue
		}
		m.Gradient(w.rest, w.try)
		floats.SubTo(w.rest, y, w.rest)
		if floats.Dot(w.rest, w.step)/size >= -slope/4 {
			copy(w.x, w.try)
			return short, true
		}
	}
}
