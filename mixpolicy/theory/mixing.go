package theory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// TotalVariation returns ‖μ − ν‖_TV = ½ Σ |μ(i) − ν(i)|, the distance of Assumption A.1. TotalVariation panics unless
// mu and nu have equal lengths.
func TotalVariation(mu, nu []float64) float64 {
	if len(mu) != len(nu) {
		panic(fmt.Sprintf("theory: total variation of vectors with %d and %d entries, want equal lengths", len(mu), len(nu)))
	}
	return sum.Diff1(mu, nu) / 2
}

// mixingLimit is the greatest number of states for which powers of P^π are formed. For 1000 states, a
// power takes 8 MB and 2·10⁹ operations, and some 30 powers are needed.
const mixingLimit = 1000

// Mixing holds the mixing time of the Markov chain that a policy induces. The mixing time is defined by
//
//	d(t) = max_s ‖(P^π)ᵗ(s,·) − μ‖_TV,
//
// the greatest distance of a row of (P^π)ᵗ from the stationary distribution μ. We use this μ even if the criterion is
// discounted. (In general, the discounted measure in (2.23) is not the limit of the rows. Then the distance of the
// rows from this measure does not tend to 0, and τ_mix(ε) does not exist for small ε: see [MixingCurve].)
type Mixing struct {
	Time     int     // τ_mix(ε) = min { t ≥ 1 : d(t) ≤ ε }, the maximand of (2.23)
	Distance float64 // d(Time)
	Slowest  int     // a state s that attains the maximum in d(Time)
}

// MixingTime computes τ_mix(ε) of one policy exactly, up to rounding in d(t). Because d does not increase, doubling t
// finds a t with d(t) ≤ ε, and bisection then finds the least such t. MixingTime returns an error if there are more
// than 1000 states, if ε is outside (0, 1), if the chain has several recurrent classes or is periodic (and so never
// mixes), if the mixing time exceeds 2⁶¹, or if ctx ends.
func MixingTime(ctx context.Context, x *mixpolicy.MDP, p *mixpolicy.Policy, epsilon float64) (*Mixing, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	chain, mu, err := stationary(ctx, x, p)
	if err != nil {
		return nil, err
	}
	if k := matrix(chain).Period(int32(floats.MaxIdx(mu))); k > 1 {
		return nil, fmt.Errorf("theory: the chain of this policy has period %d: it never mixes", k)
	}
	// powers[k] is P to the power 2ᵏ. The second loop finds the greatest t with d(t) > ε, binary digit by binary digit.
	var powers []*mat.Dense
	for power := dense(chain); ; power = stochasticProduct(power, power) {
		powers = append(powers, power)
		if err := ctx.Err(); err != nil || len(powers) > 62 {
			return nil, fmt.Errorf("theory: mixing time exceeds %d: %w", 1<<(len(powers)-1)>>1,
				cmp.Or(err, errors.New("too long to compute")))
		}
		if d, _ := farthest(power, mu); d <= epsilon {
			break
		}
	}
	above, at := 0, (*mat.Dense)(nil)
	for k := len(powers) - 2; k >= 0; k-- {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("theory: mixing time is between %d and %d: %w", above+1, above+2<<k, err)
		}
		next := stochasticProduct(at, powers[k])
		if d, _ := farthest(next, mu); d > epsilon {
			above, at = above+1<<k, next
		}
	}
	d, s := farthest(stochasticProduct(at, powers[0]), mu)
	return &Mixing{Time: above + 1, Distance: d, Slowest: s}, nil
}

