package mixpolicy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

func ExamplePolicyIteration() {
	queue := mixpolicy.Must(models.Queue{}.MDP())
	best, err := mixpolicy.PolicyIteration(context.Background(), queue, mixpolicy.ValuationSettings{})
	fmt.Printf("%.5f by %d policies, certified to %.0e, %v\n", best.Cost(), best.Iterations, best.Upper-best.Lower, err)
	fmt.Println("rates for lengths 1 to 8:")
	for s := range 8 {
		fmt.Print(queue.ActionName(best.Policy.Action(s)), " ")
	}
	// Output:
	// 29.38958 by 5 policies, certified to 4e-08, <nil>
	// rates for lengths 1 to 8:
	// 0.2 0.6 0.8 0.8 0.8 0.8 0.8 0.8
}

// (2.8): the Bellman operator, the action values and the greedy policy agree with their definitions in dense loops.
func TestBellmanOperator_2_8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		n, m := x.States(), x.Actions()
		v := drawFinite(t, n, 100, "v")
		if rapid.Bool().Draw(t, "ties") {
			clear(v)
			x = priced(x, func(c float64) float64 { return math.Trunc(c / 5) })
		}
		got, q := make([]float64, n), make([]float64, x.Pairs())
		x.Bellman(got, v)
		x.ActionValues(q, v)
		greedy := x.Greedy(v)
		for s := range n {
			best, arg := math.Inf(1), 0
			for a := range m {
				value := x.Cost(s, a)
				for s2, p := range rowOf(x, s, a) {
					value += x.Gamma() * p * v[s2]
				}
				if d := math.Abs(value - q[s*m+a]); d > 2*float64(n+2)*u*110 { // two sums of n+2 terms, at most 110 together
					t.Fatalf("action value of (%d,%d) is %v, want %v", s, a, q[s*m+a], value)
				}
				if q[s*m+a] < best {
					best, arg = q[s*m+a], a
				}
			}
			if got[s] != best || greedy.Action(s) != arg || greedy.Prob(s, arg) != 1 {
				t.Fatalf("state %d: 𝒮v = %v by action %d, want %v by action %d", s, got[s], greedy.Action(s), best, arg)
			}
		}
	})
}

// (2.8), (2.12): each method's policy takes only allowed actions, and its Value is the value function of
// this policy. The interval contains the cost of this policy, and the least cost over all deterministic
// policies of allowed actions. Dense solves in the process with all actions give both costs.
func TestOptimalCost_2_8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full, x, allowed := drawSets(t)
		best := math.Inf(1)
		eachDeterministic(full, func(p *mixpolicy.Policy) {
			if takesOnly(p, allowed) {
				best = min(best, costOf(full, p, luMeasure(t, full, p)))
			}
		})
		for _, method := range valuationMethods {
			v := mixpolicy.Must(method.run(t.Context(), x, mixpolicy.ValuationSettings{}))
			own := costOf(full, v.Policy, luMeasure(t, full, v.Policy))
			const slack = 10 * luTolerance // of the dense solves: costs are at most 10
			if min(best, own) < v.Lower-slack || max(best, own) > v.Upper+slack || !takesOnly(v.Policy, allowed) {
				t.Fatalf("%s: [%v, %v] does not hold the optimum %v and the policy's cost %v, or %v", method.name, v.Lower, v.Upper, best, own, v.Policy)
			}
			// The width is at most 1e-9 of the range of costs, plus 5 times the rounding. The
			// rounding is 20·6 u times the size of costs and values, at most 10 + 10/(1−γ).
			if w := v.Upper - v.Lower; w > 20e-9+5*20*6*u*10*1001 {
				t.Fatalf("%s: interval has width %v", method.name, w)
			}
			checkValues(t, x, v)
		}
	})
}

