package paper

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

// section4 is the equations of section 4, on prior work, decided by exact linear programs
// on a small MDP.
var section4 = []Entry{
	{Number: "4.1a", What: "exact and approximate primal LP: objectives", Symbol: "mixpolicy/priorwork.objective", Errata: "cost-or-reward", check: checkALPDirection},
	{Number: "4.1b", What: "exact and approximate primal LP: v below its Bellman update", Symbol: "mixpolicy.MDP.Bellman", check: checkALPConstraint},
	{Number: "4.2", What: "loss of a policy by the distance of its value from the optimal one", Symbol: "mixpolicy/priorwork.WeightedError", check: checkPolicyLoss},
	{Number: "4.3", What: "error of the approximate LP by a Lyapunov function", Symbol: "mixpolicy/priorwork.Lyapunov.ALPBound", Errata: "lyapunov-indices", check: checkLyapunovBound},
	{Number: "4.4", What: "distribution for sampling constraints", Symbol: "mixpolicy/priorwork.Lyapunov.Sampling", Defines: true, check: checkSamplingDistribution},
	{Number: "4.5", What: "constant of the number of constraints", Symbol: "mixpolicy/priorwork.Lyapunov.Zeta", Errata: "lyapunov-indices", check: checkSamplingConstant},
	{Number: "4.6", What: "number of constraints to sample", Symbol: "mixpolicy/priorwork.CostSampleSize", Errata: "constraint-count", check: checkConstraintCount},
	{Number: "4.7", What: "LP with sampled constraints: objective", Symbol: "mixpolicy/priorwork.objective", Errata: "cost-or-reward", check: checkReducedDirection},
	{Number: "4.8", What: "LP with sampled constraints: the constraints", Symbol: "mixpolicy/priorwork.bellmanConstraints", check: checkReducedConstraints},
	{Number: "4.9", What: "error of the LP with sampled constraints", Symbol: "mixpolicy/priorwork.WeightedError", Errata: "same-vector", check: checkSampledError},
	{Number: "4.10", What: "smoothed ALP: objective", Symbol: "mixpolicy/priorwork.objective", Errata: "cost-or-reward", check: checkSmoothedDirection},
	{Number: "4.11", What: "smoothed ALP: constraints with slack", Symbol: "mixpolicy/priorwork.slack.tangent", check: checkSmoothed},
	{Number: "4.12", What: "smoothed ALP: budget of the slack", Symbol: "mixpolicy/priorwork.slack.tangent", check: checkSmoothed},
	{Number: "4.13", What: "error of the smoothed ALP", Symbol: "mixpolicy/priorwork.Lyapunov.SALPBound", Errata: "lyapunov-indices", check: checkSmoothedBound},
	{Number: "4.14", What: "penalty function of the dual ALP", Symbol: "mixpolicy/priorwork.dualALP.objective", Defines: true, check: checkDualALP},
	{Number: "4.15", What: "bound of the penalty method, with violations at price 1", Symbol: "mixpolicy/priorwork.dualALP.objective", Errata: "penalty-price", check: checkPenaltyBound},
	{Number: "4.16", What: "bound of the penalty method for mixtures, up to a constant C of its own", Symbol: "mixpolicy.penalty.Step", Defines: true, check: checkMixtureBound},
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
func newApproximation(ctx context.Context, x *mixpolicy.MDP, d int) *approximation {
	v, _ := optimalValue(ctx, x)
	a := &approximation{x: x, basis: mat.NewDense(x.States(), d, nil), optimal: v.Value, mu: must(x.Occupation(ctx, v.Policy)).State}
	rng := rand.New(rand.NewPCG(4, 0))
	for s := range x.States() {
		row := a.basis.RawRowView(s)
		row[0] = 1
		for j := 1; j < d; j++ {
			row[j] = rng.Float64()
		}
	}
	a.one = must(priorwork.NewLyapunov(x, mat.Col(nil, 0, a.basis)))
	a.best = a.bestFit(ctx, a.one.U)
	return a
}

func smallApproximation(ctx context.Context) *approximation {
	return newApproximation(ctx, must(smallMDP()), 3)
}

// smallALP is smallApproximation with the solution over all pairs.
func smallALP(ctx context.Context) (*approximation, *priorwork.Approximation) {
	a := smallApproximation(ctx)
	return a, a.alp(ctx)
}

// bestFit is min_ν max_s |v*(s) − (Φν)(s)|/u(s).
func (a *approximation) bestFit(ctx context.Context, u []float64) float64 {
	best, _, err := priorwork.BestFit(ctx, a.basis, a.optimal, u)
	noError(err)
	return best
}

// expected is αᵀv.
func (a *approximation) expected(v []float64) float64 { return floats.Dot(a.x.Initial(), v) }

// valueError is E_{s∼α}|v*(s) − v(s)|.
func (a *approximation) valueError(v []float64) float64 {
	return priorwork.WeightedError(a.x.Initial(), a.optimal, v)
}

// alp solves the approximate LP over all pairs.
func (a *approximation) alp(ctx context.Context) *priorwork.Approximation {
	return must(priorwork.ALP{Basis: a.basis}.Solve(ctx, a.x))
}

// smoothed solves the smoothed ALP with the penalty 2/(1−γ).
func (a *approximation) smoothed(ctx context.Context) *priorwork.Approximation {
	return must(priorwork.SALP{Basis: a.basis, Slack: a.mu, Penalty: priorwork.PublishedPenalty(a.x.Gamma())}.Solve(ctx, a.x))
}

// bellman returns 𝒮v.
func (a *approximation) bellman(v []float64) []float64 {
	next := make([]float64, len(v))
	a.x.Bellman(next, v)
	return next
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
		p.atLeast(unit(d+n, d+s), 0)
	}
	for i, c := range a.x.Costs() {
		row := append(a.row(i), make([]float64, n)...)
		row[d+i/a.x.Actions()] = -1
		p.atMost(row, c)
	}
	return p
}

