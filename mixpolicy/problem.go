package mixpolicy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// Class is a set Θ_R = {θ : ‖θ‖ ≤ R}. The norm determines the shape of this set, and R determines
// its size.
type Class struct {
	Norm linprog.Norm
	R    float64
}

// Ball is {‖θ‖₂ ≤ R}, the class of the modulus (3.7).
func Ball(r float64) Class { return Class{linprog.L2, r} }

// Cube is {‖θ‖_∞ ≤ R}, the class of the modulus (3.10).
func Cube(r float64) Class { return Class{linprog.LInf, r} }

// Simplex is {‖θ‖₁ ≤ 1}. On the hyperplane 1ᵀθ = 1, this class is the simplex, so Ψθ is a
// convex combination of the columns of Ψ.
func Simplex() Class { return Class{linprog.L1, 1} }

// Unbounded is all of ℝᵈ.
func Unbounded() Class { return Class{linprog.L2, math.Inf(1)} }

// String returns, for example, "‖θ‖₂ ≤ 100".
func (c Class) String() string { return fmt.Sprintf("%s ≤ %v", c.Norm.Around("θ"), c.R) }

// Size returns ‖θ‖ in the norm of the class; the third set of (2.19) requires ‖θ‖ ≤ R.
func (c Class) Size(theta []float64) float64 {
	return floats.Norm(theta, []float64{linprog.L2: 2, linprog.LInf: math.Inf(1), linprog.L1: 1}[c.Norm])
}

// Project replaces x by its Euclidean projection onto Θ_R ∩ {1ᵀθ = 1}.
func (c Class) Project(x []float64) error { return c.Norm.Project(x, x, c.R) }

func (c Class) validate(d int) error {
	if c.Norm < linprog.L2 || c.Norm > linprog.L1 {
		return fmt.Errorf("mixpolicy: class with the norm %v, want linprog.L2, L1 or LInf", c.Norm)
	}
	need, strict := c.Norm.OnHyperplane(d), c.Norm != linprog.L1 && d > 1
	if c.R > need || c.R == need && !strict {
		return nil
	}
	sign := "≥"
	if strict {
		sign = ">"
	}
	return fmt.Errorf("mixpolicy: class %v is too small for the hyperplane 1ᵀθ = 1 with d = %d, want R %s %.6g",
		c, d, sign, need)
}

// Problem is the dual approximate linear program (2.18),
//
//	min cᵀΨθ  over  θ ∈ ℝᵈ,  Ψθ ⪰ 0,  1ᵀθ = 1,  ‖θ‖ ≤ R.
//
// It is immutable and safe for concurrent use.
type Problem struct {
	f       *Features
	class   Class
	b       []float64 // cᵀΨ; a method that learns the costs must not use it
	optimum *optimum
	noise   func(*rand.Rand) float64 // draws the noise of a revealed cost; nil for no noise
}

// optimum is the exact optimum, which is computed once, on demand.
type optimum struct {
	turn     chan struct{} // held by the goroutine that reads or computes
	known    bool
	solution *linprog.Solution
	err      error
}

// NewProblem returns (2.18) for the given features and class. For d > 1, the class must meet the
// hyperplane 1ᵀθ = 1 in more than one point. If the class is too small, the error says how large R must
// be.
func NewProblem(f *Features, class Class) (*Problem, error) {
	if f == nil {
		return nil, errors.New("mixpolicy: features are nil, want the result of NewFeatures or of another constructor")
	}
	if math.IsNaN(class.R) {
		return nil, errors.New("mixpolicy: class radius R is NaN, want a number")
	}
	if err := class.validate(f.Dim()); err != nil {
		return nil, err
	}
	p := &Problem{f: f, class: class, b: make([]float64, f.Dim()), optimum: &optimum{turn: make(chan struct{}, 1)}}
	f.MulVecT(p.b, f.x.cost)
	return p, nil
}