// checkValues verifies what the doc comment of Value says, by one application of
// the operator of v.Policy.
func checkValues(t *rapid.T, x *mixpolicy.MDP, v *mixpolicy.Valuation) {
	q := make([]float64, x.Pairs())
	x.ActionValues(q, v.Value)
	near := (v.Upper - v.Lower) / 2
	if !x.Criterion().Average() {
		near /= 1 - x.Gamma()
	}
	for s := range x.States() {
		var follow float64
		for a := range x.Actions() {
			follow += v.Policy.Prob(s, a) * q[s*x.Actions()+a]
		}
		want := v.Value[s]
		if x.Criterion().Average() {
			want += v.Cost()
		}
		// Under discounting, both sides differ from the policy's true value by at most near. Under average cost,
		// the two sides differ by at most the width of the interval.
		if math.Abs(follow-want) > 2*near {
			t.Fatalf("state %d: c + γPv = %v, v = %v, interval [%v, %v]", s, follow, want, v.Lower, v.Upper)
		}
	}
	if x.Criterion().Average() {
		if v.Value[0] != 0 {
			t.Fatalf("h(0) = %v", v.Value[0])
		}
	} else if got := (1 - x.Gamma()) * floats.Dot(x.Initial(), v.Value); got < v.Lower || got > v.Upper {
		t.Fatalf("(1−γ)αᵀv = %v is outside of [%v, %v]", got, v.Lower, v.Upper)
	}
}

// The interval contains the cost of the policy: cᵀξ^π = (1−γ)αᵀv^π under discounting, the gain under average cost.
func TestEvaluateEqualsMeasure_2_12(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		p := drawPolicy(t, x)
		v := mixpolicy.Must(mixpolicy.Evaluate(t.Context(), x, p, mixpolicy.ValuationSettings{}))
		want := costOf(x, p, luMeasure(t, x, p))
		if slack := 10 * luTolerance; want < v.Lower-slack || want > v.Upper+slack {
			t.Fatalf("cᵀξ = %v is outside of [%v, %v]", want, v.Lower, v.Upper)
		}
		checkValues(t, x, v)
	})
}

// The interval contains the cost even if the costs of actions nearly cancel and rounding dominates. The test has
// one state, and computes the mean in rational arithmetic.
func TestEvaluateCancellingCosts(t *testing.T) {
	costs, prob, want := []float64{1e8, -7e7, 1}, []float64{.28, .4, .32}, new(big.Rat)
	x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 1, Actions: 3, Criterion: mixpolicy.AverageCost,
		Dynamics: func(_, a int) (float64, transitions) { return costs[a], transitions{{To: 0, P: 1}} }}))
	for a, c := range costs {
		want.Add(want, new(big.Rat).Mul(rat(c), rat(prob[a])))
	}
	v := mixpolicy.Must(mixpolicy.Evaluate(t.Context(), x, mixpolicy.Must(mixpolicy.NewPolicy(x, prob)), mixpolicy.ValuationSettings{}))
	if rat(v.Lower).Cmp(want) > 0 || rat(v.Upper).Cmp(want) < 0 || v.Upper-v.Lower > 200*u*1e8 {
		t.Errorf("the cost %v is not in [%v, %v], or this interval is too wide", want.FloatString(20), v.Lower, v.Upper)
	}
}

// For more than 1500 states, Evaluate uses sweeps. The interval of Evaluate contains
// cᵀξ, where Occupation computes ξ without Evaluate.
func TestEvaluateLarge(t *testing.T) {
	for _, c := range []mixpolicy.Criterion{mixpolicy.Discounted(0.95), mixpolicy.AverageCost} {
		x := garnet(t, 1600, 3, 4, c)
		p := mixpolicy.UniformPolicy(x)
		var told int
		v := mixpolicy.Must(mixpolicy.Evaluate(t.Context(), x, p, mixpolicy.ValuationSettings{Progress: func(int, float64, float64) { told++ }}))
		q := mixpolicy.Must(x.Occupation(t.Context(), p))
		if got := q.Cost(x.Costs()); got < v.Lower-q.Residual || got > v.Upper+q.Residual {
			t.Errorf("%v: cᵀξ = %v is outside of [%v, %v]", c, got, v.Lower, v.Upper)
		}
		if v.Sweeps == 0 || told != v.Sweeps || v.Iterations != 0 {
			t.Errorf("%v: %d sweeps, %d reports, %d iterations", c, v.Sweeps, told, v.Iterations)
		}
	}
}