// alpError compares the approximate LP with the simplex method, over all pairs and over some, with
// weights that are not α, in a box, and under average cost.
func (a *approximation) alpError(ctx context.Context) (worst float64) {
	rng := rand.New(rand.NewPCG(41, 0))
	for trial := range 12 {
		weights := a.x.Initial()
		var own []float64
		if trial%2 == 1 {
			weights = skewedMDP(0).Initial()
			own = weights
		}
		pairs, bound := rng.Perm(a.x.Pairs())[:12+trial], 2+float64(trial)
		p := &smallLP{c: make([]float64, 3)}
		for s, w := range weights {
			for j := range p.c {
				p.c[j] -= w * a.basis.At(s, j)
			}
		}
		for _, i := range pairs {
			p.atMost(a.row(i), a.x.Costs()[i])
		}
		for j := range p.c {
			p.atMost(unit(3, j), bound)
			p.atLeast(unit(3, j), -bound)
		}
		value, _ := p.solve()
		got := must(priorwork.ALP{Basis: a.basis, Weights: own, Pairs: pairs, Bound: bound}.Solve(ctx, a.x))
		worst = max(worst, relativeError(got.Objective, -value), relativeError(floats.Dot(weights, got.Value), -value))
	}
	// max g subject to g + (Φν)(s) − P_a(s)Φν ≤ c_a(s), for features without the constant.
	average := &approximation{x: must(a.x.WithCriterion(mixpolicy.AverageCost)), basis: mat.DenseCopyOf(a.basis)}
	for s := range a.x.States() {
		average.basis.Set(s, 0, rng.Float64())
	}
	p := &smallLP{c: []float64{-1, 0, 0, 0}}
	for i, c := range a.x.Costs() {
		p.atMost(append([]float64{1}, average.row(i)...), c)
	}
	value, _ := p.solve()
	got := must(priorwork.ALP{Basis: average.basis}.Solve(ctx, average.x))
	return max(worst, relativeError(got.Objective, -value), relativeError(got.Gain, -value))
}

func checkALPDirection(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	program := primalLP(a.x, mixpolicy.Corrected)
	value, _ := program.solve()
	floats.Scale(-1, program.c)
	least, _ := program.solve()
	want := a.expected(a.optimal)
	return holdsCorrected(-least, max(relativeError(-value, want), a.alpError(ctx)), "min αᵀv over 𝒮v ⪰ v is %v, max αᵀv is %.6g = αᵀv*", least, -value).within(valueTolerance)
}

