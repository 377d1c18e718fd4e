package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Protocol is a way to run the comparison of section 6. The paper states R = 100, η = 1/T = 0.001, T = 1000 and 20
// trials. The paper leaves open θ₀, β, the penalty weight and any scaling of the costs.
type Protocol struct {
	Name               string
	Radius             float64 // R of the Euclidean ball
	Iterations, Trials int     // T, and the number of trials
	StepSize           mixpolicy.StepSize
	CostScale          float64 // divides the costs
	Weight             float64 // ω of the penalty method
	Form               mixpolicy.Form
	Seed               uint64
}

// AsPrinted returns the protocol of section 6 word for word, with Algorithm 1 in the given form. Where the paper leaves
// a choice open, AsPrinted makes the simplest choice: θ₀ = (½, ½), costs that are not scaled, ω = 1, and no ball for λ
// (at γ = 1, the radius 1/(1−γ) of this ball is infinite).
func AsPrinted(form mixpolicy.Form) Protocol {
	return Protocol{Name: fmt.Sprintf("as printed, the %v algorithm", form), Radius: 100, Iterations: 1000, Trials: 20,
		StepSize: mixpolicy.Constant(0.001), CostScale: 1, Weight: 1, Form: form, Seed: 1}
}

// Working returns a protocol under which Algorithm 1 and the penalty method, once tuned, come near the optimum. The
// protocol divides the costs by c_max. It uses the step size 1/√(t+1) of Proposition 3.1, a small ball for θ that still
// contains the optimum, the corrected algorithm, and enough iterations.
func Working() Protocol {
	return Protocol{Name: "working", Radius: 2, Iterations: 100_000, Trials: 20,
		StepSize: mixpolicy.InverseSqrt(1), CostScale: cMax, Weight: 1, Seed: 1}
}

// PrimalDual returns Algorithm 1 under the protocol.
func (c Protocol) PrimalDual() mixpolicy.Method {
	return mixpolicy.PrimalDual{StepSize: c.StepSize, CostScale: c.CostScale, Form: c.Form}
}

// Penalty returns the penalty method under the protocol.
func (c Protocol) Penalty() mixpolicy.Method {
	return mixpolicy.Penalty{StepSize: c.StepSize, CostScale: c.CostScale, Weight: c.Weight}
}

// Run runs a method on the queue, once for each of the protocol's trials.
func (c Protocol) Run(ctx context.Context, m mixpolicy.Method) (_ *race.Runs, err error) {
	defer at(fmt.Sprintf("protocol %q", c.Name), &err)
	defer catch(&err)
	return race.Trials(ctx, must(QueueProblem(mixpolicy.Ball(c.Radius))), m,
		race.Settings{Trials: c.Trials, Iterations: c.Iterations, Seed: c.Seed, Valued: race.ValuedEnd})
}

// ReadingResult contains the exact numbers of the experiment of section 6 under one interpretation of the transition
// law (6.1).
type ReadingResult struct {
	Reading               models.Reading
	BaseCosts             []float64 // cᵀψ¹, cᵀψ²
	Lo, Hi                float64   // Ψθ ⪰ 0 on 1ᵀθ = 1 if and only if Lo ≤ θ₁ ≤ Hi
	Optimum, BestPossible float64   // optimum of (2.18) with R = 100, and least average cost over all policies of the MDP
	Theta                 []float64 // of the optimum
}

// CompareReadings computes the experiment's exact numbers under every interpretation of (6.1) that gives a Markov
// decision process.
func CompareReadings(ctx context.Context) (all []ReadingResult, err error) {
	defer catch(&err)
	for _, r := range models.Readings() {
		q := models.Queue{Reading: r}
		x := must(q.MDP())
		p := mixtureProblem(x, mixpolicy.Ball(100), must(q.Policies(x))...)
		best, v := must(p.Optimum(ctx)), must(mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{}))
		// The ends of the feasible interval are the solutions of (2.18) with the objectives θ₁ and −θ₁.
		lo, hi := must(p.Solve(ctx, []float64{1, 0})), must(p.Solve(ctx, []float64{-1, 0}))
		all = append(all, ReadingResult{Reading: r, BaseCosts: p.BaseCosts(), Lo: lo.Theta[0], Hi: hi.Theta[0],
			Optimum: best.Objective, Theta: best.Theta, BestPossible: v.Cost()})
	}
	return all, nil
}

// Figure1Steps is the number of steps that the authors simulate for Fig. 1. The paper calls these steps epochs.
const Figure1Steps = 50_000_000

