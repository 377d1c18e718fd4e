package mixpolicy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/reduction"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"gonum.org/v1/gonum/floats"
)

// Valuation is a value function, its policy, and an interval that provably contains the
// cost.
//
// Under discounting, the cost is (1−γ)αᵀv = cᵀξ, in the unit of the cost of one step; under
// average cost, it is the average cost g per step.
type Valuation struct {
	// Value is v(s) = E Σ γᵗ c(sₜ,aₜ) from s₀ = s under π = Policy. Under average cost, Value is the relative
	// value h, which solves g + h(s) = c^π(s) + Σ P^π(s,s′)h(s′), h(0) = 0.
	Value  []float64
	Policy *Policy

	// Lower and Upper enclose the cost, despite rounding. With [Evaluate], this is the cost of the
	// given policy. With [ValueIteration], [PolicyIteration] and [ModifiedPolicyIteration], the interval
	// from Lower to Upper contains both the optimal cost and the cost of Policy. To compute the bounds,
	// it is enough to apply the Bellman operator 𝒮 once, to any v (MacQueen 1966, Porteus 1971; Odoni 1969 for γ = 1):
	//
	//	(1−γ)αᵀ𝒮v + γ min(𝒮v − v) ≤ cost ≤ (1−γ)αᵀ𝒮v + γ max(𝒮v − v).
	//
	// In [Evaluate], 𝒮v stands for c^π + γP^π v. Under discounting, each Value[s] is within
	// (Upper−Lower)/(2(1−γ)) of the exact value.
	Lower, Upper float64

	// Residual is max(𝒮v − v) − min(𝒮v − v), which is 0 if v is a solution.
	Residual float64

	Iterations int // number of greedy steps; 0 for [Evaluate]
	Sweeps     int // sweeps that follow a fixed policy; 0 for [ValueIteration], or if elimination alone is enough
}

// Cost returns the middle of [Lower, Upper].
func (v *Valuation) Cost() float64 { return v.Lower + (v.Upper-v.Lower)/2 }

// ValuationSettings controls [Evaluate], [ValueIteration], [PolicyIteration] and
// [ModifiedPolicyIteration]; the zero value suits most models.
type ValuationSettings struct {
	// Tolerance is the width of [Lower, Upper] at which iteration stops, in the unit of the costs; 0 means 1e-9·(max c
	// − min c), with c^π instead of c in [Evaluate]. The part of the width that comes from rounding does not count, and
	// iteration also stops when that part dominates.
	Tolerance float64

	// MaxIterations is the greatest number of iterations or, in [Evaluate], of sweeps; 0 means 1,000,000.
	MaxIterations int

	// Start is the first value function, of n entries; nil means 𝒮0, the least cost of one step from each state
	// (c^π in [Evaluate]). If [Evaluate] begins with elimination, and elimination succeeds, Start is not used.
	Start []float64

	// Workers is the number of goroutines; 0 means one per CPU. The result does not
	// depend on Workers.
	Workers int

	// Progress, if set, is called with the bounds after every iteration, or after every
	// sweep of [Evaluate].
	Progress func(iteration int, lower, upper float64)
}

func (set ValuationSettings) complete(x *MDP) (ValuationSettings, error) {
	if set.Tolerance == 0 {
		lo, hi := x.CostRange()
		set.Tolerance = 1e-9 * (hi - lo)
	}
	if set.MaxIterations == 0 {
		set.MaxIterations = 1_000_000
	}
	if set.Workers <= 0 {
		set.Workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case !(set.Tolerance >= 0):
		return set, fmt.Errorf("mixpolicy: tolerance %v, want a number ≥ 0", set.Tolerance)
	case set.MaxIterations < 0:
		return set, fmt.Errorf("mixpolicy: ValuationSettings.MaxIterations = %d, want a number ≥ 0", set.MaxIterations)
	case set.Start != nil && len(set.Start) != x.n:
		return set, fmt.Errorf("mixpolicy: ValuationSettings.Start has %d entries, want one per state: %d", len(set.Start), x.n)
	}
	for s, v := range set.Start {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return set, fmt.Errorf("mixpolicy: ValuationSettings.Start is %v in state %s, want a finite number", v, x.StateName(s))
		}
	}
	return set, nil
}

// ValueIteration finds an optimal policy, up to the tolerance, by v ← 𝒮v. This is value iteration
// under discounting, and relative value iteration (White 1963) under average cost. Under average
// cost, the bounds approach each other if the least average cost is the same from every state.
//
// ValueIteration returns an error if a setting is invalid, if values overflow, if ctx ends, or if MaxIterations
// iterations are not enough. It also returns the valuation so far, if any, with valid bounds.
func ValueIteration(ctx context.Context, x *MDP, set ValuationSettings) (*Valuation, error) {
	return x.optimise(ctx, set, func(*search) error { return nil })
}