func checkALPConstraint(ctx context.Context) Finding {
	a, full := smallALP(ctx)
	v := full.Value
	next := a.bellman(v)
	var worst float64
	for s := range v {
		worst = max(worst, (v[s]-next[s])/v[s], (v[s]-a.optimal[s])/v[s])
	}
	return holds(max(worst, bellmanError(a.x)), "the solution of the approximate LP has 𝒮v ⪰ v, and then v ⪯ v*, at %.6g of %.6g", a.expected(v), a.expected(a.optimal)).within(valueTolerance)
}

// checkALPFeasible is about the text after (4.1): feasible is said to be 𝒮v ⪰ c.
func checkALPFeasible(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	// c has nm entries and 𝒮v has n; the reading most in favour of the text takes the least of
	// each state's costs.
	next := a.bellman(a.optimal)
	triple := scaled(3, a.optimal)
	nextOfTriple := a.bellman(triple)
	var printed, corrected float64
	for s := range next {
		least := math.Inf(1)
		for b := range a.x.Actions() {
			least = min(least, a.x.Cost(s, b))
		}
		if nextOfTriple[s] >= least { // 3v* is feasible in this sense, and above v*
			printed = max(printed, excess(triple[s], a.optimal[s]))
		}
		corrected = max(corrected, math.Abs(next[s]-a.optimal[s])/a.optimal[s])
	}
	return holdsCorrected(printed, corrected, "3v* satisfies 𝒮v ⪰ c, and is no lower bound of v*; 𝒮v ⪰ v is what makes it one").within(valueTolerance)
}

// weightedError compares Σ w|v − v′| with a plain loop.
func weightedError() (worst float64) {
	rng := rand.New(rand.NewPCG(42, 0))
	for range 50 {
		w, v, v2 := normals(rng, 5), normals(rng, 5), normals(rng, 5)
		var want, size float64
		for s := range w {
			distance := v[s] - v2[s]
			if distance < 0 {
				distance = -distance
			}
			want += w[s] * distance
			size += math.Abs(w[s] * distance)
		}
		worst = max(worst, math.Abs(priorwork.WeightedError(w, v, v2)-want)/size)
	}
	return worst
}

// checkPolicyLoss: the printed inequality has v^π on both sides, and follows from μ^π ⪰ (1−γ)α.
// The cited theorem has v on the right, where π is the greedy policy of v.
func checkPolicyLoss(ctx context.Context) Finding {
	a, full := smallALP(ctx)
	v := full.Value
	pi := a.x.Greedy(v)
	q := must(a.x.Occupation(ctx, pi))
	own := must(mixpolicy.Evaluate(ctx, a.x, pi, mixpolicy.ValuationSettings{}))
	var lhs, printed, cited float64
	for s, w := range a.x.Initial() {
		lhs += w * (own.Value[s] - a.optimal[s])
		printed += q.State[s] * math.Abs(own.Value[s]-a.optimal[s]) / (1 - a.x.Gamma())
		cited += q.State[s] * math.Abs(v[s]-a.optimal[s]) / (1 - a.x.Gamma())
	}
	library := max(relativeError(priorwork.WeightedError(a.x.Initial(), own.Value, a.optimal), lhs),
		relativeError(priorwork.WeightedError(q.State, v, a.optimal)/(1-a.x.Gamma()), cited), weightedError())
	return holds(max(excess(lhs, printed), excess(lhs, cited), library), "greedy policy of the approximate LP: loss %.4g ≤ %.4g as printed, a consequence of μ ⪰ (1−γ)α; the cited theorem has v for v^π on the right, and gives %.4g", lhs, printed, cited)
}

