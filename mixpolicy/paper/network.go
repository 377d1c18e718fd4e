package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// FourQueues is an experiment that the paper announces in section 7 and leaves out: its
// method on the four-dimensional network, from the base policies' measures to the true
// cost of what is learnt.
type FourQueues struct {
	Network   models.Network
	Base      []BaseSet
	Radius    float64 // R of ‖θ‖₂ ≤ R
	Queries   int     // T of each run; 0 leaves out learning
	Trials    int
	Steps     int // of each simulated stream
	Seed      uint64
	Marginals bool // whether to record the distribution of each queue
	Tolerance float64
	Progress  func(doing string)
}

// BaseSet is a choice of base policies.
type BaseSet struct {
	Name     string
	Members  []string
	Policies func(models.Network, *mixpolicy.MDP) ([]*mixpolicy.Policy, error)
}

// TwoRules are the heuristics of the literature, AllRules those of package models.
func TwoRules() BaseSet { return ruleSet("two rules", models.Longer, models.LastBuffer) }

// AllRules are the six rules of package models.
func AllRules() BaseSet { return ruleSet("six rules", models.Rules()...) }

func ruleSet(name string, rules ...models.Rule) BaseSet {
	b := BaseSet{Name: name, Policies: func(w models.Network, x *mixpolicy.MDP) ([]*mixpolicy.Policy, error) {
		return w.Policies(x, rules...)
	}}
	for _, r := range rules {
		b.Members = append(b.Members, r.String())
	}
	return b
}

// StateDependent are four mixtures of LONGER and LBFS whose weights change with the
// state: LBFS has the share of the jobs that are in the last buffers, 2 and 4, the share
// of those that are not, or an equal one; the fourth is the first with a coin toss for a
// tenth.
func StateDependent() BaseSet {
	last := func(x [4]int) float64 {
		total := x[0] + x[1] + x[2] + x[3]
		if total == 0 {
			return 0.5
		}
		return float64(x[1]+x[3]) / float64(total)
	}
	return BaseSet{
		Name:    "state-dependent mixtures",
		Members: []string{"LBFS by share of last buffers", "LBFS by share of first buffers", "even", "first, a tenth at random"},
		Policies: func(w models.Network, x *mixpolicy.MDP) ([]*mixpolicy.Policy, error) {
			base, err := w.Policies(x, models.Longer, models.LastBuffer, models.AnyQueue)
			if err != nil {
				return nil, err
			}
			var all []*mixpolicy.Policy
			for _, weights := range []func([4]int) []float64{
				func(x [4]int) []float64 { return []float64{1 - last(x), last(x), 0} },
				func(x [4]int) []float64 { return []float64{last(x), 1 - last(x), 0} },
				func([4]int) []float64 { return []float64{0.5, 0.5, 0} },
				func(x [4]int) []float64 { return []float64{0.9 * (1 - last(x)), 0.9 * last(x), 0.1} },
			} {
				p, err := w.Mixture(x, weights, base...)
				if err != nil {
					return nil, err
				}
				all = append(all, p)
			}
			return all, nil
		},
	}
}

// FullNetworks are the experiments behind data/network.csv, at full size: everything
// with independent events, base policies and optimum with the other dynamics.
func FullNetworks() []FourQueues {
	common := FourQueues{Radius: 2, Trials: 10, Steps: 1_000_000, Seed: 1, Tolerance: 1e-12}
	main := common
	main.Base, main.Queries, main.Marginals = []BaseSet{AllRules(), TwoRules(), StateDependent()}, 100_000, true
	list := []FourQueues{main}
	for _, d := range []models.Dynamics{models.PhantomJobs, models.OneEvent} {
		other := common
		other.Network.Dynamics, other.Base = d, []BaseSet{AllRules()}
		list = append(list, other)
	}
	return list
}

// SmallNetwork is the same experiment with the given buffer for every queue.
func SmallNetwork(buffer int) FourQueues {
	return FourQueues{
		Network: models.Network{Buffers: [4]int{buffer, buffer, buffer, buffer}},
		Base:    []BaseSet{AllRules(), TwoRules(), StateDependent()},
		Radius:  2, Queries: 10_000, Trials: 10, Steps: 20_000, Seed: 1, Tolerance: 1e-12,
	}
}

