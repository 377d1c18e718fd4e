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
// b̂ leaves out the samples whose costs exceed c_max = max |c|, which by Assumption A.3 is known, by more than √t(c_max +
// m_t) in size. m_t is the mean excess of the costs so far, in which an excess above the limit counts as the limit. So a
// rare outlier does not spoil the mean, and without noise nothing is left out.
//
// # When a run ends by itself
//
// With a Tolerance ε, a run ends once it has shown that its answer exceeds the optimum by at most ε|b̂ᵀθ̂|. The run does
// not know b = cᵀΨ. So it tests an answer θ̂ with n samples x = cΨ/q that were drawn after θ̂ was found. Let b̄ be their
// mean, V their covariance, and K a bound on the range of each entry of Px. For every fixed k ⊥ 1, the empirical
// Bernstein inequality (Maurer and Pontil 2009) says that with probability 1 − δ, kᵀ(b − b̄) ≤ h(k), where
//
//	h(k) = √(2kᵀVk ln(2/δ)/n) + 7K‖k‖₁ ln(2/δ)/3(n−1),   ln(2/δ) = 8.
//
// Let θ* be an optimum. Only the direction k = θ̂ − θ* matters, and it does not depend on these samples. So whatever d is,
// a test goes wrong with probability at most δ. The function h is sublinear, so it is the support function of a
// convex body E. If kᵀ(b − b̄) ≤ h(k), then bᵀ(θ̂ − θ*) is at most the greatest excess of θ̂ over the optimum when some β ∈
// b̄ + E takes the place of b. Let Λ = diag λ̂, let z minimise ‖ΛΨz‖ subject to 1ᵀz = 1, let y_i minimise ½‖ΛΨy‖² −
// λ̂_i(Ψy)_i subject to 1ᵀy = 0, and let C_i = max {(Ψθ)_i : θ ∈ Θ_R}. Then this excess is at most
//
//	b̄ᵀ(θ̂ − z) + λ̂ᵀΨz + h(θ̂ − z) + Σ_i λ̂_iC_i [h(y_i) − 1 − y_iᵀ(b̄ − Ψᵀλ̂)]₊.
//
// Proof: let λ′_i = λ̂_i(1 + y_iᵀ(β − Ψᵀλ̂)). Then β − Ψᵀλ′ = μ1 with μ = zᵀ(β − Ψᵀλ̂), and every feasible θ satisfies
// βᵀθ ≥ (β − Ψᵀ[λ′]₊)ᵀθ ≥ μ − Σ C_i[−λ′_i]₊. So the excess is at most βᵀ(θ̂ − z) + λ̂ᵀΨz + Σ C_i[−λ′_i]₊. The greatest
// value of each term over E follows from h. ∎
//
// If ‖θ‖ ≤ R is tight, another bound is smaller. With λ̂ instead of λ′, the excess is at most βᵀθ̂ − min {(β − Ψᵀλ̂)ᵀθ :
// 1ᵀθ = 1, ‖θ‖ ≤ R}, which is convex in β. Up to multiples of 1, b̄ + E is within the cross-polytope with the vertices
// b̄ ± d h(Pe_j)e_j, so the greatest value at these vertices is a bound. The run uses the smaller of the two bounds. Noise
// added to the costs counts in V, but not in K.
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
// The last sum is noise. If the variance of a cost is finite, ‖b̂_t − cᵀΨ‖ = O(1/√t) in expectation. This includes the
// samples left out, because E|X|1{|X| > r√t} ≤ E X²/r√t. So the sum contributes O(1/√T) to the gap. (θ) and (λ) also
// contribute O(1/√T), but only if the λ_t stay bounded. We have no proof that they do, and know of none for any method of
// this kind. So a run can compute its bound only at the end.
//
// # Where it fails
//
// With a Tolerance, a run ends long after it has found an answer that is good enough; notebook 12 shows how long. If costs
// have heavy tails or rare outliers, their variance is too large for a proof. If noise is asymmetric and its variance is
// infinite, leaving out samples biases b̂ for long. The certificate of a run uses only the duality gap at λ̂, which grows
// with R and is far larger than the true gap. With Sampled, the gradient is (3.5a), whose noise grows with λ and is not
// averaged, and the answers are worse than those of a tuned Algorithm 1. A modulus whose D is unbounded on the class,
// such as [bregman.Euclidean] for R = ∞, has no Δ.
//
// Source: none. Its parts: Orabona and Pál, Theoretical Computer Science 716, 2018, for the step in θ; Rakhlin and Sridharan,
// NeurIPS 2013, for ĝ_t as the guess of ĝ_{t+1}; Ivgi, Hinder and Carmon, ICML 2023, for r_t and c_t; Bubeck, Cesa-Bianchi and
// Lugosi, IEEE Transactions on Information Theory 59(11), 2013, for the limit of √t on a sample.
type ScaleFree struct {
	// Modulus is φ; nil means the modulus of the problem's class.
	Modulus bregman.Modulus
	// Sampled makes ĝ_t the estimate (3.5a), and does not take ĝ_t as the guess of ĝ_{t+1}, so S_t = Σ w_k²‖Pĝ_k‖².
	Sampled bool
	// Tolerance is ε: a run ends by itself once it has shown that its answer exceeds the optimum by at most ε|b̂ᵀθ̂|. 0 means
	// that no run ends by itself.
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
	m                                    *mixpolicy.Mirror
	f                                    *mixpolicy.Features
	first, firstDual                     []float64 // θ₁, ∇φ(θ₁)
	total, last, lead                    []float64 // Σ wĝ, ĝ_{t−1}; scratch
	b, price, row                        []float64 // b̂, Ψᵀλ; scratch
	lambda, highest, rowSquares, measure []float64 // λ_t, its largest so far, Q_t, Ψθ_t
	sumLambda, shown                     []float64 // Σ wλ; scratch
	answer, fresh                        []float64 // the tested θ̂; b̄

	squares, length, unit float64 // S_t, c_t, max ‖Pb̂‖
	top, beyond, reach    float64 // c_max, m_t, K
	kept, since, look     int     // samples in b̂; samples before θ̂; the next step at which to test θ̂, or −1 after the last test

	p       *mixpolicy.Problem
	moments *mat.SymDense // Σ Px(Px)ᵀ for the samples after θ̂
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
	small, large := zeroVectors(7, p.Dim()), zeroVectors(6, p.MDP().Pairs())
	r := &scaleFree{
		ScaleFree: a, m: m, f: p.Features(), first: slices.Clone(m.Theta), firstDual: slices.Clone(m.Dual),
		total: small[0], last: small[1], lead: small[2], b: small[3], price: small[4], row: small[5],
		lambda: large[0], highest: large[1], rowSquares: large[2], measure: large[3], sumLambda: large[4], shown: large[5],
		p: p, answer: slices.Clone(m.Theta), fresh: small[6], moments: mat.NewSymDense(p.Dim(), nil), look: 16,
	}
	r.length = r.leastLength()
	least, most := p.MDP().CostRange()
	r.top = max(-least, most)
	for i, q := range r.f.Sampling() {
		if r.f.Row(r.row, i); q > 0 {
			r.reach = max(r.reach, 2*r.top*floats.Norm(centred(r.row, r.row), math.Inf(1))/q)
		}
	}
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
	if far := floats.Distance(x, a.first, 2); far > 0 {
		return 2 * bregman.Divergence(a.m.Phi, x, a.first) / far
	}
	return 0
}