// ModifiedPolicyIteration (Puterman and Shin 1978) follows each greedy policy for a number of sweeps before the
// next greedy step. It suits large models. A sweep that follows a policy takes about 1/m of the time of a sweep
// over all actions. (Greedy steps skip actions that cannot have become the best. This does not change the result,
// and late greedy steps take little longer than a sweep that follows a policy.) The residual of a policy π uses
// c^π + γP^π v instead of 𝒮v. The method follows π for at most 100 sweeps, and for fewer if the residual of π falls
// to a hundredth of the residual of the last greedy step. Then most of the residual of the next greedy step is due
// to the choice of actions. If the last greedy step changed no action, the residual of π must instead fall to half
// of the tolerance. If 100 sweeps are not enough, the chain of π mixes slowly. After 4096 sweeps in total, the
// method evaluates such a policy by elimination, as long as elimination is cheap and reduces the residual of the
// greedy steps. Under average cost, the method does so only for chains with one recurrent class.
// ModifiedPolicyIteration returns the errors of [ValueIteration].
func ModifiedPolicyIteration(ctx context.Context, x *MDP, set ValuationSettings) (*Valuation, error) {
	before := math.Inf(1) // the residual at the last elimination; −∞ if no other elimination may follow
	return x.optimise(ctx, set, func(r *search) error {
		goal := (r.last.hi - r.last.lo) / 100
		if !r.last.actions { // perhaps this is the last policy
			goal = r.set.Tolerance / 2
		}
		for range maxFollow {
			c := r.greedy.sweep(r.next, r.v, r.set.Workers)
			r.Sweeps++
			r.advance()
			if c.hi-c.lo <= goal || ctx.Err() != nil {
				return nil
			}
		}
		if r.Sweeps < 4*quick {
			return nil
		}
		// If a policy has several recurrent classes, exact values may lead back to the previous policy, so the
		// policies could alternate forever.
		if r.Residual >= before {
			before = math.Inf(-1)
			return nil
		}
		before = r.Residual
		y, err := x.Under(deterministic(x, r.greedy.actions))
		if err != nil {
			return err
		}
		if support, several := x.support(y.p); several == nil {
			var fills bool
			if fills, err = r.eliminate(y, support); fills {
				before = math.Inf(-1)
			}
		}
		if ctx.Err() != nil {
			return nil // the next greedy step reports the cancellation, with the bounds of the optimum
		}
		return err
	})
}

// maxFollow bounds the sweeps that follow a policy whose chain mixes slowly: 100 sweeps
// cost as much as 100/m full greedy steps.
const maxFollow = 100

// PolicyIteration (Howard 1960) evaluates each greedy policy as [Evaluate] does, and stops when no action
// changes or the tolerance is reached. Under average cost, every policy that it evaluates must have one
// recurrent class. If a policy has several classes, PolicyIteration returns an error that names them;
// another Start can avoid such a policy. It also returns the errors of [ValueIteration].
func PolicyIteration(ctx context.Context, x *MDP, set ValuationSettings) (*Valuation, error) {
	return x.optimise(ctx, set, func(r *search) error {
		if r.Iterations > 1 && !r.last.actions {
			return errDone
		}
		inner := r.set
		inner.Start, inner.Progress = r.v, nil
		v, err := Evaluate(ctx, x, deterministic(x, r.greedy.actions), inner)
		if v != nil {
			copy(r.v, v.Value)
			r.Sweeps += v.Sweeps
			r.noise = v.Residual
		}
		if ctx.Err() != nil {
			return nil // the next greedy step reports the cancellation, with the bounds of the optimum
		}
		return err
	})
}

// search is the state of a run of any of the four methods of this file.
type search struct {
	Valuation
	x        *MDP
	ctx      context.Context
	set      ValuationSettings
	v, next  []float64 // v, and the Bellman or policy operator applied to v
	greedy   *greedy   // nil if a given policy is evaluated
	last     change    // the change in the last greedy step
	rounding float64
	top      float64 // ‖c‖∞
	size     float64 // ‖c‖∞ + ‖v‖∞
	noise    float64 // residual of the evaluated policy, whose value v approximates
}

