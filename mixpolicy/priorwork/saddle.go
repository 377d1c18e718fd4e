package priorwork

import (
	"github.com/mixpolicy/lab/mixpolicy"
)

// saddle is (3.1) in coordinates in which it is well scaled.
//
// A column of Ψ adds up to 1; let r_i be the sum of row i, and S = diag(1/r_i). By the lemma
// of Pock and Chambolle (2011) ‖S^{1/2}Ψ‖₂ ≤ 1, whatever the problem: with Cauchy and Schwarz,
//
//	‖S^{1/2}Ψθ‖² = Σ_i (Σ_j ψ_ijθ_j)²/r_i ≤ Σ_i Σ_j ψ_ijθ_j² = ‖θ‖².
//
// So a method that measures λ by ‖λ‖²_{S⁻¹} = Σ r_iλ_i² needs no estimate of ‖Ψ‖.
type saddle struct {
	p       *mixpolicy.Problem
	weights []float64 // r_i
	theta   []float64 // gradients, scratch
	lambda  []float64
}

func newSaddle(p *mixpolicy.Problem) *saddle {
	f := p.Features()
	pairs := p.MDP().Pairs()
	s := &saddle{p: p, weights: make([]float64, pairs), theta: make([]float64, p.Dim()), lambda: make([]float64, pairs)}
	for j := range f.Dim() {
		for i, v := range f.Column(j) {
			s.weights[i] += v
		}
	}
	return s
}

// gradient returns ∇_θ 𝓛 = Ψᵀ(c − λ), borrowed.
func (s *saddle) gradient(lambda []float64) []float64 {
	s.p.GradTheta(s.theta, lambda)
	return s.theta
}

// ascend stores [λ − step·SΨθ]₊ in dst.
func (s *saddle) ascend(dst, lambda []float64, step float64, theta []float64) {
	s.p.Features().MulVec(s.lambda, theta)
	for i, v := range s.lambda {
		dst[i] = lambda[i]
		if w := s.weights[i]; w > 0 { // else the row is 0 and λ_i stays
			dst[i] = max(0, lambda[i]-step*v/w)
		}
	}
}
