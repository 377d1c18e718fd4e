package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// Learning says how the methods are compared: the same oracle and number of queries, the
// same number of configurations tried, and as many trials that choose one as are reported.
// Those that choose have a seed of their own. They need to be many: with a penalty that is
// slightly too small a third of the answers are the best of all, and others jobs off.
type Learning struct {
	Queries int // T
	Trials  int
	Valued  int // trials whose policy's true cost is computed
}

// networkMethod is a contestant with its configurations. Costs are divided by c_max in
// all, and steps are η_t = η₀/√(t+1).
type networkMethod struct {
	name string
	grid []networkSetting
	with func(networkSetting) mixpolicy.Method
}

// mendedBall is the ball modulus (3.7) whose shift is the minimiser of J in the printed
// form too, which otherwise takes (3.22) as it stands. It leaves the printed signs.
type mendedBall struct{ bregman.Ball }

// asPrinted names Algorithm 1 with (3.22) and the signs as printed.
const asPrinted = "Algorithm 1, as printed"

// networkSetting is η₀, and ω of the penalty method.
type networkSetting struct{ eta, omega float64 }

func (s networkSetting) String() string {
	switch {
	case s.omega > 0:
		return fmt.Sprintf("η₀ = %g, ω = %g", s.eta, s.omega)
	case s.eta == 0:
		return "nothing to tune"
	}
	return fmt.Sprintf("η₀ = %g", s.eta)
}

// methods has sixteen configurations for every method that can be tuned. λ* of
// Algorithm 1 without scaled rows is of the size of cost/ψ, with ψ of 10⁻⁶ and less: its
// steps are tried up to 4¹² ≈ 1.7·10⁷. The penalty method is tried with four η₀, 2⁻² to 2⁷,
// and four ω, 2⁻⁴ to ½.
func methods(cMax, radius float64) []networkMethod {
	var etas, large, both []networkSetting
	for k := range 16 {
		etas = append(etas, networkSetting{eta: math.Ldexp(1, 2*(k-8))})
		large = append(large, networkSetting{eta: math.Ldexp(1, 2*(k-3))})
		both = append(both, networkSetting{eta: math.Ldexp(1, 3*(k/4)-2), omega: math.Ldexp(1, k%4-4)})
	}
	return []networkMethod{
		{asPrinted, etas, func(s networkSetting) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta), Form: mixpolicy.Printed, Multipliers: mixpolicy.LazyMultipliers}
		}},
		{"Algorithm 1, printed signs", etas, func(s networkSetting) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta), Form: mixpolicy.Printed, Multipliers: mixpolicy.LazyMultipliers,
				Modulus: mendedBall{bregman.Ball{R: radius}}}
		}},
		{"Algorithm 1", large, func(s networkSetting) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta)}
		}},
		{"Algorithm 1, rows scaled", etas, func(s networkSetting) mixpolicy.Method {
			return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta), RowScaling: true}
		}},
		{"penalty", both, func(s networkSetting) mixpolicy.Method {
			return mixpolicy.Penalty{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta), Weight: s.omega}
		}},
		{"plug-in", []networkSetting{{}}, func(networkSetting) mixpolicy.Method { return mixpolicy.PlugIn{} }},
	}
}

// learn tunes every method, runs it, and values the policies that it leaves.
func (r *networkRun) learn(ctx context.Context) error {
	_, cMax := r.x.CostRange()
	best, err := r.p.OptimumContext(ctx)
	if err != nil {
		return err
	}
	gap := penalisedGap(best.Objective, cMax)
	for _, m := range methods(cMax, r.Radius) {
		chosen := m.grid[0]
		if len(m.grid) > 1 {
			if chosen, err = r.tune(ctx, m, gap); err != nil {
				return err
			}
			if chosen == (networkSetting{}) {
				continue
			}
		}
		r.tell(m.name + ", " + chosen.String())
		when := mixpolicy.LogSpaced(3)
		if len(m.grid) == 1 { // an exact solution for every point of the curve
			when = mixpolicy.LogSpaced(1)
		}
		runs, err := r.trials(ctx, m, chosen, r.Learning.Trials, r.Seed, when)
		if err != nil {
			return fmt.Errorf("paper: network: %s: %w", m.name, err)
		}
		r.curves(m.name, chosen, runs, gap)
		if err := r.valueTrials(ctx, m.name, chosen, runs); err != nil {
			return err
		}
	}
	return nil
}

// penalisedGap is the curve of
//
//	cᵀΨθ̂ + c_max‖[Ψθ̂]₋‖₁ + c_max|1ᵀθ̂ − 1| − f*,
//
// by which configurations are chosen. It bounds how much more than f* the positive part
// of Ψθ̂, from which the policy is read, would cost: for 0 ⪯ c ⪯ c_max,
// cᵀ[Ψθ]₊ = cᵀΨθ + cᵀ[Ψθ]₋. The exact penalty of [mixpolicy.Problem.Merit] is of no use at
// full size: where rows of 10⁻¹⁰ hold the optimum, ‖λ*‖_∞ makes it 10¹² a unit of mass.
func penalisedGap(optimum, cMax float64) mixpolicy.Curve {
	return func(h *mixpolicy.History) []float64 {
		y := make([]float64, len(h.Cost))
		for k, theta := range h.Average {
			y[k] = h.Cost[k] - optimum + cMax*(h.Mass[k]+math.Abs(floats.Sum(theta)-1))
		}
		return y
	}
}

