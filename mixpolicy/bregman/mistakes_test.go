package bregman_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/num/hyperdual"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

type function = func(float64) float64

// A draft is an unfinished kernel. The softsign kernel with R = 2 replaces functions that are nil, and the domain if
// lo = hi.
type draft struct {
	value, deriv, conj function
	lo, hi             float64
}

func (d draft) modulus() Separable {
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

// with stores functions for optional methods of a kernel. Each of the next three types has one such method.
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

// remembering adds to an entry of ∇φ* a multiple of ‖x‖ from the last call of Gradient.
type remembering struct {
	Ball
	norm *float64
}

func (b remembering) Gradient(dst, x []float64) {
	*b.norm = norm(x)
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

type unstored struct{ Ball }

func (b unstored) Gradient(dst, x []float64) {
	last := dst[len(dst)-1]
	b.Ball.Gradient(dst, x)
	dst[len(dst)-1] = last
}

type halfCurved struct{ Ball }

func (b halfCurved) ConjugateCurvature(y []float64) float64 { return b.Ball.ConjugateCurvature(y) / 2 }

// quartic is ½r² − ⅛r⁴ with r = ‖x‖ < 2. It is not convex for r² > ⅔.
type quartic struct{}

func (quartic) InDomain(x []float64) bool { return norm(x) < 2 }

func (quartic) Value(x []float64) float64 {
	if r := floats.Dot(x, x); r < 4 {
		return r/2 - r*r/8
	}
	return inf
}

func (quartic) Gradient(dst, x []float64)          { floats.ScaleTo(dst, 1-floats.Dot(x, x)/2, x) }
func (quartic) ConjugateGradient(dst, y []float64) { copy(dst, y) }

func norm(x []float64) float64 { return floats.Norm(x, 2) }

// A mutant is a modulus with a mistake.
type mutant struct {
	Modulus
	value  func(x []float64) float64
	grad   func(dst, x []float64)
	conj   func(dst, y []float64)
	domain func(x []float64) bool
}

func (m mutant) Value(x []float64) float64 {
	if m.value != nil {
		return m.value(x)
	}
	return m.Modulus.Value(x)
}

func (m mutant) Gradient(dst, x []float64) {
	m.Modulus.Gradient(dst, x)
	if m.grad != nil {
		m.grad(dst, x)
	}
}

func (m mutant) ConjugateGradient(dst, y []float64) {
	if m.conj != nil && &dst[0] == &y[0] {
		y = append([]float64(nil), y...)
	}
	m.Modulus.ConjugateGradient(dst, y)
	if m.conj != nil {
		m.conj(dst, y)
	}
}

func (m mutant) InDomain(x []float64) bool {
	return m.Modulus.InDomain(x) && (m.domain == nil || m.domain(x))
}

// boundless claims that the domain of its modulus is all of ℝᵈ.
type boundless struct{ Modulus }

func (m boundless) InDomain([]float64) bool { return true }

// outOfPlace stores into dst before it reads y, so it is wrong if dst is y.
type outOfPlace struct{ Modulus }

func (m outOfPlace) ConjugateGradient(dst, y []float64) {
	dst[0] = 0
	m.Modulus.ConjugateGradient(dst, y)
}

// allocating allocates memory once in every call of ∇φ*.
type allocating struct{ Ball }

func (b allocating) ConjugateGradient(dst, y []float64) {
	z := make([]float64, 1000+len(y)) // on the heap
	b.Ball.ConjugateGradient(dst, z[:copy(z, y)])
}

// naiveTanh computes tanh(y/2) by the paper's formula, where exp y may overflow.
func naiveTanh(y float64) float64 { return (math.Exp(y) - 1) / (math.Exp(y) + 1) }

func hellingerCurvature(y float64) float64 { return 1 / math.Pow(1+y*y, 1.5) }

var parabola = draft{value: half, deriv: self, conj: self, lo: -inf, hi: inf}.modulus().Kernel

func xlogx(x float64) float64 { return x * math.Log(x) }

// slips are moduli with mistakes that people make. Check reports each mistake as one finding.
var slips = []struct {
	name string
	m    Modulus
	kind Kind
	want string // part of the finding's line
}{
	// Formulas.
	{"sign of φ′", draft{deriv: func(x float64) float64 { return -x / (2 - math.Abs(x)) }}.modulus(), Disagrees,
		"Deriv is −1 times the derivative of Value, at x = 0.3: measured 0.176471, claimed −0.176471"},
	{"sign of φ", draft{value: func(x float64) float64 { return math.Abs(x) + 2*math.Log1p(-math.Abs(x)/2) }}.modulus(), Disagrees,
		"Value is at fault: Deriv is −1 times the derivative of Value, at x = 0.3: measured −0.176471, claimed 0.176471"},
	{"sign of everything", draft{
		value: func(x float64) float64 { return math.Abs(x) + 2*math.Log1p(-math.Abs(x)/2) },
		deriv: func(x float64) float64 { return -x / (2 - math.Abs(x)) },
		conj:  func(y float64) float64 { return -2 * (y / (1 + math.Abs(y))) },
	}.modulus(), NotLegendre, "φ is not strictly convex, or jumps"},
	{"½ forgotten in φ", draft{value: func(x float64) float64 { return x * x }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), Disagrees,
		"Value is at fault: Deriv is 0.5 times the derivative of Value, at x = 0.3: measured 0.6, claimed 0.3"},
	{"1/2 of integers", draft{value: func(x float64) float64 { n := 2; return float64(1/n) * x * x }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), Disagrees,
		"Value is at fault: Deriv is not the derivative of Value, at x = 0.3: measured 0, claimed 0.3"},
	{"−x forgotten in φ", draft{value: xlogx, deriv: math.Log, conj: math.Exp, lo: 0, hi: inf}.modulus(), Disagrees,
		"Value is at fault: Deriv is the derivative of Value plus −1, at x = 0.3: measured −0.203973, claimed −1.20397"},
	{"1 forgotten in φ′", draft{value: xlogx, deriv: math.Log, conj: func(y float64) float64 { return math.Exp(y - 1) }, lo: 0, hi: inf}.modulus(), Disagrees,
		"Deriv is the derivative of Value plus −1, at x = 0.3: measured −0.203973, claimed −1.20397"},
	{"1 forgotten in the inverse", draft{value: xlogx, deriv: func(x float64) float64 { return 1 + math.Log(x) }, conj: math.Exp, lo: 0, hi: inf}.modulus(), Disagrees,
		"ConjDeriv is 2.71828 times the inverse of Deriv"},
	{"a logarithm to base 2", draft{value: func(x float64) float64 { return xlogx(x) - x }, deriv: math.Log2, conj: math.Exp, lo: 0, hi: inf}.modulus(), Disagrees,
		"Deriv is 1.4427 times the derivative of Value"},
	{"φ′ for positive x only", draft{deriv: func(x float64) float64 { return x / (2 - x) }}.modulus(), Disagrees,
		"Deriv is not the derivative of Value"},
	{"|x| for x", draft{deriv: func(x float64) float64 { return math.Abs(x) / (2 - math.Abs(x)) }}.modulus(), Disagrees,
		"Deriv is not the derivative of Value"},
	{"inverse for positive y only", draft{conj: func(y float64) float64 { return 2 * y / (1 + y) }}.modulus(), Disagrees,
		"ConjDeriv is not the inverse of Deriv"},
	{"tanh y for tanh y/2", draft{value: Cube(1).Kernel.Value, deriv: Cube(1).Kernel.Deriv, conj: math.Tanh, lo: -1, hi: 1}.modulus(), Disagrees,
		"ConjDeriv is not the inverse of Deriv, at y = 0.619039: measured 0.3, claimed 0.550459"},
	{"1/φ′ for the inverse", draft{conj: func(y float64) float64 { return 1 / (y / (2 - math.Abs(y))) }}.modulus(), Disagrees,
		"ConjDeriv is the reciprocal of the method that it should invert, at y = 0.176471: measured 0.3, claimed 10.3333"},
	{"φ′ for the inverse", draft{conj: func(y float64) float64 { return y / (2 - math.Abs(y)) }}.modulus(), Disagrees,
		"ConjDeriv returns the same as Deriv, at y = 0.176471: measured 0.3, claimed 0.0967742"},
	{"φ* for its derivative", draft{value: cosh, deriv: math.Sinh, conj: func(y float64) float64 { return y*math.Asinh(y) - math.Hypot(1, y) }, lo: -inf, hi: inf}.modulus(), Disagrees,
		"ConjDeriv is not the inverse of Deriv, at y = 0.30452: measured 0.3, claimed −0.953982"},
	{"φ″ for φ′", draft{value: cosh, deriv: cosh, conj: math.Asinh, lo: -inf, hi: inf}.modulus(), Disagrees, "Deriv is not the derivative of Value, at x = 0.3: measured 0.30452, claimed 1.04534"},
	{"φ″", draft{value: Burg().Kernel.Value, deriv: func(x float64) float64 { return 1 / (x * x) }, conj: Burg().Kernel.ConjDeriv, lo: 0, hi: inf}.modulus(), Disagrees,
		"Deriv is not the derivative of Value, at x = 0.3: measured −3.33333, claimed 11.1111"},
	{"an iteration that ends early", draft{conj: func(y float64) float64 { return 2 * (y / (1 + math.Abs(y))) * (1 + 1e-7*math.Sin(100*y)) }}.modulus(), Disagrees,
		"ConjDeriv is the inverse of Deriv to 7 digits only"},

	// Functions that are not Legendre, and other mistakes.
	{"no barrier", draft{value: half, deriv: self, conj: func(y float64) float64 { return max(-2, min(2, y)) }}.modulus(), NotLegendre,
		"‖∇φ‖ stays finite at the boundary"},
	{"no number anywhere", draft{value: func(float64) float64 { return math.NaN() }}.modulus(), Disagrees, "φ = NaN inside the domain"},
	{"a jump", draft{value: func(x float64) float64 { return half(x) + math.Max(0, math.Copysign(0.1, x-0.5)) }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"φ is not strictly convex, or jumps"},
	{"a jump on a steep slope", draft{value: func(x float64) float64 { return 100*half(x) + math.Max(0, math.Copysign(3, x-0.5)) }, deriv: func(x float64) float64 { return 100 * x }, conj: func(y float64) float64 { return y / 100 }, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"φ is not strictly convex, or jumps"},
	{"a jump down", draft{value: func(x float64) float64 { return half(x) - math.Max(0, math.Copysign(0.1, x-0.5)) }, deriv: self, conj: self, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"φ is not strictly convex, or jumps"},
	{"a jump of a vector's φ", mutant{Modulus: Ball{R: 2}, value: func(x []float64) float64 { return Ball{R: 2}.Value(x) + math.Max(0, math.Copysign(0.1, x[0]-0.5)) }}, NotLegendre,
		"φ is not strictly convex, or jumps"},
	{"a vector's φ that is not convex", quartic{}, NotLegendre, "φ is not strictly convex, or jumps"},
	{"six digits", draft{deriv: func(x float64) float64 { return (1 + 2e-7) * x / (2 - math.Abs(x)) }}.modulus(), Disagrees,
		"Deriv is the derivative of Value to 6 digits only: does an iteration stop too early, or is a variable a float32?"},
	{"an inverse of 2y where y < 0", draft{conj: func(y float64) float64 {
		if y < 0 {
			y *= 2
		}
		return 2 * (y / (1 + math.Abs(y)))
	}}.modulus(), Disagrees,
		"ConjDeriv is not the inverse of Deriv"},
	{"0/0 in the inverse", draft{conj: func(y float64) float64 { return 2 / (1/y + sign(y)) * (y / y) }}.modulus(), Disagrees, "ConjDeriv is not a number, at y = 0"},
	{"half of (φ*)″", Separable{Kernel: withCurvature{with{Kernel: Hellinger(1).Kernel, curvature: func(y float64) float64 { return hellingerCurvature(y) / 2 }}}}, Disagrees, "ConjCurvature is 0.5 times (φ*)″, at y = "},
	{"half of a vector's (φ*)″", halfCurved{Ball{R: 2}}, Disagrees, "ConjugateCurvature is 0.5 times (φ*)″, at y = ["},
	{"x³", FromFunc("x³", func(x Dual) Dual { return hyperdual.Mul(x, hyperdual.Mul(x, x)) }, -1, 1), NotLegendre, "φ is not strictly convex, or jumps"},
	{"x", FromFunc("x", func(x Dual) Dual { return x }, -1, 1), NotLegendre, "φ is not strictly convex, or jumps"},
	{"cos", FromFunc("−cos", func(x Dual) Dual { return hyperdual.Scale(-1, hyperdual.Cos(x)) }, -math.Pi/2, math.Pi/2), NotLegendre, "‖∇φ‖ stays finite at the boundary"},
	{"a flat piece", draft{value: func(x float64) float64 { return half(max(0, math.Abs(x)-1)) }, deriv: func(x float64) float64 { return math.Copysign(max(0, math.Abs(x)-1), x) }, conj: func(y float64) float64 { return y + math.Copysign(1, y) }, lo: -inf, hi: inf}.modulus(), NotLegendre,
		"φ is not strictly convex, or jumps"},

	// Large numbers.
	{"exp y overflows", draft{value: Cube(1).Kernel.Value, deriv: Cube(1).Kernel.Deriv, conj: naiveTanh, lo: -1, hi: 1}.modulus(), Overflows,
		"ConjDeriv decreases, or is not a number"},
	{"y² overflows: back to 0", draft{value: Hellinger(1).Kernel.Value, deriv: Hellinger(1).Kernel.Deriv, conj: func(y float64) float64 { return y / math.Sqrt(1+y*y) }, lo: -1, hi: 1}.modulus(), Overflows,
		"ConjDeriv decreases, or is not a number"},
	{"NaN becomes 0", draft{value: Cube(1).Kernel.Value, deriv: Cube(1).Kernel.Deriv, conj: func(y float64) float64 {
		if x := naiveTanh(y); !math.IsNaN(x) {
			return x
		}
		return 0
	}, lo: -1, hi: 1}.modulus(), Overflows, "ConjDeriv decreases, or is not a number"},
	{"overflow at 1e299", mutant{Modulus: Ball{R: 2}, conj: func(dst, y []float64) {
		if floats.Norm(y, inf) > 1e299 {
			clear(dst)
		}
	}}, Overflows, "ConjugateGradient decreases, or is not a number"},

	// Other methods.
	{"a constant in φ*", Separable{Kernel: withConjugate{with{Kernel: Cube(2).Kernel, conjugate: func(y float64) float64 { return Cube(2).Conjugate([]float64{y}) + 1 }}}}, Disagrees, "Conjugate is φ* plus 1, at y = "},
	{"φ* forgotten half", Separable{Kernel: withConjugate{with{Kernel: parabola, conjugate: func(y float64) float64 { return y * y }}}}, Disagrees, "Conjugate is 2 times φ*"},
	{"D(y; x)", Separable{Kernel: withDivergence{with{Kernel: draft{value: func(x float64) float64 { return xlogx(x) - x }, deriv: math.Log, conj: math.Exp, lo: 0, hi: inf}.modulus().Kernel, divergence: func(x, y float64) float64 { return y*math.Log(y/x) - y + x }}}}, Disagrees, "Divergence has its arguments interchanged: it is D(y; x)"},
	{"2D", Separable{Kernel: withDivergence{with{Kernel: parabola, divergence: func(x, y float64) float64 { return (x - y) * (x - y) }}}}, Disagrees, "Divergence is 2 times D(x; y)"},
	{"φ″ for (φ*)″", Separable{Kernel: withCurvature{with{Kernel: Hellinger(1).Kernel, curvature: func(y float64) float64 { return 1 / hellingerCurvature(y) }}}}, Disagrees, "ConjCurvature is 1 over (φ*)″, at y = "},
	{"sign of z", shifting{Ball{R: 2}, func(z float64) float64 { return -z }}, Disagrees, "Shift is −1 times the z of 1ᵀ∇φ*(y + z1) = 1"},
	{"a constant of strong convexity", Separable{Kernel: Cube(2).Kernel, Mu: 4, P: 2}, Disagrees, "Mu claims more strong convexity than φ has"},

	// Vectors.
	{"one entry", mutant{Modulus: Ball{R: 2}, grad: func(dst, _ []float64) { dst[2] *= 2 }}, Disagrees, "Gradient is not the derivative of Value"},
	{"the last entry left out", mutant{Modulus: Ball{R: 2}, conj: func(dst, _ []float64) { dst[2] = 0 }}, Disagrees, "ConjugateGradient is not the inverse of Gradient"},
	{"no barrier of a ball", mutant{Modulus: Separable{Kernel: parabola}, conj: func(dst, _ []float64) {
		if n := norm(dst); n > 2 {
			floats.Scale(2/n, dst)
		}
	}, value: func(x []float64) float64 {
		if norm(x) > 2 {
			return inf
		}
		return floats.Dot(x, x) / 2
	}, domain: func(x []float64) bool { return norm(x) < 2 }}, NotLegendre, "‖∇φ‖ stays finite at the boundary"},
	{"inside everywhere", boundless{Ball{R: 2}}, Disagrees, "φ = +Inf inside the domain, at x = [1.5 1.5 1.5]"},
	{"NaN outside", mutant{Modulus: Ball{R: 2}, value: func(x []float64) float64 { return -math.Sqrt(4 - floats.Dot(x, x)) }}, Disagrees, "Value is not +∞ outside the domain"},
	{"inside nowhere", mutant{Modulus: Ball{R: 2}, domain: func([]float64) bool { return false }}, Disagrees, "no point was found inside the domain"},
	{"parameters", Ball{R: -1}, Invalid, "ball of radius R = -1: want 0 < R < 1e300"},

	// Calls.
	{"not written yet", mutant{Modulus: Ball{R: 2}, grad: func(_, _ []float64) { panic("not written yet") }}, Panics, "Gradient panics: not written yet, at mistakes_test.go:"},
	{"room for two", mutant{Modulus: Ball{R: 2}, grad: func(_, x []float64) { x[0] += new([2]float64)[len(x)-1] }}, Panics, "Gradient panics: runtime error: index out of range [2] with length 2, at mistakes_test.go:"},
	{"a panic in a closure", draft{conj: func(float64) float64 { panic("no inverse") }}.modulus(), Panics, "ConjDeriv panics: no inverse, at mistakes_test.go:"},
	{"not in place", outOfPlace{Ball{R: 2}}, Unsafe, "ConjugateGradient is wrong when the result takes the place of the argument"},
	{"changes x", mutant{Modulus: Ball{R: 2}, grad: func(_, x []float64) { x[0] = 0 }}, Unsafe, "Gradient changes its argument"},
	{"an entry not stored", unstored{Ball{R: 2}}, Unsafe, "Gradient does not store every entry of its result"},
	{"random", draft{conj: noisy()}.modulus(), Unsafe, "ConjDeriv gives another result for the same point"},
	{"remembers", remembering{Ball{R: 2}, new(float64)}, Unsafe, "ConjugateGradient depends on what was called before: it keeps something between calls"},
	{"remembers in a closure", closure(), Unsafe, "ConjDeriv depends on what was called before"},
	{"allocates", allocating{Ball{R: 2}}, Allocates, "Gradient or ConjugateGradient allocates memory: measured 0.5, claimed 0"},
}

func self(x float64) float64 { return x }
func half(x float64) float64 { return x * x / 2 }
func cosh(x float64) float64 { return math.Cosh(x) }

// noisy returns an inverse whose results change slightly from call to call.
func noisy() function {
	n := 0.0
	return func(y float64) float64 {
		n++
		return 2*(y/(1+math.Abs(y))) + 1e-12*math.Sin(n)
	}
}

// closure returns a modulus whose inverse depends on the last x of Deriv.
func closure() Modulus {
	last := 0.0
	return draft{
		deriv: func(x float64) float64 { last = x; return x / (2 - math.Abs(x)) },
		conj:  func(y float64) float64 { return 2*(y/(1+math.Abs(y))) + 1e-12*last },
	}.modulus()
}

// at reports whether f.Method is the method at fault. For a name in the list below, this is the method in the list. For
// any other name, it is Value or φ if φ is not Legendre, and otherwise a method that f.Words names.
func at(name string, f Finding) bool {
	want := map[string]string{
		"inside everywhere": "InDomain", "inside nowhere": "InDomain", "no number anywhere": "Value", "parameters": "Validate",
	}[name]
	if f.Kind == NotLegendre && want == "" {
		return f.Method == "Value" || f.Method == "φ"
	}
	return f.Method == want || want == "" && strings.Contains(f.Words, f.Method)
}

// Check reports each slip as one finding, with the method at fault and with the words of the list.
func TestSlips(t *testing.T) {
	for _, c := range slips {
		d := 3
		r := Check(context.Background(), c.m, d, 1)
		consistent(t, r)
		if len(r.Findings) != 1 || !at(c.name, r.Findings[0]) || r.Findings[0].Kind != c.kind || !strings.Contains(r.Findings[0].String(), c.want) {
			t.Errorf("%s: %v\nwant %v: %s", c.name, r.Err(), c.kind, c.want)
		}
	}
}

// A recipe is a kernel made of functions. TestBook spoils one or more of these functions.
type recipe struct {
	name               string
	value, deriv, conj function
	lo, hi             float64
	star               function // φ*
}

func (r recipe) modulus() Separable {
	return FromClosures(r.name, r.value, r.deriv, r.conj, r.lo, r.hi)
}

func softsign(R float64) recipe {
	return recipe{"softsign", func(x float64) float64 { return -math.Abs(x) - R*math.Log1p(-math.Abs(x)/R) },
		func(x float64) float64 { return x / (R - math.Abs(x)) },
		func(y float64) float64 { return R * (y / (1 + math.Abs(y))) }, -R, R,
		func(y float64) float64 { return R * (math.Abs(y) - math.Log1p(math.Abs(y))) }}
}

func circle(R float64) recipe {
	return recipe{"half circle", func(x float64) float64 { return -math.Sqrt(R*R - x*x) },
		func(x float64) float64 { return x / math.Sqrt(R*R-x*x) },
		func(y float64) float64 { return R * (y / math.Hypot(1, y)) }, -R, R,
		func(y float64) float64 { return R * math.Hypot(1, y) }}
}

func bits(R float64) recipe {
	return recipe{"bit entropy", func(x float64) float64 { return (R+x)*math.Log(R+x) + (R-x)*math.Log(R-x) },
		func(x float64) float64 { return math.Log((R + x) / (R - x)) },
		func(y float64) float64 { return R * math.Tanh(y/2) }, -R, R,
		func(y float64) float64 { return 2*R*math.Log(math.Cosh(y/2)) - 2*R*math.Log(R) }}
}

func sign(x float64) float64 { return math.Copysign(1, x) }

func twice(x float64) float64 { return 2 * x }
func float(x float64) float64 { return float64(float32(x)) }

// The functions below spoil a function f: they apply g to f(x), add g(x) or a constant to it, multiply it by the sign
// of x, add noise, or make f(0) NaN.
func then(f, g function) function         { return func(x float64) float64 { return g(f(x)) } }
func add(f, g function) function          { return func(x float64) float64 { return f(x) + g(x) } }
func plus(f function, c float64) function { return func(x float64) float64 { return f(x) + c } }
func signed(f function) function          { return func(x float64) float64 { return sign(x) * f(x) } }
func noisy6(f function) function {
	return func(x float64) float64 { return f(x) * (1 + 1e-6*math.Sin(1e9*x)) }
}
func early(f function) function {
	return func(x float64) float64 { return f(x) * (1 + 1e-7*math.Sin(10*x)) }
}
func nanAt0(f function) function { return func(x float64) float64 { return f(x) + 0*(1/x) } }

// TestBook makes many mistakes in three kernels; with -million, in three dimensions and with twelve seeds. Check finds
// every mistake. In at least 95 of 100 checks, it reports only the method at fault. In at most 1 of 100 checks, it
// reports a correct method. A constant added to φ is not a mistake.
func TestBook(t *testing.T) {
	for i, b := range []struct {
		name, want string // the method at fault
		spoil      func(r *recipe, other recipe)
	}{
		{"right", "", func(*recipe, recipe) {}},
		{"Deriv × 2", "Deriv", func(r *recipe, _ recipe) { r.deriv = then(r.deriv, twice) }},
		{"Value × 2", "Value", func(r *recipe, _ recipe) { r.value = then(r.value, twice) }},
		{"ConjDeriv × 2", "ConjDeriv", func(r *recipe, _ recipe) { r.conj = then(r.conj, twice) }},
		{"another R in Value", "Value", func(r *recipe, o recipe) { r.value = o.value }},
		{"another R in Deriv", "Deriv", func(r *recipe, o recipe) { r.deriv = o.deriv }},
		{"another R in ConjDeriv", "ConjDeriv", func(r *recipe, o recipe) { r.conj = o.conj }},
		{"domain too large", "Domain", func(r *recipe, _ recipe) { r.lo, r.hi = 1.3*r.lo, 1.3*r.hi }},
		{"domain too small", "Domain", func(r *recipe, _ recipe) { r.lo, r.hi = 0.7*r.lo, 0.7*r.hi }},
		{"domain swapped", "Domain", func(r *recipe, _ recipe) { r.lo, r.hi = r.hi, r.lo }},
		{"domain of φ*", "Domain", func(r *recipe, _ recipe) { r.lo, r.hi = -inf, inf }},
		{"Value NaN at 0", "Value", func(r *recipe, _ recipe) { r.value = nanAt0(r.value) }},
		{"Deriv NaN at 0", "Deriv", func(r *recipe, _ recipe) { r.deriv = nanAt0(r.deriv) }},
		{"ConjDeriv NaN at 0", "ConjDeriv", func(r *recipe, _ recipe) { r.conj = nanAt0(r.conj) }},
		{"kink", "Value", func(r *recipe, _ recipe) {
			r.value, r.deriv = add(r.value, math.Abs), add(r.deriv, sign)
			r.conj = then(func(y float64) float64 { return sign(y) * max(0, math.Abs(y)-1) }, r.conj)
		}},
		{"concave half", "Value", func(r *recipe, _ recipe) { r.value, r.deriv = signed(plus(r.value, -r.value(0))), signed(r.deriv) }},
		{"concave half of Value", "Value", func(r *recipe, _ recipe) { r.value = signed(plus(r.value, -r.value(0))) }},
		{"clip at 0.99R", "ConjDeriv", func(r *recipe, _ recipe) {
			most := 0.99 * r.hi
			r.conj = then(r.conj, func(x float64) float64 { return max(-most, min(most, x)) })
		}},
		{"Value = φ*", "Value", func(r *recipe, _ recipe) { r.value = r.star }},
		{"interchanged", "Deriv", func(r *recipe, _ recipe) { r.deriv, r.conj = r.conj, r.deriv }},
		{"noise in Value", "Value", func(r *recipe, _ recipe) { r.value = noisy6(r.value) }},
		{"noise in Deriv", "Deriv", func(r *recipe, _ recipe) { r.deriv = noisy6(r.deriv) }},
		{"noise in ConjDeriv", "ConjDeriv", func(r *recipe, _ recipe) { r.conj = noisy6(r.conj) }},
		{"float32 in Value", "Value", func(r *recipe, _ recipe) { r.value = then(r.value, float) }},
		{"float32 in Deriv", "Deriv", func(r *recipe, _ recipe) { r.deriv = then(r.deriv, float) }},
		{"float32 in ConjDeriv", "ConjDeriv", func(r *recipe, _ recipe) { r.conj = then(r.conj, float) }},
		{"constant in Value", "", func(r *recipe, _ recipe) { r.value = plus(r.value, 1e6) }},
		{"constant in Deriv", "Deriv", func(r *recipe, _ recipe) { r.deriv = plus(r.deriv, 1) }},
		{"constant in ConjDeriv", "ConjDeriv", func(r *recipe, _ recipe) { r.conj = plus(r.conj, 0.1) }},
		{"sign of Deriv for x < 0", "Deriv", func(r *recipe, _ recipe) { r.deriv = signed(r.deriv) }},
		{"sign of Value for x < 0", "Value", func(r *recipe, _ recipe) { r.value = signed(r.value) }},
		{"ConjDeriv even", "ConjDeriv", func(r *recipe, _ recipe) { r.conj = then(math.Abs, r.conj) }},
		{"wrong early end", "ConjDeriv", func(r *recipe, _ recipe) { r.conj = early(r.conj) }},
	} {
		kernels, dims, seeds := []func(R float64) recipe{softsign, circle, bits}, []int{1, 3, 8}, uint64(12)
		if !*million {
			dims, seeds = []int{2}, 1
		}
		if testing.Short() {
			kernels = kernels[i%3 : i%3+1]
		}
		checks, found, right, accused, silent := 0, 0, 0, 0, b.want == ""
		var last error
		for _, k := range kernels {
			for _, d := range dims {
				for seed := range seeds {
					spoilt := k(2)
					b.spoil(&spoilt, k([]float64{1.4, 3}[seed%2]))
					r := Check(context.Background(), spoilt.modulus(), d, seed)
					checks++
					if len(r.Findings) > 0 {
						found++
					}
					if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Method != b.want && f.Method != "" }) {
						accused++
					}
					if len(r.Findings) == 1 && r.Findings[0].Method == b.want {
						right++
					} else if r.Err() != nil {
						last = r.Err()
					}
				}
			}
		}
		if silent && found > 0 || !silent && (found < checks || float64(right) < 0.95*float64(checks)) {
			t.Errorf("%s: of %d checks, %d have findings, and %d only one, against %q: %v", b.name, checks, found, right, b.want, last)
		}
		if b.name != "interchanged" && float64(accused) > 0.01*float64(checks) { // interchanged: both are wrong
			t.Errorf("%s: of %d checks, %d accuse a right method: %v", b.name, checks, accused, last)
		}
	}
}
