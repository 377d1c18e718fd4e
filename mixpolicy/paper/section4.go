package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// section4 is the equations of section 4, on prior work, decided by exact linear programs
// on a small MDP.
var section4 = []Entry{
	{Number: "4.1a", What: "exact and approximate primal LP: objectives", Symbol: "mixpolicy.ValueIteration", Errata: "alp-direction", check: checkALPDirection},
	{Number: "4.1b", What: "exact and approximate primal LP: v below its Bellman update", Symbol: "mixpolicy.MDP.Bellman", check: checkALPConstraint},
	{Number: "4.2", What: "loss of a policy by the distance of its value from the optimal one", Symbol: "mixpolicy.Evaluate", check: checkPolicyLoss},
	{Number: "4.3", What: "error of the approximate LP by a Lyapunov function", Symbol: "mixpolicy/paper.ApproximateLP", Errata: "lyapunov-indices", check: checkLyapunovBound},
	{Number: "4.4", What: "distribution for sampling constraints", Symbol: "mixpolicy/paper.SamplingDistribution", Defines: true, check: checkSamplingDistribution},
	{Number: "4.5", What: "constant of the number of constraints", Symbol: "mixpolicy/paper.SamplingConstant", Errata: "lyapunov-indices", check: checkSamplingConstant},
	{Number: "4.6", What: "number of constraints to sample", Symbol: "mixpolicy/paper.SampledConstraints", Errata: "constraint-count", check: checkConstraintCount},
	{Number: "4.7", What: "LP with sampled constraints: objective", Symbol: "mixpolicy/paper.ApproximateLP", Errata: "alp-direction", check: checkReducedDirection},
	{Number: "4.8", What: "LP with sampled constraints: the constraints", Symbol: "mixpolicy/paper.ApproximateLP", check: checkReducedConstraints},
	{Number: "4.9", What: "error of the LP with sampled constraints", Symbol: "mixpolicy/paper.SampledConstraints", Errata: "same-vector", check: checkSampledError},
	{Number: "4.10", What: "smoothed ALP: objective", Symbol: "mixpolicy/paper.SmoothedLP", Errata: "alp-direction", check: checkSmoothedDirection},
	{Number: "4.11", What: "smoothed ALP: constraints with slack", Symbol: "mixpolicy/paper.SmoothedLP", check: checkSmoothed},
	{Number: "4.12", What: "smoothed ALP: budget of the slack", Symbol: "mixpolicy/paper.SmoothedLP", check: checkSmoothed},
	{Number: "4.13", What: "error of the smoothed ALP", Symbol: "mixpolicy/paper.SmoothedLP", Errata: "lyapunov-indices", check: checkSmoothedBound},
	{Number: "4.14", What: "penalty function of the dual ALP", Symbol: "mixpolicy.Penalty", Errata: "flow-constraint", check: checkReducedFlow},
	{Number: "4.15", What: "bound of the penalty method, with violations at price 1", Symbol: "mixpolicy.Problem.Merit", Errata: "penalty-price", check: checkPenaltyBound},
	{Number: "4.16", What: "bound of the penalty method for mixtures", Symbol: "mixpolicy.Penalty", check: checkMixtureBound},
}

// valueFeatures are features of the state for approximate LPs: 1 and two random columns,
// n × 3, by rows.
func valueFeatures(states int) [][]float64 {
	rng := rand.New(rand.NewPCG(4, 0))
	rows := make([][]float64, states)
	for s := range rows {
		rows[s] = []float64{1, rng.Float64(), rng.Float64()}
	}
	return rows
}

// alp is the approximate LP (4.1) for value features, over the given pairs, as a minimum
// of −αᵀΨν. Corrected: the paper prints min αᵀΨν, which has no minimum.
func alp(x *mixpolicy.MDP, features [][]float64, pairs []int) *smallLP {
	d := len(features[0])
	p := &smallLP{c: make([]float64, d)}
	for s, w := range x.Initial() {
		floats.AddScaled(p.c, -w, features[s])
	}
	for _, i := range pairs {
		p.atMost(featureRow(x, features, i), x.Costs()[i])
	}
	return p
}

