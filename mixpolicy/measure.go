package mixpolicy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/multilevel"
	"github.com/mixpolicy/lab/mixpolicy/internal/reduction"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Measure holds a policy's state distribution μ^π (2.10)–(2.11) and occupation measure ξ^π = π ⊙ μ^π (2.12). Under the
// discounted criterion, μ is
//
//	μ = (1−γ) α (I − γP^π)⁻¹,  that is  μ = (1−γ)α + γ μP^π.
//
// The paper calls this μ stationary. In general, however, μ is stationary only in the limit γ → 1.
// Under the average-cost criterion, μ is the stationary distribution, μ = μP^π.
type Measure struct {
	State []float64 // μ(s), n entries
	Pair  []float64 // ξ_a(s) at index s·m + a, nm entries

	// Residual is the flow residual ‖μ − (1−γ)α − γμP^π‖₁ of the computed measure.
	Residual float64
	// Error is an upper bound on ‖μ̂ − μ‖₁, where μ̂ is the computed measure, and μ is the exact measure. The
	// bound is proved, with one exception. If [Multilevel] computes μ̂ under average cost with more than 1024
	// recurrent states, Error is usually only an estimate. Such an estimate can miss errors that the rounding
	// of the residual hides. Stored rows of P add up to 1 only up to rounding, so we define the exact μ by the
	// chain with P(s,s) = 1 − Σ_{s′≠s} P(s,s′). If the chain mixes slowly, Error can be many times Residual.
	// If no bound is known, as after a failed computation, Error is 2, the greatest possible ℓ₁ distance
	// between two distributions.
	Error  float64
	Method MeasureMethod
	Sweeps int // 0 for elimination
}

// Cost returns cᵀξ for costs c over pairs.
func (q *Measure) Cost(c []float64) float64 {
	if len(c) != len(q.Pair) {
		panic(fmt.Sprintf("mixpolicy: Measure.Cost: %d costs, want one per pair: %d", len(c), len(q.Pair)))
	}
	return sum.Dot(c, q.Pair)
}

// MeasureMethod is a way to compute μ.
type MeasureMethod int

const (
	// Auto is Elimination if elimination takes at most about two seconds and loses no significant digits. Otherwise,
	// Auto is Multilevel. If Multilevel stalls, and elimination was rejected only because it would take too much time
	// or memory, Auto tries Elimination for up to about five seconds. If this attempt also fails, Auto returns an
	// error. On 10⁵ states, all attempts together take some ten seconds. Both methods can fail on random graphs with
	// few neighbours per state, at least 10⁴ states, and edge weights that differ by factors of 10⁵ or more.
	Auto MeasureMethod = iota
	// Elimination is the method of Grassmann, Taksar and Heyman (1985): Gaussian elimination without subtractions. We
	// choose an order of elimination that keeps the graph of the chain sparse. Let n be the number of states (plus 1
	// under discounting). Elimination fills in some zeros of the chain's matrix; let N be the final number of nonzero
	// entries above the diagonal. Unless a product falls below the normal range of float64, every μ(s), however small,
	// has a relative error of at most 16(N+n)2⁻⁵³. Under average cost, N is about n on a path or a tree, and some 20n
	// on a grid of 10⁵ states. If the matrix fills completely, N is about n²/2.
	Elimination
	// GaussSeidel solves μ = (1−γ)α + γμP by sweeps over the states, alternately forward and backward.
	GaussSeidel
	// PowerIteration repeats μ ← (1−γ)α + γμP.
	PowerIteration
	// Multilevel begins as GaussSeidel does. Then it builds a smaller chain, whose states are
	// groups of states, and which moves mass over long distances. It treats the smaller chain in
	// the same way, and so on. All these chains together are the preconditioner of a Krylov
	// iteration. Multilevel suits large chains that mix slowly: on a queueing network of 10⁶
	// states, it reaches a residual of 1e-10 in one and a half seconds, whereas sweeps alone take
	// minutes. Measure.Sweeps does not count sweeps over the smaller chains.
	Multilevel
)

// String returns the method's name.
func (k MeasureMethod) String() string {
	return named("MeasureMethod", int(k), "auto", "elimination", "Gauss–Seidel", "power iteration", "multilevel")
}

