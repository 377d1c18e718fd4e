package priorwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// SALP is the smoothed approximate LP (4.10)–(4.12) of Desai, Farias and Moallemi (2012). It allows v = Φν to violate
// v ⪯ 𝒮v by a vector s of slacks, one for each state:
//
//	max αᵀΦν             subject to  Φν ⪯ 𝒮Φν + s,  s ⪰ 0,  μᵀs ≤ t     (a budget), or
//	max αᵀΦν − κ μᵀs     subject to  Φν ⪯ 𝒮Φν + s,  s ⪰ 0              (a penalty).
//
// Here 𝒮 is the Bellman operator. In these two programs, s is the vector of slacks; below, s is a state. For a given ν,
// the least slack in a state s is [max_a h_a(s)]₊ with h_a(s) = (Φν)(s) − γP_a(s)Φν − c_a(s). With the least slacks, a
// concave program in ν ∈ ℝᵈ remains. In this program, the convex function σ(ν) = Σ_s μ(s)[max_a h_a(s)]₊ replaces the
// weighted sum of the slacks.
//
// Choose some states, and an action in each of them. The sum of μ(s)h_a(s) over these pairs is an affine function of ν
// that is at most σ everywhere. There are (m+1)ⁿ such functions, and one pass over all pairs finds the function that is
// greatest at a given ν. Each function gives a linear constraint: its value is at most t (a budget), or at most a
// variable that replaces σ in the objective (a penalty). Solve starts with none of these constraints, and each pass
// adds the constraint that the latest solution violates most. Solve ends when a solution violates no constraint, so the
// result is exact up to rounding. If the program has only a few variables, a few dozen passes are usually enough.
//
// Source: Desai, Farias and Moallemi, Operations Research 60(3), 2012.
//
// Deviations: see [Publications].
type SALP struct {
	Basis   *mat.Dense // Φ, n × d
	Weights []float64  // α; nil means the MDP's initial distribution

	// Slack is μ, the weights of violations; nil means α. The published μ is μ^{π*}_α, the measure of the optimal
	// policy, which is unknown before the problem is solved. Instead of this measure, one can give each of N sampled
	// states the weight 1/N.
	Slack []float64

	// Penalty is κ; the source uses [PublishedPenalty]. 0 means that Budget applies.
	Penalty float64
	// Budget is t ≥ 0, and is not used if Penalty > 0. A budget of 0 gives the [ALP] with the constraints of the states
	// s for which μ(s) > 0.
	Budget float64
}

// PublishedPenalty returns κ = 2/(1−γ), for which [Lyapunov.SALPBound] holds.
func PublishedPenalty(gamma float64) float64 { return 2 / (1 - gamma) }

// Solve solves the program exactly, up to rounding. In the result, Objective is αᵀΦν̂ without the penalty, and
// Violation is the greatest slack over all states. Solve returns an error under average cost, if a field is invalid, if
// the program is unbounded, if rounding stops the solver too far from a solution, or if ctx ends first.
func (p SALP) Solve(ctx context.Context, x *mixpolicy.MDP) (*Approximation, error) {
	alpha, mu, err := smoothedWeights(x, p.Basis, p.Weights, p.Slack)
	if err != nil {
		return nil, err
	}
	if !(p.Penalty >= 0 && p.Budget >= 0) || math.IsInf(p.Penalty+p.Budget, 1) {
		return nil, fmt.Errorf("priorwork: smoothed ALP with penalty %v and budget %v, want finite numbers ≥ 0", p.Penalty, p.Budget)
	}
	c := bellmanConstraints(x, p.Basis, allPairs(x), x.Costs())
	k, err := whiten(ctx, c)
	if err != nil {
		return nil, fault.At("priorwork", "smoothed ALP", err)
	}
	b := objective(x, p.Basis, alpha)
	if ray := k.unbounded(b); ray != nil {
		return nil, fault.At("priorwork", "smoothed ALP", errUnbounded(ray))
	}
	rows, err := k.rows(ctx, c.columns)
	if err != nil {
		return nil, fault.At("priorwork", "smoothed ALP", err)
	}
	y, gap, err := newSlack(x.Actions(), mu, rows, c.rhs).maximise(ctx, product(k.s.T(), b), p.Penalty, p.Budget)
	if err != nil {
		return nil, fault.At("priorwork", "smoothed ALP", err)
	}
	a := newApproximation(x, p.Basis, product(k.s, y), b)
	a.Gap = gap
	return a, nil
}

// smoothedWeights returns α and μ of a smoothed program, with the defaults filled in. It returns an error under
// average cost, and for an invalid basis or invalid weights.
func smoothedWeights(x *mixpolicy.MDP, phi *mat.Dense, weights, slack []float64) (alpha, mu []float64, err error) {
	if x.Criterion().Average() {
		return nil, nil, errors.New("priorwork: smoothed ALP under average cost, want a discount factor")
	}
	if err = checkBasis(x, phi); err == nil {
		alpha, err = stateWeights(x, weights, x.Initial(), "state-relevance weights")
	}
	if err == nil {
		mu, err = stateWeights(x, slack, alpha, "weights of violations")
	}
	return alpha, mu, err
}