// lyapunovError evaluates the right sides of (4.3) and (4.13) in plain loops for several Lyapunov
// functions in the span of the basis, and compares them with what a solution of the approximate LP,
// or of the smoothed one, errs by. Nil is neither.
func (a *approximation) lyapunovError(ctx context.Context, full, smoothed []float64) (worst float64) {
	rng := rand.New(rand.NewPCG(43, 0))
	gamma := a.x.Gamma()
	for range 20 {
		u := make([]float64, a.x.States())
		by := []float64{0.05 * rng.Float64(), 0.05 * rng.Float64()}
		for s := range u {
			u[s] = 1 + by[0]*a.basis.At(s, 1) + by[1]*a.basis.At(s, 2)
		}
		var beta, alphaU, muU float64
		for s, v := range u {
			alphaU += a.x.Initial()[s] * v
			muU += a.mu[s] * v
			for b := range a.x.Actions() {
				var next float64
				to, p := a.x.Next(s, b)
				for k, s2 := range to {
					next += p[k] * u[s2]
				}
				beta = max(beta, gamma*next/v)
			}
		}
		l, distance := must(priorwork.NewLyapunov(a.x, u)), a.bestFit(ctx, u)
		if full != nil {
			bound := 2 * alphaU / (1 - beta) * distance
			worst = max(worst, relativeError(l.ALPBound(a.x.Initial(), distance), bound), excess(a.valueError(full), bound))
		}
		if smoothed != nil {
			bound := distance * (alphaU + 2*muU*(1+beta)/(1-gamma))
			worst = max(worst, relativeError(l.SALPBound(a.x.Initial(), a.mu, gamma, distance), bound), excess(a.valueError(smoothed), bound))
		}
	}
	return worst
}

func checkLyapunovBound(ctx context.Context) Finding {
	a, full := smallALP(ctx)
	lhs, bound := a.valueError(full.Value), a.one.ALPBound(a.x.Initial(), a.best)
	// With the printed sum over s, β_u = γ max Σ_s P_a(s,s′), which is not below 1 here.
	var printed float64
	for b := range a.x.Actions() {
		ones := make([]float64, a.x.Pairs())
		for s := range a.x.States() {
			ones[a.x.Pair(s, b)] = 1
		}
		printed = max(printed, a.x.Gamma()*floats.Max(inflow(a.x, ones)))
	}
	return holdsCorrected(excess(printed, 1), max(excess(lhs, bound), a.lyapunovError(ctx, full.Value, nil)), "u = 1: error %.4g ≤ %.4g, with β_u = γ; the printed β_u sums over s and is %.3g > 1, and Ψu has no meaning for u ∈ ℝⁿ", lhs, bound, printed)
}

func checkSamplingDistribution(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	u := []float64{1, 1.1, 1.02, 1, 1.07, 1.04, 1.1, 1}
	eta := must(must(priorwork.NewLyapunov(a.x, u)).Sampling(a.x, a.mu))
	worst := relativeError(floats.Sum(eta), 1)
	if _, err := a.one.Sampling(a.x, scaled(2, a.mu)); err == nil { // no distribution over states
		worst = math.Inf(1)
	}
	for i := range eta {
		s := i / a.x.Actions()
		worst = max(worst, relativeError(eta[i]/eta[0], a.mu[s]*u[s]/(a.mu[0]*u[0])))
	}
	return holds(worst, "adds up to 1, in proportion to μ(s)u(s)")
}

func checkSamplingConstant(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	// Γ = {‖ν‖_∞ ≤ 1}. The supremum is at a corner: computed by a norm, and over all corners.
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
	// And for a u that is not constant.
	u := []float64{1, 1.1, 1.02, 1, 1.07, 1.04, 1.1, 1}
	l := must(priorwork.NewLyapunov(a.x, u))
	var muU, alphaV float64
	for s, v := range a.optimal {
		muU += a.mu[s] * u[s]
		alphaV += a.x.Initial()[s] * v
	}
	other := relativeError(l.Zeta(a.x.Initial(), a.mu, a.optimal, 3), 1.5*(1+l.Beta)*muU/alphaV)
	return holdsCorrected(relativeError(least, most), max(relativeError(most, want), other), "as printed it depends on an s that nothing binds: u = 1 and ‖ν‖_∞ ≤ 1 give from %.4g to %.4g; with the maximum over s, ζ = %.4g", least, most, most)
}

