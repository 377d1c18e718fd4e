package priorwork

import (
	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// VarianceReduced is Algorithm 1 with another gradient estimate. In (3.5a), both terms are sampled. But Ψᵀλ_t is known,
// and cᵀΨ can be estimated from all samples so far:
//
//	ĝ_t = b̂_t − Ψᵀλ_t,    b̂_t = (1/t) Σ_{k≤t} c(sₖ,aₖ)Ψ(sₖ,aₖ)/q(sₖ,aₖ).
//
// The variance of the error b̂_t − cᵀΨ is 1/t times the variance of the first term of (3.5a), and does not grow with λ.
// Given the past, ĝ_t is not unbiased, but it is consistent. The other steps are those of Algorithm 1 in its corrected
// form, (3.25)–(3.27), with scaled rows (mixpolicy.PrimalDual.RowScaling) and without a ball for λ.
//
// An iteration costs 2nmd operations.
//
// Source: none. The method is Algorithm 1 of the paper, with the estimate of [mixpolicy.PlugIn], and with the rows
// scaled as in Pock and Chambolle, ICCV 2011.
type VarianceReduced struct {
	// Modulus is φ; nil means the modulus of the problem's class.
	Modulus bregman.Modulus
	// StepSize is η; nil means mixpolicy.InverseSqrt(1).
	StepSize mixpolicy.StepSize
	// CostScale divides every observed cost; 0 means c_max.
	CostScale float64
}

// Name implements [mixpolicy.Method].
func (a VarianceReduced) Name() string { return "primal–dual, variance reduced" }

// varianceReduced is a run of [VarianceReduced].
type varianceReduced struct {
	m                    *mixpolicy.Mirror
	s                    *saddle
	b, gradient          []float64 // b̂, b̂ − Ψᵀλ
	lambda               []float64
	averageLambda, shown []float64
}

// Start implements [mixpolicy.Method].
func (a VarianceReduced) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	m, err := mixpolicy.Mirror{Phi: a.Modulus, Eta: a.StepSize, Scale: a.CostScale}.Start(p, o)
	if err != nil {
		return nil, err
	}
	d, pairs := p.Dim(), p.MDP().Pairs()
	return &varianceReduced{m: m, s: newSaddle(p), b: make([]float64, d), gradient: make([]float64, d),
		lambda: make([]float64, pairs), averageLambda: make([]float64, pairs), shown: make([]float64, pairs)}, nil
}

// Step implements [mixpolicy.Run].
func (a *varianceReduced) Step() error {
	_, cost, q := a.m.Sample()
	floats.Scale(cost/q, a.m.Row)
	mean(a.b, a.m.Row, 1/float64(a.m.T+1))
	a.s.p.Features().MulVecT(a.gradient, a.lambda)
	floats.SubTo(a.gradient, a.b, a.gradient)
	eta, err := a.m.Step(1, 1, a.gradient)
	if err != nil {
		return err
	}
	mean(a.averageLambda, a.lambda, eta/a.m.SumEta)
	a.s.ascend(a.lambda, a.lambda, eta, a.m.Before)
	return nil
}

// View implements [mixpolicy.Run].
func (a *varianceReduced) View(s *mixpolicy.Snapshot) error {
	err := a.m.View(s)
	s.Lambda = floats.ScaleTo(a.shown, a.m.Scale, a.averageLambda)
	return err
}

// LastIterate answers with the last iterate θ_t of a method instead of the average θ̂_t of (3.27). Because 𝓛 is
// bilinear, the iterates may circle around a saddle point instead of converging to it. No theorem of the paper applies
// to the last iterate.
//
// Source: none. LastIterate and the method in the field Of differ only in their answers.
type LastIterate struct{ Of mixpolicy.Method }

// Name implements [mixpolicy.Method].
func (a LastIterate) Name() string { return a.Of.Name() + ", last iterate" }

// Start implements [mixpolicy.Method].
func (a LastIterate) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	r, err := a.Of.Start(p, o)
	return lastIterate{r}, err
}

type lastIterate struct{ mixpolicy.Run }

// View implements [mixpolicy.Run].
func (a lastIterate) View(s *mixpolicy.Snapshot) error {
	err := a.Run.View(s)
	s.Average = s.Last
	return err
}
