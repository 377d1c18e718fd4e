package mixpolicy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

var _ linprog.Rows = (*Features)(nil)

// Features is the matrix Ψ = [ψ¹ … ψᵈ] ∈ ℝ^{nm×d} of section 2.2. Its columns are distributions
// over state–action pairs, normally the occupation measures ψʲ = πʲ ⊙ μʲ of d base policies. If the
// columns are occupation measures, Ψᵀ1 = 1 and every row of Ψᵀ(Q − γP) is (1−γ)αᵀ, so Ψθ satisfies
// the corrected flow constraint (2.13b) whenever 1ᵀθ = 1.
//
// A value of type Features also holds the distribution q from which the oracle samples pairs. By
// default, q = (1/d) Σ ψⁱ: a pair is drawn from ψⁱ for an i that is uniform in {1, …, d}. The value
// is immutable and safe for concurrent use.
type Features struct {
	x        *MDP
	psi      matrix
	base     []*Policy // nil if Ψ was built from columns
	measures []Measure // the measures of the base policies; State is nil if psi is factored, because psi then holds μ
	sampling []float64 // q
	draw     func() (*alias.Table, error)
}

// NewFeatures computes the occupation measures of the base policies. If the computation fails for a policy, the error
// gives the index of this policy. If the policy has several recurrent classes under average cost, the error also names
// these classes. Two policies must not have equal occupation measures, because the second policy would then add
// nothing to the mixtures, and the optimal θ might not be unique. The measures of policies i and j may be close, but
// then Ψ is ill-conditioned. The least singular value of Ψ is at most ‖ψⁱ − ψʲ‖₂/√2. A change of θ by t(eⁱ − eʲ)
// changes Ψθ by only |t|‖ψⁱ − ψʲ‖, in any norm. The condition number mat.Cond(f.Dense(), 2) is large if the columns
// of Ψ are nearly dependent.
//
// A Ψ of more than 2²⁰ entries is not stored: each entry is computed, when needed, as πʲ_a(s)μʲ(s). Each state
// then takes 8 bytes per policy for μʲ. For πʲ, a state takes up to 8m bytes, but at most 4 bytes if πʲ comes
// from [Deterministic], or from [NewPolicy], [PolicyFunc] or [Mixture] with at most 1024 distinct rows.
func NewFeatures(ctx context.Context, x *MDP, policies ...*Policy) (*Features, error) {
	return MeasureSettings{}.Features(ctx, x, policies...)
}

// Features does the same as [NewFeatures], but computes the measures with these settings.
func (set MeasureSettings) Features(ctx context.Context, x *MDP, policies ...*Policy) (*Features, error) {
	if len(policies) == 0 {
		return nil, errors.New("mixpolicy: no base policy, want at least one")
	}
	f := &Features{x: x, base: slices.Clone(policies), measures: make([]Measure, len(policies))}
	mu := make([][]float64, len(policies))
	for j, p := range policies {
		q, err := occupation(ctx, x, p, set)
		if err != nil {
			return nil, fault.At("mixpolicy", fmt.Sprintf("base policy %d", j), err)
		}
		f.measures[j], mu[j] = *q, q.State
		for i := range j {
			if sameMeasure(policies[i], p, mu[i], mu[j]) {
				return nil, fmt.Errorf("mixpolicy: base policies %d and %d have the same occupation measure, "+
					"want each once (FeaturesFromColumns accepts equal columns)", i, j)
			}
		}
	}
	f.psi = newMatrix(x, f.base, mu)
	if _, ok := f.psi.(*factored); ok {
		for j := range f.measures {
			f.measures[j].State = nil
		}
	}
	f.setSampling(f.uniformSampling())
	return f, nil
}

// sameMeasure reports whether μ = ν and, where μ > 0, π = ρ, without any tolerance. Then π ⊙ μ = ρ ⊙ ν.
func sameMeasure(pi, rho *Policy, mu, nu []float64) bool {
	for s, v := range mu {
		if v != nu[s] || v > 0 && !slices.Equal(pi.Row(s), rho.Row(s)) {
			return false
		}
	}
	return true
}