// Figure1 is the stationary measure of one base policy, computed in three ways. Fig. 1 shows the measure of π¹ (left)
// and the measure of π² (right).
type Figure1 struct {
	Exact, Iterated *mixpolicy.Measure   // by elimination, and by sweeps
	Simulated       *mixpolicy.Empirical // by counting visits
}

// IterationError is ‖μ_iterated − μ_exact‖₁.
func (f Figure1) IterationError() float64 { return sum.Diff1(f.Iterated.State, f.Exact.State) }

// SimulationError is ‖μ_simulated − μ_exact‖₁.
func (f Figure1) SimulationError() float64 { return sum.Diff1(f.Simulated.State, f.Exact.State) }

// WorstZ is the greatest error of the simulation, over all states with a positive standard error. Each error is in
// units of the state's standard error. For comparison: with probability 99.7 %, 100 independent standard normal
// variables are all below 4.2 in absolute value.
func (f Figure1) WorstZ() float64 { return worstZ(f.Exact, f.Simulated, 0) }

// worstZ omits states with at most the given number of expected visits, because the errors of rare states are not
// normal.
func worstZ(exact *mixpolicy.Measure, e *mixpolicy.Empirical, visits float64) (worst float64) {
	for s, mu := range exact.State {
		if mu*float64(e.Steps) > visits && e.StateError[s] > 0 {
			worst = max(worst, math.Abs(e.State[s]-mu)/e.StateError[s])
		}
	}
	return worst
}

// ComputeFigure1 computes Fig. 1 for both base policies. The simulation of each policy takes the given number of steps;
// the paper takes [Figure1Steps].
func ComputeFigure1(ctx context.Context, steps int, seed uint64) (figures []Figure1, err error) {
	defer catch(&err)
	x, base := queueModel()
	for i, p := range base {
		figures = append(figures, Figure1{
			Exact:     must(mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Elimination})),
			Iterated:  must(mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel})),
			Simulated: must(mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: steps, Seed: seed + uint64(i)}))})
	}
	return figures, nil
}

// StepCost holds the times of one iteration of each method on this machine, in nanoseconds. Between machines, only the
// ratios of these times are comparable.
type StepCost struct {
	PrimalDual                float64 // Algorithm 1
	Penalty, PenaltyByBarrier float64 // with the closed-form projection, and with [linprog.ProjectByBarrier] instead
}

// MeasureStepCost times one iteration of each method on the queue of section 6.
func MeasureStepCost() (c StepCost, err error) {
	defer catch(&err)
	protocol := Working()
	p := must(QueueProblem(mixpolicy.Ball(protocol.Radius)))
	step := func(m mixpolicy.Method) float64 {
		run := must(m.Start(p, must(mixpolicy.NewOracle(p, 1, 0))))
		return leastTime(20_000, func() { noError(run.Step()) })
	}
	c.PrimalDual, c.Penalty = step(protocol.PrimalDual()), step(protocol.Penalty())
	theta, y, class := make([]float64, 2), []float64{1.9, -0.7}, p.Class()
	closed := leastTime(100_000, func() { noError(class.Norm.Project(theta, y, class.R)) })
	c.PenaltyByBarrier = c.Penalty - closed + leastTime(200, func() { noError(linprog.ProjectByBarrier(theta, y, class.R)) })
	return c, nil
}

// leastTime times a thousand batches of calls, and returns the mean time of a call in the fastest batch, in
// nanoseconds. The batches are so short that other work does not interrupt all of them.
func leastTime(calls int, f func()) float64 {
	best, batch := math.Inf(1), max(1, calls/200)
	for range 1000 {
		start := time.Now()
		for range batch {
			f()
		}
		best = min(best, float64(time.Since(start).Nanoseconds())/float64(batch))
	}
	return best
}

func checkTransitionLaw(context.Context) Finding {
	const arrival = 0.5
	rates, worst := []float64{0.2, 0.4, 0.6, 0.8}, 0.0
	x := must(models.Queue{Arrival: arrival, Rates: rates}.MDP())
	for i := range x.Pairs() {
		_, p := x.Next(x.StateAction(i))
		worst = max(worst, math.Abs(floats.Sum(p)-1))
	}
	return holdsCorrected(arrival+floats.Max(rates)-1, worst,
		"0.5 for up and 0.8 for down add up to 1.3; the uniformised chain has rows that add up to 1, and the same measures under (6.3)")
}

