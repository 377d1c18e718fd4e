package adversary

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// divergences is the space of two points of Θ₂ ∩ Θ_R in three dimensions, for the moduli of the ball,
// the cube and the simplex.
func divergences(v []float64) []Law {
	class := classOf(v[0], v[1])
	phi := mixpolicy.DefaultModulus(class)
	centre := []float64{1. / 3, 1. / 3, 1. / 3}
	// A point of the class: what is outside goes to the boundary, and all is moved inside.
	point := func(direction []float64, inside float64) []float64 {
		x := make([]float64, 3)
		mixpolicy.Must(0, class.Norm.Project(x, scaled(2*class.R, direction), class.R))
		return floats.AddScaledTo(x, centre, inside, difference(x, centre))
	}
	x, y := point(v[3:6], 1-0x1p-30), point(v[6:9], 1-v[2])
	move, norm := difference(x, y), class.Norm
	mu, _, _ := bregman.StrongConvexity(phi) // ‖·‖_∞ ≤ ‖·‖₂, and else the norm is that of the class
	d := bregman.Divergence(phi, x, y)
	z, projected, pythagoras := scaled(1+v[3]/2, y), make([]float64, 3), Side{} // z is not on Θ₂
	if phi.InDomain(z) {
		mixpolicy.Must(0, bregman.Project(phi, projected, z))
		left, right := bregman.Divergence(phi, projected, z)+bregman.Divergence(phi, x, projected), bregman.Divergence(phi, x, z)
		pythagoras = Side{left, right, right + lost(phi, x, projected, 0x1p-43)} // the projection has 13 digits
	}
	return []Law{
		{"5.10", "(μ/2)‖x−y‖² ≤ D(x;y), μ in the norm of the class", "",
			Side{mu / 2 * norm.Of(move) * norm.Of(move), d, 1e-4 * mu * class.R * class.R}},
		{"3.29", "D(x;y) ≤ MaxDivergence from y", "", Side{d, theory.MaxDivergence(phi, class, y), 0}},
		{"5.4", "D(P(z);z) + D(x;P(z)) ≤ D(x;z), P the projection onto Θ₂", "", pythagoras},
	}
}

// exactSums are Ση, Ση² and Ση⁴ of η_t = 1/√(t+1) for T = 1, …, 10⁶.
var exactSums = sync.OnceValue(func() []theory.StepSums {
	all := make([]theory.StepSums, 1_000_001)
	for t, s := range all[:1_000_000] {
		n := float64(t + 1)
		all[t+1] = theory.StepSums{T: t + 1, Sum: s.Sum + 1/math.Sqrt(n), Squares: s.Squares + 1/n, Fourth: s.Fourth + 1/n/n}
	}
	return all
})

// stepSums is the space of (5.31).
func stepSums(x []float64) []Law {
	s := exactSums()[int(x[0])]
	b := theory.InverseSqrtSums(mixpolicy.Corrected, s.T)
	return []Law{
		{"5.31a", "2(√(T+1) − 1) ≤ Ση", "", Side{b.Sum, s.Sum, 0}},
		{"5.31b", "Ση² ≤ 1 + ln T", "", Side{s.Squares, b.Squares, 0}},
		{"5.31b", "Ση⁴ ≤ 2 − 1/T", "", Side{s.Fourth, b.Fourth, 0}},
	}
}