// WithNoise returns the same problem, except that its [Oracle] reveals c_a(s) plus noise. For each
// revealed cost, a new call to draw returns the noise, which should have mean 0. The vector cᵀΨ,
// the optimum and all true costs stay the same. If draw is nil, there is no noise, as in
// assumption (A.3).
func (p *Problem) WithNoise(draw func(*rand.Rand) float64) *Problem {
	q := *p
	q.noise = draw
	return &q
}

// Features returns Ψ.
func (p *Problem) Features() *Features { return p.f }

// MDP returns the MDP.
func (p *Problem) MDP() *MDP { return p.f.x }

// Class returns Θ_R.
func (p *Problem) Class() Class { return p.class }

// Dim returns d.
func (p *Problem) Dim() int { return p.f.Dim() }

// BaseCosts returns cᵀΨ, which the caller must not change. Entry j is the cost cᵀψʲ of column j of
// Ψ: the cost of base policy j if ψʲ is the policy's occupation measure. A method that learns the
// costs must not call BaseCosts, because such a method may see costs only through the [Oracle].
func (p *Problem) BaseCosts() []float64 { return p.b }

// Objective returns cᵀΨθ, the cost that (2.18) assigns to θ. If Ψθ ⪰ 0, 1ᵀθ = 1 and the columns of
// Ψ are occupation measures, cᵀΨθ is the cost of the policy (2.20) of Ψθ. Otherwise, cᵀΨθ need not be the cost of any
// policy.
func (p *Problem) Objective(theta []float64) float64 {
	if len(theta) != p.Dim() {
		panic(fmt.Sprintf("mixpolicy: θ has %d entries, want one per feature: %d", len(theta), p.Dim()))
	}
	return sum.Dot(p.b, theta)
}

// Lagrangian returns 𝓛(θ, λ) = cᵀΨθ − λᵀΨθ (3.1), for λ ⪰ 0 of length nm.
func (p *Problem) Lagrangian(theta, lambda []float64) float64 {
	g := make([]float64, p.Dim())
	p.GradTheta(g, lambda)
	return sum.Dot(g, theta)
}

// GradTheta sets dst = ∇_θ 𝓛 = Ψᵀ(c − λ), of length d (3.6).
func (p *Problem) GradTheta(dst, lambda []float64) {
	p.f.MulVecT(dst, lambda)
	for j := range dst {
		dst[j] = p.b[j] - dst[j]
	}
}

// GradLambda sets dst = ∇_λ 𝓛 = −Ψθ, of length nm. (3.4) prints this gradient without
// the minus sign, so the printed ascent (3.26) rewards negative entries of Ψθ.
func (p *Problem) GradLambda(dst, theta []float64) {
	p.f.MulVec(dst, theta)
	floats.Scale(-1, dst)
}

// Violation returns V(θ) = ½ ‖[Ψθ]₋‖₂, the constraint violation of Proposition 3.1. (Lemma 3.3 prints ¼
// instead of ½. The lemma that Lemma 3.3 cites uses ‖[Ψθ]₋‖₁, which [Problem.NegativeMass] returns.)
func (p *Problem) Violation(theta []float64) float64 {
	norm2, _ := p.negativePart(theta)
	return norm2 / 2
}

// NegativeMass returns ‖[Ψθ]₋‖₁, the total mass of the negative entries of Ψθ.
func (p *Problem) NegativeMass(theta []float64) float64 {
	_, norm1 := p.negativePart(theta)
	return norm1
}

// negativePart returns ‖[Ψθ]₋‖₂ and ‖[Ψθ]₋‖₁; (2.15c), 0 ⪯ Ψθ, requires both to be 0.
func (p *Problem) negativePart(theta []float64) (norm2, norm1 float64) {
	var l1, l2 sum.Accumulator
	rows := make([]float64, min(p.f.x.Pairs(), 1<<17)) // 1 MiB stays in the cache
	for from := 0; from < p.f.x.Pairs(); from += len(rows) {
		rows = rows[:min(len(rows), p.f.x.Pairs()-from)]
		p.f.Apply(rows, from, theta)
		for _, v := range rows {
			if v < 0 {
				l1.Add(-v)
				l2.Add(v * v)
			}
		}
	}
	return math.Sqrt(l2.Value()), l1.Value()
}

