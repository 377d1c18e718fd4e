package models

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleBirthDeath() {
	// Three servers, each busy one of a few jobs: up .3, down .1 per job present.
	chain := BirthDeath{Up: []float64{.3, .3, .3}, Down: []float64{.1, .2, .3}}
	mu, err := chain.Stationary()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.6f\n", mu) // 1, 3, 9/2, 9/2 of 13
	// Output:
	// [0.076923 0.230769 0.346154 0.346154]
}

// The closed form in exact rational arithmetic, and elimination.
func TestBirthDeathExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		c := BirthDeath{Up: make([]float64, n-1), Down: make([]float64, n-1)}
		for k := range c.Up {
			c.Up[k] = rapid.Float64Range(1e-12, .5).Draw(t, "up")
			c.Down[k] = rapid.Float64Range(1e-12, .5).Draw(t, "down")
		}
		want := exactStationary(c)
		mu, err := c.Stationary()
		if err != nil {
			t.Fatal(err)
		}
		var weight float64 // Σ|log ratio|, the scale of the error
		for k := range c.Up {
			weight += math.Abs(math.Log(c.Up[k] / c.Down[k]))
		}
		// A ratio, its logarithm, their sum, the normaliser and the exponential: some
		// eight roundings of numbers up to weight.
		limit := 8 * (1 + weight) * 0x1p-52
		for k := range mu {
			if math.Abs(mu[k]-want[k]) > limit*want[k] {
				t.Fatalf("μ(%d) = %v, want %v", k, mu[k], want[k])
			}
		}
		x, err := c.MDP()
		if err != nil {
			t.Fatal(err)
		}
		m, err := mixpolicy.Occupation(context.Background(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: mixpolicy.Elimination})
		if err != nil {
			t.Fatal(err)
		}
		for k := range mu { // each of n eliminations rounds a few times; products near 2⁻¹⁰⁷⁴ lose digits
			if math.Abs(m.State[k]-want[k]) > float64(16*n)*0x1p-53*want[k]+0x1p-1000 {
				t.Fatalf("elimination: μ(%d) = %v, want %v", k, m.State[k], want[k])
			}
		}
	})
}

func exactStationary(c BirthDeath) []float64 {
	v := []*big.Rat{big.NewRat(1, 1)}
	total := big.NewRat(1, 1)
	for k := range c.Up {
		r := new(big.Rat).Quo(new(big.Rat).SetFloat64(c.Up[k]), new(big.Rat).SetFloat64(c.Down[k]))
		v = append(v, r.Mul(r, v[k]))
		total.Add(total, r)
	}
	mu := make([]float64, len(v))
	for k := range v {
		mu[k], _ = new(big.Rat).Quo(v[k], total).Float64()
	}
	return mu
}

// Where μ underflows, its logarithm is still known: here log μ(k) = log(1−r) + k log r
// up to the cut-off, with r = 10⁻⁴.
func TestLogStationaryFarOut(t *testing.T) {
	const n, r = 2000, 1e-4
	c := BirthDeath{Up: make([]float64, n-1), Down: make([]float64, n-1)}
	for k := range c.Up {
		c.Up[k], c.Down[k] = .9*r, .9
	}
	logs, err := c.LogStationary()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, 1, 1000, n - 1} {
		want := math.Log1p(-r) + float64(k)*math.Log(r)
		if math.Abs(logs[k]-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("log μ(%d) = %v, want %v", k, logs[k], want)
		}
	}
}

func TestBirthDeathRefuses(t *testing.T) {
	for _, c := range []struct {
		chain BirthDeath
		want  string
	}{
		{BirthDeath{Up: []float64{.5}, Down: []float64{.5, .5}}, "1 probabilities up and 2 down"},
		{BirthDeath{Up: []float64{.5, 0}, Down: []float64{.5, .5}}, "states 1 and 2"},
		{BirthDeath{Up: []float64{.5}, Down: []float64{math.NaN()}}, "NaN"},
		{BirthDeath{Up: []float64{.5, .7}, Down: []float64{.5, .5}}, "state 1 is left with probability 1.2"},
		{BirthDeath{Up: []float64{math.Inf(1)}, Down: []float64{.5}}, "+Inf"},
	} {
		_, err := c.chain.MDP()
		_, err2 := c.chain.Stationary()
		if err == nil || err2 == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: errors %v and %v, want them to say %q", c.chain, err, err2, c.want)
		}
	}
}
