package paper

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Protocol is a way to run the comparison of section 6. The paper states R = 100,
// η = 1/T = 0.001, T = 1000 and 20 trials; θ₀, β, the penalty weight and any scaling
// of the costs are left open.
type Protocol struct {
	Name       string
	Radius     float64 // R of the Euclidean ball
	Iterations int     // T
	Trials     int
	StepSize   mixpolicy.StepSize
	CostScale  float64 // divides the costs
	Weight     float64 // ω of the penalty method
	Form       mixpolicy.Form
	Seed       uint64
}

// AsPrinted is the protocol of section 6 word for word, with the simplest choice of what it
// leaves open: θ₀ = (½, ½), costs that are not scaled, ω = 1, no ball for λ (at γ = 1 its
// radius 1/(1−γ) is infinite).
func AsPrinted(form mixpolicy.Form) Protocol {
	name := "as printed"
	if form == mixpolicy.Corrected {
		name = "as printed, with the corrected algorithm"
	}
	return Protocol{
		Name: name, Radius: 100, Iterations: 1000, Trials: 20,
		StepSize: mixpolicy.Constant(0.001), CostScale: 1, Weight: 1, Form: form, Seed: 1,
	}
}

// Working is a protocol under which both methods converge: costs divided by c_max, the step size
// 1/√(t+1) of Proposition 3.1, a radius just large enough for the optimum, the corrected
// algorithm, and enough iterations.
func Working() Protocol {
	return Protocol{
		Name: "working", Radius: 2, Iterations: 100_000, Trials: 20,
		StepSize: mixpolicy.InverseSqrt(1), CostScale: cMax, Weight: 1, Seed: 1,
	}
}

// PrimalDual returns Algorithm 1 under the protocol.
func (c Protocol) PrimalDual() mixpolicy.Method {
	return mixpolicy.PrimalDual{StepSize: c.StepSize, CostScale: c.CostScale, Form: c.Form}
}

// Penalty returns the penalty method under the protocol.
func (c Protocol) Penalty() mixpolicy.Method {
	return mixpolicy.Penalty{StepSize: c.StepSize, CostScale: c.CostScale, Weight: c.Weight}
}

// Run makes the trials of a method on the queue.
func (c Protocol) Run(ctx context.Context, m mixpolicy.Method) (*race.Runs, error) {
	p, err := QueueProblem(mixpolicy.Ball(c.Radius))
	if err != nil {
		return nil, err
	}
	t, err := race.Trials(ctx, p, m, race.Settings{
		Trials: c.Trials, Iterations: c.Iterations, Seed: c.Seed, Valued: race.ValuedEnd,
	})
	if err != nil {
		return t, fault.At("paper", fmt.Sprintf("protocol %q", c.Name), err)
	}
	return t, nil
}

// ReadingResult has the exact numbers of the experiment of section 6 under one reading of the
// transition law (6.1).
type ReadingResult struct {
	Reading      models.Reading
	BaseCosts    []float64 // cᵀψ¹, cᵀψ²
	Lo, Hi       float64   // Ψθ ⪰ 0 on 1ᵀθ = 1 if and only if Lo ≤ θ₁ ≤ Hi
	Optimum      float64   // of (2.18) with R = 100
	Theta        []float64 // its θ
	BestPossible float64   // least average cost of any policy of the MDP
}

// CompareReadings computes the experiment's exact numbers under every reading of
// (6.1) that gives a Markov decision process.
func CompareReadings(ctx context.Context) ([]ReadingResult, error) {
	var out []ReadingResult
	for _, r := range models.Readings() {
		res, err := compareReading(ctx, r)
		if err != nil {
			return out, fault.At("paper", fmt.Sprintf("reading %q", r), err)
		}
		out = append(out, res)
	}
	return out, nil
}

