package mixpolicy_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleNew() {
	// A machine runs (state 0) or is broken (state 1); action 1 repairs it.
	x, err := mixpolicy.New(mixpolicy.Spec{
		States: 2, Actions: 2, Criterion: mixpolicy.Discounted(0.9),
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			switch {
			case a == 1:
				return 3, []mixpolicy.Transition{{To: 0, P: 1}}
			case s == 1:
				return 5, []mixpolicy.Transition{{To: 1, P: 1}}
			}
			return 0, []mixpolicy.Transition{{To: 0, P: 0.75}, {To: 1, P: 0.25}}
		},
	})
	fmt.Println(x.States(), x.Actions(), x.Criterion(), err)
	// Output: 2 2 discount 0.9 <nil>
}

// Definition 2.6: an MDP returns the data that New was given.
func TestMDP_Definition2_6(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "m")
		p := make([][]float64, n*m)
		for i := range p {
			p[i] = drawDistribution(t, n, 0, 0, "row")
		}
		cost, alpha := drawFinite(t, n*m, 5, "cost"), drawDistribution(t, n, 0, 0, "α")
		x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
			States: n, Actions: m, Criterion: mixpolicy.Discounted(0.5), Initial: alpha,
			Dynamics: func(s, a int) (float64, transitions) { return cost[s*m+a], dense(p[s*m+a]) },
		}))
		if x.States() != n || x.Actions() != m || x.Pairs() != n*m || x.Gamma() != 0.5 || !slices.Equal(x.Initial(), alpha) {
			t.Fatalf("sizes or α differ")
		}
		entries := 0
		for s := range n {
			for a := range m {
				to, prob := x.Next(s, a)
				entries += len(to)
				if !slices.IsSorted(to) || slices.Min(prob) <= 0 {
					t.Fatalf("next states of (%d,%d): %v with %v", s, a, to, prob)
				}
				i := s*m + a
				if !slices.Equal(rowOf(x, s, a), p[i]) || x.Pair(s, a) != i || x.Cost(s, a) != cost[i] || x.Costs()[i] != cost[i] {
					t.Fatalf("pair (%d,%d) differs", s, a)
				}
			}
		}
		if lo, hi := x.CostRange(); entries != x.Transitions() || lo != slices.Min(cost) || hi != slices.Max(cost) {
			t.Fatalf("%d transitions, costs in [%v, %v]", x.Transitions(), lo, hi)
		}
		alpha[0] += 1 // x is immutable
		if slices.Equal(x.Initial(), alpha) {
			t.Fatal("x shares α with the caller")
		}
	})
}

