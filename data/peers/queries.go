package main

import (
	"context"
	"fmt"
	"math"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/study"
)

// queries tells how many costs three methods look at on the queue of section 6 until the
// exact-penalty merit of θ̂ is 1 % of the optimum, and stays below to the end of the run.
// Counts do not depend on the machine: they are those of data/comparison.csv, which the
// study's tests compute anew, and which the notebook on what to use shows as well.
func queries(context.Context, *bench) ([]data.Comparison, error) {
	record, err := study.Recorded()
	if err != nil {
		return nil, err
	}
	const problem = "queue"
	var rows []data.Comparison
	for _, method := range []string{"Algorithm 1", "penalty", "plug-in"} {
		r, ok := record.Reached(problem, method, study.MeritGoal)
		if !ok {
			return nil, fmt.Errorf("data/comparison.csv does not say when %s arrives on the problem %q", method, problem)
		}
		row := data.Comparison{
			Unit: "queries", Repetitions: r.Trials,
			Instance: fmt.Sprintf("queries to within 1 %% of the optimum of the queue, %s", method),
		}
		// A run that has not come there counts as one of all queries.
		most := record.Budget(problem)
		row.We = data.Measured{Median: min(r.Value, most), Least: min(r.Lo, most), Greatest: min(r.Hi, most)}
		if math.IsInf(r.Value, 1) {
			row.Outcome = data.NotReached
		}
		rows = append(rows, row)
	}
	return rows, nil
}
