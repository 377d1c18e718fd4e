package theory_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Assumption A.1: the total variation distance is the greatest difference of the probabilities of an event.
func TestTotalVariation_A1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "k")
		mu, nu := drawDistribution(t, k, "μ"), drawDistribution(t, k, "ν")
		var want float64
		for event := range 1 << k {
			var d float64
			for i := range k {
				if event>>i&1 == 1 {
					d += mu[i] - nu[i]
				}
			}
			want = max(want, math.Abs(d))
		}
		if got := theory.TotalVariation(mu, nu); got != want { // exact, in multiples of 1/64
			t.Fatalf("‖μ − ν‖ = %v, want %v", got, want)
		}
	})
}

// (2.23): the doubling search finds the same first t as a search one step at a time.
func TestMixingTime_2_23(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t)
		p := drawPolicy(t, x)
		epsilon := rapid.SampledFrom([]float64{0.3, 0.05, 1e-4}).Draw(t, "ε")
		m := mixpolicy.Must(theory.MixingTime(context.Background(), x, p, epsilon))
		mu := mixpolicy.Must(mixpolicy.Must(x.WithCriterion(mixpolicy.AverageCost)).Occupation(t.Context(), p)).State
		chain := denseChain(x, p)
		power, time := chain, 1
		from := func(s int) float64 { return theory.TotalVariation(power.RawRowView(s), mu) }
		farthest := func() (d float64) {
			for s := range mu {
				d = max(d, from(s))
			}
			return d
		}
		for ; farthest() > epsilon; time++ {
			power = product(power, chain)
		}
		// If d(t) equals ε up to rounding, the search may return t or the next time.
		if d := farthest(); m.Time != time && math.Abs(d-epsilon) > 1e-10 && math.Abs(m.Distance-epsilon) > 1e-10 ||
			m.Time == time && (math.Abs(m.Distance-d) > 1e-12 || from(m.Slowest) < d-1e-12) {
			t.Fatalf("τ(%v) = %+v, stepping gives %d and %v", epsilon, m, time, d)
		}
		curve := mixpolicy.Must(theory.MixingCurve(context.Background(), x, p, nil, m.Time))
		if same := mixpolicy.Must(theory.MixingCurve(context.Background(), x, p, mu, m.Time)); !slices.Equal(same, curve) {
			t.Fatalf("distances from the stationary distribution %v, %v without naming it", same, curve)
		}
		if len(curve) != m.Time+1 || math.Abs(curve[m.Time]-m.Distance) > 1e-12 || m.Time > 1 && curve[m.Time-1] <= epsilon-1e-10 {
			t.Fatalf("d(τ−1), d(τ) = %v, says d(τ) = %v", curve[m.Time-1:], m.Distance)
		}
	})
}

// The corrected (2.24): δ is the greatest distance between two rows of Pᵗ, the returned states attain it, and δ(P^τ) ≤ 2ε.
func TestContraction_2_24(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t)
		p := drawPolicy(t, x)
		n := x.States()
		steps := rapid.IntRange(1, 5).Draw(t, "steps")
		c := mixpolicy.Must(theory.ContractionCoefficient(context.Background(), x, p, steps))
		chain := denseChain(x, p)
		power := mat.DenseCopyOf(chain)
		for range steps - 1 {
			power = product(power, chain)
		}
		var want float64
		for s := range n {
			for s2 := range n {
				want = max(want, theory.TotalVariation(power.RawRowView(s), power.RawRowView(s2)))
			}
		}
		if math.Abs(c.Coefficient-want) > float64(steps*n*8)*u {
			t.Fatalf("δ = %v, want %v", c.Coefficient, want)
		}
		if d := theory.TotalVariation(power.RawRowView(c.First), power.RawRowView(c.Second)); math.Abs(d-want) > float64(steps*n*8)*u {
			t.Fatalf("states %d, %d give %v, δ = %v", c.First, c.Second, d, want)
		}
		const epsilon = 0.2
		m := mixpolicy.Must(theory.MixingTime(context.Background(), x, p, epsilon))
		if after := mixpolicy.Must(theory.ContractionCoefficient(context.Background(), x, p, m.Time)); after.Coefficient > 2*epsilon+1e-12 {
			t.Fatalf("δ(P^τ) = %v > 2ε", after.Coefficient)
		}
	})
}

