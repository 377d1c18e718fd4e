package models

import (
	"context"
	"fmt"
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
	x, err := w.MDP()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := w.State([4]int{2, 1, 0, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
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

// outcome is one step of the network for given events, as the papers describe it, queue by
// queue. It shares no code with network.go.
func outcome(d Dynamics, buffers, x [4]int, workOn [2]int, arrive1, arrive3, done1, done2 bool) [4]int {
	x1, x2, x3, x4 := x[0], x[1], x[2], x[3]
	test := d == IndependentEvents
	if workOn[0] == 1 && done1 && (!test || x[0] > 0) {
		x1--
		x2++
	}
	if workOn[0] == 4 && done1 && (!test || x[3] > 0) {
		x4--
	}
	if workOn[1] == 2 && done2 && (!test || x[1] > 0) {
		x2--
	}
	if workOn[1] == 3 && done2 && (!test || x[2] > 0) {
		x3--
		x4++
	}
	if arrive1 {
		x1++
	}
	if arrive3 {
		x3++
	}
	y := [4]int{x1, x2, x3, x4}
	for i := range y {
		if y[i] < 0 {
			y[i] = 0
		}
		if y[i] > buffers[i] {
			y[i] = buffers[i]
		}
	}
	return y
}

// enumerated returns P_a(x, ·) by every combination of events.
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
	flip := []bool{false, true}
	for _, arrive1 := range flip {
		for _, arrive3 := range flip {
			for _, done1 := range flip {
				for _, done2 := range flip {
					p := coin(arrive1, w.Arrival[0]) * coin(arrive3, w.Arrival[1]) * coin(done1, rate[workOn[0]]) * coin(done2, rate[workOn[1]])
					row[outcome(w.Dynamics, w.Buffers, x, workOn, arrive1, arrive3, done1, done2)] += p
				}
			}
		}
	}
	return row
}

var allDynamics = []Dynamics{IndependentEvents, PhantomJobs, OneEvent}

// Every row of small networks against the enumeration.
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
				var count int
				for _, v := range want {
					if v > 0 {
						count++
					}
				}
				if len(to) != count {
					t.Fatalf("%v, %v: %d next states, want %d", lengths, workOn, len(to), count)
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

// checkSimulated compares a cost with that of simulation. A 95 % interval over 32 runs is
// two standard errors wide on either side: two and a half of it are five, and one seed in
// a million fails; this one is fixed.
func checkSimulated(t *testing.T, w Network, p *mixpolicy.Policy, steps int, seed uint64, want, width float64) {
	t.Helper()
	v := race.TInterval(mixpolicy.Must(w.Simulate(t.Context(), p, steps, seed)), 0.95)
	half := (v.Hi - v.Lo) / 2
	if math.Abs(v.Lo+half-want) > 2.5*half || half > width*want {
		t.Errorf("%v: simulated cost %v, exact %.4f", w, v, want)
	}
}

// Exact costs of every rule under all dynamics against simulation.
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
		cases := []struct {
			lengths  [4]int
			one, two float64
		}{
			{c.lengths, c.one, c.two},
			{[4]int{0, 0, 0, 0}, .5, .5},
			{[4]int{1, 1, 0, 0}, 1, 1}, // whatever the rule, work where there is a job
			{[4]int{0, 0, 1, 1}, 0, 0},
			{[4]int{0, 5, 0, 1}, 0, 1},
		}
		p := mixpolicy.Must(w.Policy(x, c.rule))
		for _, k := range cases {
			s := mixpolicy.Must(w.State(k.lengths))
			want := []float64{k.one * k.two, k.one * (1 - k.two), (1 - k.one) * k.two, (1 - k.one) * (1 - k.two)}
			for a := range want {
				if !close16(p.Prob(s, a), want[a]) {
					t.Errorf("%v in %v: %v, want %v", c.rule, k.lengths, p.Row(s), want)
					break
				}
			}
		}
	}
}

func TestNetworkMixture(t *testing.T) {
	w := Network{Buffers: [4]int{3, 2, 2, 3}}
	x := mixpolicy.Must(w.MDP())
	base := mixpolicy.Must(w.Policies(x, Longer, LastBuffer))
	p, err := w.Mixture(x, func(lengths [4]int) []float64 {
		share := float64(lengths[0]) / 3
		return []float64{share, 1 - share}
	}, base...)
	if err != nil {
		t.Fatal(err)
	}
	for s := range x.States() {
		lengths, _ := w.Lengths(s)
		for a := range 4 {
			share := float64(lengths[0]) / 3
			if want := share*base[0].Prob(s, a) + (1-share)*base[1].Prob(s, a); !close16(p.Prob(s, a), want) {
				t.Fatalf("%v: π(%d) = %v, want %v", lengths, a, p.Prob(s, a), want)
			}
		}
	}
	for _, weights := range [][]float64{{.5, .4}, {1}, {math.NaN(), 0}, {1.5, -.5}} {
		if _, err := w.Mixture(x, func([4]int) []float64 { return weights }, base...); err == nil || !strings.Contains(err.Error(), "(0, 0, 0, 0)") {
			t.Errorf("weights %v: error %v, want one that names the first state", weights, err)
		}
	}
}

func TestNetworkFeatures(t *testing.T) {
	w := Network{Buffers: [4]int{26, 3, 12, 2}}
	loss := mixpolicy.Must(w.LossIntervals())
	boxes := mixpolicy.Must(w.LengthBoxes())
	// 26+3+12+2 = 43 jobs at most: 9 intervals. Three boxes by two, the rest not split.
	if loss.Cells() != 9 || boxes.Cells() != 6 {
		t.Fatalf("%d loss intervals and %d boxes, want 9 and 6", loss.Cells(), boxes.Cells())
	}
	for g, want := range map[*Aggregation]int{loss: 1, boxes: 4 * 13 * 3} { // the empty network; those with 26 jobs in queue 1
		outside := 0
		for _, c := range g.Cell {
			if c < 0 {
				outside++
			}
		}
		if outside != want {
			t.Errorf("%d states in no cell, want %d", outside, want)
		}
	}
	s, _ := w.State([4]int{11, 2, 11, 1})
	if cell := loss.Cell[s]; cell != 4 {
		t.Errorf("(11, 2, 11, 1), a loss of 25, is in interval %d, want that of (20, 25]", cell)
	}
	full := mixpolicy.Must(Network{}.LengthBoxes())
	if full.Cells() != 81 || slices.Max(full.Size) != 11*11*11*11 {
		t.Errorf("%d boxes, the largest of %d states, want 81 and 14641", full.Cells(), slices.Max(full.Size))
	}
}

// The costs of data/reference.csv at full size: the whole chain, and a simulation that
// shares no code with it.
func TestNetworkReferenceValues(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole chain of 1,028,196 states takes a few seconds for each policy")
	}
	reference := map[string]float64{}
	for _, row := range readReference(t) {
		reference[row.name] = row.value
	}
	for _, d := range allDynamics {
		w := mixpolicy.Must(Network{Dynamics: d}.complete())
		x := mixpolicy.Must(w.MDP())
		if x.States() != 1_028_196 {
			t.Fatalf("%d states", x.States())
		}
		for _, rule := range []Rule{Longer, LastBuffer} {
			name := fmt.Sprintf("network/%v, cost of %v", d, rule)
			want, ok := reference[name]
			if !ok {
				t.Errorf("%s is not in the file", name)
			}
			p := mixpolicy.Must(w.Policy(x, rule))
			m := mixpolicy.Must(mixpolicy.Occupation(context.Background(), x, p, mixpolicy.MeasureSettings{Tolerance: 1e-12}))
			// A step costs at most 126, so an error of the measure makes one of the cost
			// that is at most 126 times as large.
			if got := m.Cost(x.Costs()); math.Abs(got-want) > 126*2*m.Error+1e-11*want || m.Error > 1e-8 {
				t.Errorf("%s: %.14g, the file has %.14g", name, got, want)
			}
			checkSimulated(t, w, p, 150_000, 1, want, .1)
		}
	}
}
