package priorwork

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleRandomizedLP() {
	w, p := everyPair(mixpolicy.Discounted(0.8))
	best, _, _ := w.Optimum()
	const steps = 100_000
	r := mixpolicy.Must(mixpolicy.Solve(background, p, RandomizedLP{Steps: steps}, mixpolicy.Settings{Iterations: steps, Seed: 1}))
	fmt.Printf("optimal cost %.4f, after %d queries %.4f\n", best, r.Queries, r.PolicyCost)
	// Output:
	// optimal cost 1.3333, after 100000 queries 1.4547
}

// Both methods start with the uniform policy, and their excess cost falls as 1/√T: a hundred
// times the steps should leave a tenth of it, and leave less than half.
func TestBilinearMethods(t *testing.T) {
	for _, c := range []struct {
		criterion mixpolicy.Criterion
		method    func(steps int) mixpolicy.Method
	}{
		{mixpolicy.Discounted(0.5), func(steps int) mixpolicy.Method { return RandomizedLP{Steps: steps} }},
		{mixpolicy.Discounted(0.8), func(steps int) mixpolicy.Method { return RandomizedLP{Steps: steps} }},
		// Its chains contract by 0.8 or less a step, and the optimal policy is in the worse of the
		// two states for a ninth of the time: 1/(2√τ) must be less.
		{mixpolicy.AverageCost, func(steps int) mixpolicy.Method { return PiLearning{Steps: steps, MixingTime: 2, Range: 100} }},
	} {
		w, p := everyPair(c.criterion)
		best, _, err := w.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		x := p.MDP()
		cost := func(policy *mixpolicy.Policy) float64 {
			return mixpolicy.Must(x.Occupation(t.Context(), policy)).Cost(x.Costs())
		}
		excess := func(m mixpolicy.Method, steps int, seed uint64) float64 {
			r := mixpolicy.Must(learn(p, m, steps, seed))
			return cost(r.Policy) - best
		}
		start := cost(mixpolicy.UniformPolicy(x)) - best
		if got := cost(mixpolicy.Must(begin[*game](t, p, c.method(1)).Policy(background))) - best; math.Abs(got-start) > 1e-9 {
			t.Errorf("%v: excess %v at the start, want the uniform policy's %v", c.criterion, got, start)
		}
		var short, long float64
		for seed := range uint64(4) {
			short += excess(c.method(2000), 2000, seed) / 4
			long += excess(c.method(200_000), 200_000, seed) / 4
		}
		if !(long < short/2) {
			t.Errorf("%s, %v: excess cost %v after 2000 steps, %v after 200,000", c.method(1).Name(), c.criterion, short, long)
		}
	}
}

// The tree's sums are those of its leaves after any changes, and every draw has a
// positive weight.
func TestSumTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "w")
		tree := newSumTree(w)
		rng := rand.NewPCG(1, 0)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			k := rapid.IntRange(0, len(w)-1).Draw(t, "k")
			w[k] = rapid.SampledFrom([]float64{0, 0x1p-300, 0.5, 3}).Draw(t, "to")
			tree.set(k, w[k])
			total := sumOf(w)
			if math.Abs(tree.total()-total) > 25*u*total {
				t.Fatalf("total %v, want %v", tree.total(), total)
			}
			if total > 0 {
				if k := tree.draw(rng); k >= len(w) || w[k] == 0 {
					t.Fatalf("drew %d of weights %v", k, w)
				}
			}
		}
	})
}

// Frequencies of draws from a tree and from a row, by Hoeffding: off by more than √(ln(2/δ)/2N)
// with probability δ.
func TestDraws(t *testing.T) {
	w := []float64{0.1, 0, 0.5, 0.15, 0.25, 0}
	const draws = 100_000
	tolerance := math.Sqrt(math.Log(2*6/1e-9) / (2 * draws))
	for what, draw := range map[string]func(*rand.PCG) int{
		"tree": newSumTree(w).draw,
		"row":  func(rng *rand.PCG) int { return drawRow(rng, []float64{2, 0, 10, 3, 5, 0}) },
	} {
		count, rng := make([]float64, 8), rand.NewPCG(3, 0)
		for range draws {
			count[draw(rng)] += 1. / draws
		}
		for k, v := range w {
			if math.Abs(count[k]-v) > tolerance || v == 0 && count[k] > 0 {
				t.Errorf("%s: frequency of %d is %v, want %v", what, k, count[k], v)
			}
		}
	}
}

// Of the 2⁵³ values of u in [0, 1) the lower half draws the first of two equal weights, and even u = 0
// draws no outcome of weight 0.
func TestDrawsAtTheEdges(t *testing.T) {
	zero, half := func() *rand.PCG { return rand.NewPCG(0xdba7208509dc6fbc, 0xf24b0ffac22ab37d) }, func() *rand.PCG { return rand.NewPCG(0xea40510585436e2d, 0xf24b0ffac22ab37d) }
	if uniform(zero()) != 0 || uniform(half()) != .5 {
		t.Fatalf("the generators begin with %v and %v, want 0 and ½", uniform(zero()), uniform(half()))
	}
	for what, k := range map[string]int{
		"tree, 0": newSumTree([]float64{0, 1}).draw(zero()), "tree, ½": newSumTree([]float64{1, 1}).draw(half()),
		"row, 0": drawRow(zero(), []float64{0, 1}), "row, ½": drawRow(half(), []float64{1, 1}),
	} {
		if k != 1 {
			t.Errorf("%s: outcome %d, want 1", what, k)
		}
	}
}

// A step of v is one projection: where s, s′ and s₀ are the same state its changes cancel first,
// and at a bound v stays there. One after the other, projected each time, they would leave it by
// α′ (γ = 1 at the lower bound) and by γα′ (at the upper one, under any γ).
func TestValueStaysAtItsBound(t *testing.T) {
	for _, c := range []struct {
		criterion mixpolicy.Criterion
		method    mixpolicy.Method
	}{
		{mixpolicy.AverageCost, PiLearning{Steps: 100, MixingTime: 2, Range: 4}},
		{mixpolicy.Discounted(.75), RandomizedLP{Steps: 100}},
	} {
		// One state, in which every step stays.
		x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 1, Actions: 2, Criterion: c.criterion, Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			return float64(a), []mixpolicy.Transition{{To: 0, P: 1}}
		}}))
		p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.UniformPolicy(x))), mixpolicy.Simplex()))
		a := begin[*game](t, p, c.method)
		for _, at := range []float64{a.lo, a.hi, (a.lo + 3*a.hi) / 4} {
			a.v[0] = at
			if err := a.Step(); err != nil {
				t.Fatal(err)
			}
			if math.Abs(a.v[0]-at) > 4*u*a.hi {
				t.Errorf("%v: v goes from %v to %v", c.criterion, at, a.v[0])
			}
		}
	}
}