// Under average cost, the iteration v ← 𝒮v oscillates forever on a chain of period 2.
// With damping, it converges, and the bounds hold.
func TestPeriodicChain(t *testing.T) {
	x := flip()
	for _, method := range valuationMethods {
		v := mixpolicy.Must(method.run(t.Context(), x, mixpolicy.ValuationSettings{}))
		if v.Lower > 0.5 || v.Upper < 0.5 || math.Abs(v.Value[1]-0.5) > 1e-9 { // h(1) = c(1) − g + h(0)
			t.Errorf("%s: cost in [%v, %v], h = %v", method.name, v.Lower, v.Upper, v.Value)
		}
	}
}

// Under average cost, the error names the recurrent classes if there are several, and
// the interval contains the gains of all classes.
func TestValuationNamesClasses(t *testing.T) {
	x := islands(mixpolicy.AverageCost)
	set := mixpolicy.ValuationSettings{MaxIterations: 500}
	for _, method := range valuationMethods {
		v, err := method.run(t.Context(), x, set)
		wantError(t, err, "2 recurrent classes, {a, b} and {d}")
		if v == nil || v.Lower > 0.5 || v.Upper < 3 { // gains 0.5 from a, 3 from d
			t.Errorf("%s: valuation %+v does not hold all gains", method.name, v)
		}
	}
	wantError(t, errOf(mixpolicy.Evaluate(t.Context(), x, mixpolicy.UniformPolicy(x), set)), "2 recurrent classes, {a, b} and {d}")
}

// Policy iteration fails if its first policy has several recurrent classes; from another Start, it succeeds.
func TestPolicyIterationStart(t *testing.T) {
	// Action 0 stays at cost s, action 1 moves on at cost 5.
	x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 2, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, a int) (float64, transitions) {
			return []float64{float64(s), 5}[a], transitions{{To: (s + a) % 2, P: 1}}
		}}))
	wantError(t, errOf(mixpolicy.PolicyIteration(t.Context(), x, mixpolicy.ValuationSettings{})), "2 recurrent classes, {0} and {1}")
	v := mixpolicy.Must(mixpolicy.PolicyIteration(t.Context(), x, mixpolicy.ValuationSettings{Start: []float64{0, 10}}))
	if v.Cost() > 1e-9 || v.Policy.Action(0) != 0 || v.Policy.Action(1) != 1 {
		t.Errorf("cost %v by actions %d, %d", v.Cost(), v.Policy.Action(0), v.Policy.Action(1))
	}
}

// The number of workers does not change the result.
func TestValuationWorkers(t *testing.T) {
	x := garnet(t, 6000, 8, 10, mixpolicy.Discounted(0.9)) // enough terms for 7 workers to be used
	for _, method := range valuationMethods[:2] {
		with := func(workers int) (*mixpolicy.Valuation, []float64) {
			v := mixpolicy.Must(method.run(t.Context(), x, mixpolicy.ValuationSettings{Workers: workers}))
			return v, append([]float64{v.Lower, v.Upper, float64(v.Iterations), float64(v.Sweeps)}, v.Value...)
		}
		one, want := with(1)
		for _, workers := range []int{2, 7} {
			v, got := with(workers)
			for s := range x.States() {
				if !slices.Equal(got, want) || v.Policy.Action(s) != one.Policy.Action(s) {
					t.Fatalf("%s: the results with %d workers and with 1 differ", method.name, workers)
				}
			}
		}
	}
}

