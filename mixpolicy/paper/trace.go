package paper

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Trace is a run of the corrected Algorithm 1 with everything that the proofs of section 5
// speak of, step by step. It is a second, plain implementation: each line is one of the
// paper's, λ is a dense vector, and θ̃_t is computed and then projected.
type Trace struct {
	Name    string
	Problem *mixpolicy.Problem
	Phi     bregman.Modulus
	Mu      float64 // strong convexity of φ in the norm of the class
	G       float64 // radius of the ball of λ
	Scale   float64 // divisor of costs
	K       *theory.Constants

	Steps  []TraceStep
	Sums   theory.StepSums
	Theta  []float64 // θ̂ (3.27)
	Lambda []float64 // λ̂
}

// TraceStep is iteration t.
type TraceStep struct {
	Eta    float64
	Theta  []float64 // θ_t
	Lambda []float64 // λ_t
	Pair   int       // sampled
	Sample []float64 // ĝ_t, (3.5a)
	Mean   []float64 // ∇_θ𝓛(θ_t, λ_t) = E ĝ_t
	Error  []float64 // e_t = ĝ_t − ∇_θ𝓛
	Ascent []float64 // ∇_λ𝓛(θ_t, λ_t) = −Ψθ_t

	Tilde      []float64 // θ̃_t
	Z          float64   // z_t
	Next       []float64 // θ_{t+1}
	NextLambda []float64 // λ_{t+1}
}

// TraceSettings choose the run. Pair, if set, takes the place of the oracle: it gives the
// pair of iteration t. A sure inequality must hold for any sequence of samples.
type TraceSettings struct {
	Name       string
	Iterations int
	StepSize   mixpolicy.StepSize
	Beta       float64
	CostScale  float64
	Start      []float64
	Seed       uint64
	Stream     uint64
	Pair       func(t int) int
}

// NewTrace makes the run.
func NewTrace(p *mixpolicy.Problem, set TraceSettings) (*Trace, error) {
	if set.CostScale == 0 {
		set.CostScale = 1
	}
	if set.Start == nil {
		set.Start = make([]float64, p.Dim())
		floats.AddConst(1/float64(p.Dim()), set.Start)
	}
	k, err := theory.NewConstants(p, mixpolicy.PrimalDual{Beta: set.Beta, CostScale: set.CostScale, Theta0: set.Start})
	if err != nil {
		return nil, fmt.Errorf("paper: run %q: %w", set.Name, err)
	}
	o, err := mixpolicy.NewOracle(p, set.Seed, set.Stream)
	if err != nil {
		return nil, fmt.Errorf("paper: run %q: %w", set.Name, err)
	}
	r := &Trace{
		Name: set.Name, Problem: p, Phi: mixpolicy.DefaultModulus(p.Class()), Mu: k.Mu, G: k.G, Scale: set.CostScale, K: k,
		Sums:  theory.SumSteps(set.StepSize, set.Iterations),
		Theta: make([]float64, p.Dim()), Lambda: make([]float64, k.Pairs),
	}
	theta, lambda := set.Start, make([]float64, k.Pairs)
	for t := range set.Iterations {
		s, err := r.step(set.StepSize.At(t), theta, lambda, func() int {
			if set.Pair != nil {
				return set.Pair(t)
			}
			pair, _ := o.Sample()
			return pair
		}())
		if err != nil {
			return nil, fmt.Errorf("paper: run %q, iteration %d: %w", set.Name, t, err)
		}
		r.Steps = append(r.Steps, s)
		floats.AddScaled(r.Theta, s.Eta/r.Sums.Sum, theta)
		floats.AddScaled(r.Lambda, s.Eta/r.Sums.Sum, lambda)
		theta, lambda = s.Next, s.NextLambda
	}
	return r, nil
}