func compareReading(ctx context.Context, r models.Reading) (res ReadingResult, err error) {
	defer catch(&err)
	q := models.Queue{Reading: r}
	x := must(q.MDP())
	p := must(mixtureProblem(x, mixpolicy.Ball(100), must(q.Policies(x))...))
	best, v := must(p.Optimum(ctx)), must(mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{}))
	// The ends of the feasible interval are the optima of two linear programs.
	lo, hi := must(p.Solve(ctx, []float64{1, 0})), must(p.Solve(ctx, []float64{-1, 0}))
	return ReadingResult{
		Reading: r, BaseCosts: p.BaseCosts(), Lo: lo.Theta[0], Hi: hi.Theta[0],
		Optimum: best.Objective, Theta: best.Theta, BestPossible: v.Cost(),
	}, nil
}

// Figure1Steps is the number of epochs that the paper simulates for Fig. 1.
const Figure1Steps = 50_000_000

// Figure1 is the stationary measure of one base policy, computed in three ways. Fig. 1 shows it
// for π¹ (left) and π² (right).
type Figure1 struct {
	Exact     *mixpolicy.Measure   // by elimination
	Iterated  *mixpolicy.Measure   // by sweeps
	Simulated *mixpolicy.Empirical // by counting visits
}

// IterationError is ‖μ_iterated − μ_exact‖₁.
func (f Figure1) IterationError() float64 { return sum.Diff1(f.Iterated.State, f.Exact.State) }

// SimulationError is ‖μ_simulated − μ_exact‖₁.
func (f Figure1) SimulationError() float64 { return sum.Diff1(f.Simulated.State, f.Exact.State) }

// WorstZ is the greatest error of the simulation over all states, in its standard errors. The
// greatest size of 100 independent standard normal variables is below 4.2 with probability 99.7 %.
func (f Figure1) WorstZ() float64 {
	worst := 0.0
	for s, mu := range f.Exact.State {
		if e := f.Simulated.StateError[s]; e > 0 {
			worst = max(worst, math.Abs(f.Simulated.State[s]-mu)/e)
		}
	}
	return worst
}

// ComputeFigure1 computes Fig. 1 for both base policies, with the given number of
// simulated steps for each ([Figure1Steps] in the paper).
func ComputeFigure1(ctx context.Context, steps int, seed uint64) (figures []Figure1, err error) {
	defer catch(&err)
	x, base := queueModel()
	for i, p := range base {
		figures = append(figures, Figure1{
			Exact:     must(mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Elimination})),
			Iterated:  must(mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel})),
			Simulated: must(mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: steps, Seed: seed + uint64(i)})),
		})
	}
	return figures, nil
}

// projectByBarrier stores in dst the Euclidean projection of y onto {1ᵀθ = 1, ‖θ‖₂ ≤ R} by
// a general interior-point method, as a convex solver would: Newton's method for
//
//	min t·½‖θ − y‖² − log(R² − ‖θ‖²)  subject to  1ᵀθ = 1,
//
// where the KKT system keeps the equality, for t = 1, 10, …, 10¹². The barrier has the
// parameter 1, so that ½‖θ − y‖² is within 1/t of its minimum. It takes the place of the CVX
// call of section 6; the closed form is linprog.Norm.Project.
func projectByBarrier(dst, y []float64, r float64) error {
	d := len(y)
	if r*r*float64(d) <= 1 {
		return fmt.Errorf("paper: ball of radius %v misses the hyperplane 1ᵀθ = 1 for d = %d", r, d)
	}
	for j := range dst {
		dst[j] = 1 / float64(d)
	}
	kkt := mat.NewDense(d+1, d+1, nil)
	rhs, step := mat.NewVecDense(d+1, nil), mat.NewVecDense(d+1, nil)
	var lu mat.LU
	trial := make([]float64, d)
	value := func(x []float64, t float64) float64 {
		gap := r*r - floats.Dot(x, x)
		if gap <= 0 {
			return math.Inf(1)
		}
		dist := floats.Distance(x, y, 2)
		return t*dist*dist/2 - math.Log(gap)
	}
	for t := 1.0; t <= 1e12; t *= 10 {
		for range 50 { // self-concordant: some ten steps are enough from the last t
			gap := r*r - floats.Dot(dst, dst)
			kkt.Zero()
			for i, xi := range dst {
				rhs.SetVec(i, -(t*(xi-y[i]) + 2*xi/gap))
				for j, xj := range dst {
					kkt.Set(i, j, 4*xi*xj/(gap*gap))
				}
				kkt.Set(i, i, kkt.At(i, i)+t+2/gap)
				kkt.Set(i, d, 1)
				kkt.Set(d, i, 1)
			}
			rhs.SetVec(d, 0)
			lu.Factorize(kkt)
			if err := lu.SolveVecTo(step, false, rhs); err != nil {
				if _, poor := err.(mat.Condition); !poor {
					return fmt.Errorf("paper: barrier at t = %g: %w", t, err)
				}
			}
			var decrement float64
			for i := range dst {
				decrement += rhs.AtVec(i) * step.AtVec(i)
			}
			if decrement < 1e-12 {
				break
			}
			now, length := value(dst, t), 1.0
			for {
				for i := range trial {
					trial[i] = dst[i] + length*step.AtVec(i)
				}
				if value(trial, t) <= now-0.1*length*decrement || length < 1e-10 {
					break
				}
				length /= 2
			}
			copy(dst, trial)
		}
	}
	return nil
}

