package models

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleQueue() {
	x, err := Queue{}.MDP()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.States(), "states,", x.Actions(), "actions,", x.Criterion())
	s, a := 41, 3
	to, p := x.Next(s, a)
	for k, s2 := range to {
		fmt.Printf("length %s at rate %s → %s with probability %.4f\n", x.StateName(s), x.ActionName(a), x.StateName(int(s2)), p[k])
	}
	fmt.Printf("cost %.2f\n", x.Cost(s, a))
	// Output:
	// 100 states, 4 actions, average cost
	// length 42 at rate 0.8 → 41 with probability 0.6154
	// length 42 at rate 0.8 → 43 with probability 0.3846
	// cost 1794.72
}

func ExampleQueue_literal() {
	_, err := Queue{Reading: Literal}.MDP()
	fmt.Println(err)
	// Output:
	// models: the literal reading of (6.1) is no distribution: state 2, action 0.8: up 0.5 + down 0.8 = 1.3, want at most 1; choose another Reading, such as models.Uniformised
}

// Each reading's law against an enumeration of the events it stands for.
func TestReadingsEnumerated(t *testing.T) {
	rates := []float64{.2, .4, .6, .8}
	for _, r := range Readings() {
		rho := .5
		if r == SlowArrivals {
			rho = .2
		}
		for a, d := range rates {
			var want Law
			switch r {
			case Uniformised: // a clock of rate 1.3: arrival, departure, or nothing
				want = Law{Up: .5 / 1.3, Down: d / 1.3}
			case Independent:
				for arrival := range 2 {
					for departure := range 2 {
						p := []float64{1 - rho, rho}[arrival] * []float64{1 - d, d}[departure]
						switch arrival - departure {
						case 1:
							want.Up += p
						case -1:
							want.Down += p
						}
					}
				}
			case ArrivalFirst: // ϱ is served first from the unit of probability, the rest is left for a
				want.Up, want.Down = take(rho, d)
			case DepartureFirst:
				want.Down, want.Up = take(d, rho)
			case Renormalised:
				want = Law{Up: rho, Down: d}
				if total := rho + d; total > 1 {
					want.Up, want.Down = rho/total, d/total
				}
			case SlowArrivals:
				want = Law{Up: .2, Down: d}
			}
			want.Stay = 1 - want.Up - want.Down
			got, err := Queue{Reading: r}.Law(a)
			if err != nil {
				t.Fatal(err)
			}
			if !close16(got.Up, want.Up) || !close16(got.Down, want.Down) || !close16(got.Stay, want.Stay) {
				t.Errorf("%v, rate %v: %+v, want %+v", r, d, got, want)
			}
		}
	}
}

func take(first, second float64) (float64, float64) { return first, min(second, 1-first) }

// close16 allows 16 roundings of numbers up to 1.
func close16(x, y float64) bool { return math.Abs(x-y) <= 16*0x1p-53 }

// The boundary: the impossible event's probability stays.
func TestQueueEnds(t *testing.T) {
	for _, r := range Readings() {
		for _, empty := range []bool{false, true} {
			q := Queue{Reading: r, Empty: empty, Buffer: 7}
			x, err := q.MDP()
			if err != nil {
				t.Fatalf("%v: %v", r, err)
			}
			if first := map[bool]string{false: "1", true: "0"}[empty]; x.StateName(0) != first || x.StateName(x.States()-1) != "7" {
				t.Errorf("states %s to %s, want %s to 7", x.StateName(0), x.StateName(x.States()-1), first)
			}
			for s := range x.States() {
				for a := range x.Actions() {
					law, _ := q.Law(a)
					row := make([]float64, x.States())
					to, p := x.Next(s, a)
					for k := range to {
						row[to[k]] = p[k]
					}
					want := make([]float64, x.States())
					want[max(s-1, 0)] += law.Down
					want[min(s+1, x.States()-1)] += law.Up
					want[s] += law.Stay
					for j := range row {
						if !close16(row[j], want[j]) {
							t.Errorf("%v: P(%s→%s|%s) = %v, want %v", r, x.StateName(s), x.StateName(j), x.ActionName(a), row[j], want[j])
						}
					}
				}
			}
		}
	}
}

// Under every reading the measures of π¹ and π² are geometric, which elimination
// and Gauss–Seidel must find.
func TestQueueMeasuresAreGeometric(t *testing.T) {
	for _, r := range Readings() {
		q := Queue{Reading: r}
		x, err := q.MDP()
		if err != nil {
			t.Fatal(err)
		}
		base, err := q.Policies(x)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range base {
			mu, err := closedForm(q, p).Stationary()
			if err != nil {
				t.Fatal(err)
			}
			for _, method := range []mixpolicy.MeasureMethod{mixpolicy.Elimination, mixpolicy.GaussSeidel} {
				// Every μ(s) of elimination is good to a few n·2⁻⁵³ relatively; a sweep's
				// error in ℓ₁ is the residual times the relaxation time, 10⁴ steps here.
				set := mixpolicy.MeasureSettings{Method: method, Tolerance: 1e-14}
				m, err := mixpolicy.Occupation(context.Background(), x, p, set)
				if err != nil {
					t.Fatalf("%v, policy %d: %v", r, i+1, err)
				}
				var off float64
				for s := range mu {
					d := math.Abs(m.State[s] - mu[s])
					if method == mixpolicy.Elimination {
						d /= mu[s] // relatively, however small
					}
					off = max(off, d)
				}
				if limit := 1e-10; off > limit {
					t.Errorf("%v, policy %d, %v: error %.2g, want %.2g", r, i+1, method, off, limit)
				}
			}
		}
	}
}

