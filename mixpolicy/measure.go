package mixpolicy

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/internal/multilevel"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// Measure holds the state distribution μ^π of a policy (2.10)–(2.11) and its
// occupation measure ξ^π = π ⊙ μ^π (2.12). Under the discounted criterion μ is
//
//	μ = (1−γ) α (I − γP^π)⁻¹,  that is  μ = (1−γ)α + γ μP^π,
//
// which the paper calls stationary; it is so only in the limit γ → 1. Under the
// average-cost criterion μ is the stationary distribution, μ = μP^π.
type Measure struct {
	State []float64 // μ, n
	Pair  []float64 // ξ, nm, index s·m + a

	// Residual is the flow error ‖μ − (1−γ)α − γμP^π‖₁ of what was computed.
	Residual float64
	// Error estimates the distance ‖μ̂ − μ‖₁ of what was computed from the truth, for
	// [Multilevel]; 0 if no estimate was made. A slow chain has an error many times its
	// residual. What hides below the rounding of the residual is not seen.
	Error  float64
	Method MeasureMethod
	Sweeps int // 0 for elimination
}

// Cost returns cᵀξ for costs c over pairs.
func (q *Measure) Cost(c []float64) float64 {
	if len(c) != len(q.Pair) {
		panic(fmt.Sprintf("mixpolicy: Cost of %d costs, want one per pair: %d", len(c), len(q.Pair)))
	}
	return sum.Dot(c, q.Pair)
}

// MeasureMethod is a way to compute μ.
type MeasureMethod int

const (
	// Auto is Elimination up to eliminationLimit states, and Multilevel beyond.
	Auto MeasureMethod = iota
	// Elimination is the method of Grassmann, Taksar and Heyman (1985): Gaussian
	// elimination without a subtraction, so that every μ(s), however small, has a
	// relative error of a few n·2⁻⁵³. O(n³) in the worst case, O(n²) on a band.
	Elimination
	// GaussSeidel sweeps through μ = (1−γ)α + γμP forward and backward in turn.
	GaussSeidel
	// PowerIteration repeats μ ← (1−γ)α + γμP.
	PowerIteration
	// Multilevel begins as GaussSeidel does. If that is slow, groups of states are
	// lumped to a smaller chain that moves mass over long distances, which is treated
	// in the same way; and the whole preconditions a Krylov iteration. It is the method
	// for large chains that mix slowly: 10⁶ states of a queueing network take one and a
	// half seconds to a residual of 1e-10, sweeps alone minutes. Sweeps over groups of states
	// don't count.
	Multilevel
)

// String returns the method's name.
func (k MeasureMethod) String() string {
	switch k {
	case Auto:
		return "auto"
	case Elimination:
		return "elimination"
	case GaussSeidel:
		return "Gauss–Seidel"
	case PowerIteration:
		return "power iteration"
	case Multilevel:
		return "multilevel"
	}
	return fmt.Sprintf("MeasureMethod(%d)", int(k))
}

// eliminationLimit keeps the dense n³/3 of elimination under about a second and
// its n² numbers under 20 MB.
const eliminationLimit = 1500

// MeasureSettings control [Occupation]; the zero value is good.
type MeasureSettings struct {
	Method MeasureMethod
	// Tolerance is the flow residual ‖μ − (1−γ)α − γμP‖₁ at which iteration stops;
	// 0 is 1e-12.
	Tolerance float64
	// MaxSweeps bounds iteration; 0 is 100,000.
	MaxSweeps int
	// Start is where iteration begins, a guess of μ over states such as the measure of
	// a similar policy or of an interrupted run; nil is uniform. What it saves is the way
	// to its own residual. [Multilevel] gains a factor of ten in some four sweeps: in the
	// network of 10⁶ states, 46 sweeps for a residual of 1e-10 become 38 from the measure
	// of a policy that decides otherwise once in 10⁴ times, and no fewer from one that does
	// so once in a hundred.
	Start []float64
	// Progress, when set, is told the residual now and then.
	Progress func(sweep int, residual float64)
}

