package mixpolicy

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/internal/walk"
)

// Multipliers chooses how [PrimalDual] stores λ. Up to rounding, the iterates do not depend on this choice.
type Multipliers int

const (
	// AutoMultipliers is LazyMultipliers if the form is corrected and nm is large enough to make
	// LazyMultipliers faster than DenseMultipliers (nm ≥ 16 for d = 2, and nm ≥ 300 for any other d).
	// Otherwise, AutoMultipliers is DenseMultipliers.
	AutoMultipliers Multipliers = iota
	// DenseMultipliers stores the whole vector λ_t. An iteration takes about nm·d operations.
	DenseMultipliers
	// While λ stays well inside its ball, LazyMultipliers computes λ_t only at the sampled pair, from the earlier
	// iterates θ_k. The time of such an iteration does not depend on nm. Near the boundary of the ball, LazyMultipliers
	// updates the whole vector λ_t, as DenseMultipliers does. For the corrected form, Snapshot.Lambda is an unbiased estimate of λ̂.
	// The printed form allows LazyMultipliers only if λ is not confined to a ball. In this case, the time of an
	// iteration never depends on nm, and Snapshot.Lambda is exact.
	LazyMultipliers
)

// String returns "auto", "dense" or "lazy".
func (k Multipliers) String() string { return named("Multipliers", int(k), "auto", "dense", "lazy") }

// multipliers is λ_t of Algorithm 1.
type multipliers interface {
	// at returns λ_t at a pair, given the pair's row of Ψ.
	at(pair int, row []float64) float64
	// accumulate adds w_tλ_t to the sum of (3.27), in which w_t is η_t. The type
	// lazyMultipliers adds an unbiased estimate of w_tλ_t, made from the sampled pair and λ_t at this pair.
	accumulate(weight float64, pair int, lambda float64)
	// ascend performs (3.26), from λ_t to λ_{t+1}.
	ascend(eta float64, theta []float64)
	// sum returns the accumulated sum, borrowed.
	sum() []float64
}

type denseMultipliers struct {
	f      *Features
	form   Form
	radius float64   // G
	rows   []float64 // r_i with row scaling (see PrimalDual.RowScaling), else nil
	scaled []float64 // λ_t, or r_iλ_t(i) with row scaling
	move   []float64 // −ηθ, or ηθ for the printed form: a step adds Ψ·move to scaled
	total  []float64 // Σ wλ, in the units of scaled
	shown  []float64
}

func newDenseMultipliers(f *Features, form Form, radius float64, rowScaling bool) *denseMultipliers {
	pairs := f.x.Pairs()
	l := &denseMultipliers{f: f, form: form, radius: radius,
		scaled: make([]float64, pairs), total: make([]float64, pairs), move: make([]float64, f.Dim())}
	if rowScaling {
		l.rows, l.shown = make([]float64, pairs), make([]float64, pairs)
		f.MulVec(l.rows, constant(f.Dim(), 1))
		for i, r := range l.rows {
			if r == 0 { // a row of zeros, whose λ stays 0
				l.rows[i] = 1
			}
		}
	}
	return l
}

func (l *denseMultipliers) at(pair int, _ []float64) float64 { return l.unscale(pair, l.scaled[pair]) }

// unscale returns λ(i) for the pair i, given v, which is r_iλ(i) with row scaling and λ(i) without.
func (l *denseMultipliers) unscale(pair int, v float64) float64 {
	if l.rows == nil {
		return v
	}
	return v / l.rows[pair]
}

func (l *denseMultipliers) accumulate(weight float64, _ int, _ float64) {
	floats.AddScaled(l.total, weight, l.scaled)
}

func (l *denseMultipliers) ascend(eta float64, theta []float64) { l.step(eta, theta) }

// step performs (3.26): it scales [λ − ηΨθ]₊, or λ + ηΨθ for the printed form, into the ball. It returns
// ‖λ‖, or 0 if there is no ball.
func (l *denseMultipliers) step(eta float64, theta []float64) (norm float64) {
	sign := -eta
	if l.form == Printed {
		sign = eta
	}
	floats.ScaleTo(l.move, sign, theta)
	l.f.psi.add(l.scaled, 0, l.move)
	if l.form == Corrected {
		for i, v := range l.scaled {
			if v < 0 {
				l.scaled[i] = 0
			}
		}
	}
	return l.shrink()
}

// shrink scales λ into its ball, and returns the new ‖λ‖, or 0 if there is no ball.
func (l *denseMultipliers) shrink() float64 {
	if math.IsInf(l.radius, 1) {
		return 0
	}
	norm := l.norm(l.scaled)
	if norm > l.radius {
		floats.Scale(l.radius/norm, l.scaled)
		return l.radius
	}
	return norm
}