// StepCost is the time of one iteration on this machine, in nanoseconds. On other machines only
// the ratios are comparable.
type StepCost struct {
	PrimalDual        float64 // Algorithm 1
	Penalty           float64 // with the closed-form projection
	PenaltyByBarrier  float64 // with [projectByBarrier] in its place
	Projection        float64 // the closed form alone
	BarrierProjection float64
}

// MeasureStepCost times both methods on the queue of section 6.
func MeasureStepCost() (c StepCost, err error) {
	defer catch(&err)
	protocol := Working()
	p := must(QueueProblem(mixpolicy.Ball(protocol.Radius)))
	step := func(m mixpolicy.Method) float64 {
		run := must(m.Start(p, must(mixpolicy.NewOracle(p, 1, 0))))
		return leastTime(20_000, func() { noError(run.Step()) })
	}
	c.PrimalDual, c.Penalty = step(protocol.PrimalDual()), step(protocol.Penalty())
	theta, y := make([]float64, 2), []float64{1.9, -0.7}
	class := p.Class()
	c.Projection = leastTime(100_000, func() { noError(class.Norm.Project(theta, y, class.R)) })
	c.BarrierProjection = leastTime(200, func() { noError(projectByBarrier(theta, y, class.R)) })
	c.PenaltyByBarrier = c.Penalty - c.Projection + c.BarrierProjection
	return c, nil
}

// leastTime returns the least time of a call in nanoseconds, over a thousand batches that are too short for
// other work to interrupt each of them.
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

// lawError compares every reading with its description, for another arrival probability, and the
// rows of the process with it.
func lawError() (worst float64) {
	const rho = 0.3
	for _, r := range models.Readings() {
		q := models.Queue{Buffer: 5, Arrival: rho, Reading: r, Rates: []float64{0.1, 0.4, 0.65, 0.9}}
		if r == models.SlowArrivals {
			q.Rates[3] = 0.7 // up and down must not exceed 1
		}
		x := must(q.MDP())
		for a, rate := range q.Rates {
			up, down := rho, rate
			switch r {
			case models.Uniformised: // the next event of a clock that ticks at the rate of all events
				up, down = rho/1.2, rate/1.2
			case models.Independent: // one of two events, and not the other
				up, down = rho-rho*rate, rate-rho*rate
			case models.ArrivalFirst:
				if down > 0.7 {
					down = 0.7
				}
			case models.DepartureFirst:
				if up > 1-rate {
					up = 1 - rate
				}
			case models.Renormalised:
				if total := rho + rate; total > 1 {
					up, down = rho/total, rate/total
				}
			}
			l := must(q.Law(a))
			worst = max(worst, relativeError(l.Up, up), relativeError(l.Down, down), math.Abs(l.Up+l.Stay+l.Down-1))
			for s := range 5 {
				want, got := make([]float64, 5), make([]float64, 5)
				want[min(4, s+1)] += up
				want[max(0, s-1)] += down
				want[s] += 1 - up - down
				to, p := x.Next(s, a)
				for k, s2 := range to {
					got[s2] = p[k]
				}
				worst = max(worst, relativeVectorError(got, want))
			}
		}
	}
	return worst
}

