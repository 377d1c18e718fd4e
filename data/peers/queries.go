package main

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

// queries counts the costs that three methods look at on the queue of section 6 until the
// exact-penalty merit of θ̂ is 1 % of the optimum, and stays below to the end of the run:
// it may pass there by chance before. Their parameters are the best of up to 16
// configurations by other seeds, at the end of a run.
func queries(ctx context.Context, b *bench) ([]data.Comparison, error) {
	const within = 0.01
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
	b.say("queries: tuning")
	tuned, err := priorwork.CompareByQueries(ctx, p, contestants, []int{most}, priorwork.ComparisonSettings{
		Trials: 2, TuningTrials: 3, Seed: 1, SkipPolicyCost: true,
	})
	if err != nil {
		return nil, err
	}
	var rows []data.Comparison
	for k, c := range contestants {
		counts := make([]float64, trials)
		for trial := range counts {
			b.say("queries: %s", c.Name)
			counts[trial], err = queriesTo(ctx, p, c.Configurations[tuned.Races[k].Configuration](), within*best.Objective, most, uint64(trial))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
		}
		lo, hi := medianInterval(trials, 0.95)
		m := measured(counts)
		outcome := ""
		if m.Median == float64(most) {
			outcome = data.NotReached
		}
		rows = append(rows, data.Comparison{
			Unit: "queries", Repetitions: trials,
			Instance: fmt.Sprintf("queries to within %.0f %% of the optimum of the queue, %s", 100*within, c.Name),
			Outcome:  outcome,
			We:       data.Measured{Median: m.Median, Least: counts[lo], Greatest: counts[hi]},
		})
	}
	return rows, nil
}

// queriesTo returns the number of queries from which on the merit of θ̂ is within the bound,
// looked at 20 times a decade, in a run of total queries; total if it is not at the end.
func queriesTo(ctx context.Context, p *mixpolicy.Problem, s priorwork.System, bound float64, total int, stream uint64) (float64, error) {
	o, err := mixpolicy.NewOracle(p, 3, stream) // a seed that tuning has not seen
	if err != nil {
		return 0, err
	}
	if err := s.Init(p, o); err != nil {
		return 0, err
	}
	next := mixpolicy.LogSpaced(20)
	since := total
	for due := next(0); o.Queries() < total; due = min(next(due), total) {
		for o.Queries() < due {
			if err := s.Step(); err != nil {
				return 0, err
			}
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		answer, err := s.Answer(ctx)
		if err != nil {
			return 0, err
		}
		merit, err := p.Merit(answer.Theta)
		if err != nil {
			return 0, err
		}
		if merit > bound {
			since = total
		} else {
			since = min(since, due)
		}
	}
	return float64(since), nil
}

// medianInterval returns the order statistics, from 0, between which the median of the
// distribution lies with at least the given confidence, whatever the distribution.
func medianInterval(n int, confidence float64) (lo, hi int) {
	below := distuv.Binomial{N: float64(n), P: 0.5}
	for lo = 0; lo+1 < n/2 && below.CDF(float64(lo)) <= (1-confidence)/2; lo++ {
	}
	lo = max(0, lo-1)
	return lo, n - 1 - lo
}
