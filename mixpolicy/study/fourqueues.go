package study

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// FourQueues is an experiment that the paper announces in section 7 and omits. It runs the paper's method on the
// four-dimensional network, from the base policies' measures to the true cost of the learnt policies.
type FourQueues struct {
	Network  models.Network
	Base     []BaseSet
	Learning Learning
	Steps    int // the number of steps that are counted in each simulated stream
	Seed     uint64
	Details  bool // also record the law of the number of jobs under each base policy, and each least feasible θⱼ
	Measures mixpolicy.MeasureSettings
	Progress func(doing string)
}

// networkRadius is R in ‖θ‖₂ ≤ R.
const networkRadius = 2.0

// BaseSet is a choice of base policies.
type BaseSet struct {
	Name     string
	Members  []string
	Policies func(models.Network, *mixpolicy.MDP) ([]*mixpolicy.Policy, error)
}

// TwoRules returns the two heuristics of the literature, LONGER and LBFS.
func TwoRules() BaseSet { return ruleSet("two rules", models.Longer, models.LastBuffer) }

// AllRules returns the six rules of package models.
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

// StateDependent returns four mixtures, mainly of LONGER and LBFS. In the first mixture, the weight of LBFS is the
// share of the jobs that are in the last buffers (2 and 4), or ½ if there are no jobs. In the second mixture, this
// weight is 1 minus the weight in the first. In the third mixture, this weight is ½. With probability 0.9, the fourth
// mixture follows the first; with probability 0.1, it follows the rule that serves random queues.
func StateDependent() BaseSet {
	last := func(x [4]int) float64 {
		if total := x[0] + x[1] + x[2] + x[3]; total > 0 {
			return float64(x[1]+x[3]) / float64(total)
		}
		return 0.5
	}
	return BaseSet{
		Name:    "state-dependent mixtures",
		Members: []string{"LBFS by share of last buffers", "LBFS by share of first buffers", "even", "first, a tenth at random"},
		Policies: func(w models.Network, x *mixpolicy.MDP) (all []*mixpolicy.Policy, err error) {
			defer catch(&err)
			base := must(w.Policies(x, models.Longer, models.LastBuffer, models.AnyQueue))
			for _, weights := range []func([4]int) []float64{
				func(x [4]int) []float64 { return []float64{1 - last(x), last(x), 0} },
				func(x [4]int) []float64 { return []float64{last(x), 1 - last(x), 0} },
				func([4]int) []float64 { return []float64{0.5, 0.5, 0} },
				func(x [4]int) []float64 { return []float64{0.9 * (1 - last(x)), 0.9 * last(x), 0.1} },
			} {
				all = append(all, must(w.Mixture(x, weights, base...)))
			}
			return all, nil
		},
	}
}

// SmallNetwork returns a small form of the experiment: the given buffer for every queue, all three sets of base
// policies, and few queries and runs.
func SmallNetwork(buffer int) FourQueues {
	return FourQueues{
		Network:  models.Network{Buffers: [4]int{buffer, buffer, buffer, buffer}},
		Base:     []BaseSet{AllRules(), TwoRules(), StateDependent()},
		Learning: Learning{Queries: 10_000, Trials: 10, Valued: 3},
		Steps:    20_000, Seed: 1, Measures: mixpolicy.MeasureSettings{Tolerance: 1e-12},
	}
}

// Compute runs the experiment. For each set of base policies, it computes the costs of these policies, the exact
// optimum of (2.18), and the true cost of the optimum's policy. It also runs the learning methods, unless Learning is
// zero or the set is the six rules. If ctx ends, Compute returns the rows so far and an error.
func (e FourQueues) Compute(ctx context.Context) (rows race.Record, err error) {
	defer catch(&err)
	x := must(e.Network.MDP())
	valued := map[string]bool{}
	for _, b := range e.Base {
		r := e.begin(ctx, &rows, x, b)
		for j, name := range b.Members {
			if !valued[name] {
				valued[name] = true
				r.basePolicy(ctx, j)
			}
		}
		r.tell("exact optimum")
		best := must(r.p.Optimum(ctx))
		r.add(race.Row{Quantity: Mixture, Value: best.Objective, Lo: best.Bound, Hi: best.Objective, Residual: best.Violation})
		for j, name := range b.Members {
			r.addNumber(race.Row{Quantity: Weight, Method: name}, best.Theta[j])
		}
		r.value(ctx, Mixture, best.Theta, true)
		if e.Details {
			r.tell("room below zero")
			r.leastWeights(ctx)
		}
		if e.Learning != (Learning{}) && b.Name != AllRules().Name {
			r.learn(ctx)
		}
	}
	return rows.Derive(tInterval), nil
}