func checkQueueCost(context.Context) Finding {
	x, worst := must(models.Queue{}.MDP()), 0.0
	for i, c := range x.Costs() {
		rate := []float64{0.2, 0.4, 0.6, 0.8}[i%4]
		worst = max(worst, relativeError(c, sq(float64(i/4+1))+60*rate*rate*rate))
	}
	return holds(worst, "the costs equal (6.2) at all 400 pairs; the greatest is %.2f", x.Cost(99, 3))
}

func checkBasePolicies(context.Context) Finding {
	_, base := queueModel()
	var worst float64
	for k, want := range [][]float64{{.25, .25, .25, .25}, {.3, .3, .2, .2}} {
		for s := range 100 {
			worst = max(worst, relativeVectorError(base[k].Row(s), want))
		}
	}
	return holds(worst, "the probabilities are those of (6.3) in every state")
}

func checkVisits(ctx context.Context) Finding {
	x, base := queueModel()
	worst := worstOf(base, func(p *mixpolicy.Policy) float64 {
		e := must(mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: 2_000_000, Seed: 1}))
		return worstZ(must(x.Occupation(ctx, p)), e, 100)
	})
	// The probability that one of 200 standard normal variables is larger than 6 in magnitude is 4·10⁻⁷.
	return holdsCorrected(checkTransitionLaw(ctx).Printed, excess(worst, 6), "(6.1) is not a law as printed; for the uniformised "+
		"chain, the frequencies of 2·10⁶ steps are within %.1f standard errors of the exact measures, one uniform and one geometric", worst)
}

// checkProtocol: under the stated protocol, θ̂ is far outside the feasible set, and cᵀΨθ̂ is not the cost of its
// policy. Under the working protocol, cᵀΨθ̂ is nearly this cost.
func checkProtocol(ctx context.Context) Finding {
	costs := func(c Protocol, eta float64) (objective, policy float64) {
		c = c.with(eta, 0)
		c.Trials = 4
		t := must(c.Run(ctx, c.PrimalDual()))
		return stat.Mean(t.Final(race.Cost), nil), stat.Mean(t.Final(race.PolicyCost), nil)
	}
	literal, true1 := costs(AsPrinted(mixpolicy.Corrected), 0.001)
	working, true2 := costs(Working(), 64)
	// The tolerance is 1 % of the cost.
	return holdsCorrected(relativeError(literal, true1), relativeError(working, true2),
		"section 6 with (3.22) and the sign of λ corrected: cᵀΨθ̂ = %.4g, and the policy costs %.4g; with scaled costs, R = 2, η = "+
			"64/√(t+1) and T = 10⁵, cᵀΨθ̂ = %.5g, and the policy costs %.5g", literal, true1, working, true2).within(0.01)
}

// Contest is the comparison of section 6 between Algorithm 1 and the penalty method on the queue. Both methods get
// equally many samples and equal tuning budgets. The results come from a seed that tuning does not use.
type Contest struct {
	Protocol Protocol
	// For each method, Tuned holds the scores of the configuration with the least mean penalised gap in the tuning
	// trials. TunedByCost holds the scores of the configuration whose policies have the least mean true cost in these
	// trials. Both methods have equally many configurations. Only the penalised gap counts infeasibility: if Ψθ̂ has a
	// negative entry, the policy can cost less than the optimum of (2.18).
	Tuned, TunedByCost           Pair
	Configurations, TuningTrials int
	// Tuned and TunedByCost each result from two choices, one for each method. We repeat each of these four choices on
	// [Resamples] resamples of the tuning trials, and count the resamples that lead to the same configuration as the
	// tuning trials themselves. Again is the least of the four counts.
	Again int
}

// Resamples is how many bootstrap resamples of the tuning trials [Protocol.Contest] draws for each choice.
const Resamples = 999

// Pair holds the scores of the two methods.
type Pair struct{ PrimalDual, Penalty Score }

// Score holds the results of one method. The slices have one entry per trial.
type Score struct {
	Eta, Weight float64 // η₀ of the step size, and ω of the penalty method

	Objective, PolicyCost []float64 // cᵀΨθ̂ (a cost only if Ψθ̂ ⪰ 0), and the true cost of π^θ̂
	// PenalisedGap is the [mixpolicy.Problem.PenalisedGap] of the answers, feasible or not.
	PenalisedGap []float64
}

func scoreOf(r *race.Runs, gap race.Curve, eta, weight float64) Score {
	return Score{Eta: eta, Weight: weight, Objective: r.Final(race.Cost), PolicyCost: r.Final(race.PolicyCost), PenalisedGap: r.Final(gap)}
}

