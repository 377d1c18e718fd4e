package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Learning sets the size of the comparison of learning methods. All methods have the same oracle and the same number of
// queries, and all methods with parameters try the same number of configurations. The configuration of each method is
// chosen in separate trials, whose seed differs from the seed of the reported trials. For each configuration, tuning
// uses as many trials as the reported results. Tuning needs many trials, as an example with the two rules shows. With a
// slightly too small penalty weight, 10 of 24 runs had smaller gaps than every run with a greater weight. But in 3 of
// these 24 runs, the gap was greater than the holding cost of one job.
type Learning struct {
	Queries int // T
	Trials  int
	Valued  int // for each method, the true cost of the policy is computed only in the first Valued trials
}

// correctedShiftBall is the ball modulus (3.7) under another type. With this type, the printed form of Algorithm 1 uses
// the shift that minimises J of (3.19), instead of the printed shift (3.22). The signs stay as printed.
type correctedShiftBall struct{ bregman.Ball }

// asPrinted names Algorithm 1 with (3.22) and the signs as printed.
const asPrinted = "Algorithm 1, as printed"

// networkEntrants returns plug-in, which has nothing to tune, and five methods with sixteen configurations each. These
// five methods divide costs by c_max, and use the steps η_t = η₀/√(t+1). Without scaled rows, λ* of Algorithm 1 is
// about as large as a cost divided by an entry of Ψ of 10⁻⁶ or less, so we try η₀ up to 4¹² ≈ 1.7·10⁷. The penalty
// method has four η₀, 2⁻² to 2⁷, and four ω, 2⁻⁴ to ½.
func networkEntrants(cMax float64) []race.Entrant {
	sorted := func(a race.Axis) race.Axis {
		slices.Sort(a.Values)
		return a
	}
	learner := func(name string, middle float64, m mixpolicy.PrimalDual) race.Entrant {
		m.CostScale = cMax
		return tuned(name, "", nil, func(at []float64) mixpolicy.Method {
			m := m
			m.StepSize = mixpolicy.InverseSqrt(at[0])
			return m
		}, sorted(axis("η₀", middle, 4, 16)))
	}
	printed := mixpolicy.PrimalDual{Form: mixpolicy.Printed, Multipliers: mixpolicy.LazyMultipliers}
	signs := printed
	signs.Modulus = correctedShiftBall{bregman.Ball{R: networkRadius}}
	return []race.Entrant{
		learner(asPrinted, 1, printed),
		learner("Algorithm 1, printed signs", 1, signs),
		learner("Algorithm 1", 0x1p10, mixpolicy.PrimalDual{}),
		learner("Algorithm 1, rows scaled", 1, mixpolicy.PrimalDual{RowScaling: true}),
		tuned("penalty", "", nil, func(at []float64) mixpolicy.Method {
			return mixpolicy.Penalty{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(at[0]), Weight: at[1]}
		}, sorted(axis("η₀", 0x1p4, 8, 4)), sorted(axis("ω", 0x1p-2, 2, 4))),
		enter("plug-in", "", nil, mixpolicy.PlugIn{}),
	}
}

// learn tunes every method, runs it, and values the policies that it learns.
func (r *networkRun) learn(ctx context.Context) {
	_, cMax := r.x.CostRange()
	best, price := must(r.p.Optimum(ctx)), 0.
	for _, m := range best.Rows {
		price = max(price, 2*m.Lambda()/cMax)
	}
	r.addNumber(race.Row{Quantity: MassPrice}, price)
	gap, penalised := gapAtMost(best.Objective, cMax), must(race.PenalisedGap(r.p))
	for _, e := range networkEntrants(cMax) {
		set := race.Settings{
			Trials: r.Learning.Trials, TuningTrials: r.Learning.Trials, Seed: r.Seed,
			Iterations: r.Learning.Queries, Schedule: mixpolicy.LogSpaced(3), Score: gap,
			Progress: func(name string, done, total int) { r.tell(fmt.Sprintf("%s, %d of %d runs", name, done, total)) },
		}
		if len(e.Methods) == 1 { // plug-in solves a program at every point of the curve
			set.Schedule = mixpolicy.LogSpaced(1)
		}
		o := must(race.Run(ctx, r.p, []race.Entrant{e}, set))[0]
		r.tuning(o)
		like := race.Row{Method: e.Name}
		if o.Err != nil {
			continue // no setting could be chosen, or all trials of the chosen setting failed
		}
		like.Setting = e.Numbers(o.Chosen)
		sum := func(l *race.Observation) float64 { return floats.Sum(l.Theta) }
		for k, c := range []race.Curve{race.Cost, race.Mass, sum, gap, penalised} {
			like.Quantity = []string{LearntObjective, LearntMass, LearntSum, LearntGap, PenalisedGap}[k]
			r.add(slices.DeleteFunc(o.Runs.Rows(race.Queries, c, like), func(row race.Row) bool { return row.At == 0 })...)
		}
		r.valueTrials(ctx, like, o.Runs)
	}
}