// FeaturesFromColumns returns features with these columns, and keeps the columns without copying them.
// Each column must be a distribution over pairs that is 0 at every pair that is not allowed. The columns
// need not be occupation measures; [Features.FlowResidual] measures how much a column violates the
// corrected flow constraint (2.13b).
func FeaturesFromColumns(x *MDP, columns ...[]float64) (*Features, error) {
	if len(columns) == 0 {
		return nil, errors.New("mixpolicy: no feature column, want at least one")
	}
	for j, c := range columns {
		if len(c) != x.Pairs() {
			return nil, fmt.Errorf("mixpolicy: feature column %d has %d entries, want one per pair: %d", j, len(c), x.Pairs())
		}
		for i, v := range c {
			if !(v >= 0) || math.IsInf(v, 1) {
				return nil, fmt.Errorf("mixpolicy: feature column %d, %s: %v, want a probability", j, x.pairName(i/x.m, i%x.m), v)
			}
		}
		if v := sum.Of(c); math.Abs(v-1) > sum.Tolerance(len(c)) {
			return nil, fmt.Errorf("mixpolicy: feature column %d adds up to %v, want 1", j, v)
		}
		if err := x.checkAllowed(c); err != nil {
			return nil, fault.At("mixpolicy", fmt.Sprintf("feature column %d", j), err)
		}
	}
	f := &Features{x: x, psi: stored{columns}}
	f.setSampling(f.uniformSampling())
	return f, nil
}

// SampledBy returns the same Ψ with another sampling distribution: the oracle draws pairs from q instead of
// (1/d) Σ ψⁱ. The slice q must be a distribution over all nm pairs; SampledBy keeps q without copying it. The
// estimator (3.5a), which divides by q, is unbiased only if q is positive wherever a feature is positive. If q violates
// this condition, the error names the first pair at which a feature is positive and q is 0.
func (f *Features) SampledBy(q []float64) (*Features, error) {
	if err := sum.CheckDistribution(q, f.x.Pairs()); err != nil {
		return nil, fmt.Errorf("mixpolicy: sampling distribution: %w", err)
	}
	row := make([]float64, f.Dim())
	for i, p := range q {
		if p > 0 {
			continue
		}
		f.Row(row, i)
		if j := slices.IndexFunc(row, func(v float64) bool { return v != 0 }); j >= 0 {
			return nil, fmt.Errorf("mixpolicy: %s: feature %d is %v at this pair, which is never sampled; "+
				"want a positive sampling probability", f.x.pairName(i/f.x.m, i%f.x.m), j, row[j])
		}
	}
	g := *f
	g.setSampling(q)
	return &g, nil
}

func (f *Features) setSampling(q []float64) {
	f.sampling = q
	f.draw = sync.OnceValues(func() (*alias.Table, error) { return alias.New(q) })
}

func (f *Features) uniformSampling() []float64 {
	q := make([]float64, f.x.Pairs())
	f.MulVec(q, constant(f.Dim(), 1/float64(f.Dim())))
	return q
}

// MDP returns the MDP of the features.
func (f *Features) MDP() *MDP { return f.x }

// Dim returns d, the number of features.
func (f *Features) Dim() int {
	_, d := f.psi.Dims()
	return d
}

// Column returns column j of Ψ, which the caller must not change; Column(0) is ψ¹. If Ψ is not stored,
// each call to Column allocates nm numbers.
func (f *Features) Column(j int) []float64 { return f.psi.column(j) }

// Policy returns base policy j, or nil if Ψ was built from columns. Policy(0) is π¹.
func (f *Features) Policy(j int) *Policy {
	if f.base == nil {
		return nil
	}
	return f.base[j]
}

// Measure returns the measure of base policy j, or nil if Ψ was built from columns. The field Pair of
// the result is the column that [Features.Column] returns.
func (f *Features) Measure(j int) *Measure {
	if f.base == nil {
		return nil
	}
	q := f.measures[j]
	q.Pair = f.Column(j)
	if psi, ok := f.psi.(*factored); ok {
		q.State = psi.state(j)
	}
	return &q
}

// Sampling returns q, which the caller must not change.
func (f *Features) Sampling() []float64 { return f.sampling }

