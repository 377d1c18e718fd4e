package models

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

func TestGarnet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		g := Garnet{
			States: n, Actions: rapid.IntRange(1, 5).Draw(t, "m"),
			Branches: rapid.IntRange(1, n).Draw(t, "branches"),
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Ring:     rapid.Bool().Draw(t, "ring"),
		}
		if rapid.Bool().Draw(t, "discounted") {
			g.Criterion = mixpolicy.Discounted(.9)
		}
		x, err := g.MDP()
		if err != nil {
			t.Fatal(err)
		}
		y, err := g.MDP()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x.Costs(), y.Costs()) {
			t.Fatal("the same seed gives different costs")
		}
		for s := range n {
			for a := range g.Actions {
				to, p := x.Next(s, a)
				to2, p2 := y.Next(s, a)
				if !slices.Equal(to, to2) || !slices.Equal(p, p2) {
					t.Fatal("the same seed gives different transitions")
				}
				if len(to) != g.Branches { // a gap of exactly 0 has probability 2⁻⁵³
					t.Fatalf("state %d, action %d: %d next states, want %d", s, a, len(to), g.Branches)
				}
				if g.Ring && !slices.Contains(to, int32((s+1)%n)) {
					t.Fatalf("state %d, action %d leads to %v, without %d", s, a, to, (s+1)%n)
				}
				if c := x.Cost(s, a); !(c >= 0 && c < 1) {
					t.Fatalf("cost %v", c)
				}
			}
		}
		if g.Ring && g.Criterion == (mixpolicy.Criterion{}) {
			if _, err := x.Occupation(mixpolicy.UniformPolicy(x)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Next states are uniform without repetition: each of the n is drawn with
// probability b/n, whatever s.
func TestGarnetDrawsUniformly(t *testing.T) {
	const n, b, seeds = 7, 3, 4000
	for _, ring := range []bool{false, true} {
		var count [n]float64 // by distance ahead of the state
		for seed := range uint64(seeds) {
			x, err := Garnet{States: n, Actions: 1, Branches: b, Seed: seed, Ring: ring}.MDP()
			if err != nil {
				t.Fatal(err)
			}
			for s := range n {
				to, _ := x.Next(s, 0)
				for _, s2 := range to {
					count[(int(s2)-s+n)%n]++
				}
			}
		}
		for k, c := range count {
			want := float64(b) / n
			if ring {
				want = float64(b-1) / (n - 1)
				if k == 1 {
					want = 1
				}
			}
			trials := float64(seeds * n)
			if sd := math.Sqrt(want * (1 - want) / trials); math.Abs(c/trials-want) > 5*sd {
				t.Errorf("ring %v: s+%d is a next state with frequency %.4f, want %.4f ± %.4f", ring, k, c/trials, want, sd)
			}
		}
	}
}

func TestGarnetRefuses(t *testing.T) {
	for _, g := range []Garnet{
		{}, {States: 3, Actions: 0, Branches: 1}, {States: 3, Actions: 1}, {States: 3, Actions: 1, Branches: 4},
		{States: 3, Actions: 1, Branches: 2, Criterion: mixpolicy.Discounted(2)},
	} {
		if _, err := g.MDP(); err == nil {
			t.Errorf("%+v is accepted", g)
		}
	}
}
