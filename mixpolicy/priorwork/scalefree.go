package priorwork

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// ScaleFree is Algorithm 1 without η, β or a scale of costs. It chooses the lengths of its steps as it runs. Let b̂_t
// be the mean of cΨ/q over the samples so far, Px = x − (1ᵀx/d)1, and w_t = t. Then
//
//	ĝ_t = b̂_t − Ψᵀλ_t                                                        instead of (3.5a)
//	∇φ(θ̃) = ∇φ(θ₁) − c_t(Σ_{k≤t} w_kĝ_k + w_{t+1}ĝ_t)/√S_t                    (3.25a)
//	θ_{t+1} = ∇φ*(z1 + ∇φ(θ̃))                                                (3.25b), (3.25c)
//	λ_{t+1}(i) = [λ_t(i) − r_t(i)w_t(Ψθ_t)_i/√Q_t(i)]₊                        (3.26)
//
// with S_t = Σ_{k≤t} w_k²‖P(ĝ_k − ĝ_{k−1})‖₂², ĝ_0 = 0, and Q_t(i) = Σ_{k≤t} w_k²(Ψθ_k)_i². The factors c_t and r_t
// depend on the run so far. Here, D is the Bregman divergence of φ, and θ̂_k is the average after step k:
//
//	c_t = max_{k<t} 2D(θ̂_k; θ₁)/‖θ̂_k − θ₁‖₂,   r_t(i) = max(max_{k≤t} ‖Pb̂_k‖₂, max_{k≤t} λ_k(i)).
//
// If c_t is below the minimum of 2D(θ; θ₁)/‖θ − θ₁‖₂ over d points θ near θ₁, we raise it to this minimum. The averages
// (3.27) have the weights w_t. The answer is the first feasible point on the line from the average θ̂_T to (1/d, …,
// 1/d). Costs in another unit give the same θ.
//
// A step takes nmd operations, and d more for each pair i with λ_t(i) > 0; a step of [VarianceReduced] takes 2nmd.
//
// The mean b̂ leaves out samples with large costs. By Assumption A.3, c_max = max |c| is known. Sample t is left out if
// the absolute value of its cost exceeds c_max by more than the limit √t(c_max + m_t). Here m_t is the mean of the
// earlier samples' excesses above c_max. If an earlier sample's excess is greater than the limit for that sample, the
// mean uses this limit instead. So a rare outlier does not spoil b̂, and without noise, no sample is left out.
//
// # When a run ends by itself
//
// With a Tolerance ε, a run ends once it has shown that the cost of its answer exceeds the optimum by at most ε times
// the absolute value of this cost. The run knows Ψ and c_max, but not b = cᵀΨ. So the run tests an answer θ̂ with n
// samples that were drawn after both θ̂ and a clipping level L were fixed. Assume that a revealed cost is X = c + N,
// where the noise N has the same distribution for every pair, and this distribution is symmetric about 0. The variance
// of N may be infinite. Let X_L be X clipped to [−L, L], let x = X_LΨ/q, let b̄ be the mean of the n samples of x, and
// let V be the covariance of the n samples of Px. In a run with a Tolerance, b̂ is computed from X_L instead of X, and
// not every sample is followed by a step: after a step at sample t, the next step is at sample t + 1 + ⌊t/2¹⁵⌋, so 10¹⁰
// samples take about 430,000 steps.
//
// Noise: let k = θ̂ − θ* for an optimum θ*. Since |kᵀx| ≤ L max_i |(Ψk)_i|/q_i, the empirical Bernstein inequality
// (Maurer and Pontil 2009) says that, whatever the dimension d, with probability at least 1−δ,
//
//	kᵀ(Ex − b̄) ≤ h(k) = √(2kᵀVk ln(2/δ)/n) + 14L max_i |(Ψk)_i|/q_i ln(2/δ)/3(n−1),   ln(2/δ) = 17.
//
// Clipping: let p = P(|N| > L). Because N is symmetric, E X_L = 0 for c = 0. For almost all c with |c| ≤ c_max, the
// derivative of E X_L in c is P(|c + N| < L). This derivative differs from 1−p by at most P(L − c_max < |N| < L +
// c_max) ≤ π = P(L − 2c_max < |X| < L + 2c_max). So |kᵀEx − (1−p)kᵀb| ≤ πc_max‖Ψk‖₁. The empirical Bernstein inequality
// also gives a bound π̄ on π, with probability at least 1−δ.
//
// Localisation: by these three bounds, (1−p)kᵀb ≤ kᵀb̄ + H for every H ≥ h(k) + π̄c_max‖Ψk‖₁. Since kᵀb ≥ 0, the
// optimum θ* is in S(H) = {θ feasible: b̄ᵀθ ≤ b̄ᵀθ̂ + H}. Let u_j be the eigenvectors of V, v_j its eigenvalues, and
// r_j = max |u_jᵀ(θ̂ − θ)| over θ in S(H). To compute one r_j, we solve two programs like (2.18). Since 1ᵀk = 0,
// |(Ψk)_i| ≤ m_i = Σ_j |(ΨPu_j)_i|r_j. So the next H is
//
//	√(2 Σ_j v_jr_j² ln(2/δ)/n) + 14L max_i m_i/q_i ln(2/δ)/3(n−1) + π̄c_max min(2, Σ_i m_i).
//
// H starts at ∞, and the next H replaces it until H is small enough to end the run, or falls by less than a tenth. Then
//
//	(1−p)(bᵀθ̂ − bᵀθ*) ≤ b̄ᵀθ̂ − min {b̄ᵀθ: θ feasible} + H,   (1−p)|bᵀθ̂| ≥ |b̄ᵀθ̂| − h(θ̂) − π̄c_max,
//
// where h(θ̂) uses Σ(xᵀθ̂)²/(n−1) instead of θ̂ᵀVθ̂. The run ends once the right side of the first inequality is at
// most ε times the right side of the second. So, for ε < 1, no run ends by itself if the optimum is 0, unless all costs
// are 0.
//
// The probability of a wrong end: a test adds at most 4δ to this probability for each answer fixed before this test,
// because the samples of the test may decide whether the answer is kept. An answer is replaced only when at least as
// many samples came after it as before it. So a run of 10¹⁰ samples has at most 174 tests, 30 answers, and 2700 pairs
// of an answer and a later test. The run ends wrongly with probability at most 10,800δ < 0.001.
//
// When a new answer is fixed, L becomes the least of 3c_max, 6c_max, 12c_max, … for which 2πc_max ≤ ε|b̄ᵀθ̂|/4. Here,
// θ̂ is the previous answer, whose test gives b̄ and an estimate of π. A test takes d² operations for each state–action
// pair, and solves 2d programs for each H.
//
// # What is proved
//
// Let φ be μ-strongly convex in ℓ₂. Consider the part of the domain of φ where 1ᵀθ = 1. Let B be the diameter of this
// part, and let D(θ; θ₁) ≤ Δ for all θ in this part. For any ĝ_t, and for all θ in this part,
//
//	Σ w_t⟨ĝ_t, θ_t − θ⟩ ≤ √S_T (D(θ; θ₁)/c_T + Δ(1/c_1 − 1/c_T) + 2 max(c_T/μ, B)).           (θ)
//
// Proof: let ρ_t = √S_t/c_t, ℓ_t = w_tĝ_t, e_t = w_t P(ĝ_t − ĝ_{t−1}), and let y_t be the minimiser of Σ_{k≤t}⟨ℓ_k, ·⟩
// + ρ_{t−1}D(·; θ₁). Optimistic follow-the-leader (Rakhlin and Sridharan 2013) has a regret of at most ρ_T D(θ; θ₁) + Σ
// [ρ_{t−1} − ρ_t]₊Δ + Σ (⟨e_t, θ_t − y_t⟩ − ρ_{t−1}(μ/2)‖θ_t − y_t‖²). A term of the last sum is at most
// min(‖e_t‖²/2μρ_{t−1}, B‖e_t‖). If S_t ≤ 4S_{t−1}, the first of these two bounds is at most 2(c_T/μ)(√S_t − √S_{t−1});
// otherwise, the second is at most 2B(√S_t − √S_{t−1}). ∎
//
// For each pair i, any θ_t, and all λ(i) ≥ 0, with M = max(λ(i), λ_1(i), …, λ_T(i)),
//
//	Σ w_t(Ψθ_t)_i(λ_t(i) − λ(i)) ≤ √Q_T(i) (M²/2r_1(i) + r_T(i)).                            (λ)
//
// Proof: this is Zinkevich's proof, with steps r_t/√Q_t. It uses |λ_t(i) − λ(i)| ≤ M and Σ w_t²(Ψθ_t)_i²/√Q_t(i) ≤
// 2√Q_T(i). ∎
//
// Let U be the right side of (θ), and U_i the right side of (λ) for the pair i. The sum of the inequality (θ) and of
// the inequalities (λ) of all pairs bounds the gap of the averages. For every θ in the part of the domain above, and
// every λ ⪰ 0,
//
//	Σw_t (𝓛(θ̂, λ) − 𝓛(θ, λ̂)) ≤ U + Σ_i U_i + Σ w_t⟨cᵀΨ − b̂_t, θ_t − θ⟩ .
//
// The last sum is due to the errors of the estimates b̂_t. If the variance of a cost is finite, ‖b̂_t − cᵀΨ‖ = O(1/√t)
// in expectation. This bound includes the effect of the samples left out, because E|X|1{|X| > r√t} ≤ E X²/r√t for every
// r > 0. So the last sum contributes O(1/√T) to the gap. If the λ_t stay bounded, U and Σ_i U_i also contribute
// O(1/√T). We have no proof that the λ_t stay bounded, and know of no such proof for any method of this kind. So U and
// Σ_i U_i can be computed only at the end of a run.
//
// # Where the method fails
//
// With a Tolerance, a run ends long after it has found an answer that is good enough; notebook 12 shows how long after.
// If noise is asymmetric, the bound on the excess still holds, because a constant in E X_L changes the estimate b̄ᵀθ by
// the same amount for all θ. But the estimated cost of θ̂ is then wrong by this constant. If noise depends on the pair,
// the clipping of costs and the omission of samples can bias b̂. Without the exact optimum, the [mixpolicy.Certificate]
// of a result bounds the excess only by the duality gap at λ̂. This gap grows with R, and is far larger than the excess
// over the optimum. If the field Sampled is true, the gradient is (3.5a), whose noise grows with λ and is not averaged.
// The answers are then worse than the answers of a tuned Algorithm 1. For a modulus whose D is unbounded on the class,
// such as [bregman.Euclidean] for R = ∞, there is no Δ, and (θ) proves nothing.
//
// Source: the combination is ours; its parts are from four papers. The step in θ is from Orabona and Pál, Theoretical
// Computer Science 716, 2018. The use of ĝ_t as the guess of ĝ_{t+1} is from Rakhlin and Sridharan, NeurIPS 2013. The
// definitions of r_t and c_t are from Ivgi, Hinder and Carmon, ICML 2023. The limit √t(c_max + m_t) is from Bubeck,
// Cesa-Bianchi and Lugosi, IEEE Transactions on Information Theory 59(11), 2013.
type ScaleFree struct {
	// Modulus is φ; nil means the modulus of the problem's class.
	Modulus bregman.Modulus
	// If Sampled is true, ĝ_t is the estimate (3.5a). Then ĝ_t is not used as the guess of ĝ_{t+1}, so S_t = Σ
	// w_k²‖Pĝ_k‖².
	Sampled bool
	// Tolerance is ε: a run ends by itself once it has shown that the cost of its answer exceeds the optimum by at most
	// ε times the absolute value of this cost. 0 means that no run ends by itself.
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
	lambda, highest, rowSquares, measure []float64 // λ_t, the largest λ_k(i) so far, Q_t, Ψθ_t
	sumLambda, shown                     []float64 // Σ wλ; scratch

	squares, length, unit float64 // S_t, c_t, max ‖Pb̂‖
	top, beyond           float64 // c_max, m_t
	kept                  int     // samples in b̂

	trial       *trial // of θ̂
	drawn, next int    // samples so far, and the number of samples at which the next step is due
	look        int    // the number of samples at which to test θ̂ next, or −1 after the last test
}

