package study

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// The information that methods receive, beyond the class and the criterion.
const (
	Measures     = "Ψ, q"                // rows of Ψ, and the oracle's distribution of pairs
	Visits       = "visits"              // the distribution of states under q
	Basis        = "Φ"                   // a basis of value functions
	Transitions  = "P"                   // the transition probabilities of all pairs
	Costs        = "c"                   // the costs of all pairs
	GreedyCosts  = "P, c to be greedy"   // P and c of all pairs, but only to compute the greedy policy of a value function
	CostRange    = "max |c|"             // the greatest |c|, for step sizes or for bounds on answers
	MixingTime   = "τ"                   // an upper bound on the mixing times of the base policies
	SampledCosts = "c, (s,a) ~ q"        // costs at pairs that the oracle draws
	ChosenCosts  = "c, (s,a) chosen"     // costs at pairs that the method chooses
	Generator    = "c, s′, (s,a) chosen" // costs and drawn next states at pairs that the method chooses
)

// Tellings lists all kinds of information in the order of the tables: first what a method knows, and then which costs
// it can query.
var Tellings = []string{
	Measures, Visits, Basis, Transitions, Costs, GreedyCosts, CostRange, MixingTime, SampledCosts, ChosenCosts, Generator,
}

// fromSamples is the information that most methods for (2.18) receive.
var fromSamples = []string{Measures, CostRange, SampledCosts}

// Learners returns the methods that learn costs from the oracle. Each method has at most 16 settings. Step sizes and
// penalty weights are meant for costs divided by max |c|. The methods for (2.18) are Algorithm 1, the penalty method
// (4.16), the dual ALP (4.14), and two forms of plug-in: one with means, and one with medians of means. Algorithm 1
// enters in several forms: with its average as the answer, with its last iterate as the answer, with scaled rows, with
// reduced variance (on small problems only), and in the scale-free form. The scale-free form and plug-in have nothing
// to tune. Some methods seek the best of all policies: certainty equivalence; for average cost, π-learning; and for
// discounted cost, the randomised LP. If phi is not nil, Learners also returns the ALP with sampled constraints (4.8)
// and, for discounted cost, a primal–dual method for the smoothed ALP. Here, phi is Φ, a basis of value functions.
//
// Here, the parameter steps is the number of queries of the longest run, and the parameter mixing is a bound on the
// base policies' mixing times. The step sizes of π-learning depend on steps and mixing, and the step sizes of the
// randomised LP depend only on steps. In each column of Φ, the greatest absolute value should be 1, because we bound
// the coefficients in (4.8) by max |c| times the horizon. The horizon is 1/(1−γ) or, for average cost, the parameter
// mixing.
//
// In Algorithm 1, we set β = +∞, so λ is not confined to the ball of (3.26). Algorithm 1 can converge to λ* only if
// G = 1/(1−γ) ∨ β ≥ ‖λ*‖₂, and no learner knows ‖λ*‖₂. For discounted cost, an entrant with β = 0 shows the effect of
// the ball.
func Learners(p *mixpolicy.Problem, phi *mat.Dense, steps int, mixing float64) (all []race.Entrant) {
	x := p.MDP()
	lo, hi := x.CostRange()
	scale, average, horizon := cmp.Or(max(-lo, hi), 1), x.Criterion().Average(), mixing
	if !average {
		horizon = 1 / (1 - x.Gamma())
	}
	add := func(e race.Entrant) { all = append(all, e) }
	one, eta, omega := axis("η₀", 4, 4, 16), axis("η₀", 1, 8, 4), axis("ω", 16, 8, 4)
	plain := algorithm1(scale, math.Inf(1), false)

	add(tuned("Algorithm 1", "Badiei Khuzani et al. 2019, corrected", fromSamples, plain, one))
	if !average {
		add(tuned("Algorithm 1, β = 0", "Badiei Khuzani et al. 2019, corrected", fromSamples, algorithm1(scale, 0, false), one))
	}
	add(tuned("Algorithm 1, last iterate", "not in the paper", fromSamples, func(at []float64) mixpolicy.Method {
		return priorwork.LastIterate{Of: plain(at)}
	}, one))
	scaled := algorithm1(scale, math.Inf(1), true)
	add(tuned("Algorithm 1, rows scaled", "not in the paper; Pock and Chambolle 2011", fromSamples, scaled, one))
	if x.Pairs()*p.Dim() <= 10_000 { // a step takes 2nmd operations
		add(tuned("Algorithm 1, variance reduced", "not in the paper", fromSamples, func(at []float64) mixpolicy.Method {
			return priorwork.VarianceReduced{CostScale: scale, StepSize: mixpolicy.InverseSqrt(at[0])}
		}, one))
	}
	add(tuned("penalty", "Banijamali et al. 2018", fromSamples, func(at []float64) mixpolicy.Method {
		return mixpolicy.Penalty{CostScale: scale, Weight: at[1], StepSize: mixpolicy.InverseSqrt(at[0])}
	}, eta, omega))
	modelled := append(slices.Clone(fromSamples), Transitions)
	add(tuned("dual ALP", "Abbasi-Yadkori et al. 2014", modelled, func(at []float64) mixpolicy.Method {
		return priorwork.DualALP{CostScale: scale, Weight: at[1], StepSize: mixpolicy.InverseSqrt(at[0])}
	}, eta, omega))
	add(enter("scale-free", "not in the paper", fromSamples, priorwork.ScaleFree{}))
	sampled := []string{Measures, SampledCosts}
	add(enter("plug-in", "certainty equivalence for (2.18)", sampled, mixpolicy.PlugIn{}))
	add(enter("plug-in, median of means", "Nemirovski and Yudin 1983", sampled, priorwork.MedianPlugIn{}))
	if average {
		add(tuned("π-learning", "Wang 2017", []string{CostRange, MixingTime, Generator}, func(at []float64) mixpolicy.Method {
			return priorwork.PiLearning{Steps: steps, MixingTime: mixing, Rate: at[0], Range: at[1]}
		}, axis("rate", 1, 4, 8), race.Axis{Name: "range", Values: []float64{100, 10_000}}))
	} else {
		add(tuned("randomised LP", "Wang 2020", []string{CostRange, Generator}, func(at []float64) mixpolicy.Method {
			return priorwork.RandomizedLP{Steps: steps, Rate: at[0]}
		}, axis("rate", 1, 4, 16)))
	}
	if phi != nil {
		visits := priorwork.Visits(p)
		told := []string{Transitions, Basis, Visits, CostRange, ChosenCosts, GreedyCosts}
		add(enter("ALP, sampled constraints", "de Farias and Van Roy 2004", told,
			priorwork.ConstraintSampling{Basis: phi, Weights: visits, Bound: scale * horizon}))
		if !average {
			told := []string{Basis, Visits, CostRange, Generator, GreedyCosts}
			add(tuned("smoothed ALP, primal–dual", "ours; announced in the abstract", told,
				func(at []float64) mixpolicy.Method {
					return priorwork.SmoothedPrimalDual{Basis: phi, Weights: visits, Slack: visits, Radius: at[1],
						CostScale: scale, StepSize: mixpolicy.InverseSqrt(at[0])}
				}, eta, axis("radius", 16, 4, 4)))
		}
	}
	told := []string{Transitions, CostRange, ChosenCosts}
	return append(all, enter("certainty equivalence", "Azar, Munos and Kappen 2013", told, priorwork.CertaintyEquivalence{}))
}