// gapAtMost is the curve of
//
//	cᵀΨθ̂ + c_max‖[Ψθ̂]₋‖₁ + c_max|1ᵀθ̂ − 1| − f*,
//
// for choosing configurations, where f* = optimum. The policy is read from the positive part of Ψθ̂. If 0 ⪯ c ⪯ c_max,
// the curve is an upper bound on the cost of this part minus f*, because cᵀ[Ψθ]₊ = cᵀΨθ + cᵀ[Ψθ]₋. In the exact penalty
// of [mixpolicy.Problem.PenalisedGap], a unit of negative mass costs [MassPrice] times as much as in this curve if
// MassPrice is at least 1.
func gapAtMost(optimum, cMax float64) race.Curve {
	return func(l *race.Observation) float64 {
		return l.Cost - optimum + cMax*(l.Mass+math.Abs(floats.Sum(l.Theta)-1))
	}
}

// tuning records, for each setting whose runs all finish, the gaps of these runs, unless their mean is not finite. For
// each setting with a failed run, it records the number of iterations after which the first such run left the range of
// floating point.
func (r *networkRun) tuning(o race.Outcome) {
	for k, t := range o.Tuning {
		row := race.Row{Quantity: Tuning, Method: o.Name, Setting: o.Numbers(k), Values: t.Scores}
		row.At = row.Setting[0]
		if t.Scores == nil {
			row.Quantity = Overflow
			r.addNumber(row, float64(t.Failed()[0].Steps))
		} else if mean := stat.Mean(t.Scores, nil); !math.IsNaN(mean) && !math.IsInf(mean, 0) {
			r.add(row)
		}
	}
}

// valueTrials records the true costs of the policies of the first trials. For the first trial, it also records a
// simulated cost. Equal answers are valued once.
func (r *networkRun) valueTrials(ctx context.Context, like race.Row, runs *race.Runs) {
	var costs []float64
	var thetas [][]float64
	trials := runs.Finished()
	for k, t := range trials[:min(len(trials), r.Learning.Valued)] {
		theta := t.End().Theta
		if same := slices.IndexFunc(thetas, func(t []float64) bool { return slices.Equal(t, theta) }); same >= 0 {
			costs = append(costs, costs[same])
		} else {
			costs = append(costs, r.value(ctx, TrialName(like.Method, k), theta, k == 0))
		}
		thetas = append(thetas, theta)
	}
	like.Quantity, like.At, like.Values = LearntCost, float64(r.Learning.Queries), costs
	r.add(like)
}

