package mixpolicy

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// Certificate contains measures of the quality of a method's answer. Anyone can recompute these measures of quality
// from the problem and the answer, without trusting the method. The answer is θ̂ (with λ̂ if the method has
// multipliers) or the policy of a [PolicyRun].
type Certificate struct {
	// HasTheta reports whether there is a finite θ̂ whose measures of quality did not overflow. If
	// HasTheta is false, as for a [PolicyRun], only two measures of quality can be set: PolicyCost and
	// PolicyResidual.
	HasTheta  bool
	Objective float64 // cᵀΨθ̂
	// Optimum is the exact optimum of (2.18), and Gap is Objective − Optimum. Both are set if
	// HasOptimum is true. The gap of an infeasible θ̂ can be negative.
	HasOptimum   bool
	Optimum, Gap float64
	// PenalisedGap is [Problem.PenalisedGap] of θ̂: the gap plus penalties for infeasibility. Up to rounding,
	// PenalisedGap is ≥ 0. Unless all costs are equal, it is 0 only at an optimum. PenalisedGap is set if
	// HasOptimum is true.
	PenalisedGap float64
	// DualBound is the lower bound on the optimum that λ̂ proves (see [Problem.DualBound]), and
	// DualityGap is Objective − DualBound. Both are set if HasDual is true. HasDual requires λ̂ ⪰ 0
	// and a finite bound (for an unbounded class, the bound is usually −∞).
	HasDual               bool
	DualBound, DualityGap float64

	Violation       float64 // V(θ̂) = ½ ‖[Ψθ̂]₋‖₂
	NegativeMass    float64 // ‖[Ψθ̂]₋‖₁
	HyperplaneError float64 // 1ᵀθ̂ − 1
	Norm, Radius    float64 // ‖θ̂‖ in the norm of the class, and R

	// PolicyCost is the true cost cᵀξ^π of the answer's policy π. If there is a θ̂, π is π^θ̂.
	// PolicyResidual is the flow residual of the computed ξ^π. Both numbers are set if HasPolicy is
	// true. Up to numerical errors, PolicyCost equals Objective if Ψθ̂ is an occupation measure.
	HasPolicy                  bool
	PolicyCost, PolicyResidual float64

	Queries      int // number of revealed costs
	Seed, Stream uint64
	// Settings names the method, T and the class, and also the method's main settings if the run is a [fmt.Stringer].
	Settings string
	// Each warning describes a flaw of the answer or of the settings, and says how to remedy this flaw.
	Warnings []string
}

func (r *Result) certify(ctx context.Context, p *Problem, set Settings, snap *Snapshot) (err error) {
	c := &r.Certificate
	c.Queries, c.Seed, c.Stream = snap.Queries, set.Seed, set.Stream
	c.Settings = fmt.Sprintf("%s, T = %d, %v", r.settings(), set.Iterations, p.class)
	if run, ok := r.Run.(PolicyRun); ok {
		if r.Status == Interrupted { // computing a policy may take a long time
			return nil
		}
		if r.Policy, err = run.Policy(ctx); err != nil || set.Uncertified {
			return err
		}
		return c.valuePolicy(ctx, p, r.Policy)
	}
	if r.Theta == nil { // the run ended before it showed a θ̂
		return nil
	}
	if floats.HasNaN(r.Theta) || math.IsInf(floats.Norm(r.Theta, 1), 1) {
		return fmt.Errorf("mixpolicy: %s returned θ̂ = %v, which is not finite", r.Method, r.Theta)
	}
	c.HasTheta, c.Objective = true, p.Objective(r.Theta)
	norm2, norm1 := p.negativePart(r.Theta)
	c.Violation, c.NegativeMass = norm2/2, norm1
	c.HyperplaneError = p.hyperplaneError(r.Theta)
	c.Warnings = p.costWarning(c.Objective, r.Theta)
	if w, ok := r.Run.(interface{ Warnings(*Problem) []string }); ok && ctx.Err() == nil {
		c.Warnings = append(c.Warnings, w.Warnings(p)...)
	}
	c.Norm, c.Radius = p.class.Size(r.Theta), p.class.R
	if r.Lambda != nil && floats.Min(r.Lambda) >= 0 {
		if bound := p.DualBound(r.Lambda); finite(bound) {
			c.HasDual, c.DualBound, c.DualityGap = true, bound, c.Objective-bound
		}
	}
	if r.Policy, err = p.f.PolicyOf(r.Theta); err != nil || set.Uncertified || ctx.Err() != nil {
		return err
	}
	best, err := p.Optimum(ctx)
	if err != nil {
		return fault.At("mixpolicy", "exact optimum", err)
	}
	c.compare(p, best)
	return c.valuePolicy(ctx, p, r.Policy)
}