// Step implements [mixpolicy.Run].
func (a *scaleFree) Step() error {
	if a.Tolerance > 0 && a.m.T == a.look {
		a.look += a.look / 8
		if err := a.test(); err != nil {
			return err
		}
	}
	pair, cost, q := a.m.Sample()
	floats.ScaleTo(a.row, cost/q, a.m.Row)
	if a.Tolerance > 0 {
		a.moments.SymRankOne(a.moments, 1, mat.NewVecDense(len(a.row), centred(a.lead, a.row)))
		mean(a.fresh, a.lead, 1/float64(a.m.T+1-a.since))
	}
	if a.keep(cost) {
		a.kept++
		mean(a.b, a.row, 1/float64(a.kept))
	}
	a.unit = max(a.unit, spread(a.b))
	if a.Sampled {
		floats.AddScaled(a.row, -a.lambda[pair]/q, a.m.Row)
	} else {
		floats.SubTo(a.row, a.b, a.price)
	}
	if err := a.descend(a.row); err != nil {
		return err
	}
	a.ascend()
	return nil
}

// keep reports whether b̂ includes a sample with this cost.
func (a *scaleFree) keep(cost float64) bool {
	t, beyond := float64(a.m.T+1), max(0, math.Abs(cost)-a.top)
	limit := math.Sqrt(t) * (a.top + a.beyond)
	a.beyond += (min(beyond, limit) - a.beyond) / t
	return beyond <= limit
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
	floats.ScaleTo(a.shown, 1/max(a.m.SumEta, 1), a.sumLambda) // SumEta is 0 at first, and then at least w_1 = 1
	s.Lambda = a.shown
	retreat(a.f, s.Average, a.measure, a.row)
	if a.look < 0 {
		copy(s.Average, a.answer)
	}
	return err
}