// The corrected (2.24): UniformMixingTime is the least t with δᵗ ≤ ε, where δ is the greatest coefficient of any
// policy. A deterministic policy attains δ, and no policy mixes later than t.
func TestUniformMixingTime_2_24(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t)
		epsilon := rapid.SampledFrom([]float64{0.1, 1e-300}).Draw(t, "ε")
		time := mixpolicy.Must(theory.UniformMixingTime(context.Background(), x, epsilon))
		var greatest float64
		atMost := func(p *mixpolicy.Policy) float64 {
			if m := mixpolicy.Must(theory.MixingTime(context.Background(), x, p, 0.1)); epsilon == 0.1 && m.Time > time {
				t.Fatalf("τ = %d > %d", m.Time, time)
			}
			return mixpolicy.Must(theory.ContractionCoefficient(context.Background(), x, p, 1)).Coefficient
		}
		eachDeterministic(x, func(p *mixpolicy.Policy) { greatest = max(greatest, atMost(p)) })
		if d := atMost(drawPolicy(t, x)); d > greatest+8*u {
			t.Fatalf("δ = %v, deterministic policies reach %v", d, greatest)
		}
		// t ln δ ≤ ln ε < (t−1) ln δ. An error of 8u in δ ≤ 15/16 changes ln δ ≤ −1/16 by 8u/δ.
		rounding := 16 * 8 * u / max(greatest, u)
		need, step := -math.Log(epsilon), -math.Log(greatest)
		if float64(time)*step < need*(1-rounding) || time > 1 && float64(time-1)*step >= need*(1+rounding) {
			t.Fatalf("τ = %d for ε = %v, deterministic policies reach δ = %v", time, epsilon, greatest)
		}
	})
	// Lengths 1 and 4 of the queue have no next state in common, so δ = 1.
	if upper, err := theory.UniformMixingTime(t.Context(), mixpolicy.Must(models.Queue{}.MDP()), 0.25); err != nil || upper != math.MaxInt {
		t.Errorf("queue: %d, %v, want none", upper, err)
	}
}

func TestMixingErrors(t *testing.T) {
	x := twoStates(1, 1)
	p := mixpolicy.UniformPolicy(x)
	wantError(t, second(theory.MixingTime(t.Context(), x, p, 0.25)), "period 2: it never mixes")
	for _, epsilon := range []float64{0, 1, math.NaN()} {
		wantError(t, second(theory.MixingTime(t.Context(), x, p, epsilon)), "want 0 < ε < 1")
		wantError(t, second(theory.UniformMixingTime(t.Context(), x, epsilon)), "want 0 < ε < 1")
	}
	y := islands()
	wantError(t, second(theory.MixingTime(t.Context(), y, mixpolicy.UniformPolicy(y), 0.25)), "2 recurrent classes, {a, b} and {d}")
	wantError(t, second(theory.ContractionCoefficient(t.Context(), x, p, 0)), "contraction over 0 steps, want at least 1")
	wantError(t, second(theory.ContractionCoefficient(t.Context(), x, nil, 1)), "policy is nil")
	wantError(t, second(theory.ErgodicityOf(x)), "no policies, so κ is undefined")
	wantError(t, second(theory.ErgodicityOf(y, mixpolicy.UniformPolicy(y))), "theory: policy 0: the chain of this policy has 2 ")

	// Action 0 mixes in one step. Action 1 never leaves the state.
	stay := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{States: 2, Actions: 2, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, a int) (float64, []mixpolicy.Transition) {
			p := []float64{.5, .5}
			if a == 1 {
				p = []float64{float64(1 - s), float64(s)}
			}
			return 0, transitions(p)
		}}))
	wantError(t, second(theory.UniformErgodicity(t.Context(), stay)), "Assumption A.2 for action 1 in every state", "2 recurrent classes")

	large := mixpolicy.Must(models.Garnet{States: 1001, Actions: 1, Branches: 3, Ring: true, Criterion: mixpolicy.AverageCost}.MDP())
	wantError(t, second(theory.MixingTime(t.Context(), large, mixpolicy.UniformPolicy(large), 0.25)), "1001 states, want at most 1000")
}

