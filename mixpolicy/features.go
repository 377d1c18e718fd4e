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
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

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
	columns  [][]float64 // d columns of length nm
	measures []*Measure  // of the base policies; nil if the columns were given
	sampling []float64   // q
	draw     func() (*alias.Table, error)
}

// NewFeatures computes the occupation measures of the base policies.
func NewFeatures(x *MDP, policies ...*Policy) (*Features, error) {
	return NewFeaturesContext(context.Background(), x, MeasureSettings{}, policies...)
}

// NewFeaturesContext is [NewFeatures] with a context and settings. Errors name the
// policy by its index.
func NewFeaturesContext(ctx context.Context, x *MDP, set MeasureSettings, policies ...*Policy) (*Features, error) {
	if len(policies) == 0 {
		return nil, errors.New("mixpolicy: no base policy, want at least one")
	}
	f := &Features{x: x}
	for j, p := range policies {
		q, err := Occupation(ctx, x, p, set)
		if err != nil {
			return nil, fmt.Errorf("mixpolicy: base policy %d: %w", j, err)
		}
		f.measures = append(f.measures, q)
		f.columns = append(f.columns, q.Pair)
	}
	f.setSampling(f.uniformSampling())
	return f, nil
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
		if v := sum.Of(c); math.Abs(v-1) > rowSumTolerance(len(c)) {
			return nil, fmt.Errorf("mixpolicy: feature column %d adds up to %v, want 1", j, v)
		}
	}
	f := &Features{x: x, columns: columns}
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
	if err := checkDistribution(q, len(q)); err != nil {
		return nil, fmt.Errorf("mixpolicy: sampling distribution: %w", err)
	}
	for j, c := range f.columns {
		for i, v := range c {
			if v != 0 && q[i] == 0 {
				return nil, fmt.Errorf("mixpolicy: %s: feature %d is %v there, but the row is never sampled; want a positive sampling probability", f.x.pairName(i/f.x.m, i%f.x.m), j, v)
			}
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
	for _, c := range f.columns {
		floats.AddScaled(q, 1/float64(len(f.columns)), c)
	}
	return q
}

// MDP returns the process the features are for.
func (f *Features) MDP() *MDP { return f.x }

// Dim returns d, the number of features.
func (f *Features) Dim() int { return len(f.columns) }

// Column returns ψʲ, borrowed.
func (f *Features) Column(j int) []float64 { return f.columns[j] }

// Measure returns the measure of base policy j with its residual, nil if the column
// was given.
func (f *Features) Measure(j int) *Measure {
	if f.measures == nil {
		return nil
	}
	return f.measures[j]
}

// Sampling returns q, borrowed.
func (f *Features) Sampling() []float64 { return f.sampling }

// Row sets dst to Ψ_a(s), the row of pair i, of length d.
func (f *Features) Row(dst []float64, i int) {
	for j, c := range f.columns {
		dst[j] = c[i]
	}
}

// MulVec sets dst = Ψθ, of length nm.
func (f *Features) MulVec(dst, theta []float64) {
	if len(theta) != f.Dim() {
		panic(fmt.Sprintf("mixpolicy: θ has %d entries, want d = %d", len(theta), f.Dim()))
	}
	clear(dst)
	for j, c := range f.columns {
		floats.AddScaled(dst, theta[j], c)
	}
}

// MulVecT sets dst = Ψᵀx, of length d.
func (f *Features) MulVecT(dst, x []float64) {
	for j, c := range f.columns {
		dst[j] = sum.Dot(c, x)
	}
}

// Dense returns a copy of Ψ as a gonum matrix, nm × d.
func (f *Features) Dense() *mat.Dense {
	psi := mat.NewDense(f.x.Pairs(), f.Dim(), nil)
	for j, c := range f.columns {
		psi.SetCol(j, c)
	}
	return psi
}

// FlowResidual returns ‖ψʲᵀ(Q − γP) − (1−γ)αᵀ‖₁, which is zero for an occupation
// measure: the corrected constraint (2.13b). (The printed ξᵀ(P − Q) = 0 is this
// constraint for γ = 1.)
func (f *Features) FlowResidual(j int) float64 { return f.x.FlowResidual(f.columns[j]) }

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
