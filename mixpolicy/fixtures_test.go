package mixpolicy_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

const u = 0x1p-53 // unit roundoff

// failer is what testing.T and rapid.T have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// inTest is a failer with the context of its test.
type inTest interface {
	failer
	Context() context.Context
}

// solve runs a method that must not fail.
func solve(t inTest, p *mixpolicy.Problem, m mixpolicy.Method, set mixpolicy.Settings) *mixpolicy.Result {
	return mixpolicy.Must(mixpolicy.Solve(t.Context(), p, m, set))
}

// occupation computes a measure, which must not fail.
func occupation(t inTest, x *mixpolicy.MDP, p *mixpolicy.Policy, set mixpolicy.MeasureSettings) *mixpolicy.Measure {
	return mixpolicy.Must(mixpolicy.Occupation(t.Context(), x, p, set))
}

// valuationMethod is one of the three ways to find an optimal policy.
type valuationMethod struct {
	name string
	run  func(context.Context, *mixpolicy.MDP, mixpolicy.ValuationSettings) (*mixpolicy.Valuation, error)
}

var valuationMethods = []valuationMethod{
	{"value iteration", mixpolicy.ValueIteration},
	{"modified policy iteration", mixpolicy.ModifiedPolicyIteration},
	{"policy iteration", mixpolicy.PolicyIteration},
}

// criteria cover little, strong and no discounting.
var criteria = []mixpolicy.Criterion{
	mixpolicy.Discounted(0.3), mixpolicy.Discounted(0.9), mixpolicy.Discounted(0.999), mixpolicy.AverageCost,
}

// drawDistribution draws k multiples of 1/64 that add up to 1. Some of them may be 0.
// The multiple at index sure is at least least/64.
func drawDistribution(t *rapid.T, k, sure, least int, name string) []float64 {
	units := make([]int, k)
	units[sure] = least
	for left := 64 - least; left > 0; {
		share := rapid.IntRange(1, left).Draw(t, name+" share")
		units[rapid.IntRange(0, k-1).Draw(t, name+" at")] += share
		left -= share
	}
	p := make([]float64, k)
	for i, v := range units {
		p[i] = float64(v) / 64
	}
	return p
}

// drawMDP draws a small MDP. Every row gives at least 1/16 to one common state, so all
// policies have one recurrent class, which is aperiodic, and chains mix in about 16 steps.
func drawMDP(t *rapid.T, criterion mixpolicy.Criterion) *mixpolicy.MDP {
	n, m := rapid.IntRange(1, 5).Draw(t, "states"), rapid.IntRange(1, 3).Draw(t, "actions")
	common := rapid.IntRange(0, n-1).Draw(t, "common")
	cost := rapid.SliceOfN(rapid.Float64Range(-10, 10), n*m, n*m).Draw(t, "costs")
	p := make([][]float64, n*m)
	for i := range p {
		p[i] = drawDistribution(t, n, common, 4, "P")
	}
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: m, Criterion: criterion, Initial: drawDistribution(t, n, 0, 0, "α"),
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			return cost[s*m+a], dense(p[s*m+a])
		},
	}))
}

type transitions = []mixpolicy.Transition

// dense returns the transitions of a full row of P.
func dense(p []float64) (next transitions) {
	for s, v := range p {
		next = append(next, mixpolicy.Transition{To: s, P: v})
	}
	return next
}

// priced returns x with each cost c replaced by other(c).
func priced(x *mixpolicy.MDP, other func(cost float64) float64) *mixpolicy.MDP {
	costs := slices.Clone(x.Costs())
	for i, c := range costs {
		costs[i] = other(c)
	}
	return mixpolicy.Must(x.WithCosts(costs))
}

func drawCriterion(t *rapid.T) mixpolicy.Criterion {
	return rapid.SampledFrom(criteria).Draw(t, "criterion")
}

