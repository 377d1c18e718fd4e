package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

// queries counts the costs that three methods look at on the queue of section 6 until the
// exact-penalty merit of θ̂ is 1 % of the optimum, and stays below to the end of the run:
// it may pass there by chance before. Their parameters are the best of up to 16
// configurations by other seeds, at the end of a run. The optimum is an end of a segment,
// and plug-in needs only to learn which.
func queries(ctx context.Context, b *bench) ([]data.Comparison, error) {
	const within, confidence = 0.01, 0.95
	trials, most := 25, 1_000_000
	if b.quick {
		trials, most = 5, 10_000
	}
	q := models.Queue{}
	x, err := q.MDP()
	if err != nil {
		return nil, err
	}
	base, err := q.Policies(x)
	if err != nil {
		return nil, err
	}
	psi, err := mixpolicy.NewFeatures(x, base...)
	if err != nil {
		return nil, err
	}
	p, err := mixpolicy.NewProblem(psi, mixpolicy.Ball(2))
	if err != nil {
		return nil, err
	}
	best, err := p.OptimumContext(ctx)
	if err != nil {
		return nil, err
	}
	contestants := slices.DeleteFunc(priorwork.Learners(p, nil, most, 1), func(c priorwork.Contestant) bool {
		return !slices.Contains([]string{"plug-in", "Algorithm 1", "penalty"}, c.Name)
	})
	var looks []int
	for next, at := mixpolicy.LogSpaced(20), 1; at < most; at = next(at) {
		looks = append(looks, at)
	}
	looks = append(looks, most)
	b.say("queries")
	c, err := priorwork.CompareByQueries(ctx, p, contestants, looks, priorwork.ComparisonSettings{
		Trials: trials, TuningTrials: 3, Seed: 1, SkipPolicyCost: true,
	})
	if err != nil {
		return nil, err
	}
	var rows []data.Comparison
	for _, race := range c.Races {
		r := race.Reach(priorwork.Look.Score, within*best.Objective, confidence)
		row := data.Comparison{
			Unit: "queries", Repetitions: r.Runs,
			Instance: fmt.Sprintf("queries to within %.0f %% of the optimum of the queue, %s", 100*within, race.Name),
			// A run that has not come there counts as one of all queries.
			We: data.Measured{Median: min(r.Median, float64(most)), Least: min(r.Lo, float64(most)), Greatest: min(r.Hi, float64(most))},
		}
		if math.IsInf(r.Median, 1) {
			row.Outcome = data.NotReached
		}
		rows = append(rows, row)
	}
	return rows, nil
}