// checkConstraintCount: N samples miss a constraint of measure ε with probability (1−ε)ᴺ. With
// (4.6) as printed, ln(2/δ) outside of the product, that exceeds δ.
func checkConstraintCount(context.Context) Finding {
	const gamma, zeta, epsilon, delta = 0.9, 1.0, 0.1, 1e-300
	measure := (1 - gamma) * epsilon / (4 * zeta) // of constraints that may be violated
	outside := 4/measure*math.Log(12/measure) + math.Log(2/delta)
	printed := outside * math.Log1p(-measure)
	corrected := priorwork.CostSampleSize(1, 1, zeta, gamma, epsilon, delta) * math.Log1p(-measure)
	var library float64
	rng := rand.New(rand.NewPCG(46, 0))
	for range 100 {
		d, m, zeta, gamma, epsilon, delta := 1+rng.IntN(9), 1+rng.IntN(9), 10*rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()
		many := 16 * float64(m) * zeta / ((1 - gamma) * epsilon)
		want := many*float64(d)*math.Log(3*many) + many*math.Log(2/delta)
		if many <= 4 { // the measure is 1 or more
			want = 0
		}
		library = max(library, relativeError(priorwork.CostSampleSize(d, m, zeta, gamma, epsilon, delta), want))
	}
	if library > rounding {
		corrected = math.Inf(1)
	}
	return holdsCorrected(max(0, printed-math.Log(delta)), max(0, corrected-math.Log(delta)),
		"m = d = ζ = 1, γ = 0.9, ε = 0.1, δ = 10⁻³⁰⁰: a constraint of measure %.2g is missed with probability 10^%.0f as printed, 10^%.0f with ln(2/δ) in the bracket", measure, printed/math.Ln10, corrected/math.Ln10).within(0)
}

func checkReducedDirection(ctx context.Context) Finding {
	a, full := smallALP(ctx)
	p := a.program()
	value, _ := p.solve()
	floats.Scale(-1, p.c)
	least, _ := p.solve()
	return holdsCorrected(-least, max(relativeError(-value, full.Objective), excess(full.Objective, a.expected(a.optimal)), a.alpError(ctx)),
		"min αᵀΨν over the constraints is %v; max is %.4g, below αᵀv* = %.4g", least, full.Objective, a.expected(a.optimal)).within(valueTolerance)
}

func checkReducedConstraints(ctx context.Context) Finding {
	a, full := smallALP(ctx)
	// c_a(s) − (Ψν)(s) + γP_a(s)Ψν is how much worse than v an action is.
	q := make([]float64, a.x.Pairs())
	v := full.Value
	a.x.ActionValues(q, v)
	var worst float64
	for i := range q {
		slack := a.x.Costs()[i] - floats.Dot(a.row(i), full.Nu)
		worst = max(worst, math.Abs(slack-(q[i]-v[i/a.x.Actions()]))/v[0])
	}
	return holds(max(worst, a.alpError(ctx)), "each row is a Bellman inequality of Ψν")
}

