package bregman

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/num/hyperdual"
)

type function = func(float64) float64

// A draft is a kernel on its way to being one: what is nil is that of the softsign with R = 2.
type draft struct {
	value, deriv, conj function
	lo, hi             float64
}

func (d draft) modulus() Modulus {
	if d.value == nil {
		d.value = func(x float64) float64 { return -math.Abs(x) - 2*math.Log1p(-math.Abs(x)/2) }
	}
	if d.deriv == nil {
		d.deriv = func(x float64) float64 { return x / (2 - math.Abs(x)) }
	}
	if d.conj == nil {
		d.conj = func(y float64) float64 { return 2 * (y / (1 + math.Abs(y))) }
	}
	if d.lo == d.hi {
		d.lo, d.hi = -2, 2
	}
	return FromClosures("draft", d.value, d.deriv, d.conj, d.lo, d.hi)
}

// with has further methods.
type with struct {
	Kernel
	conjugate, curvature function
	divergence           func(x, y float64) float64
}

type withConjugate struct{ with }
type withCurvature struct{ with }
type withDivergence struct{ with }

func (k withConjugate) Conjugate(y float64) float64      { return k.conjugate(y) }
func (k withCurvature) ConjCurvature(y float64) float64  { return k.curvature(y) }
func (k withDivergence) Divergence(x, y float64) float64 { return k.divergence(x, y) }

// fixed has room for two coordinates.
type fixed struct{ Ball }

func (b fixed) Gradient(dst, x []float64) {
	var y [2]float64
	for i, v := range x {
		y[i] = v * v
	}
	b.Ball.Gradient(dst, x)
}

// sharing keeps what it computes in a slice that all calls use.
type sharing struct {
	Ball
	scratch []float64
}

func (b sharing) ConjugateGradient(dst, y []float64) {
	copy(b.scratch, y)
	b.Ball.ConjugateGradient(dst, b.scratch)
}

// remembering takes the norm from the call before.
type remembering struct {
	Ball
	norm *float64
}

func (b remembering) Gradient(dst, x []float64) {
	*b.norm = norm2(x)
	b.Ball.Gradient(dst, x)
}

func (b remembering) ConjugateGradient(dst, y []float64) {
	b.Ball.ConjugateGradient(dst, y)
	dst[0] += 1e-9 * *b.norm
}

type shifting struct {
	Ball
	f func(z float64) float64
}

func (b shifting) Shift(y []float64) (float64, error) {
	z, err := b.Ball.Shift(y)
	return b.f(z), err
}

type argument struct{ Ball }

func (b argument) Gradient(dst, x []float64) {
	b.Ball.Gradient(dst, x)
	x[0] = 0
}

type unstored struct{ Ball }

func (b unstored) Gradient(dst, x []float64) {
	last := dst[len(dst)-1]
	b.Ball.Gradient(dst, x)
	dst[len(dst)-1] = last
}

type halfCurved struct{ Ball }

func (b halfCurved) ConjugateCurvature(y []float64) float64 {
	return b.Ball.ConjugateCurvature(y) / 2
}

// quartic is ½r² − ⅛r⁴ with r = ‖x‖ < 2, which is not convex beyond r² = ⅔.
type quartic struct{}

func (quartic) InDomain(x []float64) bool { return norm2(x) < 2 }

func (quartic) Value(x []float64) float64 {
	if r := dot(x, x); r < 4 {
		return r/2 - r*r/8
	}
	return inf
}

func (quartic) Gradient(dst, x []float64)          { floats.ScaleTo(dst, 1-dot(x, x)/2, x) }
func (quartic) ConjugateGradient(dst, y []float64) { copy(dst, y) }

type unwritten struct{ Ball }

func (b unwritten) Gradient(dst, x []float64) { panic("not written yet") }

