package paper

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Trace is a run of Algorithm 1 with all quantities of the proofs of section 5, step
// by step. It is a second implementation for clarity: each line is one of the paper's, λ is a
// dense vector, and θ̃_t is computed and then projected.
type Trace struct {
	Name         string
	Problem      *mixpolicy.Problem
	Phi          bregman.Modulus
	Mu, G, Scale float64 // strong convexity of φ in the norm of the class, radius of the ball of λ, and divisor of costs
	K            *theory.Constants
	Form         mixpolicy.Form

	Steps         []TraceStep
	Sums          theory.StepSums
	Theta, Lambda []float64 // θ̂ and λ̂ (3.27)

	sumTheta, sumLambda []float64 // Σηθ and Σηλ
	before              TraceStep // the one after which the first comes
}

// TraceStep is iteration t.
type TraceStep struct {
	Eta                 float64
	Theta, Lambda       []float64 // θ_t and λ_t
	Pair                int       // sampled
	Sample, Mean, Error []float64 // ĝ_t of (3.5a), ∇_θ𝓛(θ_t, λ_t) = E ĝ_t, and e_t = ĝ_t − ∇_θ𝓛
	Ascent              []float64 // ∇_λ𝓛(θ_t, λ_t) = −Ψθ_t

	Tilde            []float64 // θ̃_t
	Z                float64   // z_t
	Next, NextLambda []float64 // θ_{t+1} and λ_{t+1}

	dual []float64 // ∇φ(θ_{t+1})
}

// TraceSettings choose the run. Pair, if not nil, replaces the oracle: it returns the sampled
// pair of iteration t. An inequality that holds surely must hold for any sequence of samples.
type TraceSettings struct {
	Name            string
	Iterations      int
	StepSize        mixpolicy.StepSize
	Beta, CostScale float64
	Start           []float64
	Form            mixpolicy.Form // the proofs are about the corrected one
	Seed, Stream    uint64
	Pair            func(t int) int
}

// NewTrace makes the run.
func NewTrace(p *mixpolicy.Problem, set TraceSettings) (r *Trace, err error) {
	defer at("run "+strconv.Quote(set.Name), &err)
	defer catch(&err)
	if set.CostScale = cmp.Or(set.CostScale, 1); set.Start == nil {
		set.Start = uniform(p.Dim())
	}
	k := must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: set.Beta, CostScale: set.CostScale, Theta0: set.Start}))
	if set.Pair == nil {
		o := must(mixpolicy.NewOracle(p, set.Seed, set.Stream))
		set.Pair = func(int) int {
			i, _ := o.Sample()
			return i
		}
	}
	phi := mixpolicy.DefaultModulus(p.Class())
	r = &Trace{Name: set.Name, Problem: p, Phi: phi, Mu: k.Mu, G: k.G, Scale: set.CostScale, K: k, Form: set.Form,
		sumTheta: make([]float64, p.Dim()), sumLambda: make([]float64, k.Pairs),
		before: TraceStep{Next: set.Start, NextLambda: make([]float64, k.Pairs), dual: slope(phi, set.Start)}}
	for t := range set.Iterations {
		noError(r.Extend(set.StepSize.At(t), set.Pair(t)))
	}
	return r, nil
}

// Last returns the last iteration; before the first, only what comes next is known of it.
func (r *Trace) Last() TraceStep {
	if n := len(r.Steps); n > 0 {
		return r.Steps[n-1]
	}
	return r.before
}

// Extend makes one more iteration, with a sampled pair.
func (r *Trace) Extend(eta float64, pair int) error {
	s, err := r.After(r.Last(), eta, pair)
	if err != nil {
		return err
	}
	r.Steps = append(r.Steps, s)
	r.Sums.T, r.Sums.Sum = r.Sums.T+1, r.Sums.Sum+eta
	r.Sums.Squares, r.Sums.Fourth = r.Sums.Squares+eta*eta, r.Sums.Fourth+eta*eta*eta*eta
	floats.AddScaled(r.sumTheta, eta, s.Theta)
	floats.AddScaled(r.sumLambda, eta, s.Lambda)
	r.Theta, r.Lambda = scaled(1/r.Sums.Sum, r.sumTheta), scaled(1/r.Sums.Sum, r.sumLambda)
	return nil
}

// After returns the iteration after another one, with a sampled pair.
func (r *Trace) After(last TraceStep, eta float64, pair int) (TraceStep, error) {
	f, d, pairs := r.Problem.Features(), r.Problem.Dim(), r.K.Pairs
	s := TraceStep{Eta: eta, Theta: last.Next, Lambda: last.NextLambda, Pair: pair,
		Sample: make([]float64, d), Mean: make([]float64, d), Ascent: make([]float64, pairs), NextLambda: make([]float64, pairs)}
	f.Row(s.Sample, pair)
	floats.Scale((r.Problem.MDP().Costs()[pair]/r.Scale-s.Lambda[pair])/f.Sampling()[pair], s.Sample)
	r.gradient(s.Mean, s.Lambda)
	s.Error = difference(s.Sample, s.Mean)
	r.Problem.GradLambda(s.Ascent, s.Theta)

	s.dual = floats.AddScaledTo(make([]float64, d), last.dual, -eta, s.Sample)
	s.Tilde = inverse(r.Phi, s.dual)
	floats.AddScaledTo(s.NextLambda, s.Lambda, eta, s.Ascent)
	var err error
	if r.Form == mixpolicy.Printed { // (3.22) and (3.26) to the letter
		if s.Z, err = (bregman.Ball{R: r.Problem.Class().R}).PrintedShift(s.dual); err == nil {
			floats.AddConst(s.Z, s.dual)
		}
		floats.AddScaledTo(s.NextLambda, s.Lambda, -eta, s.Ascent)
		floats.Scale(r.G/max(r.G, floats.Norm(s.NextLambda, 2)), s.NextLambda)
	} else {
		s.Z, err = bregman.ProjectDual(r.Phi, s.dual, nil)
		projectLambda(s.NextLambda, r.G)
	}
	s.Next = inverse(r.Phi, s.dual)
	return s, err
}