// norm returns ‖λ‖₂, or √(Σ r_iλ_i²) with row scaling, given λ in the units of scaled. Only the
// norm ‖λ‖₂ is protected from underflow and overflow of its sum of squares.
func (l *denseMultipliers) norm(x []float64) float64 {
	if l.rows != nil {
		var s float64
		for i, v := range x {
			s += v * (v / l.rows[i])
		}
		return math.Sqrt(s)
	}
	if s := floats.Dot(x, x); s > 0x1p-900 && s < 0x1p1000 {
		return math.Sqrt(s)
	}
	return floats.Norm(x, 2)
}

func (l *denseMultipliers) sum() []float64 {
	if l.rows == nil {
		return l.total
	}
	return floats.DivTo(l.shown, l.total, l.rows)
}

// lazyMultipliers computes λ_t of the corrected (3.26) at single pairs. Let
//
//	W_t = Σ_{k<t} η_k θ_k ∈ ℝᵈ,
//
// where iterations are counted from one at which we know λ at all pairs; this λ is λ₀ ⪰ 0.
// Suppose that the ball has been inactive since iteration 0. Then, for every pair i with row ψ_i of Ψ,
//
//	λ_t(i) = max( λ₀(i), max_{k≤t} ⟨ψ_i, W_k⟩ ) − ⟨ψ_i, W_t⟩,
//
// which is a walk reflected at 0. Proof: for t = 0, both sides are λ₀(i), because W₀ = 0 and λ₀(i) ≥ 0. Let
// M_t(i) be the outer maximum. Then
//
//	λ_{t+1}(i) = [λ_t(i) − η_t⟨ψ_i, θ_t⟩]₊ = [M_t(i) − ⟨ψ_i, W_{t+1}⟩]₊
//	           = max(M_t(i), ⟨ψ_i, W_{t+1}⟩) − ⟨ψ_i, W_{t+1}⟩ = M_{t+1}(i) − ⟨ψ_i, W_{t+1}⟩. ∎
//
// An iteration needs λ_t at the sampled pair i only. With a [walk.Walk], we compute λ_t(i) from
// λ₀(i) and the path W₀, …, W_t, in a time that does not depend on nm.
//
// The ball cannot be active while a bound on ‖λ_t‖₂ is below the radius G. Since ψ_i ⪰ 0
// and W₀ = 0 is among the W_k,
//
//	λ_t(i) ≤ λ₀(i) + max_{k≤t} ⟨ψ_i, W_k − W_t⟩ ≤ λ₀(i) + Σ_j ψ_ij D_j,  D_j = max_{k≤t} W_kj − W_tj,
//
// so ‖λ_t‖₂ ≤ ‖λ₀‖₂ + Σ_j ‖ψʲ‖₂ D_j. When this bound exceeds G, we compute λ_t at all
// pairs, and if ‖λ_t‖₂ exceeds G, we scale λ_t into the ball. The result is the new λ₀.
// If ‖λ₀‖₂ is near G, iterations are dense until ‖λ_t‖₂ is no longer near G.
//
// With row scaling, the same holds for r_iλ_t(i) instead of λ_t(i), with the corresponding norms.
//
// (3.27) would need λ_t at all pairs. Instead, we average the vector whose only nonzero
// entry is λ_t(i)/q(i) at the sampled pair i. The expectation of this vector is λ_t.
// The average is ⪰ 0, so its dual bound holds.
type lazyMultipliers struct {
	denseMultipliers // λ₀ while lazy, λ_t while dense
	dense            bool

	based   bool      // λ₀ may be nonzero
	length  float64   // ‖λ₀‖ while lazy, ‖λ_t‖ while dense; 0 without a ball
	columns []float64 // ‖ψʲ‖₂
	path    walk.Walk
	longest int               // greatest allowed size of path
	sums    []sum.Accumulator // W_t
	w       []float64         // W_t, rounded
	highest []float64         // max_k W_kj
	row     []float64
	pending []addition
}

// horizon is the number of dense iterations that take about as long as the computation
// of λ_t at all pairs from the path. Per pair, a dense iteration takes a few
// operations, and the computation from the path takes a binary search or a tree search.
// Lazy iterations are faster if ‖λ‖ cannot reach G within horizon iterations.
const horizon = 64

// A path stores at most max(longestPath, nm) numbers; longestPath numbers take 32 MiB. When
// a path exceeds this limit, λ_t is computed at all pairs, and a new path begins. Spread over
// the iterations since the last such computation, the computation takes at most d evaluations
// of the path per iteration.
const longestPath = 1 << 22