// stationary returns the chain of a policy and the chain's stationary distribution, for up
// to mixingLimit states.
func stationary(ctx context.Context, x *mixpolicy.MDP, p *mixpolicy.Policy) (chain *mixpolicy.MDP, mu []float64, err error) {
	if x.States() > mixingLimit {
		return nil, nil, fmt.Errorf("theory: the chain has %d states, want at most %d to compute its mixing", x.States(), mixingLimit)
	}
	if chain, err = x.Under(p); err != nil {
		return nil, nil, err
	}
	q, err := mixpolicy.Must(x.WithCriterion(mixpolicy.AverageCost)).Occupation(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return chain, q.State, nil
}

// matrix returns P of a chain, an MDP with one action.
func matrix(chain *mixpolicy.MDP) *sparse.Matrix {
	n := chain.States()
	b := sparse.NewBuilder(n, n, chain.Transitions())
	for s := range n {
		b.Append(chain.Next(s, 0))
		b.EndRow()
	}
	return b.Matrix()
}

func dense(chain *mixpolicy.MDP) *mat.Dense {
	n := chain.States()
	d := mat.NewDense(n, n, nil)
	for s := range n {
		next, p := chain.Next(s, 0)
		for k, s2 := range next {
			d.Set(s, int(s2), p[k])
		}
	}
	return d
}

// stochasticProduct returns the product of stochastic matrices, with rows scaled to add up
// to 1, so that the next product does not amplify rounding errors. If a is nil, the result is b.
func stochasticProduct(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	var c mat.Dense
	c.Mul(a, b)
	n, _ := c.Dims()
	for s := range n {
		row := c.RawRowView(s)
		total := sum.Of(row)
		for i := range row {
			row[i] /= total
		}
	}
	return &c
}

// farthest returns max_s ‖P(s,·) − μ‖_TV and the s that attains it.
func farthest(p *mat.Dense, mu []float64) (d float64, at int) {
	for s := range mu {
		if v := TotalVariation(p.RawRowView(s), mu); v > d {
			d, at = v, s
		}
	}
	return d, at
}

// MixingCurve returns max_s ‖(P^π)ᵗ(s,·) − target‖_TV for t = 0, …, steps. A nil target means the stationary
// distribution, for which the result is the d(t) of [Mixing]. If the target is the discounted μ_α of (2.23), the
// distance does not tend to 0 in general. MixingCurve returns an error if there are more than 1000 states, or if the
// chain has several recurrent classes. If ctx ends, MixingCurve returns an error and the distances computed so far.
func MixingCurve(ctx context.Context, x *mixpolicy.MDP, p *mixpolicy.Policy, target []float64, steps int) ([]float64, error) {
	n := x.States()
	chain, mu, err := stationary(ctx, x, p)
	if err != nil {
		return nil, err
	}
	if target == nil {
		target = mu
	}
	transition := matrix(chain)
	rows, next := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for s := range n {
		rows.Set(s, s, 1)
	}
	var curve []float64 // steps may be far more than the caller waits for, so the curve grows on demand
	for t := 0; ; t++ {
		d, _ := farthest(rows, target)
		curve = append(curve, d)
		if t >= steps {
			return curve, nil
		}
		for s := range n {
			if err := ctx.Err(); err != nil {
				return curve, fmt.Errorf("theory: mixing curve stopped after %d steps: %w", t, err)
			}
			transition.MulVecT(next.RawRowView(s), rows.RawRowView(s))
		}
		rows, next = next, rows
	}
}

// Contraction holds δ = δ(P), the least δ with ‖νP − ν̂P‖_TV ≤ δ ‖ν − ν̂‖_TV for all distributions ν and ν̂. Here P is
// the transition matrix of one or more steps. Contraction also holds two states that attain the maximum in the formula
// of Dobrushin (1956),
//
//	δ = max_{s,s′} ‖P(s,·) − P(s′,·)‖_TV.
//
// (2.24) claims δ ≤ exp(−1/τ_mix) for one step. This claim does not follow from Assumption A.1. The claim is false
// whenever two states have no next state in common, because then δ = 1. But δ(Pᵗ) ≤ 2d(t) for the d of [Mixing], so
// δ(Pᵗ) ≤ 2ε for t = τ_mix(ε).
type Contraction struct {
	Coefficient   float64
	First, Second int // the two states
}

// ContractionCoefficient returns the δ of (P^π)ᵗ for t = steps ≥ 1, exactly, up to rounding. For n states, it compares
// O(n²) pairs of rows. For t > 1, it returns an error if there are more than 1000 states.
func ContractionCoefficient(ctx context.Context, x *mixpolicy.MDP, p *mixpolicy.Policy, steps int) (Contraction, error) {
	chain, err := x.Under(p)
	n := x.States()
	switch {
	case err != nil:
		return Contraction{}, err
	case steps < 1:
		return Contraction{}, fmt.Errorf("theory: contraction over %d steps, want at least 1", steps)
	case steps == 1:
		return contraction(ctx, n, 1, func(s int) ([]int32, []float64) { return chain.Next(s, 0) })
	case n > mixingLimit:
		return Contraction{}, fmt.Errorf("theory: contraction over %d steps: the chain has %d states, want ≤ %d", steps, n, mixingLimit)
	}
	var power *mat.Dense
	for square := dense(chain); steps > 0; square, steps = stochasticProduct(square, square), steps/2 {
		if err := ctx.Err(); err != nil {
			return Contraction{}, fmt.Errorf("theory: contraction coefficient: %w", err)
		}
		if steps&1 == 1 {
			power = stochasticProduct(power, square)
		}
	}
	every := make([]int32, n)
	for s := range every {
		every[s] = int32(s)
	}
	return contraction(ctx, n, 1, func(s int) ([]int32, []float64) { return every, power.RawRowView(s) })
}

// UniformMixingTime returns an upper bound on the maximum in (2.23). Let δ be the greatest [ContractionCoefficient] of
// one step among all stationary policies. The bound is ⌈ln ε / ln δ⌉ for 0 < δ < 1, and 1 for δ = 0. For δ = 1,
// UniformMixingTime returns math.MaxInt. The distance between the rows s and s′ of P^π is convex in π(s) and in π(s′),
// and a policy chooses π(s) and π(s′) independently. So a pair of actions maximises the distance:
//
//	δ = max ‖P_a(s,·) − P_a′(s′,·)‖_TV over s ≠ s′, a, a′.
//
// Deterministic policies need not attain the maximum in (2.23). The [MixingTime] of any policy is a lower bound on this
// maximum.
func UniformMixingTime(ctx context.Context, x *mixpolicy.MDP, epsilon float64) (int, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	m := x.Actions()
	c, err := contraction(ctx, x.States(), m, func(i int) ([]int32, []float64) { return x.Next(i/m, i%m) })
	switch {
	case c.Coefficient <= epsilon:
		return 1, err
	case c.Coefficient >= 1:
		return math.MaxInt, err
	}
	return int(math.Ceil(math.Log(epsilon) / math.Log(c.Coefficient))), err // d(t) ≤ δ(Pᵗ) ≤ δᵗ
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon > 0 && epsilon < 1) {
		return fmt.Errorf("theory: ε = %v, want 0 < ε < 1", epsilon)
	}
	return nil
}

