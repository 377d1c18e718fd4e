package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/race"
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

// networkMethod is an entrant with what its methods' settings are called. Costs are divided
// by c_max in all, and steps are η_t = η₀/√(t+1).
type networkMethod struct {
	race.Entrant
	grid []networkSetting
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
	var all []networkMethod
	add := func(name string, grid []networkSetting, method func(networkSetting) mixpolicy.Method) {
		m := networkMethod{race.Entrant{Name: name}, grid}
		for _, s := range grid {
			m.Methods = append(m.Methods, method(s))
		}
		all = append(all, m)
	}
	printed := func(eta float64, phi bregman.Modulus) mixpolicy.Method {
		return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(eta), Form: mixpolicy.Printed, Multipliers: mixpolicy.LazyMultipliers, Modulus: phi}
	}
	add(asPrinted, etas, func(s networkSetting) mixpolicy.Method { return printed(s.eta, nil) })
	add("Algorithm 1, printed signs", etas, func(s networkSetting) mixpolicy.Method { return printed(s.eta, mendedBall{bregman.Ball{R: radius}}) })
	add("Algorithm 1", large, func(s networkSetting) mixpolicy.Method {
		return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta)}
	})
	add("Algorithm 1, rows scaled", etas, func(s networkSetting) mixpolicy.Method {
		return mixpolicy.PrimalDual{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta), RowScaling: true}
	})
	add("penalty", both, func(s networkSetting) mixpolicy.Method {
		return mixpolicy.Penalty{CostScale: cMax, StepSize: mixpolicy.InverseSqrt(s.eta), Weight: s.omega}
	})
	add("plug-in", []networkSetting{{}}, func(networkSetting) mixpolicy.Method { return mixpolicy.PlugIn{} })
	return all
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
		set := race.Settings{
			Trials: r.Learning.Trials, TuningTrials: r.Learning.Trials, Seed: r.Seed,
			Iterations: r.Learning.Queries, Schedule: mixpolicy.LogSpaced(3), Score: gap,
			Progress: func(name string, done, total int) { r.tell(fmt.Sprintf("%s, %d of %d runs", name, done, total)) },
		}
		if len(m.grid) == 1 { // an exact solution for every point of the curve
			set.Schedule = mixpolicy.LogSpaced(1)
		}
		outcomes, err := race.Run(ctx, r.p, []race.Entrant{m.Entrant}, set)
		if err != nil {
			return fmt.Errorf("paper: network: %w", err)
		}
		o := outcomes[0]
		r.tuning(m, o)
		if o.Err != nil {
			continue // no setting runs to the end, as the rows about tuning say
		}
		chosen := m.grid[o.Chosen].String()
		r.curves(m.Name, chosen, o.Runs, gap)
		if err := r.valueTrials(ctx, m.Name, chosen, o.Runs); err != nil {
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
func penalisedGap(optimum, cMax float64) race.Curve {
	return func(l *race.Look) float64 {
		return l.Cost - optimum + cMax*(l.Mass+math.Abs(floats.Sum(l.Theta)-1))
	}
}

// tuning records the mean gap of each setting, or after how many iterations its numbers left
// the range of floating point.
func (r *networkRun) tuning(m networkMethod, o race.Outcome) {
	for k, t := range o.Tuning {
		row := race.Row{Quantity: Tuning, Method: m.Name, At: m.grid[k].eta, Settings: m.grid[k].String()}
		if t.Scores == nil {
			after := float64(t.Failed()[0].Steps)
			row.Quantity, row.Value, row.Lo, row.Hi = Overflow, after, after, after
		} else {
			v := race.TInterval(t.Scores, confidence)
			if math.IsNaN(v.Mean) || math.IsInf(v.Mean, 0) {
				continue
			}
			row.Value, row.Lo, row.Hi, row.Trials = v.Mean, v.Lo, v.Hi, v.N
		}
		r.add(row)
	}
}

// curves records what the trials came to by the number of queries.
func (r *networkRun) curves(method, settings string, runs *race.Runs, gap race.Curve) {
	for _, row := range runs.Failures(race.Row{Method: method}) {
		r.add(row)
	}
	for _, c := range []struct {
		what string
		of   race.Curve
	}{
		{LearntObjective, race.Cost},
		{LearntMass, race.Mass},
		{LearntSum, func(l *race.Look) float64 { return floats.Sum(l.Theta) }},
		{LearntGap, gap},
	} {
		for _, row := range runs.Band(race.Queries, c.of, confidence).Rows(race.Row{Quantity: c.what, Method: method, Settings: settings}) {
			if row.At > 0 {
				r.add(row)
			}
		}
	}
}

// valueTrials records the true costs of the policies of the first trials, the first also
// by simulation. Equal answers are valued once.
func (r *networkRun) valueTrials(ctx context.Context, method, settings string, runs *race.Runs) error {
	var costs []float64
	var thetas [][]float64
	trials := runs.Finished()
	for k, t := range trials[:min(len(trials), r.Learning.Valued)] {
		theta := t.End().Theta
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
	v := race.TInterval(costs, confidence)
	if stat.StdDev(costs, nil) == 0 {
		v.Lo, v.Hi = v.Mean, v.Mean
	}
	r.add(race.Row{Quantity: LearntCost, Method: method, At: float64(r.Learning.Queries), Value: v.Mean, Lo: v.Lo, Hi: v.Hi, Trials: v.N, Settings: settings})
	return nil
}
