package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

// section4 is the equations of section 4, on prior work, decided by exact linear programs
// on a small MDP.
var section4 = []Entry{
	{Number: "4.1a", What: "exact and approximate primal LP: objectives", Symbol: "mixpolicy/priorwork.ALP", Errata: "alp-direction", check: checkALPDirection},
	{Number: "4.1b", What: "exact and approximate primal LP: v below its Bellman update", Symbol: "mixpolicy.MDP.Bellman", check: checkALPConstraint},
	{Number: "4.2", What: "loss of a policy by the distance of its value from the optimal one", Symbol: "mixpolicy.Evaluate", check: checkPolicyLoss},
	{Number: "4.3", What: "error of the approximate LP by a Lyapunov function", Symbol: "mixpolicy/priorwork.Lyapunov.ALPBound", Errata: "lyapunov-indices", check: checkLyapunovBound},
	{Number: "4.4", What: "distribution for sampling constraints", Symbol: "mixpolicy/priorwork.Lyapunov.Sampling", Defines: true, check: checkSamplingDistribution},
	{Number: "4.5", What: "constant of the number of constraints", Symbol: "mixpolicy/priorwork.Lyapunov.Zeta", Errata: "lyapunov-indices", check: checkSamplingConstant},
	{Number: "4.6", What: "number of constraints to sample", Symbol: "mixpolicy/priorwork.CostSampleSize", Errata: "constraint-count", check: checkConstraintCount},
	{Number: "4.7", What: "LP with sampled constraints: objective", Symbol: "mixpolicy/priorwork.ConstraintSampling", Errata: "alp-direction", check: checkReducedDirection},
	{Number: "4.8", What: "LP with sampled constraints: the constraints", Symbol: "mixpolicy/priorwork.ALP", check: checkReducedConstraints},
	{Number: "4.9", What: "error of the LP with sampled constraints", Symbol: "mixpolicy/priorwork.ConstraintSampling.Solve", Errata: "same-vector", check: checkSampledError},
	{Number: "4.10", What: "smoothed ALP: objective", Symbol: "mixpolicy/priorwork.SALP", Errata: "alp-direction", check: checkSmoothedDirection},
	{Number: "4.11", What: "smoothed ALP: constraints with slack", Symbol: "mixpolicy/priorwork.SALP", check: checkSmoothed},
	{Number: "4.12", What: "smoothed ALP: budget of the slack", Symbol: "mixpolicy/priorwork.SALP", check: checkSmoothed},
	{Number: "4.13", What: "error of the smoothed ALP", Symbol: "mixpolicy/priorwork.Lyapunov.SALPBound", Errata: "lyapunov-indices", check: checkSmoothedBound},
	{Number: "4.14", What: "penalty function of the dual ALP", Symbol: "mixpolicy/priorwork.DualALP.Objective", Errata: "flow-constraint", check: checkDualALP},
	{Number: "4.15", What: "bound of the penalty method, with violations at price 1", Symbol: "mixpolicy.Problem.Merit", Errata: "penalty-price", check: checkPenaltyBound},
	{Number: "4.16", What: "bound of the penalty method for mixtures", Symbol: "mixpolicy.Penalty", check: checkMixtureBound},
}

// approximation holds what the checks of section 4 share: a small MDP with a basis of value
// functions. Its programs are solved by priorwork, and for comparison by a simplex method.
type approximation struct {
	x       *mixpolicy.MDP
	basis   *mat.Dense          // Φ
	optimal []float64           // v*
	mu      []float64           // of π*
	one     *priorwork.Lyapunov // u = 1
	best    float64             // min_ν max_s |v*(s) − (Φν)(s)|
}

// newApproximation has d features: 1 and random columns.
func newApproximation(ctx context.Context, x *mixpolicy.MDP, d int) (*approximation, error) {
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return nil, err
	}
	q, err := x.Occupation(v.Policy)
	if err != nil {
		return nil, err
	}
	a := &approximation{x: x, basis: mat.NewDense(x.States(), d, nil), optimal: v.Value, mu: q.State}
	rng := rand.New(rand.NewPCG(4, 0))
	for s := range x.States() {
		row := a.basis.RawRowView(s)
		row[0] = 1
		for j := 1; j < d; j++ {
			row[j] = rng.Float64()
		}
	}
	if a.one, err = priorwork.NewLyapunov(x, a.column(0)); err != nil {
		return nil, err
	}
	a.best, _, err = priorwork.BestFit(ctx, a.basis, v.Value, a.one.U)
	return a, err
}