// For data that are not an MDP, the error of New says what is wrong, and where.
func TestNewErrors(t *testing.T) {
	good := mixpolicy.Spec{
		States: 2, Actions: 2, Criterion: mixpolicy.Discounted(0.5),
		Dynamics:    func(s, a int) (float64, transitions) { return 1, transitions{{To: 0, P: 0.5}, {To: 1, P: 0.5}} },
		StateLabel:  func(s int) string { return []string{"low", "high"}[s] },
		ActionLabel: func(a int) string { return []string{"wait", "go"}[a] },
	}
	mixpolicy.Must(mixpolicy.New(good))
	at := func(cost float64, next ...mixpolicy.Transition) func(*mixpolicy.Spec) {
		return func(s *mixpolicy.Spec) {
			dynamics := s.Dynamics
			s.Dynamics = func(s, a int) (float64, transitions) {
				if s == 1 && a == 0 {
					return cost, next
				}
				return dynamics(s, a)
			}
		}
	}
	const here = "state high, action wait: "
	for _, c := range []struct {
		spoil func(*mixpolicy.Spec)
		says  string
	}{
		{func(s *mixpolicy.Spec) { s.States = 0 }, "0 states and 2 actions, want at least one"},
		{func(s *mixpolicy.Spec) { s.Actions = -1 }, "2 states and -1 actions, want at least one"},
		{func(s *mixpolicy.Spec) { s.States, s.Actions = 1<<40, 1<<40 }, "want at most 2³¹−1 pairs"}, // the product is 0 in 64 bits
		{func(s *mixpolicy.Spec) { s.States, s.Actions = 1, math.MaxInt32+1 }, "want at most 2³¹−1 pairs"},
		{func(s *mixpolicy.Spec) { s.States, s.Actions, s.Criterion = math.MaxInt32, 1, mixpolicy.Criterion{} }, "γ = 0"}, // nm is valid
		{func(s *mixpolicy.Spec) { s.Criterion = mixpolicy.Criterion{} }, "γ = 0, want 0 < γ < 1, or AverageCost"},
		{func(s *mixpolicy.Spec) { s.Criterion = mixpolicy.Discounted(1) }, "γ = 1, want 0 < γ < 1, or AverageCost"},
		{func(s *mixpolicy.Spec) { s.Dynamics = nil }, "Dynamics is nil"},
		{func(s *mixpolicy.Spec) { s.Initial = []float64{1} }, "initial distribution: 1 probabilities, want 2"},
		{func(s *mixpolicy.Spec) { s.Initial = []float64{2, -1} }, "initial distribution: entry 1 is -1, want a number in [0, 1]"},
		{at(math.NaN(), mixpolicy.Transition{To: 0, P: 1}), here + "cost NaN, want a finite number"},
		{at(0, mixpolicy.Transition{To: 2, P: 1}), here + "next state 2, want 0 to 1"},
		{at(0, mixpolicy.Transition{To: 0, P: -0.5}), here + "probability -0.5 of next state low, want a number in [0, 1]"},
		{at(0, mixpolicy.Transition{To: 1, P: math.NaN()}), here + "probability NaN of next state high"},
		{at(0, mixpolicy.Transition{To: 0, P: 0.5}, mixpolicy.Transition{To: 0, P: 0.5}), here + "next state low is listed twice, want once (mixpolicy.Merge"},
		{at(0, mixpolicy.Transition{To: 0, P: 0.5}, mixpolicy.Transition{To: 1, P: 0.8}), here + "probabilities add up to 1.3, want 1; the difference is 0.3"},
	} {
		spec := good
		c.spoil(&spec)
		x, err := mixpolicy.New(spec)
		wantError(t, err, c.says)
		if x != nil {
			t.Errorf("%q: an MDP comes with the error", c.says)
		}
	}
}

// Rows whose sums are off by rounding errors pass. Rows of truncated decimals do not, nor rows with many zeros.
func TestRowSumTolerance(t *testing.T) {
	row := func(p ...float64) error {
		return errOf(mixpolicy.New(mixpolicy.Spec{States: len(p), Actions: 1, Criterion: mixpolicy.AverageCost,
			Dynamics: func(int, int) (float64, transitions) { return 0, dense(p) }}))
	}
	mixpolicy.Must(0, row(.1, .1, .1, .1, .1, .1, .1, .1, .1, .1)) // in float64, the sum is not exactly 1
	wantError(t, row(0.3333333333, 0.3333333333, 0.3333333333), "add up to 0.9999999999, want 1")
	wantError(t, row(append(make([]float64, 999), 1+0x1p-40)...), "want 1; the difference is 9.09e-13") // zeros are no reason for more rounding

	// For a row or a column of Ψ with a single entry, the tolerance is 2⁻⁴⁸.
	one := chain([]float64{1})
	for _, check := range []func(p float64) error{
		func(p float64) error { return row(p) },
		func(p float64) error { return errOf(mixpolicy.FeaturesFromColumns(one, []float64{p})) },
	} {
		if err := check(1 + 0x1p-48); err != nil {
			t.Error(err)
		}
		wantError(t, check(1+0x1p-48+2*u), "mixpolicy: ")
	}
}

func TestWithCostsAndCriterion(t *testing.T) {
	x := islands(mixpolicy.AverageCost)
	y := mixpolicy.Must(x.WithCosts([]float64{5, 6, 7, 8}))
	if y.Cost(2, 0) != 7 || x.Cost(2, 0) != 2 {
		t.Errorf("costs %v, and of the original %v", y.Cost(2, 0), x.Cost(2, 0))
	}
	wantError(t, errOf(x.WithCosts([]float64{1, 2})), "2 costs, want one per pair: 4")
	wantError(t, errOf(x.WithCosts([]float64{1, 2, math.Inf(1), 3})), "state c, action 0: cost +Inf, want a finite number")
	wantError(t, errOf(x.WithCriterion(mixpolicy.Discounted(2))), "γ = 2, want 0 < γ < 1")
	z := mixpolicy.Must(x.WithCriterion(mixpolicy.Discounted(0.25)))
	if z.Gamma() != 0.25 || !x.Criterion().Average() || z.Criterion().Average() {
		t.Errorf("criteria %v and %v", z.Criterion(), x.Criterion())
	}
}

