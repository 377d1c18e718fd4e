package priorwork

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// ALP is the approximate linear program (4.1) of de Farias and Van Roy (2003). It maximises αᵀv over all v = Φν with
// ν ∈ Γ and v ⪯ 𝒮v, where 𝒮 is the Bellman operator:
//
//	max αᵀΦν   subject to   (Φν)(s) − γP_a(s)Φν ≤ c_a(s),  ν ∈ Γ.
//
// There is a constraint for each pair (s, a) or, as in (4.8), for some pairs only. (The paper prints min instead of max
// and, in the text below (4.1), 𝒮v ⪰ c instead of 𝒮v ⪰ v. But any v with 𝒮v ⪰ v is a lower bound on v*, so the program
// must maximise.) If all constraints are imposed, the program's value is a lower bound on αᵀv*. The field Bound defines
// Γ.
//
// Under average cost, the program is max g subject to g + (Φν)(s) − P_a(s)Φν ≤ c_a(s) and ν ∈ Γ. This program does not
// contain α.
//
// Source: de Farias and Van Roy, Operations Research 51(6), 2003; under average cost, NIPS 2002.
//
// Deviations: see [Publications].
type ALP struct {
	Basis   *mat.Dense // Φ, n × d
	Weights []float64  // α, the n state-relevance weights; nil means the MDP's initial distribution

	// Pairs lists the indices s·m + a of the pairs (s, a) whose constraints are imposed; nil means the constraints of
	// all pairs.
	Pairs []int

	// Bound is B in Γ = {ν: ‖ν‖∞ ≤ B}; 0 means that Γ contains all ν. If Bound is 0 and only some constraints are
	// imposed, the program can be unbounded.
	Bound float64
}

// Approximation holds a solution ν̂ of an approximate linear program, and the greedy policy for Φν̂.
type Approximation struct {
	Nu        []float64 // ν̂
	Gain      float64   // ĝ, under average cost
	Objective float64   // αᵀΦν̂, or ĝ under average cost

	// Gap is a certified bound: in the program's objective (for [SALP], including the penalty), no feasible point is
	// better than ν̂ by more than Gap. The bound covers only points that, in the solver's coordinates, are within the
	// Radius of the [linprog.Point].
	Gap float64

	Value  []float64         // Φν̂ in all states
	Policy *mixpolicy.Policy // greedy for Value

	// Violation is the maximum of [(Φν̂)(s) − (𝒮Φν̂)(s) + ĝ]₊ over all states s. This maximum includes the states whose
	// constraints are not imposed. Under discounting, ĝ = 0.
	Violation float64
}

// Solve solves the program exactly, up to rounding. It returns an error if a field is invalid, if the program is
// unbounded or infeasible, if rounding stops the solver too far from a solution, or if ctx ends first.
func (p ALP) Solve(ctx context.Context, x *mixpolicy.MDP) (*Approximation, error) {
	pairs := p.Pairs
	if pairs == nil {
		pairs = allPairs(x)
	}
	cost := make([]float64, len(pairs))
	for k, i := range pairs {
		if i < 0 || i >= x.Pairs() {
			return nil, fmt.Errorf("priorwork: ALP: Pairs contains pair %d, want 0 to %d", i, x.Pairs()-1)
		}
		cost[k] = x.Costs()[i]
	}
	return p.solve(ctx, x, pairs, cost)
}

// solve is like Solve, but imposes the constraints of the given pairs, with the given costs.
func (p ALP) solve(ctx context.Context, x *mixpolicy.MDP, pairs []int, cost []float64) (*Approximation, error) {
	if err := checkBasis(x, p.Basis); err != nil {
		return nil, err
	}
	alpha, err := stateWeights(x, p.Weights, x.Initial(), "state-relevance weights")
	if err != nil {
		return nil, err
	}
	if !(p.Bound >= 0) || math.IsInf(p.Bound, 1) {
		return nil, fmt.Errorf("priorwork: ALP: bound %v of ν, want a finite number ≥ 0", p.Bound)
	}
	if len(pairs) == 0 {
		return nil, errors.New("priorwork: ALP without constraints, want at least one")
	}
	c := bellmanConstraints(x, p.Basis, pairs, cost)
	k, err := whiten(ctx, c)
	if err == nil && p.Bound > 0 {
		_, d := p.Basis.Dims()
		c.box(p.Bound, d)
		if len(k.null) > 0 { // only the box bounds these directions
			k, err = whiten(ctx, c)
		}
	}
	b := objective(x, p.Basis, alpha)
	var solution []float64
	var point *linprog.Point
	if err == nil {
		solution, point, err = k.maximise(ctx, b, c)
	}
	if err != nil {
		return nil, fault.At("priorwork", fmt.Sprintf("ALP of %d constraints", len(pairs)), err)
	}
	a := newApproximation(x, p.Basis, solution, b)
	a.Gap = point.Gap()
	return a, nil
}