// MeasureSettings controls [Occupation]; the zero value suits most models. Only iteration uses the fields after Method.
type MeasureSettings struct {
	Method MeasureMethod
	// Tolerance bounds the residual; 0 means 1e-12. Iteration stops when the flow residual ‖μ − (1−γ)α − γμP‖₁ is at
	// most Tolerance and Measure.Error is at most √Tolerance.
	Tolerance float64
	// MaxSweeps is the greatest number of sweeps; 0 means 100,000.
	MaxSweeps int
	// Start is a guess of μ, such as the measure of a similar policy, or the measure that an interrupted
	// computation returned. Iteration begins from Start; nil means uniform. A guess saves about as many sweeps
	// as the uniform start needs to reach the residual of the guess. [Multilevel] needs some four sweeps
	// to reduce the residual by a factor of ten. For example, take the network of 10⁶ states that the
	// comment on [Multilevel] mentions, and the rule LONGER. From the uniform start, Multilevel reaches a
	// residual of 1e-10 in 54 sweeps. From the measure of a policy that differs from LONGER in one
	// decision out of 10⁴, Multilevel needs 38 sweeps; from the measure of a policy that differs in one
	// decision out of 100, it needs 50.
	Start []float64
	// Progress, if set, is called now and then with the number of sweeps and the residual.
	Progress func(sweep int, residual float64)
}

// Occupation computes the occupation measure of π with default settings.
func (x *MDP) Occupation(ctx context.Context, p *Policy) (*Measure, error) {
	return Occupation(ctx, x, p, MeasureSettings{})
}

// Occupation computes μ^π and ξ^π. It returns an error if the policy does not fit the MDP, if a setting is
// invalid, or if
//   - the chain of π has several recurrent classes under average cost: the stationary distribution is
//     then not unique, and the error names the classes;
//   - Method is [Elimination], and elimination would take too much work, or loses digits;
//   - the mass of a state overflows;
//   - iteration has not converged after MaxSweeps sweeps (or after fewer sweeps, with [Auto]);
//   - iteration ends without a Measure.Error of at most √Tolerance;
//   - ctx ends.
//
// In the last three cases, Occupation also returns the measure so far, if there is one.
func Occupation(ctx context.Context, x *MDP, p *Policy, set MeasureSettings) (*Measure, error) {
	q, err := occupation(ctx, x, p, set)
	if q != nil {
		q.Pair = newFactored(x, []*Policy{p}, [][]float64{q.State}).column(0)
	}
	return q, err
}

// occupation is [Occupation] without Measure.Pair.
func occupation(ctx context.Context, x *MDP, p *Policy, set MeasureSettings) (*Measure, error) {
	if err := x.checkPolicy(p); err != nil {
		return nil, err
	}
	set.Tolerance, set.MaxSweeps = cmp.Or(set.Tolerance, 1e-12), cmp.Or(set.MaxSweeps, 100_000)
	if !(set.Tolerance > 0) || set.MaxSweeps < 0 {
		return nil, fmt.Errorf("mixpolicy: MeasureSettings{Tolerance: %v, MaxSweeps: %d}, want both ≥ 0", set.Tolerance, set.MaxSweeps)
	}
	if set.Start != nil && len(set.Start) != x.n {
		return nil, fmt.Errorf("mixpolicy: MeasureSettings.Start has %d entries, want one per state: %d", len(set.Start), x.n)
	}
	for s, v := range set.Start {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("mixpolicy: MeasureSettings.Start is %v in state %d, want a finite number ≥ 0", v, s)
		}
	}
	chain := x.chain(p)
	support, err := x.support(chain)
	if err != nil {
		return nil, err
	}
	q := &Measure{Method: set.Method, Error: 2}
	switch set.Method {
	case Auto:
		err = x.auto(ctx, q, chain, support, set)
	case Elimination:
		err = x.eliminate(ctx, q, chain, support, atMost)
	case GaussSeidel, PowerIteration:
		err = x.iterate(ctx, q, chain, support, set)
	case Multilevel:
		err = x.multilevel(ctx, q, chain, support, set)
	default:
		return nil, fmt.Errorf("mixpolicy: unknown measure method %v", set.Method)
	}
	if q.State == nil {
		return nil, err
	}
	if !(sum.Of(q.State) <= 2) {
		return nil, fmt.Errorf("mixpolicy: masses overflow in %v; want Elimination", q.Method)
	}
	flow := make([]float64, x.n)
	x.pushForward(chain, flow, q.State)
	q.Residual = sum.Diff1(q.State, flow)
	return q, err
}

