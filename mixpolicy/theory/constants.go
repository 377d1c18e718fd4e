// Package theory computes the quantities of the paper's analysis: the constants and bounds of section 3.2, both as
// printed and as corrected; the Orlicz norms of section 2; and the mixing times and ergodicity constants of
// Assumptions A.1 and A.2. No algorithm of this repository uses this package.
//
// In this package, [x]₋ is max{−x, 0}. The paper defines [x]₋ as x ∧ 0, which has the same norms.
package theory

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
	"github.com/mixpolicy/lab/mixpolicy/internal/directions"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// Constants holds the numbers in the bounds of section 3.2, for a problem and the settings of Algorithm 1. The
// numbers are exact up to rounding, but D may be too small (see [MaxDivergence]), and so may DStar if it equals D. As
// in Algorithm 1, the costs are divided by the CostScale of the settings. ‖·‖ is the norm of the class, and ‖·‖⁎ is the
// dual norm.
type Constants struct {
	Pairs, Dim int
	R          float64 // the radius of Θ_R: ‖θ‖ ≤ R
	Reach      float64 // max ‖θ‖₂ over Θ_R
	Cost       float64 // max |c|, the paper's c_max
	Spread     float64 // max c − min c
	Beta, G    float64 // β; G bounds ‖λ‖₂: G = 1/(1−γ) ∨ β, but under average cost, G = β, or +∞ if β = 0

	A          float64 // max ‖Ψ_a(s)/q_a(s)‖⁎ (3.30)
	PsiNorm    float64 // ‖Ψ‖_{⁎,2} = max ‖Ψᵀx‖⁎/‖x‖₂
	SigmaMax   float64 // σ_max(Ψ)
	Comparison float64 // C(n) = max ‖v‖/‖v‖₂ over v ∈ ℝᵈ

	// Mu is the constant of strong convexity of φ in ‖·‖. The paper assumes Mu = 1, but Mu is 1/R
	// for (3.7) and 2/R for (3.10).
	Mu float64
	// D is max D(θ;θ₀) over Θ_R ∩ Θ₂. The proof of (3.31) needs only this maximum. The printed (3.29) is the maximum of
	// D(θ₁;θ₂) over both θ₁ and θ₂; the printed maximum is +∞ for a Legendre function whose domain is Θ_R.
	D float64

	// DStar is D(θ*;θ₀) for the exact optimum θ* of (2.18), or D if rounding puts θ* outside the domain of φ.
	// LambdaStar is the least ‖λ*‖₂: see [Multipliers].
	DStar, LambdaStar float64
	// Tangent is the maximum of min_k ‖Ψ_a(s)/q_a(s) − k1‖⁎ over the pairs with q_a(s) > 0. The refined bounds use
	// Tangent instead of A, because the iterates stay on 1ᵀθ = 1.
	Tangent float64

	criterion mixpolicy.Criterion
}

