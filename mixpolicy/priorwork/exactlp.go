package priorwork

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// LPSolution contains solutions of the two full linear programs of an MDP, and a certificate of their optimality. The
// programs are (2.9) and (2.13) in their corrected form. Under discounting, the programs are
//
//	primal  max (1−γ)αᵀv   subject to  v(s) − γP_a(s)v ≤ c_a(s) for all pairs,
//	dual    min cᵀξ        subject to  ξ ⪰ 0, Σ_a ξ_a(s) − γ Σ ξ_b(s′)P_b(s′,s) = (1−γ)α(s),
//
// where we multiply the objective of (2.9) by 1−γ so that both optimal values are costs per step. Under average cost,
// with the gain g, the programs are
//
//	primal  max g          subject to  g + h(s) − P_a(s)h ≤ c_a(s) for all pairs,
//	dual    min cᵀξ        subject to  ξ ⪰ 0, 1ᵀξ = 1, Σ_a ξ_a(s) = Σ ξ_b(s′)P_b(s′,s).
type LPSolution struct {
	Value  []float64         // v, or h
	Gain   float64           // g; 0 under discounting
	Pair   []float64         // ξ, the dual variables of the primal
	Policy *mixpolicy.Policy // an optimal policy; its measure is ξ

	LPCertificate
}

// LPCertificate states how far (v, g) and ξ are from being feasible and optimal. Under discounting, g = 0. Let r_a(s) =
// c_a(s) − g − v(s) + γP_a(s)v, and let f be the left side of the dual's flow constraint minus the right side. Then for
// any v, g and ξ,
//
//	cᵀξ − primal value = rᵀξ + fᵀv + g(1ᵀξ − 1),
//
// so the gap is 0 if (v, g) and ξ are feasible and no pair has both r > 0 and ξ > 0. All sums use compensated
// summation, so the error of each number is at most a few times 2⁻⁵³, relative to the size of its terms.
type LPCertificate struct {
	Primal, Dual float64 // Primal is (1−γ)αᵀv, or g under average cost; Dual is cᵀξ
	// PrimalViolation is the maximum of [−r]₊ over all pairs. The point (v, g) becomes feasible if g is lowered by this
	// amount under average cost or, under discounting, if every entry of v is lowered by this amount divided by 1−γ. So
	// no policy costs less than Primal − PrimalViolation.
	PrimalViolation float64
	DualViolation   float64 // Σ [−ξ]₊ + Σ |f| + |1ᵀξ − 1|
	Slackness       float64 // Σ |rξ|, which is 0 under complementary slackness
	PositiveRows    int     // the number of pairs with ξ > 0
}

// Gap returns Dual − Primal.
func (c *LPCertificate) Gap() float64 { return c.Dual - c.Primal }

// Lower returns a lower bound on the cost of every policy.
func (c *LPCertificate) Lower() float64 { return c.Primal - c.PrimalViolation }

// String returns the certificate as a table, with a line for each number.
func (c LPCertificate) String() string {
	var b strings.Builder
	names := []string{"primal value", "dual value", "duality gap", "primal violation", "dual violation", "complementary slackness"}
	for k, v := range []float64{c.Primal, c.Dual, c.Gap(), c.PrimalViolation, c.DualViolation, c.Slackness} {
		fmt.Fprintf(&b, "%-24s %.6g\n", names[k], v)
	}
	fmt.Fprintf(&b, "%-24s %d\n", "pairs with ξ > 0", c.PositiveRows)
	return b.String()
}

// SolveLP solves both programs of [LPSolution] by policy iteration, which is the simplex method with simultaneous
// pivots in all states that have a better action (Howard 1960; Ye 2011 for its complexity). Policy iteration ends with
// a basis that is optimal up to the default tolerance of [mixpolicy.ValuationSettings]. The certificate states how well
// the v and the measure ξ of this basis solve the programs. SolveLP returns an error if [mixpolicy.PolicyIteration] or
// [mixpolicy.Occupation] does.
func SolveLP(ctx context.Context, x *mixpolicy.MDP) (*LPSolution, error) {
	best, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return nil, fault.At("priorwork", "full LP", err)
	}
	measure, err := mixpolicy.Occupation(ctx, x, best.Policy, mixpolicy.MeasureSettings{})
	if err != nil {
		return nil, fault.At("priorwork", "full LP", err)
	}
	s := &LPSolution{Value: best.Value, Pair: measure.Pair, Policy: best.Policy}
	if x.Criterion().Average() {
		s.Gain = best.Cost()
	}
	s.LPCertificate = checkLP(x, s.Value, s.Gain, s.Pair)
	return s, nil
}

// checkLP returns the certificate of v, g and ξ. Under discounting, it ignores g.
func checkLP(x *mixpolicy.MDP, v []float64, g float64, xi []float64) LPCertificate {
	gamma, m := x.Gamma(), x.Actions()
	if !x.Criterion().Average() {
		g = 0
	}
	var c LPCertificate
	var dual, slackness, negative, mass sum.Accumulator
	flow := make([]sum.Accumulator, x.States()) // Σ_a ξ_a(s) − γ Σ ξ_b(s′)P_b(s′,s)
	for i, w := range xi {
		s := i / m
		var r sum.Accumulator
		r.Add(x.Costs()[i])
		r.Add(-g)
		r.Add(-v[s])
		to, prob := x.Next(s, i%m)
		for k, s2 := range to {
			r.AddProduct(gamma*prob[k], v[s2])
			flow[s2].AddProduct(-gamma*prob[k], w)
		}
		flow[s].Add(w)
		mass.Add(w)
		dual.AddProduct(x.Costs()[i], w)
		slackness.Add(math.Abs(r.Value() * w))
		negative.Add(max(0, -w))
		c.PrimalViolation = max(c.PrimalViolation, -r.Value())
		if w > 0 {
			c.PositiveRows++
		}
	}
	mass.Add(-1)
	for s := range flow {
		if gamma < 1 {
			flow[s].Add(-(1 - gamma) * x.Initial()[s])
		}
		negative.Add(math.Abs(flow[s].Value()))
	}
	negative.Add(math.Abs(mass.Value()))
	c.Primal, c.Dual = g, dual.Value()
	if gamma < 1 {
		var primal sum.Accumulator
		for s, a := range x.Initial() {
			primal.AddProduct((1-gamma)*a, v[s])
		}
		c.Primal = primal.Value()
	}
	c.DualViolation, c.Slackness = negative.Value(), slackness.Value()
	return c
}
