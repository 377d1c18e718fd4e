package priorwork

import (
	"fmt"
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleRecommend() {
	p := section6(mixpolicy.Ball(2))
	for _, known := range []Known{{Costs: true}, {Chosen: true}, {Tolerance: .01}, {}} {
		fmt.Println(mixpolicy.Must(Recommend(p, known, 1000)))
	}
	// Output:
	// Use exact LP (2.18), for up to 1 step. The costs are known, so (2.18) is a linear program in d = 2 variables, which is solved exactly, with a proof. There is nothing to tune.
	// Use certainty equivalence, for up to 400 steps. The budget is enough to query the cost of each of the 400 pairs. Then the best of all policies can be computed, and no mixture costs less.
	// Use primal–dual, scale-free, for up to 1000 steps. There is nothing to tune, and the run ends once its answer is shown to exceed the optimum by at most 1 % of its own cost. After 1000 queries, the standard error of the estimated costs is at most 307, in ℓ₂, not counting an error that all of them share.
	// Use plug-in, for up to 1000 steps. Only d numbers are unknown: estimate them, and solve the program. There is nothing to tune. If costs have rare outliers that are noise, use ScaleFree, which leaves out costs far greater than max |c|. After 1000 queries, the standard error of the estimated costs is at most 307, in ℓ₂, not counting an error that all of them share.
}

// Each recommended method runs within its budget. With known costs, it finds the optimum without queries; with chosen
// queries, its policy costs no more than the best mixture. The standard error that the recommendation states bounds
// the standard error of the estimates of 200 runs, and is at most four times as large.
func TestRecommendationsHold(t *testing.T) {
	p := garnetProblem(mixpolicy.Ball(2))
	const budget = 400
	for _, known := range []Known{{Costs: true}, {Chosen: true}, {Tolerance: .05}, {}} {
		a := mixpolicy.Must(Recommend(p, known, budget))
		r := mixpolicy.Must(mixpolicy.Solve(background, p, a.Method, mixpolicy.Settings{Iterations: a.Iterations, Seed: 1}))
		if r.Queries > budget || known.Costs && (r.Queries > 0 || r.PenalisedGap > 1e-9) || known.Chosen && r.PolicyCost > p.Objective(mixpolicy.Must(p.Optimum(background)).Theta) {
			t.Errorf("%v: %v", a, r)
		}
	}
	var square float64
	for seed := range uint64(200) {
		r := mixpolicy.Must(learn(p, mixpolicy.PlugIn{}, budget, seed))
		b, off := r.Run.(mixpolicy.Estimator).Estimate(), make([]float64, p.Dim())
		for j := range b {
			off[j] = b[j] - p.BaseCosts()[j]
		}
		square += spread(off) * spread(off) / 200
	}
	if got, bound := math.Sqrt(square), samplingError(p)/math.Sqrt(budget); !(got < bound && got > bound/4) {
		t.Errorf("standard error %v, bound %v", got, bound)
	}
	if a := mixpolicy.Must(Recommend(p, Known{Chosen: true}, 5)); a.Method.Name() != "plug-in" {
		t.Errorf("%v, for a budget that is too small for all pairs", a)
	}
	_, err := Recommend(p, Known{}, 0)
	wantError(t, err, "a budget of 0 queries")
}
