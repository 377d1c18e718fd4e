package priorwork

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
)

// SmoothedPrimalDual is the method that the paper's abstract announces: a primal–dual method for the smoothed ALP, with
// sampling from the polytope of the constraints. The paper's text does not contain the method, so we derive it here,
// for discounted cost only.
//
// # The saddle point
//
// With the least slacks, and with ν in the ball Γ = {‖ν‖₂ ≤ R}, the smoothed program with penalty κ ([SALP]) is
//
//	max_{ν∈Γ} αᵀΦν − κ Σ_s μ(s) [max_a h_a(s;ν)]₊,   h_a(s;ν) = (Φν)(s) − γP_a(s)Φν − c_a(s).
//
// The positive part of the maximum of h is a maximum over a polytope that has one vertex for each action, and the
// vertex 0 for no action:
//
//	[max_a h_a]₊ = max {ρᵀh : ρ ∈ Δ},   Δ = {ρ ∈ ℝᵐ : ρ ⪰ 0, 1ᵀρ ≤ 1}.
//
// So smoothing replaces the unbounded λ ⪰ 0 by λ_a(s) = κμ(s)ρ_a(s) with ρ(s) ∈ Δ. Neither a ball as in (3.26)
// nor a β is needed. The problem becomes
//
//	min_{ν∈Γ} max_{ρ∈Δⁿ} 𝓛(ν, ρ),   𝓛 = −αᵀΦν + κ E_{s∼μ} Σ_a ρ_a(s) h_a(s;ν).
//
// The function 𝓛 is bilinear, and its gradients are expectations. Let φ(s) be row s of Φ. For s ∼ μ, s₀ ∼ α and s′_a ∼
// P_a(s,·), the estimates
//
//	ĝ_ν = −φ(s₀) + κ Σ_a ρ_a(s) (φ(s) − γφ(s′_a)),
//	ĝ_ρ(s)_a = κ ĥ_a,  ĥ_a = φ(s)ᵀν − γφ(s′_a)ᵀν − c_a(s),   and 0 in the other states,
//
// are unbiased, because the weight μ(s) of a state is the probability of sampling this state.
//
// # The iteration
//
// We use mirror descent for ν with φ_R, the modulus (3.7) of the ball Γ, and entropic mirror ascent for ρ(s). The
// weight of taking no action is 1 − 1ᵀρ(s). Neither the step of ν nor the step of ρ needs a projection:
//
//	∇φ_R(ν) ← ∇φ_R(ν) − ηĝ_ν,
//	ρ_a(s) ← ρ_a(s) e^{ηκĥ_a} / (1 − 1ᵀρ(s) + Σ_b ρ_b(s) e^{ηκĥ_b}).
//
// A step makes m queries and takes O(md) operations, whatever n is. Let ν̂ be the average of the iterates of ν, with
// the weights η. The answer is the greedy policy for Φν̂. This policy is computed with the true costs of all pairs.
//
// # The error
//
// The modulus φ_R is 1/R-strongly convex in ℓ₂, and the entropy is 1-strongly convex in ℓ₁ on the simplex. The start is
// ν = 0 and ρ_a(s) = 1/(m+1). So D(ν;0) ≤ R, and the relative entropies of all ρ(s) with respect to the start add up to
// at most n ln(m+1). If ‖φ(s)‖₂ ≤ F for every state s, then ‖ĝ_ν‖₂ ≤ F(1+κ(1+γ)) and |ĥ_a| ≤ FR(1+γ) + c_max. In the
// norms √R‖·‖₂ and ‖·‖_∞, which are dual to the norms in which φ_R and the entropy are 1-strongly convex, the squared
// norms of ĝ_ν and ĝ_ρ add up to at most
//
//	M² = R F²(1+κ(1+γ))² + κ²(FR(1+γ) + c_max)².
//
// We apply the theorem of Nemirovski, Juditsky, Lan and Shapiro (2009) for saddle points. This theorem allows a
// comparator that depends on the samples. For constant η, the theorem gives
//
//	E [max_{ν∈Γ} f(ν) − f(ν̂)] ≤ 2(R + n ln(m+1))/(ηT) + (5/2) η M²,
//
// where f is the objective of the smoothed program. For the best η, this bound is O(√(n ln(m+1)/T)), whereas the
// constants in the rates of section 3 contain ‖λ*‖. The factor √n arises because the constraints of every state may
// bind.
//
// Source: none.
type SmoothedPrimalDual struct {
	Basis   *mat.Dense // Φ
	Weights []float64  // α; nil means the MDP's initial distribution
	Slack   []float64  // μ; nil means α
	Penalty float64    // κ; 0 means PublishedPenalty(γ)

	// Radius is R in Γ = {‖ν‖₂ ≤ R}; required. Here, Φν approximates the values divided by CostScale.
	Radius float64
	// StepSize is η; nil means InverseSqrt(1).
	StepSize mixpolicy.StepSize
	// CostScale divides every observed cost; 0 means c_max.
	CostScale float64
}