// auto fills q by elimination if elimination is cheap and loses no significant digits, and otherwise by the multilevel
// method. If elimination exceeded its limit, and the multilevel method stalls, auto tries elimination with a higher
// limit.
func (x *MDP) auto(ctx context.Context, q *Measure, chain *sparse.Matrix, support []int32, set MeasureSettings) error {
	first := x.eliminate(ctx, q, chain, support, quickly)
	fills := errors.Is(first, reduction.ErrFill)
	if first == nil || ctx.Err() != nil && !fills {
		return first
	}
	// Networks and queues take a hundred sweeps. Random graphs of 10⁵ states, with edge weights that differ by factors of
	// 10⁴, take up to seven hundred sweeps, each over half a million transitions. When sweeps stall, the stored
	// directions of the Krylov iteration cost as much per sweep as 5 transitions per state. Sweeps up to the limit
	// below take some six seconds on one processor.
	stalls := max(200, 500_000_000/(chain.NNZ()+5*x.n))
	q.Method = Multilevel
	most := set.MaxSweeps
	set.MaxSweeps = min(most, stalls)
	err := x.multilevel(ctx, q, chain, support, set)
	if err == nil || ctx.Err() != nil || most <= stalls {
		return err
	}
	if fills {
		var exact Measure
		if first = x.eliminate(ctx, &exact, chain, support, patiently); first == nil {
			*q = exact
			return nil
		}
	}
	return fmt.Errorf("%w; %w, from this measure as Start, with more than %d sweeps", err, first, stalls)
}

// support returns the states that can carry mass: all states under discounting, and the recurrent
// class under average cost. It returns an error if there are several recurrent classes.
func (x *MDP) support(chain *sparse.Matrix) ([]int32, error) {
	if !x.criterion.Average() {
		return allStates(x.n, nil), nil
	}
	classes := chain.ClosedClasses()
	if len(classes) == 1 {
		return classes[0], nil
	}
	names := make([]string, len(classes))
	for k, c := range classes {
		names[k] = x.className(c)
	}
	return nil, fmt.Errorf("mixpolicy: the chain of this policy has %d recurrent classes, %s: its average cost "+
		"depends on the first state; want one class, or a discount factor", len(classes), strings.Join(names, " and "))
}

