package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Contest is the comparison of section 6 between Algorithm 1 and the penalty method
// on the queue: equal samples, equal budgets of tuning, fresh seeds for the result.
type Contest struct {
	Protocol Protocol
	// AsGiven are the methods with the parameters of the protocol.
	AsGiven Pair
	// Tuned are the best of the same number of configurations each, chosen by the mean
	// merit over tuning trials whose seed is not used again.
	Tuned          Pair
	Configurations int
	TuningTrials   int
}

// Pair is the two rivals.
type Pair struct{ PrimalDual, Penalty Score }

// Score is what the trials of one method came to; an entry per trial.
type Score struct {
	Method string
	Eta    float64 // η₀ of the step size
	Weight float64 // ω of the penalty method

	Objective  []float64 // cᵀΨθ̂, which is a cost only if Ψθ̂ ⪰ 0
	Mass       []float64 // ‖[Ψθ̂]₋‖₁
	PolicyCost []float64 // true cost of π^θ̂
	// Merit is how far an answer is from the optimum, feasible or not: the exact penalty
	// of [mixpolicy.Problem.Merit].
	Merit []float64
	Theta [][]float64 // θ̂
}

// ContestSettings say how much work a [Contest] is.
type ContestSettings struct {
	Trials, TuningTrials int
	// Etas are the η₀ tried by Algorithm 1, whose one parameter it is.
	Etas []float64
	// PenaltyEtas × Weights is the grid of the penalty method. It must have as many
	// points as Etas.
	PenaltyEtas, Weights []float64
}

// DefaultContest gives both methods 16 configurations: η₀ in 16 powers for Algorithm 1,
// η₀ × ω in 4 × 4 powers of 4 for the penalty method, about where each does best.
func DefaultContest(c Protocol) ContestSettings {
	set := ContestSettings{Trials: 40, TuningTrials: 4}
	if c.CostScale == 0 { // raw costs: λ* ≈ 2·10⁵, and gradients in units of 10⁴
		set.Etas = powers(0x1p-34, 4, 16)
		set.PenaltyEtas, set.Weights = powers(0x1p-22, 4, 4), powers(cMax, 4, 4)
		return set
	}
	set.Etas = powers(0x1p-4, 2, 16)
	set.PenaltyEtas, set.Weights = powers(0x1p-6, 4, 4), powers(2, 4, 4)
	return set
}

// powers returns first, first·factor, …, n of them.
func powers(first, factor float64, n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = first
		first *= factor
	}
	return x
}

// Contest runs the comparison under the protocol. The schedule of a tuned method is the
// protocol's times a constant.
func (c Protocol) Contest(ctx context.Context, set ContestSettings) (*Contest, error) {
	if len(set.Etas) != len(set.PenaltyEtas)*len(set.Weights) {
		return nil, fmt.Errorf("paper: %d configurations of Algorithm 1 and %d of the penalty method, want as many", len(set.Etas), len(set.PenaltyEtas)*len(set.Weights))
	}
	p, err := QueueProblem(mixpolicy.Ball(c.Radius))
	if err != nil {
		return nil, err
	}
	r := &referee{ctx: ctx, p: p, protocol: c}
	k := &Contest{Protocol: c, Configurations: len(set.Etas), TuningTrials: set.TuningTrials}
	unit := c.StepSize.At(0)
	k.AsGiven.PrimalDual = r.score(set.Trials, c.Seed, unit, 0)
	k.AsGiven.Penalty = r.score(set.Trials, c.Seed, unit, c.Weight)

	var best, rival Score
	for _, eta := range set.Etas {
		best = better(best, r.score(set.TuningTrials, c.Seed+1, eta, 0))
	}
	for _, eta := range set.PenaltyEtas {
		for _, w := range set.Weights {
			rival = better(rival, r.score(set.TuningTrials, c.Seed+1, eta, w))
		}
	}
	k.Tuned.PrimalDual = r.score(set.Trials, c.Seed, best.Eta, 0)
	k.Tuned.Penalty = r.score(set.Trials, c.Seed, rival.Eta, rival.Weight)
	return k, r.err
}