func checkSampledError(ctx context.Context) Finding {
	a, full := smallALP(ctx)
	// Γ = {‖ν‖_∞ ≤ bound} holds the solution; its worst error is at a corner.
	bound, largest := 10*floats.Norm(full.Nu, math.Inf(1)), 0.0
	for s := range a.optimal {
		largest = max(largest, a.optimal[s]+bound*floats.Norm(a.basis.RawRowView(s), 1))
	}
	const epsilon, delta = 0.05, 0.1
	zeta := a.one.Zeta(a.x.Initial(), a.mu, a.optimal, largest)
	count := int(priorwork.CostSampleSize(3, a.x.Actions(), zeta, a.x.Gamma(), epsilon, delta))
	rhs := a.valueError(full.Value) + epsilon*a.expected(a.optimal)
	table := must(alias.New(must(a.one.Sampling(a.x, a.mu))))
	const trials = 20
	rng := rand.NewPCG(49, 0)
	random := rand.New(rand.NewPCG(49, 1))
	failures := func(draws int) (n int) {
		for range trials {
			seen := make([]bool, a.x.Pairs())
			for range min(draws, 200_000) { // by then all pairs were drawn
				seen[table.Draw(rng)] = true
			}
			var pairs []int
			for i := range seen {
				if seen[i] {
					pairs = append(pairs, i)
				}
			}
			sampled := must(priorwork.ALP{Basis: a.basis, Pairs: pairs, Bound: bound}.Solve(ctx, a.x))
			if !(a.valueError(sampled.Value) <= rhs) {
				n++
			}
		}
		return n
	}
	enough, few := failures(count), failures(10)
	// Which ν̂ of Γ contradict the printed form, with ν̂ on both sides, and the corrected one?
	const conceivable = 200
	var printed, corrected int
	for range conceivable {
		v := make([]float64, a.x.States())
		nu := []float64{bound * (2*random.Float64() - 1), bound * (2*random.Float64() - 1), bound * (2*random.Float64() - 1)}
		for s := range v {
			v[s] = floats.Dot(a.basis.RawRowView(s), nu)
		}
		if e := a.valueError(v); e > e+epsilon*a.expected(a.optimal) {
			printed++
		} else if e > rhs {
			corrected++
		}
	}
	return holdsCorrected(saysNothing(printed), max(saysNothing(corrected), excess(float64(enough)/trials, delta), excess(weightedError(), rounding)),
		"of %d conceivable ν̂ %d contradict the printed form, with ν̂ on both sides, and %d the one with the full ALP's ν* on the right; that failed in %d of %d trials with %d constraints (δ = 0.1), and in %d with 10", conceivable, printed, corrected, enough, trials, count, few).within(0)
}

func checkSmoothedDirection(ctx context.Context) Finding {
	f := checkReducedDirection(ctx)
	f.Numbers = "the slack only adds feasible points: " + f.Numbers
	return f
}

// smoothedError compares the smoothed ALP with the simplex method, for several penalties, budgets
// and weights.
func (a *approximation) smoothedError(ctx context.Context) (worst float64) {
	b := *a
	for _, mu := range [][]float64{a.mu, skewedMDP(0).Initial()} {
		b.mu = mu
		used := func(v []float64) (total float64) {
			for s, next := range bellmanUpdate(b.x, v) {
				total += mu[s] * max(0, v[s]-next)
			}
			return total
		}
		for _, penalty := range []float64{1.5, 5, 20, 100} {
			value, _ := b.smoothedProgram(penalty).solve()
			if math.IsInf(value, -1) {
				if _, err := (priorwork.SALP{Basis: b.basis, Slack: mu, Penalty: penalty}.Solve(ctx, b.x)); err == nil {
					worst = math.Inf(1)
				}
				continue
			}
			got := must(priorwork.SALP{Basis: b.basis, Slack: mu, Penalty: penalty}.Solve(ctx, b.x))
			worst = max(worst, relativeError(got.Objective-penalty*used(got.Value), -value), relativeError(got.Objective, b.expected(got.Value)), math.Abs(got.Gap/value))
		}
		for _, budget := range []float64{0, 0.003, 0.05, 1} {
			p := b.smoothedProgram(0)
			p.atMost(append(make([]float64, 3), mu...), budget)
			value, _ := p.solve()
			got := must(priorwork.SALP{Basis: b.basis, Slack: mu, Budget: budget}.Solve(ctx, b.x))
			worst = max(worst, relativeError(got.Objective, -value), excess(used(got.Value), budget+valueTolerance), math.Abs(got.Gap/value))
		}
	}
	return worst
}

func checkSmoothed(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	penalty, penalised := priorwork.PublishedPenalty(a.x.Gamma()), a.smoothed(ctx)
	slack := func(v []float64) (total float64) { // μᵀs for the least s with s + 𝒮v ⪰ v
		for s, next := range a.bellman(v) {
			total += a.mu[s] * max(0, v[s]-next)
		}
		return total
	}
	budget := slack(penalised.Value)
	value, _ := a.smoothedProgram(penalty).solve()
	worst := relativeError(penalised.Objective-penalty*budget, -value)
	// The solution with the penalty is that with its own slack as budget, and with the budget 0
	// it is the ALP.
	for _, c := range []struct{ budget, objective float64 }{{budget, penalised.Objective}, {0, a.alp(ctx).Objective}} {
		budgeted := must(priorwork.SALP{Basis: a.basis, Slack: a.mu, Budget: c.budget}.Solve(ctx, a.x))
		worst = max(worst, relativeError(budgeted.Objective, c.objective), (slack(budgeted.Value)-c.budget)/a.optimal[0])
	}
	return holds(max(worst, a.smoothedError(ctx)), "with penalty 2/(1−γ) the slack is μᵀs = %.3g, and a budget of that gives the same; with no budget it is the ALP", budget).within(valueTolerance)
}

