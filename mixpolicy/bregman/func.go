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
	_ KernelCurver = Func{}
	_ Validator    = Func{}
)

// FromFunc lifts φ on (lo, hi) to a separable modulus.
//
//	m := bregman.FromFunc(func(x bregman.Dual) bregman.Dual { return hyperdual.Mul(x, hyperdual.Log(x)) }, 0, math.Inf(1))
//	err := bregman.Check(m, 3, 1).Err()
func FromFunc(phi func(x Dual) Dual, lo, hi float64) Separable {
	return Separable{Func{Name: "from a function", Phi: phi, Lo: lo, Hi: hi}}
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
func (f Func) ConjDeriv(y float64) float64 { return invert(f, y, f.Lo, f.Hi) }

// ConjCurvature returns 1/φ″(x) at the x with φ′(x) = y.
func (f Func) ConjCurvature(y float64) float64 {
	_, second := f.derivs(f.ConjDeriv(y))
	return 1 / second
}

// Domain returns (Lo, Hi).
func (f Func) Domain() (lo, hi float64) { return f.Lo, f.Hi }

// String returns the name.
func (f Func) String() string { return f.Name }

// A differentiable function of one variable; second is NaN if unknown.
type differentiable interface {
	derivs(x float64) (first, second float64)
}

// invert returns the x in (lo, hi) with f′(x) = y, or the end of the interval beyond which
// it is. Newton's method, kept in a bracket that shrinks at every evaluation and is halved
// whenever three steps in a row have not been half as long as the ones before: in turns
// by length, and by number of floating-point numbers, so that it ends.
func invert[F differentiable](f F, y, lo, hi float64) float64 {
	if math.IsNaN(y) {
		return y
	}
	a, b := lo, hi
	inside := func(x float64) bool { return a < x && x < b }
	var x float64
	switch {
	case !math.IsInf(lo, -1) && !math.IsInf(hi, 1):
		x = lo + (hi-lo)/2
	case !math.IsInf(lo, -1):
		x = lo + max(1, math.Abs(lo))
	case !math.IsInf(hi, 1):
		x = hi - max(1, math.Abs(hi))
	default:
		x = 0
	}
	step, slow, halvings := math.Inf(1), 0, 0
	for evals := 0; evals < 500; evals++ {
		first, second := f.derivs(x)
		e := first - y
		switch {
		case e == 0:
			return x
		case e < 0:
			a = x
		case e > 0:
			b = x
		default:
			return math.NaN()
		}
		next := math.NaN()
		if second > 0 && !math.IsInf(second, 1) {
			next = x - e/second
		}
		if math.Abs(next-x) <= ulp/2*math.Abs(x) {
			return x
		}
		if math.Abs(next-x) > step/2 {
			slow++
		} else {
			slow = 0
		}
		if slow >= 3 || !inside(next) {
			mid := a + (b-a)/2
			if halvings%2 == 1 || !inside(mid) {
				mid = between(a, b)
			}
			next = mid
			halvings++
			slow = 0
		}
		if !inside(next) {
			// No number left between a and b: take the end of the domain if x is next to it.
			if a == lo {
				return lo
			}
			if b == hi {
				return hi
			}
			return x
		}
		step, x = math.Abs(next-x), next
	}
	return x
}