// Row sets dst, of length d, to Ψ_a(s), the row of the pair i = s·m + a.
func (f *Features) Row(dst []float64, i int) { f.psi.Row(dst, i) }

// Dims implements [linprog.Rows]: it returns nm and d.
func (f *Features) Dims() (pairs, d int) { return f.psi.Dims() }

// Apply implements [linprog.Rows]: it sets dst[k] = (Ψθ)ᵢ with i = from + k, for each k.
func (f *Features) Apply(dst []float64, from int, theta []float64) {
	if len(dst)*f.Dim() < 2*worthwhile {
		f.applyPart(dst, from, theta) // no closure: it would allocate
		return
	}
	divide(0, len(dst), len(dst)*f.Dim(), func(_, lo, hi int) { f.applyPart(dst[lo:hi], from+lo, theta) })
}

func (f *Features) applyPart(dst []float64, from int, theta []float64) {
	clear(dst)
	f.psi.add(dst, from, theta)
}

// MulVec sets dst = Ψθ, of length nm.
func (f *Features) MulVec(dst, theta []float64) {
	if len(theta) != f.Dim() {
		panic(fmt.Sprintf("mixpolicy: θ has %d entries, want d = %d", len(theta), f.Dim()))
	}
	f.Apply(dst[:f.x.Pairs()], 0, theta)
}

// MulVecT sets dst = Ψᵀx, of length d.
func (f *Features) MulVecT(dst, x []float64) {
	if len(x)*f.Dim() < 2*worthwhile {
		f.mulColumns(dst, x, 0, f.Dim())
		return
	}
	divide(0, f.Dim(), len(x)*f.Dim(), func(_, lo, hi int) { f.mulColumns(dst, x, lo, hi) })
}

func (f *Features) mulColumns(dst, x []float64, lo, hi int) {
	for j := lo; j < hi; j++ {
		dst[j] = f.psi.dot(j, x)
	}
}

// Dense returns a copy of Ψ as a gonum matrix, nm × d.
func (f *Features) Dense() *mat.Dense {
	psi := mat.NewDense(f.x.Pairs(), f.Dim(), nil)
	for i := range f.x.Pairs() {
		f.Row(psi.RawRowView(i), i)
	}
	return psi
}

// FlowResidual returns ‖ψᵀ(Q − γP) − (1−γ)αᵀ‖₁ for ψ = Column(j). If ψ is an occupation measure, this
// number is 0, up to numerical errors, by the corrected constraint (2.13b). (The printed constraint (2.13b),
// ξᵀ(P − Q) = 0, agrees with the corrected constraint only for γ = 1.)
func (f *Features) FlowResidual(j int) float64 { return f.x.FlowResidual(f.Column(j)) }

// FlowResidual returns ‖ξᵀ(Q − γP) − (1−γ)αᵀ‖₁ for a vector ξ over pairs.
func (x *MDP) FlowResidual(xi []float64) float64 {
	flow := make([]float64, x.n)
	x.p.MulVecT(flow, xi)
	g := x.Gamma()
	var total sum.Accumulator
	for s := range x.n {
		out := sum.Of(xi[s*x.m : (s+1)*x.m])
		total.Add(math.Abs(out - ((1-g)*x.initial[s] + g*flow[s])))
	}
	return total.Value()
}

// PolicyOf returns π^θ of (2.20), the policy of the measure Ψθ.
func (f *Features) PolicyOf(theta []float64) (*Policy, error) {
	if k := slices.IndexFunc(theta, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); k >= 0 {
		return nil, fmt.Errorf("mixpolicy: θ%d is %v, want a finite number", k+1, theta[k])
	}
	xi := make([]float64, f.x.Pairs())
	f.MulVec(xi, theta)
	return PolicyOf(f.x, xi)
}

// matrix is Ψ, stored or factored. Both forms give the same numbers, bit for bit.
type matrix interface {
	Dims() (n, d int)
	// Row stores row i in dst.
	Row(dst []float64, i int)
	// add adds (Ψθ)ᵢ to dst for the rows i = from, …, from+len(dst)−1, beginning with the term of ψ¹.
	add(dst []float64, from int, theta []float64)
	// column returns ψʲ, borrowed if Ψ is stored.
	column(j int) []float64
	// dot returns ψʲᵀx.
	dot(j int, x []float64) float64
}