// Optimum returns the exact optimum of (2.18) for the true costs, together with the multipliers at
// the optimum. The first call computes and stores the optimum. If ctx ends the computation, the
// next call starts it again.
func (p *Problem) Optimum(ctx context.Context) (*linprog.Solution, error) {
	o := p.optimum
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !o.known {
		sol, err := p.Solve(ctx, p.b)
		if err != nil && ctx.Err() != nil {
			return sol, err
		}
		o.known, o.solution, o.err = true, sol, err
	}
	return o.solution, o.err
}

// Solve returns the exact optimum of (2.18) with b instead of cᵀΨ. For example, b can be a
// learner's estimate of cᵀΨ.
func (p *Problem) Solve(ctx context.Context, b []float64) (*linprog.Solution, error) {
	return linprog.Mixture{B: b, Psi: p.f, Norm: p.class.Norm, R: p.class.R}.Solve(ctx, linprog.Settings{})
}

// DualBound returns
//
//	min {𝓛(θ, λ) : 1ᵀθ = 1, ‖θ‖ ≤ R} .
//
// For any λ ⪰ 0, this is a lower bound on the optimum of (2.18). At a saddle point (θ*, λ*) of (3.2), the bound
// for λ* is 𝓛(θ*, λ*). Let g = Ψᵀ(c − λ), let ḡ be the mean of its entries, and let w = g − ḡ1. If the norm is ℓ₂, the
// bound is ḡ − √(R² − 1/d) ‖w‖₂. For an unbounded class, the bound is −∞, unless w = 0 exactly. Apart from rounding
// errors of g, the rounding error of the bound is at most a few times d·2⁻⁵³ R‖g‖, where ‖·‖ is dual to the norm of
// the class. By contrast, [linprog.Solution].Bound is a lower bound despite rounding.
func (p *Problem) DualBound(lambda []float64) float64 {
	g := make([]float64, p.Dim())
	p.GradTheta(g, lambda)
	return p.class.MinLinear(g)
}

// MinLinear returns the minimum of gᵀθ over all θ with 1ᵀθ = 1 and ‖θ‖ ≤ R. The minimum is −∞ if R
// is infinite and the entries of g are not all equal.
func (c Class) MinLinear(g []float64) float64 {
	switch c.Norm {
	case linprog.L2:
		d := float64(len(g))
		var acc sum.Accumulator
		for _, v := range g {
			acc.Add(v - g[0]) // so that equal entries have an exact mean
		}
		mean := acc.Value() / d
		var w float64
		for _, v := range g {
			w = math.Hypot(w, (v-g[0])-mean)
		}
		mean += g[0]
		if w == 0 {
			return mean
		}
		return mean - math.Sqrt(max(0, (c.R-1/math.Sqrt(d))*(c.R+1/math.Sqrt(d))))*w
	case linprog.L1:
		// The minimising θ puts the mass (R+1)/2 on the least entry of g, and the mass −(R−1)/2 on the
		// greatest.
		lo, hi := floats.Min(g), floats.Max(g)
		if lo == hi {
			return lo
		}
		return lo - (c.R-1)/2*(hi-lo)
	default:
		return c.minLinearCube(g)
	}
}

// minLinearCube solves a continuous knapsack problem: every θⱼ starts at −R, and the total
// 1 + dR is distributed, at most 2R to each entry, in order of increasing gⱼ.
func (c Class) minLinearCube(g []float64) float64 {
	if math.IsInf(c.R, 1) {
		if lo, hi := floats.Min(g), floats.Max(g); lo == hi {
			return lo
		}
		return math.Inf(-1)
	}
	rest := 1 + float64(len(g))*c.R
	var total sum.Accumulator
	for _, v := range slices.Sorted(slices.Values(g)) {
		give := min(rest, 2*c.R)
		total.Add(v * (give - c.R))
		rest -= give
	}
	return total.Value()
}
