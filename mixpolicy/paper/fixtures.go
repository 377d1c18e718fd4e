package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// smallMDP is a discounted process so small that linear programs over all its pairs are solved exactly: 8 states, 3
// actions, γ = 0.9, costs in [0, 1).
func smallMDP() *mixpolicy.MDP { return garnet(1) }

func garnet(seed uint64) *mixpolicy.MDP {
	return must(models.Garnet{States: 8, Actions: 3, Branches: 4, Seed: seed, Ring: true, Criterion: mixpolicy.Discounted(0.9)}.MDP())
}

// smallPolicies returns three random policies of a process.
func smallPolicies(x *mixpolicy.MDP) []*mixpolicy.Policy {
	rng := rand.New(rand.NewPCG(1, 1))
	return []*mixpolicy.Policy{randomPolicy(x, rng), randomPolicy(x, rng), randomPolicy(x, rng)}
}

// inflow returns ξᵀP, the flow into each state.
func inflow(x *mixpolicy.MDP, xi []float64) []float64 {
	in := make([]float64, x.States())
	for i, v := range xi {
		to, p := x.Next(i/x.Actions(), i%x.Actions())
		for k, s := range to {
			in[s] += v * p[k]
		}
	}
	return in
}

// nextStates returns μP^π.
func nextStates(x *mixpolicy.MDP, p *mixpolicy.Policy, mu []float64) []float64 {
	var xi []float64
	for s, m := range mu {
		xi = append(xi, scaled(m, p.Row(s))...)
	}
	return inflow(x, xi)
}

// draws calls the function draw n times, and returns the results; normals and exponentials return n normal and n
// exponential numbers.
func draws[T any](n int, draw func() T) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = draw()
	}
	return x
}

// mapped applies f to each element; expected returns E f(X) for a random X that takes the value x[i] with probability
// chances[i].
func mapped[T, U any](all []T, f func(T) U) (x []U) {
	for _, v := range all {
		x = append(x, f(v))
	}
	return x
}

func expected(chances, x []float64, f func(float64) float64) float64 {
	return floats.Dot(chances, mapped(x, f))
}

func normals(rng *rand.Rand, n int) []float64      { return draws(n, rng.NormFloat64) }
func exponentials(rng *rand.Rand, n int) []float64 { return draws(n, rng.ExpFloat64) }

// randomPolicy returns a policy with probabilities proportional to 0.1 plus an exponential number.
func randomPolicy(x *mixpolicy.MDP, rng *rand.Rand) *mixpolicy.Policy {
	return must(mixpolicy.PolicyFunc(x, func(_ int, row []float64) {
		for a := range row {
			row[a] = 0.1 + rng.ExpFloat64()
		}
		floats.Scale(1/floats.Sum(row), row)
	}))
}

// smallProblem is (2.18) for smallMDP and three random policies.
func smallProblem(class mixpolicy.Class) *mixpolicy.Problem {
	x := smallMDP()
	return mixtureProblem(x, class, smallPolicies(x)...)
}

// negativeProblem returns smallProblem with 1 subtracted from every cost, and the constants of this problem.
func negativeProblem() (*mixpolicy.Problem, *theory.Constants) {
	x := negativeCosts()
	p := mixtureProblem(x, mixpolicy.Ball(2), smallPolicies(x)...)
	return p, must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 20, CostScale: 1}))
}

// smallOptimum is smallProblem with its solution.
func smallOptimum(class mixpolicy.Class) (*mixpolicy.Problem, *linprog.Solution) {
	p := smallProblem(class)
	return p, must(p.Optimum(context.Background()))
}

// smallMeasure returns smallMDP, the first of its smallPolicies, and the occupation measure of this policy.
func smallMeasure() (*mixpolicy.MDP, *mixpolicy.Policy, *mixpolicy.Measure) {
	x := smallMDP()
	pi := smallPolicies(x)[0]
	return x, pi, must(x.Occupation(context.Background(), pi))
}

// smallTheta returns smallProblem, a θ with 1ᵀθ = 1 and a negative coefficient, and Ψθ.
func smallTheta() (p *mixpolicy.Problem, theta, xi []float64) {
	p = smallProblem(mixpolicy.Ball(2))
	theta = []float64{1.5, 0.3, -0.8}
	return p, theta, combination(p, theta)
}

// cMax is the greatest cost (6.2) of the queue, 100² + 60·0.8³.
const cMax = 100*100 + 60*0.8*0.8*0.8

// Queue returns the queue of section 6, in the default interpretation of the transition law (6.1), and the two base
// policies (6.3).
func Queue() (x *mixpolicy.MDP, base []*mixpolicy.Policy, err error) {
	defer catch(&err)
	x, base = queueModel()
	return x, base, nil
}