func checkTransitionLaw(context.Context) Finding {
	const arrival = 0.5
	rates := []float64{0.2, 0.4, 0.6, 0.8}
	_, refused := models.Queue{Reading: models.Literal, Arrival: arrival, Rates: rates}.MDP()
	if refused == nil {
		noError(fmt.Errorf("paper: the literal reading of (6.1) was accepted"))
	}
	x := must(models.Queue{Arrival: arrival, Rates: rates}.MDP())
	var worst float64
	for s := range x.States() {
		for a := range x.Actions() {
			_, p := x.Next(s, a)
			worst = max(worst, math.Abs(floats.Sum(p)-1))
		}
	}
	printed := arrival + floats.Max(rates) - 1
	return holdsCorrected(printed, max(worst, lawError()),
		"up 0.5 and down 0.8 add up to 1.3; the uniformised chain has rows that add up to 1 and the same measures under (6.3)")
}

func checkQueueCost(context.Context) Finding {
	x := must(models.Queue{}.MDP())
	var worst float64
	for s := range 100 {
		for a, rate := range []float64{0.2, 0.4, 0.6, 0.8} {
			worst = max(worst, relativeError(x.Cost(s, a), sq(float64(s+1))+60*rate*rate*rate))
		}
	}
	own := must(models.Queue{Cost: func(length int, rate float64) float64 { return float64(length) - rate }}.MDP())
	worst = max(worst, relativeError(own.Cost(6, 1), 7-0.4))
	return holds(worst, "at all 400 pairs; the greatest is %.2f", x.Cost(99, 3))
}

func checkBasePolicies(context.Context) Finding {
	_, base := queueModel()
	var worst float64
	for k, want := range [][]float64{{.25, .25, .25, .25}, {.3, .3, .2, .2}} {
		for s := range 100 {
			worst = max(worst, relativeVectorError(base[k].Row(s), want))
		}
	}
	return holds(worst, "the same in every state")
}

// worstVisits returns the greatest error of the frequencies of 2·10⁶ visits, in standard errors.
// States with fewer than 100 visits are left out, as their error is not normal.
func worstVisits(ctx context.Context, x *mixpolicy.MDP, p *mixpolicy.Policy) (worst float64) {
	q := must(x.Occupation(ctx, p))
	e := must(mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: 2_000_000, Seed: 1}))
	for s, mu := range q.State {
		if mu*2e6 > 100 && e.StateError[s] > 0 {
			worst = max(worst, math.Abs(e.State[s]-mu)/e.StateError[s])
		}
	}
	if e.Steps != 2_000_000 {
		worst = math.Inf(1)
	}
	return worst
}

func checkVisits(ctx context.Context) Finding {
	x, base := queueModel()
	worst := max(worstVisits(ctx, x, base[0]), worstVisits(ctx, x, base[1]))
	// The probability that one of 200 standard normal variables is larger than 6 in size is 4·10⁻⁷.
	return holds(excess(worst, 6), "2·10⁶ steps: frequencies within %.1f standard errors of the exact measures, uniform and geometric",
		worst)
}

// checkProtocol: under the stated protocol θ̂ is far outside of the feasible set, and cᵀΨθ̂
// is not the cost of its policy; under the working one it is.
func checkProtocol(ctx context.Context) Finding {
	costs := func(c Protocol, eta float64) (objective, policy float64) {
		c.Trials = 4
		c.StepSize = mixpolicy.InverseSqrt(eta)
		if c.CostScale == 1 {
			c.StepSize = mixpolicy.Constant(eta)
		}
		t := must(c.Run(ctx, c.PrimalDual()))
		return stat.Mean(t.Final(race.Cost), nil), stat.Mean(t.Final(race.PolicyCost), nil)
	}
	literal, true1 := costs(AsPrinted(mixpolicy.Corrected), 0.001)
	working, true2 := costs(Working(), 64)
	// The tolerance is one per cent of the cost.
	return holdsCorrected(relativeError(literal, true1), relativeError(working, true2),
		"section 6 word for word: cᵀΨθ̂ = %.4g, and the policy costs %.4g; "+
			"scaled costs, R = 2, η = 64/√(t+1), T = 10⁵: %.5g and %.5g", literal, true1, working, true2).within(0.01)
}
