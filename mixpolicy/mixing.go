package mixpolicy

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// TotalVariation returns ‖μ − ν‖_TV = ½ Σ |μ(i) − ν(i)|, the norm of (A.1). It panics
// on unequal lengths.
func TotalVariation(mu, nu []float64) float64 {
	if len(mu) != len(nu) {
		panic(fmt.Sprintf("mixpolicy: total variation of distributions over %d and %d states", len(mu), len(nu)))
	}
	return sum.Diff1(mu, nu) / 2
}

// mixingLimit is the number of states up to which the powers of P^π are formed: a
// power of 1000 states has 8 MB, takes 2·10⁹ operations, and some 30 are needed.
const mixingLimit = 1000

// Mixing says how fast the chain of a policy forgets its first state, in terms of
//
//	d(t) = max_s ‖(P^π)ᵗ(s,·) − μ‖_TV,
//
// with the stationary distribution μ, whatever the criterion. (The discounted
// measure in (2.23) is no limit of Pᵗ: with it the distance does not vanish, and
// τ_mix(ε) does not exist for small ε. See [MixingCurve].)
type Mixing struct {
	Time     int     // τ_mix(ε) = min { t ≥ 1 : d(t) ≤ ε }, the maximand of (2.23)
	Distance float64 // d(Time)
	Slowest  int     // the state s that attains d(Time)
}

// MixingTime computes τ_mix(ε) of one policy exactly, up to rounding in d(t): d does
// not increase, so powers are doubled until it is at most ε, and then halved down
// to the first such t. It takes up to 1000 states; [MixingBounds] takes more. Errors:
// several recurrent classes, and a chain with a period, which never mixes.
func MixingTime(ctx context.Context, x *MDP, p *Policy, epsilon float64) (*Mixing, error) {
	chain, mu, err := x.mixingChain(p, epsilon)
	if err != nil {
		return nil, err
	}
	if x.n > mixingLimit {
		return nil, fmt.Errorf("mixpolicy: mixing time of %d states, want at most %d; MixingBounds takes more", x.n, mixingLimit)
	}
	if k := chain.Period(); k > 1 {
		return nil, fmt.Errorf("mixpolicy: the chain of this policy has period %d: it never mixes", k)
	}
	// powers[k] is P to the 2ᵏ; times where d is above and at most ε close in.
	powers := []*mat.Dense{dense(chain)}
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("mixpolicy: mixing time exceeds %d: %w", 1<<(len(powers)-1)-1, err)
		}
		last := powers[len(powers)-1]
		if d, _ := farthest(last, mu); d <= epsilon {
			break
		}
		if len(powers) == 62 {
			return nil, fmt.Errorf("mixpolicy: mixing time exceeds 2⁶¹")
		}
		powers = append(powers, stochasticProduct(last, last))
	}
	above, at := 0, powers[len(powers)-1] // d(above) > ε; P^below = at
	below := 1 << (len(powers) - 1)
	var atAbove *mat.Dense
	for k := len(powers) - 2; k >= 0; k-- {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("mixpolicy: mixing time is in %d to %d: %w", above+1, below, err)
		}
		middle := powers[k]
		if atAbove != nil {
			middle = stochasticProduct(atAbove, powers[k])
		}
		if d, _ := farthest(middle, mu); d > epsilon {
			above, atAbove = above+1<<k, middle
		} else {
			below, at = above+1<<k, middle
		}
	}
	d, s := farthest(at, mu)
	return &Mixing{Time: below, Distance: d, Slowest: s}, nil
}

// mixingChain returns P^π and its stationary distribution.
func (x *MDP) mixingChain(p *Policy, epsilon float64) (*sparse.Matrix, []float64, error) {
	if err := x.checkPolicy(p); err != nil {
		return nil, nil, err
	}
	if !(epsilon > 0 && epsilon < 1) {
		return nil, nil, fmt.Errorf("mixpolicy: ε = %v, want 0 < ε < 1", epsilon)
	}
	y := *x
	y.criterion = AverageCost
	q, err := y.Occupation(p)
	if err != nil {
		return nil, nil, err
	}
	return x.chain(p), q.State, nil
}

func dense(m *sparse.Matrix) *mat.Dense {
	d := mat.NewDense(m.Rows, m.Cols, nil)
	for i := range m.Rows {
		col, val := m.Row(i)
		for k, c := range col {
			d.Set(i, int(c), val[k])
		}
	}
	return d
}