func (r *Trace) step(eta float64, theta, lambda []float64, pair int) (TraceStep, error) {
	f, d, pairs := r.Problem.Features(), len(theta), len(lambda)
	s := TraceStep{
		Eta: eta, Theta: theta, Lambda: lambda, Pair: pair,
		Sample: make([]float64, d), Mean: make([]float64, d), Error: make([]float64, d), Ascent: make([]float64, pairs),
		Tilde: make([]float64, d), Next: make([]float64, d), NextLambda: make([]float64, pairs),
	}
	f.Row(s.Sample, pair)
	floats.Scale((r.cost(pair)-lambda[pair])/f.Sampling()[pair], s.Sample)
	r.gradient(s.Mean, lambda)
	floats.SubTo(s.Error, s.Sample, s.Mean)
	r.Problem.GradLambda(s.Ascent, theta)

	y := make([]float64, d)
	r.Phi.Gradient(y, theta)
	floats.AddScaled(y, -eta, s.Sample)
	r.Phi.ConjugateGradient(s.Tilde, y)
	z, err := bregman.Shift(r.Phi, y, nil)
	if err != nil {
		return s, err
	}
	s.Z = z
	floats.AddConst(z, y)
	r.Phi.ConjugateGradient(s.Next, y)

	floats.AddScaledTo(s.NextLambda, lambda, eta, s.Ascent)
	projectLambda(s.NextLambda, r.G)
	return s, nil
}

// projectLambda is the projection onto {λ ⪰ 0, ‖λ‖₂ ≤ G}: that onto the orthant, then that
// onto the ball, which together are exact for a cone and a ball about its apex.
func projectLambda(lambda []float64, g float64) {
	for i, v := range lambda {
		lambda[i] = max(v, 0)
	}
	if norm := floats.Norm(lambda, 2); norm > g {
		floats.Scale(g/norm, lambda)
	}
}

// cost is c/scale of a pair.
func (r *Trace) cost(pair int) float64 { return r.Problem.MDP().Costs()[pair] / r.Scale }

// gradient sets dst = ∇_θ𝓛 = Ψᵀ(c/scale − λ).
func (r *Trace) gradient(dst, lambda []float64) {
	r.Problem.Features().MulVecT(dst, lambda)
	for j, b := range r.Problem.BaseCosts() {
		dst[j] = b/r.Scale - dst[j]
	}
}

// lagrangian is 𝓛(θ, λ) for the scaled costs.
func (r *Trace) lagrangian(theta, lambda []float64) float64 {
	g := make([]float64, len(theta))
	r.gradient(g, lambda)
	return floats.Dot(g, theta)
}

// divergence is D_φ(x; y), from dual coordinates where y is θ̃, which may have come to
// within rounding of the boundary.
func (r *Trace) divergence(x, y []float64) float64 { return bregman.Divergence(r.Phi, x, y) }

// norm and dual are ‖·‖ of the class and ‖·‖⁎.
func (r *Trace) norm(x []float64) float64 { return r.Problem.Class().Norm.Of(x) }
func (r *Trace) dual(x []float64) float64 { return r.Problem.Class().Norm.Dual().Of(x) }

// optimum returns θ* and λ* for the scaled costs.
func (r *Trace) optimum() (theta, lambda []float64, err error) {
	best, err := r.Problem.Optimum()
	if err != nil {
		return nil, nil, err
	}
	lambda = make([]float64, len(r.Lambda))
	for _, m := range best.Rows {
		lambda[m.Row] = m.Lambda() / r.Scale
	}
	return best.Theta, lambda, nil
}

// difference returns x − y.
func difference(x, y []float64) []float64 {
	return floats.SubTo(make([]float64, len(x)), x, y)
}

// inward returns x moved towards the point c by the fraction 2⁻⁴⁰, into the open domain.
func inward(x, c []float64) []float64 {
	y := make([]float64, len(x))
	for j := range y {
		y[j] = c[j] + (1-0x1p-40)*(x[j]-c[j])
	}
	return y
}

func sq(x float64) float64 { return x * x }

// sizeOf returns Σ|x|, the scale of the rounding of a sum of the x.
func sizeOf(x ...float64) float64 {
	var s float64
	for _, v := range x {
		s += math.Abs(v)
	}
	return s
}
