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
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Protocol is a way to run the comparison of section 6. The paper states R = 100,
// η = 1/T = 0.001, T = 1000 and 20 trials; θ₀, β, the penalty weight and any scaling
// of the costs are left open.
type Protocol struct {
	Name               string
	Radius             float64 // R of the Euclidean ball
	Iterations, Trials int     // T, and how many
	StepSize           mixpolicy.StepSize
	CostScale          float64 // divides the costs
	Weight             float64 // ω of the penalty method
	Form               mixpolicy.Form
	Seed               uint64
}

// AsPrinted is the protocol of section 6 word for word, with the simplest choice of what it
// leaves open: θ₀ = (½, ½), costs that are not scaled, ω = 1, no ball for λ (at γ = 1 its
// radius 1/(1−γ) is infinite).
func AsPrinted(form mixpolicy.Form) Protocol {
	return Protocol{Name: fmt.Sprintf("as printed, the %v algorithm", form), Radius: 100, Iterations: 1000, Trials: 20,
		StepSize: mixpolicy.Constant(0.001), CostScale: 1, Weight: 1, Form: form, Seed: 1}
}

// Working is a protocol under which both methods converge: costs divided by c_max, the step size
// 1/√(t+1) of Proposition 3.1, a radius just large enough for the optimum, the corrected
// algorithm, and enough iterations.
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

// Run makes the trials of a method on the queue.
func (c Protocol) Run(ctx context.Context, m mixpolicy.Method) (_ *race.Runs, err error) {
	defer at(fmt.Sprintf("protocol %q", c.Name), &err)
	defer catch(&err)
	return race.Trials(ctx, must(QueueProblem(mixpolicy.Ball(c.Radius))), m,
		race.Settings{Trials: c.Trials, Iterations: c.Iterations, Seed: c.Seed, Valued: race.ValuedEnd})
}

// ReadingResult has the exact numbers of the experiment of section 6 under one reading of the
// transition law (6.1).
type ReadingResult struct {
	Reading               models.Reading
	BaseCosts             []float64 // cᵀψ¹, cᵀψ²
	Lo, Hi                float64   // Ψθ ⪰ 0 on 1ᵀθ = 1 if and only if Lo ≤ θ₁ ≤ Hi
	Optimum, BestPossible float64   // of (2.18) with R = 100, and the least average cost of any policy of the MDP
	Theta                 []float64 // of the optimum
}

// CompareReadings computes the experiment's exact numbers under every reading of
// (6.1) that gives a Markov decision process.
func CompareReadings(ctx context.Context) (all []ReadingResult, err error) {
	defer catch(&err)
	for _, r := range models.Readings() {
		q := models.Queue{Reading: r}
		x := must(q.MDP())
		p := mixtureProblem(x, mixpolicy.Ball(100), must(q.Policies(x))...)
		best, v := must(p.Optimum(ctx)), must(mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{}))
		// The ends of the feasible interval are the optima of two linear programs.
		lo, hi := must(p.Solve(ctx, []float64{1, 0})), must(p.Solve(ctx, []float64{-1, 0}))
		all = append(all, ReadingResult{Reading: r, BaseCosts: p.BaseCosts(), Lo: lo.Theta[0], Hi: hi.Theta[0],
			Optimum: best.Objective, Theta: best.Theta, BestPossible: v.Cost()})
	}
	return all, nil
}

// Figure1Steps is the number of epochs that the paper simulates for Fig. 1.
const Figure1Steps = 50_000_000

// Figure1 is the stationary measure of one base policy, computed in three ways. Fig. 1 shows it
// for π¹ (left) and π² (right).
type Figure1 struct {
	Exact, Iterated *mixpolicy.Measure   // by elimination, and by sweeps
	Simulated       *mixpolicy.Empirical // by counting visits
}

// IterationError is ‖μ_iterated − μ_exact‖₁.
func (f Figure1) IterationError() float64 { return sum.Diff1(f.Iterated.State, f.Exact.State) }

// SimulationError is ‖μ_simulated − μ_exact‖₁.
func (f Figure1) SimulationError() float64 { return sum.Diff1(f.Simulated.State, f.Exact.State) }

