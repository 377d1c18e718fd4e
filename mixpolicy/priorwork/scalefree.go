package priorwork

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// ScaleFree is Algorithm 1 without η, β or a scale of costs: it determines the lengths of its steps from the run. Let
// b̂_t be the mean of cΨ/q over the samples so far, Px = x − (1ᵀx/d)1, and w_t = t. Then
//
//	ĝ_t = b̂_t − Ψᵀλ_t                                                        in place of (3.5a)
//	∇φ(θ̃) = ∇φ(θ₁) − c_t(Σ_{k≤t} w_kĝ_k + w_{t+1}ĝ_t)/√S_t                    (3.25a)
//	θ_{t+1} = ∇φ*(z1 + ∇φ(θ̃))                                                (3.25b), (3.25c)
//	λ_{t+1}(i) = [λ_t(i) − r_t(i)w_t(Ψθ_t)_i/√Q_t(i)]₊                        (3.26)
//
// with S_t = Σ_{k≤t} w_k²‖P(ĝ_k − ĝ_{k−1})‖₂², ĝ_0 = 0, and Q_t(i) = Σ_{k≤t} w_k²(Ψθ_k)_i². The lengths of the steps
// depend on the run so far:
//
//	c_t = max_{k≤t} 2D(θ̂_k; θ₁)/‖θ̂_k − θ₁‖₂,   r_t(i) = max(max_{k≤t} ‖Pb̂_k‖₂, max_{k≤t} λ_k(i)).
//
// (3.27) averages with the weights w_t. The answer is the first feasible point on the line from the average θ̂_T to
// (1/d, …, 1/d). Costs in another unit give the same θ.
//
// A step takes nmd operations, and d operations for each λ_t(i) > 0; a step of [VarianceReduced] takes 2nmd.
//
// With a Tolerance ε, a run ends by itself, once it has shown that its answer exceeds the optimum by at most
// ε|b̂ᵀθ̂|. By (A.3) it knows Ψ and the range of the costs, but only b̂ instead of cᵀΨ. The gap as a function of b =
// cᵀΨ,
//
//	bᵀθ̂ − min (2.18) ≤ bᵀθ̂ − β(b),   β(b) = min {(b − Ψᵀλ′)ᵀθ : 1ᵀθ = 1, ‖θ‖ ≤ R},
//
// is convex, so over a cross-polytope it is greatest at a vertex. There, any λ′ ⪰ 0 gives a bound. The vertices are b̂
// ± √(d−1) e_ju_j. The u_j ⊥ 1 are the principal directions of the samples x = cΨ/q. The e_j come from the empirical
// Bernstein inequality (Maurer and Pontil 2009) for the mean of u_jᵀx, with variance V and range M over all pairs,
//
//	e_j = √(2V ln(2/δ)/t) + 7M ln(2/δ)/3(t−1),   ln(2/δ) = 8.
//
// λ′ is λ̂, or λ̂_i(1 + (Ψx)_i)₊ with the x for which Ψᵀλ′ balances b up to a multiple of 1, whichever gives the
// greater β. A cross-polytope of this size contains the ellipsoid with the half axes e_j. So if the run ends, its
// answer is as good as claimed whenever cᵀΨ is in that ellipsoid: with high probability at each test, and with
// certainty if samples have no variance. Noise added to the costs counts in V, but not in M.
//
// # What is proved
//
// Let φ be μ-strongly convex in ℓ₂ and D(·; θ₁) ≤ Δ on its domain within 1ᵀθ = 1, a set of diameter B. For any ĝ_t, and
// all θ in the domain,
//
//	Σ w_t⟨ĝ_t, θ_t − θ⟩ ≤ √S_T (D(θ; θ₁)/c_T + Δ(1/c_1 − 1/c_T) + 2 max(c_T/μ, B)).           (θ)
//
// Proof: let ρ_t = √S_t/c_t, ℓ_t = w_tĝ_t, e_t = w_t P(ĝ_t − ĝ_{t−1}), and y_t the minimiser of Σ_{k≤t}⟨ℓ_k, ·⟩ +
// ρ_{t−1}D(·; θ₁). Optimistic follow-the-leader (Rakhlin and Sridharan 2013) has a regret of at most ρ_T D(θ; θ₁) + Σ
// [ρ_{t−1} − ρ_t]₊Δ + Σ (⟨e_t, θ_t − y_t⟩ − ρ_{t−1}(μ/2)‖θ_t − y_t‖²). A term of the last sum is at most
// min(‖e_t‖²/2μρ_{t−1}, B‖e_t‖). If S_t ≤ 4S_{t−1}, the first bound is at most 2(c_T/μ)(√S_t − √S_{t−1}); else the
// second is at most 2B(√S_t − √S_{t−1}). ∎
//
// For each pair i, any θ_t, and all λ(i) ≥ 0, with M = max(λ(i), λ_1(i), …, λ_T(i)),
//
//	Σ w_t(Ψθ_t)_i(λ_t(i) − λ(i)) ≤ √Q_T(i) (M²/2r_1(i) + r_T(i)).                            (λ)
//
// Proof: Zinkevich's, with steps r_t/√Q_t. It uses |λ_t(i) − λ(i)| ≤ M and Σ w_t²(Ψθ_t)_i²/√Q_t(i) ≤ 2√Q_T(i). ∎
//
// Adding (θ) and (λ) bounds the gap of the averages: for every θ and every λ ⪰ 0,
//
//	Σw_t (𝓛(θ̂, λ) − 𝓛(θ, λ̂)) ≤ (θ) + Σ_i (λ) + Σ w_t⟨cᵀΨ − b̂_t, θ_t − θ⟩ .
//
// The last sum is noise: ‖b̂_t − cᵀΨ‖ = O(1/√t) in expectation, so the sum contributes O(1/√T) to the gap. (θ) and (λ)
// also contribute O(1/√T), but only if the λ_t stay bounded. We have no proof that they do, and know of none for any
// method of this kind. So a run can compute its bound only at the end.
//
// # Where it fails
//
// With a Tolerance, a run ends only once it has proved that its answer is good enough, long after it has found it: with a
// Tolerance of 1 %, after 1.7·10³ queries on the queue of notebook 12, 5·10⁵ on the network, and 3.5·10⁶ in the grid
// world, where costs are rare. If costs have heavy tails or rare outliers, their variance allows no such proof, and b̂,
// a mean, is a poor estimate; use [MedianPlugIn]. For an unbounded class, the run never ends by itself. The certificate
// of a run uses only the duality gap at λ̂, which grows with R and is far larger than the true gap. With Sampled, the
// gradient is (3.5a), whose noise grows with λ and is not averaged, and the answers are worse than those of a tuned
// Algorithm 1. A modulus whose D is unbounded on the class, such as [bregman.Euclidean] for R = ∞, has no Δ.
//
// Source: none. Its parts: Orabona and Pál, Theoretical Computer Science 716, 2018, for the step in θ; Rakhlin and Sridharan,
// NeurIPS 2013, for ĝ_t as the guess of ĝ_{t+1}; Ivgi, Hinder and Carmon, ICML 2023, for r_t and c_t.
type ScaleFree struct {
	// Modulus is φ; nil means the modulus of the problem's class.
	Modulus bregman.Modulus
	// Sampled makes ĝ_t the estimate (3.5a), and does not take ĝ_t as the guess of ĝ_{t+1}, so S_t = Σ w_k²‖Pĝ_k‖².
	Sampled bool
	// Tolerance is ε, at which a run ends by itself; 0 means never.
	Tolerance float64
}