func (x *MDP) newSearch(ctx context.Context, set ValuationSettings) (*search, error) {
	set, err := set.complete(x)
	if err != nil {
		return nil, err
	}
	r := &search{
		x: x, ctx: ctx, set: set, rounding: x.valueRounding(), top: floats.Norm(x.cost, math.Inf(1)),
		v: make([]float64, x.n), next: make([]float64, x.n),
	}
	copy(r.v, set.Start)
	if set.Start == nil {
		for s := range r.v {
			r.v[s] = slices.Min(x.cost[s*x.m : (s+1)*x.m])
		}
	}
	r.Value = make([]float64, x.n)
	r.Lower, r.Upper, r.Residual = math.Inf(-1), math.Inf(1), math.Inf(1)
	return r, nil
}

// optimise alternates greedy steps with calls to follow. A greedy step gives bounds; follow can
// bring r.v closer to the value of the policy r.greedy.actions.
func (x *MDP) optimise(ctx context.Context, set ValuationSettings, follow func(r *search) error) (*Valuation, error) {
	r, err := x.newSearch(ctx, set)
	if err != nil {
		return nil, err
	}
	r.greedy = newGreedy(x)
	for err == nil {
		if err = r.greedyStep(); err == nil {
			r.advance()
			err = follow(r)
		}
	}
	if r.Iterations == 0 || math.IsInf(r.Lower, -1) { // nothing is known
		return nil, err
	}
	if r.Policy = deterministic(x, r.greedy.actions); err == errDone {
		err = nil
	}
	return &r.Valuation, err
}

// errDone ends an iteration that has reached its goal.
var errDone = errors.New("done")

func (r *search) greedyStep() error {
	if err := r.ctx.Err(); err != nil {
		return r.stopped(err)
	}
	if r.Iterations == r.set.MaxIterations {
		return r.notConverged(r.Iterations, "iterations", deterministic(r.x, r.greedy.actions))
	}
	slack := r.slack()
	tie := slack + r.noise // a smaller improvement may be a rounding error, and could make policies cycle
	r.last = r.greedy.step(r.next, r.v, tie, slack, r.set.Workers)
	r.Iterations++
	return r.bound(r.last, slack, tie, r.Iterations)
}

// slack bounds the effect of rounding on 𝒮v − v. Products below the normal range lose less
// than 2⁻¹⁰⁰⁰.
func (r *search) slack() float64 {
	r.size = r.top + floats.Norm(r.v, math.Inf(1))
	return r.rounding*r.size + 0x1p-1000
}

// bound computes the bounds and values of Valuation from r.next = 𝒮v and c, the extremes of
// 𝒮v − v. The policy may have kept an action whose value is only within tie of the best.
// The upper bound must also hold for the policy's cost, so the upper bound includes tie.
func (r *search) bound(c change, slack, tie float64, count int) error {
	gamma := r.x.Gamma()
	base, offset, limit := 0.0, -r.next[0], math.MaxFloat64/8
	if gamma < 1 {
		base = (1 - gamma) * sum.Dot(r.x.initial, r.next)
		offset = gamma / (1 - gamma) * (c.lo + c.hi) / 2
		limit *= 1 - gamma
	}
	// ‖𝒮v‖∞ ≤ size and ‖𝒮v − v‖∞ ≤ 2 size, so no value is greater than 2 size/(1−γ).
	if !(r.size <= limit) {
		return fmt.Errorf("mixpolicy: values overflow after %d sweeps, with costs up to %.3g; want costs scaled down", count, r.top)
	}
	r.Residual = c.hi - c.lo
	r.Lower = base + gamma*c.lo - slack
	r.Upper = base + gamma*c.hi + slack + tie
	for s, v := range r.next {
		r.Value[s] = v + offset
	}
	if r.set.Progress != nil {
		r.set.Progress(count, r.Lower, r.Upper)
	}
	if gamma*r.Residual <= max(r.set.Tolerance, 2*tie) {
		return errDone
	}
	return nil
}

// advance replaces v by 𝒮v under discounting, and by v + 0.9(𝒮v − v) under average cost. Under average cost, it then
// subtracts the first entry of v from every entry, because v would otherwise grow by about 0.9g in every step. A chain
// with period p has the eigenvalues e^{2πik/p}. Those with 0 < k < p make v oscillate forever, and the factor 0.9 moves
// them inside the unit circle (the aperiodicity transformation, Schweitzer 1971). The factor costs about a tenth more
// sweeps, and turns the eigenvalue −1 into −0.8. The bounds are valid for every factor.
func (r *search) advance() {
	if !r.x.criterion.Average() {
		r.v, r.next = r.next, r.v
		return
	}
	for s, v := range r.v {
		r.v[s] = v + 0.9*(r.next[s]-v)
	}
	floats.AddConst(-r.v[0], r.v)
}

