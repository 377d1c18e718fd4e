package models

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

func ExampleNetwork() {
	w := Network{Buffers: [4]int{3, 2, 2, 3}}
	x := mixpolicy.Must(w.MDP())
	s := mixpolicy.Must(w.State([4]int{2, 1, 0, 0}))
	const a = 0
	fmt.Printf("%d states; from %s, %s, cost %v:\n", x.States(), x.StateName(s), x.ActionName(a), x.Cost(s, a))
	to, p := x.Next(s, a)
	for k, s2 := range to {
		fmt.Printf("  %s %.6f\n", x.StateName(int(s2)), p[k])
	}
	// Output:
	// 144 states; from (2, 1, 0, 0), serve 1 and 2, cost 3:
	//   (1, 1, 0, 0) 0.012188
	//   (1, 1, 1, 0) 0.001060
	//   (1, 2, 0, 0) 0.089380
	//   (1, 2, 1, 0) 0.007772
	//   (2, 0, 0, 0) 0.089380
	//   (2, 0, 1, 0) 0.007772
	//   (2, 1, 0, 0) 0.656512
	//   (2, 1, 1, 0) 0.057088
	//   (2, 2, 0, 0) 0.007772
	//   (2, 2, 1, 0) 0.000676
	//   (3, 0, 0, 0) 0.007772
	//   (3, 0, 1, 0) 0.000676
	//   (3, 1, 0, 0) 0.056996
	//   (3, 1, 1, 0) 0.004956
}

// outcome returns the lengths after one step with the given events. It treats one queue after the other, as the
// papers do, and shares no code with network.go.
func outcome(d Dynamics, buffers, x [4]int, workOn [2]int, arrive1, arrive3, done1, done2 bool) [4]int {
	y, done := x, map[int]bool{workOn[0]: done1, workOn[1]: done2}
	for queue, next := range map[int]int{1: 2, 2: 0, 3: 4, 4: 0} {
		if !done[queue] || d == IndependentEvents && x[queue-1] == 0 {
			continue
		}
		if y[queue-1]--; next > 0 {
			y[next-1]++
		}
	}
	if arrive1 {
		y[0]++
	}
	if arrive3 {
		y[2]++
	}
	for i := range y {
		y[i] = min(max(y[i], 0), buffers[i])
	}
	return y
}

// enumerated returns P_a(x, ·), added up over every combination of events.
func enumerated(w Network, x [4]int, workOn [2]int) map[[4]int]float64 {
	rate := map[int]float64{1: w.Service[0], 2: w.Service[1], 3: w.Service[2], 4: w.Service[3]}
	row := map[[4]int]float64{}
	if w.Dynamics == OneEvent {
		rest := 1.0
		for event, p := range []float64{w.Arrival[0], w.Arrival[1], rate[workOn[0]], rate[workOn[1]]} {
			busy := event < 2 || x[workOn[event-2]-1] > 0
			if !busy {
				continue
			}
			rest -= p
			row[outcome(IndependentEvents, w.Buffers, x, workOn, event == 0, event == 1, event == 2, event == 3)] += p
		}
		row[x] += rest
		return row
	}
	coin := func(heads bool, p float64) float64 {
		if heads {
			return p
		}
		return 1 - p
	}
	for events := range 16 {
		arrive1, arrive3, done1, done2 := events&1 > 0, events&2 > 0, events&4 > 0, events&8 > 0
		p := coin(arrive1, w.Arrival[0]) * coin(arrive3, w.Arrival[1]) * coin(done1, rate[workOn[0]]) * coin(done2, rate[workOn[1]])
		row[outcome(w.Dynamics, w.Buffers, x, workOn, arrive1, arrive3, done1, done2)] += p
	}
	return row
}

var allDynamics = []Dynamics{IndependentEvents, PhantomJobs, OneEvent}