func drawPolicy(t *rapid.T, x *mixpolicy.MDP) *mixpolicy.Policy {
	var prob []float64
	for range x.States() {
		prob = append(prob, drawDistribution(t, x.Actions(), 0, 0, "π")...)
	}
	return mixpolicy.Must(mixpolicy.NewPolicy(x, prob))
}

// drawFeatures returns the Ψ of d random policies, 1 ≤ d ≤ most, with different measures.
func drawFeatures(t *rapid.T, x *mixpolicy.MDP, most int) *mixpolicy.Features {
	var policies []*mixpolicy.Policy
	for range rapid.IntRange(1, most).Draw(t, "d") {
		policies = append(policies, drawPolicy(t, x))
	}
	return withoutCopies(t, x, policies)
}

// withoutCopies returns Ψ of the policies, but skips every policy that has the measure of an earlier policy.
func withoutCopies(t *rapid.T, x *mixpolicy.MDP, policies []*mixpolicy.Policy) (f *mixpolicy.Features) {
	var base []*mixpolicy.Policy
	for _, p := range policies {
		if g, err := mixpolicy.NewFeatures(t.Context(), x, append(base, p)...); err == nil {
			f, base = g, append(base, p)
		} else if len(base) == 0 || !strings.Contains(err.Error(), "same occupation measure") {
			t.Fatal(err)
		}
	}
	return f
}

// rowOf returns P_a(s, ·) in full.
func rowOf(x *mixpolicy.MDP, s, a int) []float64 {
	row := make([]float64, x.States())
	to, p := x.Next(s, a)
	for k, s2 := range to {
		row[s2] = p[k]
	}
	return row
}

// denseChain returns P^π by its definition, P^π(s,s′) = Σ_a π_a(s) P_a(s,s′).
func denseChain(x *mixpolicy.MDP, p *mixpolicy.Policy) *mat.Dense {
	c := mat.NewDense(x.States(), x.States(), nil)
	for s := range x.States() {
		for a := range x.Actions() {
			floats.AddScaled(c.RawRowView(s), p.Prob(s, a), rowOf(x, s, a))
		}
	}
	return c
}

// luMeasure returns μ^π by a dense LU decomposition: the reference for everything that
// computes measures.
func luMeasure(t failer, x *mixpolicy.MDP, p *mixpolicy.Policy) []float64 {
	t.Helper()
	n := x.States()
	a, b := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	chain := denseChain(x, p)
	for s := range n { // equation of state s: μ(s) − γ Σ μ(s′)P(s′,s) = (1−γ)α(s)
		for s2 := range n {
			a.Set(s, s2, -x.Gamma()*chain.At(s2, s))
		}
		a.Set(s, s, a.At(s, s)+1)
		b.SetVec(s, (1-x.Gamma())*x.Initial()[s])
	}
	if x.Criterion().Average() { // one equation is redundant: Σ μ = 1 replaces the last
		for s := range n {
			a.Set(n-1, s, 1)
		}
		b.SetVec(n-1, 1)
	}
	mu := mat.NewVecDense(n, nil)
	if err := mu.SolveVec(a, b); err != nil {
		t.Fatalf("dense solve: %v", err)
	}
	return mu.RawVector().Data
}

// luTolerance bounds the error of luMeasure on drawMDP's chains. For LU with pivoting, this
// is n³u times the growth factor, hardly ever above 4, times the condition number. The condition
// number is at most (1+γ)/(1−γ) ≤ 2·1000, or, for average cost, 2·16·n, because chains mix in
// about 16 steps.
const luTolerance = 5 * 5 * 5 * 4 * 2000 * u

func close1(a, b []float64) float64 { return floats.Distance(a, b, 1) }

func costOf(x *mixpolicy.MDP, p *mixpolicy.Policy, mu []float64) float64 {
	var total float64
	for s, w := range mu {
		for a := range x.Actions() {
			total += w * p.Prob(s, a) * x.Cost(s, a)
		}
	}
	return total
}