// tInterval is the interval of the means in the network's record.
func tInterval(x []float64) race.Interval { return race.TInterval(x, confidence) }

// networkRun adds the rows about one set of base policies to a record. Its methods panic on errors, for [catch].
type networkRun struct {
	FourQueues
	base BaseSet
	x    *mixpolicy.MDP
	p    *mixpolicy.Problem
	rows *race.Record
}

// begin computes the measures of the base policies.
func (e FourQueues) begin(ctx context.Context, rows *race.Record, x *mixpolicy.MDP, b BaseSet) *networkRun {
	r := &networkRun{FourQueues: e, base: b, x: x, rows: rows}
	r.tell("measures")
	psi := must(e.Measures.Features(ctx, x, must(b.Policies(e.Network, x))...))
	r.p = must(mixpolicy.NewProblem(psi, mixpolicy.Ball(networkRadius)))
	return r
}

func (r *networkRun) tell(doing string) {
	if r.Progress != nil {
		r.Progress(fmt.Sprintf("%v, %s: %s", r.problem(), r.base.Name, doing))
	}
}

// problem names the dynamics and the buffers. It reads the buffers from the last state, in which all buffers are full.
func (r *networkRun) problem() string {
	b := must(r.Network.Lengths(r.x.States() - 1))
	return fmt.Sprintf("%v, %d %d %d %d", r.Network.Dynamics, b[0], b[1], b[2], b[3])
}

func (r *networkRun) add(rows ...race.Row) {
	for _, row := range rows {
		row.Problem, row.Base, row.Seed = r.problem(), r.base.Name, r.Seed
		row.Settings = cmp.Or(row.Settings, fmt.Sprintf("residual %g, R = %g", r.Measures.Tolerance, networkRadius))
		*r.rows = append(*r.rows, row)
	}
}

// addNumber adds a row with a number that is exact up to rounding.
func (r *networkRun) addNumber(like race.Row, v float64) {
	like.Value, like.Lo, like.Hi = v, v, v
	r.add(like)
}

// addCost adds the row like, with the cost of a measure, and returns the cost. An error ‖μ̂ − μ‖₁ changes the cost by
// at most (c_max − c_min)/2 times this error.
func (r *networkRun) addCost(like race.Row, m *mixpolicy.Measure) float64 {
	lo, hi := r.x.CostRange()
	cost, e := m.Cost(r.x.Costs()), (hi-lo)/2*m.Error
	like.Value, like.Lo, like.Hi, like.Residual = cost, cost-e, cost+e, m.Residual
	r.add(like)
	return cost
}

func (r *networkRun) basePolicy(ctx context.Context, j int) {
	name, m := r.base.Members[j], r.p.Features().Measure(j)
	r.addCost(race.Row{Quantity: PolicyCost, Method: name}, m)
	r.simulate(ctx, name, r.p.Features().Policy(j))
	if !r.Details {
		return
	}
	jobs := func(s int) int {
		x := must(r.Network.Lengths(s))
		return x[0] + x[1] + x[2] + x[3]
	}
	p := make([]float64, jobs(r.x.States()-1)+1)
	for s, mass := range m.State {
		p[jobs(s)] += mass
	}
	for k, v := range p {
		r.add(race.Row{Quantity: TotalLength, Method: name, At: float64(k), Value: v, Lo: v - m.Error, Hi: v + m.Error})
	}
}

// simulate simulates a policy, to check its exact cost by another method.
func (r *networkRun) simulate(ctx context.Context, name string, p *mixpolicy.Policy) {
	r.tell("simulation of " + name)
	costs := must(r.Network.Simulate(ctx, p, r.Steps, r.Seed))
	r.add(race.Row{Quantity: SimulatedCost, Method: name, At: float64(r.Steps), Values: costs,
		Settings: fmt.Sprintf("%d streams of %d steps after as many uncounted", len(costs), r.Steps)})
}

