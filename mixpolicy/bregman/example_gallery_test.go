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
	show(bregman.Cube(2), 3, 1, -1)
	// Output:
	// cube, R = 2: θ = [1.7093 0.5330 -1.2423]
}

func ExampleHellinger() {
	show(bregman.Hellinger(2), 3, 1, -1)
	// Output:
	// Hellinger, R = 2: θ = [1.8521 0.8271 -1.6792]
}

func ExampleLogCosine() {
	show(bregman.LogCosine(2), 3, 1, -1)
	// Output:
	// log-cosine, R = 2: θ = [1.5314 0.6818 -1.2132]
}

func ExampleFermiDirac() {
	show(bregman.FermiDirac([]float64{0, 0, -1}, []float64{0.6, 1, 1}), 3, 1, -1)
	// Output:
	// Fermi–Dirac on [0 0 -1] to [0.6 1 1]: θ = [0.5777 0.7782 -0.3560]
}

func ExampleBurg() {
	show(bregman.Burg(), 3, 1, -1)
	// Output:
	// Burg entropy: θ = [0.5623 0.2647 0.1731]
}

func ExampleTsallis() {
	show(bregman.Tsallis(0.5), 3, 1, -1)
	// Output:
	// Tsallis entropy, q = 0.5: θ = [0.8559 0.1054 0.0387]
}

func ExampleEuclidean() {
	show(bregman.Euclidean(), 3, 1, -1)
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
	show(bregman.Scale(bregman.Cube(2), 10), 3, 1, -1)
	// Output:
	// 10·(cube, R = 2): θ = [0.5260 0.3355 0.1385]
}