// maximise solves max bᵀx subject to A x ⪯ c. It returns x, and the solver's point y, where x = S y.
func (k coordinates) maximise(ctx context.Context, b []float64, c constraints) ([]float64, *linprog.Point, error) {
	if ray := k.unbounded(b); ray != nil {
		return nil, nil, errUnbounded(ray)
	}
	point, err := k.solve(ctx, b, c)
	if err != nil {
		return nil, nil, err
	}
	// A solution in a corner of Γ may be far longer than whiten estimates, and then point.Bound is loose. If ‖y‖ is
	// above 64, or positive but below 1/64, scale the coordinates by ‖y‖, and solve again.
	const far = 64
	if length := floats.Norm(point.X, 2); length > far || length > 0 && length < 1.0/far {
		k.s.Scale(length, k.s)
		if point, err = k.solve(ctx, b, c); err != nil {
			return nil, nil, err
		}
	}
	return product(k.s, point.X), point, nil
}

// solve solves the program max bᵀx subject to A x ⪯ c in the variables y, where x = S y.
func (k coordinates) solve(ctx context.Context, b []float64, c constraints) (*linprog.Point, error) {
	rows, err := k.rows(ctx, c.columns)
	if err != nil {
		return nil, err
	}
	for _, col := range rows {
		floats.Scale(-1, col)
	}
	point, err := linprog.Inequalities{
		B: negated(product(k.s.T(), b)), A: rows, H: negated(c.rhs),
	}.Solve(ctx, linprog.Settings{})
	if err == nil || stalledByRounding(err) {
		return point, nil
	}
	var ray *linprog.UnboundedError
	if errors.As(err, &ray) {
		err = errUnbounded(product(k.s, ray.Direction))
	}
	return nil, err
}

func errUnbounded(direction []float64) error {
	return fmt.Errorf("unbounded along the direction %.3g; for an ALP, impose more constraints, or set Bound", direction)
}

// box adds the rows ±νⱼ ≤ bound for the last d variables, the entries of ν. It adds no rows for g, because once ν is
// bounded, the constraints of the pairs bound g from above.
func (c *constraints) box(bound float64, d int) {
	for j := len(c.columns) - d; j < len(c.columns); j++ {
		for k := range c.columns {
			var unit float64
			if k == j {
				unit = 1
			}
			c.columns[k] = append(c.columns[k], unit, -unit)
		}
		c.rhs = append(slices.Clip(c.rhs), bound, bound)
	}
}

// newApproximation returns the Approximation for a solution ν, or (g, ν) under average cost.
func newApproximation(x *mixpolicy.MDP, phi *mat.Dense, solution, b []float64) *Approximation {
	a := &Approximation{Nu: solution, Objective: floats.Dot(b, solution)}
	if x.Criterion().Average() {
		a.Gain, a.Nu = solution[0], solution[1:]
	}
	a.Value = values(phi, a.Nu)
	a.Policy = x.Greedy(a.Value)
	next := make([]float64, x.States())
	x.Bellman(next, a.Value)
	for s, v := range a.Value {
		a.Violation = max(a.Violation, v-next[s]+a.Gain)
	}
	return a
}

func negated(x []float64) []float64 { return floats.ScaleTo(make([]float64, len(x)), -1, x) }

// WeightedError returns Σ_s w(s)|v(s) − v2(s)|, the distance between v and v2 in the ℓ₁ norm with the weights w. The
// inequalities (4.2), (4.3), (4.9) and (4.13) bound distances of this kind.
func WeightedError(w, v, v2 []float64) float64 {
	var total float64
	for s := range w {
		total += w[s] * math.Abs(v[s]-v2[s])
	}
	return total
}
