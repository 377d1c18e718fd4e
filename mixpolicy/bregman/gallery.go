package bregman

import (
	"math"
	"slices"
)

// Gallery returns one of each modulus of this package that is made of a radius or of
// nothing, with the radius r where it takes one: what a comparison starts from. Those whose
// domain misses the hyperplane 1ᵀθ = 1 in ℝᵈ are left out.
//
//	for _, m := range bregman.Gallery(3, 2) {
//		fmt.Println(m, bregman.Validate(m, 3))
//	}
func Gallery(d int, r float64) []Modulus {
	return slices.DeleteFunc(all(d, r), func(m Modulus) bool { return Validate(m, d) != nil })
}

// all is the whole gallery.
func all(d int, r float64) []Modulus {
	lo, hi := make([]float64, d), make([]float64, d)
	for i := range lo {
		lo[i], hi[i] = -r/2, r
	}
	return []Modulus{
		Ball{r}, LogBall{r},
		Cube(r), Hellinger(r), LogCosine(r), FermiDirac(lo, hi),
		NegativeEntropy(), Tsallis(0.5), Burg(),
		Euclidean(), PNorm{1 + 1/math.Max(1, math.Log(float64(d)))},
	}
}