// Name implements [mixpolicy.Method].
func (a ScaleFree) Name() string {
	if a.Sampled {
		return "primal–dual, scale-free, sampled"
	}
	return "primal–dual, scale-free"
}

// scaleFree is a run of [ScaleFree].
type scaleFree struct {
	ScaleFree
	m                   *mixpolicy.Mirror
	f                   *mixpolicy.Features
	first, firstDual    []float64 // θ₁, ∇φ(θ₁)
	total, last, lead   []float64 // Σ wĝ, ĝ_{t−1}; scratch
	squares, length     float64   // S_t, c_t
	b, price, row       []float64 // b̂, Ψᵀλ; scratch
	unit                float64   // max ‖Pb̂‖
	lambda, highest     []float64 // λ_t, its largest so far
	rowSquares, measure []float64 // Q_t, Ψθ_t
	sumLambda, shown    []float64 // Σ wλ; scratch

	p       *mixpolicy.Problem
	moments *mat.SymDense // Σ Px(Px)ᵀ for the samples x = cΨ/q
	look    int           // the next step at which to test whether the answer is good enough
}

// weight is w_t = t for the iteration t − 1 of a Mirror.
var weight = mixpolicy.StepFunc(func(t int) float64 { return float64(t + 1) })

// Start implements [mixpolicy.Method].
func (a ScaleFree) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	if !(a.Tolerance >= 0) {
		return nil, fmt.Errorf("priorwork: Tolerance = %v, want a number ≥ 0", a.Tolerance)
	}
	m, err := mixpolicy.Mirror{Phi: a.Modulus, Eta: weight, Scale: 1}.Start(p, o)
	if err != nil {
		return nil, err
	}
	small, large := zeroVectors(6, p.Dim()), zeroVectors(6, p.MDP().Pairs())
	r := &scaleFree{
		ScaleFree: a, m: m, f: p.Features(), first: slices.Clone(m.Theta), firstDual: slices.Clone(m.Dual),
		total: small[0], last: small[1], lead: small[2], b: small[3], price: small[4], row: small[5],
		lambda: large[0], highest: large[1], rowSquares: large[2], measure: large[3], sumLambda: large[4], shown: large[5],
		p: p, moments: mat.NewSymDense(p.Dim(), nil), look: 16,
	}
	r.length = r.leastLength()
	return r, nil
}