// Informed returns the methods that know the costs. These methods query no costs, and should be compared by time. For
// (2.18), they are mirror-prox, restarted PDHG and the exact linear program. The other methods seek the best of all
// policies. They are policy iteration and, if phi is not nil, the approximate LP (4.1) with the basis phi. If phi is
// not nil and the cost is discounted, they also include the smoothed LP (4.10).
func Informed(p *mixpolicy.Problem, phi *mat.Dense) []race.Entrant {
	all := []race.Entrant{
		enter("mirror-prox", "Nemirovski 2004", []string{Measures, Costs}, priorwork.MirrorProx{}),
		enter("restarted PDHG", "Applegate et al. 2023", []string{Measures, Costs}, priorwork.PDHG{}),
		enter("exact LP (2.18)", "linear programming", []string{Measures, Costs}, priorwork.MixtureLP{}),
		enter("policy iteration", "Howard 1960", []string{Transitions, Costs}, priorwork.FullLP{}),
	}
	if phi != nil {
		told := []string{Transitions, Basis, Visits, Costs}
		all = append(all, enter("approximate LP", "de Farias and Van Roy 2003", told, priorwork.ApproximateLP{Basis: phi}))
		if !p.MDP().Criterion().Average() {
			all = append(all, enter("smoothed LP", "Desai, Farias and Moallemi 2012", told, priorwork.SmoothedLP{Basis: phi}))
		}
	}
	return all
}

// algorithm1 returns a function that makes Algorithm 1 with the parameters η₀ or, in a fair race, η₀, k and p.
func algorithm1(scale, beta float64, scaled bool) func([]float64) mixpolicy.Method {
	return func(at []float64) mixpolicy.Method {
		m := mixpolicy.PrimalDual{CostScale: scale, Beta: beta, RowScaling: scaled, StepSize: mixpolicy.InverseSqrt(at[0])}
		if len(at) == 3 {
			m.CostScale, m.Recency = at[1]*scale, at[2]
		}
		return m
	}
}

// enter makes an entrant without a grid from the settings of a method. The first setting is the published or default
// one.
func enter(name, source string, told []string, all ...mixpolicy.Method) race.Entrant {
	return race.Entrant{Name: name, Source: source, Told: told, Methods: all, Make: func([]float64) mixpolicy.Method { return all[0] }}
}

// finer[n] are the axes of fine tuning for n parameters: η₀ alone or, for the penalty method, η₀ and ω.
var finer = map[int][]race.Axis{1: {axis("η₀", 4, 2, 32)}, 2: {axis("η₀", 1, 4, 6), axis("ω", 1, 2, 10)}}

func axis(name string, first, factor float64, count int) race.Axis {
	return race.Axis{Name: name, Values: race.Powers(first, factor, count)}
}

func tuned(name, source string, told []string, make func(at []float64) mixpolicy.Method, axes ...race.Axis) race.Entrant {
	return race.Entrant{Name: name, Source: source, Told: told, Make: make}.OnGrid(axes...)
}
