package theory_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

const u = 0x1p-53 // unit roundoff

// drawDistribution draws k multiples of 1/64 that add up to 1, some of them 0.
func drawDistribution(t *rapid.T, k int, name string) []float64 {
	units := make([]int, k)
	for left := 64; left > 0; {
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

func drawValues(t *rapid.T, n int, name string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-100, 100), n, n).Draw(t, name)
}

// drawMDP draws a small MDP. Every row gives at least 1/16 to one common state, so every policy has one recurrent
// class, and this class is aperiodic.
func drawMDP(t *rapid.T) *mixpolicy.MDP {
	n, m := rapid.IntRange(1, 5).Draw(t, "states"), rapid.IntRange(1, 3).Draw(t, "actions")
	common := rapid.IntRange(0, n-1).Draw(t, "common")
	criterion := rapid.SampledFrom([]mixpolicy.Criterion{
		mixpolicy.Discounted(.3), mixpolicy.Discounted(.9), mixpolicy.Discounted(.999), mixpolicy.AverageCost,
	}).Draw(t, "criterion")
	var rows [][]float64
	for range n * m {
		p := drawDistribution(t, n, "P")
		floats.Scale(15./16, p)
		p[common] += 1. / 16
		rows = append(rows, p)
	}
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: n, Actions: m, Criterion: criterion, Initial: drawDistribution(t, n, "α"),
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) { return 0, transitions(rows[s*m+a]) },
	}))
}

func transitions(p []float64) []mixpolicy.Transition {
	var next []mixpolicy.Transition
	for s, v := range p {
		next = append(next, mixpolicy.Transition{To: s, P: v})
	}
	return next
}

func drawPolicy(t *rapid.T, x *mixpolicy.MDP) *mixpolicy.Policy {
	var prob []float64
	for range x.States() {
		prob = append(prob, drawDistribution(t, x.Actions(), "π")...)
	}
	return mixpolicy.Must(mixpolicy.NewPolicy(x, prob))
}

// eachDeterministic calls f with every deterministic policy of x.
func eachDeterministic(x *mixpolicy.MDP, f func(*mixpolicy.Policy)) {
	actions := make([]int, x.States())
	for k := range int(math.Pow(float64(x.Actions()), float64(x.States()))) {
		for s := range actions { // the digits of k
			actions[s] = k % x.Actions()
			k /= x.Actions()
		}
		f(mixpolicy.Must(mixpolicy.Deterministic(x, actions)))
	}
}

// denseChain returns P^π by its definition, P^π(s,s′) = Σ_a π_a(s) P_a(s,s′).
func denseChain(x *mixpolicy.MDP, p *mixpolicy.Policy) *mat.Dense {
	c := mat.NewDense(x.States(), x.States(), nil)
	for s := range x.States() {
		for a := range x.Actions() {
			to, prob := x.Next(s, a)
			for k, s2 := range to {
				c.Set(s, int(s2), c.At(s, int(s2))+p.Prob(s, a)*prob[k])
			}
		}
	}
	return c
}

func product(a, b *mat.Dense) *mat.Dense {
	c := new(mat.Dense)
	c.Mul(a, b)
	return c
}

// chain is an average-cost MDP with one action and the given rows of P.
func chain(rows ...[]float64) *mixpolicy.MDP {
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: len(rows), Actions: 1, Criterion: mixpolicy.AverageCost,
		Dynamics:   func(s, _ int) (float64, []mixpolicy.Transition) { return 0, transitions(rows[s]) },
		StateLabel: func(s int) string { return string(rune('a' + s)) },
	}))
}

// twoStates is a chain that leaves its first state with probability p, and its second with probability q.
func twoStates(p, q float64) *mixpolicy.MDP { return chain([]float64{1 - p, p}, []float64{q, 1 - q}) }

// islands is a chain with the recurrent classes {a, b} and {d}; c is transient.
func islands() *mixpolicy.MDP {
	return chain([]float64{0, 1, 0, 0}, []float64{1, 0, 0, 0}, []float64{.5, 0, 0, .5}, []float64{0, 0, 0, 1})
}

// queueProblem is (2.18) for the queue of section 6 with the given buffer; 0 means 100.
func queueProblem(t testing.TB, buffer int, class mixpolicy.Class) *mixpolicy.Problem {
	t.Helper()
	q := models.Queue{Buffer: buffer}
	x := mixpolicy.Must(q.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(q.Policies(x))...))
	return mixpolicy.Must(mixpolicy.NewProblem(psi, class))
}

// garnetProblem is a random discounted problem with d random base policies.
func garnetProblem(t testing.TB, seed uint64, d int, class mixpolicy.Class) *mixpolicy.Problem {
	t.Helper()
	x := mixpolicy.Must(models.Garnet{States: 12, Actions: 3, Branches: 4, Seed: seed, Ring: true, Criterion: mixpolicy.Discounted(0.9)}.MDP())
	rng := rand.New(rand.NewPCG(seed, 99))
	var base []*mixpolicy.Policy
	for range d {
		base = append(base, mixpolicy.Must(mixpolicy.PolicyFunc(x, func(_ int, row []float64) {
			for a := range row {
				row[a] = 0.05 + rng.ExpFloat64()
			}
			floats.Scale(1/floats.Sum(row), row)
		})))
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, base...)), class))
}

// wantError checks that the error contains every one of the given parts.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

// panics checks that f panics with a message that begins with the prefix.
func panics(t testing.TB, prefix string, f func()) {
	t.Helper()
	defer func() {
		if s, _ := recover().(string); !strings.HasPrefix(s, prefix) {
			t.Errorf("panic %q, want %s…", s, prefix)
		}
	}()
	f()
}
