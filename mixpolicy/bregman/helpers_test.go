package bregman_test

import (
	"math"

	"gonum.org/v1/gonum/floats"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

const ulp = 0x1p-52

func normP(p float64, x []float64) float64 { return floats.Norm(x, p) }

func maxAbs(x []float64) float64 { return floats.Norm(x, inf) }

// entropic is the kernel of the entropy, without optional methods.
var entropic = FromClosures("entropy", func(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x*math.Log(x) - x
}, math.Log, math.Exp, 0, inf).Kernel

// condition returns how far ∇φ*(y) moves if every entry of y changes by an ulp, plus an ulp of ‖∇φ*(y)‖.
func condition(m Modulus, y []float64) float64 {
	x, moved := make([]float64, len(y)), make([]float64, len(y))
	for i, v := range y {
		moved[i] = v * (1 + 4*ulp)
	}
	m.ConjugateGradient(x, y)
	m.ConjugateGradient(moved, moved)
	return distance(x, moved)/4 + ulp*norm(x)
}