// Occupation computes the occupation measure of π with default settings.
func (x *MDP) Occupation(ctx context.Context, p *Policy) (*Measure, error) {
	return Occupation(ctx, x, p, MeasureSettings{})
}

// Occupation computes μ^π and ξ^π. Errors: a chain with several recurrent classes
// under average cost (they are named: its stationary distribution is not unique),
// no convergence within MaxSweeps, cancellation. In the last two cases the measure
// reached so far is returned with the error.
func Occupation(ctx context.Context, x *MDP, p *Policy, set MeasureSettings) (*Measure, error) {
	q, err := occupation(ctx, x, p, set)
	if q != nil {
		q.Pair = newFactored(x, []*Policy{p}, [][]float64{q.State}).column(0)
	}
	return q, err
}

// occupation is [Occupation], less Measure.Pair.
func occupation(ctx context.Context, x *MDP, p *Policy, set MeasureSettings) (*Measure, error) {
	if err := x.checkPolicy(p); err != nil {
		return nil, err
	}
	if set.Tolerance == 0 {
		set.Tolerance = 1e-12
	}
	if set.MaxSweeps == 0 {
		set.MaxSweeps = 100_000
	}
	if !(set.Tolerance > 0) || set.MaxSweeps < 0 {
		return nil, fmt.Errorf("mixpolicy: MeasureSettings{Tolerance: %v, MaxSweeps: %d}, want both positive", set.Tolerance, set.MaxSweeps)
	}
	if set.Start != nil {
		if err := checkStart(set.Start, x.n); err != nil {
			return nil, err
		}
	}
	chain := x.chain(p)
	support, err := x.support(chain)
	if err != nil {
		return nil, err
	}
	if set.Method == Auto {
		set.Method = Multilevel
		if len(support) <= eliminationLimit {
			set.Method = Elimination
		}
	}
	q := &Measure{Method: set.Method}
	switch set.Method {
	case Elimination:
		q.State, err = x.eliminate(chain, support)
		if err != nil {
			return nil, err
		}
	case GaussSeidel, PowerIteration:
		err = x.iterate(ctx, q, chain, support, set)
	case Multilevel:
		err = x.multilevel(ctx, q, chain, support, set)
	default:
		return nil, fmt.Errorf("mixpolicy: unknown measure method %v", set.Method)
	}
	q.Residual = x.flowResidual(chain, q.State)
	return q, err
}

func checkStart(mu []float64, n int) error {
	if len(mu) != n {
		return fmt.Errorf("mixpolicy: MeasureSettings.Start has %d entries, want one per state: %d", len(mu), n)
	}
	for s, v := range mu {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("mixpolicy: MeasureSettings.Start is %v in state %d, want a finite number ≥ 0", v, s)
		}
	}
	return nil
}

