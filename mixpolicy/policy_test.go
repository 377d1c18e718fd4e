package mixpolicy_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Definition 2.7: a policy is a distribution over actions in every state, whichever function makes it.
func TestPolicy_Definition2_7(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, criteria[1])
		row := drawDistribution(t, x.Actions(), 0, 0, "p")
		byFunc := mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, to []float64) { copy(to, row) }))
		same := mixpolicy.Must(mixpolicy.StateIndependent(x, row...))
		actions := make([]int, x.States())
		for s := range actions {
			actions[s] = rapid.IntRange(0, x.Actions()-1).Draw(t, "a")
		}
		fixed := mixpolicy.Must(mixpolicy.Deterministic(x, actions))
		uniform := mixpolicy.UniformPolicy(x)
		for s := range x.States() {
			even := slices.Repeat([]float64{1 / float64(x.Actions())}, x.Actions())
			if !slices.Equal(byFunc.Row(s), row) || !slices.Equal(same.Row(s), row) || !slices.Equal(uniform.Row(s), even) {
				t.Fatalf("state-independent policies differ in state %d", s)
			}
			if fixed.Action(s) != actions[s] || fixed.Prob(s, actions[s]) != 1 || floats.Sum(fixed.Row(s)) != 1 {
				t.Fatalf("deterministic policy in state %d: %v", s, fixed.Row(s))
			}
		}
		// Both ways of storing a policy lead to the same costs and measure.
		c, d := mixpolicy.Must(x.PolicyCost(byFunc)), mixpolicy.Must(x.PolicyCost(same))
		q, r := mixpolicy.Must(x.Occupation(t.Context(), byFunc)), mixpolicy.Must(x.Occupation(t.Context(), same))
		if close1(c, d) != 0 || close1(q.Pair, r.Pair) != 0 {
			t.Fatal("tabular and state-independent form differ")
		}
		for s := range c {
			var want float64
			for a, w := range row {
				want += w * x.Cost(s, a)
			}
			if c[s] != want {
				t.Fatalf("c^π(%d) = %v, want %v", s, c[s], want)
			}
		}
	})
}

// (2.16): π^ω = Σ ωᵢπⁱ, row by row.
func TestMixture_2_16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, criteria[1])
		d := rapid.IntRange(1, 4).Draw(t, "d")
		policies := make([]*mixpolicy.Policy, d)
		for i := range policies {
			policies[i] = drawPolicy(t, x)
		}
		omega := drawDistribution(t, d, 0, 0, "ω")
		mix := mixpolicy.Must(mixpolicy.Mixture(omega, policies...))
		for s := range x.States() {
			for a := range x.Actions() {
				var want float64
				for i, p := range policies {
					want += omega[i] * p.Prob(s, a)
				}
				if mix.Prob(s, a) != want { // multiples of 1/4096: exact
					t.Fatalf("π^ω(%d,%d) = %v, want %v", s, a, mix.Prob(s, a), want)
				}
			}
		}
	})
}

// (2.20): the policy of ξ is the positive part of ξ, normalised in every state, or uniform where the positive part is 0.
func TestPolicyOf_2_20(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, criteria[1])
		scale := math.Pow(10, rapid.Float64Range(-300, 300).Draw(t, "log10 scale"))
		xi := rapid.SliceOfN(rapid.Float64Range(-1, 1), x.Pairs(), x.Pairs()).Draw(t, "ξ")
		for i := range xi {
			xi[i] *= scale
		}
		p := mixpolicy.Must(mixpolicy.PolicyOf(x, xi))
		m := x.Actions()
		for s := range x.States() {
			var positive float64
			for a := range m {
				positive += max(xi[s*m+a], 0)
			}
			for a := range m {
				want := 1 / float64(m)
				if positive > 0 {
					want = max(xi[s*m+a], 0) / positive
				}
				// The tolerance is for the rounding of two sums of m terms and of three
				// quotients. If the sum is tiny, the reference value is inaccurate.
				if got := p.Prob(s, a); !(math.Abs(got-want) <= float64(2*m+4)*u) && positive > 1e-290 {
					t.Fatalf("π(%d,%d) = %v, want %v", s, a, got, want)
				}
			}
		}
	})
	x := mixpolicy.Must(models.Machine{}.MDP())
	if p := mixpolicy.Must(mixpolicy.PolicyOf(x, []float64{1.5e308, 1.5e308, -1, 0})); p.Prob(0, 1) != .5 || p.Prob(1, 1) != .5 {
		t.Errorf("π = %v, %v", p.Row(0), p.Row(1))
	}
	x = islands(mixpolicy.AverageCost)
	wantError(t, errOf(mixpolicy.PolicyOf(x, []float64{1, 1, math.NaN(), 1})), "state c, action 0: measure is NaN, want a finite number")
	wantError(t, errOf(mixpolicy.PolicyOf(x, []float64{1, 1, 1, math.Inf(1)})), "state d, action 0: measure is +Inf")
	wantError(t, errOf(mixpolicy.PolicyOf(x, nil)), "measure has 0 entries, want one per pair: 4")
}