// When cancelled, each method returns the bounds and the policy that it has so far, and
// the bounds are valid. When cancelled before it begins, it returns no valuation.
func TestValuationCancelled(t *testing.T) {
	x := mixpolicy.Must(models.Queue{}.MDP())
	ended, end := context.WithCancel(t.Context())
	end()
	stopAt := func(n int) (context.Context, mixpolicy.ValuationSettings) {
		ctx, cancel := context.WithCancel(t.Context())
		return ctx, mixpolicy.ValuationSettings{Progress: func(i int, lower, upper float64) {
			if i == n {
				cancel()
			}
			if lower > upper {
				t.Errorf("Progress called with bounds [%v, %v]", lower, upper)
			}
		}}
	}
	for _, method := range valuationMethods {
		ctx, set := stopAt(3)
		v, err := method.run(ctx, x, set)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", method.name, err)
		}
		wantError(t, err, fmt.Sprintf("[%.6g, %.6g]", v.Lower, v.Upper))
		cost := mixpolicy.Must(x.Occupation(t.Context(), v.Policy)).Cost(x.Costs())
		if v.Iterations != 3 || v.Lower > 29.38957 || v.Upper < 29.38958 || cost > v.Upper {
			t.Errorf("%s: %d iterations, [%v, %v], the policy costs %v", method.name, v.Iterations, v.Lower, v.Upper, cost)
		}
		if v, err := method.run(ended, x, mixpolicy.ValuationSettings{}); v != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled before it began: %v, %v", method.name, v, err)
		}
	}

	// Evaluate with sweeps: cancelled after 5 sweeps, and then limited to 5.
	x = garnet(t, 2000, 1, 4, mixpolicy.Discounted(.95))
	p := mixpolicy.UniformPolicy(x)
	want := mixpolicy.Must(x.Occupation(t.Context(), p)).Cost(x.Costs())
	ctx, set := stopAt(5)
	for _, says := range []string{"stopped with cost in", "after 5 sweeps, want a width"} {
		v, err := mixpolicy.Evaluate(ctx, x, p, set)
		wantError(t, err, says)
		if v.Sweeps != 5 || v.Policy != p || want < v.Lower || want > v.Upper || v.Upper-v.Lower > 1 {
			t.Errorf("%s: %d sweeps, the cost %v is not in [%v, %v]", says, v.Sweeps, want, v.Lower, v.Upper)
		}
		ctx, set = t.Context(), mixpolicy.ValuationSettings{MaxIterations: 5}
	}
	if v, err := mixpolicy.Evaluate(ended, x, p, set); v != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v, %v", v, err)
	}
}

func TestValuationSettingsErrors(t *testing.T) {
	x := islands(mixpolicy.Discounted(0.5))
	for _, c := range []struct {
		set  mixpolicy.ValuationSettings
		says string
	}{
		{mixpolicy.ValuationSettings{Tolerance: math.NaN()}, "tolerance NaN, want"},
		{mixpolicy.ValuationSettings{MaxIterations: -2}, "MaxIterations = -2, want"},
		{mixpolicy.ValuationSettings{Start: []float64{1}}, "1 entries, want one per state: 4"},
		{mixpolicy.ValuationSettings{Start: []float64{0, math.Inf(-1), 0, 0}}, "-Inf in state b"},
	} {
		wantError(t, errOf(mixpolicy.ValueIteration(t.Context(), x, c.set)), c.says)
	}
	wantError(t, errOf(mixpolicy.Evaluate(t.Context(), x, nil, mixpolicy.ValuationSettings{})), "policy is nil")

	// The default tolerance is 1e-9 of the range of costs, which may be 0.
	dear, once := priced(x, func(c float64) float64 { return 4*c + 1 }), mixpolicy.ValuationSettings{MaxIterations: 1}
	wantError(t, errOf(mixpolicy.ValueIteration(t.Context(), dear, once)), "after 1 iterations, want a width ≤ 1.2e-08")
	even := priced(x, func(float64) float64 { return 3 })
	if v := mixpolicy.Must(mixpolicy.ValueIteration(t.Context(), even, mixpolicy.ValuationSettings{})); math.Abs(v.Cost()-3) > 1e-12 {
		t.Errorf("cost %v where all costs are 3", v.Cost())
	}

	const h = 1.5e308 // 1.5h overflows: there is no bound, and no valuation
	for _, cost := range []float64{h, -h} {
		far := priced(x, func(float64) float64 { return cost })
		v, err := mixpolicy.ValueIteration(t.Context(), far, mixpolicy.ValuationSettings{Tolerance: 1})
		wantError(t, err, "overflow after 1 sweeps", "1.5e+308")
		if v != nil {
			t.Errorf("cost %v: [%v, %v], residual %v", cost, v.Lower, v.Upper, v.Residual)
		}
		wantError(t, errOf(mixpolicy.Evaluate(t.Context(), far, mixpolicy.UniformPolicy(far), mixpolicy.ValuationSettings{})), "overflow")
	}
}

