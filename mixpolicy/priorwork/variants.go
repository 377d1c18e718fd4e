package priorwork

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

var (
	_ mixpolicy.Method = VarianceReduced{}
	_ mixpolicy.Run    = (*varianceReduced)(nil)
	_ mixpolicy.Method = LastIterate{}
)

// VarianceReduced is Algorithm 1 with a gradient estimate of smaller variance. In (3.5a) both
// terms are sampled, but Ψᵀλ_t is known, and all samples so far can estimate cᵀΨ:
//
//	ĝ_t = b̂_t − Ψᵀλ_t,    b̂_t = (1/t) Σ_{k≤t} c(sₖ,aₖ)Ψ(sₖ,aₖ)/q(sₖ,aₖ),
//
// whose error b̂_t − cᵀΨ has the variance of (3.5a)'s first term divided by t, and no part
// that grows with λ. It is not unbiased given the past; it is consistent. The rest is
// Algorithm 1 in its corrected form, (3.25)–(3.27), with scaled rows
// (mixpolicy.PrimalDual.RowScaling) and without a ball for λ.
//
// An iteration costs 2nmd operations.
//
// Source: none. Algorithm 1 of the paper, with the estimate of [mixpolicy.PlugIn] and the rows
// scaled as Pock and Chambolle, ICCV 2011, do.
type VarianceReduced struct {
	// Modulus is φ; nil is that of the problem's class.
	Modulus bregman.Modulus
	// StepSize is η; nil is mixpolicy.InverseSqrt(1).
	StepSize mixpolicy.StepSize
	// CostScale divides every observed cost; 0 is 1.
	CostScale float64
}

// Name implements [mixpolicy.Method].
func (a VarianceReduced) Name() string { return "primal–dual, variance reduced" }

// varianceReduced is a run of [VarianceReduced].
type varianceReduced struct {
	VarianceReduced // with the defaults filled in

	s       *saddle
	oracle  *mixpolicy.Oracle
	t       int
	row     []float64
	b       []float64 // b̂
	y       []float64
	theta   []float64
	lambda  []float64
	scratch []float64

	weight                 float64
	average, averageLambda []float64
	shown                  []float64
}

// Start implements [mixpolicy.Method].
func (a VarianceReduced) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	if a.Modulus == nil {
		a.Modulus = mixpolicy.DefaultModulus(p.Class())
	}
	d, pairs := p.Dim(), p.MDP().Pairs()
	if err := bregman.Validate(a.Modulus, d); err != nil {
		return nil, err
	}
	var err error
	if a.StepSize, err = mixpolicy.Steps(a.StepSize); err != nil {
		return nil, err
	}
	if a.CostScale, err = positive(a.CostScale, 1, "CostScale"); err != nil {
		return nil, err
	}
	r := &varianceReduced{
		VarianceReduced: a, s: newSaddle(p), oracle: o, theta: barycentre(d), average: barycentre(d),
		row: make([]float64, d), b: make([]float64, d), y: make([]float64, d), scratch: make([]float64, d),
		lambda: make([]float64, pairs), averageLambda: make([]float64, pairs), shown: make([]float64, pairs),
	}
	a.Modulus.Gradient(r.y, r.theta)
	return r, nil
}

// Step implements [mixpolicy.Run].
func (a *varianceReduced) Step() error {
	eta := a.StepSize.At(a.t)
	if !(eta > 0) || eta-eta != 0 {
		return fmt.Errorf("priorwork: step size of iteration %d is %v, want a finite number > 0", a.t, eta)
	}
	f := a.s.p.Features()
	pair, cost := a.oracle.Sample()
	f.Row(a.row, pair)
	floats.Scale(cost/a.CostScale/f.Sampling()[pair], a.row)
	mean(a.b, a.row, a.t+1)

	f.MulVecT(a.row, a.lambda)
	for j := range a.y {
		a.y[j] -= eta * (a.b[j] - a.row[j])
	}
	if _, err := bregman.ProjectDual(a.Modulus, a.y, a.scratch); err != nil {
		return fault.At("priorwork", fmt.Sprintf("primal–dual, variance reduced, iteration %d", a.t), err)
	}
	a.weight += eta
	w := eta / a.weight
	for j, v := range a.theta {
		a.average[j] += w * (v - a.average[j])
	}
	for i, v := range a.lambda {
		a.averageLambda[i] += w * (v - a.averageLambda[i])
	}
	a.s.ascend(a.lambda, a.lambda, eta, a.theta)
	a.Modulus.ConjugateGradient(a.theta, a.y)
	a.t++
	return nil
}

// View implements [mixpolicy.Run].
func (a *varianceReduced) View(s *mixpolicy.Snapshot) error {
	floats.ScaleTo(a.shown, a.CostScale, a.averageLambda)
	s.Iteration, s.Queries, s.Last, s.Average, s.Lambda = a.t, a.oracle.Queries(), a.theta, a.average, a.shown
	return nil
}

// LastIterate returns the last iterate θ_t of a method instead of the average θ̂_t of (3.27). For
// a saddle point of a bilinear 𝓛 the iterates circle unless the steps vanish, and no theorem of
// the paper applies to them.
//
// Source: none. Algorithm 1 of the paper with another answer.
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