// eachDeterministic calls f with every deterministic policy of x.
func eachDeterministic(x *mixpolicy.MDP, f func(*mixpolicy.Policy)) {
	actions := make([]int, x.States())
	for {
		f(mixpolicy.Must(mixpolicy.Deterministic(x, actions)))
		s := 0
		for s < len(actions) && actions[s] == x.Actions()-1 {
			actions[s] = 0
			s++
		}
		if s == len(actions) {
			return
		}
		actions[s]++
	}
}

// wantError checks that the text of err contains every part.
func wantError(t failer, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want an error that contains %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not contain %q", err, part)
		}
	}
}

// chain returns an MDP with one action, costs 0 and the given rows of P.
func chain(p ...[]float64) *mixpolicy.MDP {
	return walk(len(p), mixpolicy.AverageCost, func(s int) transitions { return dense(p[s]) })
}

// walk returns an MDP with one action, costs 0 and the transitions next(s) from s.
func walk(n int, c mixpolicy.Criterion, next func(s int) transitions) *mixpolicy.MDP {
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: 1, Criterion: c,
		Dynamics: func(s, _ int) (float64, transitions) { return 0, next(s) },
	}))
}

// flip is the chain 0 → 1 → 0 with period 2 and costs 0, 1.
func flip() *mixpolicy.MDP {
	return mixpolicy.Must(chain([]float64{0, 1}, []float64{1, 0}).WithCosts([]float64{0, 1}))
}

// islands is a chain with the recurrent classes {a, b} and {d}; c is transient.
func islands(criterion mixpolicy.Criterion) *mixpolicy.MDP {
	rows := [][]float64{{0, 1, 0, 0}, {1, 0, 0, 0}, {.5, 0, 0, .5}, {0, 0, 0, 1}}
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 4, Actions: 1, Criterion: criterion,
		Dynamics:   func(s, _ int) (float64, transitions) { return float64(s), dense(rows[s]) },
		StateLabel: func(s int) string { return string(rune('a' + s)) },
	}))
}

// queue returns (2.18) for the queue of section 6 with the given buffer.
func queue(tb testing.TB, buffer int, class mixpolicy.Class) *mixpolicy.Problem {
	tb.Helper()
	q := models.Queue{Buffer: buffer}
	x := mixpolicy.Must(q.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(tb.Context(), x, mixpolicy.Must(q.Policies(x))...))
	return mixpolicy.Must(mixpolicy.NewProblem(psi, class))
}

// start starts a method on stream 0 of seed 1.
func start(tb testing.TB, p *mixpolicy.Problem, m mixpolicy.Method) mixpolicy.Run {
	tb.Helper()
	return mixpolicy.Must(m.Start(p, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))))
}

// advance takes n steps.
func advance(m mixpolicy.Run, n int) {
	for range n {
		mixpolicy.Must(0, m.Step())
	}
}

// view returns the state of a run.
func view(tb failer, m mixpolicy.Run) (s mixpolicy.Snapshot) {
	tb.Helper()
	if err := m.View(&s); err != nil {
		tb.Fatalf("%v", err)
	}
	return s
}

// cMax is the greatest cost of the queue, 100² + 60·0.8³.
const cMax = 100*100 + 60*0.8*0.8*0.8

// geometricProblem returns a problem with one action, costs that rise with the state, and
// d measures on n states: the uniform distribution and d−1 geometric distributions, which are
// the measures of birth–death chains.
func geometricProblem(tb testing.TB, n, d int) *mixpolicy.Problem {
	x := walk(n, mixpolicy.AverageCost, func(s int) transitions { return transitions{{To: (s + 1) % n, P: 1}} })
	cost := make([]float64, n)
	for s := range cost {
		cost[s] = float64(s) / float64(n)
	}
	x = mixpolicy.Must(x.WithCosts(cost))
	columns := make([][]float64, d)
	for j := range columns {
		columns[j] = make([]float64, n)
		for s := range columns[j] {
			columns[j][s] = math.Pow(1-float64(5*j)/float64(n*d), float64(s))
		}
		floats.Scale(1/floats.Sum(columns[j]), columns[j])
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...)), mixpolicy.Ball(2)))
}