// featureRow is row i of (Q − γP)Ψ.
func featureRow(x *mixpolicy.MDP, features [][]float64, pair int) []float64 {
	row := make([]float64, len(features[0]))
	for s, w := range bellmanRow(x, pair/x.Actions(), pair%x.Actions()) {
		floats.AddScaled(row, w, features[s])
	}
	return row
}

func allPairs(x *mixpolicy.MDP) []int {
	all := make([]int, x.Pairs())
	for i := range all {
		all[i] = i
	}
	return all
}

// ApproximateLP returns the weights ν* of the approximate LP (4.1), in its corrected form
// max αᵀΨν subject to (Q − γP)Ψν ⪯ c, over the given pairs: all of them, or a sample (4.7),
// (4.8). features holds a row per state. It is dense, for small models.
func ApproximateLP(x *mixpolicy.MDP, features [][]float64, pairs []int) ([]float64, error) {
	value, nu, err := alp(x, features, pairs).solve()
	if err == nil && math.IsInf(value, 0) {
		err = fmt.Errorf("paper: approximate LP over %d pairs: optimum %v, want more constraints, or features that span 1", len(pairs), -value)
	}
	return nu, err
}

// SmoothedLP returns ν and the slack s of the smoothed ALP in its penalised form
// (Desai, Farias and Moallemi 2012), max αᵀΨν − price·μᵀs subject to (Q − γP)Ψν ⪯ c + s,
// s ⪰ 0: (4.10)–(4.12) with the budget t = μᵀs. The slack is one number a state.
func SmoothedLP(x *mixpolicy.MDP, features [][]float64, mu []float64, price float64) (nu, slack []float64, err error) {
	d, n := len(features[0]), x.States()
	p := &smallLP{c: make([]float64, d+n)}
	for s, w := range x.Initial() {
		floats.AddScaled(p.c[:d], -w, features[s])
		p.c[d+s] = price * mu[s]
		unit := make([]float64, d+n)
		unit[d+s] = 1
		p.atLeast(unit, 0)
	}
	for i := range x.Pairs() {
		row := make([]float64, d+n)
		copy(row, featureRow(x, features, i))
		row[d+i/x.Actions()] = -1
		p.atMost(row, x.Costs()[i])
	}
	value, both, err := p.solve()
	switch {
	case err != nil:
		return nil, nil, err
	case math.IsInf(value, 0):
		return nil, nil, fmt.Errorf("paper: smoothed LP: optimum %v, want a price above 1/(1−γ)", -value)
	}
	return both[:d], both[d:], nil
}

// SamplingDistribution is (4.4), η(s,a) = μ(s)u(s)/(m μᵀu), over pairs.
func SamplingDistribution(x *mixpolicy.MDP, mu, u []float64) []float64 {
	eta := make([]float64, x.Pairs())
	for i := range eta {
		s := i / x.Actions()
		eta[i] = mu[s] * u[s] / (float64(x.Actions()) * floats.Dot(mu, u))
	}
	return eta
}

// LyapunovFactor is β_u = γ max_{s,a} Σ_{s′} P_a(s,s′)u(s′)/u(s); section 4 prints a sum over s.
func LyapunovFactor(x *mixpolicy.MDP, u []float64) float64 {
	var top float64
	for s := range x.States() {
		for a := range x.Actions() {
			var e float64
			to, p := x.Next(s, a)
			for k, s2 := range to {
				e += p[k] * u[s2]
			}
			top = max(top, e/u[s])
		}
	}
	return x.Gamma() * top
}

// SamplingConstant is (4.5), corrected: ζ = ½(1+β_u) (μᵀu/αᵀv*) sup_ν max_s |v*(s) − (Ψν)(s)|/u(s), for
// the given greatest error; the paper leaves out the maximum over s.
func SamplingConstant(x *mixpolicy.MDP, u, mu, optimal []float64, largest float64) float64 {
	return (1 + LyapunovFactor(x, u)) / 2 * floats.Dot(mu, u) / floats.Dot(x.Initial(), optimal) * largest
}

