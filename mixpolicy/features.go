package mixpolicy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

var _ linprog.Rows = (*Features)(nil)

// Features is the matrix Ψ = [ψ¹ … ψᵈ] ∈ ℝ^{nm×d} of section 2.2. Its columns are
// distributions over state–action pairs, normally the occupation measures
// ψʲ = πʲ ⊙ μʲ of d base policies; then Ψᵀ1 = 1 and Ψᵀ(Q − γP) = (1−γ)αᵀ in every
// row, so that Ψθ satisfies the flow constraint whenever 1ᵀθ = 1.
//
// Features also fix the distribution q over pairs from which the oracle samples:
// that of drawing i uniformly and then (s, a) ~ ψⁱ, which is q = (1/d) Σ ψⁱ.
// It is immutable and safe for concurrent use.
type Features struct {
	x        *MDP
	psi      matrix
	base     []*Policy // nil if the columns were given
	measures []Measure // of the base policies; State is nil if it is in psi
	sampling []float64 // q
	draw     func() (*alias.Table, error)
}

// NewFeatures computes the occupation measures of the base policies. The error names a policy
// by its index, with its recurrent classes if there are several under average cost.
func NewFeatures(x *MDP, policies ...*Policy) (*Features, error) {
	return NewFeaturesContext(context.Background(), x, MeasureSettings{}, policies...)
}

// NewFeaturesContext is [NewFeatures] with a context and settings. Errors name the
// policy by its index j. With the error come the features of the policies before it, the
// first j, or nil if it is the first: after a cancellation only the others are left to
// do, and [FeaturesFromMeasures] puts the measures of both runs together.
//
// A large Ψ is not stored: an entry is πʲ_a(s)μʲ(s), and a state takes 8 bytes a policy,
// with 4 for deterministic and other policies of few different rows, whatever the
// number of actions.
func NewFeaturesContext(ctx context.Context, x *MDP, set MeasureSettings, policies ...*Policy) (*Features, error) {
	if len(policies) == 0 {
		return nil, errors.New("mixpolicy: no base policy, want at least one")
	}
	measures := make([]Measure, len(policies))
	for j, p := range policies {
		q, err := occupation(ctx, x, p, set)
		if err != nil {
			err = fmt.Errorf("mixpolicy: base policy %d: %w", j, err)
			if j == 0 {
				return nil, err
			}
			return newFeatures(x, policies[:j], measures[:j]), err
		}
		measures[j] = *q
	}
	return newFeatures(x, policies, measures), nil
}

// newFeatures returns the features of base policies and their measures, of which it
// needs State only.
func newFeatures(x *MDP, policies []*Policy, measures []Measure) *Features {
	f := &Features{x: x, base: slices.Clone(policies), measures: measures}
	mu := make([][]float64, len(policies))
	for j := range mu {
		mu[j] = measures[j].State
	}
	f.psi = newMatrix(x, f.base, mu)
	if _, ok := f.psi.(*factored); ok {
		for j := range measures {
			measures[j].State = nil
		}
	}
	f.setSampling(f.uniformSampling())
	return f
}

// FeaturesFromColumns takes given columns, each a distribution over pairs (kept,
// not copied). They need not be occupation measures; [Features.FlowResidual] tells
// how far each is from being one.
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
	}
	f := &Features{x: x, psi: stored{columns}}
	f.setSampling(f.uniformSampling())
	return f, nil
}