// value records the true cost of π^θ and, if simulate is set, the cost in a simulation.
func (r *networkRun) value(ctx context.Context, of string, theta []float64, simulate bool) (cost float64) {
	r.tell("true cost of the policy of " + of)
	policy, m := r.trueMeasure(ctx, theta)
	cost = r.addCost(race.Row{Quantity: PolicyCost, Method: of,
		Settings: fmt.Sprintf("residual %g, θ = %.6g", r.Measures.Tolerance, theta)}, m)
	if simulate {
		r.simulate(ctx, of, policy)
	}
	return cost
}

// trueMeasure returns π^θ and its measure, by iteration from the positive part of Ψθ.
func (r *networkRun) trueMeasure(ctx context.Context, theta []float64) (*mixpolicy.Policy, *mixpolicy.Measure) {
	policy := must(r.p.Features().PolicyOf(theta))
	start, xi := make([]float64, r.x.States()), make([]float64, r.x.Pairs())
	r.p.Features().MulVec(xi, theta)
	for i, v := range xi {
		start[i/r.x.Actions()] += max(v, 0)
	}
	return policy, r.measure(ctx, policy, start)
}

// measure returns the measure of a policy, by iteration from start.
func (r *networkRun) measure(ctx context.Context, policy *mixpolicy.Policy, start []float64) *mixpolicy.Measure {
	set := r.Measures
	set.Start = start
	return must(mixpolicy.Occupation(ctx, r.x, policy, set))
}

// leastWeights records min θⱼ over the feasible set, for each j.
func (r *networkRun) leastWeights(ctx context.Context) {
	for j, name := range r.base.Members {
		direction := make([]float64, r.p.Dim())
		direction[j] = 1
		least := must(r.p.Solve(ctx, direction)) // min θⱼ
		r.add(race.Row{Quantity: LeastWeight, Method: name, At: float64(r.Network.Buffers[0]), Value: least.Objective,
			Lo: min(least.Bound, least.Objective), Hi: least.Objective, Residual: least.Violation})
	}
}

// largestRoom limits the memory of elimination: for n = (buffer+1)⁴ states, elimination stores at most n² numbers,
// which are 134 MB if buffer = 7.
const largestRoom = 7

// room records, for growing buffers, min θⱼ, which says how far below zero a weight can be. Elimination computes the
// measures, because even for the rarest states, its probabilities have small relative errors. At full size, the
// probabilities of the rarest states are below the error of any iteration, so the least weights at full size hold only
// for the computed Ψ.
func (e FourQueues) room(ctx context.Context) (rows race.Record, err error) {
	defer catch(&err)
	e.Measures.Method = mixpolicy.Elimination
	for buffer := 1; buffer <= largestRoom; buffer++ {
		e.Network.Buffers = [4]int{buffer, buffer, buffer, buffer}
		x := must(e.Network.MDP())
		for _, b := range []BaseSet{AllRules(), StateDependent()} {
			e.begin(ctx, &rows, x, b).leastWeights(ctx)
		}
	}
	return rows, nil
}

// mixing compares the two ways to mix two base policies, as policies (2.16) and as measures (2.17). It also records a
// slice of each of the [slicedPolicies].
func (e FourQueues) mixing(ctx context.Context) (rows race.Record, err error) {
	defer catch(&err)
	r := e.begin(ctx, &rows, must(e.Network.MDP()), e.Base[0])
	f := r.p.Features()
	mixture := func(w float64) *mixpolicy.Policy {
		return must(mixpolicy.Mixture([]float64{1 - w, w}, f.Policy(0), f.Policy(1)))
	}
	const steps = 5
	for k := range steps + 1 {
		w := float64(k) / steps
		r.tell(fmt.Sprintf("mixtures with weight %g", w))
		policies, measures := f.Measure(k/steps), f.Measure(k/steps) // at the ends, the measures of the base policies
		if 0 < k && k < steps {
			policies = r.measure(ctx, mixture(w), f.Measure(1).State)
			_, measures = r.trueMeasure(ctx, []float64{1 - w, w})
		}
		r.addCost(race.Row{Quantity: MixedPolicies, At: w}, policies)
		r.addCost(race.Row{Quantity: MixedMeasures, At: w}, measures)
	}
	even := must(f.PolicyOf([]float64{0.5, 0.5}))
	for k, p := range []*mixpolicy.Policy{f.Policy(0), f.Policy(1), mixture(0.5), even} {
		for x1 := range sliceReach + 1 {
			for x4 := range sliceReach + 1 {
				s := must(e.Network.State([4]int{x1, sliceLengths, sliceLengths, x4}))
				row := p.Row(s) // in actions 0 and 1, server 1 works on queue 1
				r.addNumber(race.Row{Quantity: ServesFirst, Method: slicedPolicies[k], At: float64(s)}, row[0]+row[1])
			}
		}
	}
	return rows, nil
}