// SampledConstraints is (4.6) with the constant that Ω leaves open taken to be 1,
// corrected: (16mζ/((1−γ)ε)) (d ln(48mζ/((1−γ)ε)) + ln(2/δ)). The paper has ln(2/δ) outside of
// the bracket.
func SampledConstraints(form mixpolicy.Form, actions, dim int, gamma, zeta, epsilon, delta float64) float64 {
	k := float64(actions) * zeta / ((1 - gamma) * epsilon)
	if form == mixpolicy.Printed {
		return 16*k*float64(dim)*math.Log(48*k) + math.Log(2/delta)
	}
	return 16 * k * (float64(dim)*math.Log(48*k) + math.Log(2/delta))
}

// approximation holds what the checks of section 4 share.
type approximation struct {
	x        *mixpolicy.MDP
	features [][]float64
	optimal  []float64 // v*
	mu       []float64 // of π*
	best     float64   // min_ν max_s |v*(s) − (Ψν)(s)|
}

func newApproximation(ctx context.Context) (*approximation, error) {
	x, err := SmallMDP()
	if err != nil {
		return nil, err
	}
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return nil, err
	}
	q, err := x.Occupation(v.Policy)
	if err != nil {
		return nil, err
	}
	a := &approximation{x: x, features: valueFeatures(x.States()), optimal: v.Value, mu: q.State}
	// Chebyshev approximation: min t subject to ±(v* − Ψν) ≤ t.
	d := len(a.features[0])
	p := &smallLP{c: make([]float64, d+1)}
	p.c[d] = 1
	for s, f := range a.features {
		row := append(append([]float64(nil), f...), -1)
		p.atMost(row, v.Value[s])
		row = append(negated(f), -1)
		p.atMost(row, -v.Value[s])
	}
	a.best, _, err = p.solve()
	return a, err
}

// value returns Ψν.
func (a *approximation) value(nu []float64) []float64 {
	v := make([]float64, len(a.features))
	for s, f := range a.features {
		v[s] = floats.Dot(f, nu)
	}
	return v
}

// miss is E_{s∼α}|v*(s) − v(s)|.
func (a *approximation) miss(v []float64) float64 {
	var e float64
	for s, w := range a.x.Initial() {
		e += w * math.Abs(a.optimal[s]-v[s])
	}
	return e
}