func smallApproximation(ctx context.Context) (*approximation, error) {
	x, err := SmallMDP()
	if err != nil {
		return nil, err
	}
	return newApproximation(ctx, x, 3)
}

// smallALP is smallApproximation with the solution over all pairs.
func smallALP(ctx context.Context) (*approximation, *priorwork.Approximation, error) {
	a, err := smallApproximation(ctx)
	if err != nil {
		return nil, nil, err
	}
	full, err := a.alp(ctx, nil)
	return a, full, err
}

func (a *approximation) column(j int) []float64 { return mat.Col(nil, j, a.basis) }

// expected is αᵀv.
func (a *approximation) expected(v []float64) float64 { return floats.Dot(a.x.Initial(), v) }

// miss is E_{s∼α}|v*(s) − v(s)|.
func (a *approximation) miss(v []float64) float64 {
	return priorwork.WeightedError(a.x.Initial(), a.optimal, v)
}

// alp solves the approximate LP over the given pairs; nil is all of them.
func (a *approximation) alp(ctx context.Context, pairs []int) (*priorwork.Approximation, error) {
	return priorwork.ALP{Basis: a.basis, Pairs: pairs}.Solve(ctx, a.x)
}

// row is row i of (Q − γP)Φ.
func (a *approximation) row(pair int) []float64 {
	row := make([]float64, 3)
	for s, w := range bellmanRow(a.x, pair/a.x.Actions(), pair%a.x.Actions()) {
		floats.AddScaled(row, w, a.basis.RawRowView(s))
	}
	return row
}

// program is the approximate LP as a minimum of −αᵀΦν, for the simplex method.
func (a *approximation) program() *smallLP {
	p := &smallLP{c: make([]float64, 3)}
	for s, w := range a.x.Initial() {
		floats.AddScaled(p.c, -w, a.basis.RawRowView(s))
	}
	for i, c := range a.x.Costs() {
		p.atMost(a.row(i), c)
	}
	return p
}

// smoothedProgram is the smoothed ALP with a penalty, a slack for each state.
func (a *approximation) smoothedProgram(penalty float64) *smallLP {
	d, n := 3, a.x.States()
	p := &smallLP{c: append(a.program().c, make([]float64, n)...)}
	for s, w := range a.mu {
		p.c[d+s] = penalty * w
		unit := make([]float64, d+n)
		unit[d+s] = 1
		p.atLeast(unit, 0)
	}
	for i, c := range a.x.Costs() {
		row := append(a.row(i), make([]float64, n)...)
		row[d+i/a.x.Actions()] = -1
		p.atMost(row, c)
	}
	return p
}