// slack is the function σ(y) = Σ_s μ(s)[max_a (a_{sa}ᵀy − c_a(s))]₊ of y ∈ ℝʳ. It is the μᵀs of (4.12) for the least
// slacks s that (4.11) allows.
type slack struct {
	m          int
	mu         []float64
	rows       linprog.Columns // a_{sa}
	cost       []float64
	size, unit float64   // Σ μ(s) max_a ‖a_{sa}‖, Σ μ(s) max_a |c_a(s)| or, if this sum is 0, 1
	dot        []float64 // a_{sa}ᵀy
}

func newSlack(m int, mu []float64, rows linprog.Columns, cost []float64) *slack {
	f := &slack{m: m, mu: mu, rows: rows, cost: cost, dot: make([]float64, len(cost))}
	row := make([]float64, len(rows))
	for s, w := range mu {
		var size, unit float64
		for i := s * m; i < (s+1)*m; i++ {
			rows.Row(row, i)
			size, unit = max(size, floats.Norm(row, 2)), max(unit, math.Abs(cost[i]))
		}
		f.size += w * size
		f.unit += w * unit
	}
	f.unit = cmp.Or(f.unit, 1)
	return f
}

// tangent stores in g the slope of an affine function gᵀy − offset that is at most σ everywhere and equals σ at the
// given y. It returns offset, and σ(y) as value.
func (f *slack) tangent(g, y []float64) (offset, value float64) {
	clear(g)
	f.rows.Apply(f.dot, 0, y)
	row := make([]float64, len(g))
	for s, w := range f.mu {
		worst, most := -1, 0.0
		for i := s * f.m; i < (s+1)*f.m; i++ {
			if h := f.dot[i] - f.cost[i]; h > most {
				worst, most = i, h
			}
		}
		if worst >= 0 && w > 0 {
			f.rows.Row(row, worst)
			floats.AddScaled(g, w, row)
			offset += w * f.cost[worst]
			value += w * most
		}
	}
	return offset, value
}

// rounding returns a bound on the rounding error of σ(y). The error arises from the inner products and the sums over
// states, in this code and in the solver's rows.
func (f *slack) rounding(y []float64) float64 {
	return 16 * float64(len(y)+8) * 0x1p-53 * (f.size*floats.Norm(y, 2) + f.unit)
}

// If κ > 0, maximise returns argmax bᵀy − κσ(y). If κ = 0, it returns argmax bᵀy subject to σ(y) ≤ budget. It also
// returns an upper bound on the difference between the optimum and the value at y. The rows of the linear programs are
// the tangents: gᵀy − offset ≤ budget if κ = 0, and otherwise gᵀy − offset ≤ unit·τ, where τ is another variable.
func (f *slack) maximise(ctx context.Context, b []float64, kappa, budget float64) (y []float64, gap float64, err error) {
	r := len(b)
	objective := negated(b)
	if kappa > 0 {
		objective, budget = append(objective, kappa*f.unit), 0
	}
	seen := map[string]bool{} // the tangents that are rows
	cuts, rhs := make(linprog.Columns, len(objective)), []float64(nil)
	add := func(g []float64, tau, right float64) { // −gᵀy + tau·τ ≥ right
		for j, v := range g {
			cuts[j] = append(cuts[j], -v)
		}
		if kappa > 0 {
			cuts[r] = append(cuts[r], tau)
		}
		rhs, seen[fmt.Sprint(g, right)] = append(rhs, right), true
	}
	g := make([]float64, r)
	var warm []int
	for {
		master := linprog.Inequalities{B: objective, A: cuts, H: rhs}
		point, err := master.Solve(ctx, linprog.Settings{Warm: warm})
		var stall *linprog.StalledError
		if errors.As(err, &stall) && len(warm) > 0 {
			point, err = master.Solve(ctx, linprog.Settings{}) // from the default start
		}
		var ray *linprog.UnboundedError
		var trial []float64
		switch {
		case stalledByRounding(err):
			trial = point.X
		case errors.As(err, &ray):
			// Solutions have a length of about 1. So the program counts as unbounded if a point at 2²⁶ along the ray
			// violates no new constraint.
			trial = append([]float64(nil), ray.Point...)
			floats.AddScaled(trial, 0x1p26, ray.Direction)
		case err != nil:
			return nil, 0, err
		default:
			trial, warm = point.X, nil
			for _, m := range point.Rows {
				warm = append(warm, m.Row)
			}
		}
		y, allowed := trial[:r], budget
		if kappa > 0 {
			allowed = f.unit * trial[r]
		}
		offset, sigma := f.tangent(g, y)
		excess := sigma - allowed - f.rounding(y)
		right := -offset - budget
		if excess > 0 && !seen[fmt.Sprint(g, right)] { // a tangent that is already a row is satisfied up to rounding
			add(g, f.unit, right)
			continue
		}
		if ray != nil {
			return nil, 0, errUnbounded(ray.Direction[:r])
		}
		// −point.Bound is an upper bound on the optimum. Subtract the value at y.
		return y, -point.Bound - (floats.Dot(b, y) - kappa*sigma), nil
	}
}

// negligible is the greatest violation of a row, relative to the row's length, that leaves twelve digits correct.
const negligible = 0x1p-40

// stalledByRounding reports whether the solver stalled at a point whose violation is negligible. This happens in
// degenerate programs, whose rows depend on each other to within rounding. The point's bound is still valid, and the
// gap shows how much accuracy is lost.
func stalledByRounding(err error) bool {
	var stall *linprog.StalledError
	return errors.As(err, &stall) && stall.Violation <= negligible
}
