package bregman_test

import (
	"context"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"
)

// Three primal steps of Algorithm 1. Each is a gradient step, here with a constant gradient,
// and a projection, both in dual coordinates.
func Example() {
	m := bregman.Ball{R: 2}
	theta := []float64{0.5, 0.5}
	gradient := []float64{3, -1}
	const eta = 0.1

	y, scratch := make([]float64, 2), make([]float64, 2)
	m.Gradient(y, theta)
	for step := range 3 {
		for i, g := range gradient {
			y[i] -= eta * g
		}
		if _, err := bregman.ProjectDual(m, y, scratch); err != nil {
			fmt.Println(err)
			return
		}
		m.ConjugateGradient(theta, y)
		fmt.Printf("%d: θ = (%.4f, %.4f)\n", step+1, theta[0], theta[1])
	}
	// Output:
	// 1: θ = (0.1400, 0.8600)
	// 2: θ = (-0.1513, 1.1513)
	// 3: θ = (-0.3559, 1.3559)
}

// The erratum of (3.22) in ℝ²: the printed z is not a root of J′.
func ExampleBall_PrintedShift() {
	b, v := bregman.Ball{R: 2}, []float64{0.3, -0.1}
	printed, _ := b.PrintedShift(v)
	corrected, _ := b.Shift(v)
	fmt.Printf("as printed: z = %.6f, J′(z) = %.2f\n", printed, bregman.JDeriv(b, v, printed))
	fmt.Printf("corrected:  z = %.6f, |J′(z)| < 1e-15: %v\n", corrected, math.Abs(bregman.JDeriv(b, v, corrected)) < 1e-15)
	// Output:
	// as printed: z = 0.416859, J′(z) = 0.63
	// corrected:  z = 0.177746, |J′(z)| < 1e-15: true
}

func ExampleBall_Divergence() {
	b := bregman.Ball{R: 1}
	x, y := []float64{0.3, 0.4}, []float64{0.3 + 1e-9, 0.4}
	fmt.Printf("%.4g\n", b.Divergence(x, y)) // direct evaluation of (3.9) gives 0 or rounding errors of 1e-16
	// Output:
	// 6.466e-19
}

// The ball contains a mixture only if R > 1/√d; for the cube, R > 1/d is enough.
func ExampleValidate() {
	fmt.Println(bregman.Validate(bregman.Ball{R: 0.5}, 4))
	fmt.Println(bregman.Validate(bregman.Cube(0.5), 4))
	// Output:
	// bregman: ball of radius R = 0.5 does not meet the hyperplane 1ᵀθ = 1 in ℝ^4: need R > 1/√d = 0.5
	// <nil>
}

// The cube has no closed form for z, so ProjectDual iterates on J. The iteration converges even
// where exponentials would overflow.
func ExampleProjectDual() {
	cube := bregman.Cube(1)
	for _, y := range [][]float64{{0.1, 0.2, 0.4}, {2000, -1e300, 1000}} {
		theta := make([]float64, 3)
		if _, err := bregman.ProjectDual(cube, y, nil); err != nil {
			fmt.Println(err)
		}
		cube.ConjugateGradient(theta, y)
		fmt.Printf("%.6f\n", theta)
	}
	// Output:
	// [0.274037 0.319620 0.406343]
	// [1.000000 -1.000000 1.000000]
}

// halfCircle is the kernel φ(x) = −√(1 − x²) on (−1, 1).
type halfCircle struct{}

func (halfCircle) Value(x float64) float64     { return -math.Sqrt(1 - x*x) }
func (halfCircle) Deriv(x float64) float64     { return x / math.Sqrt(1-x*x) }
func (halfCircle) ConjDeriv(y float64) float64 { return y / math.Hypot(1, y) }
func (halfCircle) Domain() (lo, hi float64)    { return -1, 1 }
func (halfCircle) String() string              { return "half circle" }

// A modulus of your own: Separable applies a kernel to every coordinate.
func ExampleSeparable() {
	m := bregman.Separable{Kernel: halfCircle{}}
	theta := []float64{0.2, 0.9, -0.5}
	if err := bregman.Project(m, theta, theta); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("θ = %.4f, sum %.4f\n", theta, theta[0]+theta[1]+theta[2])
	fmt.Println(bregman.Project(m, theta, []float64{0.2, 1.5, 0}))
	// Output:
	// θ = [0.4042 0.9172 -0.3215], sum 1.0000
	// bregman: point has x[1] = 1.5 outside the domain (-1, 1) of separable half circle
}

// show projects the dual point y onto 1ᵀθ = 1 and prints the mixture.
func show(m bregman.Modulus, y ...float64) {
	if _, err := bregman.ProjectDual(m, y, nil); err != nil {
		fmt.Println(err)
		return
	}
	m.ConjugateGradient(y, y)
	fmt.Printf("%v: θ = %.4f\n", m, y)
}

// The projections of one dual point under several moduli.
func ExampleModulus() {
	for _, m := range []bregman.Modulus{
		bregman.Ball{R: 2}, bregman.LogBall{R: 2}, bregman.Cube(2), bregman.Hellinger(2), bregman.LogCosine(2),
		bregman.FermiDirac([]float64{0, 0, -1}, []float64{0.6, 1, 1}), bregman.Burg(), bregman.Tsallis(0.5), bregman.Euclidean(),
		bregman.PNorm{P: 1.5}, bregman.Scale(bregman.Cube(2), 10),
	} {
		show(m, 3, 1, -1)
	}
	// Output:
	// ball, R = 2: θ = [1.6099 0.3333 -0.9432]
	// log ball, R = 2: θ = [1.4602 0.3333 -0.7936]
	// cube, R = 2: θ = [1.7093 0.5330 -1.2423]
	// Hellinger, R = 2: θ = [1.8521 0.8271 -1.6792]
	// log-cosine, R = 2: θ = [1.5314 0.6818 -1.2132]
	// Fermi–Dirac on a box of dimension 3: θ = [0.5777 0.7782 -0.3560]
	// Burg entropy: θ = [0.5623 0.2647 0.1731]
	// Tsallis entropy, q = 0.5: θ = [0.8559 0.1054 0.0387]
	// Euclidean: θ = [2.3333 0.3333 -1.6667]
	// ½‖·‖², p = 1.5: θ = [2.0687 0.0374 -1.1060]
	// 10·(cube, R = 2): θ = [0.5260 0.3355 0.1385]
}

