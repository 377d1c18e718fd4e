package priorwork

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Known states how accurate the answer must be, and what is known about a problem in addition to Ψ and the range of the
// costs. Assumption A.3 gives this range.
type Known struct {
	Costs     bool    // the costs of all pairs are known
	Chosen    bool    // the method may choose the pairs that it queries, and P is known
	Tolerance float64 // ε: the answer's cost C may exceed the optimum by up to ε|C|; 0 means that C should be as small as the budget allows
}

// Recommendation is a method with its settings, the greatest number of steps to take, and the reason for choosing this
// method.
type Recommendation struct {
	Method     mixpolicy.Method
	Iterations int
	Why        string
}

// largeProgram is about twice the number of entries of the largest Ψ in data/peers.csv whose exact program took less
// than a second.
const largeProgram = 1 << 26

// Recommend says which method to use for p with a budget of queries. If the costs are known, it recommends [MixtureLP]
// or, for a large Ψ, [HalpernPDHG]. If the costs are not known, but known.Chosen is true and the budget is at least the
// number of pairs, it recommends [CertaintyEquivalence]. Otherwise, it recommends [ScaleFree] if known.Tolerance is
// positive, and [mixpolicy.PlugIn] if not. These recommendations are based on the races of notebook 12. Recommend
// returns an error if the costs are not known and the budget is below 1.
func Recommend(p *mixpolicy.Problem, known Known, budget int) (Recommendation, error) {
	pairs, d := p.Features().Dims()
	switch {
	case known.Costs && pairs*d >= largeProgram:
		return Recommendation{HalpernPDHG{}, 10_000, fmt.Sprintf("The costs are known, so (2.18) is a linear program. "+
			"With %d × %d entries of Ψ, the exact solver may take many seconds; "+
			"this method reads Ψ twice a step, and its certificate bounds the distance from the optimum.", pairs, d)}, nil
	case known.Costs:
		return Recommendation{MixtureLP{}, 1, fmt.Sprintf("The costs are known, so (2.18) is a linear program in d = %d variables, "+
			"which is solved exactly, with a proof. There is nothing to tune.", d)}, nil
	case budget < 1:
		return Recommendation{}, fmt.Errorf("priorwork: a budget of %d queries, want at least 1 unless the costs are known", budget)
	case known.Chosen && budget >= pairs:
		return Recommendation{CertaintyEquivalence{}, pairs, fmt.Sprintf("The budget is enough to query the cost of each of the %d pairs. "+
			"Then the best of all policies can be computed, and no mixture costs less.", pairs)}, nil
	}
	precision := fmt.Sprintf("After %d queries, the standard error of the estimated costs is at most %.3g, "+
		"in ℓ₂, not counting an error that all of them share.", budget, samplingError(p)/math.Sqrt(float64(budget)))
	if known.Tolerance > 0 {
		return Recommendation{ScaleFree{Tolerance: known.Tolerance}, budget, fmt.Sprintf("There is nothing to tune, and the run ends "+
			"once its answer is shown to exceed the optimum by at most %.3g %% of its own cost. %s", 100*known.Tolerance, precision)}, nil
	}
	return Recommendation{mixpolicy.PlugIn{}, budget, "Only d numbers are unknown: estimate them, and solve the program. " +
		"There is nothing to tune. If costs have rare outliers that are noise, use ScaleFree, " +
		"which leaves out costs far greater than max |c|. " + precision}, nil
}

// samplingError returns c_max √(Σ_i ‖Pψ_i‖²/q_i), where the sum is over the pairs i with q_i > 0, ψ_i is row i of Ψ,
// and P is the projection onto 1ᵀx = 0. If costs have no noise, this number bounds the standard deviation of
// P(c_iψ_i/q_i) for a pair i ~ q.
func samplingError(p *mixpolicy.Problem) float64 {
	f := p.Features()
	row, total := make([]float64, f.Dim()), 0.
	for i, q := range f.Sampling() {
		if q > 0 {
			f.Row(row, i)
			size := spread(row)
			total += size * size / q
		}
	}
	lo, hi := p.MDP().CostRange()
	return max(-lo, hi) * math.Sqrt(total)
}

// String returns the recommendation as a paragraph.
func (r Recommendation) String() string {
	unit := "steps"
	if r.Iterations == 1 {
		unit = "step"
	}
	return fmt.Sprintf("Use %s, for up to %d %s. %s", r.Method.Name(), r.Iterations, unit, r.Why)
}
