package bregman

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/hyperdual"
)

// A Dual is a hyper-dual number: arithmetic on it carries a function's first and second
// derivatives along with its value, exact to rounding (Fike and Alonso 2011). Package
// gonum.org/v1/gonum/num/hyperdual has its functions: Add, Mul, Log, Sqrt, ….
type Dual = hyperdual.Number

// Func is the kernel of a function φ given as such: φ′ and φ″ come by automatic
// differentiation, and (φ*)′ by root finding. It is the quickest way from an idea to a
// modulus, and some fifty times slower than a hand-written [Kernel].
type Func struct {
	Name   string
	Phi    func(x Dual) Dual // φ, strictly convex on (Lo, Hi)
	Lo, Hi float64           // ends of the domain, ±∞ allowed
}

var (
	_ Kernel       = Func{}
	_ kernelCurver = Func{}
	_ Validator    = Func{}
)

// FromFunc lifts φ on (lo, hi) to a separable modulus.
//
//	m := bregman.FromFunc(func(x bregman.Dual) bregman.Dual { return hyperdual.Mul(x, hyperdual.Log(x)) }, 0, math.Inf(1))
//	err := bregman.Check(m, 3, 1).Err()
func FromFunc(phi func(x Dual) Dual, lo, hi float64) Separable {
	return Separable{Kernel: Func{Name: "from a function", Phi: phi, Lo: lo, Hi: hi}}
}

// Validate returns an error if there is no function, or its interval is empty.
func (f Func) Validate() error {
	if f.Phi == nil {
		return fmt.Errorf("bregman: kernel %q without a function Phi", f.Name)
	}
	if !(f.Lo < f.Hi) {
		return fmt.Errorf("bregman: kernel %q: domain (%g, %g) is empty", f.Name, f.Lo, f.Hi)
	}
	return nil
}

// Value returns φ(x).
func (f Func) Value(x float64) float64 { return f.Phi(Dual{Real: x}).Real }

// Deriv returns φ′(x).
func (f Func) Deriv(x float64) float64 { return f.Phi(Dual{Real: x, E1mag: 1}).E1mag }

func (f Func) derivs(x float64) (first, second float64) {
	v := f.Phi(Dual{Real: x, E1mag: 1, E2mag: 1})
	return v.E1mag, v.E1E2mag
}

// ConjDeriv returns the x with φ′(x) = y, to the resolution of x. It ends for any φ; if φ′
// is not increasing or not a number, the result means nothing, and [Check] tells.
func (f Func) ConjDeriv(y float64) float64 { return f.invert(y) }

// ConjCurvature returns 1/φ″(x) at the x with φ′(x) = y.
func (f Func) ConjCurvature(y float64) float64 {
	_, second := f.derivs(f.ConjDeriv(y))
	return 1 / second
}

// Domain returns (Lo, Hi).
func (f Func) Domain() (lo, hi float64) { return f.Lo, f.Hi }

// String returns the name.
func (f Func) String() string { return f.Name }

// invert returns the x in (lo, hi) with f′(x) = y, or the end of the interval beyond which
// it is: Newton's method in a bracket that shrinks at every evaluation, and is halved where the
// method would leave it or three steps in a row have not been half as long as the ones before;
// in turns by length and by number of floating-point numbers, so that it ends.
func (f Func) invert(y float64) float64 {
	a, b := f.Lo, f.Hi
	var x float64
	switch {
	case math.IsNaN(y):
		return y
	case !math.IsInf(a, -1) && !math.IsInf(b, 1):
		x = a + (b-a)/2
	case !math.IsInf(a, -1):
		x = a + max(1, math.Abs(a))
	case !math.IsInf(b, 1):
		x = b - max(1, math.Abs(b))
	}
	step, slow := math.Inf(1), 0
	for evals := range 500 {
		first, second := f.derivs(x)
		switch e := first - y; {
		case e == 0:
			return x
		case e < 0:
			a = x
		case e > 0:
			b = x
		default:
			return math.NaN()
		}
		next := x - (first-y)/second
		if second > 0 && second <= math.MaxFloat64 && math.Abs(next-x) <= ulp/2*math.Abs(x) {
			return x
		}
		if slow++; math.Abs(next-x) <= step/2 {
			slow = 0
		}
		if !(second > 0 && a < next && next < b) || slow > 2 {
			slow = 0
			if next = a + (b-a)/2; evals%2 == 1 || !(a < next && next < b) {
				next = between(a, b)
			}
		}
		if !(a < next && next < b) { // at the end of the domain, or as near as numbers are
			switch {
			case a == f.Lo:
				return a
			case b == f.Hi:
				return b
			}
			return x
		}
		step, x = math.Abs(next-x), next
	}
	return x
}