// slicedPolicies are the policies for which we record a slice.
var slicedPolicies = [4]string{"LONGER", "LBFS", "even mixture of policies", "even mixture of measures"}

// The recorded slice consists of the states with sliceLengths jobs in each of queues 2 and 3, and with up to sliceReach
// jobs in each of queues 1 and 4.
const (
	sliceLengths = 2
	sliceReach   = 15
)

// NetworkPart is a part of data/network.csv that can be computed separately. At full size, a part takes minutes.
type NetworkPart struct {
	Name       string
	experiment FourQueues
	rows       func(FourQueues, context.Context) (race.Record, error)
}

// Compute returns the rows of the part. Unless the function progress is nil, Compute calls it with the name of each
// activity when the activity begins.
func (p NetworkPart) Compute(ctx context.Context, progress func(doing string)) (race.Record, error) {
	p.experiment.Progress = progress
	rows, err := p.rows(p.experiment, ctx)
	for k := range rows {
		rows[k].Part = p.Name
	}
	return rows, err
}

// NetworkParts returns the parts of data/network.csv.
func NetworkParts() []NetworkPart {
	// full is the experiment at full size. With a residual of 1e-9, the relative error of a cost is about 1e-7.
	full := func(d models.Dynamics, residual float64, base ...BaseSet) FourQueues {
		return FourQueues{Network: models.Network{Dynamics: d}, Base: base, Steps: 1_000_000, Seed: 1,
			Measures: mixpolicy.MeasureSettings{Tolerance: residual}}
	}
	const independent, phantom = models.IndependentEvents, models.PhantomJobs
	small := SmallNetwork(3)
	small.Learning.Queries = 2000
	rules, two := full(independent, 1e-12, AllRules()), full(independent, 1e-12, TwoRules())
	dependent := full(independent, 1e-12, StateDependent())
	rules.Details, dependent.Details = true, true
	two.Learning, dependent.Learning = Learning{100_000, 24, 5}, Learning{100_000, 24, 3} // with d = 4, everything takes longer
	return []NetworkPart{
		{"small", small, FourQueues.Compute},
		{"rules", rules, FourQueues.Compute},
		{"rules, phantom jobs", full(phantom, 1e-12, AllRules()), FourQueues.Compute},
		{"rules, one event a step", full(models.OneEvent, 1e-12, AllRules()), FourQueues.Compute},
		{"two rules", two, FourQueues.Compute},
		{"state-dependent", dependent, FourQueues.Compute},
		{"mixing", full(independent, 1e-9, TwoRules()), FourQueues.mixing},
		{"room", full(independent, 1e-12), FourQueues.room},
		{"dual ALP", full(independent, 1e-9), FourQueues.dualALP},
		{"dual ALP, phantom jobs", full(phantom, 1e-9), FourQueues.dualALP},
	}
}

// UpdateNetwork computes the named parts, or all parts if none is named, and replaces their rows in the record at path.
// It writes each part as soon as the part is finished, and reads the record again just before it writes. So several
// processes can compute different parts at the same time, but two processes must not write at the same moment.
func UpdateNetwork(ctx context.Context, path string, progress func(doing string), names ...string) error {
	parts := NetworkParts()
	index := func(name string) int {
		return slices.IndexFunc(parts, func(p NetworkPart) bool { return p.Name == name })
	}
	if k := slices.IndexFunc(names, func(name string) bool { return index(name) < 0 }); k >= 0 {
		return fmt.Errorf("study: network record: no part %q; NetworkParts lists all parts", names[k])
	}
	for _, p := range parts {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		rows, err := p.Compute(ctx, progress)
		if err == nil {
			err = race.Update(path, func(row race.Row) bool { return row.Part == p.Name }, rows,
				func(a, b race.Row) int { return cmp.Compare(index(a.Part), index(b.Part)) })
		}
		if err != nil {
			return fault.At("study", fmt.Sprintf("network record: part %q", p.Name), err)
		}
	}
	return nil
}