// powers returns the n numbers first, first·factor, first·factor², ….
func powers(first, factor float64, n int) []float64 {
	return draws(n, func() float64 {
		v := first
		first *= factor
		return v
	})
}

// Contest runs the comparison under the protocol, with 16 configurations of each method. Algorithm 1 has 16 values of
// η₀. The penalty method has 4 values of η₀ times 4 values of ω. The values of each parameter form a geometric
// sequence. Under [AsPrinted] and [Working], the ω chosen by the penalised gap is neither the least nor the greatest of
// the grid. A tuned method uses the step sizes of the protocol, times a constant. If no configuration of a method runs
// to the end, Contest returns an error. The argument progress may be nil: see [race.Settings].
func (c Protocol) Contest(ctx context.Context, progress func(name string, done, total int)) (k *Contest, err error) {
	defer at(fmt.Sprintf("protocol %q", c.Name), &err)
	defer catch(&err)
	trials, etas, rivalEtas, weights := 40, powers(0x1p-4, 2, 16), powers(0x1p-6, 4, 4), powers(0x1p-3, 8, 4)
	if c.CostScale == 1 { // raw costs: ‖λ*‖₂ ≈ 1.5·10⁵, and gradients in units of 10⁴
		trials, etas, rivalEtas, weights = 100, powers(0x1p-32, math.Sqrt2, 16), powers(0x1p-22, 4, 4), powers(cMax/4, 4, 4)
	}
	p := must(QueueProblem(mixpolicy.Ball(c.Radius)))
	gap := must(race.PenalisedGap(p))
	settings := race.Settings{Trials: trials, TuningTrials: 8, Seed: c.Seed, Iterations: c.Iterations,
		Schedule: mixpolicy.Every(c.Iterations), Valued: race.ValuedEnd, Progress: progress}
	all := must(race.Run(ctx, p, []race.Entrant{
		{Name: "Algorithm 1, tuned", Methods: race.Grid(etas,
			func(eta float64) mixpolicy.Method { return c.with(eta, 0).PrimalDual() })},
		{Name: "penalty, tuned", Methods: race.Grid2(rivalEtas, weights,
			func(eta, omega float64) mixpolicy.Method { return c.with(eta, omega).Penalty() })},
	}, settings))
	for _, o := range all {
		noError(o.Err)
	}
	k = &Contest{Protocol: c, Configurations: len(etas), TuningTrials: settings.TuningTrials, Again: Resamples}
	rng := rand.New(rand.NewPCG(c.Seed, 0))
	best := func(o race.Outcome, of race.Curve) (*race.Runs, int) {
		chosen, again := race.Best(o.Tuning, of, func(x []float64) float64 { return stat.Mean(x, nil) }), 0
		for range Resamples {
			drawn := draws(settings.TuningTrials, func() int { return rng.IntN(settings.TuningTrials) })
			if chosen == race.Best(o.Tuning, of, func(x []float64) float64 {
				return floats.Sum(mapped(drawn, func(trial int) float64 { return x[trial] }))
			}) {
				again++
			}
		}
		if k.Again = min(k.Again, again); chosen == o.Chosen {
			return o.Runs, chosen
		}
		return must(race.Trials(ctx, p, o.Methods[chosen], settings)), chosen
	}
	pair := func(of race.Curve) Pair {
		own, i := best(all[0], of)
		rival, j := best(all[1], of)
		return Pair{scoreOf(own, gap, etas[i], 0), scoreOf(rival, gap, rivalEtas[j/len(weights)], weights[j%len(weights)])}
	}
	k.Tuned, k.TunedByCost = pair(gap), pair(race.PolicyCost)
	return k, nil
}

// with returns the protocol with another first step size and weight.
func (c Protocol) with(eta, weight float64) Protocol {
	c.StepSize, c.Weight = mixpolicy.Scaled{By: eta / c.StepSize.At(0), Of: c.StepSize}, weight
	return c
}

// Figure2 is the comparison of Fig. 2: both methods on the queue, with the same seeds.
type Figure2 struct {
	PrimalDual, Penalty *race.Runs
	Optimum             float64 // of (2.18)

	gap race.Curve
}

