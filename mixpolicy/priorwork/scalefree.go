package priorwork

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

var (
	_ mixpolicy.Method = ScaleFree{}
	_ mixpolicy.Run    = (*scaleFree)(nil)
	_ mixpolicy.Method = Feasible{}
)

// ScaleFree is Algorithm 1 with steps that find their own length: there is no η, no β and no scale
// of costs. Let b̂_t be the mean of cΨ/q over the samples so far, Px = x − (1ᵀx/d)1, and w_t = t. Then
//
//	ĝ_t = b̂_t − Ψᵀλ_t                                                        in place of (3.5a)
//	∇φ(θ̃) = ∇φ(θ₁) − c_t(Σ_{k≤t} w_kĝ_k + w_{t+1}ĝ_t)/√S_t                    (3.25a)
//	θ_{t+1} = ∇φ*(z1 + ∇φ(θ̃))                                                (3.25b), (3.25c)
//	λ_{t+1}(i) = [λ_t(i) − r_t(i)w_t(Ψθ_t)_i/√Q_t(i)]₊                        (3.26)
//
// with S_t = Σ_{k≤t} w_k²‖P(ĝ_k − ĝ_{k−1})‖₂², ĝ_0 = 0, and Q_t(i) = Σ_{k≤t} w_k²(Ψθ_k)_i². The two
// lengths are what the run has seen so far:
//
//	c_t = max_{k≤t} 2D(θ̂_k; θ₁)/‖θ̂_k − θ₁‖₂,   r_t(i) = max(max_{k≤t} ‖Pb̂_k‖₂, max_{k≤t} λ_k(i)).
//
// (3.27) averages with the weights w_t. The answer is on the line from the average θ̂_T to (1/d, …, 1/d), at
// the first point that is feasible. Costs in another unit give the same θ.
//
// A step takes nmd operations and d for each λ_t(i) > 0, where [VarianceReduced] takes 2nmd.
//
// # What is proved
//
// Let φ be μ-strongly convex in ℓ₂ and D(·; θ₁) ≤ Δ on its domain within 1ᵀθ = 1, which has the diameter B. For all ĝ_t whatsoever,
// and all θ in the domain,
//
//	Σ w_t⟨ĝ_t, θ_t − θ⟩ ≤ √S_T (D(θ; θ₁)/c_T + Δ(1/c_1 − 1/c_T) + 2 max(c_T/μ, B)).           (θ)
//
// Proof: let ρ_t = √S_t/c_t, ℓ_t = w_tĝ_t, e_t = w_t P(ĝ_t − ĝ_{t−1}), and y_t the minimiser of Σ_{k≤t}⟨ℓ_k, ·⟩ + ρ_{t−1}D(·; θ₁).
// Optimistic follow-the-leader (Rakhlin and Sridharan 2013) has a regret of at most ρ_T D(θ; θ₁) + Σ [ρ_{t−1} − ρ_t]₊Δ
// + Σ (⟨e_t, θ_t − y_t⟩ − ρ_{t−1}(μ/2)‖θ_t − y_t‖²). A term of the last sum is at most min(‖e_t‖²/2μρ_{t−1}, B‖e_t‖). If
// S_t ≤ 4S_{t−1}, the first is at most 2(c_T/μ)(√S_t − √S_{t−1}); else the second is at most 2B(√S_t − √S_{t−1}). ∎
//
// For each pair i, all θ_t whatsoever, and all λ(i) ≥ 0, with M = max(λ(i), λ_1(i), …, λ_T(i)),
//
//	Σ w_t(Ψθ_t)_i(λ_t(i) − λ(i)) ≤ √Q_T(i) (M²/2r_1(i) + r_T(i)).                            (λ)
//
// Proof: Zinkevich's, with steps r_t/√Q_t: |λ_t(i) − λ(i)| ≤ M, Σ w_t²(Ψθ_t)_i²/√Q_t(i) ≤ 2√Q_T(i). ∎
//
// Both add up to the gap of the averages: for every θ and every λ ⪰ 0,
//
//	Σw_t (𝓛(θ̂, λ) − 𝓛(θ, λ̂)) ≤ (θ) + Σ_i (λ) + Σ w_t⟨cᵀΨ − b̂_t, θ_t − θ⟩ .
//
// The last sum is noise: ‖b̂_t − cᵀΨ‖ = O(1/√t) in the mean, so it contributes O(1/√T). So do (θ) and (λ), but
// only while the λ_t stay bounded. That they do is not proved, nor is it known to us for any method of this kind: the
// bound is one that a run computes, after the fact.
//
// # Where it fails
//
// With Sampled, the gradient is that of (3.5a), whose noise grows with λ and is not averaged: the answers are
// worse than those of a tuned Algorithm 1. A modulus whose D is unbounded on the class, as that of [bregman.Euclidean] is
// for R = ∞, has no Δ.
//
// Source: none. Its parts: Orabona and Pál, Theoretical Computer Science 716, 2018, for the step in θ; Rakhlin and Sridharan,
// NeurIPS 2013, for ĝ_t as the guess of ĝ_{t+1}; Ivgi, Hinder and Carmon, ICML 2023, for r_t and c_t.
type ScaleFree struct {
	// Modulus is φ; nil is that of the problem's class.
	Modulus bregman.Modulus
	// Sampled takes (3.5a) for ĝ_t, and ĝ_t for no guess of ĝ_{t+1}: then S_t = Σ w_k²‖Pĝ_k‖².
	Sampled bool
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
}