// dualALP runs the method of Abbasi-Yadkori, Bartlett and Malek (2014) with the 366 features of their experiment: the
// measures of LONGER and LBFS and, for every action, the uniform measures on ten intervals of loss and 81 boxes of
// lengths. Their published settings are averages of 1000 gradients and a rate of 10⁻⁴ that is halved every 2000 steps,
// in a run of 8000 steps. We quote these settings from memory, and do not know the scale of losses or the start. Here
// losses are divided by c_max, θ₀ is the even mixture of the two measures, and ω and the rate are tuned by the true
// cost, which favours the method.
func (e FourQueues) dualALP(ctx context.Context) (rows race.Record, err error) {
	defer catch(&err)
	r := e.begin(ctx, &rows, must(e.Network.MDP()), TwoRules())
	a := r.sparseDual()
	psi, flow := a.Entries()
	r.tell(fmt.Sprintf("dual ALP: %d features, %d entries of Ψ, %d of the flow", a.Dim(), psi, flow))
	_, cMax := r.x.CostRange()
	start := make([]float64, a.Dim())
	start[0], start[1] = 0.5, 0.5
	// run makes a run with at[0] times the published rate, and with ω = at[1].
	run := func(at []float64, visit func(int, []float64) error, seed, stream uint64) (*mixpolicy.Policy, *mixpolicy.Measure) {
		return r.dualMeasure(ctx, a, must(a.Run(ctx, priorwork.DualALPRun{
			Weight: at[1], CostScale: cMax, StepSize: mixpolicy.Scaled{By: at[0], Of: priorwork.PublishedDualALP().StepSize},
			Batch: dualBatch, Steps: dualSteps, Radius: dualRadius, Start: start,
			Visit: visit, Schedule: mixpolicy.Every(dualSteps / 8),
		}, rand.NewPCG(seed, stream))))
	}
	like, least := race.Row{Method: dualName}, math.Inf(1)
	for _, rate := range dualRates {
		for _, omega := range dualWeights {
			row := race.Row{Quantity: Tuning, Method: dualName, At: rate, Trials: 1, Setting: []float64{rate, omega}, Settings: fmt.Sprintf(
				"rate %g·10⁻⁴, halved every 2000 of %d steps of %d gradients, ω = %g, losses/c_max", rate, dualSteps, dualBatch, omega)}
			r.tell("dual ALP: " + row.Settings)
			_, m := run(row.Setting, nil, e.Seed+1, 0)
			if cost := r.addCost(row, m); cost < least {
				least, like.Setting, like.Settings = cost, row.Setting, row.Settings
			}
		}
	}
	var costs []float64
	for k := range dualTrials {
		r.tell(fmt.Sprintf("dual ALP: %v, trial %d", like.Settings, k+1))
		policy, m := run(like.Setting, func(step int, theta []float64) error {
			if k == 0 {
				r.dualParts(ctx, like, a, step, theta)
			}
			return nil
		}, e.Seed, uint64(k))
		name := TrialName(dualName, k)
		costs = append(costs, r.addCost(race.Row{Quantity: PolicyCost, Method: name, Settings: like.Settings}, m))
		if k == 0 {
			r.simulate(ctx, name, policy)
		}
	}
	like.Quantity, like.At, like.Values = LearntCost, dualSteps, costs
	r.add(like)
	return rows.Derive(tInterval), nil
}

const (
	dualName   = "dual ALP"
	dualSteps  = 8000
	dualBatch  = 1000
	dualTrials = 3
	dualRadius = 10 // of ‖θ‖₂; not published, and never reached with the published rates
)

// The factors by which we multiply the published rate, and the values of ω that we try.
var dualRates, dualWeights = []float64{1, 8, 64}, []float64{0.125, 0.5, 2, 8, 32}

// sparseDual lays out the features: the two measures, then the loss intervals and the boxes, each
// for four actions.
func (r *networkRun) sparseDual() *priorwork.SparseDualALP {
	losses, boxes := must(r.Network.LossIntervals()), must(r.Network.LengthBoxes())
	f, m := r.p.Features(), r.x.Actions()
	measures, row := f.Dim(), make([]float64, f.Dim())
	return must(priorwork.NewSparseDualALP(r.x, measures+m*(losses.Cells()+boxes.Cells()), func(pair int, set func(int, float64)) {
		f.Row(row, pair)
		for j, v := range row {
			if v != 0 {
				set(j, v)
			}
		}
		first := measures
		for _, g := range []*models.Aggregation{losses, boxes} {
			if c := int(g.Cell[pair/m]); c >= 0 {
				set(first+m*c+pair%m, 1/float64(g.Size[c]))
			}
			first += m * g.Cells()
		}
	}))
}

// dualMeasure returns the policy of Ψθ and its true measure.
func (r *networkRun) dualMeasure(ctx context.Context, a *priorwork.SparseDualALP, theta []float64) (*mixpolicy.Policy, *mixpolicy.Measure) {
	xi := make([]float64, r.x.Pairs())
	a.Measure(xi, theta)
	policy := must(mixpolicy.PolicyOf(r.x, xi))
	return policy, r.measure(ctx, policy, r.p.Features().Measure(1).State)
}

// dualParts records the parts of f_ω and the true cost at a step of a run.
func (r *networkRun) dualParts(ctx context.Context, like race.Row, a *priorwork.SparseDualALP, step int, theta []float64) {
	objective, negative, flow := a.Parts(theta)
	_, m := r.dualMeasure(ctx, a, theta)
	like.At = float64(step)
	for k, v := range [3]float64{objective, negative, flow} {
		like.Quantity = [3]string{DualObjective, DualNegative, DualFlow}[k]
		r.addNumber(like, v)
	}
	like.Quantity = DualCost
	r.addCost(like, m)
}