func checkSmoothedBound(ctx context.Context) Finding {
	a := smallApproximation(ctx)
	lhs := a.valueError(a.smoothed(ctx).Value)
	bound := a.one.SALPBound(a.x.Initial(), a.mu, a.x.Gamma(), a.best)
	// As printed nothing binds s: at a fixed s, a ν with (Ψν)(s) = v*(s) makes the right side 0,
	// whatever u is.
	f := a.basis.RawRowView(0)
	free := math.Abs(a.optimal[0] - floats.Dot(f, scaled(a.optimal[0]/floats.Dot(f, f), f)))
	return holdsCorrected(excess(lhs, free), max(excess(lhs, bound), a.lyapunovError(ctx, nil, a.smoothed(ctx).Value)), "error %.4g ≤ %.4g with u = 1 and the maximum over s; as printed s is free, a ν that fits v* at one s makes the right side %.1g, and U has u ⪯ 1 where ⪰ 1 is meant", lhs, bound, free)
}

// penaltyError compares f_ω with plain loops, for features that are no occupation measures.
func penaltyError(m priorwork.DualALP) (worst float64) {
	rng, x := rand.New(rand.NewPCG(414, 0)), skewedMDP(0)
	for _, y := range []*mixpolicy.MDP{x, must(x.WithCriterion(mixpolicy.AverageCost))} {
		var columns [][]float64
		for range 3 {
			c := exponentials(rng, y.Pairs())
			columns = append(columns, scaled(1/floats.Sum(c), c))
		}
		p := must(mixpolicy.NewProblem(must(mixpolicy.FeaturesFromColumns(y, columns...)), mixpolicy.Ball(2)))
		weight, scale := m.Weight, m.CostScale
		if weight == 0 {
			weight = 1
		}
		if scale == 0 {
			scale = 1
		}
		for range 50 {
			theta := normals(rng, 3)
			xi := make([]float64, y.Pairs())
			for j, c := range columns {
				floats.AddScaled(xi, theta[j], c)
			}
			cost := floats.Dot(y.Costs(), xi) / scale
			negative, flow := weight*negativeParts(xi)[0], weight*flowResidual(y, xi)
			worst = max(worst, math.Abs(must(m.Objective(p, theta))-(cost+negative+flow))/sizeOf(cost, negative, flow))
		}
	}
	return worst
}

// checkDualALP: (4.14) is of a paper on average cost, where ‖θᵀΨᵀ(P−Q)‖₁ is the right flow. The
// features are discounted measures, whose flow is not 0.
func checkDualALP(context.Context) Finding {
	p, theta, xi := smallTheta()
	x := must(p.MDP().WithCriterion(mixpolicy.AverageCost))
	columns := make([][]float64, p.Dim())
	for j := range columns {
		columns[j] = p.Features().Column(j)
	}
	average := must(mixpolicy.NewProblem(must(mixpolicy.FeaturesFromColumns(x, columns...)), p.Class()))
	const omega = 3
	f := must(priorwork.DualALP{Weight: omega}.Objective(average, theta))
	flow := averageFlow(x, xi)
	want := p.Objective(theta) + omega*p.NegativeMass(theta) + omega*flow
	return holds(max(relativeError(f, want), penaltyError(priorwork.DualALP{Weight: 0.3, CostScale: 4})), "ω = 3, average cost: cᵀΨθ + ω‖[Ψθ]₋‖₁ + ω‖θᵀΨᵀ(P−Q)‖₁ = %.6g, of which the flow is %.3g", want, omega*flow)
}