// checkOverflow returns an error if a number listed below is not finite. In this case,
// it clears the certificate, except for the queries, the seed, the stream and the
// settings. Only the penalised gap may be +∞, because its weights may be infinite.
func (c *Certificate) checkOverflow(p *Problem) error {
	for _, n := range []struct {
		name  string
		value float64
	}{
		{"cᵀΨθ̂", c.Objective}, {"the gap", c.Gap}, {"the duality gap", c.DualityGap}, {"the penalised gap", min(c.PenalisedGap, 0)},
		{"V(θ̂)", c.Violation}, {"‖[Ψθ̂]₋‖₁", c.NegativeMass}, {"1ᵀθ̂ − 1", c.HyperplaneError}, {"‖θ̂‖", c.Norm},
	} {
		if !finite(n.value) {
			lo, hi := p.MDP().CostRange()
			err := fmt.Errorf("mixpolicy: %s = %v for ‖θ̂‖ = %.3g and costs from %.3g to %.3g, want numbers that don't overflow",
				n.name, n.value, c.Norm, lo, hi)
			*c = Certificate{Queries: c.Queries, Seed: c.Seed, Stream: c.Stream, Settings: c.Settings}
			return err
		}
	}
	return nil
}

func finite(v float64) bool { return v-v == 0 }

// compare sets the exact optimum and the two numbers that need it: the gap, which is ε in (2.21),
// and the penalised gap ([Problem.PenalisedGap]), which corresponds to ε in (2.22).
func (c *Certificate) compare(p *Problem, best *linprog.Solution) {
	c.HasOptimum, c.Optimum, c.Gap = true, best.Objective, c.Objective-best.Objective
	c.PenalisedGap = p.penaltiesOf(best).gap(c.Objective, c.NegativeMass, c.HyperplaneError, c.Norm-c.Radius)
}

// valuePolicy sets the true cost of the policy, and the residual of the policy's measure.
func (c *Certificate) valuePolicy(ctx context.Context, p *Problem, policy *Policy) error {
	q, err := Occupation(ctx, p.MDP(), policy, MeasureSettings{})
	if err != nil {
		return fault.At("mixpolicy", "true cost of the policy", err)
	}
	c.HasPolicy, c.PolicyCost, c.PolicyResidual = true, q.Cost(p.MDP().cost), q.Residual
	return nil
}

// settings returns the run's own description of the method and its settings. If the run
// has no String method, it returns the name of the method.
func (r *Result) settings() string {
	if s, ok := r.Run.(fmt.Stringer); ok {
		return s.String()
	}
	return r.Method
}

// String returns the main numbers (at most five), rounded, and the warnings.
// [Certificate.Details] returns more.
func (c Certificate) String() string {
	var t lines
	if c.HasTheta {
		t.add("cost of the mixture", "%.6g", c.Objective)
	}
	if c.HasOptimum {
		t.add("exact optimum of (2.18)", "%.6g", c.Optimum)
		t.add("penalised gap", "%.3g", c.PenalisedGap)
	}
	if c.HasTheta {
		t.add("negative mass", "%.3g", c.NegativeMass)
	}
	if c.HasPolicy {
		t.add("true cost of its policy", "%.6g", c.PolicyCost)
	}
	t.warnings(c)
	return t.String()
}

// Details returns the whole certificate except PolicyResidual, line by line.
func (c Certificate) Details() string {
	var t lines
	if c.HasTheta {
		t.add("cost cᵀΨθ̂", "%.6f", c.Objective)
	}
	if c.HasOptimum {
		t.add("exact optimum of (2.18)", "%.6f", c.Optimum)
		t.add("gap to the optimum", "%+.3g", c.Gap)
		t.add("penalised gap", "%.3g", c.PenalisedGap)
	}
	if c.HasDual {
		t.add("lower bound from λ̂", "%.6f", c.DualBound)
		t.add("duality gap", "%+.3g", c.DualityGap)
	}
	if c.HasPolicy {
		t.add("true cost of its policy", "%.6f", c.PolicyCost)
	}
	if c.HasTheta {
		t.add("violation ½‖[Ψθ̂]₋‖₂", "%.3g", c.Violation)
		t.add("negative mass ‖[Ψθ̂]₋‖₁", "%.3g", c.NegativeMass)
		t.add("1ᵀθ̂ − 1", "%+.9f", math.Round(1e9*c.HyperplaneError)/1e9+0) // + 0 turns −0 into 0
		t.add("‖θ̂‖ of R", "%.4g of %.4g", c.Norm, c.Radius)
	}
	t.add("queries", "%d", c.Queries)
	t.add("seed, stream", "%d, %d", c.Seed, c.Stream)
	t.add("settings", "%s", c.Settings)
	t.warnings(c)
	return t.String()
}

// lines is a text in which each line holds a name and a value. All values begin in the same column.
type lines struct{ strings.Builder }

func (t *lines) add(name, format string, v ...any) {
	width := 28 // of the column of names, in runes; a hat over a letter is a rune without width
	for _, r := range name {
		if unicode.Is(unicode.Mn, r) {
			width++
		}
	}
	fmt.Fprintf(t, "%-*s %s\n", width, name, fmt.Sprintf(format, v...))
}

func (t *lines) warnings(c Certificate) {
	for _, w := range c.Warnings {
		t.add("warning", "%s", w)
	}
}