// Compute runs the experiment. What was reached when ctx ends is returned with the error.
func (e FourQueues) Compute(ctx context.Context) (NetworkRecord, error) {
	x, err := e.Network.MDP()
	if err != nil {
		return nil, err
	}
	var all NetworkRecord
	simulated := map[string]bool{}
	for _, b := range e.Base {
		e.tell("measures of " + b.Name)
		policies, err := b.Policies(e.Network, x)
		if err != nil {
			return all, err
		}
		psi, err := mixpolicy.NewFeaturesContext(ctx, x, mixpolicy.MeasureSettings{Tolerance: e.Tolerance}, policies...)
		if err != nil {
			return all, err
		}
		p, err := mixpolicy.NewProblem(psi, mixpolicy.Ball(e.Radius))
		if err != nil {
			return all, err
		}
		run := networkRun{FourQueues: e, base: b, x: x, p: p}
		for j, name := range b.Members {
			if simulated[name] {
				continue
			}
			simulated[name] = true
			if err := run.basePolicy(ctx, j); err != nil {
				return append(all, run.rows...), err
			}
		}
		if err := run.optimum(ctx); err != nil {
			return append(all, run.rows...), err
		}
		if e.Queries > 0 && b.Name != AllRules().Name {
			if err := run.learn(ctx); err != nil {
				return append(all, run.rows...), err
			}
		}
		all = append(all, run.rows...)
	}
	return all, nil
}

func (e FourQueues) tell(doing string) {
	if e.Progress != nil {
		e.Progress(fmt.Sprintf("%v: %s", e.Network.Dynamics, doing))
	}
}

// networkRun is the work on one set of base policies.
type networkRun struct {
	FourQueues
	base BaseSet
	x    *mixpolicy.MDP
	p    *mixpolicy.Problem
	rows NetworkRecord
}

func (r *networkRun) add(row NetworkRow) {
	row.Dynamics, row.Base = r.Network.Dynamics.String(), r.base.Name
	r.rows = append(r.rows, row)
}

// exact returns a row of a cost computed from a measure. An error of ‖μ̂ − μ‖₁ makes one
// of the cost that is at most (c_max − c_min)/2 times as large.
func (r *networkRun) exact(what NetworkQuantity, of string, cost, measureError, residual float64) NetworkRow {
	lo, hi := r.x.CostRange()
	e := (hi - lo) / 2 * measureError
	return NetworkRow{What: what, Of: of, Value: cost, Lo: cost - e, Hi: cost + e, Residual: residual}
}

func (r *networkRun) basePolicy(ctx context.Context, j int) error {
	name, m := r.base.Members[j], r.p.Features().Measure(j)
	r.add(r.exact(PolicyCost, name, r.p.BaseCosts()[j], m.Error, m.Residual))
	r.tell("simulation of " + name)
	v, err := r.Network.Simulate(ctx, r.p.Features().Policy(j), r.Steps, r.Seed)
	if err != nil {
		return err
	}
	r.add(NetworkRow{What: SimulatedCost, Of: name, At: float64(r.Steps), Value: v.Mean, Lo: v.Lo, Hi: v.Hi})
	if !r.Marginals {
		return nil
	}
	for i, queue := range Queues() {
		var p []float64
		for s, mass := range m.State {
			lengths, err := r.Network.Lengths(s)
			if err != nil {
				return err
			}
			for len(p) <= lengths[i] {
				p = append(p, 0)
			}
			p[lengths[i]] += mass
		}
		for k, v := range p {
			r.add(NetworkRow{What: queue, Of: name, At: float64(k), Value: v, Lo: v - m.Error, Hi: v + m.Error})
		}
	}
	return nil
}

// optimum solves (2.18) exactly and values the policy that comes of it.
func (r *networkRun) optimum(ctx context.Context) error {
	r.tell("exact optimum over " + r.base.Name)
	best, err := r.p.OptimumContext(ctx)
	if err != nil {
		return err
	}
	r.add(NetworkRow{What: Optimum, Value: best.Objective, Lo: best.Bound, Hi: best.Objective, Residual: best.Violation})
	for j, name := range r.base.Members {
		r.add(NetworkRow{What: Weight, Of: name, Value: best.Theta[j], Lo: best.Theta[j], Hi: best.Theta[j]})
	}
	return r.value(ctx, "optimum of (2.18)", best.Theta, true)
}