// Approximator is a run that learns a value function Φν̂.
type Approximator interface {
	// Nu returns ν̂ in units of the true costs. The next call to Nu may overwrite the result.
	Nu() []float64
}

// Name implements [mixpolicy.Method].
func (a SmoothedPrimalDual) Name() string { return "smoothed ALP, primal–dual" }

// smoothedPrimalDual is a run of [SmoothedPrimalDual].
type smoothedPrimalDual struct {
	policyOnly
	SmoothedPrimalDual // with the defaults filled in

	x           *mixpolicy.MDP
	oracle      *mixpolicy.Oracle
	start, draw *alias.Table      // s₀ ∼ α, s ∼ μ
	m           *mixpolicy.Mirror // mirror descent for ν

	logit          []float64 // ln ρ_a(s) − ln(1 − 1ᵀρ(s))
	rho, slackness []float64 // ρ(s) and ĥ in the sampled state
	next           []int
	gradient, avg  []float64
}

// Start implements [mixpolicy.Method].
func (a SmoothedPrimalDual) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (_ mixpolicy.Run, err error) {
	x := p.MDP()
	alpha, mu, err := smoothedWeights(x, a.Basis, a.Weights, a.Slack)
	if err != nil {
		return nil, err
	}
	var e1, e2, e3, e4 error
	a.Penalty, e1 = positive(a.Penalty, PublishedPenalty(x.Gamma()), "penalty κ")
	a.Radius, e2 = positive(a.Radius, 0, "radius R")
	a.StepSize, e3 = mixpolicy.Steps(a.StepSize)
	a.CostScale, e4 = p.CostScale(a.CostScale)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return nil, err
	}
	_, d := a.Basis.Dims()
	m := x.Actions()
	nu := mixpolicy.Mirror{Phi: bregman.Ball{R: a.Radius}, Eta: a.StepSize, Theta: make([]float64, d), Project: everywhere}
	r := &smoothedPrimalDual{
		SmoothedPrimalDual: a, x: x, oracle: o, m: nu.Begin(nil), logit: make([]float64, x.Pairs()), // ρ_a(s) = 1/(m+1)
		rho: make([]float64, m), slackness: make([]float64, m), next: make([]int, m), gradient: make([]float64, d), avg: make([]float64, d),
	}
	if r.start, err = alias.New(alpha); err != nil {
		return nil, err
	}
	r.draw, err = alias.New(mu)
	return r, err
}

// everywhere is the projection onto the whole space.
func everywhere([]float64) error { return nil }

// Step implements [mixpolicy.Run].
func (a *smoothedPrimalDual) Step() error {
	rng, m, nu := a.oracle.Rand(), a.x.Actions(), a.m.Theta
	s, s0 := a.draw.Draw(rng), a.start.Draw(rng)
	here := a.Basis.RawRowView(s)
	value := floats.Dot(here, nu)
	for b := range m {
		cost, next := a.oracle.Query(s, b)
		a.next[b] = next
		a.slackness[b] = value - a.x.Gamma()*floats.Dot(a.Basis.RawRowView(next), nu) - cost/a.CostScale
	}
	logit := a.logit[s*m : (s+1)*m]
	softmax(a.rho, logit, 0)

	floats.ScaleTo(a.gradient, -1, a.Basis.RawRowView(s0))
	for b, rho := range a.rho {
		floats.AddScaled(a.gradient, a.Penalty*rho, here)
		floats.AddScaled(a.gradient, -a.Penalty*rho*a.x.Gamma(), a.Basis.RawRowView(a.next[b]))
	}
	eta, err := a.m.Step(1, 1, a.gradient)
	floats.AddScaled(logit, eta*a.Penalty, a.slackness)
	return err
}

// softmax sets dst_a = e^{l_a}/(e^{l₀} + Σ_b e^{l_b}), with l₀ = rest, which may be −∞.
func softmax(dst, logit []float64, rest float64) {
	top := max(rest, slices.Max(logit))
	total := math.Exp(rest - top)
	for b, l := range logit {
		dst[b] = math.Exp(l - top)
		total += dst[b]
	}
	floats.Scale(1/total, dst)
}

// Nu implements [Approximator].
func (a *smoothedPrimalDual) Nu() []float64 {
	if a.m.SumEta > 0 {
		floats.ScaleTo(a.avg, a.CostScale/a.m.SumEta, a.m.SumTheta)
	}
	return a.avg
}

// Policy implements [mixpolicy.PolicyRun]: it returns the greedy policy for Φν̂.
func (a *smoothedPrimalDual) Policy(context.Context) (*mixpolicy.Policy, error) {
	nu := a.Nu()
	for j, v := range nu {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("priorwork: smoothed ALP: entry %d of ν̂ is %v, want a finite number; take smaller steps", j, v)
		}
	}
	return a.x.Greedy(values(a.Basis, nu)), nil
}