// closedForm returns the chain of a state-independent policy as a birth–death chain.
func closedForm(q Queue, p *mixpolicy.Policy) BirthDeath {
	q, _ = q.complete()
	n := q.Buffer - q.first() + 1
	c := BirthDeath{Up: make([]float64, n-1), Down: make([]float64, n-1)}
	for a, w := range p.Row(0) {
		law, _ := q.Law(a)
		for k := range c.Up {
			c.Up[k] += w * law.Up
			c.Down[k] += w * law.Down
		}
	}
	return c
}

// Section 6 counts visits; so does Simulate.
func TestQueueSimulated(t *testing.T) {
	q := Queue{}
	x, err := q.MDP()
	if err != nil {
		t.Fatal(err)
	}
	base, err := q.Policies(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range base {
		mu, err := closedForm(q, p).Stationary()
		if err != nil {
			t.Fatal(err)
		}
		c, err := x.PolicyCost(p)
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for s, v := range mu {
			want += v * c[s]
		}
		e, err := mixpolicy.Simulate(context.Background(), x, p, mixpolicy.SimulateSettings{Steps: 8_000_000, Seed: 6})
		if err != nil {
			t.Fatal(err)
		}
		// 5 standard errors: one seed in a million fails, and this one is fixed.
		if math.Abs(e.MeanCost-want) > 5*e.CostError || e.CostError > 0.03*want {
			t.Errorf("policy %d: simulated cost %.1f ± %.1f, exact %.3f", i+1, e.MeanCost, e.CostError, want)
		}
	}
}

func TestQueueRefuses(t *testing.T) {
	for _, c := range []struct {
		queue Queue
		want  string
	}{
		{Queue{Reading: Literal}, "= 1.3"},
		{Queue{Reading: SlowArrivals, Arrival: .3}, "up 0.3 + down 0.8 = 1.1"},
		{Queue{Reading: Reading(99)}, "Reading(99)"},
		{Queue{Buffer: 1}, "buffer of 1"},
		{Queue{Buffer: -3}, "buffer of -3"},
		{Queue{Arrival: 1.5}, "1.5"},
		{Queue{Arrival: math.NaN()}, "NaN"},
		{Queue{Rates: []float64{}}, "no service rate"},
		{Queue{Rates: []float64{.2, -.1}}, "-0.1 of action 1"},
		{Queue{Rates: []float64{math.NaN()}}, "NaN"},
		{Queue{Criterion: mixpolicy.Discounted(1.5)}, "1.5"},
		{Queue{Cost: func(int, float64) float64 { return math.Inf(1) }}, "state 1, action 0.2"},
	} {
		_, err := c.queue.MDP()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want it to say %q", c.queue, err, c.want)
		}
	}
	if _, err := (Queue{Reading: Literal, Arrival: .2}).MDP(); err != nil {
		t.Errorf("the literal reading with ϱ + a ≤ 1 is refused: %v", err)
	}
	x, err := Queue{Rates: []float64{.1, .9}}.MDP()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Queue{}).Policies(x); err == nil {
		t.Error("π¹ of four actions is accepted by a queue of two")
	}
}

func TestDeFariasVanRoyQueue(t *testing.T) {
	q := DeFariasVanRoyQueue()
	x, err := q.MDP()
	if err != nil {
		t.Fatal(err)
	}
	if x.States() != 50_000 || x.StateName(0) != "0" || x.Gamma() != .98 {
		t.Errorf("%d states from %s at %v, want 50,000 from 0 at .98", x.States(), x.StateName(0), x.Criterion())
	}
	if got, want := x.Cost(10, 1), 10+60*.4*.4*.4; math.Abs(got-want) > 1e-14*want {
		t.Errorf("cost of length 10 at rate .4 is %v, want %v", got, want)
	}
	to, p := x.Next(7, 3)
	if len(to) != 2 || to[0] != 6 || to[1] != 8 || p[0] != .8 || p[1] != .2 {
		t.Errorf("from 7 at rate .8: %v with %v, want 6 and 8 with .8 and .2", to, p)
	}
	phi, err := q.Monomials(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []int{0, 1, 2, 12_345, 49_999} {
		v := float64(s)
		for k, want := range []float64{1, v, v * v, v * v * v} {
			if phi.At(s, k) != want { // integers below 2⁵³
				t.Errorf("feature %d at %d is %v, want %v", k, s, phi.At(s, k), want)
			}
		}
	}
	for _, xi := range []float64{.9, .999} {
		w, err := q.GeometricWeights(xi)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []int{0, 1, 100} {
			// The cut-off mass ξ⁵⁰⁰⁰⁰ is below 2e-22.
			if want := (1 - xi) * math.Pow(xi, float64(s)); math.Abs(w[s]-want) > 1e-12*want {
				t.Errorf("weight of %d for ξ = %v is %v, want %v", s, xi, w[s], want)
			}
		}
	}
	if _, err := q.Monomials(-1); err == nil {
		t.Error("degree −1 is accepted")
	}
	if _, err := q.GeometricWeights(1); err == nil {
		t.Error("ξ = 1 is accepted")
	}
}