// NewConstants computes the constants for the Modulus, Beta, CostScale and Theta0 of the settings a. It returns an
// error if Algorithm 1 refuses the settings. It returns an error if RowScaling is set, because the analysis does not
// cover row scaling. It returns an error if the Modulus is not a [bregman.StrongConvexer] with μ > 0, or if it finds,
// in the domain of the Modulus, a point outside the class, because iterates may then leave the class. It also returns
// the errors of [mixpolicy.Problem.Optimum] and [Multipliers].
func NewConstants(p *mixpolicy.Problem, a mixpolicy.PrimalDual) (*Constants, error) {
	if a.RowScaling {
		return nil, errors.New("theory: the bounds of section 3.2 do not cover row scaling, want PrimalDual.RowScaling = false")
	}
	set, err := a.For(p)
	if err != nil {
		return nil, err
	}
	f, d, class := p.Features(), p.Dim(), p.Class()
	phi, start := set.Modulus, set.Theta0
	mu, norm, ok := bregman.StrongConvexity(phi)
	if !ok {
		return nil, fmt.Errorf("theory: modulus %v claims no strong convexity, want a bregman.StrongConvexer with μ > 0", phi)
	}
	if x, _ := class.Mismatch(phi, start); x != nil {
		return nil, fmt.Errorf("theory: modulus %v is finite at %.4g, outside the class %v, want a modulus with its domain in the class",
			phi, x, class)
	}
	dual := class.Norm.Dual()
	lo, hi := p.MDP().CostRange()
	k := &Constants{
		Pairs: p.MDP().Pairs(), Dim: d, R: class.R, Reach: Reach(class, d),
		Cost: max(-lo, hi) / set.CostScale, Spread: (hi - lo) / set.CostScale,
		Beta: a.Beta, G: a.Radius(p.MDP().Criterion()), criterion: p.MDP().Criterion(),
		A: RatioNorm(f, dual.Of), Tangent: RatioNorm(f, func(x []float64) float64 { return tangentNorm(dual, x) }),
		PsiNorm: SubordinateNorm(f, class.Norm), SigmaMax: SubordinateNorm(f, linprog.L2),
		Comparison: []float64{linprog.L2: 1, linprog.LInf: 1, linprog.L1: math.Sqrt(float64(d))}[class.Norm],
		Mu:         mu * normRatio(norm, class.Norm, d), D: MaxDivergence(phi, class, start),
	}
	best, err := p.Optimum(context.Background())
	if err != nil {
		return nil, err
	}
	// The proofs need D ≥ D(θ*;θ₀), even if D is only a local maximum. If θ* is on
	// the boundary, rounding may have put θ* outside the domain of φ, where the divergence is +∞.
	k.DStar = bregman.Divergence(phi, best.Theta, start)
	if math.IsInf(k.DStar, 1) {
		k.DStar = k.D
	}
	k.D = max(k.D, k.DStar)
	lambda, err := Multipliers(p)
	if err != nil {
		return nil, err
	}
	k.LambdaStar = floats.Norm(lambda, 2) / set.CostScale
	return k, nil
}

// Reach returns max ‖θ‖₂ over ‖θ‖ ≤ R in ℝᵈ: R√d for the cube, and R otherwise. The corrected
// (5.29) is ‖Ψθ‖₂ ≤ σ_max·Reach.
func Reach(class mixpolicy.Class, d int) float64 {
	if class.Norm == linprog.LInf {
		return class.R * math.Sqrt(float64(d))
	}
	return class.R
}

// With returns the constants with Beta = beta, and with the G that results from beta.
func (k Constants) With(beta float64) *Constants {
	k.Beta, k.G = beta, mixpolicy.PrimalDual{Beta: beta}.Radius(k.criterion)
	return &k
}

// GradientBound returns the right side of (5.30), ‖∇_θ𝓛‖⁎ ≤ (c_max√(nm) + G)‖Ψ‖_{⁎,2} for ‖λ‖₂ ≤ G.
func (k *Constants) GradientBound() float64 {
	return (k.Cost*math.Sqrt(float64(k.Pairs)) + k.G) * k.PsiNorm
}

// Ce returns the bound of equation (A.3) on the estimation error, ‖e_t‖⁎ ≤ A(c_max+G) + (c_max√(nm)+G)‖Ψ‖_{⁎,2}, where
// the first term bounds ‖ĝ‖⁎ of (3.5a), and the second term bounds ‖∇_θ𝓛‖⁎. The printed form is (3.34b). It has 1
// instead of c_max, as for costs in [−1, 1].
func (k *Constants) Ce(form mixpolicy.Form) float64 {
	if form == mixpolicy.Printed {
		return (1+k.G)*k.A + (math.Sqrt(float64(k.Pairs))+k.G)*k.PsiNorm
	}
	return k.A*(k.Cost+k.G) + k.GradientBound()
}