// storedLimit is the greatest number of entries of a Ψ that newMatrix stores. These entries take
// 8 MiB, which fits in the cache. An iteration with dense multipliers reads all of Ψ. Reading a stored Ψ of this size
// takes half as long as reading a factored Ψ.
const storedLimit = 1 << 20

// newMatrix returns Ψ, computed from the base policies and their state measures.
func newMatrix(x *MDP, policies []*Policy, mu [][]float64) matrix {
	psi := newFactored(x, policies, mu)
	if n, d := psi.Dims(); n*d > storedLimit {
		return psi
	}
	columns := make([][]float64, len(policies))
	for j := range columns {
		columns[j] = psi.column(j)
	}
	return stored{columns}
}

// A stored matrix holds the columns of Ψ.
type stored struct{ linprog.Columns }

func (c stored) add(dst []float64, from int, theta []float64) {
	for j, v := range c.Columns {
		floats.AddScaled(dst, theta[j], v[from:from+len(dst)])
	}
}

func (c stored) column(j int) []float64 { return c.Columns[j] }

func (c stored) dot(j int, x []float64) float64 { return sum.Dot(c.Columns[j], x) }

// A factored matrix holds the factors of Ψ: ψʲ_a(s) = πʲ_a(s) μʲ(s).
type factored struct {
	n, m, d  int
	policies []*Policy
	mu       []float64 // μʲ(s) at s·d + j, so the entries that a row of Ψ needs are adjacent
}

func newFactored(x *MDP, policies []*Policy, mu [][]float64) *factored {
	c := &factored{n: x.n, m: x.m, d: len(policies), policies: policies, mu: make([]float64, x.n*len(policies))}
	for j, v := range mu {
		for s, p := range v {
			c.mu[s*c.d+j] = p
		}
	}
	return c
}

func (c *factored) Dims() (n, d int) { return c.n * c.m, c.d }

func (c *factored) Row(dst []float64, i int) {
	s := i / c.m
	a := i - s*c.m
	for j, mu := range c.mu[s*c.d:][:c.d] {
		dst[j] = c.policies[j].Row(s)[a] * mu
	}
}

func (c *factored) add(dst []float64, from int, theta []float64) {
	for len(dst) > 0 {
		// A block stays in the first-level cache while all features are added.
		block := dst[:min(len(dst), 1024)]
		for j, t := range theta {
			c.addColumn(block, from, j, t)
		}
		dst, from = dst[len(block):], from+len(block)
	}
}

// addColumn adds t ψʲᵢ to dst for the rows i = from, …, from+len(dst)−1.
func (c *factored) addColumn(dst []float64, from, j int, t float64) {
	p, mu := c.policies[j], c.mu[j:]
	s := from / c.m
	skip := from - s*c.m
	if p.deterministic() {
		for first := -skip; first < len(dst); s, first = s+1, first+c.m {
			if i := first + p.unit(s); uint(i) < uint(len(dst)) {
				dst[i] += t * mu[s*c.d]
			}
		}
		return
	}
	for ; len(dst) > 0; s, skip = s+1, 0 {
		row := p.Row(s)[skip:]
		row = row[:min(len(row), len(dst))]
		for a, w := range row {
			dst[a] += t * (w * mu[s*c.d])
		}
		dst = dst[len(row):]
	}
}

func (c *factored) column(j int) []float64 {
	psi := make([]float64, c.n*c.m)
	c.addColumn(psi, 0, j, 1)
	return psi
}

// state returns μʲ.
func (c *factored) state(j int) []float64 {
	mu := make([]float64, c.n)
	for s := range mu {
		mu[s] = c.mu[s*c.d+j]
	}
	return mu
}

func (c *factored) dot(j int, x []float64) float64 {
	var total sum.Accumulator
	p := c.policies[j]
	for s := range c.n {
		mu := c.mu[s*c.d+j]
		if p.deterministic() {
			total.Add(mu * x[s*c.m+p.unit(s)])
			continue
		}
		row := p.Row(s)
		for a, v := range x[s*c.m:][:c.m] {
			total.Add(row[a] * mu * v)
		}
	}
	return total.Value()
}