// WorstZ is the greatest error of the simulation over all states, in its standard errors. The
// greatest size of 100 independent standard normal variables is below 4.2 with probability 99.7 %.
func (f Figure1) WorstZ() float64 { return worstZ(f.Exact, f.Simulated, 0) }

// worstZ leaves out states with at most so many visits, as their error is not normal.
func worstZ(exact *mixpolicy.Measure, e *mixpolicy.Empirical, visits float64) (worst float64) {
	for s, mu := range exact.State {
		if mu*float64(e.Steps) > visits && e.StateError[s] > 0 {
			worst = max(worst, math.Abs(e.State[s]-mu)/e.StateError[s])
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
			Simulated: must(mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: steps, Seed: seed + uint64(i)}))})
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
	copy(dst, uniform(d))
	kkt, rhs, step := mat.NewDense(d+1, d+1, nil), mat.NewVecDense(d+1, nil), mat.NewVecDense(d+1, nil)
	var lu mat.LU
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
			lu.Factorize(kkt)
			if err := lu.SolveVecTo(step, false, rhs); err != nil {
				if _, poor := err.(mat.Condition); !poor {
					return fmt.Errorf("paper: barrier at t = %g: %w", t, err)
				}
			}
			decrement := mat.Dot(rhs, step)
			if decrement < 1e-12 {
				break
			}
			length := 1.0
			if decrement > 1./16 { // in the domain, and down by a constant
				length = 1 / (1 + math.Sqrt(decrement))
			}
			floats.AddScaled(dst, length, step.RawVector().Data[:d])
		}
	}
	return nil
}

// StepCost is the time of one iteration on this machine, in nanoseconds. On other machines only
// the ratios are comparable.
type StepCost struct {
	PrimalDual                float64 // Algorithm 1
	Penalty, PenaltyByBarrier float64 // with the closed-form projection, and with [projectByBarrier] in its place
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
	theta, y, class := make([]float64, 2), []float64{1.9, -0.7}, p.Class()
	closed := leastTime(100_000, func() { noError(class.Norm.Project(theta, y, class.R)) })
	c.PenaltyByBarrier = c.Penalty - closed + leastTime(200, func() { noError(projectByBarrier(theta, y, class.R)) })
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

func checkTransitionLaw(context.Context) Finding {
	const arrival = 0.5
	rates, worst := []float64{0.2, 0.4, 0.6, 0.8}, 0.0
	x := must(models.Queue{Arrival: arrival, Rates: rates}.MDP())
	for i := range x.Pairs() {
		_, p := x.Next(x.StateAction(i))
		worst = max(worst, math.Abs(floats.Sum(p)-1))
	}
	return holdsCorrected(arrival+floats.Max(rates)-1, worst,
		"up 0.5 and down 0.8 add up to 1.3; the uniformised chain has rows that add up to 1 and the same measures under (6.3)")
}

func checkQueueCost(context.Context) Finding {
	x, worst := must(models.Queue{}.MDP()), 0.0
	for s := range 100 {
		for a, rate := range []float64{0.2, 0.4, 0.6, 0.8} {
			worst = max(worst, relativeError(x.Cost(s, a), sq(float64(s+1))+60*rate*rate*rate))
		}
	}
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

func checkVisits(ctx context.Context) Finding {
	x, base := queueModel()
	worst := worstOf(base, func(p *mixpolicy.Policy) float64 {
		e := must(mixpolicy.Simulate(ctx, x, p, mixpolicy.SimulateSettings{Steps: 2_000_000, Seed: 1}))
		return worstZ(must(x.Occupation(ctx, p)), e, 100)
	})
	// The probability that one of 200 standard normal variables is larger than 6 in size is 4·10⁻⁷.
	return holds(excess(worst, 6), "2·10⁶ steps: frequencies within %.1f standard errors of the exact measures, uniform and geometric",
		worst)
}

// checkProtocol: under the stated protocol θ̂ is far outside of the feasible set, and cᵀΨθ̂
// is not the cost of its policy; under the working one it is.
func checkProtocol(ctx context.Context) Finding {
	costs := func(c Protocol, eta float64) (objective, policy float64) {
		c = c.with(eta, 0)
		c.Trials = 4
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
