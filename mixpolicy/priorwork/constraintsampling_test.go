package priorwork

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The results agree with the definitions (4.4) and (4.6).
func TestSamplingAndSizes(t *testing.T) {
	_, p := discountedQueue()
	x := p.MDP()
	v := make([]float64, x.States())
	for s := range v {
		v[s] = 1 + float64(s)/10
	}
	l := mixpolicy.Must(NewLyapunov(x, v))
	// E u(s′) − u(s) is at most 0.2·0.1, because the queue grows with probability 0.2. This difference divided by
	// u(s) is greatest at s = 0, where u = 1.
	if want := 0.98 * 1.02; math.Abs(l.Beta-want) > 16*u {
		t.Errorf("β = %v, want %v", l.Beta, want)
	}
	mu := p.Features().Measure(0).State
	eta := mixpolicy.Must(l.Sampling(x, mu))
	if math.Abs(sum.Of(eta)-1) > 1e-14 {
		t.Errorf("η adds up to %v", sum.Of(eta))
	}
	for s := range mu {
		for a := range x.Actions() {
			if want := mu[s] * v[s] / (4 * sum.Dot(mu, v)); math.Abs(eta[x.Pair(s, a)]-want) > 64*u {
				t.Fatalf("η(%d, %d) = %v, want %v", s, a, eta[x.Pair(s, a)], want)
			}
		}
	}
	k := 16 * 4 * 1.5 / (.1 * .1)
	for what, v := range map[string][2]float64{
		"(4.6)":            {CostSampleSize(4, 4, 1.5, .9, .1, .05), k * (4*math.Log(3*k) + math.Log(2/.05))}, // 48 = 3·16
		"one variable":     {sampleSize(1, .5, .1), 8 * (math.Log(24) + math.Log(20))},
		"a measure of 1":   {CostSampleSize(1, 1, 1./16, .5, .5, .1), 0},
		"a measure over 1": {CostSampleSize(4, 4, 1e-9, .9, .1, .05), 0},
	} {
		if math.Abs(v[0]-v[1]) > 64*u*v[1] {
			t.Errorf("%s: n₀ = %v, want %v", what, v[0], v[1])
		}
	}
}

// By default, η is (4.4) with u = 1 and the mean of the base policies' measures: uniform over the actions of a state,
// including those that no base policy takes.
func TestDefaultSampling(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 3, Actions: 2, Branches: 2, Seed: 1, Ring: true, Criterion: mixpolicy.Discounted(.9)}.MDP())
	first := mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, row []float64) { row[0] = 1 }))
	p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, first)), mixpolicy.Simplex()))
	mu := mixpolicy.Must(x.Occupation(t.Context(), first)).State
	got := begin[*constraintSampling](p, ConstraintSampling{Basis: identity(3)}).Sampling
	if want := vector(6, func(i int) float64 { return mu[i/2] / 2 }); !floats.EqualApprox(got, want, 8*u) {
		t.Errorf("η = %v, want %v", got, want)
	}
}

// BestFit finds the constant nearest to two values, in units of u, and the affine function nearest to s² on 0, …, 4.
// The error of this function is 2, −2 and 2 at three points, so it is nearest by Chebyshev's theorem.
func TestBestFit(t *testing.T) {
	constant := mat.NewDense(2, 1, []float64{1, 1})
	for _, c := range []struct {
		phi      *mat.Dense
		v, u     []float64
		distance float64
		nu       []float64
	}{
		{constant, []float64{1, 7}, []float64{1, 3}, 1.5, []float64{2.5}}, // |ν − 1|/1 = |7 − ν|/3
		{constant, []float64{7, 1}, []float64{1, 3}, 1.5, []float64{5.5}}, // |7 − ν|/1 = |ν − 1|/3
		{mixpolicy.Must(models.Queue{Buffer: 4, Empty: true}.Monomials(1)), []float64{0, 1, 4, 9, 16}, []float64{1, 1, 1, 1, 1}, 2, []float64{-2, 4}},
	} {
		if distance, nu, err := BestFit(background, c.phi, c.v, c.u); err != nil || math.Abs(distance-c.distance) > 1e-13 || !floats.EqualApprox(nu, c.nu, 1e-12) {
			t.Errorf("distance %v at ν = %v (%v), want %v at %v", distance, nu, err, c.distance, c.nu)
		}
	}
}

// The constraints of the linear program come from 50 or 500 draws of pairs. All pairs would give 804 constraints.
func ExampleConstraintSampling() {
	q := deFariasVanRoy(200)
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(background, x, mixpolicy.Must(q.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	s := ConstraintSampling{Basis: mixpolicy.Must(q.Monomials(3)), Weights: geometric(x), Bound: 1e4}
	for _, samples := range []int{50, 500} {
		r := mixpolicy.Must(mixpolicy.Solve(background, p, s, mixpolicy.Settings{Iterations: samples, Seed: 1}))
		fmt.Printf("%d samples: the greedy policy costs %.2f a step\n", samples, r.PolicyCost)
	}
	best := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{}))
	fmt.Printf("optimal: %.2f\n", best.Cost())
	// Output:
	// 50 samples: the greedy policy costs 99.12 a step
	// 500 samples: the greedy policy costs 99.25 a step
	// optimal: 94.04
}