// stochasticProduct returns the product of stochastic matrices with rows that add
// up to 1 again: so roundings are not amplified by the next squaring, but mixed away.
func stochasticProduct(a, b *mat.Dense) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	n, _ := c.Dims()
	for s := range n {
		normalise(c.RawRowView(s))
	}
	return &c
}

// farthest returns max_s ‖P(s,·) − μ‖_TV and where it is attained.
func farthest(p *mat.Dense, mu []float64) (d float64, at int) {
	for s := range mu {
		if v := TotalVariation(p.RawRowView(s), mu); v > d {
			d, at = v, s
		}
	}
	return d, at
}

// MixingBounds encloses τ_mix(ε) of one policy on a chain of any size. lower is
// attained: the greatest mixing time from any of the given states, followed for up
// to the given number of steps. upper is ⌈ln ε / ln δ⌉ from the contraction
// coefficient δ of P^π, and math.MaxInt where δ = 1, as for every chain with two
// states that have no next state in common. (A second eigenvalue bounds τ_mix from
// above for reversible chains only, and only where it is known from above.)
func MixingBounds(ctx context.Context, x *MDP, p *Policy, epsilon float64, starts []int, steps int) (lower, upper int, err error) {
	chain, mu, err := x.mixingChain(p, epsilon)
	if err != nil {
		return 0, 0, err
	}
	lower, upper = 1, math.MaxInt
	delta, err := contraction(ctx, chain)
	if err != nil {
		return lower, upper, err
	}
	upper = contractionTime(delta.Coefficient, epsilon)
	at, next := make([]float64, x.n), make([]float64, x.n)
	for _, s := range starts {
		if s < 0 || s >= x.n {
			return 0, 0, fmt.Errorf("mixpolicy: start in state %d, want 0 to %d", s, x.n-1)
		}
		clear(at)
		at[s] = 1
		for t := 0; t < steps; t++ {
			if err := ctx.Err(); err != nil {
				return lower, upper, fmt.Errorf("mixpolicy: mixing time is at least %d: %w", lower, err)
			}
			if t > 0 && TotalVariation(at, mu) <= epsilon {
				break
			}
			lower = max(lower, t+1) // since d(t) > ε, or t = 0
			chain.MulVecT(next, at)
			at, next = next, at
		}
	}
	return min(lower, upper), upper, nil
}

// contractionTime returns the least t with δᵗ ≤ ε, which bounds τ_mix(ε) from above
// since d(t) ≤ δ(Pᵗ) ≤ δᵗ.
func contractionTime(delta, epsilon float64) int {
	switch {
	case delta <= epsilon:
		return 1
	case delta >= 1:
		return math.MaxInt
	}
	return int(math.Ceil(math.Log(epsilon) / math.Log(delta)))
}

// MixingCurve returns the greatest distance over s, ‖(P^π)ᵗ(s,·) − target‖_TV, for
// t = 0, …, steps, on up to 1000 states. A nil target is the stationary
// distribution, and gives d(t); the discounted μ_α of (2.23) as a target shows that
// the distance from it does not vanish.
func MixingCurve(ctx context.Context, x *MDP, p *Policy, target []float64, steps int) ([]float64, error) {
	if target != nil && len(target) != x.n {
		panic("mixpolicy: MixingCurve wants a distribution over states")
	}
	chain, mu, err := x.mixingChain(p, 0.5)
	if err != nil {
		return nil, err
	}
	if x.n > mixingLimit {
		return nil, fmt.Errorf("mixpolicy: mixing curve of %d states, want at most %d", x.n, mixingLimit)
	}
	if target == nil {
		target = mu
	}
	rows, next := mat.NewDense(x.n, x.n, nil), mat.NewDense(x.n, x.n, nil)
	for s := range x.n {
		rows.Set(s, s, 1)
	}
	curve := make([]float64, 0, steps+1)
	for t := 0; ; t++ {
		d, _ := farthest(rows, target)
		curve = append(curve, d)
		if t >= steps {
			return curve, nil
		}
		if err := ctx.Err(); err != nil {
			return curve, fmt.Errorf("mixpolicy: mixing curve stopped after %d steps: %w", t, err)
		}
		for s := range x.n {
			chain.MulVecT(next.RawRowView(s), rows.RawRowView(s))
		}
		rows, next = next, rows
	}
}

