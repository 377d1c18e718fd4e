package bregman

import (
	"math"
	"slices"
)

// Gallery returns one example of each basic modulus in this package, for comparisons. Balls and cubes have the radius
// r, and the box of [FermiDirac] is (−r/2, r)ᵈ. [Tsallis] has q = ½, and [PNorm] has p = 1 + 1/max{1, log d}. Gallery
// omits a modulus if its parameters are invalid, or if its domain misses the hyperplane 1ᵀθ = 1 in ℝᵈ.
//
//	for _, m := range bregman.Gallery(3, 2) {
//		fmt.Println(m, bregman.Validate(m, 3))
//	}
func Gallery(d int, r float64) []Modulus {
	box := FermiDirac(slices.Repeat([]float64{-r / 2}, d), slices.Repeat([]float64{r}, d))
	return slices.DeleteFunc([]Modulus{
		Ball{r}, LogBall{r}, Cube(r), Hellinger(r), LogCosine(r), box,
		NegativeEntropy(), Tsallis(0.5), Burg(),
		Euclidean(), PNorm{1 + 1/math.Max(1, math.Log(float64(d)))},
	}, func(m Modulus) bool { return Validate(m, d) != nil })
}