func TestMerge(t *testing.T) {
	got := mixpolicy.Merge(transitions{{To: 3, P: 0.25}, {To: 1, P: 0.25}, {To: 3, P: 0.5}})
	if want := (transitions{{To: 3, P: 0.75}, {To: 1, P: 0.25}}); !slices.Equal(got, want) {
		t.Errorf("Merge: %v, want %v", got, want)
	}
	if got := mixpolicy.Merge(nil); len(got) != 0 {
		t.Errorf("Merge(nil) = %v", got)
	}
}

// drawSets returns a random process with all actions, the same process with action sets, and
// the pairs that the action sets allow. New must call the Dynamics of the second process for
// allowed pairs only. Some of the drawn processes have tied or nearly equal costs.
func drawSets(t *rapid.T) (full, x *mixpolicy.MDP, allowed []bool) {
	full = drawMDP(t, drawCriterion(t))
	switch rapid.IntRange(0, 2).Draw(t, "costs") {
	case 1:
		full = priced(full, func(c float64) float64 { return math.Trunc(c/5) / 2 })
	case 2:
		full = priced(full, func(c float64) float64 { return 5 + 1e-8*c })
	}
	n, m := full.States(), full.Actions()
	all := rapid.Bool().Draw(t, "all")
	for _, some := range rapid.SliceOfN(rapid.Bool(), n*m, n*m).Draw(t, "allowed") {
		allowed = append(allowed, all || some)
	}
	for s := range n { // each state and each action has an allowed pair
		allowed[full.Pair(s, rapid.IntRange(0, m-1).Draw(t, "of state"))] = true
	}
	for a := range m {
		allowed[full.Pair(rapid.IntRange(0, n-1).Draw(t, "of action"), a)] = true
	}
	x = mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: m, Criterion: full.Criterion(), Initial: full.Initial(),
		Allowed: func(s, a int) bool { return allowed[s*m+a] },
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			if !allowed[s*m+a] {
				t.Fatalf("New calls Dynamics for action %d of state %d, which is not allowed", a, s)
			}
			return full.Cost(s, a), dense(rowOf(full, s, a))
		},
	}))
	return full, x, allowed
}

// takesOnly reports whether the policy is 0 at every pair that is not allowed.
func takesOnly(p *mixpolicy.Policy, allowed []bool) bool {
	m := len(p.Row(0))
	for i, ok := range allowed {
		if !ok && p.Prob(i/m, i%m) != 0 {
			return false
		}
	}
	return true
}

// The lemma of [mixpolicy.MDP.Allowed]: a policy π of the process with all nm pairs and the policy Fπ of the process
// with action sets have the same cost, and F maps the measure of π to the measure of Fπ.
func TestActionSetsMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, x, allowed := drawSets(t)
		n, m := x.States(), x.Actions()
		padded := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
			States: n, Actions: m, Criterion: x.Criterion(), Initial: x.Initial(),
			Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
				a0 := a
				if !allowed[s*m+a] {
					a0 = slices.Index(allowed[s*m:(s+1)*m], true)
				}
				return x.Cost(s, a0), dense(rowOf(x, s, a0))
			},
		}))
		pi := drawPolicy(t, padded)
		move := func(xi []float64) []float64 {
			moved := make([]float64, n*m)
			for i, v := range xi {
				a := i % m
				if !allowed[i] {
					a = slices.Index(allowed[i-a:i-a+m], true)
				}
				moved[i-i%m+a] += v
			}
			return moved
		}
		prob := make([]float64, n*m)
		for i := range prob {
			prob[i] = pi.Prob(i/m, i%m)
		}
		fpi := mixpolicy.Must(mixpolicy.NewPolicy(x, move(prob)))
		q, fq := mixpolicy.Must(padded.Occupation(t.Context(), pi)), mixpolicy.Must(x.Occupation(t.Context(), fpi))
		// Each elimination has a relative error of a few n·2⁻⁵³, and the two chains P^π add up their terms in
		// different orders.
		if d := close1(move(q.Pair), fq.Pair); d > 64*luTolerance {
			t.Fatalf("ξ^Fπ and Fξ^π differ by %v", d)
		}
		again := mixpolicy.Must(mixpolicy.PolicyOf(x, q.Pair))
		for i, ok := range allowed {
			if s := i / m; q.State[s] > 0x1p-40 && math.Abs(again.Prob(s, i%m)-fpi.Prob(s, i%m)) > 64*u || !ok && fq.Pair[i] != 0 {
				t.Fatalf("π of ξ takes action %d of state %d with %v, Fπ with %v", i%m, s, again.Prob(s, i%m), fpi.Prob(s, i%m))
			}
		}
		if v, fv := q.Cost(padded.Costs()), fq.Cost(x.Costs()); math.Abs(v-fv) > 640*luTolerance {
			t.Fatalf("cost of π is %v, cost of Fπ is %v", v, fv)
		}
		uniform := mixpolicy.UniformPolicy(x)
		for s := range n {
			for a, p := range uniform.Row(s) {
				if ok := allowed[s*m+a]; ok != (p > 0) || ok && p*float64(count(allowed[s*m:(s+1)*m])) != 1 {
					t.Fatalf("uniform in state %d: %v", s, uniform.Row(s))
				}
			}
		}
	})
}