func checkALPDirection(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
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
	want := floats.Dot(a.x.Initial(), a.optimal)
	f, err := mended(-least, off(-value, want), "min αᵀv over 𝒮v ⪰ v is %v, max αᵀv is %.6g = αᵀv*", least, -value)
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

func checkALPConstraint(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	nu, err := ApproximateLP(a.x, a.features, allPairs(a.x))
	if err != nil {
		return Finding{}, err
	}
	v := a.value(nu)
	next := make([]float64, len(v))
	a.x.Bellman(next, v)
	var worst float64
	for s := range v {
		worst = max(worst, (v[s]-next[s])/v[s], (v[s]-a.optimal[s])/v[s])
	}
	f, err := right(worst, "the solution of the approximate LP has 𝒮v ⪰ v, and then v ⪯ v*, at %.6g of %.6g", floats.Dot(a.x.Initial(), v), floats.Dot(a.x.Initial(), a.optimal))
	f.Tolerance = 1e-8 // as in (2.8)
	return f, err
}

// checkALPFeasible is about the text after (4.1): feasible is said to be 𝒮v ⪰ c.
func checkALPFeasible(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
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
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	nu, err := ApproximateLP(a.x, a.features, allPairs(a.x))
	if err != nil {
		return Finding{}, err
	}
	v := a.value(nu)
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
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	nu, err := ApproximateLP(a.x, a.features, allPairs(a.x))
	if err != nil {
		return Finding{}, err
	}
	ones := make([]float64, a.x.States())
	floats.AddConst(1, ones)
	bound := 2 / (1 - LyapunovFactor(a.x, ones)) * a.best
	lhs := a.miss(a.value(nu))
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
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	u := []float64{1, 2, 1, 3, 1, 1.5, 2, 1}
	return right(off(floats.Sum(SamplingDistribution(a.x, a.mu, u)), 1), "adds up to 1")
}

func checkSamplingConstant(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	ones := make([]float64, a.x.States())
	floats.AddConst(1, ones)
	zeta := SamplingConstant(a.x, ones, a.mu, a.optimal, a.best)
	want := (1 + a.x.Gamma()) / 2 * a.best / floats.Dot(a.x.Initial(), a.optimal)
	return mended(math.Inf(1), off(zeta, want), "as printed it depends on an s that nothing binds; with the maximum over s, u = 1 and the best ν, ζ = %.3g", zeta)
}

// checkConstraintCount: one constraint of measure ε that matters is missed by N samples
// with probability (1−ε)ᴺ. With (4.6) as printed that exceeds δ.
func checkConstraintCount(context.Context) (Finding, error) {
	const gamma, zeta, epsilon, delta = 0.9, 1.0, 0.1, 1e-300
	measure := (1 - gamma) * epsilon / (4 * zeta) // of constraints that may be violated
	missed := func(form mixpolicy.Form) float64 {
		return SampledConstraints(form, 1, 1, gamma, zeta, epsilon, delta) * math.Log1p(-measure)
	}
	printed, corrected := missed(mixpolicy.Printed), missed(mixpolicy.Corrected)
	return Finding{Printed: max(0, printed-math.Log(delta)), Corrected: max(0, corrected-math.Log(delta)), Tolerance: 0,
		Numbers: fmt.Sprintf("m = d = ζ = 1, γ = 0.9, ε = 0.1, δ = 10⁻³⁰⁰: a constraint of measure %.2g is missed with probability 10^%.0f as printed, 10^%.0f with ln(2/δ) in the bracket", measure, printed/math.Ln10, corrected/math.Ln10)}, nil
}

func checkReducedDirection(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	p := alp(a.x, a.features, allPairs(a.x))
	_, full, err := p.solve()
	if err != nil {
		return Finding{}, err
	}
	floats.Scale(-1, p.c)
	least, _, err := p.solve()
	if err != nil {
		return Finding{}, err
	}
	v := a.value(full)
	return mended(-least, excess(floats.Dot(a.x.Initial(), v), floats.Dot(a.x.Initial(), a.optimal)), "min αᵀΨν over the constraints is %v; max is %.4g, below αᵀv* = %.4g", least, floats.Dot(a.x.Initial(), v), floats.Dot(a.x.Initial(), a.optimal))
}

func checkReducedConstraints(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	nu, err := ApproximateLP(a.x, a.features, allPairs(a.x))
	if err != nil {
		return Finding{}, err
	}
	// c_a(s) − (Ψν)(s) + γP_a(s)Ψν is what an action is worse than v.
	q := make([]float64, a.x.Pairs())
	v := a.value(nu)
	a.x.ActionValues(q, v)
	var worst float64
	for i := range q {
		slack := a.x.Costs()[i] - floats.Dot(featureRow(a.x, a.features, i), nu)
		worst = max(worst, math.Abs(slack-(q[i]-v[i/a.x.Actions()]))/v[0])
	}
	return right(worst, "each row is a Bellman inequality of Ψν")
}

func checkSampledError(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	ones := make([]float64, a.x.States())
	floats.AddConst(1, ones)
	full, err := ApproximateLP(a.x, a.features, allPairs(a.x))
	if err != nil {
		return Finding{}, err
	}
	eta := SamplingDistribution(a.x, a.mu, ones)
	// Γ is a box about the approximate LP's solution; its worst error is at a corner, and
	// no constraint of it may be dropped.
	largest := 0.0
	const half = 5.0
	for s, f := range a.features {
		largest = max(largest, math.Abs(a.optimal[s]-floats.Dot(f, full))+half*sizeOf(f...))
	}
	const epsilon, delta = 0.05, 0.1
	zeta := SamplingConstant(a.x, ones, a.mu, a.optimal, largest)
	count := int(SampledConstraints(mixpolicy.Corrected, a.x.Actions(), 3, a.x.Gamma(), zeta, epsilon, delta))
	rhs := a.miss(a.value(full)) + epsilon*floats.Dot(a.x.Initial(), a.optimal)
	failures, few := 0, 0
	const trials = 20
	rng := rand.New(rand.NewPCG(49, 0))
	for trial := range 2 * trials {
		n := count
		if trial >= trials {
			n = 10 // far fewer than (4.6)
		}
		seen := map[int]bool{}
		for range min(n, 200_000) {
			u := rng.Float64()
			for i, p := range eta {
				if u -= p; u < 0 {
					seen[i] = true
					break
				}
			}
		}
		var pairs []int
		for i := range eta {
			if seen[i] {
				pairs = append(pairs, i)
			}
		}
		p := alp(a.x, a.features, pairs)
		for j := range full {
			unit := make([]float64, len(full))
			unit[j] = 1
			p.atMost(unit, full[j]+half)
			p.atLeast(unit, full[j]-half)
		}
		_, nu, err := p.solve()
		if err != nil {
			return Finding{}, err
		}
		if a.miss(a.value(nu)) > rhs {
			if trial < trials {
				failures++
			} else {
				few++
			}
		}
	}
	return Finding{Printed: math.Inf(1), Corrected: excess(float64(failures)/trials, delta), Tolerance: 0,
		Numbers: fmt.Sprintf("as printed both sides have the same vector, and nothing is said; with the full ALP's on the right it failed in %d of %d trials with %d constraints (δ = 0.1), and in %d with 10", failures, trials, count, few)}, nil
}

func checkSmoothedDirection(ctx context.Context) (Finding, error) {
	f, err := checkReducedDirection(ctx)
	f.Numbers = "the slack only adds feasible points: " + f.Numbers
	return f, err
}

func (a *approximation) smoothed() (nu, slack []float64, err error) {
	return SmoothedLP(a.x, a.features, a.mu, 2/(1-a.x.Gamma()))
}

func checkSmoothed(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	nu, slack, err := a.smoothed()
	if err != nil {
		return Finding{}, err
	}
	v := a.value(nu)
	next := make([]float64, len(v))
	a.x.Bellman(next, v)
	var worst float64
	for s := range v {
		worst = max(worst, (v[s]-next[s]-slack[s])/v[s], -slack[s])
	}
	// With no budget the slack is 0, and the problem is the ALP.
	hard, zero, err := SmoothedLP(a.x, a.features, a.mu, 1e6)
	if err != nil {
		return Finding{}, err
	}
	full, err := ApproximateLP(a.x, a.features, allPairs(a.x))
	if err != nil {
		return Finding{}, err
	}
	f, err := right(max(worst, floats.Max(zero), off(a.miss(a.value(hard)), a.miss(a.value(full)))), "s + 𝒮Ψν ⪰ Ψν with μᵀs = %.3g; with no budget it is the ALP", floats.Dot(a.mu, slack))
	f.Tolerance = 1e-7 // of a simplex method with prices up to 10⁶, whose reduced costs are met to 10⁻¹³
	return f, err
}

func checkSmoothedBound(ctx context.Context) (Finding, error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return Finding{}, err
	}
	nu, _, err := a.smoothed()
	if err != nil {
		return Finding{}, err
	}
	g := a.x.Gamma()
	lhs := a.miss(a.value(nu))
	bound := a.best * (1 + 2*(1+g)/(1-g))
	// As printed nothing binds s: with s fixed, a ν for which Ψν is v* there makes the
	// right side 0, whatever u is.
	f := a.features[0]
	fit := floats.ScaleTo(make([]float64, len(f)), a.optimal[0]/floats.Dot(f, f), f)
	free := math.Abs(a.optimal[0] - floats.Dot(f, fit))
	return mended(excess(lhs, free), excess(lhs, bound), "error %.4g ≤ %.4g with u = 1 and the maximum over s; as printed s is free, a ν that fits v* at one s makes the right side %.1g, and U has u ⪯ 1 where ⪰ 1 is meant", lhs, bound, free)
}

// checkTighter is the claim that (4.13) is tighter than (4.3): at u = 1, the coefficients
// of the same approximation error are 1 + 2(1+γ)/(1−γ) and 2/(1−γ).
func checkTighter(ctx context.Context) (smoothed, lyapunov float64, err error) {
	a, err := newApproximation(ctx)
	if err != nil {
		return 0, 0, err
	}
	g := a.x.Gamma()
	return a.best * (1 + 2*(1+g)/(1-g)), a.best * 2 / (1 - g), nil
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
