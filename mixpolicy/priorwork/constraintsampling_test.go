package priorwork

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// (4.5) and (4.7) against their definitions.
func TestSamplingAndSizes(t *testing.T) {
	_, p := discountedQueue()
	x := p.MDP()
	v := make([]float64, x.States())
	for s := range v {
		v[s] = 1 + float64(s)/10
	}
	l := mixpolicy.Must(NewLyapunov(x, v))
	// E u(s′) − u(s) is at most 0.2·0.1, upwards, and at s = 0 relative to u = 1.
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
	const d, m, zeta, gamma, epsilon, delta = 4, 4, 1.5, 0.9, 0.1, 0.05
	k := 16 * m * zeta / ((1 - gamma) * epsilon)
	want := k * (d*math.Log(3*k) + math.Log(2/delta)) // 48 = 3·16
	if got := CostSampleSize(d, m, zeta, gamma, epsilon, delta); math.Abs(got/want-1) > 64*u {
		t.Errorf("n₀ = %v, want %v", got, want)
	}
	if got := CostSampleSize(d, m, 1e-9, gamma, epsilon, delta); got != 0 {
		t.Errorf("n₀ = %v for a measure beyond 1, want 0", got)
	}
}

// Left alone, η is (4.4) with u = 1 and the mean of the base policies' measures: uniform over the
// actions of a state, also those that no base policy takes. The pairs of a run show it, by
// Hoeffding.
func TestDefaultSampling(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 3, Actions: 2, Branches: 2, Seed: 1, Ring: true, Criterion: mixpolicy.Discounted(.9)}.MDP())
	first := mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, row []float64) { row[0] = 1 }))
	p := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, first)), mixpolicy.Simplex()))
	measure := mixpolicy.Must(x.Occupation(t.Context(), first)).State
	a := begin[*constraintSampling](t, p, ConstraintSampling{Basis: identity(3)})
	const draws = 50_000
	count := make([]float64, x.Pairs())
	for range draws {
		clear(a.known)
		a.pairs, a.cost = a.pairs[:0], a.cost[:0]
		if err := a.Step(); err != nil {
			t.Fatal(err)
		}
		count[a.pairs[0]] += 1. / draws
		if a.cost[0] != x.Costs()[a.pairs[0]] {
			t.Fatalf("pair %d costs %v, want %v", a.pairs[0], a.cost[0], x.Costs()[a.pairs[0]])
		}
	}
	tolerance := math.Sqrt(math.Log(2*6/1e-9) / (2 * draws))
	for i, got := range count {
		if want := measure[i/2] / 2; math.Abs(got-want) > tolerance || math.Abs(a.Sampling[i]-want) > 8*u {
			t.Errorf("pair %d: η = %v, drawn %v of the time, want %v", i, a.Sampling[i], got, want)
		}
	}
}

// The constant that is nearest to some values, in units of u, by hand; and the affine
// function nearest to s² on 0, …, 4, which by Chebyshev's theorem is off by 2, three times.
func TestBestFit(t *testing.T) {
	constant := mat.NewDense(2, 1, []float64{1, 1})
	// |ν − 1|/1 = |7 − ν|/3 at ν = 2.5.
	distance, nu, err := BestFit(background, constant, []float64{1, 7}, []float64{1, 3})
	if err != nil || math.Abs(distance-1.5) > 1e-13 || math.Abs(nu[0]-2.5) > 1e-13 {
		t.Errorf("distance %v at ν = %v (%v), want 1.5 at 2.5", distance, nu, err)
	}
	// |7 − ν|/1 = |ν − 1|/3 at ν = 11/2.
	distance, nu, err = BestFit(background, constant, []float64{7, 1}, []float64{1, 3})
	if err != nil || math.Abs(distance-1.5) > 1e-13 || math.Abs(nu[0]-5.5) > 1e-13 {
		t.Errorf("distance %v at ν = %v (%v), want 1.5 at 5.5", distance, nu, err)
	}
	phi := mixpolicy.Must(models.Queue{Buffer: 4, Empty: true}.Monomials(1))
	distance, nu, err = BestFit(background, phi, []float64{0, 1, 4, 9, 16}, []float64{1, 1, 1, 1, 1})
	if err != nil || math.Abs(distance-2) > 1e-13 || math.Abs(nu[0]+2) > 1e-12 || math.Abs(nu[1]-4) > 1e-12 {
		t.Errorf("distance %v at ν = %v (%v), want 2 at (−2, 4)", distance, nu, err)
	}
}