// The ball's modulus in sheared coordinates.
func ExampleCompose() {
	m := bregman.Compose(bregman.Ball{R: 2}, mat.NewDense(2, 2, []float64{1, 1, 0, 1})) // −√(4 − (x₁+x₂)² − x₂²)
	fmt.Println(bregman.Check(context.Background(), m, 2, 1).Err())
	show(m, 3, -1)
	// Output:
	// <nil>
	// (ball, R = 2) ∘ A: θ = [2.6803 -1.6803]
}

// A modulus from the function φ(x) = x log x − log x on x > 0. Check finds no fault.
func ExampleFromFunc() {
	m := bregman.FromFunc("x log x − log x", func(x bregman.Dual) bregman.Dual {
		return hyperdual.Sub(hyperdual.Mul(x, hyperdual.Log(x)), hyperdual.Log(x))
	}, 0, math.Inf(1))
	fmt.Println(bregman.Check(context.Background(), m, 3, 1).Err())
	show(m, 1, 0, -1)
	// Output:
	// <nil>
	// x log x − log x: θ = [0.4208 0.3218 0.2574]
}

// A function without a barrier at the ends of its interval is not a modulus, and Check says so.
func ExampleCheck() {
	m := bregman.FromFunc("x² on (−1, 1)", func(x bregman.Dual) bregman.Dual { return hyperdual.Mul(x, x) }, -1, 1)
	for _, f := range bregman.Check(context.Background(), m, 2, 1).Findings {
		fmt.Println(f)
	}
	// Output:
	// not a Legendre function: ‖∇φ‖ stays finite at the boundary: x = 1, where ‖∇φ‖ = 2
}

// Two kernels from closures. In the second one, the sign of φ′ is wrong, and Check says so.
func ExampleFromClosures() {
	value := func(x float64) float64 { return -math.Sqrt(1 - x*x) }
	deriv := func(x float64) float64 { return x / math.Sqrt(1-x*x) }
	inverse := func(y float64) float64 { return y / math.Hypot(1, y) }
	show(bregman.FromClosures("half circle", value, deriv, inverse, -1, 1), 3, 1, -1)

	turned := func(x float64) float64 { return -deriv(x) }
	m := bregman.FromClosures("half circle", value, turned, inverse, -1, 1)
	fmt.Println(bregman.Check(context.Background(), m, 3, 1).Findings[0])
	// Output:
	// half circle: θ = [0.9508 0.7304 -0.6812]
	// methods disagree: Deriv is −1 times the derivative of Value, at x = 0.3: measured 0.314485, claimed −0.314485
}

// The ball's modulus, which is not a sum over the coordinates, from its value alone.
func ExampleFromVectorFunc() {
	m := bregman.FromVectorFunc("half sphere", func(x []bregman.Dual) bregman.Dual {
		gap := bregman.Dual{Real: 4}
		for _, v := range x {
			gap = hyperdual.Sub(gap, hyperdual.Mul(v, v))
		}
		return hyperdual.Scale(-1, hyperdual.Sqrt(gap))
	}, []float64{0, 0, 0})
	fmt.Println(bregman.Check(context.Background(), m, 3, 1).Err())
	show(m, 3, 1, -1)
	show(bregman.Ball{R: 2}, 3, 1, -1)
	// Output:
	// <nil>
	// half sphere: θ = [1.6099 0.3333 -0.9432]
	// ball, R = 2: θ = [1.6099 0.3333 -0.9432]
}

// One kernel per coordinate: θ₁ is between −1 and 1, and θ₂ is positive.
func ExampleSeparable_each() {
	m := bregman.Separable{Each: []bregman.Kernel{halfCircle{}, bregman.Burg().Kernel}}
	show(m, 1, -2)
	// Output:
	// separable, with 2 kernels: θ = [0.5673 0.4327]
}

// If the entries of a dual point are far apart, J′ is a staircase, with its root at one of the steps.
func ExampleNewtonShift() {
	y := []float64{3, -1e5, 2e5, 1}
	z, evaluations, err := bregman.NewtonShift(bregman.LogCosine(1), y, nil)
	fmt.Printf("z = %.4f, evaluations ≤ 20: %v, %v\n", z, evaluations <= 20, err)
	// Output:
	// z = -0.5858, evaluations ≤ 20: true, <nil>
}

// The strong convexity of three moduli. The gallery omits the balls of radius 0.6, which miss the hyperplane in ℝ².
func ExampleGallery() {
	for _, m := range bregman.Gallery(2, 0.6)[:3] {
		mu, norm, _ := bregman.StrongConvexity(m)
		fmt.Printf("%v: %.4g-strongly convex in ℓ%.4g\n", m, mu, norm)
	}
	// Output:
	// cube, R = 0.6: 3.333-strongly convex in ℓ2
	// Hellinger, R = 0.6: 1.667-strongly convex in ℓ2
	// log-cosine, R = 0.6: 2.618-strongly convex in ℓ2
}
