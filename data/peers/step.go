package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
)

// steps of Algorithm 1 with lazy λ: how their time grows with n, and beside a dense step.
func steps(ctx context.Context, b *bench) ([]data.Comparison, error) {
	rows, err := growth(ctx, b)
	if err != nil {
		return nil, err
	}
	r, err := dense(b.quick)
	if err != nil {
		return nil, err
	}
	more, err := b.run(ctx, r)
	return append(rows, more...), err
}

// growth measures steps at all sizes in turns.
func growth(ctx context.Context, b *bench) ([]data.Comparison, error) {
	sizes, calls := []int{100, 1000, 10_000, 100_000, 1_000_000}, 1_000_000
	if b.quick {
		sizes, calls = sizes[:2], 10_000
	}
	var runs []mixpolicy.Run
	for _, n := range sizes {
		p, err := geometric(n, 1)
		if err != nil {
			return nil, err
		}
		o, err := mixpolicy.NewOracle(p, 1, 0)
		if err != nil {
			return nil, err
		}
		run, err := algorithm1().Start(p, o)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	times, processor := make([][]float64, len(sizes)), make([][]float64, len(sizes))
	for round := range repetitions + 1 {
		for k, run := range runs {
			b.say("step, n = %d", sizes[k])
			begin, cpu := time.Now(), cpuSeconds()
			for range calls {
				if err := run.Step(); err != nil {
					return nil, err
				}
			}
			wall, cpu := time.Since(begin).Seconds(), cpuSeconds()-cpu
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if round > 0 { // the first million steps of a path are others
				times[k] = append(times[k], wall/float64(calls))
				processor[k] = append(processor[k], cpu/float64(calls))
			}
		}
	}
	var medians []float64
	for _, t := range times {
		medians = append(medians, measured(t).Median)
	}
	grows := slices.Max(medians) / slices.Min(medians)
	row := data.Comparison{
		Unit: "s", Ours: "lazy λ", Repetitions: repetitions,
	}
	last := len(sizes) - 1
	row.Instance = fmt.Sprintf("step of Algorithm 1, d = 2, n = %s", data.Thousands(sizes[last]))
	row.We, row.OurCPU = measured(times[last]), measured(processor[last]).Median
	row.Most = 1e-6
	grown := row
	grown.Instance = fmt.Sprintf("step of Algorithm 1, d = 2, slowest n over fastest, from %d to %s", sizes[0], data.Thousands(sizes[last]))
	grown.Unit, grown.We, grown.OurCPU, grown.Most = "×", measured([]float64{grows}), 0, 1.5
	return []data.Comparison{row, grown}, nil
}

// dense is the race of lazy against dense multipliers.
func dense(quick bool) (race, error) {
	n, calls := 10_000, 50_000
	if quick {
		n, calls = 500, 5000
	}
	p, err := geometric(n, 4)
	if err != nil {
		return race{}, err
	}
	// The peer is given the pairs that the oracle draws.
	o, err := mixpolicy.NewOracle(p, 1, 0)
	if err != nil {
		return race{}, err
	}
	pairs := make([]int32, calls)
	for t := range pairs {
		pair, _ := o.Sample()
		pairs[t] = int32(pair)
	}
	f := p.Features()
	return race{
		work:     "step",
		instance: fmt.Sprintf("step of Algorithm 1, d = 2, n·m = %s", data.Thousands(4*n)),
		problem: instance{
			Ints: map[string][]int32{"pairs": pairs},
			Floats: map[string][]float64{
				"psi1": f.Column(0), "psi2": f.Column(1), "q": f.Sampling(), "cost": p.MDP().Costs(),
			},
			Numbers: map[string]float64{"radius": p.Class().R},
		},
		method: "lazy λ",
		calls:  calls,
		ours: func(ctx context.Context, calls int) ([]float64, error) {
			r, err := mixpolicy.Solve(ctx, p, algorithm1(), mixpolicy.Settings{Iterations: calls, Seed: 1, Uncertified: true})
			if err != nil {
				return nil, err
			}
			return r.Theta, nil
		},
		peers: []string{"dense λ"},
		// The iterates are the same but for rounding, which 10⁵ steps add up to less than this.
		agree:  within(1e-9),
		faster: 10,
	}, nil
}

func algorithm1() mixpolicy.PrimalDual {
	return mixpolicy.PrimalDual{Multipliers: mixpolicy.LazyMultipliers}
}

// geometric is (2.18) for two measures on n states whose weights are geometric in the
// state with ratios 1 and 1 − 5/(2n), the same for all m actions, and costs that rise with
// the state. No state is too rare to be drawn: what a step reads is spread over memory.
func geometric(n, m int) (*mixpolicy.Problem, error) {
	x, err := mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: m, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			return float64(s+a) / float64(n), []mixpolicy.Transition{{To: (s + 1) % n, P: 1}}
		},
	})
	if err != nil {
		return nil, err
	}
	columns := make([][]float64, 2)
	for j := range columns {
		columns[j] = make([]float64, n*m)
		ratio, total := 1-2.5*float64(j)/float64(n), 0.0
		for i := range columns[j] {
			columns[j][i] = math.Pow(ratio, float64(i/m))
			total += columns[j][i]
		}
		for i := range columns[j] {
			columns[j][i] /= total
		}
	}
	psi, err := mixpolicy.FeaturesFromColumns(x, columns...)
	if err != nil {
		return nil, err
	}
	return mixpolicy.NewProblem(psi, mixpolicy.Ball(2))
}