// In small networks, every row of P equals the enumeration.
func TestNetworkEnumerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Network{Dynamics: rapid.SampledFrom(allDynamics).Draw(t, "dynamics")}
		for i := range w.Buffers {
			w.Buffers[i] = rapid.IntRange(1, 4).Draw(t, "buffer")
			w.Service[i] = rapid.Float64Range(.01, .35).Draw(t, "service")
			w.Holding[i] = rapid.Float64Range(0, 3).Draw(t, "holding")
		}
		for i := range w.Arrival {
			w.Arrival[i] = rapid.Float64Range(.01, .15).Draw(t, "arrival")
		}
		x := mixpolicy.Must(w.MDP())
		for s := range x.States() {
			lengths := mixpolicy.Must(w.Lengths(s))
			if back, err := w.State(lengths); back != s || err != nil {
				t.Fatalf("state %d is %v, which is state %d (%v)", s, lengths, back, err)
			}
			var cost float64
			for i := range lengths {
				cost += w.Holding[i] * float64(lengths[i])
			}
			for a, workOn := range [][2]int{{1, 2}, {1, 3}, {4, 2}, {4, 3}} {
				if want := fmt.Sprintf("serve %d and %d", workOn[0], workOn[1]); x.ActionName(a) != want {
					t.Fatalf("action %d is %q, want %q", a, x.ActionName(a), want)
				}
				if x.Cost(s, a) != cost {
					t.Fatalf("cost of %v is %v, want %v", lengths, x.Cost(s, a), cost)
				}
				want := enumerated(w, lengths, workOn)
				to, p := x.Next(s, a)
				maps.DeleteFunc(want, func(_ [4]int, v float64) bool { return v == 0 })
				if len(to) != len(want) {
					t.Fatalf("%v, %v: %d next states, want %d", lengths, workOn, len(to), len(want))
				}
				for k, s2 := range to {
					y, _ := w.Lengths(int(s2))
					if !close16(p[k], want[y]) {
						t.Fatalf("%v: %v → %v with probability %v, want %v", w, lengths, y, p[k], want[y])
					}
				}
			}
		}
	})
}

// checkSimulated compares a cost with the simulated cost. Half the width of a 95 % interval over 32 runs is about
// two standard errors. The test allows 2.5 times this, so about one seed in 60,000 would fail; the seeds here are
// fixed.
func checkSimulated(t *testing.T, w Network, p *mixpolicy.Policy, steps int, seed uint64, want, width float64) {
	t.Helper()
	v := race.TInterval(mixpolicy.Must(w.Simulate(t.Context(), p, steps, seed)), 0.95)
	half := (v.Hi - v.Lo) / 2
	if math.Abs(v.Lo+half-want) > 2.5*half || half > width*want {
		t.Errorf("%v: simulated cost %v, exact %.4f", w, v, want)
	}
}

// Under all dynamics, the exact cost of every rule agrees with simulation.
func TestNetworkSimulated(t *testing.T) {
	steps := 30_000
	if testing.Short() {
		steps = 3000
	}
	for _, d := range allDynamics {
		w := mixpolicy.Must(Network{Dynamics: d, Buffers: [4]int{4, 3, 3, 4}}.complete())
		x := mixpolicy.Must(w.MDP())
		for _, rule := range Rules() {
			p := mixpolicy.Must(w.Policy(x, rule))
			m := mixpolicy.Must(x.Occupation(t.Context(), p))
			checkSimulated(t, w, p, steps, uint64(rule), m.Cost(x.Costs()), .06)
		}
	}
}