// better returns the score of lesser mean merit.
func better(a, b Score) Score {
	if a.Merit == nil || b.Merit != nil && stat.Mean(b.Merit, nil) < stat.Mean(a.Merit, nil) {
		return b
	}
	return a
}

// referee runs trials of either method on one problem; it keeps the first error.
type referee struct {
	ctx      context.Context
	p        *mixpolicy.Problem
	protocol Protocol
	err      error
}

// score runs the penalty method of the given weight, or Algorithm 1 if it is 0.
func (r *referee) score(trials int, seed uint64, eta, weight float64) Score {
	if r.err != nil {
		return Score{}
	}
	c := r.protocol
	c.StepSize = mixpolicy.Scaled{By: eta / c.StepSize.At(0), Of: c.StepSize}
	c.Weight = weight
	method := c.Penalty()
	if weight == 0 {
		method = c.PrimalDual()
	}
	t, err := mixpolicy.RunTrials(r.ctx, r.p, method, mixpolicy.TrialSettings{
		Trials: trials, Iterations: c.Iterations, Seed: seed, Certify: true,
		Schedule: mixpolicy.Every(c.Iterations),
	})
	if err != nil {
		r.err = fmt.Errorf("paper: protocol %q: %w", c.Name, err)
		return Score{}
	}
	s := Score{Method: t.Method, Eta: eta, Weight: weight}
	for _, q := range t.Results {
		s.Objective = append(s.Objective, q.Objective)
		s.Mass = append(s.Mass, q.NegativeMass)
		s.PolicyCost = append(s.PolicyCost, q.PolicyCost)
		s.Merit = append(s.Merit, q.Merit)
		s.Theta = append(s.Theta, q.Theta)
	}
	return s
}

// confidence of all intervals, the paper's.
const confidence = 0.95

// Difference returns Welch's interval of mean(x) − mean(y): t with the degrees of freedom
// of Welch and Satterthwaite.
func Difference(x, y []float64) mixpolicy.Interval {
	mx, sx := stat.MeanStdDev(x, nil)
	my, sy := stat.MeanStdDev(y, nil)
	vx, vy := sx*sx/float64(len(x)), sy*sy/float64(len(y))
	iv := mixpolicy.Interval{Mean: mx - my, Lo: mx - my, Hi: mx - my, Std: math.Hypot(sx, sy), Confidence: confidence, N: len(x)}
	if vx+vy == 0 {
		return iv
	}
	nu := (vx + vy) * (vx + vy) / (vx*vx/float64(len(x)-1) + vy*vy/float64(len(y)-1))
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile((1+confidence)/2) * math.Sqrt(vx+vy)
	iv.Lo, iv.Hi = iv.Lo-half, iv.Hi+half
	return iv
}

// SpreadRatio returns std(x)/std(y) with the percentile interval of 1,999 bootstrap
// resamples of both samples, drawn with PCG(seed, 0). The F interval would need normal
// data.
func SpreadRatio(x, y []float64, seed uint64) mixpolicy.Interval {
	const resamples = 1999
	rng := rand.New(rand.NewPCG(seed, 0))
	deviation := func(v []float64) float64 {
		w := make([]float64, len(v))
		for i := range w {
			w[i] = v[rng.IntN(len(v))]
		}
		return stat.StdDev(w, nil)
	}
	ratios := make([]float64, resamples)
	for k := range ratios {
		ratios[k] = deviation(x) / deviation(y)
	}
	slices.Sort(ratios)
	return mixpolicy.Interval{
		Mean:       stat.StdDev(x, nil) / stat.StdDev(y, nil),
		Lo:         stat.Quantile((1-confidence)/2, stat.Empirical, ratios, nil),
		Hi:         stat.Quantile((1+confidence)/2, stat.Empirical, ratios, nil),
		Confidence: confidence, N: len(x),
	}
}

// less decides "smaller than bound" by an interval.
func less(iv mixpolicy.Interval, bound float64) Verdict {
	switch {
	case iv.Hi < bound:
		return Holds
	case iv.Lo > bound:
		return Fails
	}
	return Undecided
}
