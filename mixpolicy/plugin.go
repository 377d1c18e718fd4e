package mixpolicy

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// PlugIn uses the fact that only b = cᵀΨ ∈ ℝᵈ is unknown in (2.18). It estimates b from the
// oracle's samples, and solves (2.18), a program in d variables, exactly for this estimate. After t
// samples (sₖ, aₖ) ~ q,
//
//	b̂ⱼ = (1/t) Σₖ c(sₖ, aₖ) ψʲ(sₖ, aₖ) / q(sₖ, aₖ),   E b̂ = b,
//
// and θ̂ solves (2.18) with b̂ in place of b. Let θ* be a solution of (2.18). Since cᵀΨ(θ̂ − θ*) ≤ (b − b̂)ᵀ(θ̂ − θ*),
// the gap of θ̂ is at most ‖b̂ − b‖₂ times the Euclidean diameter of the feasible set. The mean E‖b̂ − b‖₂ is O(1/√t).
// The answer θ̂ is feasible, because it solves (2.18) with b̂. There is nothing to tune. The method is not in the
// paper.
type PlugIn struct{}

// Name implements [Method].
func (PlugIn) Name() string { return "plug-in" }

// String returns the name, because PlugIn has no settings.
func (a PlugIn) String() string { return a.Name() }

// Estimator is a run that estimates cᵀΨ, such as a run of [PlugIn].
type Estimator interface {
	// Estimate returns b̂, as computed by the last View. The caller must not change b̂.
	Estimate() []float64
}

// plugIn is a run of [PlugIn].
type plugIn struct {
	PlugIn
	p      *Problem
	oracle *Oracle
	t      int
	row    []float64
	total  []float64 // Σ c ψ/q
	b      []float64 // b̂
	theta  []float64
	solved int // t at which theta was computed
}

// Start implements [Method].
func (PlugIn) Start(p *Problem, o *Oracle) (Run, error) {
	d := p.Dim()
	return &plugIn{p: p, oracle: o, row: make([]float64, d),
		total: make([]float64, d), b: make([]float64, d), theta: constant(d, 1/float64(d))}, nil
}

// Step implements [Run].
func (a *plugIn) Step() error {
	pair, cost := a.oracle.Sample()
	a.p.f.Row(a.row, pair)
	floats.AddScaled(a.total, cost/a.p.f.sampling[pair], a.row)
	a.t++
	return nil
}

// View implements [Run].
func (a *plugIn) View(s *Snapshot) error { return a.ViewUntil(context.Background(), s) }

// ViewUntil implements [SlowRun]. It solves (2.18) only if samples have been drawn since the last solution.
func (a *plugIn) ViewUntil(ctx context.Context, s *Snapshot) error {
	*s = Snapshot{Last: a.theta, Average: a.theta}
	if a.t != a.solved {
		floats.ScaleTo(a.b, 1/float64(a.t), a.total)
		sol, err := a.p.Solve(ctx, a.b)
		if sol != nil {
			copy(a.theta, sol.Theta)
		}
		if err != nil {
			return fault.At("mixpolicy", fmt.Sprintf("plug-in after %d samples", a.t), err)
		}
		a.solved = a.t
	}
	return nil
}

// Estimate implements [Estimator].
func (a *plugIn) Estimate() []float64 { return a.b }