// queueModel is like [Queue], for use inside a check: an error ends the check.
func queueModel() (*mixpolicy.MDP, []*mixpolicy.Policy) {
	x := must(models.Queue{}.MDP())
	return x, must(models.Queue{}.Policies(x))
}

// QueueProblem returns the problem (2.18) with the queue and the base policies of [Queue], and with the given class.
func QueueProblem(class mixpolicy.Class) (p *mixpolicy.Problem, err error) {
	defer catch(&err)
	x, base := queueModel()
	return mixtureProblem(x, class, base...), nil
}

// process returns an MDP with n states and m actions. A nil alpha means the uniform distribution. The function law
// gives the cost of a pair, and the probability next[s] that the pair leads to the state s.
func process(n, m int, c mixpolicy.Criterion, alpha []float64, law func(s, a int) (cost float64, next []float64)) *mixpolicy.MDP {
	return must(mixpolicy.New(mixpolicy.Spec{States: n, Actions: m, Criterion: c, Initial: alpha,
		Dynamics: func(s, a int) (cost float64, to []mixpolicy.Transition) {
			cost, next := law(s, a)
			for s, p := range next {
				to = append(to, mixpolicy.Transition{To: s, P: p})
			}
			return cost, to
		}}))
}

func uniform(n int) []float64 { return shifted(make([]float64, n), 1/float64(n)) }

// bandit is a process with one state, the criterion average cost, and one action for each of the given costs.
func bandit(costs ...float64) *mixpolicy.MDP {
	return process(1, len(costs), mixpolicy.AverageCost, nil, func(_, a int) (float64, []float64) { return costs[a], []float64{1} })
}

// banditProblem is (2.18) for a bandit, with each of its actions as a base policy.
func banditProblem(class mixpolicy.Class, costs ...float64) *mixpolicy.Problem {
	x := bandit(costs...)
	var base []*mixpolicy.Policy
	for a := range costs {
		base = append(base, must(mixpolicy.Deterministic(x, []int{a})))
	}
	return mixtureProblem(x, class, base...)
}

// oneStepMDP returns a process whose next state is uniform for every pair. Its two actions cost 0 and 1, and γ = 0.1.
func oneStepMDP(states int) *mixpolicy.MDP {
	return process(states, 2, mixpolicy.Discounted(0.1), nil, func(_, a int) (float64, []float64) { return float64(a), uniform(states) })
}

// rarePairProblem returns a problem with 64 states and γ = 0.1, where a multiplier is large because its pair is rare.
func rarePairProblem() *mixpolicy.Problem {
	x := oneStepMDP(64)
	cheap := must(mixpolicy.PolicyFunc(x, func(s int, row []float64) {
		if row[0], row[1] = 0.9, 0.1; s == 0 {
			row[0], row[1] = 0.99, 0.01
		}
	}))
	return mixtureProblem(x, mixpolicy.Ball(2), must(mixpolicy.StateIndependent(x, 0.5, 0.5)), cheap)
}

// mixtureProblem is (2.18) for the measures of base policies.
func mixtureProblem(x *mixpolicy.MDP, class mixpolicy.Class, base ...*mixpolicy.Policy) *mixpolicy.Problem {
	return must(mixpolicy.NewProblem(must(mixpolicy.NewFeatures(context.Background(), x, base...)), class))
}

// combination returns Ψθ.
func combination(p *mixpolicy.Problem, theta []float64) []float64 {
	xi := make([]float64, p.MDP().Pairs())
	p.Features().MulVec(xi, theta)
	return xi
}

// policyMeasure returns the occupation measure of the policy (2.20) of θ.
func policyMeasure(p *mixpolicy.Problem, theta []float64) *mixpolicy.Measure {
	return must(p.MDP().Occupation(context.Background(), must(p.Features().PolicyOf(theta))))
}

// stochasticGradient is (3.5a) at a pair.
func stochasticGradient(p *mixpolicy.Problem, lambda []float64, pair int) []float64 {
	g := make([]float64, p.Dim())
	p.Features().Row(g, pair)
	floats.Scale((p.MDP().Costs()[pair]-lambda[pair])/p.Features().Sampling()[pair], g)
	return g
}

// gradientErrors returns e = ĝ − ∇_θ𝓛 at λ, one row for each pair; every pair must have a positive sampling
// probability. A nil λ means 0.
func gradientErrors(p *mixpolicy.Problem, lambda []float64) (errs [][]float64) {
	lambda = slices.Concat(lambda, make([]float64, p.MDP().Pairs()-len(lambda)))
	mean := make([]float64, p.Dim())
	p.GradTheta(mean, lambda)
	for i := range lambda {
		errs = append(errs, difference(stochasticGradient(p, lambda, i), mean))
	}
	return errs
}

// smallTrace is a run on the small problem, with R = 2.
func smallTrace(set TraceSettings) *Trace {
	return must(NewTrace(smallProblem(mixpolicy.Ball(2)), set))
}