// contraction compares the rows of P of different states; each state has m rows. On cancellation, it returns the
// greatest distance so far, a lower bound.
func contraction(ctx context.Context, states, m int, next func(i int) ([]int32, []float64)) (c Contraction, err error) {
	row := make([]float64, states)
	for i := 0; i < states*m && c.Coefficient < 1; i++ {
		if err := ctx.Err(); err != nil {
			return c, fmt.Errorf("theory: contraction coefficient is at least %.6g: %w", c.Coefficient, err)
		}
		clear(row)
		to, p := next(i)
		for k, s := range to {
			row[s] = p[k]
		}
		for j := range i / m * m {
			// Rows add up to 1, so 1 − ‖·‖_TV is the common mass, and the entries of one row suffice to compute it.
			common := 0.0
			to, p := next(j)
			for k, s := range to {
				common += min(p[k], row[s])
			}
			if 1-common > c.Coefficient {
				c = Contraction{1 - common, j / m, i / m}
			}
		}
	}
	return c, nil
}

// Ergodicity holds bounds on κ, the least constant of Assumption A.2 for a set of policies π,
//
//	1/(n√κ) ≤ μ^π(s) ≤ √κ/n  for all s and all π in the set,
//
// that is, κ = max { 1/(n min μ)², (n max μ)² } over these s and π. For a uniform measure, κ = 1; if a state has no
// mass, κ = +∞. Here μ^π is the occupation measure of the states under the criterion of the MDP.
type Ergodicity struct {
	// Lower ≤ κ ≤ Upper. Lower is the κ of Policy alone, attained at State.
	Lower, Upper float64
	Policy       *mixpolicy.Policy
	State        int
}