func checkPenaltyBound(ctx context.Context) Finding {
	p := must(QueueProblem(mixpolicy.Ball(100)))
	best := must(p.Optimum(ctx))
	v, _ := optimalValue(ctx, p.MDP())
	price := floats.Max(multipliersOf(p, best))
	least := func(omega float64) float64 {
		return minimumOnLine(p, func(theta []float64) float64 { return p.Objective(theta) + omega*p.NegativeMass(theta) })
	}
	free, exact := least(1), least(price)
	// The left side is the cost of a policy, and none costs less than v.Cost(). The search stops at
	// neighbouring numbers, at slopes of 10⁵: hence the tolerance 10⁻⁶.
	// At price 1 the right side is f_ω of (4.14) for ω = 1.
	return holdsCorrected((v.Cost()-free)/math.Abs(free), max(relativeError(exact, best.Objective), penaltyError(priorwork.DualALP{}), penaltyError(priorwork.DualALP{Weight: 0.3, CostScale: 4})), "queue, R = 100: with V₁ at price 1 the right side is %.4g, and no policy costs less than %.4g; at the price ‖λ*‖_∞ = %.3g it is the optimum %.5g", free, v.Cost(), price, exact).within(1e-6)
}

// penaltyMethodError compares the method of which (4.16) speaks with plain loops, with the same draws:
// θ ← Π(θ − ηĝ), ĝ = (c − ω1{Ψ_a(s)θ < 0})Ψ_a(s)/q, and the average of θ.
func penaltyMethodError() (worst float64) {
	for _, m := range []mixpolicy.Penalty{{Weight: 0.5, CostScale: 1}, {Weight: 3, StepSize: mixpolicy.InverseSqrt(2), CostScale: 2}} {
		for _, radius := range []float64{2, 0.7} { // the second is met by most steps
			p := must(smallProblem(mixpolicy.Ball(radius)))
			eta, weight, scale := 1., m.Weight, m.CostScale
			if m.StepSize != nil {
				eta = 2
			}
			theta, sum, total := []float64{1. / 3, 1. / 3, 1. / 3}, make([]float64, 3), 0.0
			run, draws := must(m.Start(p, must(mixpolicy.NewOracle(p, 416, 0)))), must(mixpolicy.NewOracle(p, 416, 0))
			var s mixpolicy.Snapshot
			for t := range 60 {
				pair, cost := draws.Sample()
				var q, inner float64
				for j, v := range theta {
					psi := p.Features().Column(j)[pair]
					q, inner = q+psi/3, inner+psi*v
				}
				slope := cost / scale
				if inner < 0 {
					slope -= weight
				}
				step := eta / math.Sqrt(float64(t+1))
				floats.AddScaled(sum, step, theta)
				total += step
				for j := range theta {
					theta[j] -= step * slope * p.Features().Column(j)[pair] / q
				}
				// The section of the ball by 1ᵀθ = 1 is a ball about 1/d of radius √(R² − 1/d).
				w := shifted(theta, -floats.Sum(theta)/3)
				if length, most := floats.Norm(w, 2), math.Sqrt(radius*radius-1./3); length > most {
					floats.Scale(most/length, w)
				}
				theta = shifted(w, 1./3)
				noError(run.Step())
				noError(run.View(&s))
				worst = max(worst, relativeVectorError(s.Last, theta), relativeVectorError(s.Average, scaled(1/total, sum)))
			}
		}
	}
	return worst
}

// checkMixtureBound: with C = c_max the constant term alone exceeds any cost, and nothing could
// contradict it.
func checkMixtureBound(context.Context) Finding {
	p := must(smallProblem(mixpolicy.Ball(2)))
	x := p.MDP()
	_, top := x.CostRange()
	constant := 6 * math.Sqrt(float64(x.Actions())) * top * p.Class().R / (1 - x.Gamma())
	// cᵀΨθ ≥ −c_max‖θ‖₁ ≥ −c_max√d R for any θ of the class.
	least := -top * math.Sqrt(float64(p.Dim())) * p.Class().R
	return holds(max(excess(top, constant+least), penaltyMethodError()), "C is not defined: with C = c_max its constant term is %.4g, less at most %.3g, and no policy costs more than %.3g", constant, -least, top)
}