// B returns the factor of Ση² in (3.31) and (3.32). In the corrected form,
//
//	B = ½(σ_max max‖θ‖₂)² + ( ((c_max√(nm)+G)‖Ψ‖_{⁎,2})² + C_e² )/μ .
//
// This B bounds ½‖∇_λ𝓛‖₂² + ½‖ĝ‖⁎²/μ, because ‖ĝ‖⁎² ≤ 2‖∇_θ𝓛‖⁎² + 2‖e‖⁎². In the printed (3.34a), the first two terms
// are 2Rσ_max and (√(nm)+G)‖Ψ‖_{⁎,2}, C_e is the printed (3.34b), and μ = 1.
func (k *Constants) B(form mixpolicy.Form) float64 {
	ce := k.Ce(form)
	if form == mixpolicy.Printed {
		return 2*k.R*k.SigmaMax + (math.Sqrt(float64(k.Pairs))+k.G)*k.PsiNorm + ce*ce
	}
	dual, gradient := k.SigmaMax*k.Reach, k.GradientBound()
	return dual*dual/2 + (gradient*gradient+ce*ce)/k.Mu
}

// Divergence returns the D of the bounds: the field D or, in the printed form for a finite R, +∞.
func (k *Constants) Divergence(form mixpolicy.Form) float64 {
	if form == mixpolicy.Printed && !math.IsInf(k.R, 1) {
		return math.Inf(1)
	}
	return k.D
}