// projectLambda projects onto {λ ⪰ 0, ‖λ‖₂ ≤ G}: onto the orthant, then onto the ball. For a
// cone and a ball about its apex that is the projection onto their intersection.
func projectLambda(lambda []float64, g float64) {
	for i, v := range lambda {
		lambda[i] = max(v, 0)
	}
	if norm := floats.Norm(lambda, 2); norm > g {
		floats.Scale(g/norm, lambda)
	}
}

// gradient sets dst = ∇_θ𝓛 = Ψᵀ(c/scale − λ).
func (r *Trace) gradient(dst, lambda []float64) {
	r.Problem.Features().MulVecT(dst, lambda)
	for j, b := range r.Problem.BaseCosts() {
		dst[j] = b/r.Scale - dst[j]
	}
}

// lagrangian is 𝓛(θ, λ) for the scaled costs, and lagrangians is Ση(𝓛(θ_t, λ) − 𝓛(θ, λ_t)).
func (r *Trace) lagrangian(theta, lambda []float64) float64 {
	g := make([]float64, len(theta))
	r.gradient(g, lambda)
	return floats.Dot(g, theta)
}

func (r *Trace) lagrangians(theta, lambda []float64) float64 {
	return r.total(func(s TraceStep) float64 {
		return s.Eta * (r.lagrangian(s.Theta, lambda) - r.lagrangian(theta, s.Lambda))
	})
}

// divergence is D_φ(x; y).
func (r *Trace) divergence(x, y []float64) float64 { return bregman.Divergence(r.Phi, x, y) }

// norm and dual are ‖·‖ of the class and ‖·‖⁎.
func (r *Trace) norm(x []float64) float64 { return r.Problem.Class().Norm.Of(x) }
func (r *Trace) dual(x []float64) float64 { return r.Problem.Class().Norm.Dual().Of(x) }

// optimum returns θ* and λ* for the scaled costs.
func (r *Trace) optimum() (theta, lambda []float64) {
	best := must(r.Problem.Optimum(context.Background()))
	return best.Theta, scaled(1/r.Scale, must(theory.Multipliers(r.Problem)))
}

// total is the sum of f over the iterations.
func (r *Trace) total(f func(s TraceStep) float64) (sum float64) {
	for _, s := range r.Steps {
		sum += f(s)
	}
	return sum
}

// noise is Ση⟨e_t, θ_t−θ⟩.
func (r *Trace) noise(theta []float64) float64 {
	return r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Error, difference(s.Theta, theta)) })
}

// squares are Ση²(‖∇_θ𝓛‖⁎² + ‖e_t‖⁎²), and ascents are Ση²‖∇_λ𝓛‖₂².
func (r *Trace) squares() float64 {
	return r.total(func(s TraceStep) float64 { return sq(s.Eta) * (sq(r.dual(s.Mean)) + sq(r.dual(s.Error))) })
}

func (r *Trace) ascents() float64 {
	return r.total(func(s TraceStep) float64 { return sq(s.Eta * floats.Norm(s.Ascent, 2)) })
}

// inward returns x moved towards the point c by the fraction 2⁻⁴⁰, into the open domain.
func inward(x, c []float64) []float64 {
	return floats.AddScaledTo(make([]float64, len(x)), c, 1-0x1p-40, difference(x, c))
}

// target is θ*, inside of the domain.
func (r *Trace) target() []float64 {
	best, _ := r.optimum()
	return inward(best, r.before.Next)
}

// comparators are points θ of Θ₂ ∩ Θ_R: the optimum, base policies, and extreme points.
func (r *Trace) comparators() [][]float64 {
	centre, class, points := r.before.Next, r.Problem.Class(), [][]float64{r.target()}
	for j := range centre {
		for _, far := range []float64{1, 0x1p40 * class.R, -0x1p40 * class.R} {
			theta := scaled(far, unit(len(centre), j))
			if far == 1 && r.norm(theta) >= class.R {
				continue
			}
			noError(class.Norm.Project(theta, theta, class.R))
			points = append(points, inward(theta, centre))
		}
	}
	return points
}

// multipliers are points λ ∈ Λ: 0, the projection of λ*, one along Ψθ₀, and the worst for θ̂.
func (r *Trace) multipliers() [][]float64 {
	_, best := r.optimum()
	along, against := combination(r.Problem, r.before.Next), scaled(-0x1p40, combination(r.Problem, r.Theta))
	all := [][]float64{make([]float64, len(best)), slices.Clone(best), scaled(1/floats.Norm(along, 2), along), against}
	for _, l := range all {
		projectLambda(l, r.G)
	}
	return all
}

// slope is ∇φ(x).
func (r *Trace) slope(x []float64) []float64 { return slope(r.Phi, x) }

func slope(phi bregman.Modulus, x []float64) []float64 {
	g := make([]float64, len(x))
	phi.Gradient(g, x)
	return g
}

// inverse is ∇φ*(y).
func inverse(phi bregman.Modulus, y []float64) []float64 {
	x := make([]float64, len(y))
	phi.ConjugateGradient(x, y)
	return x
}
