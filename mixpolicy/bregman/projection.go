package bregman

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Shift returns the z of (3.25b), the solution of 1ᵀ∇φ*(y + z1) = 1. Then ∇φ*(y + z1) is the
// Bregman projection of ∇φ*(y) onto the hyperplane 1ᵀθ = 1. If m is a [Shifter], Shift uses the
// closed form of m; otherwise, it calls [NewtonShift]. The slice scratch must be nil or as long as
// y; if scratch is nil, Shift may allocate memory.
//
// The result z is rounded to one floating-point number. So if |z| is large compared with the scale on which ∇φ* varies,
// ∇φ*(y + z1) may miss the hyperplane by more than a rounding error. With [ProjectDual], the miss is at most a rounding
// error.
//
// Shift returns an error if y is empty or has an entry that is not finite, if the parameters of m are wrong, if the
// domain of m does not meet the hyperplane, if z overflows, or if Newton's method meets a ∇φ* that is not a number.
func Shift(m Modulus, y, scratch []float64) (z float64, err error) {
	if err = checkDual(y); err == nil {
		z, _, err = shiftPart(m, y, scratch)
	}
	return z, err
}

// shiftPart returns the shift z as one number, and whether J′(z) is known to be 0 to rounding.
func shiftPart(m Modulus, y, scratch []float64) (z float64, done bool, err error) {
	s, closed := m.(Shifter)
	if !closed {
		z, _, done, err = newton(m, y, scratch)
	} else if z, err = s.Shift(y); err == nil && z-z != 0 {
		err = fmt.Errorf("bregman: the shift onto 1ᵀθ = 1 overflows: z = %g", z)
	}
	return z, done, err
}

func checkDual(y []float64) error {
	if len(y) == 0 {
		return fmt.Errorf("bregman: dual point without coordinates: want at least one")
	}
	if i := firstNonFinite(y); i >= 0 {
		return fmt.Errorf("bregman: dual point has y[%d] = %g: want finite numbers", i, y[i])
	}
	return nil
}

// mostParts bounds the number of parts of a shift. The whole shift is below 2¹⁰²⁴, and each part leaves a rest that is
// smaller by a factor of 2⁵³.
const mostParts = 1 + 1024/53

// ProjectDual replaces y by y + z1 with the z of (3.25b), and returns z. Let θ be ∇φ* at the new y. Then 1ᵀθ = 1 to
// rounding, and θ is the Bregman projection of ∇φ* at the old y.
//
// If a single floating-point number cannot hold z accurately enough, ProjectDual shifts y in parts. After the first
// part, the entries of y that determine 1ᵀθ are close to their final values. For these entries, the first part is
// exact, because the difference of two floating-point numbers near each other has no rounding error. Further parts
// complete the shift.
//
// ProjectDual returns the same errors as [Shift]; after an error, y is unspecified.
//
//	y := []float64{0.1, 0.2, 0.4}
//	z, err := bregman.ProjectDual(bregman.Cube(1), y, nil) // now ∇φ*(y) = (0.2740, 0.3196, 0.4063)
func ProjectDual(m Modulus, y, scratch []float64) (z float64, err error) {
	if err := checkDual(y); err != nil {
		return 0, err
	}
	_, closed := m.(Shifter)
	for part := range mostParts {
		dz, done, err := shiftPart(m, y, scratch)
		if err != nil {
			return 0, err
		}
		floats.AddConst(dz, y)
		z += dz
		// With a closed form, the shift ends after the first further part with |dz| ≤ ‖y‖_∞, because the rounding error
		// of this dz is small.
		if done || closed && part > 0 && math.Abs(dz) <= maxAbs(y) {
			break
		}
	}
	return z, nil
}

// Project stores in dst the Bregman projection of x onto the hyperplane 1ᵀθ = 1: the θ on the
// hyperplane that minimises D(θ; x), equation (3.14b). Project returns an error if x is not in the
// interior of the domain, or if [Shift] returns an error.
//
//	theta := []float64{1.4, 1.2}
//	err := bregman.Project(bregman.Cube(1.5), theta, theta) // now θ = (0.8756, 0.1244)
func Project(m Modulus, dst, x []float64) error {
	checkLen(dst, x)
	if err := CheckDomain(m, x); err != nil {
		return err
	}
	m.Gradient(dst, x)
	if _, err := ProjectDual(m, dst, nil); err != nil {
		return err
	}
	m.ConjugateGradient(dst, dst)
	return nil
}

// CheckDomain returns an error if x is not in the interior of the domain of m. If an entry of x is not finite, the
// error names the first such entry. For a finite x, the error names the first entry outside its interval if m is
// [Separable], and gives ‖x‖₂ otherwise.
func CheckDomain(m Modulus, x []float64) error {
	if i := firstNonFinite(x); i >= 0 {
		return fmt.Errorf("bregman: point has x[%d] = %g: want finite numbers", i, x[i])
	}
	if m.InDomain(x) {
		return nil
	}
	if s, ok := asSeparable(m); ok {
		i := s.outside(x)
		lo, hi := s.at(i).Domain()
		return fmt.Errorf("bregman: point has x[%d] = %g outside the domain (%g, %g) of %v", i, x[i], lo, hi, nameOf(m))
	}
	return fmt.Errorf("bregman: point of norm %g is outside the domain of %v", normP(2, x), nameOf(m))
}

// J returns J(z) = φ*(y + z1) − z of (3.19), the convex function that the shift minimises. Only tests and the
// checks of package paper evaluate J; the solvers use J′.
func J(m Modulus, y []float64, z float64) float64 { return Conjugate(m, shifted(y, z)) - z }

func shifted(y []float64, z float64) []float64 {
	u := slices.Clone(y)
	floats.AddConst(z, u)
	return u
}

// JDeriv returns J′(z) = 1ᵀ∇φ*(y + z1) − 1 of (3.23).
func JDeriv(m Modulus, y []float64, z float64) float64 {
	u := shifted(y, z)
	m.ConjugateGradient(u, u)
	return sum.Of(append([]float64{-1}, u...))
}

// JSecond returns J″(z) = 1ᵀ∇²φ*(y + z1)1 of (3.24), or NaN if m is not a [Curver].
// If a kernel has no ConjCurvature, only about ten digits are right.
func JSecond(m Modulus, y []float64, z float64) float64 {
	if c, ok := m.(Curver); ok {
		return c.ConjugateCurvature(shifted(y, z))
	}
	return math.NaN()
}