// weight is w_t = t for the iteration t − 1 of a Mirror.
var weight = mixpolicy.StepFunc(func(t int) float64 { return float64(t + 1) })

// Start implements [mixpolicy.Method].
func (a ScaleFree) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	m, err := mixpolicy.Mirror{Phi: a.Modulus, Eta: weight, Scale: 1}.Start(p, o)
	if err != nil {
		return nil, err
	}
	vectors := func(n, count int) (all [][]float64) {
		for range count {
			all = append(all, make([]float64, n))
		}
		return all
	}
	small, large := vectors(p.Dim(), 6), vectors(p.MDP().Pairs(), 6)
	r := &scaleFree{
		ScaleFree: a, m: m, f: p.Features(), first: slices.Clone(m.Theta), firstDual: slices.Clone(m.Dual),
		total: small[0], last: small[1], lead: small[2], b: small[3], price: small[4], row: small[5],
		lambda: large[0], highest: large[1], rowSquares: large[2], measure: large[3], sumLambda: large[4], shown: large[5],
	}
	r.length = r.leastLength()
	return r, nil
}

// leastLength is c_0, from a tenth of the way to the base policy that is nearest in this sense, or half as
// far until that is in the domain.
func (a *scaleFree) leastLength() float64 {
	least := math.Inf(1)
	for j := range a.first {
		for step := .1; step > 0x1p-50; step /= 2 {
			for k, v := range a.first {
				a.lead[k] = (1 - step) * v
			}
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
	pair, cost, q := a.m.Sample()
	floats.ScaleTo(a.row, cost/q, a.m.Row)
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

// descend is (3.25) with the gradient ĝ_t.
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

// ascend is (3.26), after the step in θ. It also makes Ψᵀλ from the rows where λ > 0.
func (a *scaleFree) ascend() {
	w := weight(a.m.T - 1)
	a.f.MulVec(a.measure, a.m.Before)
	clear(a.price)
	for i, v := range a.measure {
		a.rowSquares[i] += w * v * (w * v)
		lambda := a.lambda[i]
		if lambda == 0 && v >= 0 || a.rowSquares[i] < 0x1p-1000 { // of a smaller row λ would overflow before it mattered
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

// retreat moves θ, with 1ᵀθ = 1, along the line to (1/d, …, 1/d) to the first point with Ψθ ⪰ 0, but for rounding. There
// is one, since Ψ ⪰ 0. It takes a vector over pairs and one of length d.
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

// Feasible returns the answer of a method where it is feasible, and else the first feasible point on the line from
// there to (1/d, …, 1/d): Ψ is known, so no query is needed. The other answers stay as they are.
//
// Source: none.
type Feasible struct{ Of mixpolicy.Method }

// Name implements [mixpolicy.Method].
func (a Feasible) Name() string { return a.Of.Name() + ", made feasible" }

// Start implements [mixpolicy.Method].
func (a Feasible) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	r, err := a.Of.Start(p, o)
	return feasible{r, p.Features(), make([]float64, p.Dim()), make([]float64, p.MDP().Pairs()), make([]float64, p.Dim())}, err
}

type feasible struct {
	mixpolicy.Run
	f                   *mixpolicy.Features
	theta, measure, row []float64
}

// View implements [mixpolicy.Run].
func (a feasible) View(s *mixpolicy.Snapshot) error {
	err := a.Run.View(s)
	if s.Average != nil {
		copy(a.theta, s.Average)
		retreat(a.f, a.theta, a.measure, a.row)
		s.Average = a.theta
	}
	return err
}