// SampledBy returns the same features with pairs drawn from q (nm, kept) instead of
// (1/d) Σ ψⁱ. The estimator (3.5a), which divides by q, is unbiased only if q is
// positive wherever a feature is: the error names the first row that would never be
// sampled.
func (f *Features) SampledBy(q []float64) (*Features, error) {
	if len(q) != f.x.Pairs() {
		return nil, fmt.Errorf("mixpolicy: sampling distribution has %d entries, want one per pair: %d", len(q), f.x.Pairs())
	}
	if err := sum.CheckDistribution(q, len(q)); err != nil {
		return nil, fmt.Errorf("mixpolicy: sampling distribution: %w", err)
	}
	row := make([]float64, f.Dim())
	for i, p := range q {
		if p > 0 {
			continue
		}
		f.Row(row, i)
		if j := slices.IndexFunc(row, func(v float64) bool { return v != 0 }); j >= 0 {
			return nil, fmt.Errorf("mixpolicy: %s: feature %d is %v there, but the row is never sampled; want a positive sampling probability", f.x.pairName(i/f.x.m, i%f.x.m), j, row[j])
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

// MDP returns the process the features are for.
func (f *Features) MDP() *MDP { return f.x }

// Dim returns d, the number of features.
func (f *Features) Dim() int {
	_, d := f.psi.Dims()
	return d
}

// Column returns ψʲ, which is not to be changed. It takes memory for nm numbers if Ψ is
// not stored.
func (f *Features) Column(j int) []float64 { return f.psi.column(j) }

// Policy returns base policy j, nil if the column was given.
func (f *Features) Policy(j int) *Policy {
	if f.base == nil {
		return nil
	}
	return f.base[j]
}

// Measure returns the measure of base policy j with its residual, nil if the column
// was given. Its Pair is [Features.Column].
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

// Sampling returns q, borrowed.
func (f *Features) Sampling() []float64 { return f.sampling }

// Row sets dst to Ψ_a(s), the row of pair i, of length d.
func (f *Features) Row(dst []float64, i int) { f.psi.Row(dst, i) }

// Dims implements [linprog.Rows]: it returns nm and d.
func (f *Features) Dims() (pairs, d int) { return f.psi.Dims() }

// Apply implements [linprog.Rows]: it sets dst to the rows of Ψθ from the given one on.
func (f *Features) Apply(dst []float64, from int, theta []float64) {
	if len(dst)*f.Dim() < 2*worthwhile {
		f.applyPart(dst, from, theta) // without a closure, which allocates
		return
	}
	split(0, len(dst), len(dst)*f.Dim(), func(_, lo, hi int) { f.applyPart(dst[lo:hi], from+lo, theta) })
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
	split(0, f.Dim(), len(x)*f.Dim(), func(_, lo, hi int) { f.mulColumns(dst, x, lo, hi) })
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

// FlowResidual returns ‖ψʲᵀ(Q − γP) − (1−γ)αᵀ‖₁, which is zero for an occupation
// measure: the corrected constraint (2.13b). (The printed ξᵀ(P − Q) = 0 is this
// constraint for γ = 1.)
func (f *Features) FlowResidual(j int) float64 { return f.x.FlowResidual(f.Column(j)) }

// FlowResidual returns ‖ξᵀ(Q − γP) − (1−γ)αᵀ‖₁ for a vector ξ over pairs.
func (x *MDP) FlowResidual(xi []float64) float64 {
	flow := make([]float64, x.n)
	x.p.MulVecT(flow, xi)
	g := x.Gamma()
	var total sum.Accumulator
	for s := range x.n {
		out := sum.Of(xi[s*x.m : (s+1)*x.m])
		in := g * flow[s]
		if g < 1 {
			in += (1 - g) * x.initial[s]
		}
		total.Add(math.Abs(out - in))
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

// FeaturesFromMeasures takes the measures of base policies, such as those of runs of
// [Occupation] that were interrupted and continued; of a measure it needs State. The
// error names a measure that is no distribution, or whose flow residual, which is
// computed again, is above the tolerance: it is of another policy or another MDP.
func FeaturesFromMeasures(x *MDP, policies []*Policy, measures []*Measure, tolerance float64) (*Features, error) {
	if len(policies) == 0 || len(policies) != len(measures) {
		return nil, fmt.Errorf("mixpolicy: %d base policies and %d measures, want as many, at least one", len(policies), len(measures))
	}
	own := make([]Measure, len(measures))
	for j, q := range measures {
		if err := x.checkMeasure(policies[j], q, tolerance); err != nil {
			return nil, fault.At("mixpolicy", fmt.Sprintf("base policy %d", j), err)
		}
		own[j] = *q
		own[j].Pair = nil
	}
	return newFeatures(x, policies, own), nil
}

// checkMeasure makes sure that q is the measure of p.
func (x *MDP) checkMeasure(p *Policy, q *Measure, tolerance float64) error {
	if err := x.checkPolicy(p); err != nil {
		return err
	}
	if q == nil {
		return errors.New("measure is nil")
	}
	if err := sum.CheckDistribution(q.State, x.n); err != nil {
		return fmt.Errorf("measure: %w", err)
	}
	chain := x.chain(p)
	if residual := x.flowResidual(chain, q.State); !(residual <= tolerance) {
		return fmt.Errorf("measure has the flow residual %.3g, want at most %.3g: it is not that of this policy in this MDP", residual, tolerance)
	}
	return nil
}