// support returns the states that can carry mass: all of them under discounting,
// the one recurrent class under average cost.
func (x *MDP) support(chain *sparse.Matrix) ([]int32, error) {
	if !x.criterion.Average() {
		all := make([]int32, x.n)
		for s := range all {
			all[s] = int32(s)
		}
		return all, nil
	}
	classes := chain.ClosedClasses()
	if len(classes) == 1 {
		return classes[0], nil
	}
	names := make([]string, len(classes))
	for k, c := range classes {
		names[k] = x.className(c)
	}
	return nil, fmt.Errorf("mixpolicy: the chain of this policy has %d recurrent classes, %s: its average cost depends on the first state; want one class, or a discount factor",
		len(classes), strings.Join(names, " and "))
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

// flowResidual returns ‖μ − (1−γ)α − γμP‖₁.
func (x *MDP) flowResidual(chain *sparse.Matrix, mu []float64) float64 {
	flow := make([]float64, x.n)
	x.pushForward(chain, flow, mu)
	return sum.Diff1(mu, flow)
}

// pushForward sets dst = (1−γ)α + γ μP. Repeated from μ = (1−γ)α it adds up the series (2.10).
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

// iterate fills q.State by sweeps until the flow residual meets the tolerance.
func (x *MDP) iterate(ctx context.Context, q *Measure, chain *sparse.Matrix, support []int32, set MeasureSettings) error {
	mu := x.start(support, set)
	normalise(mu)
	q.State = mu
	next := make([]float64, x.n)
	var into *sparse.Matrix
	var leave []float64
	if set.Method == GaussSeidel {
		into, leave = chain.Transpose(), x.leaving(chain)
	}
	const every = 8 // a residual costs about one sweep
	residual := math.Inf(1)
	for q.Sweeps < set.MaxSweeps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("mixpolicy: measure stopped after %d sweeps at residual %.3g: %w", q.Sweeps, residual, err)
		}
		if set.Method == PowerIteration {
			x.pushForward(chain, next, mu)
			copy(mu, next)
		} else {
			x.sweep(into, leave, mu, support, q.Sweeps%2 == 1)
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
				return nil
			}
		}
	}
	return fmt.Errorf("mixpolicy: measure not converged after %d sweeps of %v: residual %.3g, want %.3g", q.Sweeps, set.Method, residual, set.Tolerance)
}

// leaving returns 1 − γP(s,s) for every state, as 1−γ + γ Σ_{s′≠s} P(s,s′): a
// state that is hardly ever left keeps its digits.
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

