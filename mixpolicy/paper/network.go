package paper

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// FourQueues is an experiment that the paper announces in section 7 and leaves out: its
// method on the four-dimensional network, from the base policies' measures to the true
// cost of what is learnt.
type FourQueues struct {
	Network   models.Network
	Base      []BaseSet
	Radius    float64 // R of ‖θ‖₂ ≤ R
	Learning  Learning
	Steps     int // of each simulated stream
	Seed      uint64
	Details   bool    // whether to record the distributions of ‖x‖₁ and the least weights
	Tolerance float64 // L1 flow residual of a measure
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

// SmallNetwork is the whole experiment with the given buffer for every queue.
func SmallNetwork(buffer int) FourQueues {
	return FourQueues{
		Network:  models.Network{Buffers: [4]int{buffer, buffer, buffer, buffer}},
		Base:     []BaseSet{AllRules(), TwoRules(), StateDependent()},
		Radius:   2,
		Learning: Learning{Queries: 10_000, Trials: 10, Valued: 3},
		Steps:    20_000, Seed: 1, Tolerance: 1e-12,
	}
}

// Compute runs the experiment. What was reached when ctx ends is returned with the error.
func (e FourQueues) Compute(ctx context.Context) (race.Record, error) {
	x, err := e.Network.MDP()
	if err != nil {
		return nil, err
	}
	var all race.Record
	simulated := map[string]bool{}
	for _, b := range e.Base {
		run, err := e.begin(ctx, x, b)
		if err != nil {
			return all, err
		}
		err = run.complete(ctx, simulated)
		all = append(all, run.rows...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// networkRun is the work on one set of base policies.
type networkRun struct {
	FourQueues
	base BaseSet
	x    *mixpolicy.MDP
	p    *mixpolicy.Problem
	rows race.Record
}

// begin computes the measures of the base policies.
func (e FourQueues) begin(ctx context.Context, x *mixpolicy.MDP, b BaseSet) (*networkRun, error) {
	r := &networkRun{FourQueues: e, base: b, x: x}
	r.tell("measures")
	policies, err := b.Policies(e.Network, x)
	if err != nil {
		return nil, err
	}
	psi, err := mixpolicy.NewFeaturesContext(ctx, x, mixpolicy.MeasureSettings{Tolerance: e.Tolerance}, policies...)
	if err != nil {
		return nil, err
	}
	r.p, err = mixpolicy.NewProblem(psi, mixpolicy.Ball(e.Radius))
	return r, err
}

// complete values the base policies, unless they are in done, solves (2.18), and learns.
func (r *networkRun) complete(ctx context.Context, done map[string]bool) error {
	for j, name := range r.base.Members {
		if done[name] {
			continue
		}
		done[name] = true
		if err := r.basePolicy(ctx, j); err != nil {
			return err
		}
	}
	if err := r.optimum(ctx); err != nil {
		return err
	}
	if r.Details {
		r.tell("room below zero")
		if err := r.leastWeights(ctx, r.Network.Buffers[0]); err != nil {
			return err
		}
	}
	if r.Learning == (Learning{}) || r.base.Name == AllRules().Name {
		return nil
	}
	return r.learn(ctx)
}

func (r *networkRun) tell(doing string) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf("%v, %s: %s", r.Network.Dynamics, r.base.Name, doing))
	}
}

func (r *networkRun) add(row race.Row) {
	row.Problem, row.Base, row.Seed = fmt.Sprintf("%v, %s", r.Network.Dynamics, r.buffers()), r.base.Name, r.Seed
	if row.Settings == "" {
		row.Settings = fmt.Sprintf("residual %g, R = %g", r.Tolerance, r.Radius)
	}
	r.rows = append(r.rows, row)
}

// buffers are the lengths in the last state, where every buffer is full.
func (r *networkRun) buffers() string {
	b := mixpolicy.Must(r.Network.Lengths(r.x.States() - 1)) // x, the model of the network, has that state
	return fmt.Sprintf("%d %d %d %d", b[0], b[1], b[2], b[3])
}

// exact returns a row of a cost computed from a measure. An error of ‖μ̂ − μ‖₁ makes one
// of the cost that is at most (c_max − c_min)/2 times as large.
func (r *networkRun) exact(what, of string, m *mixpolicy.Measure) race.Row {
	lo, hi := r.x.CostRange()
	cost, e := m.Cost(r.x.Costs()), (hi-lo)/2*m.Error
	return race.Row{Quantity: what, Method: of, Value: cost, Lo: cost - e, Hi: cost + e, Residual: m.Residual}
}

func (r *networkRun) basePolicy(ctx context.Context, j int) error {
	name, m := r.base.Members[j], r.p.Features().Measure(j)
	r.add(r.exact(PolicyCost, name, m))
	if err := r.simulate(ctx, name, r.p.Features().Policy(j)); err != nil {
		return err
	}
	if !r.Details {
		return nil
	}
	var p []float64
	for s, mass := range m.State {
		x, err := r.Network.Lengths(s)
		if err != nil {
			return err
		}
		total := x[0] + x[1] + x[2] + x[3]
		for len(p) <= total {
			p = append(p, 0)
		}
		p[total] += mass
	}
	for k, v := range p {
		r.add(race.Row{Quantity: TotalLength, Method: name, At: float64(k), Value: v, Lo: v - m.Error, Hi: v + m.Error})
	}
	return nil
}

// simulate plays a policy, as a check of its exact cost by other means.
func (r *networkRun) simulate(ctx context.Context, name string, p *mixpolicy.Policy) error {
	r.tell("simulation of " + name)
	means, err := r.Network.Simulate(ctx, p, r.Steps, r.Seed)
	if err != nil {
		return err
	}
	v := race.TInterval(means, confidence)
	r.add(race.Row{Quantity: SimulatedCost, Method: name, At: float64(r.Steps), Value: v.Mean, Lo: v.Lo, Hi: v.Hi, Trials: v.N,
		Settings: fmt.Sprintf("%d streams of %d steps after as many uncounted", v.N, r.Steps)})
	return nil
}

// optimumPolicy names the policy of the exact optimum.
const optimumPolicy = "optimum of (2.18)"

// optimum solves (2.18) exactly and values the policy that comes of it.
func (r *networkRun) optimum(ctx context.Context) error {
	r.tell("exact optimum")
	best, err := r.p.OptimumContext(ctx)
	if err != nil {
		return err
	}
	r.add(race.Row{Quantity: Optimum, Value: best.Objective, Lo: best.Bound, Hi: best.Objective, Residual: best.Violation})
	for j, name := range r.base.Members {
		r.add(race.Row{Quantity: Weight, Method: name, Value: best.Theta[j], Lo: best.Theta[j], Hi: best.Theta[j]})
	}
	_, err = r.value(ctx, optimumPolicy, best.Theta, true)
	return err
}

// value records the true cost of π^θ, and that of a simulation.
func (r *networkRun) value(ctx context.Context, of string, theta []float64, simulate bool) (cost float64, err error) {
	r.tell("true cost of the policy of " + of)
	policy, m, err := r.trueMeasure(ctx, theta)
	if err != nil {
		return 0, err
	}
	row := r.exact(PolicyCost, of, m)
	row.Settings = fmt.Sprintf("residual %g, θ = %.6g", r.Tolerance, theta)
	r.add(row)
	if simulate {
		err = r.simulate(ctx, of, policy)
	}
	return row.Value, err
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

// NetworkPart is a part of data/network.csv that is computed by itself: minutes at full
// size, where a part needs no more memory than its own base policies do.
type NetworkPart struct {
	Name    string
	Compute func(ctx context.Context, progress func(doing string)) (race.Record, error)
}

// NetworkParts are the experiments behind data/network.csv.
func NetworkParts() []NetworkPart {
	full := FourQueues{Radius: 2, Steps: 1_000_000, Seed: 1, Tolerance: 1e-12}
	rules := func(d models.Dynamics) FourQueues {
		e := full
		e.Network.Dynamics, e.Base, e.Details = d, []BaseSet{AllRules()}, d == models.IndependentEvents
		return e
	}
	learning := func(b BaseSet) FourQueues {
		e := full
		e.Base, e.Details = []BaseSet{b}, b.Name != TwoRules().Name
		e.Learning = Learning{Queries: 100_000, Trials: 24, Valued: 5}
		if e.Details { // d = 4, where all takes longer
			e.Learning.Valued = 3
		}
		return e
	}
	part := func(name string, compute func(FourQueues, context.Context) (race.Record, error), e FourQueues) NetworkPart {
		return NetworkPart{name, func(ctx context.Context, progress func(string)) (race.Record, error) {
			e.Progress = progress
			rows, err := compute(e, ctx)
			for k := range rows {
				rows[k].Part = name
			}
			return rows, err
		}}
	}
	small := SmallNetwork(3)
	small.Learning.Queries = 2000
	quick := func(d models.Dynamics) FourQueues { // residual 1e-9 is 1e-7 of a cost
		e := full
		e.Network.Dynamics, e.Tolerance = d, 1e-9
		return e
	}
	two := quick(models.IndependentEvents)
	two.Base = []BaseSet{TwoRules()}
	return []NetworkPart{
		part("small", FourQueues.Compute, small),
		part("rules", FourQueues.Compute, rules(models.IndependentEvents)),
		part("rules, phantom jobs", FourQueues.Compute, rules(models.PhantomJobs)),
		part("rules, one event a step", FourQueues.Compute, rules(models.OneEvent)),
		part("two rules", FourQueues.Compute, learning(TwoRules())),
		part("state-dependent", FourQueues.Compute, learning(StateDependent())),
		part("mixing", FourQueues.mixing, two),
		part("room", FourQueues.room, full),
		part("dual ALP", FourQueues.dualALP, quick(models.IndependentEvents)),
		part("dual ALP, phantom jobs", FourQueues.dualALP, quick(models.PhantomJobs)),
	}
}

// UpdateNetwork computes the named parts anew, all of them if none is named, and replaces
// their rows in the record at path: each part as soon as it is there, in the record as it
// is then, so that other processes may compute other parts meanwhile.
func UpdateNetwork(ctx context.Context, path string, progress func(doing string), names ...string) error {
	if _, err := race.ReadFile(path); err != nil {
		return err // rather than after minutes of work
	}
	parts := NetworkParts()
	index := func(name string) int {
		return slices.IndexFunc(parts, func(p NetworkPart) bool { return p.Name == name })
	}
	for _, name := range names {
		if index(name) < 0 {
			return fmt.Errorf("paper: network record: no part %q", name)
		}
	}
	for _, p := range parts {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		rows, err := p.Compute(ctx, progress)
		if err != nil {
			return fmt.Errorf("paper: network record: part %q: %w", p.Name, err)
		}
		err = race.Update(path, func(row race.Row) bool { return row.Part == p.Name }, rows,
			func(a, b race.Row) int { return cmp.Compare(index(a.Part), index(b.Part)) })
		if err != nil {
			return err
		}
	}
	return nil
}
