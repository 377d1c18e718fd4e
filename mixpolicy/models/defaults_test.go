package models

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// The machine of the zero value: it breaks with probability 0.3, or 0.1 if serviced, recovers
// with 0.1 or 0.8, and an outage costs five services.
func TestMachineDefaults(t *testing.T) {
	x := mixpolicy.Must(Machine{}.MDP())
	for i, want := range []float64{0, 1, 5, 6} {
		if got := x.Costs()[i]; got != want {
			t.Errorf("cost of pair %d is %v, want %v", i, got, want)
		}
	}
	for i, want := range []float64{.3, .1, .1, .8} { // to the other state
		to, p := x.Next(i/2, i%2)
		if k := slices.Index(to, int32(1-i/2)); k < 0 || p[k] != want {
			t.Errorf("pair %d: next %v with %v, want a change with %v", i, to, p, want)
		}
	}
	if !x.Criterion().Average() {
		t.Errorf("criterion %v", x.Criterion())
	}
	// What is set stays: an outage alone, a chain alone.
	if y := mixpolicy.Must(Machine{Outage: 2}.MDP()); !slices.Equal(y.Costs(), []float64{0, 0, 2, 2}) {
		t.Errorf("an outage of 2 alone: costs %v", y.Costs())
	}
	if y := mixpolicy.Must(Machine{Service: 2}.MDP()); !slices.Equal(y.Costs(), []float64{0, 2, 0, 2}) {
		t.Errorf("a service of 2 alone: costs %v", y.Costs())
	}
	if lambda := mixpolicy.Must(Machine{Break: [2]float64{.5, .5}}.Relaxation([2]float64{})); lambda != .5 {
		t.Errorf("breaking alone: eigenvalue %v, want 1 − 0.5", lambda)
	}
}

// Every way into a machine says what is wrong with it.
func TestMachineRefuses(t *testing.T) {
	for _, p := range []float64{-.1, 1.1, math.NaN()} {
		for _, w := range []Machine{{Break: [2]float64{.5, p}}, {Repair: [2]float64{.5, p}}, {Break: [2]float64{p, .5}}} {
			_, inMDP := w.MDP()
			_, inMeasure := w.Measure([2]float64{})
			_, inCost := w.Cost([2]float64{})
			_, _, inOptimum := w.Optimum()
			_, inRelaxation := w.Relaxation([2]float64{})
			for _, err := range []error{inMDP, inMeasure, inCost, inOptimum, inRelaxation} {
				if err == nil || !strings.Contains(err.Error(), fmt.Sprint(p)) {
					t.Errorf("%+v: error %v, want it to say %v", w, err, p)
				}
			}
		}
	}
}

func TestBirthDeathCosts(t *testing.T) {
	c := BirthDeath{Up: []float64{.3, .3}, Down: []float64{.2, .2}}
	if x := mixpolicy.Must(c.MDP()); !slices.Equal(x.Costs(), []float64{0, 1, 2}) {
		t.Errorf("costs %v, want the lengths", x.Costs())
	}
	c.Cost = func(k int) float64 { return float64(10 - k) }
	if x := mixpolicy.Must(c.MDP()); !slices.Equal(x.Costs(), []float64{10, 9, 8}) {
		t.Errorf("costs %v, want those that were given", x.Costs())
	}
	for _, down := range []float64{0, -1} {
		if _, err := (BirthDeath{Up: []float64{.5}, Down: []float64{down}}).MDP(); err == nil {
			t.Errorf("down %v: no error", down)
		}
	}
}

// Costs are uniform in [0, 1): their empirical distribution is within √(ln(2/δ)/2N) of that
// everywhere with probability 1 − δ (Dvoretzky, Kiefer and Wolfowitz), δ = 10⁻⁹.
func TestGarnetCosts(t *testing.T) {
	cost := slices.Clone(mixpolicy.Must(Garnet{States: 5000, Actions: 4, Branches: 2, Ring: true, Seed: 3}.MDP()).Costs())
	slices.Sort(cost)
	n := float64(len(cost))
	tolerance := math.Sqrt(math.Log(2/1e-9) / (2 * n))
	for i, c := range cost {
		if math.Abs(c-float64(i)/n) > tolerance || c < 0 || c >= 1 {
			t.Fatalf("the %d-th of %v costs is %v", i, n, c)
		}
	}
	for _, g := range []Garnet{{Actions: 1, Branches: 1}, {States: 1, Branches: 1}, {States: 2, Actions: 1}, {States: 2, Actions: 1, Branches: 3}} {
		if _, err := g.MDP(); err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%+v: error %v", g, err)
		}
	}
}

