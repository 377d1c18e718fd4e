package bregman

import (
	"fmt"
	"math"
)

// Cube returns the bit entropy (3.10), the modulus that the paper uses on the cube [−R, R]ᵈ, R > 0:
//
//	φ(θ) = Σᵢ (R+θᵢ) log(R+θᵢ) + (R−θᵢ) log(R−θᵢ),   φ′ = log((R+θᵢ)/(R−θᵢ)),
//	φ*(y) = Σᵢ −Ryᵢ − 2R log(2R/(1 + exp yᵢ)),        (φ*)′ = R tanh(yᵢ/2).
//
// The conjugate (3.11) is right as printed, but overflows when evaluated as printed: as a float64, exp yᵢ is infinite
// for yᵢ ≥ 710. So for |yᵢ| ≥ 1, the code computes R|yᵢ| + 2R log(1 + exp(−|yᵢ|)) − 2R log 2R; for |yᵢ| < 1, it
// computes 2R log cosh(yᵢ/2) − 2R log R.
//
// φ is 2/R-strongly convex in ℓ₂: φ″(θ) = 2R/(R² − θ²) ≥ 2/R, with equality at 0. The hyperplane
// 1ᵀθ = 1 meets the interior of the cube if R > 1/d.
//
// Source: (3.10)–(3.12). On [0, 1] instead of [−R, R], φ is the bit entropy of Dhillon and Tropp (2007), Table 2.1.
//
//	m, y := bregman.Cube(2), []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (1.7093, 0.5330, −1.2423)
func Cube(R float64) Separable {
	return Separable{Kernel: cube{-R, R}, Name: fmt.Sprintf("cube, R = %g", R), Mu: 2 / R, P: 2}
}

// cube is the kernel on the interval (lo, hi). In the comments on its methods, R is half the width of the interval, and
// x, as well as y in Divergence, is measured from the middle of the interval.
type cube struct{ lo, hi float64 }

func (k cube) Validate() error {
	if k.lo == -k.hi {
		return validRadius("cube", k.hi)
	}
	if !(-1e20 < k.lo && k.lo < k.hi && k.hi < 1e20) { // beyond 1e20, the rounding error of θᵢ far exceeds 1ᵀθ = 1
		return fmt.Errorf("bregman: the side (%g, %g) of a box is not an interval within ±1e20", k.lo, k.hi)
	}
	return nil
}

// Value returns (3.10), with 0 log 0 = 0. For |x| < R/2, the sum (3.10) would lose digits, because a change of x
// changes its two terms by nearly opposite amounts. For these x, with t = x/R, Value computes
// 2R log R + R(2t artanh t + log(1 − t²)) ≈ 2R log R + Rt².
func (k cube) Value(x float64) float64 {
	R := (k.hi - k.lo) / 2
	if t := (x - (k.lo/2 + k.hi/2)) / R; math.Abs(t) < 0.5 {
		return 2*R*math.Log(R) + R*(2*t*math.Atanh(t)+math.Log1p(-t*t))
	}
	return xlogx(x-k.lo) + xlogx(k.hi-x)
}

// Deriv returns log((R+x)/(R−x)), computed as log(1 + 2|x|/(R−|x|)) with the sign of x. This form is accurate to
// rounding both near x = 0, where (R+x)/(R−x) is near 1, and near x = ±R.
func (k cube) Deriv(x float64) float64 {
	e := 2*x - (k.lo + k.hi)
	if e < 0 {
		return -math.Log1p(-e / (x - k.lo))
	}
	return math.Log1p(e / (k.hi - x))
}

// ConjDeriv returns R tanh(y/2) if the interval is (−R, R); from |y| ≈ 38 on, the result rounds to ±R. For any other
// interval, ConjDeriv first computes the distance of the result from the nearer end of the interval.
func (k cube) ConjDeriv(y float64) float64 {
	if k.lo == -k.hi {
		return k.hi * math.Tanh(y/2)
	}
	e := math.Exp(-math.Abs(y))
	gap := (k.hi - k.lo) * e / (1 + e)
	if y < 0 {
		return k.lo + gap
	}
	return k.hi - gap
}

// ConjCurvature returns (R/2) sech²(y/2) = 2Re/(1+e)² with e = exp(−|y|).
func (k cube) ConjCurvature(y float64) float64 {
	e := math.Exp(-math.Abs(y))
	return (k.hi - k.lo) * e / ((1 + e) * (1 + e))
}

// Conjugate returns (3.11), plus y times the middle of the interval. For |y| < 1, it computes
// (3.11) as 2R log cosh(y/2) − 2R log R, with cosh(y/2) = 1 + 2 sinh²(y/4).
func (k cube) Conjugate(y float64) float64 {
	a, R, middle := math.Abs(y), (k.hi-k.lo)/2, y*(k.lo/2+k.hi/2)
	if a < 1 {
		s := math.Sinh(a / 4)
		return middle + (2*R*math.Log1p(2*s*s) - 2*R*math.Log(R))
	}
	return middle + (R*a + 2*R*(math.Log1p(math.Exp(-a))-math.Log(2*R)))
}

// Divergence returns (3.12) as the sum of two non-negative relative entropies: of R+x and R+y, and of R−x and R−y.
func (k cube) Divergence(x, y float64) float64 {
	e := x - y
	return relativeEntropy(x-k.lo, y-k.lo, e) + relativeEntropy(k.hi-x, k.hi-y, -e)
}

func (k cube) Domain() (lo, hi float64) { return k.lo, k.hi }

// FermiDirac returns the Fermi–Dirac entropy on the box loᵢ < xᵢ < hiᵢ,
//
//	φ(x) = Σᵢ (xᵢ−loᵢ) log(xᵢ−loᵢ) + (hiᵢ−xᵢ) log(hiᵢ−xᵢ),   ∇φ = log((x−lo)/(hi−x)),
//	φ*(y) = Σᵢ loᵢyᵢ + (hiᵢ−loᵢ) log((1 + exp yᵢ)/(hiᵢ−loᵢ)),   ∇φ*(y) = lo + (hi−lo)/(1 + exp(−y)).
//
// [Cube] is the case lo = −R, hi = R. φ is 4/max(hi−lo)-strongly convex in ℓ₂: in each coordinate,
// φ″ = (hi−lo)/((x−lo)(hi−x)) ≥ 4/(hi−lo), with equality at the middle of the interval.
//
// Source: Bauschke and Borwein (1997).
//
//	m := bregman.FermiDirac([]float64{0, 0, -1}, []float64{0.6, 1, 1})
//	y := []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (0.5777, 0.7782, −0.3560)
func FermiDirac(lo, hi []float64) Separable {
	checkLen(lo, hi)
	s := Separable{Each: make([]Kernel, len(lo)), Name: fmt.Sprintf("Fermi–Dirac on a box of dimension %d", len(lo)), Mu: math.Inf(1), P: 2}
	for i := range lo {
		s.Each[i], s.Mu = cube{lo[i], hi[i]}, min(s.Mu, 4/(hi[i]-lo[i]))
	}
	return s
}