// overflow is the end of a run whose numbers leave the floating-point range.
type overflow struct {
	after int // iterations
	err   error
}

func (o *overflow) Error() string { return o.err.Error() }
func (o *overflow) Unwrap() error { return o.err }

// tune returns the setting of least mean gap. One whose numbers overflow is not chosen; if
// all do, there is none, and the iterations that they took are recorded.
func (r *networkRun) tune(ctx context.Context, m networkMethod, gap mixpolicy.Curve) (chosen networkSetting, err error) {
	least := math.Inf(1)
	r.tell("tuning " + m.name)
	for _, s := range m.grid {
		runs, err := r.trials(ctx, m, s, r.Learning.Trials, r.Seed+1, mixpolicy.Every(r.Learning.Queries))
		if ctx.Err() != nil {
			return chosen, err
		}
		if err != nil {
			var o *overflow
			if !errors.As(err, &o) {
				return chosen, err
			}
			r.add(NetworkRow{What: Overflow, Of: m.name, At: s.eta, Value: float64(o.after), Lo: float64(o.after), Hi: float64(o.after), Settings: s.String()})
			continue
		}
		v := mixpolicy.TInterval(last(gap, runs), confidence)
		if math.IsNaN(v.Mean) || math.IsInf(v.Mean, 0) {
			continue
		}
		r.add(NetworkRow{What: Tuning, Of: m.name, At: s.eta, Value: v.Mean, Lo: v.Lo, Hi: v.Hi, Trials: v.N, Settings: s.String()})
		if v.Mean < least {
			least, chosen = v.Mean, s
		}
	}
	return chosen, nil
}

// last returns the last value of a curve in each run.
func last(c mixpolicy.Curve, runs []*mixpolicy.History) []float64 {
	x := make([]float64, len(runs))
	for i, h := range runs {
		y := c(h)
		x[i] = y[len(y)-1]
	}
	return x
}

// trials runs the streams 0, 1, … of a seed. Unlike [mixpolicy.RunTrials] it keeps no
// results, which have multipliers and a policy for every pair.
func (r *networkRun) trials(ctx context.Context, m networkMethod, s networkSetting, trials int, seed uint64, when mixpolicy.Schedule) ([]*mixpolicy.History, error) {
	runs, failed := make([]*mixpolicy.History, trials), make([]*overflow, trials)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range runs {
		runs[k] = new(mixpolicy.History)
		g.Go(func() error {
			q, err := mixpolicy.Solve(ctx, r.p, m.with(s), mixpolicy.Settings{
				Iterations: r.Learning.Queries, Seed: seed, Stream: uint64(k), Recorder: runs[k], Schedule: when, Uncertified: true,
			})
			if q != nil && q.Status == mixpolicy.Failed {
				failed[k] = &overflow{q.Iterations, err}
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, o := range failed {
		if o != nil {
			return nil, o
		}
	}
	return runs, nil
}

// curves records what the trials came to by the number of queries.
func (r *networkRun) curves(method string, s networkSetting, runs []*mixpolicy.History, gap mixpolicy.Curve) {
	for _, c := range []struct {
		what NetworkQuantity
		of   mixpolicy.Curve
	}{
		{LearntObjective, mixpolicy.CostCurve},
		{LearntMass, func(h *mixpolicy.History) []float64 { return h.Mass }},
		{LearntSum, func(h *mixpolicy.History) []float64 {
			y := make([]float64, len(h.Average))
			for k, theta := range h.Average {
				y[k] = floats.Sum(theta)
			}
			return y
		}},
		{LearntGap, gap},
	} {
		curves := make([][]float64, len(runs))
		for i, h := range runs {
			curves[i] = c.of(h)
		}
		for k, queries := range runs[0].Queries {
			if queries == 0 {
				continue
			}
			sample := make([]float64, len(runs))
			for i := range runs {
				sample[i] = curves[i][k]
			}
			v := mixpolicy.TInterval(sample, confidence)
			r.add(NetworkRow{What: c.what, Of: method, At: float64(queries), Value: v.Mean, Lo: v.Lo, Hi: v.Hi, Trials: v.N, Settings: s.String()})
		}
	}
}

// valueTrials records the true costs of the policies of the first trials, the first also
// by simulation. Equal answers are valued once.
func (r *networkRun) valueTrials(ctx context.Context, method string, s networkSetting, runs []*mixpolicy.History) error {
	var costs []float64
	var thetas [][]float64
	for k, h := range runs[:min(len(runs), r.Learning.Valued)] {
		theta := h.Average[len(h.Average)-1]
		if same := slices.IndexFunc(thetas, func(t []float64) bool { return slices.Equal(t, theta) }); same >= 0 {
			costs = append(costs, costs[same])
		} else {
			cost, err := r.value(ctx, TrialName(method, k), theta, k == 0)
			if err != nil {
				return err
			}
			costs = append(costs, cost)
		}
		thetas = append(thetas, theta)
	}
	v := mixpolicy.TInterval(costs, confidence)
	if stat.StdDev(costs, nil) == 0 {
		v.Lo, v.Hi = v.Mean, v.Mean
	}
	r.add(NetworkRow{What: LearntCost, Of: method, At: float64(r.Learning.Queries), Value: v.Mean, Lo: v.Lo, Hi: v.Hi, Trials: v.N, Settings: s.String()})
	return nil
}