func (x *MDP) className(states []int32) string {
	const show = 4
	var b strings.Builder
	b.WriteByte('{')
	for k, s := range states {
		if k == show && len(states) > show+1 {
			fmt.Fprintf(&b, ", … %d more", len(states)-k)
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(x.StateName(int(s)))
	}
	b.WriteByte('}')
	return b.String()
}

// pushForward sets dst = (1−γ)α + γ μP. Under discounting, repeating this from μ = (1−γ)α sums the series (2.10).
func (x *MDP) pushForward(chain *sparse.Matrix, dst, mu []float64) {
	chain.MulVecT(dst, mu)
	if x.criterion.Average() {
		return
	}
	g := x.Gamma()
	for s := range dst {
		dst[s] = (1-g)*x.initial[s] + g*dst[s]
	}
}

// iterate fills q.State by sweeps until the flow residual is at most the tolerance, and the
// error is proved to be at most the square root of the tolerance.
func (x *MDP) iterate(ctx context.Context, q *Measure, chain *sparse.Matrix, support []int32, set MeasureSettings) error {
	mu := x.start(support, set)
	normalise(mu)
	q.State = mu
	next := make([]float64, x.n)
	e := x.newErrorBound(chain, support)
	limit := math.Sqrt(set.Tolerance)
	const every = 8 // computing a residual takes as long as one sweep
	residual := math.Inf(1)
	for q.Sweeps < set.MaxSweeps && !math.IsNaN(residual) {
		if err := ctx.Err(); err != nil {
			return stoppedMeasure(q.Sweeps, residual, err)
		}
		if set.Method == PowerIteration {
			x.pushForward(chain, next, mu)
			copy(mu, next)
		} else {
			x.sweep(e.into, e.leave, mu, support, q.Sweeps%2 == 1)
		}
		q.Sweeps++
		normalise(mu)
		if q.Sweeps%every == 0 || q.Sweeps == set.MaxSweeps {
			x.pushForward(chain, next, mu)
			residual = sum.Diff1(mu, next)
			if set.Progress != nil {
				set.Progress(q.Sweeps, residual)
			}
			if residual <= set.Tolerance {
				bound, err := e.prove(ctx, mu, limit, set.MaxSweeps)
				switch {
				case err != nil:
					return stoppedMeasure(q.Sweeps, residual, err)
				case bound <= limit:
					q.Error = bound
					return nil
				case e.unprovable || q.Sweeps == set.MaxSweeps:
					return unproved(q, residual, bound, limit)
				}
			}
		}
	}
	return fmt.Errorf("mixpolicy: measure not converged after %d sweeps of %v: residual %.3g, want %.3g",
		q.Sweeps, set.Method, residual, set.Tolerance)
}

func stoppedMeasure(sweeps int, residual float64, err error) error {
	return fmt.Errorf("mixpolicy: measure stopped after %d sweeps at residual %.3g: %w", sweeps, residual, err)
}

func unproved(q *Measure, residual, bound, limit float64) error {
	return fmt.Errorf("mixpolicy: accuracy of the measure not proved after %d sweeps of %v: residual %.3g, but the error may be %.2g, "+
		"want at most %.2g; the chain leaves some states too rarely, or γ is too close to 1", q.Sweeps, q.Method, residual, bound, limit)
}

// leaving returns 1 − γP(s,s) for every state, computed as 1−γ + γ Σ_{s′≠s} P(s,s′). So a small
// probability of leaving s keeps its digits.
func (x *MDP) leaving(chain *sparse.Matrix) []float64 {
	g := x.Gamma()
	leave := make([]float64, x.n)
	for s := range leave {
		col, val := chain.Row(s)
		for k, c := range col {
			if int(c) != s {
				leave[s] += val[k]
			}
		}
		leave[s] = (1 - g) + g*leave[s]
	}
	return leave
}

// sweep sets each μ(s) in turn to the value that balances the flow at s,
// μ(s) = ((1−γ)α(s) + γ Σ_{s′≠s} μ(s′)P(s′,s)) / (1 − γP(s,s)).
func (x *MDP) sweep(into *sparse.Matrix, leave, mu []float64, support []int32, backward bool) {
	g := x.Gamma()
	for k := range support {
		s := support[k]
		if backward {
			s = support[len(support)-1-k]
		}
		in, _ := others(into, s, mu)
		if in *= g; g < 1 {
			in += (1 - g) * x.initial[s]
		}
		if leave[s] > 0 { // leave is 0 in an absorbing state, which is the whole class and keeps all mass
			mu[s] = in / leave[s]
		}
	}
}

func normalise(mu []float64) {
	total := sum.Of(mu)
	for s := range mu {
		mu[s] /= total
	}
}

// multilevel fills q by [multilevel.Stationary], which computes stationary distributions
// of irreducible chains. A discounted chain gets a further state ∗, the last: every
// state enters ∗ with probability 1−γ, and ∗ leads to s with probability α(s). The new
// chain is irreducible, except for states that cannot be reached from α, whose mass is 0.
// The mass of ∗ is 1−γ times the mass of all other states together. Without ∗, and once
// normalised, the stationary distribution is the discounted measure.
func (x *MDP) multilevel(ctx context.Context, q *Measure, chain *sparse.Matrix, support []int32, set MeasureSettings) error {
	var initial []float64
	if !x.criterion.Average() {
		initial = x.initial
	}
	c := multilevel.Arrivals(chain, support, initial, x.Gamma())
	start := x.start(support, set)
	mu := make([]float64, len(c.Leave))
	for k, s := range support {
		mu[k] = start[s]
	}
	tolerance := set.Tolerance
	if !x.criterion.Average() {
		mu[len(support)] = 1 - x.Gamma()
		// Without ∗, μ has the mass 1/(2−γ) ≥ ½. After division by this mass, the flow residual of μ is at
		// most 2 − γ times the residual with ∗.
		tolerance /= 2 - x.Gamma()
	}
	const reachable = 1e-15 // the least residual that rounding permits
	limit := math.Sqrt(set.Tolerance)
	var e *errorBound
	for {
		r, err := multilevel.Stationary(ctx, c, mu,
			multilevel.Settings{Tolerance: tolerance, MaxSweeps: set.MaxSweeps - q.Sweeps, Progress: set.Progress})
		q.State = make([]float64, x.n)
		q.Sweeps += r.Sweeps
		for k, s := range support {
			q.State[s] = mu[k]
		}
		normalise(q.State)
		if err != nil {
			return fmt.Errorf("mixpolicy: multilevel measure: %w", err)
		}
		bound := r.Error
		if bound == 2 || !x.criterion.Average() || len(support) <= quick {
			if e == nil {
				e = x.newErrorBound(chain, support)
			}
			if bound, err = e.prove(ctx, q.State, limit, e.quick); err != nil {
				return stoppedMeasure(q.Sweeps, r.Residual, err)
			}
		}
		if bound <= limit {
			q.Error = bound
			return nil
		}
		// If bound is 2 and nothing can be proved, the multilevel method has already tried lower residuals for its estimate,
		// without success.
		if tolerance /= 8; !(tolerance >= reachable) || r.Residual < reachable || e != nil && e.unprovable {
			return unproved(q, r.Residual, bound, limit)
		}
	}
}

// start returns the measure at which iteration begins: uniform on the support, or the given
// measure. In the given measure, start gives each state of the support at least a little mass,
// because a sweep sets μ(s) to 0 if no state that enters s has mass.
func (x *MDP) start(support []int32, set MeasureSettings) []float64 {
	mu := make([]float64, x.n)
	for _, s := range support {
		mu[s] = 1 / float64(len(support))
		if set.Start != nil {
			mu[s] = max(set.Start[s], 0x1p-100*mu[s])
		}
	}
	return mu
}
