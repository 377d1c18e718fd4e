package mixpolicy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/internal/directions"
)

// Mismatch looks for points of the hyperplane 1ᵀθ = 1 that belong to either the class or the domain of φ, but not to
// both. It takes far points in both directions of each axis and then in 64 other directions, but at most 200 points in
// total, and projects each onto the part of the hyperplane that lies in the class. On the line from start through the
// projection, it tests one point just before the projection and one point just behind the projection. The first result,
// named beyond, is a point of the domain just outside the class; an iterate can reach this point. The second result,
// named missing, is a point of the class outside the domain; no iterate can reach this point. A result is nil if the
// search finds no such point, or if the class is unbounded. The point start must lie on the hyperplane, in the class
// and in the domain.
func (c Class) Mismatch(phi bregman.Modulus, start []float64) (beyond, missing []float64) {
	if math.IsInf(c.R, 1) {
		return nil, nil
	}
	edge, far := make([]float64, len(start)), make([]float64, len(start))
	tried := 0
	for v := range directions.All(len(start)) {
		if tried++; tried > 200 || beyond != nil && missing != nil {
			break
		}
		floats.ScaleTo(far, 0x1p40*c.R/floats.Norm(v, math.Inf(1)), v)
		if c.Norm.Project(edge, far, c.R) != nil {
			continue
		}
		at := func(s float64) []float64 { // start + s(edge − start)
			x := make([]float64, len(start))
			return floats.AddScaledTo(x, floats.ScaleTo(x, 1-s, start), s, edge)
		}
		if x := at(1 + 0x1p-20); beyond == nil && phi.InDomain(x) && c.Size(x) > c.R*(1+0x1p-40) {
			beyond = x
		}
		if x := at(1 - 0x1p-20); missing == nil && !phi.InDomain(x) {
			missing = x
		}
	}
	return beyond, missing
}

// Warnings reports points where the domain of the modulus differs from the class, and says how to
// fix the difference.
func (a PrimalDual) Warnings(p *Problem) (all []string) {
	a, err := a.For(p)
	if err != nil { // Start reports this error
		return nil
	}
	beyond, missing := p.class.Mismatch(a.Modulus, a.Theta0)
	const remedy = "want a modulus for this class, such as mixpolicy.DefaultModulus(class), or the class of this modulus"
	if beyond != nil {
		all = append(all, fmt.Sprintf("θ = %.4g is in the domain of φ (%v) but not in the class %v, "+
			"so nothing keeps θ̂ in the class; %s", vector(beyond), a.Modulus, p.class, remedy))
	}
	if missing != nil {
		all = append(all, fmt.Sprintf("θ = %.4g is in the class %v but not in the domain of φ (%v), "+
			"so no iterate comes near it; %s", vector(missing), p.class, a.Modulus, remedy))
	}
	return all
}

// costWarning returns a warning if cᵀΨθ̂ is outside the range of the costs, because no
// policy has such a cost. A margin at both ends of the range covers the rounding of sums over
// the N pairs, which is at most N·2⁻⁵² max |c|·‖θ̂‖₁.
func (p *Problem) costWarning(objective float64, theta []float64) []string {
	lo, hi := p.MDP().CostRange()
	largest := max(-lo, hi)
	rounding := float64(p.MDP().Pairs()) * 0x1p-52 * largest * floats.Norm(theta, 1)
	if lo-rounding <= objective && objective <= hi+rounding {
		return nil
	}
	return []string{fmt.Sprintf("cᵀΨθ̂ = %.6g, and costs are from %.6g to %.6g: Ψθ̂ is not the measure of a policy; "+
		"want more iterations, other step sizes, or costs divided by c_max (CostScale = %.6g)", objective, lo, hi, largest)}
}