// unit is the i-th unit vector of ℝⁿ.
func unit(n, i int) []float64 {
	x := make([]float64, n)
	x[i] = 1
	return x
}

// difference returns x − y.
func difference(x, y []float64) []float64 { return floats.SubTo(make([]float64, len(x)), x, y) }

// scaled returns cx.
func scaled(c float64, x []float64) []float64 { return floats.ScaleTo(make([]float64, len(x)), c, x) }

// shifted returns x + z1.
func shifted(x []float64, z float64) []float64 {
	y := slices.Clone(x)
	floats.AddConst(z, y)
	return y
}

func sq(x float64) float64 { return x * x }

// sizeOf returns Σ|xᵢ|, the scale of the rounding error of a sum of the xᵢ.
func sizeOf(x ...float64) float64 { return floats.Norm(x, 1) }

// smallLP is min cᵀx subject to G x ≤ h and A x = b, x free, for gonum's simplex method.
type smallLP struct {
	c    []float64
	g, a [][]float64
	h, b []float64
}

func (p *smallLP) atMost(row []float64, h float64)  { p.g, p.h = append(p.g, row), append(p.h, h) }
func (p *smallLP) equals(row []float64, b float64)  { p.a, p.b = append(p.a, row), append(p.b, b) }
func (p *smallLP) atLeast(row []float64, h float64) { p.atMost(scaled(-1, row), -h) }

// solve returns the optimum and a solution. If the program is unbounded, the optimum is −∞; if no point is feasible,
// the optimum is +∞. In both cases, the solution is nil.
func (p *smallLP) solve() (float64, []float64) {
	n := len(p.c)
	var eq mat.Matrix
	if len(p.a) > 0 {
		eq = rowsOf(p.a)
	}
	c, a, b := lp.Convert(p.c, rowsOf(p.g), p.h, eq, p.b)
	value, x, err := lp.Simplex(c, a, b, 1e-11, nil)
	switch {
	case errors.Is(err, lp.ErrUnbounded):
		return math.Inf(-1), nil
	case errors.Is(err, lp.ErrInfeasible):
		return math.Inf(1), nil
	case err != nil:
		noError(fmt.Errorf("paper: simplex: %w", err))
	}
	return value, difference(x[:n], x[n:2*n]) // lp.Convert writes x as a difference of two parts
}

func rowsOf(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

// bellmanRow is the row of Q − γP at a pair. With the γ of the process, row·v ≤ c_a(s) is one constraint of the
// corrected (2.9b).
func bellmanRow(x *mixpolicy.MDP, pair int, gamma float64) []float64 {
	s, a := x.StateAction(pair)
	row := unit(x.States(), s)
	to, p := x.Next(s, a)
	for k, s2 := range to {
		row[s2] -= gamma * p[k]
	}
	return row
}

// primalLP is (2.9) as a minimum of −αᵀv, with the constraint as corrected (≤ c) or as
// printed (≥ c).
func primalLP(x *mixpolicy.MDP, form mixpolicy.Form) *smallLP {
	p := &smallLP{c: scaled(-1, x.Initial())}
	for i, c := range x.Costs() {
		if row := bellmanRow(x, i, x.Gamma()); form == mixpolicy.Printed {
			p.atLeast(row, c)
		} else {
			p.atMost(row, c)
		}
	}
	return p
}

// dualLP is (2.13). The printed form has the constraints ξᵀ(P − Q) = 0 and ξᵀ1 = 1. The corrected form has
// ξᵀ(Q − γP) = (1−γ)αᵀ, which implies ξᵀ1 = 1.
func dualLP(x *mixpolicy.MDP, form mixpolicy.Form) *smallLP {
	pairs, states, gamma, p := x.Pairs(), x.States(), x.Gamma(), &smallLP{c: slices.Clone(x.Costs())}
	for i := range pairs {
		p.atLeast(unit(pairs, i), 0)
	}
	if form == mixpolicy.Printed {
		gamma = 1
		p.equals(shifted(make([]float64, pairs), 1), 1)
		states-- // each row of P − Q adds up to 0, so the last equation follows from the others
	}
	balance := mat.NewDense(pairs, x.States(), nil)
	for i := range pairs {
		balance.SetRow(i, bellmanRow(x, i, gamma))
	}
	for s := range states {
		p.equals(mat.Col(nil, s, balance), (1-gamma)*x.Initial()[s])
	}
	return p
}

// dualOptimum returns smallMDP, the optimum of its (2.13) in the given form, and the solution ξ*.
func dualOptimum(form mixpolicy.Form) (x *mixpolicy.MDP, value float64, xi []float64) {
	x = smallMDP()
	value, xi = dualLP(x, form).solve()
	return x, value, xi
}