// value records the true cost of π^θ, and that of a simulation.
func (r *networkRun) value(ctx context.Context, of string, theta []float64, simulate bool) error {
	r.tell("true cost of the policy of " + of)
	policy, m, err := r.trueMeasure(ctx, theta)
	if err != nil {
		return err
	}
	r.add(r.exact(PolicyCost, of, m.Cost(r.x.Costs()), m.Error, m.Residual))
	if !simulate {
		return nil
	}
	v, err := r.Network.Simulate(ctx, policy, r.Steps, r.Seed)
	if err != nil {
		return err
	}
	r.add(NetworkRow{What: SimulatedCost, Of: of, At: float64(r.Steps), Value: v.Mean, Lo: v.Lo, Hi: v.Hi})
	return nil
}

// trueMeasure returns π^θ and its measure, from the positive part of Ψθ on.
func (r *networkRun) trueMeasure(ctx context.Context, theta []float64) (*mixpolicy.Policy, *mixpolicy.Measure, error) {
	policy, err := r.p.Features().PolicyOf(theta)
	if err != nil {
		return nil, nil, err
	}
	xi := make([]float64, r.x.Pairs())
	r.p.Features().MulVec(xi, theta)
	start := make([]float64, r.x.States())
	for i, v := range xi {
		start[i/r.x.Actions()] += max(v, 0)
	}
	m, err := mixpolicy.Occupation(ctx, r.x, policy, mixpolicy.MeasureSettings{Tolerance: r.Tolerance, Start: start})
	return policy, m, err
}

// networkMethod is a contestant; costs are divided by c_max in all.
type networkMethod struct {
	name  string
	fresh func() mixpolicy.Method
}

func networkMethods(cMax float64) []networkMethod {
	return []networkMethod{
		{"Algorithm 1", func() mixpolicy.Method { return &mixpolicy.PrimalDual{CostScale: cMax} }},
		{"Algorithm 1, rows scaled", func() mixpolicy.Method { return &mixpolicy.PrimalDual{CostScale: cMax, RowScaling: true} }},
		{"penalty", func() mixpolicy.Method { return &mixpolicy.Penalty{CostScale: cMax} }},
		{"plug-in", func() mixpolicy.Method { return new(mixpolicy.PlugIn) }},
	}
}

// learn runs every method from the same oracle, and values the policy of the median
// answer: the trial whose cost is the median.
func (r *networkRun) learn(ctx context.Context) error {
	_, cMax := r.x.CostRange()
	merit, err := r.p.MeritCurve()
	if err != nil {
		return err
	}
	for _, m := range networkMethods(cMax) {
		r.tell(m.name + " over " + r.base.Name)
		runs := make([]*mixpolicy.History, r.Trials)
		for k := range runs {
			runs[k] = new(mixpolicy.History)
			// One by one, and without the result, which has multipliers for every pair.
			if _, err := mixpolicy.Solve(ctx, r.p, m.fresh(), mixpolicy.Settings{
				Iterations: r.Queries, Seed: r.Seed, Stream: uint64(k), Recorder: runs[k],
				Schedule: mixpolicy.LogSpaced(2), Uncertified: true,
			}); err != nil {
				return fmt.Errorf("paper: network: %s, trial %d: %w", m.name, k, err)
			}
		}
		last := len(runs[0].Iteration) - 1
		for k, queries := range runs[0].Queries {
			if queries == 0 {
				continue
			}
			for _, c := range []struct {
				what NetworkQuantity
				of   mixpolicy.Curve
			}{{LearntObjective, mixpolicy.CostCurve}, {LearntMerit, merit}, {LearntMass, func(h *mixpolicy.History) []float64 { return h.Mass }}} {
				sample := make([]float64, len(runs))
				for i, h := range runs {
					sample[i] = c.of(h)[k]
				}
				v := mixpolicy.TInterval(sample, confidence)
				r.add(NetworkRow{What: c.what, Of: m.name, At: float64(queries), Value: v.Mean, Lo: v.Lo, Hi: v.Hi})
			}
		}
		slices.SortStableFunc(runs, func(a, b *mixpolicy.History) int {
			return int(math.Copysign(1, a.Cost[last]-b.Cost[last]))
		})
		median := runs[(len(runs)-1)/2]
		if floats.HasNaN(median.Average[last]) {
			return fmt.Errorf("paper: network: %s left θ̂ = %v", m.name, median.Average[last])
		}
		if err := r.value(ctx, m.name, median.Average[last], false); err != nil {
			return err
		}
	}
	return nil
}