// sweep sets each μ(s) in turn to the value that balances its own flow,
// μ(s) = ((1−γ)α(s) + γ Σ_{s′≠s} μ(s′)P(s′,s)) / (1 − γP(s,s)).
func (x *MDP) sweep(into *sparse.Matrix, leave, mu []float64, support []int32, backward bool) {
	g := x.Gamma()
	for k := range support {
		s := support[k]
		if backward {
			s = support[len(support)-1-k]
		}
		var in float64
		col, val := into.Row(int(s))
		for k, c := range col {
			if c != s {
				in += mu[c] * val[k]
			}
		}
		in *= g
		if g < 1 {
			in += (1 - g) * x.initial[s]
		}
		if leave[s] > 0 { // 0: an absorbing state is its own class and keeps all mass
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

// multilevel fills q by [multilevel.Stationary], which works on stationary
// distributions of irreducible chains. A discounted chain is made one of those by a
// further state ∗, the last, that every state enters with probability 1−γ and that is
// left for s with probability α(s). It has the mass 1−γ of the other states together;
// without it μ is the discounted measure.
func (x *MDP) multilevel(ctx context.Context, q *Measure, chain *sparse.Matrix, support []int32, set MeasureSettings) error {
	c := x.arrivals(chain, support)
	start := x.start(support, set)
	mu := make([]float64, len(c.Leave))
	for k, s := range support {
		mu[k] = start[s]
	}
	tolerance := set.Tolerance
	if !x.criterion.Average() {
		mu[len(support)] = 1 - x.Gamma()
		// The flow residual of μ without ∗, divided by its mass of 1/(2−γ) ≥ ½, is at
		// most 2 − γ times that of the whole.
		tolerance /= 2 - x.Gamma()
	}
	r, err := multilevel.Stationary(ctx, c, mu, multilevel.Settings{Tolerance: tolerance, MaxSweeps: set.MaxSweeps, Progress: set.Progress})
	q.State, q.Sweeps, q.Error = make([]float64, x.n), r.Sweeps, r.Error
	for k, s := range support {
		q.State[s] = mu[k]
	}
	normalise(q.State)
	if !x.criterion.Average() {
		q.Error *= 2 * (2 - x.Gamma()) // taking ∗ out and dividing by what is left
	}
	if err != nil {
		return fmt.Errorf("mixpolicy: multilevel measure: %w", err)
	}
	return nil
}

// arrivals returns the chain on the support, with ∗ under discounting, as lists of
// where each state is entered from: a counting sort, in which workers take the sources
// part by part.
func (x *MDP) arrivals(chain *sparse.Matrix, support []int32) multilevel.Chain {
	number := make([]int32, x.n)
	for k, s := range support {
		number[s] = int32(k)
	}
	n, gamma := len(support), x.Gamma()
	size := n
	if !x.criterion.Average() {
		size++
	}
	const mostParts = 4 // a part needs a count of each state
	at := make([][]int32, mostParts)
	parts := split(min(mostParts, runtime.GOMAXPROCS(0)), n, chain.NNZ(), func(part, lo, hi int) {
		count := make([]int32, n)
		for _, s := range support[lo:hi] {
			for _, to := range chain.Col[chain.Ptr[s]:chain.Ptr[s+1]] {
				if to != s {
					count[number[to]]++
				}
			}
		}
		at[part] = count
	})
	in := &sparse.Matrix{Rows: size, Cols: size, Ptr: make([]int, size+1)}
	for i := range n {
		end := in.Ptr[i]
		for _, count := range at[:parts] {
			end, count[i] = end+int(count[i]), int32(end-in.Ptr[i]) // where in row i the part begins
		}
		if size > n && x.initial[support[i]] > 0 {
			end++ // from ∗, the last
		}
		in.Ptr[i+1] = end
	}
	if size > n {
		in.Ptr[size] = in.Ptr[n] + n
	}
	in.Col, in.Val = make([]int32, in.Ptr[size]), make([]float64, in.Ptr[size])
	leave := make([]float64, size)
	split(min(mostParts, runtime.GOMAXPROCS(0)), n, chain.NNZ(), func(part, lo, hi int) {
		at := at[part]
		for k := lo; k < hi; k++ {
			s := support[k]
			col, val := chain.Row(int(s))
			for e, to := range col {
				if to == s {
					continue
				}
				i := number[to]
				p := gamma * val[e]
				in.Col[in.Ptr[i]+int(at[i])], in.Val[in.Ptr[i]+int(at[i])] = int32(k), p
				at[i]++
				leave[k] += p
			}
		}
	})
	if size > n {
		for k, s := range support {
			in.Col[in.Ptr[n]+k], in.Val[in.Ptr[n]+k] = int32(k), 1-gamma
			leave[k] += 1 - gamma
			if p := x.initial[s]; p > 0 {
				last := in.Ptr[k+1] - 1
				in.Col[last], in.Val[last] = int32(n), p
				leave[n] += p
			}
		}
	}
	return multilevel.Chain{In: in, Leave: leave}
}

// start returns the measure at which iteration begins: uniform on the support, or
// the given one, of which every state of the support keeps a little, since a sweep
// can't bring back what a group of states has lost.
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

// reduced is a chain after the state reduction of Grassmann, Taksar and Heyman
// (1985). State k leaves for 0..k−1 with probability l_k = Σ_{j<k} a[k][j]; once
// that is divided out, the chain watched on 0..k−1 remains. No difference is ever
// formed, so every entry keeps a relative error of a few n·2⁻⁵³, however small.
//
// A discounted chain is made an undiscounted one by a further state ∗, number 0,
// that every state enters with probability 1−γ and that is left for s with
// probability α(s).
type reduced struct {
	states []int32     // states[k] is number first + k
	first  int         // 1 if ∗ is number 0, else 0
	a      [][]float64 // a[k][j], j < k: as watched on 0..k;  a[i][k], i < k: divided by l_k
	leave  []float64   // l_k
}

// reduce eliminates the given states from the linear system of (2.11), the last first. Number 0 must be reached
// from all others.
func (x *MDP) reduce(chain *sparse.Matrix, states []int32) *reduced {
	r := &reduced{states: states}
	gamma := x.Gamma()
	if gamma < 1 {
		r.first = 1
	}
	size := r.first + len(states)
	number := make([]int, x.n)
	for k, s := range states {
		number[s] = r.first + k
	}
	entries := make([]float64, size*size)
	r.a = make([][]float64, size)
	for k := range r.a {
		r.a[k] = entries[k*size : (k+1)*size]
	}
	for k, s := range states {
		row := r.a[r.first+k]
		col, val := chain.Row(int(s))
		for e, c := range col {
			row[number[c]] = gamma * val[e]
		}
		if r.first == 1 {
			row[0] = 1 - gamma
			r.a[0][1+k] = x.initial[s]
		}
	}
	r.leave = make([]float64, size)
	for k := size - 1; k > 0; k-- {
		row := r.a[k][:k]
		r.leave[k] = sum.Of(row)
		for i := range k {
			f := r.a[i][k] / r.leave[k]
			r.a[i][k] = f
			if f == 0 {
				continue
			}
			to := r.a[i][:k]
			for j, p := range row {
				to[j] += f * p
			}
		}
	}
	return r
}

// measure returns what is proportional to the stationary distribution, by number:
// v(k) = Σ_{i<k} v(i) a(i,k), each the mass that flows into k, over l_k.
func (r *reduced) measure() []float64 {
	v := make([]float64, len(r.a))
	v[0] = 1
	for k := 1; k < len(v); k++ {
		for i := range k {
			v[k] += v[i] * r.a[i][k]
		}
		if v[k] > 1 { // mass grows away from 0: a power of two keeps the greatest below 1, and every digit
			_, e := math.Frexp(v[k])
			for i := range v[:k+1] {
				v[i] = math.Ldexp(v[i], -e)
			}
		}
	}
	return v
}

// values returns v = c + γPv and 0; without a discount, h = c − g + Ph with h = 0
// in state number 0, and the gain g. Costs and durations are carried along with the
// chain that is watched: C_i and T_i are what it costs and how long it takes from i
// to the next state that is still watched.
func (r *reduced) values(cost []float64) (v []float64, gain float64) {
	size := len(r.a)
	c, t := make([]float64, size), make([]float64, size)
	for k, s := range r.states {
		c[r.first+k], t[r.first+k] = cost[s], 1
	}
	for k := size - 1; k > 0; k-- {
		for i := range k {
			if f := r.a[i][k]; f != 0 {
				c[i] += f * c[k]
				t[i] += f * t[k]
			}
		}
	}
	if r.first == 0 {
		gain = c[0] / t[0] // cost of a cycle over its length
	}
	h := make([]float64, size)
	for k := 1; k < size; k++ {
		for j, p := range r.a[k][:k] {
			h[k] += p * h[j]
		}
		h[k] = (h[k] + c[k] - gain*t[k]) / r.leave[k]
	}
	v = make([]float64, len(cost))
	for k, s := range r.states {
		v[s] = h[r.first+k]
	}
	return v, gain
}

// eliminate returns μ, which lives on the support.
func (x *MDP) eliminate(chain *sparse.Matrix, support []int32) ([]float64, error) {
	r := x.reduce(chain, support)
	v := r.measure()
	total := sum.Of(v[r.first:])
	mu := make([]float64, x.n)
	for k, s := range support {
		mu[s] = v[r.first+k] / total
	}
	if math.IsNaN(total) {
		rare := len(r.leave) - 1 // it was eliminated first, from numbers that were given; others may be NaN
		for k, l := range r.leave[1:] {
			if l < r.leave[rare] {
				rare = 1 + k
			}
		}
		return nil, fmt.Errorf("mixpolicy: state %s is left with probability %.3g, so rarely that the measure can't be represented",
			x.StateName(int(support[rare-r.first])), r.leave[rare])
	}
	return mu, nil
}
