package priorwork

import (
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Learners returns the contestants that learn costs from the oracle, each with up to 16
// configurations about where it does well when costs are divided by their greatest
// size: Algorithm 1, its last iterate, its variance-reduced form, the penalty method
// (4.16), the dual ALP (4.14), plug-in, which has nothing to tune, and the bilinear method
// for the criterion. With a basis Φ of value functions there is the ALP over sampled
// constraints as well. steps is the number of queries of the longest run, and mixing an
// upper bound of mixing times, for the step sizes of the bilinear methods.
func Learners(p *mixpolicy.Problem, phi *mat.Dense, steps int, mixing float64) []Contestant {
	lo, hi := p.MDP().CostRange()
	scale := max(-lo, hi)
	if scale == 0 {
		scale = 1
	}
	all := []Contestant{
		{"Algorithm 1", grid(powers(1, 2, 16), one, func(eta, _ float64) System {
			return Mixing(&mixpolicy.PrimalDual{CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)})
		})},
		{"Algorithm 1, last iterate", grid(powers(1, 2, 16), one, func(eta, _ float64) System {
			return Mixing(LastIterate{&mixpolicy.PrimalDual{CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)}})
		})},
		{"Algorithm 1, variance reduced", grid(powers(1, 2, 16), one, func(eta, _ float64) System {
			return Mixing(&VarianceReduced{CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)})
		})},
		{"penalty", grid(powers(1, 8, 4), powers(2, 4, 4), func(eta, omega float64) System {
			return Mixing(&mixpolicy.Penalty{CostScale: scale, Weight: omega, StepSize: mixpolicy.InverseSqrt(eta)})
		})},
		{"dual ALP", grid(powers(1, 8, 4), powers(2, 4, 4), func(eta, omega float64) System {
			return Mixing(&DualALP{CostScale: scale, Weight: omega, StepSize: mixpolicy.InverseSqrt(eta)})
		})},
		{"plug-in", grid(one, one, func(_, _ float64) System { return Mixing(&mixpolicy.PlugIn{}) })},
	}
	if p.MDP().Criterion().Average() {
		all = append(all, Contestant{"π-learning", grid(powers(1, 2, 8), []float64{100, 10_000}, func(rate, tau float64) System {
			return &PiLearning{Steps: steps, MixingTime: mixing, Range: tau, Rate: rate}
		})})
	} else {
		all = append(all, Contestant{"randomised LP", grid(powers(1, 2, 16), one, func(rate, _ float64) System {
			return &RandomizedLP{Steps: steps, Rate: rate}
		})})
	}
	if phi != nil {
		all = append(all, Contestant{"ALP, sampled constraints", grid(one, one, func(_, _ float64) System {
			return &ConstraintSampling{Basis: phi}
		})})
	}
	return all
}

// Knowing returns the contestants that are told the costs: they ask the oracle nothing and
// are to be compared by time.
func Knowing() []Contestant {
	return []Contestant{
		{"mirror-prox", grid(one, one, func(_, _ float64) System { return Mixing(&MirrorProx{}) })},
		{"restarted PDHG", grid(one, one, func(_, _ float64) System { return Mixing(&PDHG{}) })},
	}
}

var one = []float64{1}

// grid makes a configuration of every pair, the first of both first.
func grid(a, b []float64, system func(a, b float64) System) []func() System {
	var all []func() System
	for _, v := range a {
		for _, w := range b {
			all = append(all, func() System { return system(v, w) })
		}
	}
	return all
}

// powers returns first, and then count−1 numbers around it, first·factorᵏ for k = −1, 1,
// −2, 2, …
func powers(first, factor float64, count int) []float64 {
	x := []float64{first}
	for up, down := first, first; len(x) < count; {
		down /= factor
		x = append(x, down)
		if len(x) < count {
			up *= factor
			x = append(x, up)
		}
	}
	return x
}
