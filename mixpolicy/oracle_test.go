package mixpolicy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// firstAt returns an oracle whose first sample is the given pair.
func firstAt(p *mixpolicy.Problem, pair int) *mixpolicy.Oracle {
	for stream := uint64(0); ; stream++ {
		if first, _ := mixpolicy.Must(mixpolicy.NewOracle(p, 1, stream)).Sample(); first == pair {
			return mixpolicy.Must(mixpolicy.NewOracle(p, 1, stream))
		}
	}
}

// Step (1): pairs are drawn from q = (1/d) Σ ψⁱ. By Hoeffding's inequality, a frequency over N draws is
// off by more than √(ln(2/δ)/2N) with probability at most δ.
func TestOracleSamples(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))
	const draws, delta = 200_000, 1e-9
	pairs := p.MDP().Pairs()
	frequency := make([]float64, pairs)
	for range draws {
		i, cost := o.Sample()
		if cost != p.MDP().Costs()[i] {
			t.Fatalf("cost %v of pair %d, want %v", cost, i, p.MDP().Costs()[i])
		}
		frequency[i] += 1. / draws
	}
	tolerance := math.Sqrt(math.Log(2*float64(pairs)/delta) / (2 * draws))
	for i, q := range p.Features().Sampling() { // TestFeatures_2_2 checks that q is the mean of the columns
		if math.Abs(frequency[i]-q) > tolerance {
			t.Errorf("pair %d: frequency %v, want %v", i, frequency[i], q)
		}
	}
	if o.Queries() != draws {
		t.Errorf("%d queries counted, want %d", o.Queries(), draws)
	}
}

// (A.3)(iii): a query of (s, a) reveals its cost and a next state from P_a(s, ·).
func TestOracleQuery_A_3(t *testing.T) {
	x := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost).MDP()
	o := mixpolicy.Must(mixpolicy.NewOracle(small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost), 1, 0))
	const draws, delta = 20_000, 1e-10
	tolerance := math.Sqrt(math.Log(2/delta) / (2 * draws))
	for s := range x.States() {
		for a := range x.Actions() {
			frequency := make([]float64, x.States())
			for range draws {
				cost, next := o.Query(s, a)
				if cost != x.Cost(s, a) {
					t.Fatalf("cost %v, want %v", cost, x.Cost(s, a))
				}
				frequency[next] += 1. / draws
			}
			to, prob := x.Next(s, a)
			for k, s2 := range to {
				if math.Abs(frequency[s2]-prob[k]) > tolerance {
					t.Errorf("P_%d(%d, %d): frequency %v, want %v", a, s, s2, frequency[s2], prob[k])
				}
				frequency[s2] = 0
			}
			if floats.Max(frequency) > 0 {
				t.Errorf("states outside of P_%d(%d, ·) were drawn", a, s)
			}
		}
	}
	if want := draws * x.Pairs(); o.Queries() != want {
		t.Errorf("%d queries counted, want %d", o.Queries(), want)
	}
}

// With noise, an oracle draws the same pairs and next states, and adds to every cost the next
// number from a separate generator. The optimum of the problem stays the same.
func TestOracleNoise(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	noisy := p.WithNoise(func(rng *rand.Rand) float64 { return rng.NormFloat64() })
	a, b := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 3)), mixpolicy.Must(mixpolicy.NewOracle(noisy, 1, 3))
	noise := rand.New(rand.NewPCG(1, ^uint64(3)))
	for k := range 1000 {
		i, cost := a.Sample()
		j, seen := b.Sample()
		if want := cost + noise.NormFloat64(); i != j || seen != want {
			t.Fatalf("draw %d: pair %d at %v, want pair %d at %v", k, j, seen, i, want)
		}
		cost, next := a.Query(i/p.MDP().Actions(), i%p.MDP().Actions())
		seen, other := b.Query(i/p.MDP().Actions(), i%p.MDP().Actions())
		if want := cost + noise.NormFloat64(); next != other || seen != want {
			t.Fatalf("query %d: %v and state %d, want %v and state %d", k, seen, other, want, next)
		}
	}
	if a.Queries() != b.Queries() {
		t.Errorf("%d queries, want %d", b.Queries(), a.Queries())
	}
	if x, y := mixpolicy.Must(p.Optimum(t.Context())), mixpolicy.Must(noisy.Optimum(t.Context())); x != y {
		t.Error("noise has changed the optimum")
	}
}