// Coefficients draws the left half of Fig. 2: θ̂₁ and, paler, θ̂₂ against the iteration, as means over trials with 95 %
// intervals.
func (f Figure2) Coefficients() plotting.Figure {
	paler := func(l plotting.Line) plotting.Line {
		l.Color = plotting.Auto.Opacity(0.5)
		return l
	}
	return figure2("Mixing coefficients", "θ̂₁ and θ̂₂",
		BandLine("Algorithm 1, θ̂₁", f.PrimalDual, race.Theta(0)), paler(BandLine("Algorithm 1, θ̂₂", f.PrimalDual, race.Theta(1))),
		BandLine("penalty, θ̂₁", f.Penalty, race.Theta(0)), paler(BandLine("penalty, θ̂₂", f.Penalty, race.Theta(1))))
}

// Cost draws the right half of Fig. 2: cᵀΨθ̂ against the iteration, with the exact
// optimum for reference.
func (f Figure2) Cost() plotting.Figure {
	return figure2("Dual cost", "cᵀΨθ̂", BandLine("Algorithm 1", f.PrimalDual, race.Cost), BandLine("penalty", f.Penalty, race.Cost),
		plotting.Rule{Label: "optimum of (2.18)", At: f.Optimum})
}

// Violation draws curves that Fig. 2 omits: the means of ½‖[Ψθ̂]₋‖₂ over trials. The intervals are bootstrap intervals,
// which do not reach below 0.
func (f Figure2) Violation() plotting.Figure {
	return f.positive("½‖[Ψθ̂]₋‖₂", race.Violation)
}

// Gap draws the penalised gap divided by the optimum. Fig. 2 also omits this gap.
func (f Figure2) Gap() plotting.Figure {
	g := f.positive("penalised gap / optimum", f.gap)
	g.Y.Log = true
	return g
}

func (f Figure2) positive(label string, c race.Curve) plotting.Figure {
	return figure2("", label, bandLine("Algorithm 1", f.PrimalDual.BandOf(race.Iterations, c, interval), 0),
		bandLine("penalty", f.Penalty.BandOf(race.Iterations, c, interval), 0))
}

func figure2(title, label string, layers ...plotting.Layer) plotting.Figure {
	return plotting.Figure{Title: title, X: plotting.Axis{Label: "iteration t", Log: true}, Y: plotting.Axis{Label: label}, Layers: layers}
}

// Figure2 runs the trials of Fig. 2 under the protocol.
func (c Protocol) Figure2(ctx context.Context) (Figure2, error) { return compare(ctx, c, c) }

// Figure2 runs the trials of Fig. 2. For each method, it uses the parameters that tuning by the penalised gap chose.
func (k *Contest) Figure2(ctx context.Context) (Figure2, error) {
	return compare(ctx, k.tuned(k.Tuned.PrimalDual), k.tuned(k.Tuned.Penalty))
}

func (k *Contest) tuned(s Score) Protocol { return k.Protocol.with(s.Eta, s.Weight) }

func compare(ctx context.Context, primalDual, penalty Protocol) (f Figure2, err error) {
	defer catch(&err)
	f.PrimalDual = must(primalDual.Run(ctx, primalDual.PrimalDual()))
	f.Penalty = must(penalty.Run(ctx, penalty.Penalty()))
	p := must(QueueProblem(mixpolicy.Ball(primalDual.Radius)))
	f.Optimum, f.gap = must(p.Optimum(ctx)).Objective, must(RelativeGap(p))
	return f, nil
}

// MeanRelativeGap runs trials of a method on the queue, with the given class. It returns the mean of [RelativeGap] over
// the answers of the trials, with a 95 % interval.
func MeanRelativeGap(ctx context.Context, class mixpolicy.Class, m mixpolicy.Method, iterations, trials int) (v race.Interval, err error) {
	defer catch(&err)
	p := must(QueueProblem(class))
	return race.TInterval(final(ctx, p, m, trials, iterations, 1, must(RelativeGap(p))), confidence), nil
}

// RelativeGap returns the curve of [race.PenalisedGap] divided by the optimum.
func RelativeGap(p *mixpolicy.Problem) (c race.Curve, err error) {
	defer catch(&err)
	gap, best := must(race.PenalisedGap(p)), must(p.Optimum(context.Background()))
	return func(l *race.Observation) float64 { return gap(l) / best.Objective }, nil
}