func (r *search) stopped(err error) error {
	return fault.At("mixpolicy", fmt.Sprintf("stopped with cost in [%.6g, %.6g]", r.Lower, r.Upper), err)
}

// notConverged returns the error for a run that has not converged after count iterations or sweeps. Under average
// cost, the error names the recurrent classes of p if there are several, because several classes can keep the bounds
// apart.
func (r *search) notConverged(count int, unit string, p *Policy) error {
	err := fmt.Errorf("mixpolicy: cost in [%.6g, %.6g] after %d %s, want a width ≤ %.3g", r.Lower, r.Upper, count, unit, r.set.Tolerance)
	if _, several := r.x.support(r.x.chain(p)); several != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimPrefix(several.Error(), "mixpolicy: "))
	}
	return err
}

// Evaluate finds the value of a policy π: by elimination for up to 1500 states, and by sweeps v ← c^π + γP^π v for
// larger models, or if elimination is not cheap. If 1024 sweeps are not enough for a larger model, Evaluate tries
// elimination. It returns an error if π does not fit the MDP (see [MDP.Under]), if a setting is invalid, if π has
// several recurrent classes under average cost (the error names the classes), if values overflow, if MaxIterations
// sweeps are not enough, or if ctx ends. In the last two cases, Evaluate also returns the valuation so far, if any,
// with valid bounds.
func Evaluate(ctx context.Context, x *MDP, p *Policy, set ValuationSettings) (*Valuation, error) {
	y, err := x.Under(p)
	if err != nil {
		return nil, err
	}
	support, err := x.support(y.p)
	if err != nil {
		return nil, err
	}
	r, err := y.newSearch(ctx, set)
	if err != nil {
		return nil, err
	}
	r.Policy = p
	// The costs and rows of the chain are weighted means over m actions. Rounding moves such a mean by up to (m+1)2⁻⁵³
	// times the largest |c_a(s)| or P_a(s,s′). Costs may cancel, so the largest |c_a(s)| can be far larger than a mean.
	r.top = floats.Norm(x.cost, math.Inf(1))
	r.rounding += float64(x.m+1) * 0x1p-53
	actions := make([]int32, x.n)
	if x.n <= smallModel {
		if _, err := r.eliminate(y, support); err != nil {
			return nil, r.stopped(err)
		}
		r.Sweeps = -1 // the first sweep only proves the bounds; more sweeps may help
	}
	for {
		if err := ctx.Err(); err != nil && r.Sweeps <= 0 {
			return nil, r.stopped(err)
		} else if err != nil {
			return &r.Valuation, r.stopped(err)
		}
		if r.Sweeps == r.set.MaxIterations {
			return &r.Valuation, r.notConverged(r.Sweeps, "sweeps", UniformPolicy(y))
		}
		r.last = y.improve(r.next, r.v, actions, 0, r.set.Workers) // y has one action
		r.Sweeps++
		slack := r.slack()
		switch err := r.bound(r.last, slack, slack, r.Sweeps); {
		case err == errDone:
			return &r.Valuation, nil
		case err != nil:
			return nil, err
		}
		if r.advance(); r.Sweeps == quick && x.n > smallModel {
			if _, err := r.eliminate(y, support); err != nil {
				return &r.Valuation, r.stopped(err)
			}
		}
	}
}

// eliminate sets r.v to the values of the chain y, unless elimination fills the matrix too much, the values overflow,
// or the context ends. The result fills says whether elimination fills the matrix too much.
func (r *search) eliminate(y *MDP, support []int32) (fills bool, err error) {
	reduced, err := y.reduce(r.ctx, y.p, allStates(y.n, support), quickly)
	if fills = errors.Is(err, reduction.ErrFill); fills || r.ctx.Err() != nil {
		return fills, r.ctx.Err()
	}
	v := reduced.values(y.cost, 1)
	if all := sum.Of(v); all-all == 0 { // all are finite
		r.v = v
	}
	return false, err
}

// smallModel is a number of states up to which elimination usually takes less time than sweeps.
const smallModel = 1500

// allStates returns all n states: first the given states, then all others in increasing order.
func allStates(n int, first []int32) []int32 {
	all := slices.Clone(first)
	seen := make([]bool, n)
	for _, s := range first {
		seen[s] = true
	}
	for s := range n {
		if !seen[s] {
			all = append(all, int32(s))
		}
	}
	return all
}
