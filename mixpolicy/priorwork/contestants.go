package priorwork

import (
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Learners returns the contestants that learn costs from the oracle, each with up to 16
// configurations about where it does well when costs are divided by their greatest
// size. Those for (2.18): Algorithm 1 in its averaged form, its last iterate, with scaled rows
// and with reduced variance, the penalty method (4.16), the dual ALP (4.14), and plug-in,
// which has nothing to tune. Those for all policies: the bilinear method for the
// criterion and certainty equivalence. With a basis Φ of value functions there are the
// ALP over sampled constraints (4.8) and, for discounted cost, the primal–dual method for
// the smoothed ALP as well.
//
// steps is the number of queries of the longest run, and mixing an upper bound of mixing
// times, for the step sizes of the bilinear methods. Φ should have columns of size 1:
// coefficients are kept below the range of costs times the horizon, 1/(1−γ) or mixing.
func Learners(p *mixpolicy.Problem, phi *mat.Dense, steps int, mixing float64) []Contestant {
	lo, hi := p.MDP().CostRange()
	scale := max(-lo, hi)
	if scale == 0 {
		scale = 1
	}
	horizon := mixing
	if !p.MDP().Criterion().Average() {
		horizon = 1 / (1 - p.MDP().Gamma())
	}
	wide := powers(4, 4, 16) // η₀ of a method with nothing else to tune
	all := []Contestant{
		{"Algorithm 1", "Badiei Khuzani et al. 2019, corrected", grid(wide, one, func(eta, _ float64) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)}
		})},
		{"Algorithm 1, last iterate", "not in the paper", grid(wide, one, func(eta, _ float64) mixpolicy.Method {
			return LastIterate{mixpolicy.PrimalDual{CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)}}
		})},
		{"Algorithm 1, rows scaled", "not in the paper; Pock and Chambolle 2011", grid(wide, one, func(eta, _ float64) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta), RowScaling: true}
		})},
		{"Algorithm 1, variance reduced", "not in the paper", grid(wide, one, func(eta, _ float64) mixpolicy.Method {
			return VarianceReduced{CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)}
		})},
		{"penalty", "Banijamali et al. 2018", grid(powers(1, 8, 4), powers(16, 8, 4), func(eta, omega float64) mixpolicy.Method {
			return mixpolicy.Penalty{CostScale: scale, Weight: omega, StepSize: mixpolicy.InverseSqrt(eta)}
		})},
		{"dual ALP", "Abbasi-Yadkori et al. 2014", grid(powers(1, 8, 4), powers(16, 8, 4), func(eta, omega float64) mixpolicy.Method {
			return DualALP{CostScale: scale, Weight: omega, StepSize: mixpolicy.InverseSqrt(eta)}
		})},
		{"plug-in", "certainty equivalence for (2.18)", grid(one, one, func(_, _ float64) mixpolicy.Method { return mixpolicy.PlugIn{} })},
	}
	if p.MDP().Criterion().Average() {
		all = append(all, Contestant{"π-learning", "Wang 2017", grid(powers(1, 4, 8), []float64{100, 10_000}, func(rate, tau float64) mixpolicy.Method {
			return PiLearning{Steps: steps, MixingTime: mixing, Range: tau, Rate: rate}
		})})
	} else {
		all = append(all, Contestant{"randomised LP", "Wang 2020", grid(powers(1, 4, 16), one, func(rate, _ float64) mixpolicy.Method {
			return RandomizedLP{Steps: steps, Rate: rate}
		})})
	}
	if phi != nil {
		all = append(all, Contestant{"ALP, sampled constraints", "de Farias and Van Roy 2004", grid(one, one, func(_, _ float64) mixpolicy.Method {
			return ConstraintSampling{Basis: phi, Weights: Visits(p), Bound: scale * horizon}
		})})
		if !p.MDP().Criterion().Average() {
			all = append(all, Contestant{"smoothed ALP, primal–dual", "promised by the abstract", grid(powers(1, 8, 4), powers(16, 4, 4), func(eta, radius float64) mixpolicy.Method {
				return SmoothedPrimalDual{Basis: phi, Weights: Visits(p), Slack: Visits(p), Radius: radius, CostScale: scale, StepSize: mixpolicy.InverseSqrt(eta)}
			})})
		}
	}
	return append(all, Contestant{"certainty equivalence", "Azar, Munos and Kappen 2013", grid(one, one, func(_, _ float64) mixpolicy.Method {
		return CertaintyEquivalence{}
	})})
}

// Knowing returns the contestants that are told the costs: they ask the oracle nothing and
// are to be compared by time. For (2.18): mirror-prox, restarted PDHG and the exact linear
// program. For all policies: policy iteration, and with a basis Φ the approximate LP
// (4.1) and, for discounted cost, the smoothed one (4.10).
func Knowing(p *mixpolicy.Problem, phi *mat.Dense) []Contestant {
	only := func(m mixpolicy.Method) []mixpolicy.Method { return []mixpolicy.Method{m} }
	all := []Contestant{
		{"mirror-prox", "Nemirovski 2004", only(MirrorProx{})},
		{"restarted PDHG", "Applegate et al. 2023", only(PDHG{})},
		{"exact LP (2.18)", "linear programming", only(MixtureLP{})},
		{"policy iteration", "Howard 1960", only(FullLP{})},
	}
	if phi != nil {
		all = append(all, Contestant{"approximate LP", "de Farias and Van Roy 2003", only(ApproximateLP{phi})})
		if !p.MDP().Criterion().Average() {
			all = append(all, Contestant{"smoothed LP", "Desai, Farias and Moallemi 2012", only(SmoothedLP{phi})})
		}
	}
	return all
}

var one = []float64{1}

// grid makes a configuration of every pair, the first of both first.
func grid(a, b []float64, m func(a, b float64) mixpolicy.Method) []mixpolicy.Method {
	var all []mixpolicy.Method
	for _, v := range a {
		for _, w := range b {
			all = append(all, m(v, w))
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