// Mistakes that people make, and what Check says of them: one finding, or those that are given.
var slips = []struct {
	name string
	m    Modulus
	kind Kind
	want string // of the finding's line
}{
	// Formulas.
	{"sign of φ′", draft{deriv: func(x float64) float64 { return -x / (2 - math.Abs(x)) }}.modulus(), Disagrees,
		"Deriv is −1 times the derivative of Value, at x = 0.3: measured 0.176471, claimed −0.176471"},
	{"sign of φ", draft{value: func(x float64) float64 { return math.Abs(x) + 2*math.Log1p(-math.Abs(x)/2) }}.modulus(), Disagrees,
		"The derivative of Value is −1 times Deriv, at x = 0.3: measured 0.176471, claimed −0.176471"},
	{"sign of everything", draft{
		value: func(x float64) float64 { return math.Abs(x) + 2*math.Log1p(-math.Abs(x)/2) },
		deriv: func(x float64) float64 { return -x / (2 - math.Abs(x)) },
		conj:  func(y float64) float64 { return -2 * (y / (1 + math.Abs(y))) },
	}.modulus(), NotLegendre, "φ is concave: is −φ meant?"},
	{"a factor in φ′", draft{deriv: func(x float64) float64 { return 2 * x / (2 - math.Abs(x)) }}.modulus(), Disagrees,
		"Deriv is 2 times the derivative of Value, at x = 0.3: measured 0.176471, claimed 0.352941"},
	{"½ forgotten in φ", draft{value: func(x float64) float64 { return x * x }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), Disagrees,
		"The derivative of Value is 2 times Deriv, at x = 0.3: measured 0.3, claimed 0.6"},
	{"1/2 of integers", draft{value: func(x float64) float64 { n := 2; return float64(1/n) * x * x }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), Disagrees,
		"The derivative of Value is 0 everywhere; is there a quotient of integers, such as 1/2, which is 0 in Go?, at x = 0.3: measured 0.3, claimed 0"},
	{"−x forgotten in φ", draft{value: xlogx, deriv: math.Log, conj: math.Exp, lo: 0, hi: inf}.modulus(), Disagrees,
		"The derivative of Value is Deriv plus 1, at x = 0.3: measured −1.20397, claimed −0.203973"},
	{"1 forgotten in φ′", draft{value: xlogx, deriv: math.Log, conj: func(y float64) float64 { return math.Exp(y - 1) }, lo: 0, hi: inf}.modulus(), Disagrees,
		"Deriv is the derivative of Value plus −1, at x = 0.3: measured −0.203973, claimed −1.20397"},
	{"1 forgotten in the inverse", draft{value: xlogx, deriv: func(x float64) float64 { return 1 + math.Log(x) }, conj: math.Exp, lo: 0, hi: inf}.modulus(), Disagrees,
		"ConjDeriv is 2.71828 (e) times the inverse of Deriv, at y = −0.203973: measured 0.3, claimed 0.815485"},
	{"a logarithm to base 2", draft{value: func(x float64) float64 { return xlogx(x) - x }, deriv: math.Log2, conj: math.Exp, lo: 0, hi: inf}.modulus(), Disagrees,
		"Deriv is 1.4427 (1/log 2) times the derivative of Value, at x = 0.3: measured −1.20397, claimed −1.73697"},
	{"φ′ for positive x only", draft{deriv: func(x float64) float64 { return x / (2 - x) }}.modulus(), Disagrees,
		"Deriv is not the derivative of Value for negative arguments, at x = −0.3: measured −0.176471, claimed −0.130435"},
	{"|x| for x", draft{deriv: func(x float64) float64 { return math.Abs(x) / (2 - math.Abs(x)) }}.modulus(), Disagrees,
		"Deriv is −1 times the derivative of Value for negative arguments, at x = −0.3: measured −0.176471, claimed 0.176471"},
	{"inverse for positive y only", draft{conj: func(y float64) float64 { return 2 * y / (1 + y) }}.modulus(), Disagrees,
		"ConjDeriv is not the inverse of Deriv for negative arguments, at y = −0.176471: measured −0.3, claimed −0.428571"},
	{"sign of the inverse", draft{conj: func(y float64) float64 { return -2 * (y / (1 + math.Abs(y))) }}.modulus(), Disagrees,
		"ConjDeriv is −1 times the inverse of Deriv, at y = 0.176471: measured 0.3, claimed −0.3"},
	{"tanh y for tanh y/2", draft{value: cube{1}.Value, deriv: cube{1}.Deriv, conj: math.Tanh, lo: -1, hi: 1}.modulus(), Disagrees,
		"ConjDeriv is not the inverse of Deriv: Deriv(ConjDeriv(y)) is 2 times y, at y = 0.619039: measured 0.3, claimed 0.550459"},
	{"1/φ′ for the inverse", draft{conj: func(y float64) float64 { return 1 / (y / (2 - math.Abs(y))) }}.modulus(), Disagrees,
		"ConjDeriv is 1 over Deriv, not its inverse, at y = 0.176471: measured 0.3, claimed 10.3333"},
	{"φ′ for the inverse", draft{conj: func(y float64) float64 { return y / (2 - math.Abs(y)) }}.modulus(), Disagrees,
		"ConjDeriv returns the same as Deriv, at y = 0.176471: measured 0.3, claimed 0.0967742"},
	{"φ* for its derivative", draft{value: cosh, deriv: math.Sinh, conj: func(y float64) float64 { return y*math.Asinh(y) - math.Hypot(1, y) }, lo: -inf, hi: inf}.modulus(), Disagrees,
		"ConjDeriv is φ*, not its derivative, at y = 0.30452: measured 0.3, claimed −0.953982"},
	{"φ″ for φ′", draft{value: cosh, deriv: cosh, conj: math.Asinh, lo: -inf, hi: inf}.modulus(), Disagrees, "Deriv returns Value, at x = 0.3: measured 0.30452, claimed 1.04534"},
	{"φ″", draft{value: burg{}.Value, deriv: func(x float64) float64 { return 1 / (x * x) }, conj: burg{}.ConjDeriv, lo: 0, hi: inf}.modulus(), Disagrees,
		"Deriv is the second derivative of Value, at x = 0.3: measured −3.33333, claimed 11.1111"},
	{"interchanged", draft{deriv: func(x float64) float64 { return 2 * (x / (1 + math.Abs(x))) }, conj: func(y float64) float64 { return y / (2 - math.Abs(y)) }}.modulus(), Disagrees,
		"Deriv and ConjDeriv are interchanged"},
	{"an iteration that ends early", draft{conj: func(y float64) float64 { return 2 * (y / (1 + math.Abs(y))) * (1 + 1e-7*math.Sin(100*y)) }}.modulus(), Disagrees,
		"ConjDeriv is the inverse of Deriv to 7 digits only"},
	{"float32", draft{conj: func(y float64) float64 { return float64(float32(2 * (y / (1 + math.Abs(y))))) }}.modulus(), Disagrees,
		"ConjDeriv is the inverse of Deriv to 7 digits only"},

	// No Legendre functions.
	{"no barrier", draft{value: half, deriv: self, conj: func(y float64) float64 { return max(-2, min(2, y)) }}.modulus(), NotLegendre,
		"φ′ stays finite at the end −2 of the domain: φ has no barrier there, at x = −2: measured 2, claimed +Inf"},
	{"domain too narrow", draft{lo: -1, hi: 1}.modulus(), NotLegendre,
		"φ′ stays finite at the end −1 of the domain: φ has no barrier there. Value, Deriv and ConjDeriv agree beyond it: is the domain wider?, at x = −1: measured 1, claimed +Inf"},
	{"domain too wide", draft{value: func(x float64) float64 { return x*math.Log(x) - x }, deriv: math.Log, conj: math.Exp, lo: -1, hi: inf}.modulus(), Disagrees,
		"the domain starts at 0, at x = "},
	{"domain too wide above", draft{hi: 3, lo: -2}.modulus(), Disagrees, "the domain ends at 2, at x = "},
	{"domain the wrong way round", draft{lo: 2, hi: -2}.modulus(), Invalid, "the domain (2, -2) of draft is empty"},
	{"no number anywhere", draft{value: func(float64) float64 { return math.NaN() }}.modulus(), Disagrees, "= NaN, at x = "},
	{"0/0", draft{deriv: func(x float64) float64 { return x * x / math.Abs(x) / (2 - math.Abs(x)) }}.modulus(), Disagrees, "Deriv(0) = NaN at a single point, at x = 0"},
	{"a jump", draft{value: func(x float64) float64 { return half(x) + math.Max(0, math.Copysign(0.1, x-0.5)) }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"Value jumps by 0.1, at x = 0.5"},
	{"a kink", draft{value: func(x float64) float64 { return half(x) + math.Abs(x) }, deriv: func(x float64) float64 { return x + math.Copysign(1, x) }, conj: func(y float64) float64 { return math.Copysign(max(0, math.Abs(y)-1), y) }, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"φ is not differentiable: Deriv jumps from −1 to 1, at x = 0"},
	{"a jump on a steep slope", draft{value: func(x float64) float64 { return 100*half(x) + math.Max(0, math.Copysign(3, x-0.5)) }, deriv: func(x float64) float64 { return 100 * x }, conj: func(y float64) float64 { return y / 100 }, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"Value jumps by 3, at x = 0.5"},
	{"a jump down", draft{value: func(x float64) float64 { return half(x) - math.Max(0, math.Copysign(0.1, x-0.5)) }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"Value jumps by −0.1, at x = 0.5"},
	{"a jump of a vector's φ", mutant{Modulus: Ball{2}, value: func(x []float64) float64 { return Ball{2}.Value(x) + math.Max(0, math.Copysign(0.1, x[0]-0.5)) }}, NotLegendre,
		"Value jumps by 0.1, at x = ["},
	{"a vector's φ that is not convex", quartic{}, NotLegendre, "φ is not convex, at x = ["},
	{"six digits", draft{deriv: func(x float64) float64 { return (1 + 2e-7) * x / (2 - math.Abs(x)) }}.modulus(), Disagrees,
		"Deriv is the derivative of Value to 6 digits only: does an iteration end early, or is there a float32?"},
	{"an inverse of 2y where y < 0", draft{conj: func(y float64) float64 {
		if y < 0 {
			y *= 2
		}
		return 2 * (y / (1 + math.Abs(y)))
	}}.modulus(), Disagrees,
		"ConjDeriv is not the inverse of Deriv for negative arguments: Deriv(ConjDeriv(y)) is 2 times y for negative arguments"},
	{"half of (φ*)″", Separable{Kernel: withCurvature{with{Kernel: hellinger{1}, curvature: func(y float64) float64 { return hellinger{1}.ConjCurvature(y) / 2 }}}}, Disagrees, "ConjCurvature is 0.5 times (φ*)″, at y = "},
	{"half of a vector's (φ*)″", halfCurved{Ball{2}}, Disagrees, "ConjugateCurvature is 0.5 times 1ᵀ∇²φ*(y)1, at y["},
	{"x³", FromFunc("x³", func(x Dual) Dual { return hyperdual.Mul(x, hyperdual.Mul(x, x)) }, -1, 1), NotLegendre, "φ is not convex: φ′ falls from 2.9999"},
	{"x", FromFunc("x", func(x Dual) Dual { return x }, -1, 1), NotLegendre, "φ is linear: ∇φ is the same everywhere"},
	{"cos", FromFunc("−cos", func(x Dual) Dual { return hyperdual.Scale(-1, hyperdual.Cos(x)) }, -math.Pi/2, math.Pi/2), NotLegendre, "φ′ stays finite at the end −1.5708 of the domain: φ has no barrier there, at x = −1.5708: measured 1, claimed +Inf"},
	{"a flat piece", draft{value: func(x float64) float64 { return half(max(0, math.Abs(x)-1)) }, deriv: func(x float64) float64 { return math.Copysign(max(0, math.Abs(x)-1), x) }, conj: func(y float64) float64 { return y + math.Copysign(1, y) }, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"φ is not strictly convex: φ′ is 0 from x = −"},

	// Large numbers.
	{"exp y overflows", draft{value: cube{1}.Value, deriv: cube{1}.Deriv, conj: naiveCube{cube{1}}.ConjDeriv, lo: -1, hi: 1}.modulus(), Overflows,
		"ConjDeriv is NaN from y = 709.436 on, where exp(y) overflows, at y = 709.436"},
	{"y² overflows: back to 0", draft{value: hellinger{1}.Value, deriv: hellinger{1}.Deriv, conj: func(y float64) float64 { return y / math.Sqrt(1+y*y) }, lo: -1, hi: 1}.modulus(), Overflows,
		"1.34078e+154 on, where y² overflows"},
	{"NaN becomes 0", draft{value: cube{1}.Value, deriv: cube{1}.Deriv, conj: func(y float64) float64 {
		if x := (naiveCube{cube{1}}).ConjDeriv(y); !math.IsNaN(x) {
			return x
		}
		return 0
	}, lo: -1, hi: 1}.modulus(), Overflows, "ConjDeriv is 0 from y = 709.436 on, where exp(y) overflows, at y = 709.436: measured 1, claimed 0"},
	{"overflow at 1e299", mutant{Modulus: Ball{2}, conj: func(dst, y []float64) {
		if maxAbs(y) > 1e299 {
			clear(dst)
		}
	}}, Overflows, "ConjugateGradient is 0 from ‖y‖ = "},

	// Other methods.
	{"a constant in φ*", Separable{Kernel: withConjugate{with{Kernel: cube{2}, conjugate: func(y float64) float64 { return cube{2}.Conjugate(y) + 1 }}}}, Disagrees, "Conjugate is φ* plus 3, at y = "},
	{"φ* forgotten half", Separable{Kernel: withConjugate{with{Kernel: square{}, conjugate: func(y float64) float64 { return y * y }}}}, Disagrees, "Conjugate is 2 times φ*"},
	{"D(y; x)", Separable{Kernel: withDivergence{with{Kernel: entropy{}, divergence: func(x, y float64) float64 { return entropy{}.Divergence(y, x) }}}}, Disagrees, "Divergence has its arguments interchanged: it is D(y; x)"},
	{"2D", Separable{Kernel: withDivergence{with{Kernel: square{}, divergence: func(x, y float64) float64 { return (x - y) * (x - y) }}}}, Disagrees, "Divergence is 2 times D(x; y)"},
	{"φ″ for (φ*)″", Separable{Kernel: withCurvature{with{Kernel: hellinger{1}, curvature: func(y float64) float64 { return 1 / hellinger{1}.ConjCurvature(y) }}}}, Disagrees, "ConjCurvature is φ″, and not 1 over it, at y = "},
	{"sign of z", shifting{Ball{2}, func(z float64) float64 { return -z }}, Disagrees, "Shift is −1 times the z of 1ᵀ∇φ*(y + z1) = 1"},
	{"a constant of strong convexity", Separable{Kernel: cube{2}, Mu: 4, P: 2}, Disagrees, "Mu claims more than the strong convexity that φ has in ℓ2"},

	// Vectors.
	{"one entry", mutant{Modulus: Ball{2}, grad: func(dst, _ []float64) { dst[2] *= 2 }}, Disagrees, "Gradient is 2 times the gradient of Value in entry 2, at x = [0.3 0.3 0.3], entry 2: measured 0.155334, claimed 0.310668"},
	{"the last entry left out", mutant{Modulus: Ball{2}, conj: func(dst, _ []float64) { dst[2] = 0 }}, Disagrees, "ConjugateGradient is 0 everywhere in entry 2; is there a quotient of integers, such as 1/2, which is 0 in Go?, at y[2] = 0.155334: measured 0.3, claimed 0"},
	{"no barrier of a ball", mutant{Modulus: Separable{Kernel: square{}}, conj: func(dst, _ []float64) {
		if n := norm2(dst); n > 2 {
			copy(dst, combine(2/n, dst, 0, dst))
		}
	}, value: func(x []float64) float64 {
		if norm2(x) > 2 {
			return inf
		}
		return dot(x, x) / 2
	}, domain: func(x []float64) bool { return norm2(x) < 2 }}, NotLegendre, "‖∇φ‖ stays finite at the boundary: φ has no barrier there, at x = ["},
	{"inside everywhere", boundless{Ball{2}}, Disagrees, "= +Inf inside of the domain, at x = ["},
	{"NaN outside", mutant{Modulus: Ball{2}, value: func(x []float64) float64 { return -math.Sqrt(4 - dot(x, x)) }}, Disagrees, "Value is not +∞ outside of the domain"},
	{"inside nowhere", mutant{Modulus: Ball{2}, domain: func([]float64) bool { return false }}, Disagrees, "no point was found inside of the domain"},
	{"parameters", Ball{-1}, Invalid, "ball of radius R = -1: want 0 < R < ∞"},
	{"no function", draftOf(nil), Invalid, "modulus \"nothing\": want functions for φ, φ′ and (φ*)′, not nil"},

	// Calls.
	{"not written yet", unwritten{Ball{2}}, Panics, "Gradient panics: not written yet, at mistakes_test.go:"},
	{"room for two", fixed{Ball{2}}, Panics, "Gradient panics: runtime error: index out of range [2] with length 2, at mistakes_test.go:"},
	{"a panic in a closure", draft{conj: func(float64) float64 { panic("no inverse") }}.modulus(), Panics, "ConjDeriv panics: no inverse, at mistakes_test.go:"},
	{"not in place", outOfPlace{Ball{2}}, Unsafe, "ConjugateGradient is wrong when the result takes the place of the argument"},
	{"changes x", argument{Ball{2}}, Unsafe, "Gradient changes its argument"},
	{"an entry not stored", unstored{Ball{2}}, Unsafe, "Gradient does not store every entry of its result"},
	{"random", draft{conj: noisy()}.modulus(), Unsafe, "ConjDeriv gives another result for the same point"},
	{"remembers", remembering{Ball{2}, new(float64)}, Unsafe, "Gradient writes to norm, which all calls share: it can't be called from several goroutines"},
	{"remembers in a closure", closure(), Unsafe, "ConjDeriv depends on what was called before"},
	{"a scratch slice", sharing{Ball{2}, make([]float64, 3)}, Unsafe, "ConjugateGradient writes to scratch, which all calls share: it can't be called from several goroutines"},
	{"allocates", allocating{Ball{2}}, Allocates, "a call of Gradient or ConjugateGradient allocates memory: measured 0.5, claimed 0"},
}

var inf = math.Inf(1)

func self(x float64) float64 { return x }
func half(x float64) float64 { return x * x / 2 }
func cosh(x float64) float64 { return math.Cosh(x) }

func draftOf(f function) Modulus { return FromClosures("nothing", f, f, f, 0, 1) }

// noisy is an inverse with a random part.
func noisy() function {
	n := 0.0
	return func(y float64) float64 {
		n++
		return 2*(y/(1+math.Abs(y))) + 1e-12*math.Sin(n)
	}
}

// closure remembers the last x.
func closure() Modulus {
	last := 0.0
	return draft{
		deriv: func(x float64) float64 { last = x; return x / (2 - math.Abs(x)) },
		conj:  func(y float64) float64 { return 2*(y/(1+math.Abs(y))) + 1e-12*last },
	}.modulus()
}

func TestSlips(t *testing.T) {
	book := openBook(t, "testdata/slips.txt")
	for _, c := range slips {
		d := 3
		if _, ok := c.m.(*vectorFunc); ok {
			d = 2
		}
		t.Run(c.name, func(t *testing.T) {
			r := Check(c.m, d, 1)
			consistent(t, r)
			if len(r.Findings) != 1 || r.Findings[0].Kind != c.kind || !strings.Contains(r.Findings[0].String(), c.want) {
				t.Errorf("%v\nwant %v: %s", r.Err(), c.kind, c.want)
			}
			book.compare(t, c.name, r)
		})
	}
}