// leastLength returns c_0, a lower bound on every c_t: the least lengthTo over points a tenth of the way from θ₁ to
// each base policy. If such a point is not in the domain, the way to it is halved until it is.
func (a *scaleFree) leastLength() float64 {
	least := math.Inf(1)
	for j := range a.first {
		for step := .1; step > 0x1p-50; step /= 2 {
			floats.ScaleTo(a.lead, 1-step, a.first)
			if a.lead[j] += step; a.m.Phi.InDomain(a.lead) {
				least = min(least, a.lengthTo(a.lead))
				break
			}
		}
	}
	return least
}

// lengthTo returns 2D(x; θ₁)/‖x − θ₁‖₂, or 0 at θ₁.
func (a *scaleFree) lengthTo(x []float64) float64 {
	far := floats.Distance(x, a.first, 2)
	if far == 0 {
		return 0
	}
	return 2 * bregman.Divergence(a.m.Phi, x, a.first) / far
}

// Step implements [mixpolicy.Run].
func (a *scaleFree) Step() error {
	if a.Tolerance > 0 && a.m.T == a.look {
		a.look += a.look / 8
		if a.goodEnough() {
			return mixpolicy.ErrDone
		}
	}
	pair, cost, q := a.m.Sample()
	floats.ScaleTo(a.row, cost/q, a.m.Row)
	if a.Tolerance > 0 {
		a.moments.SymRankOne(a.moments, 1, mat.NewVecDense(len(a.row), centred(a.lead, a.row)))
	}
	mean(a.b, a.row, 1/float64(a.m.T+1))
	a.unit = max(a.unit, spread(a.b))
	gradient := a.row
	if a.Sampled {
		floats.AddScaled(gradient, -a.lambda[pair]/q, a.m.Row)
	} else {
		floats.SubTo(gradient, a.b, a.price)
	}
	if err := a.descend(gradient); err != nil {
		return err
	}
	a.ascend()
	return nil
}

// spread returns ‖Px‖₂.
func spread(x []float64) float64 {
	mean, size := floats.Sum(x)/float64(len(x)), 0.
	for _, v := range x {
		size = math.Hypot(size, v-mean)
	}
	return size
}

// descend makes the step (3.25) with the gradient ĝ_t.
func (a *scaleFree) descend(g []float64) error {
	w, next := weight(a.m.T), weight(a.m.T+1)
	floats.AddScaled(a.total, w, g)
	floats.SubTo(a.lead, g, a.last)
	size := w * spread(a.lead)
	a.squares += size * size
	floats.AddScaledTo(a.lead, a.total, next, g)
	if a.Sampled {
		copy(a.lead, a.total) // and ĝ_{t−1} stays 0
	} else {
		copy(a.last, g)
	}
	slope := 0.
	if a.squares > 0 {
		slope = a.length / math.Sqrt(a.squares) / w
	}
	copy(a.m.Dual, a.firstDual)
	if _, err := a.m.Step(slope, 1, a.lead); err != nil {
		return err
	}
	a.length = max(a.length, a.lengthTo(a.m.Average()))
	return nil
}

// ascend makes the step (3.26), after the step in θ. It also computes Ψᵀλ from the rows where λ > 0.
func (a *scaleFree) ascend() {
	w := weight(a.m.T - 1)
	a.f.MulVec(a.measure, a.m.Before)
	clear(a.price)
	for i, v := range a.measure {
		a.rowSquares[i] += w * v * (w * v)
		lambda := a.lambda[i]
		if lambda == 0 && v >= 0 || a.rowSquares[i] < 0x1p-1000 { // for so small a row, λ would overflow before it mattered
			continue
		}
		a.sumLambda[i] += w * lambda
		r := max(a.unit, a.highest[i])
		lambda = max(0, lambda-r*w*v/math.Sqrt(a.rowSquares[i]))
		a.highest[i] = max(a.highest[i], lambda)
		if a.lambda[i] = lambda; lambda > 0 {
			a.f.Row(a.row, i)
			floats.AddScaled(a.price, lambda, a.row)
		}
	}
}

// View implements [mixpolicy.Run].
func (a *scaleFree) View(s *mixpolicy.Snapshot) error {
	err := a.m.View(s)
	if a.m.T > 0 {
		floats.ScaleTo(a.shown, 1/a.m.SumEta, a.sumLambda)
	}
	s.Lambda = a.shown
	retreat(a.f, s.Average, a.measure, a.row)
	return err
}

