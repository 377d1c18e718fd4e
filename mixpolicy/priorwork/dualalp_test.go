package priorwork

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// threeFeatures is (2.18) with three features on a process of six states and two actions, the
// DualALP of it, and the features: column j is entry(i, j), scaled to add up to 1.
func threeFeatures(t *testing.T, criterion mixpolicy.Criterion, entry func(i, j int) int) (*mixpolicy.Problem, *dualALP, [][]float64) {
	t.Helper()
	w := models.Garnet{States: 6, Actions: 2, Branches: 3, Seed: 5, Ring: true, Criterion: criterion}
	x := mixpolicy.Must(w.MDP())
	columns := make([][]float64, 3)
	for j := range columns {
		columns[j] = make([]float64, x.Pairs())
		for i := range columns[j] {
			columns[j][i] = float64(entry(i, j))
		}
		floats.Scale(1/floats.Sum(columns[j]), columns[j])
	}
	p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...)), mixpolicy.Ball(9)))
	a := begin[*dualALP](t, p, DualALP{Weight: 3, CostScale: 2})
	return p, a, columns
}

// expectedGradient is E ĝ at θ, over all pairs and states with their probabilities.
func expectedGradient(a *dualALP, p *mixpolicy.Problem, theta []float64) []float64 {
	copy(a.theta, theta)
	mean := make([]float64, len(theta))
	for i, q := range p.Features().Sampling() {
		clear(a.gradient)
		a.addPair(i, p.MDP().Costs()[i])
		floats.AddScaled(mean, q, a.gradient)
	}
	for s, q := range a.q2 {
		clear(a.gradient)
		a.addState(s)
		floats.AddScaled(mean, q, a.gradient)
	}
	return mean
}

func ExampleDualALP() {
	w, p := everyPair(mixpolicy.AverageCost)
	best, _, _ := w.Optimum()
	r := mixpolicy.Must(mixpolicy.Solve(background, p, DualALP{Weight: 10, StepSize: mixpolicy.InverseSqrt(0.02)}, mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	fmt.Printf("optimal cost %.4f; its policy costs %.4f\n", best, r.PolicyCost)
	// Output:
	// optimal cost 1.5556; its policy costs 1.5879
}

// E ĝ is a subgradient of f_ω: central differences of f_ω where it is smooth.
func TestDualALPGradientIsUnbiased(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.7)} {
		p, a, _ := threeFeatures(t, criterion, func(i, j int) int { return 1 + (i*(j+2)+j)%7 })
		theta := []float64{2.5, -2.3, 0.8} // some of Ψθ is negative
		if p.NegativeMass(theta) == 0 {
			t.Fatal("nothing negative: the test misses a part")
		}
		mean := expectedGradient(a, p, theta)
		const h = 0x1p-20 // f is piecewise linear: only rounding, 2⁻⁵³ f/h
		for j := range mean {
			plus, minus := slices.Clone(theta), slices.Clone(theta)
			plus[j] += h
			minus[j] -= h
			if want := (a.objective(plus) - a.objective(minus)) / (2 * h); math.Abs(mean[j]-want) > 1e-8 {
				t.Errorf("%v: E ĝ%d = %v, ∂f = %v", criterion, j, mean[j], want)
			}
		}
	}
}

// With a feature for every pair the penalty is exact: for ω above the multipliers, here
// above every relative value, the minimum of f_ω is the optimal cost. The average of T
// iterates is within R₂G/√T of it in the mean.
func TestDualALPFindsTheOptimalPolicy(t *testing.T) {
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(0.8)} {
		w, p := everyPair(criterion)
		best, _, err := w.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		const steps = 100_000
		a := DualALP{Weight: 10, StepSize: mixpolicy.Constant(0.02 / math.Sqrt(steps))}
		r := mixpolicy.Must(mixpolicy.Solve(background, p, a, mixpolicy.Settings{Iterations: steps, Seed: 3}))
		// ‖ĝ‖ ≤ (6 + ω)·4 + ω Σ‖W_s‖ ≤ 64 + 10·4 < 110, ‖θ − θ₀‖ ≤ 1; a step of 0.02/√T is as
		// good as R₂/(G√T) to a factor: E f − f* ≤ (1/0.02 + 0.02·110²)/(2√T) = 0.46.
		const bound = (1/0.02 + 0.02*110*110) / 2
		if f := mixpolicy.Must(a.Objective(p, r.Theta)); f < best-1e-9 || f > best+bound/math.Sqrt(steps) {
			t.Errorf("%v: f_ω(θ̂) = %v, optimum %v", criterion, f, best)
		}
		if r.PolicyCost > best+0.05 { // next best of the four deterministic policies: 0.4 more
			t.Errorf("%v: the policy costs %v, optimum %v", criterion, r.PolicyCost, best)
		}
	}
}

// For occupation measures W is 0, or (1−γ)α1ᵀ: nothing is to be sampled under average
// cost, and f_ω is the penalty method's.
func TestDualALPOfMeasures(t *testing.T) {
	p := queueProblem(models.Queue{Buffer: 20}, mixpolicy.Ball(100))
	theta := []float64{3, -2}
	want := p.Objective(theta) + p.NegativeMass(theta)
	if got := mixpolicy.Must(DualALP{}.Objective(p, theta)); math.Abs(got-want) > 1e-12*math.Abs(want)+1e-13 {
		t.Errorf("f_ω = %v, want %v", got, want)
	}
}

// A batch is as many queries, and an answer before the first step is the start.
func TestDualALPQueries(t *testing.T) {
	p := garnetProblem(mixpolicy.Ball(2))
	a := DualALP{Batch: 3}
	r := mixpolicy.Must(mixpolicy.Solve(background, p, a, mixpolicy.Settings{Iterations: 7, Seed: 1}))
	if r.Queries != 21 || r.Iterations != 7 {
		t.Errorf("%d queries in %d iterations, want 21 in 7", r.Queries, r.Iterations)
	}
	b := begin[*dualALP](t, p, DualALP{})
	var s mixpolicy.Snapshot
	if err := b.View(&s); err != nil || s.Average[0] != 1/float64(p.Dim()) || s.Iteration != 0 || s.Queries != 0 {
		t.Errorf("at the start: %+v, %v", s, err)
	}
}

func TestPublishedDualALP(t *testing.T) {
	m := PublishedDualALP()
	if m.Weight != 2 || m.Batch != 1000 {
		t.Errorf("%+v", m)
	}
	for k, want := range map[int]float64{0: 1e-4, 1999: 1e-4, 2000: 5e-5, 7999: 1.25e-5} {
		if got := m.StepSize.At(k); got != want {
			t.Errorf("η(%d) = %v, want %v", k, got, want)
		}
	}
}