// ReadmeFigure is the picture of the README. It shows the problem (2.18) on the queue of section 6, and the results of
// three methods: Algorithm 1 and the penalty method, tuned with equal budgets, and plug-in, which is not tuned. The
// argument progress may be nil.
func ReadmeFigure(ctx context.Context, progress func(name string, done, total int)) (figure plotting.Panels, err error) {
	defer catch(&err)
	p := must(QueueProblem(mixpolicy.Ball(Working().Radius)))
	best, least := must(p.Optimum(ctx)), must(p.Solve(ctx, []float64{1, 0}))
	line := plotting.Graph("cost cᵀΨθ", []float64{-0.2, 1.4}, func(t float64) float64 { return p.Objective([]float64{t, 1 - t}) })
	problem := plotting.Figure{Title: "The best mixture of two policies gives one a negative weight",
		X: plotting.Axis{Label: "θ₁ (θ₂ = 1 − θ₁)"}, Y: plotting.Axis{Label: "average cost"}, Layers: []plotting.Layer{
			plotting.Span{Label: "Ψθ is a measure", From: least.Theta[0], To: best.Theta[0], Vertical: true}, line,
			plotting.Points{Name: "π¹ and π² alone", X: []float64{1, 0}, Y: p.BaseCosts()},
			plotting.Points{Name: "best mixture", X: best.Theta[:1], Y: []float64{best.Objective}},
			plotting.Rule{Label: "best policy of all",
				At: must(mixpolicy.PolicyIteration(ctx, p.MDP(), mixpolicy.ValuationSettings{})).Cost()}}}

	k, gap := must(Working().Contest(ctx, progress)), must(RelativeGap(p))
	learn := func(name string, m mixpolicy.Method) plotting.Line {
		return BandLine(name, must(race.Trials(ctx, p, m, race.Settings{
			Trials: 20, Iterations: k.Protocol.Iterations, Seed: k.Protocol.Seed, Schedule: mixpolicy.LogSpaced(8)})), gap)
	}
	runs := plotting.Figure{Title: "Plug-in learns the best mixture from a few sampled costs",
		X: plotting.Axis{Label: "queries to the oracle", Log: true}, Y: plotting.Axis{Label: "penalised gap / optimum", Min: 0, Max: 1.5},
	}.With(learn("Algorithm 1", k.tuned(k.Tuned.PrimalDual).PrimalDual()), learn("penalty", k.tuned(k.Tuned.Penalty).Penalty()),
		learn("plug-in", mixpolicy.PlugIn{}))
	return plotting.Row(problem, runs), nil
}

// BandLine draws the mean of a curve over trials, with a 95 % interval. The line omits iteration 0, so that the line
// fits a logarithmic axis.
func BandLine(name string, runs *race.Runs, c race.Curve) plotting.Line {
	return bandLine(name, runs.Band(race.Iterations, c, confidence), 0)
}

// Sweep draws a mean and its interval at each x. The band is cut off below a tenth of the mean, so that the band fits a
// logarithmic axis.
func Sweep(name string, x []float64, at func(x float64) race.Interval) plotting.Line {
	line := plotting.Line{Name: name, X: x}
	for _, v := range x {
		iv := at(v)
		line.Y, line.Hi = append(line.Y, iv.Mean), append(line.Hi, iv.Hi)
		line.Lo = append(line.Lo, max(iv.Lo, iv.Mean/10))
		line.Interval = meanBand(iv.Confidence, iv.N)
	}
	return line
}

// bandLine draws a band from the given number of iterations or queries on, without the row at 0.
func bandLine(name string, b race.Band, from float64) plotting.Line {
	return line(name, slices.DeleteFunc(b.Rows(race.Row{}), func(row race.Row) bool { return row.At == 0 || row.At < from }))
}

// line draws rows against At, with intervals if the rows come from trials.
func line(name string, rows race.Record) (l plotting.Line) {
	l.Name = name
	if l.X, l.Y, l.Lo, l.Hi = rows.Columns(); l.Lo != nil {
		l.Interval = meanBand(confidence, rows[0].Trials)
	}
	return l
}

func meanBand(confidence float64, runs int) string {
	return fmt.Sprintf("band: %.0f %% interval of the mean, %d runs", 100*confidence, runs)
}

// Plot draws a histogram of visits, as the paper does, and the exact measure as a line over the histogram.
func (f Figure1) Plot(title string) plotting.Figure {
	n := len(f.Exact.State)
	x := floats.Span(make([]float64, n), 1, float64(n))
	return plotting.Figure{Title: title, X: plotting.Axis{Label: "queue length s"}, Y: plotting.Axis{Label: "probability μ(s)"},
		Layers: []plotting.Layer{plotting.Bars{Name: "visits", X: x, Height: f.Simulated.State},
			plotting.Line{Name: "exact", X: x, Y: f.Exact.State}}}
}