// goodEnough reports whether bᵀθ̂ − β(b) ≤ ε|b̂ᵀθ̂| at b̂ and at all vertices.
func (a *scaleFree) goodEnough() bool {
	var view mixpolicy.Snapshot
	var eigen mat.EigenSym
	if a.View(&view) != nil || !eigen.Factorize(a.covariance(), true) {
		return false
	}
	var u mat.Dense
	eigen.VectorsTo(&u)
	d, t, beta := len(a.b), float64(a.m.T), a.lowerBound(view.Lambda)
	goal, b := a.Tolerance*math.Abs(floats.Dot(a.b, view.Average)), make([]float64, d)
	for j, variance := range eigen.Values(nil) {
		way := mat.Col(nil, j, &u)
		e := math.Sqrt(2*max(0, variance)*confidence/t) + 7*a.rangeAlong(way)*confidence/(3*(t-1))
		for _, side := range []float64{-1, 0, 1} {
			floats.AddScaledTo(b, a.b, side*e*math.Sqrt(float64(d-1)), way)
			if !(floats.Dot(b, view.Average)-beta(b) <= goal) {
				return false
			}
		}
	}
	return true
}

// covariance returns the covariance of Px for the samples x.
func (a *scaleFree) covariance() *mat.SymDense {
	var v mat.SymDense
	v.ScaleSym(1/float64(a.m.T), a.moments)
	b := centred(make([]float64, len(a.b)), a.b)
	v.SymRankOne(&v, -1, mat.NewVecDense(len(b), b))
	return &v
}

// centred stores Px in dst, and returns it.
func centred(dst, x []float64) []float64 {
	copy(dst, x)
	floats.AddConst(-floats.Sum(x)/float64(len(x)), dst)
	return dst
}

// confidence is ln(2/δ).
const confidence = 8

// rangeAlong returns the length of the interval of the values kᵀΨ_a(s)c/q_a(s), over the pairs that can be drawn and
// all c from c_min to c_max.
func (a *scaleFree) rangeAlong(k []float64) float64 {
	least, most := a.p.MDP().CostRange()
	a.f.MulVec(a.measure, k)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, q := range a.f.Sampling() {
		if q > 0 {
			lo = min(lo, least*a.measure[i]/q, most*a.measure[i]/q)
			hi = max(hi, least*a.measure[i]/q, most*a.measure[i]/q)
		}
	}
	return hi - lo
}

// lowerBound returns the function β for the given λ̂. Its x solves ΨᵀΛΨx + μ1 = b − Ψᵀλ̂ and 1ᵀx = 0, with Λ = diag
// λ̂. Among all x that balance b, it changes λ̂ least.
func (a *scaleFree) lowerBound(lambda []float64) func(b []float64) float64 {
	d := len(a.b)
	var pairs []int
	var rows [][]float64
	system, price := mat.NewDense(d+1, d+1, nil), make([]float64, d)
	for i, l := range lambda {
		if l == 0 {
			continue
		}
		row := make([]float64, d)
		a.f.Row(row, i)
		pairs, rows = append(pairs, i), append(rows, row)
		floats.AddScaled(price, l, row)
		for j, v := range row {
			floats.AddScaled(system.RawRowView(j)[:d], l*v, row)
		}
	}
	for j := range d {
		system.Set(j, d, 1)
		system.Set(d, j, 1)
	}
	var lu mat.LU
	lu.Factorize(system)
	class := a.p.Class()
	return func(b []float64) float64 {
		rest := floats.SubTo(make([]float64, d), b, price)
		bound := class.MinLinear(rest)
		var x mat.VecDense
		if lu.SolveVecTo(&x, false, mat.NewVecDense(d+1, append(slices.Clone(rest), 0))) != nil {
			return bound // λ̂ has too few positive rows to balance b
		}
		copy(rest, b)
		for k, row := range rows {
			change := floats.Dot(row, x.RawVector().Data[:d])
			floats.AddScaled(rest, -lambda[pairs[k]]*max(0, 1+change), row)
		}
		return max(bound, class.MinLinear(rest))
	}
}

// retreat moves θ, with 1ᵀθ = 1, along the line to (1/d, …, 1/d) to the first point with Ψθ ⪰ 0, up to rounding. Such a
// point exists, because Ψ ⪰ 0. retreat overwrites measure, over pairs, and row, of length d.
func retreat(f *mixpolicy.Features, theta, measure, row []float64) {
	f.MulVec(measure, theta)
	d := float64(len(theta))
	var part float64
	for i, v := range measure {
		if v < 0 {
			f.Row(row, i)
			part = max(part, v/(v-floats.Sum(row)/d))
		}
	}
	if part > 0 {
		for j, v := range theta {
			theta[j] = v + part*(1/d-v)
		}
	}
}
