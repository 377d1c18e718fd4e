package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// A work is a task that both we and peers can do.
type work struct {
	name  string                         // the name for --only, in peers.csv, and in peers.py
	races func(quick bool) []func() race // each race is made only when its turn comes, because races are large
}

// works are in the order of the tables.
var works = []work{
	{"stationary", stationary},
	{"step", func(quick bool) []func() race { return []func() race{func() race { return step(quick) }} }},
	{"mixture", mixture},
	{"valuation", valuation},
	{"projection", func(quick bool) []func() race { return []func() race{func() race { return projection(quick) }} }},
}

// measure measures all races of a work.
func (b *bench) measure(ctx context.Context, w work) (all []data.Comparison, err error) {
	for _, make := range w.races(b.quick) {
		r := make()
		rows, err := b.run(ctx, w.name, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", w.name, r.instance, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

// within returns a function that reports the first entry of theirs that differs from the same entry of ours by more
// than the tolerance.
func within(tolerance float64) func(ours, theirs []float64) error {
	return func(ours, theirs []float64) error {
		if len(theirs) != len(ours) {
			return fmt.Errorf("%d entries, want %d", len(theirs), len(ours))
		}
		for i, v := range ours {
			if !(math.Abs(theirs[i]-v) <= tolerance) {
				return fmt.Errorf("entry %d is %.9g, want %.9g ± %.1g", i, theirs[i], v, tolerance)
			}
		}
		return nil
	}
}

// step is a step of Algorithm 1, with d = 2. We update the multipliers lazily, and the peer updates all of them in
// every step.
func step(quick bool) race {
	n, calls := 10_000, 50_000
	if quick {
		n, calls = 500, 5000
	}
	p := geometric(n, 4)
	o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)) // the peer receives the pairs that this oracle draws
	pairs := make([]int32, calls)
	for t := range pairs {
		pair, _ := o.Sample()
		pairs[t] = int32(pair)
	}
	f := p.Features()
	return race{
		instance: fmt.Sprintf("step of Algorithm 1, d = 2, n·m = %s", data.Thousands(4*n)),
		problem: instance{
			Arrays: map[string]any{
				"pairs.i32": pairs, "psi1.f64": f.Column(0), "psi2.f64": f.Column(1), "q.f64": f.Sampling(), "cost.f64": p.MDP().Costs(),
			},
			Numbers: map[string]float64{"radius": p.Class().R},
		},
		method: "lazy λ",
		calls:  calls,
		ours: func(ctx context.Context, calls int) ([]float64, error) {
			r, err := mixpolicy.Solve(ctx, p, &mixpolicy.PrimalDual{CostScale: 1, Multipliers: mixpolicy.LazyMultipliers},
				mixpolicy.Settings{Iterations: calls, Seed: 1, Uncertified: true})
			if err != nil {
				return nil, err
			}
			return r.Theta, nil
		},
		peers: []string{"dense λ"},
		// The averages of the iterates agree up to rounding, which adds up to less than 10⁻⁹ in 10⁵ steps.
		agree: within(1e-9),
	}
}

// geometric returns (2.18) for two measures on n states. Their weights are geometric in the state, with the ratios 1 and
// 1 − 5/(2n), and the same for all m actions. Costs increase with the state. No state is too rare to be drawn, so the
// reads of a step are spread over memory.
func geometric(n, m int) *mixpolicy.Problem {
	x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: m, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			return float64(s+a) / float64(n), []mixpolicy.Transition{{To: (s + 1) % n, P: 1}}
		},
	}))
	columns := make([][]float64, 2)
	for j := range columns {
		columns[j] = make([]float64, n*m)
		for i := range columns[j] {
			columns[j][i] = math.Pow(1-2.5*float64(j)/float64(n), float64(i/m))
		}
		floats.Scale(1/floats.Sum(columns[j]), columns[j])
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...)), mixpolicy.Ball(2)))
}

// accuracy is the greatest allowed distance of a value from v*. Costs are in [0, 1), and values are about 10.
const accuracy = 1e-6

// valuation is value iteration, policy iteration and modified policy iteration on a random sparse MDP. A method
// stops when span(𝒮v − v) proves the accuracy, where 𝒮 is the Bellman operator. A method without such a rule stops when
// ‖𝒮v − v‖∞ proves the accuracy. Policy iteration can also stop because no action changes.
func valuation(quick bool) (all []func() race) {
	g := models.Garnet{States: 100_000, Actions: 10, Branches: 10, Seed: 1, Criterion: mixpolicy.Discounted(0.99)}
	if quick {
		g.States = 500
	}
	x := mixpolicy.Must(g.MDP())
	problem := matrixOf(x)
	problem.Arrays["cost.f64"] = x.Costs()
	problem.Numbers["accuracy"] = accuracy
	for _, e := range []struct {
		name  string
		solve func(context.Context, *mixpolicy.MDP, mixpolicy.ValuationSettings) (*mixpolicy.Valuation, error)
		short string
	}{
		{"value iteration", mixpolicy.ValueIteration, "vi"},
		{"policy iteration", mixpolicy.PolicyIteration, "pi"},
		{"modified policy iteration", mixpolicy.ModifiedPolicyIteration, "mpi"},
	} {
		peer := "mdpsolver " + e.short
		all = append(all, func() race {
			return race{
				instance: fmt.Sprintf("%s, %s states × %d actions, %d next states",
					e.name, data.Thousands(g.States), g.Actions, g.Branches),
				problem: problem,
				ours: func(ctx context.Context, _ int) ([]float64, error) {
					// Values are within Tolerance/(2(1−γ)) of v*.
					v, err := e.solve(ctx, x, mixpolicy.ValuationSettings{Tolerance: 2 * (1 - x.Gamma()) * accuracy})
					if err != nil {
						return nil, err
					}
					return slices.Clone(v.Value), nil
				},
				peers: []string{peer, peer + ", parallel", peer + ", gs", peer + ", sor", "quantecon " + e.short},
				agree: within(2 * accuracy),
			}
		})
	}
	return all
}

// projection is the projection of the penalty method (4.16), onto ‖θ‖₂ ≤ R and 1ᵀθ = 1.
func projection(quick bool) race {
	const d, points, r = 4, 20, 2
	calls := 2_000_000
	if quick {
		calls = 20_000
	}
	rng := rand.New(rand.NewPCG(1, 0))
	y := make([]float64, points*d)
	for i := range y {
		y[i] = 3 * rng.NormFloat64() // mostly outside the ball
	}
	return race{
		instance: fmt.Sprintf("projection of the penalty method, ‖θ‖₂ ≤ R, d = %d", d),
		problem:  instance{Arrays: map[string]any{"y.f64": y}, Numbers: map[string]float64{"features": d, "radius": r}},
		method:   "closed form",
		calls:    calls,
		ours: func(_ context.Context, calls int) ([]float64, error) {
			theta := slices.Clone(y)
			for k := range calls {
				i := k % points * d
				if err := linprog.L2.Project(theta[i:i+d], y[i:i+d], r); err != nil {
					return nil, err
				}
			}
			return theta, nil
		},
		peers: []string{"Clarabel", "ECOS", "SCS"},
		// Solvers stop at an error of about 10⁻⁸ in the objective, which is the square of a distance.
		agree: within(1e-4),
	}
}