// (2.25) for the queue of section 6: κ of given policies is the least constant that holds for all of them.
func TestErgodicityOf_2_25(t *testing.T) {
	x := mixpolicy.Must(models.Queue{}.MDP())
	one := mixpolicy.Must(mixpolicy.StateIndependent(x, 0.25, 0.25, 0.25, 0.25))
	two := mixpolicy.Must(mixpolicy.StateIndependent(x, 0.3, 0.3, 0.2, 0.2))
	if e := mixpolicy.Must(theory.ErgodicityOf(x, one)); math.Abs(e.Lower-1) > 1e-10 || e.Upper != e.Lower {
		t.Errorf("κ of the uniform measure is %v", e.Lower)
	}
	e := mixpolicy.Must(theory.ErgodicityOf(x, one, two))
	// μ² is geometric with ratio r = .5/.46: its least mass is (r−1)/(r¹⁰⁰−1).
	r := 0.5 / 0.46
	least := 100 * (r - 1) / (math.Pow(r, 100) - 1)
	if want := 1 / (least * least); math.Abs(e.Lower/want-1) > 1e-11 || e.Policy != two || e.State != 0 || e.Upper != e.Lower {
		t.Errorf("κ = %v at state %d, want %v", e.Lower, e.State, want)
	}
	// κ is finite for every policy, but too large for a useful bound: the slowest service leaves length 1 a mass of
	// 2.4·10⁻⁴⁰, because r = .5/.2.
	least = 100 * 1.5 / (math.Pow(2.5, 100) - 1)
	all := mixpolicy.Must(theory.UniformErgodicity(t.Context(), x))
	if want := 1 / (least * least); all.Lower < want*(1-1e-11) || !math.IsInf(all.Upper, 1) {
		t.Errorf("κ in [%v, %v], a policy has %v", all.Lower, all.Upper, want)
	}
}

// (2.25) for all policies: the interval contains the κ of all deterministic policies,
// which attain the extreme masses.
func TestUniformErgodicity_2_25(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawMDP(t)
		e := mixpolicy.Must(theory.UniformErgodicity(context.Background(), x))
		n := float64(x.States())
		least, greatest := math.Inf(1), 0.0
		eachDeterministic(x, func(p *mixpolicy.Policy) {
			for _, mu := range mixpolicy.Must(x.Occupation(t.Context(), p)).State {
				least, greatest = min(least, n*mu), max(greatest, n*mu)
			}
		})
		want := max(1/(least*least), greatest*greatest)
		if !(want >= e.Lower*(1-1e-12) && want <= e.Upper*(1+1e-12)) || n > 1 && !(e.Upper > e.Lower) && !math.IsInf(want, 1) {
			t.Fatalf("κ = %v is outside [%v, %v]", want, e.Lower, e.Upper)
		}
		// Each mass has an error of about 10⁻¹¹, so κ is accurate unless a mass is tiny.
		if !math.IsInf(want, 1) && want < 1e8 && e.Upper/e.Lower > 1+1e-4 {
			t.Fatalf("κ in [%v, %v]", e.Lower, e.Upper)
		}
		if got := mixpolicy.Must(theory.ErgodicityOf(x, e.Policy)).Lower; math.Abs(got/e.Lower-1) > 1e-12 && !math.IsInf(got, 1) {
			t.Fatalf("policy has κ = %v, says %v", got, e.Lower)
		}
		random := mixpolicy.Must(theory.ErgodicityOf(x, drawPolicy(t, x))).Lower
		if random > e.Upper*(1+1e-12) {
			t.Fatalf("a policy has κ = %v > %v", random, e.Upper)
		}
	})
}

// Here, κ comes from the greatest mass. Action 0 leads to the first of ten states with probability
// ½, and otherwise to a uniformly random state; action 1 leads to a uniformly random state. If
// every state takes action 0, the first state has the mass ½ + ½·1/10, and every other state 1/20.
// In the second case, some states allow action 2 instead of action 1.
func TestUniformErgodicityCrowd_2_25(t *testing.T) {
	const n = 10
	for actions, allowed := range map[int]func(s, a int) bool{2: nil, 3: func(s, a int) bool { return a == 0 || (a == 1) == (s < 4) }} {
		x := mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
			States: n, Actions: actions, Criterion: mixpolicy.AverageCost, Allowed: allowed,
			Dynamics: func(_, a int) (float64, []mixpolicy.Transition) {
				p := slices.Repeat([]float64{1. / n}, n)
				if a == 0 {
					floats.Scale(.5, p)
					p[0] += .5
				}
				return 0, transitions(p)
			},
		}))
		e := mixpolicy.Must(theory.UniformErgodicity(t.Context(), x))
		want := 5.5 * 5.5                                                                                     // > 1/(10/20)²
		if !(e.Lower <= want*(1+1e-12) && e.Upper > want && e.Upper > e.Lower && e.Upper/e.Lower <= 1+1e-9) { // Upper is rounded upwards
			t.Errorf("%d actions: κ in [%v, %v], want %v", actions, e.Lower, e.Upper, want)
		}
	}
}