// test returns mixpolicy.ErrDone if θ̂ is shown to be good enough. If it is not, and at least a quarter of the excess allowed
// is due to θ̂ itself, the average so far becomes the next θ̂, unless the samples after θ̂ are still fewer than those before.
func (a *scaleFree) test() error {
	var view mixpolicy.Snapshot
	if err := a.View(&view); err != nil {
		return err
	}
	excess, own := a.excess(view.Lambda)
	allowed := a.Tolerance * math.Abs(floats.Dot(a.b, a.answer))
	if excess <= allowed {
		a.look = -1
		return mixpolicy.ErrDone
	}
	if a.m.T >= 2*a.since && !(own <= allowed/4) {
		copy(a.answer, view.Average)
		a.since = a.m.T
		a.moments.Zero()
	}
	return nil
}

// excess returns the smaller bound on bᵀ(θ̂ − θ*) of the doc comment, and the excess for β = b̄ with λ̂ or, if less, the
// first two terms of the formula.
func (a *scaleFree) excess(lambda []float64) (bound, own float64) {
	d, class, pairs := len(a.b), a.p.Class(), []int{}
	system, rest := mat.NewSymDense(d+1, nil), slices.Clone(a.fresh) // b̄ − Ψᵀλ̂
	right, y := mat.NewVecDense(d+1, nil), mat.NewVecDense(d, nil)
	row := right.RawVector().Data[:d]
	for i, l := range lambda {
		if l > 0 {
			a.f.Row(row, i)
			pairs = append(pairs, i)
			floats.AddScaled(rest, -l, row)
			system.SymRankOne(system, l*l, right)
		}
	}
	center := floats.Dot(a.fresh, a.answer)
	own = center - class.MinLinear(rest)
	for j := range d {
		system.SetSym(j, d, 1)
		clear(row)
		row[j] = 1
		far := float64(d) * a.deviation(centred(row, row))
		for _, way := range []float64{-far, far} {
			rest[j] += way
			bound = max(bound, center+way*a.answer[j]-class.MinLinear(rest))
			rest[j] -= way
		}
	}
	var inverse mat.Dense
	if inverse.Inverse(system) != nil {
		return bound, own // too few rows have λ̂ > 0
	}
	z := mat.Col(nil, d, &inverse)[:d]
	k := floats.SubTo(make([]float64, d), a.answer, z)
	value, other := floats.Dot(a.fresh, k), a.deviation(k)
	for _, i := range pairs {
		a.f.Row(row, i)
		value += lambda[i] * floats.Dot(row, z)
		floats.Scale(lambda[i], row)
		y.MulVec(inverse.Slice(0, d, 0, d), mat.NewVecDense(d, row))
		if negative := a.deviation(y.RawVector().Data) - 1 - floats.Dot(y.RawVector().Data, rest); negative > 0 {
			floats.Scale(-1, row)
			other -= negative * class.MinLinear(row)
		}
	}
	return min(bound, value+other), min(own, value)
}

// deviation returns h(k), for 1ᵀk = 0.
func (a *scaleFree) deviation(k []float64) float64 {
	n, v, along := float64(a.m.T-a.since), mat.NewVecDense(len(k), k), floats.Dot(k, a.fresh)
	variance := max(0, mat.Inner(v, a.moments, v)-n*along*along) / (n - 1)
	return math.Sqrt(2*variance*confidence/n) + 7*floats.Norm(k, 1)*a.reach*confidence/(3*(n-1))
}

// centred stores Px in dst, and returns it.
func centred(dst, x []float64) []float64 {
	copy(dst, x)
	floats.AddConst(-floats.Sum(x)/float64(len(x)), dst)
	return dst
}

// confidence is ln(2/δ).
const confidence = 8

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
