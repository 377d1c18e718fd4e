package bregman_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/hyperdual"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// show projects the dual point y onto 1ᵀθ = 1 and prints the mixture.
func show(m bregman.Modulus, y ...float64) {
	if _, err := bregman.ProjectDual(m, y, nil); err != nil {
		fmt.Println(err)
		return
	}
	m.ConjugateGradient(y, y)
	fmt.Printf("%v: θ = %.4f\n", m, y)
}

func ExampleBall() {
	show(bregman.Ball{R: 2}, 3, 1, -1)
	// Output:
	// ball, R = 2: θ = [1.6099 0.3333 -0.9432]
}

func ExampleLogBall() {
	show(bregman.LogBall{R: 2}, 3, 1, -1)
	// Output:
	// log ball, R = 2: θ = [1.4602 0.3333 -0.7936]
}

func ExampleCube() {
	show(bregman.Cube{R: 2}, 3, 1, -1)
	// Output:
	// cube, R = 2: θ = [1.7093 0.5330 -1.2423]
}

func ExampleHellinger() {
	show(bregman.Hellinger{R: 2}, 3, 1, -1)
	// Output:
	// Hellinger, R = 2: θ = [1.8521 0.8271 -1.6792]
}

func ExampleLogCosine() {
	show(bregman.LogCosine{R: 2}, 3, 1, -1)
	// Output:
	// log-cosine, R = 2: θ = [1.5314 0.6818 -1.2132]
}

func ExampleFermiDirac() {
	show(bregman.FermiDirac{Lo: []float64{0, 0, -1}, Hi: []float64{0.6, 1, 1}}, 3, 1, -1)
	// Output:
	// Fermi–Dirac on [0 0 -1] to [0.6 1 1]: θ = [0.5777 0.7782 -0.3560]
}

func ExampleBurg() {
	show(bregman.Burg{}, 3, 1, -1)
	// Output:
	// Burg entropy: θ = [0.5623 0.2647 0.1731]
}

func ExampleTsallis() {
	show(bregman.Tsallis{Q: 0.5}, 3, 1, -1)
	// Output:
	// Tsallis entropy, q = 0.5: θ = [0.8559 0.1054 0.0387]
}

func ExampleEuclidean() {
	show(bregman.Euclidean{}, 3, 1, -1)
	// Output:
	// Euclidean: θ = [2.3333 0.3333 -1.6667]
}

func ExamplePNorm() {
	show(bregman.PNorm{P: 1.5}, 3, 1, -1)
	// Output:
	// ½‖·‖², p = 1.5: θ = [2.0687 0.0374 -1.1060]
}

func ExampleMahalanobis() {
	// Distances between mixtures as distances between their measures: Q = ΨᵀΨ.
	psi := mat.NewDense(3, 2, []float64{0.5, 0.1, 0.3, 0.3, 0.2, 0.6})
	var q mat.SymDense
	q.SymOuterK(1, psi.T())
	m, err := bregman.NewMahalanobis(&q)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(m, 0.3, 0.2)
	// Output:
	// Mahalanobis, order 2, λ_min = 0.157: θ = [0.9375 0.0625]
}