// Elimination also computes the values of transient states, so no sweep follows.
func TestEvaluateTransient(t *testing.T) {
	x := walk(4, mixpolicy.AverageCost, func(s int) transitions { return transitions{{To: max(s-1, 0), P: 1}} })
	x = mixpolicy.Must(x.WithCosts([]float64{1, 5, 7, 2}))
	v := mixpolicy.Must(mixpolicy.Evaluate(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.ValuationSettings{}))
	if want := []float64{0, 4, 10, 11}; v.Sweeps != 0 || !slices.Equal(v.Value, want) || math.Abs(v.Cost()-1) > 1e-12 {
		t.Errorf("h = %v, want %v; gain %v, %d sweeps", v.Value, want, v.Cost(), v.Sweeps)
	}
}

// ActionValues allocates nothing.
func TestBellmanAllocations(t *testing.T) {
	x := garnet(t, 500, 3, 4, mixpolicy.Discounted(0.9))
	v, q := make([]float64, x.States()), make([]float64, x.Pairs())
	if n := testing.AllocsPerRun(10, func() { x.ActionValues(q, v) }); n != 0 {
		t.Errorf("ActionValues allocates %v times", n)
	}
}

func garnet(b testing.TB, n, m, branches int, c mixpolicy.Criterion) *mixpolicy.MDP {
	b.Helper()
	return mixpolicy.Must(models.Garnet{States: n, Actions: m, Branches: branches, Seed: 1, Ring: true, Criterion: c}.MDP())
}

// If values overflow, a method returns an error without a valuation, or bounds that are not NaN. The test has two
// absorbing states, one with an enormous cost.
func TestBoundsOfEnormousCosts(t *testing.T) {
	for _, cost := range []float64{1e306, 1e307, 1e308, 1.7e308} {
		for _, c := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(.9), mixpolicy.Discounted(1 - 0x1p-53)} {
			x := mixpolicy.Must(walk(2, c, func(s int) transitions { return transitions{{To: s, P: 1}} }).WithCosts([]float64{0, cost}))
			for _, method := range valuationMethods {
				v, err := method.run(t.Context(), x, mixpolicy.ValuationSettings{MaxIterations: 500})
				if v == nil && err != nil {
					continue
				}
				if !(v.Lower <= v.Cost() && v.Cost() <= v.Upper && v.Residual >= 0) {
					t.Errorf("%s, %v, cost %g: [%v, %v], residual %v, %v; %v", method.name, c, cost, v.Lower, v.Upper, v.Residual, v.Cost(), err)
				}
			}
		}
	}
}

// The chains of a long queue mix in millions of steps. Sweeps alone took seven minutes, so modified policy iteration
// also uses elimination.
func TestModifiedPolicyIterationOfSlowChains(t *testing.T) {
	x := mixpolicy.Must(models.Queue{Buffer: 2000, Arrival: .5, Rates: []float64{.4999, .5001}}.MDP())
	v, err := mixpolicy.ModifiedPolicyIteration(t.Context(), x, mixpolicy.ValuationSettings{})
	w := mixpolicy.Must(mixpolicy.PolicyIteration(t.Context(), x, mixpolicy.ValuationSettings{}))
	if err != nil || v.Sweeps > 5000 || v.Lower > w.Upper || w.Lower > v.Upper {
		t.Errorf("[%v, %v] after %d sweeps, want [%v, %v] soon; %v", v.Lower, v.Upper, v.Sweeps, w.Lower, w.Upper, err)
	}
}

// If few costs are known, some intermediate policies have several recurrent classes. Elimination alone would cycle
// among them, so modified policy iteration continues with sweeps.
func TestModifiedPolicyIterationPastSeveralClasses(t *testing.T) {
	x := mixpolicy.Must(models.Queue{}.MDP())
	_, top := x.CostRange()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(1, seed))
		costs := slices.Repeat([]float64{top}, x.Pairs())
		for _, pair := range r.Perm(x.Pairs())[:1+seed%40] {
			costs[pair] = x.Costs()[pair]
		}
		y := mixpolicy.Must(x.WithCosts(costs))
		v, err := mixpolicy.ModifiedPolicyIteration(t.Context(), y, mixpolicy.ValuationSettings{Tolerance: 1e-6 * top, MaxIterations: 1000})
		if err != nil {
			t.Errorf("costs %d: [%v, %v] after %d sweeps, %v", seed, v.Lower, v.Upper, v.Sweeps, err)
		}
	}
}