// ErgodicityOf returns the least κ for which (2.25) holds for all the given policies. The result is exact up to
// rounding, so Lower = Upper.
func ErgodicityOf(x *mixpolicy.MDP, policies ...*mixpolicy.Policy) (*Ergodicity, error) {
	if len(policies) == 0 {
		return nil, errors.New("theory: no policies, so κ is undefined, want at least one policy")
	}
	e := &Ergodicity{}
	for i, p := range policies {
		if err := e.include(context.Background(), x, p); err != nil {
			return nil, fault.At("theory", fmt.Sprintf("policy %d", i), err)
		}
	}
	e.Upper = e.Lower
	return e, nil
}

// include raises Lower to the κ of a policy if this κ is greater.
func (e *Ergodicity) include(ctx context.Context, x *mixpolicy.MDP, p *mixpolicy.Policy) error {
	q, err := x.Occupation(ctx, p)
	if err != nil {
		return err
	}
	for s, v := range q.State {
		mass := float64(x.States()) * v
		if k := kappa(mass, mass); k > e.Lower {
			e.Lower, e.Policy, e.State = k, p, s
		}
	}
	return nil
}

// kappa returns the κ of (2.25) for masses n·μ(s) between least and greatest.
func kappa(least, greatest float64) float64 { return max(1/(least*least), greatest*greatest) }

// UniformErgodicity returns bounds on the κ of (2.25) for all stationary policies. The least mass that any policy
// gives to a state s is the optimal cost of x with the costs 1{s}. The greatest mass of s is minus the optimal
// cost of x with the costs −1{s}. So, for n states, the bounds on κ take 2n runs of policy iteration.
//
// The absolute rounding error of the masses is about 10⁻¹⁴ times the size of the values that policy iteration computes.
// If a mass may be smaller than this error, Upper is +∞, and Lower, which a policy attains, need not be close to κ.
// Lower is the greatest κ among these policies: for each state, two policies that attain its least and its greatest
// mass; for each action, the policy that takes this action wherever it is allowed. UniformErgodicity returns an error
// if ctx ends, or if, under average cost, a policy that it evaluates has several recurrent classes (then Assumption A.2
// fails). With an error, it returns nil, or the result so far with Upper = +∞.
func UniformErgodicity(ctx context.Context, x *mixpolicy.MDP) (*Ergodicity, error) {
	n, m := x.States(), x.Actions()
	e := &Ergodicity{Upper: math.Inf(1)}
	first, actions := x.Greedy(make([]float64, n)), make([]int, n)
	for a := range m {
		for s := range actions {
			if actions[s] = a; !x.Allowed(s, a) {
				actions[s] = first.Action(s)
			}
		}
		if err := e.include(ctx, x, mixpolicy.Must(mixpolicy.Deterministic(x, actions))); err != nil {
			return nil, fault.At("theory", fmt.Sprintf("Assumption A.2 for action %s in every state", x.ActionName(a)), err)
		}
	}
	extreme := [2]float64{math.Inf(1), math.Inf(1)}                              // min μ(s) and −max μ(s), certified
	exact := mixpolicy.ValuationSettings{Tolerance: math.SmallestNonzeroFloat64} // as far as rounding allows
	cost := make([]float64, x.Pairs())
	y := mixpolicy.Must(x.WithCosts(cost))
	for s := range n {
		for k, sign := range []float64{1, -1} {
			clear(cost)
			for a := range m {
				cost[x.Pair(s, a)] = sign
			}
			v, err := mixpolicy.PolicyIteration(ctx, y, exact)
			if err == nil {
				err = e.include(ctx, x, v.Policy)
			}
			if err != nil {
				return e, fault.At("theory", "Assumption A.2 for the mass of state "+x.StateName(s), err)
			}
			extreme[k] = min(extreme[k], v.Lower)
		}
	}
	if extreme[0] > 0 {
		e.Upper = max(e.Lower, kappa(float64(n)*extreme[0], float64(n)*extreme[1]))
	}
	return e, nil
}