func ExampleLogBarrier() {
	// The polytope θ₁ ≥ 0, θ₂ ≥ 0, θ₁ + 2θ₂ ≤ 1.8.
	a := mat.NewDense(3, 2, []float64{-1, 0, 0, -1, 1, 2})
	m, err := bregman.NewLogBarrier(a, []float64{0, 0, 1.8}, []float64{0.5, 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(m, 0, 100)
	// Output:
	// log barrier of 3 half-spaces in ℝ^2: θ = [0.2104 0.7896]
}

// From a function to a checked modulus: φ(x) = x log x − log x on x > 0.
func ExampleFromFunc() {
	m := bregman.FromFunc(func(x bregman.Dual) bregman.Dual {
		return hyperdual.Sub(hyperdual.Mul(x, hyperdual.Log(x)), hyperdual.Log(x))
	}, 0, math.Inf(1))
	fmt.Println(bregman.Check(m, 3, 1).Err())
	show(m, 1, 0, -1)
	// Output:
	// <nil>
	// separable from a function: θ = [0.4208 0.3218 0.2574]
}

// A function without a barrier is no modulus of its interval, and Check says so.
func ExampleCheck() {
	m := bregman.FromFunc(func(x bregman.Dual) bregman.Dual { return hyperdual.Mul(x, x) }, -1, 1)
	for _, f := range bregman.Check(m, 2, 1).Findings {
		if !f.OK {
			fmt.Println(f.Name)
		}
	}
	// Output:
	// ‖∇φ‖ → ∞ at the boundary
}

func ExampleScale() {
	show(bregman.Scale(bregman.Cube{R: 2}, 10), 3, 1, -1)
	// Output:
	// separable 10·(cube, R = 2): θ = [0.5260 0.3355 0.1385]
}

func ExampleTranslate() {
	show(bregman.Translate(bregman.Ball{R: 1}, 0.5, 0.5, 0), 3, 1, -1)
	// Output:
	// ball, R = 1 moved by [0.5 0.5 0]: θ = [1.1667 0.5000 -0.6667]
}

func ExampleSum() {
	m, err := bregman.Sum(bregman.NegativeEntropy{}, bregman.Burg{})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(m, 3, 1, -1)
	_, err = bregman.Sum(bregman.Ball{R: 1}, bregman.Burg{})
	fmt.Println(err)
	// Output:
	// separable negative entropy + Burg entropy: θ = [0.5083 0.2928 0.1989]
	// bregman: term 0 of the sum, ball, R = 1, is not separable
}

func ExampleRegularize() {
	m, err := bregman.Regularize(bregman.NegativeEntropy{}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(m, 3, 1, -1)
	// Output:
	// separable negative entropy + 2·(Euclidean): θ = [0.7084 0.2431 0.0485]
}

func ExampleBox() {
	m, err := bregman.Box(bregman.Hellinger{R: 1}, []float64{0, 0, -1}, []float64{0.6, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(m, 3, 1, -1)
	// Output:
	// 3 coordinates: Hellinger, R = 1 on (0, 0.6), …: θ = [0.5213 0.8171 -0.3384]
}

// A kernel for each coordinate: the first between −1 and 1, the second positive.
func ExampleCoordinates() {
	half, _ := bregman.KernelOf(bregman.Hellinger{R: 1})
	entropy, _ := bregman.KernelOf(bregman.NegativeEntropy{})
	show(bregman.Coordinates{half, entropy}, 1, 0)
	// Output:
	// 2 coordinates: Hellinger, R = 1, …: θ = [0.4175 0.5825]
}

// Eight evaluations of J′ are enough, here for coordinates of very different sizes.
func ExampleNewtonShift() {
	y := []float64{3, -1e5, 2e300, 1e-300}
	_, evaluations, err := bregman.NewtonShift(bregman.LogCosine{R: 1}, y, nil)
	fmt.Println(evaluations <= 8, err)
	// Output:
	// true <nil>
}

func ExampleBlocks() {
	m := bregman.Blocks{{Len: 2, Modulus: bregman.Ball{R: 1}}, {Len: 2, Modulus: bregman.NegativeEntropy{}}}
	y := []float64{1, -1, -2, -3}
	if _, err := bregman.ProjectDual(m, y, nil); err != nil {
		fmt.Println(err)
	}
	m.ConjugateGradient(y, y)
	fmt.Printf("%.4f\n", y)
	// Output:
	// [0.8380 -0.1872 0.2553 0.0939]
}

func ExampleRadial() {
	k, _ := bregman.KernelOf(bregman.LogCosine{R: 2})
	show(bregman.Radial{Kernel: k}, 3, 1, -1)
	// Output:
	// radial log-cosine, R = 2: θ = [1.3844 0.3333 -0.7178]
}

func ExampleAffine() {
	// An ellipse: the ball of radius 2 in coordinates (θ₁, 3θ₂).
	m, err := bregman.NewAffine(bregman.Ball{R: 2}, mat.NewDense(2, 2, []float64{1, 0, 0, 3}), []float64{0, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	show(m, 0, 100)
	// Output:
	// ball, R = 2 in other coordinates: θ = [0.3435 0.6565]
}

// The negative entropy on the segment from (1, 0) to (0, 1), about its middle, is the entropy
// of a coin.
func ExampleRestrict() {
	m, err := bregman.Restrict(bregman.NegativeEntropy{}, []float64{0.5, 0.5}, mat.NewDense(2, 1, []float64{1, -1}))
	if err != nil {
		fmt.Println(err)
		return
	}
	u, theta := []float64{1}, make([]float64, 2)
	m.ConjugateGradient(u, u)
	m.Point(theta, u)
	fmt.Printf("u = %.4f, θ = %.4f\n", u, theta)
	// Output:
	// u = [0.2311], θ = [0.7311 0.2689]
}

func ExampleGallery() {
	for _, m := range bregman.Gallery(3, 2) {
		if s, ok := m.(bregman.StrongConvexer); ok {
			mu, norm := s.StrongConvexity()
			fmt.Printf("%v: %.4g-strongly convex in %v\n", m, mu, norm)
		}
	}
	// Output:
	// ball, R = 2: 0.5-strongly convex in ℓ2
	// log ball, R = 2: 0.5-strongly convex in ℓ2
	// cube, R = 2: 1-strongly convex in ℓ2
	// Hellinger, R = 2: 0.5-strongly convex in ℓ2
	// log-cosine, R = 2: 0.7854-strongly convex in ℓ2
	// Fermi–Dirac on [-1 -1 -1] to [2 2 2]: 1.333-strongly convex in ℓ2
	// negative entropy: 1-strongly convex in ℓ1
	// Tsallis entropy, q = 0.5: 0.7071-strongly convex in ℓ1
	// Burg entropy: 2-strongly convex in ℓ1
	// Euclidean: 1-strongly convex in ℓ2
	// ½‖·‖², p = 1.91: 0.9102-strongly convex in ℓ1.91
}