// SubordinateNorm returns ‖Ψ‖_{⁎,2} = max ‖Ψᵀx‖⁎/‖x‖₂ for the dual ‖·‖⁎ of the given norm ‖·‖. (The paper defines
// ‖Ψ‖_{⁎,2} with Ψ instead of Ψᵀ.) By duality, ‖Ψ‖_{⁎,2} is max ‖Ψθ‖₂ over ‖θ‖ ≤ 1. For the three norms ‖·‖, it is
//
//	ℓ₂   σ_max(Ψ)
//	ℓ_∞  ‖Ψ1‖₂, because no entry of ΨᵀΨ is negative
//	ℓ₁   max_j ‖ψʲ‖₂, at a vertex
func SubordinateNorm(f *mixpolicy.Features, norm linprog.Norm) float64 {
	pairs, d := f.Dims()
	switch norm {
	case linprog.LInf:
		sums := make([]float64, pairs)
		f.MulVec(sums, slices.Repeat([]float64{1}, d))
		return floats.Norm(sums, 2)
	case linprog.L1:
		var top float64
		for j := range d {
			top = max(top, floats.Norm(f.Column(j), 2))
		}
		return top
	}
	gram, products := mat.NewSymDense(d, nil), make([]float64, d)
	for i := range d {
		f.MulVecT(products, f.Column(i))
		for j := range i + 1 {
			gram.SetSym(i, j, products[j])
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(gram, false) // the method converges for a symmetric matrix of finite numbers
	return math.Sqrt(eigen.Values(nil)[d-1])
}

// RatioNorm returns max size(Ψ_i/q_i) over the pairs i with q_i > 0, where Ψ_i is row i of Ψ, and q_i is the
// probability with which the oracle samples pair i. If the function size is the dual norm, the result is A of (3.30).
func RatioNorm(f *mixpolicy.Features, size func([]float64) float64) float64 {
	row := make([]float64, f.Dim())
	var top float64
	for i, q := range f.Sampling() {
		if q > 0 {
			f.Row(row, i)
			floats.Scale(1/q, row)
			top = max(top, size(row))
		}
	}
	return top
}

// tangentNorm returns min_k ‖x − k1‖, the norm of x as a functional on 1ᵀδ = 0. The best k is the
// mean of x for ℓ₂, the midrange for ℓ∞, and a median for ℓ₁.
func tangentNorm(norm linprog.Norm, x []float64) float64 {
	var k float64
	switch norm {
	case linprog.L2:
		k = sum.Of(x) / float64(len(x))
	case linprog.LInf:
		k = (floats.Min(x) + floats.Max(x)) / 2
	case linprog.L1:
		k = slices.Sorted(slices.Values(x))[len(x)/2]
	}
	y := slices.Clone(x)
	floats.AddConst(-k, y)
	return norm.Of(y)
}

// normRatio returns the greatest c with ‖x‖_p² ≥ c‖x‖² on ℝᵈ, for the class's norm ‖·‖.
func normRatio(p float64, norm linprog.Norm, d int) float64 {
	inverse := map[linprog.Norm]float64{linprog.L2: 0.5, linprog.LInf: 0, linprog.L1: 1}[norm]
	if gap := inverse - 1/p; gap > 0 { // ‖x‖_p < ‖x‖ is possible
		return math.Pow(float64(d), -2*gap)
	}
	return 1
}

// MaxDivergence returns max D(θ;θ₀) over Θ_R ∩ Θ₂, the corrected (3.29). D is convex in θ, so an extreme point
// attains the maximum. For φ of (3.7) on its ball, the maximum is attained at the θ with the least ⟨θ,θ₀⟩,
//
//	D = (R² − min⟨θ,θ₀⟩)/√(R² − ‖θ₀‖²) ,   which is √(R² − 1/d) for θ₀ = (1/d)1 and d ≥ 2 .
//
// For any other φ or class, MaxDivergence climbs from many directions to local maxima among the extreme points and
// returns the greatest value found. This value is a lower bound on the maximum; it was the maximum for every cube whose
// vertices the tests enumerate. If the class is unbounded, or if a climb ends outside the domain of φ, MaxDivergence
// returns +∞. If d = 1, however, Θ₂ is a single point, and MaxDivergence always returns 0.
func MaxDivergence(phi bregman.Modulus, class mixpolicy.Class, start []float64) float64 {
	d, top := len(start), 0.0
	if d == 1 {
		return 0
	}
	if math.IsInf(class.R, 1) {
		return class.R
	}
	if ball, ok := phi.(bregman.Ball); ok && class == mixpolicy.Ball(ball.R) {
		gap := (ball.R - floats.Norm(start, 2)) * (ball.R + floats.Norm(start, 2))
		return (ball.R*ball.R - class.MinLinear(start)) / math.Sqrt(gap)
	}
	// θ ← argmax ⟨∇D((θ+θ₀)/2; θ₀), θ′⟩ over θ′ in the class, as long as D grows. The gradient is taken
	// halfway, because at θ, on the boundary, the gradient of a Legendre function points to θ itself.
	direction, theta, far, origin := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	phi.Gradient(origin, start)
	for first := range directions.All(d) {
		copy(direction, first)
		last := math.Inf(-1)
		for range 1000 { // near the centre of a ball, steps are short
			floats.ScaleTo(far, 0x1p40*class.R/max(floats.Norm(direction, math.Inf(1)), math.SmallestNonzeroFloat64), direction)
			if err := class.Norm.Project(theta, far, class.R); err != nil {
				last = math.Inf(1)
				break
			}
			value := bregman.Divergence(phi, theta, start)
			if class.Norm == linprog.L2 || math.IsInf(value, 1) { // a boundary point may round outside; D loses at most a fraction 2^−23.5
				for j := range theta {
					theta[j] = start[j] + (1-0x1p-48)*(theta[j]-start[j])
				}
				value = bregman.Divergence(phi, theta, start)
			}
			grows := value > last
			if last = max(last, value); !grows || math.IsInf(value, 1) {
				break
			}
			floats.Scale(0.5, floats.AddTo(far, start, theta))
			phi.Gradient(direction, far)
			floats.Sub(direction, origin)
		}
		if top = max(top, last); math.IsInf(top, 1) {
			break
		}
	}
	return top
}