func TestNetworkRules(t *testing.T) {
	w := Network{Buffers: [4]int{6, 5, 5, 6}, Holding: [4]float64{1, 3, 1, 1}}
	x := mixpolicy.Must(w.MDP())
	for _, c := range []struct {
		rule    Rule
		lengths [4]int
		one     float64 // probability that server 1 works on queue 1
		two     float64 // probability that server 2 works on queue 2
	}{
		{Longer, [4]int{3, 2, 4, 1}, 1, 0},
		{Longer, [4]int{1, 4, 2, 3}, 0, 1},
		{Longer, [4]int{2, 3, 3, 2}, .5, .5},
		{LastBuffer, [4]int{6, 1, 5, 1}, 0, 1},
		{OldestJob, [4]int{3, 1, 4, 1}, .75, .2},
		{CMu, [4]int{5, 1, 1, 1}, 0, 1},       // .12 < .28, and 3·.12 > .28
		{MaxWeight, [4]int{6, 1, 5, 2}, 1, 0}, // .12(6−1) > .28·2, .12·1 < .28(5−2)
		{MaxWeight, [4]int{2, 5, 1, 3}, 0, 1}, // .12(2−5) < .28·3, .12·5 > .28(1−3)
		{AnyQueue, [4]int{6, 1, 1, 6}, .5, .5},
	} {
		cases := map[[4]int][2]float64{
			c.lengths:    {c.one, c.two},
			{0, 0, 0, 0}: {.5, .5},
			{1, 1, 0, 0}: {1, 1}, // whatever the rule, work where there is a job
			{0, 0, 1, 1}: {0, 0},
			{0, 5, 0, 1}: {0, 1},
		}
		p := mixpolicy.Must(w.Policy(x, c.rule))
		for lengths, k := range cases {
			want := []float64{k[0] * k[1], k[0] * (1 - k[1]), (1 - k[0]) * k[1], (1 - k[0]) * (1 - k[1])}
			if got := p.Row(mixpolicy.Must(w.State(lengths))); !slices.EqualFunc(got, want, close16) {
				t.Errorf("%v in %v: %v, want %v", c.rule, lengths, got, want)
			}
		}
	}
}

// The weights of a mixture may depend on the state.
func TestNetworkMixture(t *testing.T) {
	w := Network{Buffers: [4]int{3, 2, 2, 3}}
	x := mixpolicy.Must(w.MDP())
	base := mixpolicy.Must(w.Policies(x, Longer, LastBuffer))
	weights := func(lengths [4]int) []float64 { return []float64{float64(lengths[0]) / 3, 1 - float64(lengths[0])/3} }
	p := mixpolicy.Must(w.Mixture(x, weights, base...))
	for s := range x.States() {
		at := weights(mixpolicy.Must(w.Lengths(s)))
		for a := range 4 {
			if want := at[0]*base[0].Prob(s, a) + at[1]*base[1].Prob(s, a); !close16(p.Prob(s, a), want) {
				t.Fatalf("%s: π(%d) = %v, want %v", x.StateName(s), a, p.Prob(s, a), want)
			}
		}
	}
	for _, weights := range [][]float64{{.5, .4}, {1}, {math.NaN(), 0}, {1.5, -.5}} {
		err := second(w.Mixture(x, func([4]int) []float64 { return weights }, base...))
		if err == nil || !strings.Contains(err.Error(), "(0, 0, 0, 0)") {
			t.Errorf("weights %v: error %v, want one that names the first state", weights, err)
		}
	}
}

// At full size, the costs in data/reference.csv agree with the costs from the whole chain, and with a simulation that
// shares no code with the chain.
func TestNetworkReferenceValues(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole chain of 1,028,196 states takes a few seconds for each policy")
	}
	reference := map[string]float64{}
	for _, row := range readReference(t) {
		reference[row.name] = row.value
	}
	for k, d := range allDynamics {
		w := mixpolicy.Must(Network{Dynamics: d}.complete())
		x := mixpolicy.Must(w.MDP())
		for _, rule := range []Rule{Longer, LastBuffer}[min(k, 1):] { // LONGER only once: a cost takes seconds
			name := fmt.Sprintf("network/%v, cost of %v", d, rule)
			want := reference[name]
			p := mixpolicy.Must(w.Policy(x, rule))
			m := mixpolicy.Must(mixpolicy.Occupation(context.Background(), x, p, mixpolicy.MeasureSettings{Tolerance: 1e-12}))
			// A step costs at most 126, so the error of the cost is at most 126 times the ℓ₁ error of the measure.
			// The test allows twice this.
			if got := m.Cost(x.Costs()); math.Abs(got-want) > 126*2*m.Error+1e-11*want || m.Error > 1e-8 {
				t.Errorf("%s: %.14g, the file has %.14g", name, got, want)
			}
			checkSimulated(t, w, p, 150_000, 1, want, .1)
		}
	}
}