func count(of []bool) int {
	return len(slices.DeleteFunc(slices.Clone(of), func(v bool) bool { return !v }))
}

// door is a process with the states shut and open, in which allowed selects the actions.
func door(allowed func(s, a int) bool) (*mixpolicy.MDP, error) {
	return mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 3, Criterion: mixpolicy.Discounted(.5), Allowed: allowed,
		StateLabel:  func(s int) string { return []string{"shut", "open"}[s] },
		ActionLabel: func(a int) string { return []string{"open it", "wait", "shut it"}[a] },
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			return float64(a), []mixpolicy.Transition{{To: []int{1, s, 0}[a], P: 1}}
		},
	})
}

func sensible(s, a int) bool { return s == 0 && a < 2 || s == 1 && a > 0 }

// Every function refuses a pair that is not allowed, and the error names the state and the action.
func TestActionSetsErrors(t *testing.T) {
	wantError(t, errOf(door(func(s, a int) bool { return s == 0 })), "state open has no allowed action")
	wantError(t, errOf(door(func(s, a int) bool { return a < 2 })), "action shut it is allowed in no state")
	x := mixpolicy.Must(door(sensible))
	const where = "state open, action open it"
	wantError(t, errOf(mixpolicy.NewPolicy(x, []float64{1, 0, 0, .5, .25, .25})), where, "0.5")
	wantError(t, errOf(mixpolicy.Deterministic(x, []int{0, 0})), where)
	wantError(t, errOf(mixpolicy.FeaturesFromColumns(x, []float64{.5, 0, .25, 0, .25, 0})), "feature column 0", "state shut, action shut it")
	mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, []float64{.25, .25, 0, 0, .25, .25}))
	wantError(t, errOf(x.WithCosts([]float64{0, 1, 0, 0, 1, 2})), where, "cost 0, want the cost of action wait, 1")
	all := mixpolicy.Must(door(nil))
	wantError(t, errOf(x.Occupation(t.Context(), mixpolicy.UniformPolicy(all))), "state shut, action shut it") // the first such pair
	wantError(t, errOf(mixpolicy.PolicyOf(x, []float64{0, 0, 0, math.NaN(), 0, 0})), where, "NaN")
	if !x.Allowed(1, 2) || x.Allowed(1, 0) || !all.Allowed(1, 0) {
		t.Error("Allowed gives wrong answers")
	}
	mixpolicy.Must(x.WithCosts([]float64{3, 4, 3, 5, 5, 6}))
	chain := mixpolicy.Must(x.Under(mixpolicy.Must(mixpolicy.Deterministic(x, []int{1, 2})))) // a chain has one action
	mixpolicy.Must(chain.Occupation(t.Context(), mixpolicy.UniformPolicy(chain)))
}

// A shut door cannot be shut again: each state has its own actions.
func ExampleMDP_Allowed() {
	x := mixpolicy.Must(door(sensible))
	fmt.Println(mixpolicy.UniformPolicy(x).Row(0), mixpolicy.UniformPolicy(x).Row(1))
	_, err := mixpolicy.StateIndependent(x, .5, .5, 0)
	fmt.Println(err)
	// Output:
	// [0.5 0.5 0] [0 0.5 0.5]
	// mixpolicy: state open, action open it is not allowed: probability 0.5, want 0
}