func TestPolicyErrors(t *testing.T) {
	x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 2, Actions: 2, Criterion: mixpolicy.AverageCost,
		Dynamics:   func(s, a int) (float64, transitions) { return 0, transitions{{To: a, P: 1}} },
		StateLabel: func(s int) string { return []string{"low", "high"}[s] },
	}))
	turns := mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, row []float64) { row[s] = 1 })) // row is 0 at first
	if turns.Prob(1, 0) != 0 || turns.Prob(1, 1) != 1 {
		t.Errorf("π(1) = %v", turns.Row(1))
	}
	other := islands(mixpolicy.AverageCost)
	for _, c := range []struct {
		err  error
		says string
	}{
		{errOf(mixpolicy.NewPolicy(x, []float64{1, 0})), "2 probabilities, want one per pair: 4"},
		{errOf(mixpolicy.NewPolicy(x, []float64{1, 0, 0.5, 0.6})), "policy in state high: entries add up to 1.1, want 1"},
		{errOf(mixpolicy.StateIndependent(x, 0.5)), "1 probabilities, want 2"},
		{errOf(mixpolicy.StateIndependent(x, 0.5, 0.4)), "add up to 0.9, want 1"},
		{errOf(mixpolicy.PolicyFunc(x, func(s int, row []float64) { row[0] = float64(s) })), "policy in state low: entries add up to 0"},
		{errOf(mixpolicy.Deterministic(x, []int{0})), "1 actions, want one per state: 2"},
		{errOf(mixpolicy.Deterministic(x, []int{0, 2})), "policy in state high: action 2, want 0 to 1"},
		{errOf(mixpolicy.Mixture([]float64{0.5, 0.6}, mixpolicy.UniformPolicy(x), mixpolicy.UniformPolicy(x))), "mixing weights ω: entries add up to 1.1"},
		{errOf(mixpolicy.Mixture(nil)), "mixing weights ω"},
		{errOf(mixpolicy.Mixture([]float64{0.5, 0.5}, mixpolicy.UniformPolicy(x), mixpolicy.UniformPolicy(other))), "policy 1 is for 4 states and 1 actions, policy 0 for 2 and 2"},
		{errOf(x.PolicyCost(nil)), "policy is nil"},
		{errOf(x.Under(mixpolicy.UniformPolicy(other))), "policy is for 4 states and 1 actions, but the MDP has 2 and 2"},
	} {
		wantError(t, c.err, c.says)
	}
}

func errOf[T any](_ T, err error) error { return err }

// The chain of a policy π has P^π and c^π by their definitions, and the same measure as π.
func TestUnder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t, drawCriterion(t))
		p := drawPolicy(t, x)
		y := mixpolicy.Must(x.Under(p))
		one := mixpolicy.UniformPolicy(y)
		if y.Actions() != 1 || y.Criterion() != x.Criterion() {
			t.Fatalf("%d actions, %v", y.Actions(), y.Criterion())
		}
		// Sums of at most three products of multiples of 1/64 are exact.
		if got, want := denseChain(y, one), denseChain(x, p); !mat.Equal(got, want) {
			t.Fatalf("P^π =\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(want))
		}
		if got, want := y.Costs(), mixpolicy.Must(x.PolicyCost(p)); !slices.Equal(got, want) {
			t.Fatalf("c^π = %v, want %v", got, want)
		}
		if off := close1(mixpolicy.Must(y.Occupation(t.Context(), one)).State, mixpolicy.Must(x.Occupation(t.Context(), p)).State); off != 0 {
			t.Fatalf("the measure is %v off", off)
		}
	})
}

// A policy returns the rows that it was made from, whether all states have the same row, some rows are repeated, or
// all rows differ.
func TestPolicyRows(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 3000, Actions: 2, Branches: 1}.MDP())
	for _, different := range []int{1, 2, 1024, 1025, 3000} {
		row := func(s int) []float64 {
			p := float64(s%different) / 4096
			return []float64{p, 1 - p}
		}
		p := mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, to []float64) { copy(to, row(s)) }))
		for s := range x.States() {
			if !slices.Equal(p.Row(s), row(s)) {
				t.Fatalf("%d different rows: π(%d) = %v, want %v", different, s, p.Row(s), row(s))
			}
		}
	}
}