// weight is w_t = t for the iteration t − 1 of a Mirror.
var weight = mixpolicy.StepFunc(func(t int) float64 { return float64(t + 1) })

// Start implements [mixpolicy.Method].
func (a ScaleFree) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	if !(a.Tolerance >= 0) || math.IsInf(a.Tolerance, 1) {
		return nil, fmt.Errorf("priorwork: Tolerance = %v, want a finite number ≥ 0", a.Tolerance)
	}
	m, err := mixpolicy.Mirror{Phi: a.Modulus, Eta: weight, Scale: 1}.Start(p, o)
	if err != nil {
		return nil, err
	}
	s, l := zeroVectors(6, p.Dim()), zeroVectors(6, p.MDP().Pairs())
	r := &scaleFree{
		ScaleFree: a, m: m, f: p.Features(), first: slices.Clone(m.Theta), firstDual: slices.Clone(m.Dual),
		top: floats.Norm(p.MDP().Costs(), math.Inf(1)), total: s[0], last: s[1], lead: s[2], b: s[3], price: s[4], row: s[5],
		lambda: l[0], highest: l[1], rowSquares: l[2], measure: l[3], sumLambda: l[4], shown: l[5], look: 16,
	}
	r.length = r.leastLength()
	if a.Tolerance > 0 {
		r.trial = newTrial(p, r.top, m.Theta)
	}
	return r, nil
}

