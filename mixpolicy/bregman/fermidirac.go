package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// FermiDirac is the entropy of Fermi and Dirac on the box Loᵢ < xᵢ < Hiᵢ,
//
//	φ(x) = Σᵢ (xᵢ−Loᵢ) log(xᵢ−Loᵢ) + (Hiᵢ−xᵢ) log(Hiᵢ−xᵢ),
//	∇φ = log((x−Lo)/(Hi−x)),   ∇φ*(y) = Lo + (Hi−Lo)/(1 + exp(−y)).
//
// [Cube] is the case Lo = −R, Hi = R. It is 4/max(Hi−Lo)-strongly convex in ℓ₂:
// φ″ = (Hi−Lo)/((x−Lo)(Hi−x)), least at the middle.
//
// Source: Bauschke and Borwein (1997).
//
//	m := bregman.FermiDirac{Lo: []float64{0, 0, -1}, Hi: []float64{0.6, 1, 1}}
//	y := []float64{3, 1, -1}
//	_, err := bregman.ProjectDual(m, y, nil) // now ∇φ*(y) = (0.5777, 0.7782, −0.3560)
type FermiDirac struct {
	Lo, Hi []float64 // one entry for each coordinate
}

var (
	_ Modulus        = FermiDirac{}
	_ Conjugator     = FermiDirac{}
	_ Divergencer    = FermiDirac{}
	_ StrongConvexer = FermiDirac{}
	_ Curver         = FermiDirac{}
	_ Validator      = FermiDirac{}
)

// Validate returns an error unless every side is a bounded interval, naming the side.
func (f FermiDirac) Validate() error {
	if len(f.Lo) != len(f.Hi) {
		return fmt.Errorf("bregman: Fermi–Dirac box of %d lower and %d upper ends", len(f.Lo), len(f.Hi))
	}
	for i, lo := range f.Lo {
		if w := f.Hi[i] - lo; !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("bregman: side %d of the box, (%g, %g), is not a bounded interval", i, lo, f.Hi[i])
		}
	}
	return nil
}

func (f FermiDirac) check(x []float64) {
	checkLen(f.Lo, x)
	checkLen(f.Hi, x)
}

// Value returns Σᵢ (xᵢ−Loᵢ) log(xᵢ−Loᵢ) + (Hiᵢ−xᵢ) log(Hiᵢ−xᵢ).
func (f FermiDirac) Value(x []float64) float64 {
	f.check(x)
	var acc sum.Accumulator
	for i, v := range x {
		if !(f.Lo[i] <= v && v <= f.Hi[i]) {
			return math.Inf(1)
		}
		acc.Add(xlogx(v - f.Lo[i]))
		acc.Add(xlogx(f.Hi[i] - v))
	}
	return acc.Value()
}

// Gradient stores log((x−Lo)/(Hi−x)) in dst.
func (f FermiDirac) Gradient(dst, x []float64) {
	checkLen(dst, x)
	f.check(x)
	for i, v := range x {
		a, b := v-f.Lo[i], f.Hi[i]-v
		if a < b {
			dst[i] = -math.Log1p((b - a) / a)
		} else {
			dst[i] = math.Log1p((a - b) / b)
		}
	}
}

// ConjugateGradient stores Lo + (Hi−Lo)/(1 + exp(−y)) in dst, from the nearer end.
func (f FermiDirac) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	f.check(y)
	for i, v := range y {
		e := math.Exp(-math.Abs(v))
		if gap := (f.Hi[i] - f.Lo[i]) * e / (1 + e); v < 0 {
			dst[i] = f.Lo[i] + gap
		} else {
			dst[i] = f.Hi[i] - gap
		}
	}
}

func (f FermiDirac) side(i int) (lo, hi float64) { return f.Lo[i], f.Hi[i] }
func (f FermiDirac) halfway(int) float64         { return 0 }
func (f FermiDirac) curvatureAt(i int, y float64) float64 {
	e := math.Exp(-math.Abs(y))
	return (f.Hi[i] - f.Lo[i]) * e / ((1 + e) * (1 + e))
}
func (f FermiDirac) sketchAt(int, float64) (x, slope float64) { return math.NaN(), math.NaN() }

// InDomain reports whether Lo < x < Hi.
func (f FermiDirac) InDomain(x []float64) bool {
	f.check(x)
	for i, v := range x {
		if !(f.Lo[i] < v && v < f.Hi[i]) {
			return false
		}
	}
	return true
}

// Conjugate returns φ*(y): for each coordinate, with w = Hi − Lo and H or L the end that y
// points to, y·end + w log(1 + exp(−|y|)) − w log w.
func (f FermiDirac) Conjugate(y []float64) float64 {
	f.check(y)
	var acc sum.Accumulator
	for i, v := range y {
		w, end := f.Hi[i]-f.Lo[i], f.Hi[i]
		if v < 0 {
			end = f.Lo[i]
		}
		acc.Add(v * end)
		acc.Add(w * math.Log1p(math.Exp(-math.Abs(v))))
		acc.Add(-xlogx(w))
	}
	return acc.Value()
}

// ConjugateCurvature returns Σᵢ (Hiᵢ−Loᵢ) exp(−|yᵢ|)/(1 + exp(−|yᵢ|))².
func (f FermiDirac) ConjugateCurvature(y []float64) float64 {
	f.check(y)
	var acc sum.Accumulator
	for i, v := range y {
		acc.Add(f.curvatureAt(i, v))
	}
	return acc.Value()
}

// Divergence is a sum of relative entropies, as in (3.12).
func (f FermiDirac) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	f.check(x)
	var acc sum.Accumulator
	for i, v := range x {
		e := v - y[i]
		acc.Add(relativeEntropy(v-f.Lo[i], y[i]-f.Lo[i], e))
		acc.Add(relativeEntropy(f.Hi[i]-v, f.Hi[i]-y[i], -e))
	}
	return acc.Value()
}

// StrongConvexity returns 4/max(Hi−Lo) in ℓ₂.
func (f FermiDirac) StrongConvexity() (mu float64, norm Norm) {
	var w float64
	for i, lo := range f.Lo {
		w = max(w, f.Hi[i]-lo)
	}
	return 4 / w, 2
}

// String names the modulus and its box.
func (f FermiDirac) String() string {
	if len(f.Lo) > 3 {
		return fmt.Sprintf("Fermi–Dirac on a box of %d sides", len(f.Lo))
	}
	return fmt.Sprintf("Fermi–Dirac on %v to %v", f.Lo, f.Hi)
}