func checkALPDirection(ctx context.Context) (Finding, error) {
	a, err := smallApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	good := primalLP(a.x, mixpolicy.Corrected)
	value, _, err := good.solve()
	if err != nil {
		return Finding{}, err
	}
	floats.Scale(-1, good.c)
	least, _, err := good.solve()
	if err != nil {
		return Finding{}, err
	}
	want := a.expected(a.optimal)
	f, err := mended(-least, off(-value, want), "min αᵀv over 𝒮v ⪰ v is %v, max αᵀv is %.6g = αᵀv*", least, -value)
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

func checkALPConstraint(ctx context.Context) (Finding, error) {
	a, full, err := smallALP(ctx)
	if err != nil {
		return Finding{}, err
	}
	v := full.Value
	next := make([]float64, len(v))
	a.x.Bellman(next, v)
	var worst float64
	for s := range v {
		worst = max(worst, (v[s]-next[s])/v[s], (v[s]-a.optimal[s])/v[s])
	}
	f, err := right(worst, "the solution of the approximate LP has 𝒮v ⪰ v, and then v ⪯ v*, at %.6g of %.6g", a.expected(v), a.expected(a.optimal))
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

// checkALPFeasible is about the text after (4.1): feasible is said to be 𝒮v ⪰ c.
func checkALPFeasible(ctx context.Context) (Finding, error) {
	a, err := smallApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	// c has nm entries and 𝒮v has n; the least of each state's costs is the kindest reading.
	next := make([]float64, a.x.States())
	a.x.Bellman(next, a.optimal)
	big := append([]float64(nil), a.optimal...)
	floats.Scale(3, big)
	above := make([]float64, len(big))
	a.x.Bellman(above, big)
	var printed, corrected float64
	for s := range next {
		least := math.Inf(1)
		for b := range a.x.Actions() {
			least = min(least, a.x.Cost(s, b))
		}
		if above[s] >= least { // 3v* is feasible in this sense, and above v*
			printed = max(printed, excess(big[s], a.optimal[s]))
		}
		corrected = max(corrected, math.Abs(next[s]-a.optimal[s])/a.optimal[s])
	}
	f, err := mended(printed, corrected, "3v* satisfies 𝒮v ⪰ c, and is no lower bound of v*; 𝒮v ⪰ v is what makes it one")
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

// checkPolicyLoss: as printed it has v^π on both sides, and follows from μ^π ⪰ (1−γ)α. The
// theorem that is cited has v there, whose greedy policy is π.
func checkPolicyLoss(ctx context.Context) (Finding, error) {
	a, full, err := smallALP(ctx)
	if err != nil {
		return Finding{}, err
	}
	v := full.Value
	pi := a.x.Greedy(v)
	q, err := a.x.Occupation(pi)
	if err != nil {
		return Finding{}, err
	}
	own, err := mixpolicy.Evaluate(ctx, a.x, pi, mixpolicy.ValuationSettings{})
	if err != nil {
		return Finding{}, err
	}
	var lhs, printed, cited float64
	for s, w := range a.x.Initial() {
		lhs += w * (own.Value[s] - a.optimal[s])
		printed += q.State[s] * math.Abs(own.Value[s]-a.optimal[s]) / (1 - a.x.Gamma())
		cited += q.State[s] * math.Abs(v[s]-a.optimal[s]) / (1 - a.x.Gamma())
	}
	return right(max(excess(lhs, printed), excess(lhs, cited)), "greedy policy of the approximate LP: loss %.4g ≤ %.4g as printed, a consequence of μ ⪰ (1−γ)α; the cited theorem has v for v^π on the right, and gives %.4g", lhs, printed, cited)
}

func checkLyapunovBound(ctx context.Context) (Finding, error) {
	a, full, err := smallALP(ctx)
	if err != nil {
		return Finding{}, err
	}
	bound := a.one.ALPBound(a.x.Initial(), a.best)
	lhs := a.miss(full.Value)
	// With the printed sum over s, β_u = γ max Σ_s P_a(s,s′), which is not below 1 here.
	sums := make([]float64, a.x.States())
	var printed float64
	for b := range a.x.Actions() {
		clear(sums)
		for s := range a.x.States() {
			to, p := a.x.Next(s, b)
			for k, s2 := range to {
				sums[s2] += p[k]
			}
		}
		printed = max(printed, a.x.Gamma()*floats.Max(sums))
	}
	return mended(excess(printed, 1), excess(lhs, bound), "u = 1: error %.4g ≤ %.4g, with β_u = γ; the printed β_u sums over s and is %.3g > 1, and Ψu has no meaning for u ∈ ℝⁿ", lhs, bound, printed)
}

func checkSamplingDistribution(ctx context.Context) (Finding, error) {
	a, err := smallApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	u := []float64{1, 1.1, 1.02, 1, 1.07, 1.04, 1.1, 1}
	l, err := priorwork.NewLyapunov(a.x, u)
	if err != nil {
		return Finding{}, err
	}
	eta, err := l.Sampling(a.x, a.mu)
	if err != nil {
		return Finding{}, err
	}
	worst := off(floats.Sum(eta), 1)
	for i := range eta {
		s := i / a.x.Actions()
		worst = max(worst, off(eta[i]/eta[0], a.mu[s]*u[s]/(a.mu[0]*u[0])))
	}
	return right(worst, "adds up to 1, in proportion to μ(s)u(s)")
}

func checkSamplingConstant(ctx context.Context) (Finding, error) {
	a, err := smallApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	// Γ = {‖ν‖_∞ ≤ 1}. The supremum is at a corner: by its norm, and by all corners.
	spread, corners := make([]float64, a.x.States()), make([]float64, a.x.States())
	for s, v := range a.optimal {
		row := a.basis.RawRowView(s)
		spread[s] = v + floats.Norm(row, 1)
		for corner := range 1 << len(row) {
			at := v
			for j, f := range row {
				at -= f * float64(1-corner>>j&1*2)
			}
			corners[s] = max(corners[s], math.Abs(at))
		}
	}
	zeta := func(spread float64) float64 { return a.one.Zeta(a.x.Initial(), a.mu, a.optimal, spread) }
	least, most := zeta(floats.Min(spread)), zeta(floats.Max(spread))
	// β_u = γ and μᵀu = 1 for u = 1.
	want := (1 + a.x.Gamma()) / 2 * floats.Max(corners) / a.expected(a.optimal)
	return mended(off(least, most), off(most, want), "as printed it depends on an s that nothing binds: u = 1 and ‖ν‖_∞ ≤ 1 give from %.4g to %.4g; with the maximum over s, ζ = %.4g", least, most, most)
}

// checkConstraintCount: one constraint of measure ε that matters is missed by N samples
// with probability (1−ε)ᴺ. With (4.6) as printed, ln(2/δ) outside of the product, that
// exceeds δ.
func checkConstraintCount(context.Context) (Finding, error) {
	const gamma, zeta, epsilon, delta = 0.9, 1.0, 0.1, 1e-300
	measure := (1 - gamma) * epsilon / (4 * zeta) // of constraints that may be violated
	outside := 4/measure*math.Log(12/measure) + math.Log(2/delta)
	printed := outside * math.Log1p(-measure)
	corrected := priorwork.CostSampleSize(1, 1, zeta, gamma, epsilon, delta) * math.Log1p(-measure)
	return Finding{Printed: max(0, printed-math.Log(delta)), Corrected: max(0, corrected-math.Log(delta)), Tolerance: 0,
		Numbers: fmt.Sprintf("m = d = ζ = 1, γ = 0.9, ε = 0.1, δ = 10⁻³⁰⁰: a constraint of measure %.2g is missed with probability 10^%.0f as printed, 10^%.0f with ln(2/δ) in the bracket", measure, printed/math.Ln10, corrected/math.Ln10)}, nil
}

func checkReducedDirection(ctx context.Context) (Finding, error) {
	a, full, err := smallALP(ctx)
	if err != nil {
		return Finding{}, err
	}
	p := a.program()
	greatest, _, err := p.solve()
	if err != nil {
		return Finding{}, err
	}
	floats.Scale(-1, p.c)
	least, _, err := p.solve()
	if err != nil {
		return Finding{}, err
	}
	f, err := mended(-least, max(off(-greatest, full.Objective), excess(full.Objective, a.expected(a.optimal))),
		"min αᵀΨν over the constraints is %v; max is %.4g, below αᵀv* = %.4g", least, full.Objective, a.expected(a.optimal))
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

func checkReducedConstraints(ctx context.Context) (Finding, error) {
	a, full, err := smallALP(ctx)
	if err != nil {
		return Finding{}, err
	}
	// c_a(s) − (Ψν)(s) + γP_a(s)Ψν is what an action is worse than v.
	q := make([]float64, a.x.Pairs())
	v := full.Value
	a.x.ActionValues(q, v)
	var worst float64
	for i := range q {
		slack := a.x.Costs()[i] - floats.Dot(a.row(i), full.Nu)
		worst = max(worst, math.Abs(slack-(q[i]-v[i/a.x.Actions()]))/v[0])
	}
	return right(worst, "each row is a Bellman inequality of Ψν")
}

func checkSampledError(ctx context.Context) (Finding, error) {
	a, full, err := smallALP(ctx)
	if err != nil {
		return Finding{}, err
	}
	eta, err := a.one.Sampling(a.x, a.mu)
	if err != nil {
		return Finding{}, err
	}
	// Γ = {‖ν‖_∞ ≤ bound} holds the solution; its worst error is at a corner.
	bound, largest := 10*floats.Norm(full.Nu, math.Inf(1)), 0.0
	for s := range a.optimal {
		largest = max(largest, a.optimal[s]+bound*floats.Norm(a.basis.RawRowView(s), 1))
	}
	const epsilon, delta = 0.05, 0.1
	zeta := a.one.Zeta(a.x.Initial(), a.mu, a.optimal, largest)
	count := int(priorwork.CostSampleSize(3, a.x.Actions(), zeta, a.x.Gamma(), epsilon, delta))
	rhs := a.miss(full.Value) + epsilon*a.expected(a.optimal)
	table, err := alias.New(eta)
	if err != nil {
		return Finding{}, err
	}
	const trials = 20
	rng := rand.NewPCG(49, 0)
	failures := func(draws int) (n int, err error) {
		for range trials {
			seen := make([]bool, a.x.Pairs())
			for range min(draws, 200_000) { // all pairs were drawn long before
				seen[table.Draw(rng)] = true
			}
			var pairs []int
			for i := range seen {
				if seen[i] {
					pairs = append(pairs, i)
				}
			}
			sampled, err := priorwork.ALP{Basis: a.basis, Pairs: pairs, Bound: bound}.Solve(ctx, a.x)
			if err != nil {
				return 0, err
			}
			if !(a.miss(sampled.Value) <= rhs) {
				n++
			}
		}
		return n, nil
	}
	enough, err := failures(count)
	if err != nil {
		return Finding{}, err
	}
	few, err := failures(10)
	return Finding{Printed: math.Inf(1), Corrected: excess(float64(enough)/trials, delta), Tolerance: 0,
		Numbers: fmt.Sprintf("as printed both sides have the same vector, and nothing is said; with the full ALP's on the right it failed in %d of %d trials with %d constraints (δ = 0.1), and in %d with 10", enough, trials, count, few)}, err
}

func checkSmoothedDirection(ctx context.Context) (Finding, error) {
	f, err := checkReducedDirection(ctx)
	f.Numbers = "the slack only adds feasible points: " + f.Numbers
	return f, err
}

func checkSmoothed(ctx context.Context) (Finding, error) {
	a, err := smallApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	penalty := priorwork.PublishedPenalty(a.x.Gamma())
	soft, err := priorwork.SALP{Basis: a.basis, Slack: a.mu, Penalty: penalty}.Solve(ctx, a.x)
	if err != nil {
		return Finding{}, err
	}
	slack := func(v []float64) float64 { // μᵀs for the least s with s + 𝒮v ⪰ v
		next := make([]float64, len(v))
		a.x.Bellman(next, v)
		var t float64
		for s := range v {
			t += a.mu[s] * max(0, v[s]-next[s])
		}
		return t
	}
	budget := slack(soft.Value)
	value, _, err := a.smoothedProgram(penalty).solve()
	if err != nil {
		return Finding{}, err
	}
	worst := off(soft.Objective-penalty*budget, -value)
	// The penalty's solution is that of its own budget, and with no budget it is the ALP.
	full, err := a.alp(ctx, nil)
	if err != nil {
		return Finding{}, err
	}
	for _, c := range []struct{ budget, objective float64 }{{budget, soft.Objective}, {0, full.Objective}} {
		held, err := priorwork.SALP{Basis: a.basis, Slack: a.mu, Budget: c.budget}.Solve(ctx, a.x)
		if err != nil {
			return Finding{}, err
		}
		worst = max(worst, off(held.Objective, c.objective), (slack(held.Value)-c.budget)/a.optimal[0])
	}
	f, err := right(worst, "with penalty 2/(1−γ) the slack is μᵀs = %.3g, and a budget of that gives the same; with no budget it is the ALP", budget)
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

func checkSmoothedBound(ctx context.Context) (Finding, error) {
	a, err := smallApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	gamma := a.x.Gamma()
	soft, err := priorwork.SALP{Basis: a.basis, Slack: a.mu, Penalty: priorwork.PublishedPenalty(gamma)}.Solve(ctx, a.x)
	if err != nil {
		return Finding{}, err
	}
	lhs := a.miss(soft.Value)
	bound := a.one.SALPBound(a.x.Initial(), a.mu, gamma, a.best)
	// As printed nothing binds s: with s fixed, a ν for which Ψν is v* there makes the
	// right side 0, whatever u is.
	f := a.basis.RawRowView(0)
	fit := floats.ScaleTo(make([]float64, len(f)), a.optimal[0]/floats.Dot(f, f), f)
	free := math.Abs(a.optimal[0] - floats.Dot(f, fit))
	return mended(excess(lhs, free), excess(lhs, bound), "error %.4g ≤ %.4g with u = 1 and the maximum over s; as printed s is free, a ν that fits v* at one s makes the right side %.1g, and U has u ⪯ 1 where ⪰ 1 is meant", lhs, bound, free)
}

// checkDualALP: the flow part of f_ω is 0 for features that are occupation measures, so that
// f_ω at a feasible θ is its cost; as printed it is not.
func checkDualALP(context.Context) (Finding, error) {
	p, theta, xi, err := smallTheta()
	if err != nil {
		return Finding{}, err
	}
	f, err := priorwork.DualALP{}.Objective(p, theta)
	if err != nil {
		return Finding{}, err
	}
	flow, err := averageFlow(p.MDP(), xi)
	if err != nil {
		return Finding{}, err
	}
	want := p.Objective(theta) + p.NegativeMass(theta)
	return mended(flow, off(f, want), "ω = 1: with ‖θᵀΨᵀ(Q−γP) − (1−γ)αᵀ‖₁ the function is cᵀΨθ + ‖[Ψθ]₋‖₁ = %.6g for occupation measures; the printed flow adds %.3g", want, flow)
}

// checkTighter is the claim that (4.13) is tighter than (4.3), as its infimum is over more u.
// Both are the same for u and 2u, so that three states have a plane of directions, few
// enough to try, and the span of two features a line.
func checkTighter(ctx context.Context) (smoothed, lyapunov float64, err error) {
	x, err := models.Garnet{States: 3, Actions: 2, Branches: 3, Seed: 1, Criterion: mixpolicy.Discounted(0.9)}.MDP()
	if err != nil {
		return 0, 0, err
	}
	a, err := newApproximation(ctx, x, 2)
	if err != nil {
		return 0, 0, err
	}
	alpha := x.Initial()
	smoothed = math.Inf(1)
	const steps = 30 // of a tenth in ln u; the grid holds u = 1
	for i := -steps; i <= steps; i++ {
		for j := -steps; j <= steps; j++ {
			u := []float64{1, math.Exp(float64(i) / 10), math.Exp(float64(j) / 10)}
			beta, err := priorwork.LyapunovFactor(x, u)
			if err != nil {
				return 0, 0, err
			}
			best, _, err := priorwork.BestFit(ctx, a.basis, a.optimal, u)
			if err != nil {
				return 0, 0, err
			}
			l := priorwork.Lyapunov{U: u, Beta: beta}
			smoothed = min(smoothed, l.SALPBound(alpha, a.mu, x.Gamma(), best))
		}
	}
	// u = 1 is in the span; another u there could only make (4.3) smaller still.
	return smoothed, a.one.ALPBound(alpha, a.best), nil
}

func checkPenaltyBound(ctx context.Context) (Finding, error) {
	p, err := QueueProblem(mixpolicy.Ball(100))
	if err != nil {
		return Finding{}, err
	}
	best, err := p.Optimum()
	if err != nil {
		return Finding{}, err
	}
	v, err := mixpolicy.PolicyIteration(ctx, p.MDP(), mixpolicy.ValuationSettings{})
	if err != nil {
		return Finding{}, err
	}
	var price float64
	for _, m := range best.Rows {
		price = max(price, m.Lambda())
	}
	least := func(omega float64) float64 { // min over Θ₂ ∩ Θ_R, d = 2
		half := math.Sqrt((1e4 - 0.5) / 2)
		return -greatest(func(x float64) float64 {
			theta := []float64{x, 1 - x}
			return -p.Objective(theta) - omega*p.NegativeMass(theta)
		}, 0.5-half, 0.5+half)
	}
	free, exact := least(1), least(price)
	// The left side is the cost of a policy, and none costs less than v.Cost().
	f, err := mended((v.Cost()-free)/math.Abs(free), off(exact, best.Objective), "queue, R = 100: with V₁ at price 1 the right side is %.4g, and no policy costs less than %.4g; at the price ‖λ*‖_∞ = %.3g it is the optimum %.5g", free, v.Cost(), price, exact)
	f.Tolerance = 1e-6 // the search stops at neighbouring numbers, at slopes of 10⁵
	return f, err
}

// checkMixtureBound: with C = c_max the constant term alone exceeds any cost.
func checkMixtureBound(context.Context) (Finding, error) {
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return Finding{}, err
	}
	x := p.MDP()
	_, top := x.CostRange()
	constant := 6 * math.Sqrt(float64(x.Actions())) * top * p.Class().R / (1 - x.Gamma())
	// cᵀΨθ ≥ −c_max‖θ‖₁ ≥ −c_max√d R for any θ of the class.
	least := -top * math.Sqrt(float64(p.Dim())) * p.Class().R
	return right(excess(top, constant+least), "its constant term is %.4g, less at most %.3g, and no policy costs more than %.3g: it holds and says nothing", constant, -least, top)
}