func newLazyMultipliers(f *Features, radius float64, rowScaling bool) *lazyMultipliers {
	d := f.Dim()
	l := &lazyMultipliers{denseMultipliers: *newDenseMultipliers(f, Corrected, radius, rowScaling)}
	l.sums = make([]sum.Accumulator, d)
	l.columns, l.w, l.highest, l.row = make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	for j := range l.columns {
		l.columns[j] = l.denseMultipliers.norm(f.Column(j))
	}
	l.pending = make([]addition, 0, 64)
	l.longest = max(f.x.Pairs(), longestPath)
	l.path = walk.New(d)
	return l
}

func (l *lazyMultipliers) at(pair int, row []float64) float64 {
	return l.unscale(pair, l.reflected(pair, row))
}

// reflected returns the present value of the reflected walk of the pair: λ_t(i), or r_iλ_t(i) with row scaling.
func (l *lazyMultipliers) reflected(pair int, row []float64) float64 {
	if l.dense {
		return l.scaled[pair]
	}
	v := l.path.Drawdown(row)
	if !l.based {
		return v
	}
	base := l.scaled[pair]
	for j, p := range row {
		base -= p * l.w[j]
	}
	return max(base, v)
}

func (l *lazyMultipliers) accumulate(weight float64, pair int, lambda float64) {
	if lambda == 0 {
		return
	}
	l.pending = append(l.pending, addition{pair, weight * lambda / l.f.sampling[pair]})
	if len(l.pending) == cap(l.pending) {
		l.sum()
	}
}

// addition is a pending addition to the sum of (3.27). Additions are made in batches, because
// for large models each addition is a cache miss, and the misses of a batch overlap.
type addition struct {
	pair  int
	value float64
}

func (l *lazyMultipliers) sum() []float64 {
	for _, a := range l.pending {
		l.total[a.pair] += a.value
	}
	l.pending = l.pending[:0]
	return l.total
}

func (l *lazyMultipliers) ascend(eta float64, theta []float64) {
	if l.dense {
		l.length = l.step(eta, theta)
		l.dense = !l.far(eta, theta)
		return
	}
	bound := l.length
	for j, v := range theta {
		l.sums[j].Add(eta * v)
		l.w[j] = l.sums[j].Value()
		l.highest[j] = max(l.highest[j], l.w[j])
		bound += l.columns[j] * (l.highest[j] - l.w[j])
	}
	l.path.Add(l.w)
	if bound > l.radius || l.path.Size() > l.longest {
		l.settle()
		l.dense = !l.far(eta, theta)
	}
}

// far reports whether λ certainly stays in the ball for horizon more steps with these η and θ.
// It uses the bound λ − ηΨθ ⪯ λ + η Σ_j [θ_j]₋ ψʲ.
func (l *lazyMultipliers) far(eta float64, theta []float64) bool {
	var speed float64
	for j, v := range theta {
		speed += l.columns[j] * max(0, -v)
	}
	return l.length+horizon*eta*speed <= l.radius
}

// settle computes λ_t at all pairs, makes it λ₀, and scales it into the ball.
func (l *lazyMultipliers) settle() {
	for i := range l.scaled {
		l.f.Row(l.row, i)
		l.scaled[i] = l.reflected(i, l.row)
	}
	l.length = l.shrink()
	l.based = true
	l.path.Reset()
	clear(l.sums)
	clear(l.w)
	clear(l.highest)
}

// linearMultipliers computes single entries of λ_t for the printed (3.26) without a ball.
// Nothing is projected: λ_{t+1} = λ_t + η_tΨθ_t, and λ₀ = 0. So with W_t = Σ_{k<t} η_kθ_k and the weights
// w_k of the average,
//
//	λ_t = ΨW_t,    Σ_{k<t} w_kλ_k = Ψ Σ_{k<t} w_kW_k,
//
// and an iteration costs O(d), whatever nm is.
type linearMultipliers struct {
	f     *Features
	w     []float64 // W_t
	sumW  []float64 // Σ wW
	total []float64 // Σ wλ, computed by sum
}

func newLinearMultipliers(f *Features) *linearMultipliers {
	d := f.Dim()
	return &linearMultipliers{f: f, w: make([]float64, d), sumW: make([]float64, d)}
}

func (l *linearMultipliers) at(_ int, row []float64) float64 { return floats.Dot(row, l.w) }

func (l *linearMultipliers) accumulate(weight float64, _ int, _ float64) {
	floats.AddScaled(l.sumW, weight, l.w)
}

func (l *linearMultipliers) ascend(eta float64, theta []float64) { floats.AddScaled(l.w, eta, theta) }

func (l *linearMultipliers) sum() []float64 {
	if l.total == nil {
		l.total = make([]float64, l.f.x.Pairs())
	}
	l.f.MulVec(l.total, l.sumW)
	return l.total
}