// leastLength returns c_0, a lower bound on every c_t: the least lengthTo over points a tenth of the way from θ₁ to
// each base policy. If such a point is not in the domain, the way to it is halved until the point is in the domain.
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
	if a.Tolerance > 0 && a.drawn == a.look {
		a.look += a.look / 8
		if err := a.test(); err != nil {
			return err
		}
	}
	pair, cost, q := a.m.Sample()
	if a.drawn++; a.Tolerance > 0 {
		cost = a.trial.add(pair, cost, q)
	}
	floats.ScaleTo(a.row, cost/q, a.m.Row)
	if a.keep(cost) {
		a.kept++
		mean(a.b, a.row, 1/float64(a.kept))
	}
	if a.Tolerance > 0 {
		if a.drawn < a.next {
			return nil
		}
		a.next = a.drawn + 1 + a.drawn>>15
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

// keep reports whether b̂ includes the present sample, which has this cost, and updates m_t.
func (a *scaleFree) keep(cost float64) bool {
	t, beyond := float64(a.drawn), max(0, math.Abs(cost)-a.top)
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
		if lambda == 0 && v >= 0 || a.rowSquares[i] < 0x1p-1000 { // λ stays 0; so small a Q matters only for a huge λ
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
		copy(s.Average, a.trial.answer)
	}
	return err
}

// test returns mixpolicy.ErrDone if θ̂ is shown to be good enough. Otherwise, the present answer of View becomes the
// next θ̂ if two conditions hold. First, the part of the bound that is due to θ̂ itself, or the part due to clipping,
// exceeds a quarter of the allowed excess. Second, at least as many samples came after θ̂ as before it.
func (a *scaleFree) test() error {
	excess, own, allowed := a.trial.excess(a.Tolerance)
	if excess <= allowed {
		a.look = -1
		return mixpolicy.ErrDone
	}
	if max(own, a.trial.clipped()) <= allowed/4 || a.trial.n < float64(a.drawn)/2 {
		return nil
	}
	var view mixpolicy.Snapshot
	err := a.View(&view)
	a.trial.begin(view.Average, allowed)
	return err
}

// retreat moves θ, with 1ᵀθ = 1, towards (1/d, …, 1/d), as far as the first point with Ψθ ⪰ 0, up to rounding. Such a
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