// Features and weights of a queue of three lengths, with and without the empty one.
func TestQueueFeatures(t *testing.T) {
	for _, c := range []struct {
		q    Queue
		from float64
	}{{Queue{Buffer: 3}, 1}, {Queue{Buffer: 2, Empty: true}, 0}} {
		phi := mixpolicy.Must(c.q.Monomials(2))
		if n, d := phi.Dims(); n != 3 || d != 3 {
			t.Fatalf("%+v: Φ is %d × %d, want 3 × 3", c.q, n, d)
		}
		for s := range 3 {
			x := c.from + float64(s)
			if row := phi.RawRowView(s); !slices.Equal(row, []float64{1, x, x * x}) {
				t.Errorf("%+v: row %d is %v, want 1, x, x² of %v", c.q, s, row, x)
			}
		}
		w := mixpolicy.Must(c.q.GeometricWeights(.5))
		for s, want := range []float64{4. / 7, 2. / 7, 1. / 7} {
			if math.Abs(w[s]-want) > 2*0x1p-53 {
				t.Errorf("%+v: weight %v of state %d, want %v", c.q, w[s], s, want)
			}
		}
	}
	if phi := mixpolicy.Must(Queue{Buffer: 3}.Monomials(0)); phi.At(2, 0) != 1 {
		t.Errorf("degree 0: %v", phi)
	}
	for what, err := range map[string]error{
		"degree up to -1": second(Queue{}.Monomials(-1)),
		"ξ = 0":           second(Queue{}.GeometricWeights(0)),
		"ξ = 1":           second(Queue{}.GeometricWeights(1)),
		"ξ = NaN":         second(Queue{}.GeometricWeights(math.NaN())),
		"no action -1":    second(Queue{}.Law(-1)),
		"no action 4":     second(Queue{}.Law(4)),
		"arrival":         second(Queue{Arrival: 1.5}.Law(0)),
		"a buffer of 1":   second(Queue{Buffer: 1}.Monomials(1)),
		"rate -0.1":       second(Queue{Rates: []float64{-.1}}.GeometricWeights(.5)),
		"rate 1.1":        second(Queue{Rates: []float64{1.1}}.MDP()),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want it to say %q", err, what)
		}
	}
	for _, q := range []Queue{{Arrival: 1, Reading: Uniformised}, {Rates: []float64{0, 1}, Reading: Uniformised}} {
		if _, err := q.MDP(); err != nil {
			t.Errorf("%+v: %v", q, err)
		}
	}
	for _, r := range []Reading{-1, 99} {
		if got := r.String(); got != fmt.Sprintf("Reading(%d)", int(r)) {
			t.Errorf("reading %d is called %q", int(r), got)
		}
	}
}

// The base policies of (6.3) are for four rates.
func TestQueuePoliciesRefuse(t *testing.T) {
	three := mixpolicy.Must(Queue{Rates: []float64{.2, .4, .6}}.MDP())
	if _, err := (Queue{}).Policies(three); err == nil || !strings.Contains(err.Error(), "(6.3)") {
		t.Errorf("three rates: error %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// The slips at the ends of their range are allowed.
func TestGridWorldSlips(t *testing.T) {
	for _, slip := range []float64{0, 1} {
		if _, err := (GridWorld{Slip: slip}).MDP(); err != nil {
			t.Errorf("slip %v: %v", slip, err)
		}
	}
	if _, err := (GridWorld{Slip: -.1}).MDP(); err == nil {
		t.Error("a slip of −0.1 gave no error")
	}
}

// Boxes of lengths are labelled by what their states have, and a column is the uniform
// distribution over its cell.
func TestLengthBoxesLabels(t *testing.T) {
	w := Network{Buffers: [4]int{1, 12, 26, 1}}
	g := mixpolicy.Must(w.LengthBoxes())
	x := mixpolicy.Must(w.MDP())
	for s := range x.States() {
		lengths := mixpolicy.Must(w.Lengths(s))
		if lengths[2] > 25 {
			if g.Cell[s] != -1 {
				t.Fatalf("lengths %v are in cell %d", lengths, g.Cell[s])
			}
			continue
		}
		var parts []string
		for _, l := range lengths {
			parts = append(parts, map[bool]string{true: "[0, 10]", false: map[bool]string{true: "[11, 20]", false: "[21, 25]"}[l <= 20]}[l <= 10])
		}
		if got, want := g.Label[g.Cell[s]], "lengths in "+strings.Join(parts, " × "); got != want {
			t.Fatalf("lengths %v are in %q, want %q", lengths, got, want)
		}
	}
	column := make([]float64, x.Pairs())
	for i := range column {
		column[i] = 9
	}
	g.Column(column, 1, 2)
	for i, v := range column {
		want := 0.
		if g.Cell[i/x.Actions()] == 1 && i%x.Actions() == 2 {
			want = 1 / float64(g.Size[1])
		}
		if v != want {
			t.Fatalf("entry %d is %v, want %v", i, v, want)
		}
	}
	for what, f := range map[string]func(){
		"a short column": func() { g.Column(column[:len(column)-1], 0, 0) },
		"action −1":      func() { g.Column(column, 0, -1) },
		"action m":       func() { g.Column(column, 0, x.Actions()) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "models: ") {
					t.Errorf("%s: panic %q, want the package's own", what, s)
				}
			}()
			f()
		}()
	}
}
