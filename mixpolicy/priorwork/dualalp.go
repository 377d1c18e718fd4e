package priorwork

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// DualALP is the method of Abbasi-Yadkori, Bartlett and Malek (2014): projected stochastic subgradient descent on
// (4.14),
//
//	f_ω(θ) = cᵀΨθ + ω‖[Ψθ]₋‖₁ + ω‖(Q − γP)ᵀΨθ − (1−γ)α‖₁.
//
// The second penalty, on the flow, is needed because the columns of Ψ need not be occupation measures. (In the second
// penalty, the paper prints θᵀΨᵀ(P − Q), the flow under average cost, which is the criterion of the source.) Let W =
// (Q − γP)ᵀΨ ∈ ℝ^{n×d}, and let W_{s′} be row s′ of W. For a pair (s,a) ~ q from the oracle and an independent state
// s′ drawn with probability q₂(s′) ∝ ‖W_{s′}‖₂, an unbiased estimate of a subgradient is
//
//	ĝ = (c_a(s) − ω1{Ψ_a(s)θ < 0}) Ψ_a(s)/q_a(s) + ω sign(W_{s′}θ − (1−γ)α(s′)) W_{s′}/q₂(s′).
//
// This q₂ minimises the greatest length of the second term of ĝ. The answer is the average of the iterates with the
// weights η. Each step projects onto Θ_R ∩ Θ₂. If this set is in a ball of radius R₂ about the start, and if ‖ĝ‖ ≤ G,
// then T steps with η = R₂/(G√T) give E f_ω(θ̂) − min f_ω ≤ R₂G/√T, where the minimum is over Θ_R ∩ Θ₂.
//
// DualALP computes W once; to do so, it passes over the transitions once for each feature. The source computes only the
// sampled rows W_{s′}, each from the predecessors of s′.
//
// Source: Abbasi-Yadkori, Bartlett and Malek, ICML 2014 (arXiv 1402.6763). We did not have the text.
//
// Deviations: see [Publications].
type DualALP struct {
	// Weight is ω, for costs divided by CostScale; 0 means 1. The source takes ω = 1/ε for an accuracy ε.
	Weight float64
	// StepSize is η; nil means InverseSqrt(1).
	StepSize mixpolicy.StepSize
	// Batch is the number of gradient estimates that a step averages; 0 means 1.
	Batch int
	// CostScale divides every observed cost; 0 means max |c|, or 1 if all costs are 0.
	CostScale float64
}

// PublishedDualALP returns the setting of the source's experiments with the four-queue network: ω = 2, averages of 1000
// gradient estimates, and a step size of 10⁻⁴ that is halved every 2000 steps. These experiments took 8000 steps. (We
// quote all these values from memory, because we did not have the text.) Costs are not scaled.
func PublishedDualALP() DualALP {
	return DualALP{Weight: 2, Batch: 1000, CostScale: 1,
		StepSize: mixpolicy.StepFunc(func(t int) float64 { return math.Ldexp(1e-4, -(t / 2000)) })}
}

// Name implements [mixpolicy.Method].
func (a DualALP) Name() string { return "dual ALP" }

// dualALP is a run of [DualALP].
type dualALP struct {
	DualALP // with the defaults filled in

	p        *mixpolicy.Problem
	m        *mixpolicy.Mirror
	oracle   *mixpolicy.Oracle
	flow     [][]float64  // W, by state
	target   []float64    // (1−γ)α
	table    *alias.Table // draws from q₂; nil if W = 0
	q2       []float64
	gradient []float64
}

// Start implements [mixpolicy.Method].
func (a DualALP) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	var err error
	if a.Weight, err = positive(a.Weight, 1, "penalty weight ω"); err != nil {
		return nil, err
	}
	if a.Batch < 0 {
		return nil, fmt.Errorf("priorwork: a batch of %d gradients, want Batch ≥ 1, or 0 for the default of 1", a.Batch)
	}
	a.Batch = max(1, a.Batch)
	m, err := mixpolicy.Mirror{Phi: bregman.Euclidean(), Eta: a.StepSize, Scale: a.CostScale, Project: p.Class().Project}.Start(p, o)
	if err != nil {
		return nil, err
	}
	a.StepSize, a.CostScale = m.Eta, m.Scale
	r := &dualALP{
		DualALP: a, p: p, m: m, oracle: o, flow: flowRows(p.Features()), target: flowTarget(p.MDP()), gradient: make([]float64, p.Dim()),
	}
	r.q2 = make([]float64, len(r.flow))
	for s, w := range r.flow {
		r.q2[s] = floats.Norm(w, 2)
	}
	total := sum.Of(r.q2)
	if total == 0 { // W = 0, so the second penalty is constant
		return r, nil
	}
	floats.Scale(1/total, r.q2)
	r.table, err = alias.New(r.q2)
	return r, err
}

// flowRows returns W = (Q − γP)ᵀΨ by rows.
func flowRows(f *mixpolicy.Features) [][]float64 {
	x := f.MDP()
	m, w := x.Actions(), zeroVectors(x.States(), f.Dim())
	for j := range f.Dim() {
		for i, v := range f.Column(j) {
			if v == 0 {
				continue
			}
			w[i/m][j] += v
			to, prob := x.Next(i/m, i%m)
			for k, s2 := range to {
				w[s2][j] -= x.Gamma() * prob[k] * v
			}
		}
	}
	return w
}

// flowTarget returns (1−γ)α.
func flowTarget(x *mixpolicy.MDP) []float64 {
	b := make([]float64, x.States())
	if !x.Criterion().Average() {
		floats.AddScaled(b, 1-x.Gamma(), x.Initial())
	}
	return b
}

// Step implements [mixpolicy.Run].
func (a *dualALP) Step() error {
	clear(a.gradient)
	for range a.Batch {
		_, slope, q := a.m.Sample()
		if floats.Dot(a.m.Row, a.m.Theta) < 0 {
			slope -= a.Weight
		}
		floats.AddScaled(a.gradient, slope/q, a.m.Row)
		if a.table != nil {
			s := a.table.Draw(a.oracle.Rand())
			if excess := floats.Dot(a.flow[s], a.m.Theta) - a.target[s]; excess != 0 {
				floats.AddScaled(a.gradient, math.Copysign(a.Weight, excess)/a.q2[s], a.flow[s])
			}
		}
	}
	_, err := a.m.Step(1, float64(a.Batch), a.gradient)
	return err
}

// View implements [mixpolicy.Run].
func (a *dualALP) View(s *mixpolicy.Snapshot) error { return a.m.View(s) }

// Objective returns f_ω(θ), for costs divided by CostScale.
func (a DualALP) Objective(p *mixpolicy.Problem, theta []float64) (float64, error) {
	r, err := a.Start(p, nil)
	if err != nil {
		return 0, err
	}
	var flow sum.Accumulator
	set := r.(*dualALP)
	for s, w := range set.flow {
		flow.Add(math.Abs(floats.Dot(w, theta) - set.target[s]))
	}
	return p.Objective(theta)/set.CostScale + set.Weight*(p.NegativeMass(theta)+flow.Value()), nil
}

// String describes the settings, with the defaults filled in.
func (a *dualALP) String() string {
	return fmt.Sprintf("%s, ω = %v, %v, %d gradients a step, scale of costs %v", a.Name(), a.Weight, a.StepSize, a.Batch, a.CostScale)
}