// Contraction is a coefficient δ with ‖νP − ν̂P‖_TV ≤ δ ‖ν − ν̂‖_TV for all ν, ν̂, the
// least one, and two states from which it is attained (Dobrushin 1956):
//
//	δ = max_{s,s′} ‖P(s,·) − P(s′,·)‖_TV.
//
// (2.24) claims δ ≤ exp(−1/τ_mix) after one step. That does not follow from (A.1),
// and fails wherever two states have no next state in common, where δ = 1. What
// follows is δ(Pᵗ) ≤ 2d(t), so δ ≤ 2ε after τ_mix(ε) steps.
type Contraction struct {
	Coefficient   float64
	First, Second int // states
}

// ContractionCoefficient returns δ of (P^π)ᵗ, t = steps ≥ 1, exactly: O(n²) rows
// compared, and for t > 1 up to 1000 states.
func ContractionCoefficient(ctx context.Context, x *MDP, p *Policy, steps int) (Contraction, error) {
	if err := x.checkPolicy(p); err != nil {
		return Contraction{}, err
	}
	chain := x.chain(p)
	switch {
	case steps < 1:
		return Contraction{}, fmt.Errorf("mixpolicy: contraction over %d steps, want at least 1", steps)
	case steps == 1:
		return contraction(ctx, chain)
	case x.n > mixingLimit:
		return Contraction{}, fmt.Errorf("mixpolicy: contraction over %d steps of %d states, want at most %d", steps, x.n, mixingLimit)
	}
	var power *mat.Dense
	for square := dense(chain); ; square = stochasticProduct(square, square) {
		if steps&1 == 1 && power == nil {
			power = square
		} else if steps&1 == 1 {
			power = stochasticProduct(power, square)
		}
		if steps >>= 1; steps == 0 {
			break
		}
	}
	var c Contraction
	for s := range x.n {
		if err := ctx.Err(); err != nil {
			return c, fmt.Errorf("mixpolicy: contraction coefficient is at least %.6g: %w", c.Coefficient, err)
		}
		for s2 := range s {
			c.note(TotalVariation(power.RawRowView(s), power.RawRowView(s2)), s2, s)
		}
	}
	return c, nil
}

// UniformContraction returns the greatest δ of any stationary policy, exactly. The
// distance of two rows of P^π is convex in π(s) and π(s′), which are chosen freely,
// so that it is greatest at two actions: δ = max ‖P_a(s,·) − P_a′(s′,·)‖_TV over
// s ≠ s′, a, a′. If δ < 1, every policy has τ_mix(ε) ≤ ⌈ln ε / ln δ⌉.
func UniformContraction(ctx context.Context, x *MDP) (Contraction, error) {
	return contraction(ctx, x.p)
}

// UniformMixingTime returns ⌈ln ε / ln δ⌉ for δ of [UniformContraction], a bound from
// above on the maximum over policies in (2.23), or math.MaxInt if δ = 1. The maximum
// itself is not attained at deterministic policies in general; [MixingTime] of any
// policy bounds it from below.
func UniformMixingTime(ctx context.Context, x *MDP, epsilon float64) (int, error) {
	if !(epsilon > 0 && epsilon < 1) {
		return 0, fmt.Errorf("mixpolicy: ε = %v, want 0 < ε < 1", epsilon)
	}
	c, err := UniformContraction(ctx, x)
	return contractionTime(c.Coefficient, epsilon), err
}

func (c *Contraction) note(d float64, s, s2 int) {
	if d > c.Coefficient {
		*c = Contraction{min(d, 1), s, s2}
	}
}

// contraction compares the rows of different states; each has rows/columns rows.
// Cancelled, it returns the greatest so far, a bound from below.
func contraction(ctx context.Context, p *sparse.Matrix) (Contraction, error) {
	perState := p.Rows / p.Cols
	row := make([]float64, p.Cols)
	var c Contraction
	for i := range p.Rows {
		if err := ctx.Err(); err != nil {
			return c, fmt.Errorf("mixpolicy: contraction coefficient is at least %.6g: %w", c.Coefficient, err)
		}
		col, val := p.Row(i)
		for k, s := range col {
			row[s] = val[k]
		}
		for j := range i / perState * perState {
			// Rows add up to 1, so 1 − ‖·‖_TV is the mass in common, which takes a look
			// at one row's entries only.
			common := 0.0
			col, val := p.Row(j)
			for k, s := range col {
				common += min(val[k], row[s])
			}
			c.note(1-common, j/perState, i/perState)
		}
		if c.Coefficient == 1 {
			return c, nil // there is no greater one
		}
		for _, s := range col {
			row[s] = 0
		}
	}
	return c, nil
}
