package models

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleMachine() {
	cost, serviced, _ := Machine{}.Optimum()
	fmt.Printf("average cost %.4f, service while working: %v, while broken: %v\n", cost, serviced[Working] == 1, serviced[Broken] == 1)
	// Output:
	// average cost 1.5556, service while working: true, while broken: true
}

// For any machine and policy, the closed forms agree with elimination.
func TestMachineClosedForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prob := rapid.Float64Range(.01, 1)
		share := rapid.Float64Range(0, 1)
		pair := func(g *rapid.Generator[float64], name string) [2]float64 {
			return [2]float64{g.Draw(t, name), g.Draw(t, name)}
		}
		w := Machine{Break: pair(prob, "break"), Repair: pair(prob, "repair"), Outage: 7, Service: 2}
		if rapid.Bool().Draw(t, "discounted") {
			w.Criterion = mixpolicy.Discounted(rapid.Float64Range(.01, .999).Draw(t, "γ"))
		}
		x := mixpolicy.Must(w.MDP())
		serviced := pair(share, "serviced")
		p := mixpolicy.Must(mixpolicy.NewPolicy(x, []float64{1 - serviced[0], serviced[0], 1 - serviced[1], serviced[1]}))
		m := mixpolicy.Must(x.Occupation(t.Context(), p))
		mu := mixpolicy.Must(w.Measure(serviced))
		// Rounding 1 − p and 1 − q makes errors of 2⁻⁵³, and the division by p + q ≥ .02 magnifies them to 6·10⁻¹⁵.
		for s := range mu {
			if math.Abs(m.State[s]-mu[s]) > 1e-13 {
				t.Fatalf("μ(%d) = %v, want %v", s, mu[s], m.State[s])
			}
		}
		cost := mixpolicy.Must(w.Cost(serviced))
		best, where, err := w.Optimum()
		got := m.Cost(x.Costs())
		if math.Abs(got-cost) > 1e-12 || err != nil || best > cost+1e-12 || mixpolicy.Must(w.Cost(where)) != best {
			t.Fatalf("%v costs %v, want %v; optimum %v at %v, %v", serviced, cost, got, best, where, err)
		}
	})
}

func TestGridWorld(t *testing.T) {
	x := mixpolicy.Must(GridWorld{Slip: .2}.MDP())
	// S.~.
	// .#..
	// ...G
	if x.States() != 11 || x.StateName(5) != "(1, 2)" {
		t.Fatalf("%d states, state 5 is %s, want 11 and (1, 2)", x.States(), x.StateName(5))
	}
	row := func(s, a int) string {
		to, p := x.Next(s, a)
		var b strings.Builder
		for k := range to {
			fmt.Fprintf(&b, "%s %.1f  ", x.StateName(int(to[k])), p[k])
		}
		return strings.TrimSpace(b.String())
	}
	for _, c := range []struct {
		s, a int
		want string
	}{
		{0, 0, "(0, 0) 0.9  (0, 1) 0.1"},             // north of the corner: two of three directions stay
		{1, 2, "(0, 0) 0.1  (0, 1) 0.8  (0, 2) 0.1"}, // south into the wall
		{5, 1, "(0, 2) 0.1  (1, 3) 0.8  (2, 2) 0.1"}, // free on all sides
		{10, 3, "(0, 0) 1.0"},                        // the goal leads back
		{2, 0, "(0, 1) 0.1  (0, 2) 0.8  (0, 3) 0.1"}, // off the map
		{7, 3, "(1, 0) 0.1  (2, 0) 0.9"},             // west and south, off the map
		{6, 2, "(1, 2) 0.1  (1, 3) 0.1  (2, 3) 0.8"}, // east off the map
	} {
		if got := row(c.s, c.a); got != c.want {
			t.Errorf("%s, %s: next states %s, want %s", x.StateName(c.s), x.ActionName(c.a), got, c.want)
		}
	}
	if x.Cost(2, 0) != 10 || x.Cost(10, 0) != 0 || x.Cost(0, 0) != 1 {
		t.Errorf("costs %v %v %v, want 10 in the swamp, 0 at the goal, 1 elsewhere", x.Cost(2, 0), x.Cost(10, 0), x.Cost(0, 0))
	}
	if _, err := x.Occupation(t.Context(), mixpolicy.UniformPolicy(x)); err != nil {
		t.Error(err)
	}
}

// Any map gives either an error, or an MDP with a state for each cell that is not a wall.
func FuzzGridWorld(f *testing.F) {
	for _, m := range []string{"", exampleMap, "SG", "S\nG\n", "\n\n", "S#G\r", "S~~\n..G"} {
		f.Add(m, .3)
	}
	f.Fuzz(func(t *testing.T, drawing string, slip float64) {
		x, err := GridWorld{Map: drawing, Slip: slip}.MDP()
		if (x == nil) == (err == nil) {
			t.Fatalf("got MDP %v and error %v, want exactly one of them", x, err)
		}
		if err == nil && drawing != "" && x.States() != len(drawing)-strings.Count(drawing, "\n")-strings.Count(drawing, "#") {
			t.Fatalf("%q has %d states", drawing, x.States())
		}
	})
}

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
		x, y := mixpolicy.Must(g.MDP()), mixpolicy.Must(g.MDP())
		if !slices.Equal(x.Costs(), y.Costs()) || slices.Min(x.Costs()) < 0 || slices.Max(x.Costs()) >= 1 {
			t.Fatalf("costs %v, and %v from the same seed, want equal costs in [0, 1)", x.Costs(), y.Costs())
		}
		for s := range n {
			for a := range g.Actions {
				to, p := x.Next(s, a)
				to2, p2 := y.Next(s, a)
				if !slices.Equal(to, to2) || !slices.Equal(p, p2) {
					t.Fatal("the same seed gives different transitions")
				}
				// A probability is a gap between uniform points, and such a gap is hardly ever exactly 0.
				if len(to) != g.Branches || g.Ring && !slices.Contains(to, int32((s+1)%n)) {
					t.Fatalf("state %d, action %d leads to %v, want %d states, ring: %v", s, a, to, g.Branches, g.Ring)
				}
			}
		}
		if g.Ring && g.Criterion == (mixpolicy.Criterion{}) {
			mixpolicy.Must(x.Occupation(t.Context(), mixpolicy.UniformPolicy(x)))
		}
	})
}

// Next states are drawn uniformly without repetition: each of the n states is drawn with probability b/n. In a ring,
// s+1 has probability 1, and each other state has probability (b−1)/(n−1).
func TestGarnetDrawsUniformly(t *testing.T) {
	const n, b, seeds = 7, 3, 4000
	for _, ring := range []bool{false, true} {
		var count [n]float64 // count[k] is the frequency with which s+k is a next state of s
		for seed := range uint64(seeds) {
			x := mixpolicy.Must(Garnet{States: n, Actions: 1, Branches: b, Seed: seed, Ring: ring}.MDP())
			for s := range n {
				to, _ := x.Next(s, 0)
				for _, s2 := range to {
					count[(int(s2)-s+n)%n] += 1. / seeds / n
				}
			}
		}
		for k, got := range count {
			want := float64(b) / n
			if ring && k == 1 {
				want = 1
			} else if ring {
				want = float64(b-1) / (n - 1)
			}
			if sd := math.Sqrt(want * (1 - want) / seeds / n); math.Abs(got-want) > 5*sd+1e-12 {
				t.Errorf("ring %v: s+%d is a next state with frequency %.4f, want %.4f ± %.4f", ring, k, got, want, sd)
			}
		}
	}
}

// The machine of the zero value breaks with probability 0.3, or 0.1 if serviced, recovers with probability 0.1, or
// 0.8 if serviced, and has an outage cost of five services. If one cost is set, the other stays 0; if Break is set,
// Repair stays 0.
func TestMachineDefaults(t *testing.T) {
	for _, c := range []struct {
		w       Machine
		costs   []float64
		changes []float64 // for each pair, the probability of going to the other state
	}{
		{Machine{}, []float64{0, 1, 5, 6}, []float64{.3, .1, .1, .8}},
		{Machine{Outage: 2}, []float64{0, 0, 2, 2}, []float64{.3, .1, .1, .8}},
		{Machine{Service: 2}, []float64{0, 2, 0, 2}, []float64{.3, .1, .1, .8}},
		{Machine{Break: [2]float64{.5, .5}}, []float64{0, 1, 5, 6}, []float64{.5, .5, 0, 0}},
	} {
		x := mixpolicy.Must(c.w.MDP())
		if !slices.Equal(x.Costs(), c.costs) || !x.Criterion().Average() {
			t.Errorf("%+v: costs %v, %v", c.w, x.Costs(), x.Criterion())
		}
		for i, want := range c.changes {
			to, p := x.Next(i/2, i%2)
			if k := slices.Index(to, int32(1-i/2)); want > 0 && (k < 0 || p[k] != want) || want == 0 && k >= 0 {
				t.Errorf("%+v, pair %d: next %v with %v, want a change with %v", c.w, i, to, p, want)
			}
		}
	}
}

// Costs are uniform in [0, 1): with probability 1 − δ, their empirical distribution is within √(ln(2/δ)/2N) of the
// uniform distribution everywhere (Dvoretzky, Kiefer and Wolfowitz). Here, δ = 10⁻⁹.
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
}

// Monomials are right for queues of three lengths, with and without length 0.
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
	}
	if phi := mixpolicy.Must(Queue{Buffer: 3}.Monomials(0)); phi.At(2, 0) != 1 {
		t.Errorf("degree 0: %v", phi)
	}
}

// An error names the invalid parameter, and has only one prefix.
func TestRefuses(t *testing.T) {
	w := Network{Buffers: [4]int{2, 2, 2, 2}}
	x := mixpolicy.Must(w.MDP())
	_, _, inOptimum := Machine{Repair: [2]float64{math.NaN(), .5}}.Optimum()
	for _, c := range []struct {
		err  error
		says string
	}{
		{second(Machine{Break: [2]float64{.5, -.1}}.MDP()), "-0.1"},
		{second(Machine{Repair: [2]float64{.5, 1.1}}.Measure([2]float64{})), "1.1"},
		{second(Machine{Break: [2]float64{math.NaN(), .5}}.Cost([2]float64{})), "NaN"},
		{inOptimum, "NaN"},
		{second(GridWorld{Map: "S.\n.G."}.MDP()), "row 1 has 3 cells, row 0 has 2"},
		{second(GridWorld{Map: "SS\n.G"}.MDP()), "second start at row 0, column 1"},
		{second(GridWorld{Map: "..\n.G"}.MDP()), "without a start"},
		{second(GridWorld{Map: "S."}.MDP()), "without a goal"},
		{second(GridWorld{Map: "S?G"}.MDP()), `'?' at row 0, column 1`},
		{second(GridWorld{Slip: 1.2}.MDP()), "1.2"},
		{second(GridWorld{Slip: math.NaN()}.MDP()), "NaN"},
		{second(Queue{Reading: Literal}.MDP()), "= 1.3"},
		{second(Queue{Reading: SlowArrivals, Arrival: .3}.MDP()), "up 0.3 + down 0.8 = 1.1"},
		{second(Queue{Reading: Reading(99)}.MDP()), "Reading(99)"},
		{second(Queue{Buffer: 1}.MDP()), "buffer of 1"},
		{second(Queue{Arrival: math.NaN()}.MDP()), "NaN"},
		{second(Queue{Rates: []float64{}}.MDP()), "no service rate"},
		{second(Queue{Rates: []float64{.2, -.1}}.MDP()), "-0.1 of action 1"},
		{second(Queue{Criterion: mixpolicy.Discounted(1.5)}.MDP()), "1.5"},
		{second(Queue{Cost: func(int, float64) float64 { return math.Inf(1) }}.MDP()), "state 1, action 0.2"},
		{second(Network{Buffers: [4]int{3, 0, 3, 3}}.MDP()), "buffer of 0 at queue 2"},
		{second(Network{Buffers: [4]int{999, 999, 999, 999}}.MDP()), "1e+12 states"},
		{second(Network{Arrival: [2]float64{.1, 1.2}}.MDP()), "1.2 at queue 3"},
		{second(Network{Service: [4]float64{.1, math.NaN(), .1, .1}}.MDP()), "NaN at queue 2"},
		{second(Network{Dynamics: OneEvent, Service: [4]float64{.5, .5, .5, .5}}.MDP()), "1.16"},
		{second(Network{Dynamics: 7}.MDP()), "Dynamics(7)"},
		{second(Network{Holding: [4]float64{math.Inf(1), 1, 1, 1}, Buffers: [4]int{1, 1, 1, 1}}.MDP()), "cost"},
		{second(Queue{}.Monomials(-1)), "degree up to -1"},
		{second(Queue{Arrival: 1.5}.MDP()), "arrival"},
		{second(Queue{Buffer: 1}.Monomials(1)), "a buffer of 1"},
		{second(Queue{Rates: []float64{1.1}}.MDP()), "rate 1.1"},
		{second(w.Policy(x, Rule(42))), "unknown rule"},
		{second(Network{Buffers: [4]int{2, 2, 2, 3}}.Policy(x, Longer)), "the MDP has 81 and 4"},
		{second(w.indexPolicy(x, func([4]int, int) float64 { return math.NaN() })), "NaN"},
		{second(w.State([4]int{0, 3, 0, 0})), "with length 3 of queue 2"},
		{second(w.Lengths(81)), "no state 81, want 0 to 80"},
		{second(w.Simulate(t.Context(), mixpolicy.UniformPolicy(x), 0, 1)), "0 simulated steps"},
		{second(Queue{}.Policies(mixpolicy.Must(Queue{Rates: []float64{.1, .9}}.MDP()))), "models: base policies (6.3) of a queue: "},
		{second(Garnet{Actions: 1, Branches: 1}.MDP()), "0 states and 1 actions"},
		{second(Garnet{States: 3, Actions: 1, Branches: 4}.MDP()), "4 branches, want 1 to 3"},
		{second(Garnet{States: 3, Actions: 1, Branches: 2, Criterion: mixpolicy.Discounted(2)}.MDP()), "γ = 2"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) || strings.Contains(c.err.Error(), ": mixpolicy: ") {
			t.Errorf("error %v, want it to say %q", c.err, c.says)
		}
	}
	// Parameters at the ends of their ranges are accepted.
	for _, err := range []error{
		second(GridWorld{Slip: 1}.MDP()), second(Queue{Reading: Literal, Arrival: .2}.MDP()),
		second(Queue{Arrival: 1, Reading: Uniformised}.MDP()), second(Queue{Rates: []float64{0, 1}, Reading: Uniformised}.MDP()),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// checkCells checks that two states are in the same cell if and only if they are of the same kind. States in no cell
// are of the zero kind.
func checkCells[K comparable](t *testing.T, w Network, g *Aggregation, kind func(x [4]int) K) {
	t.Helper()
	var none K
	cells, kinds := map[int32]K{-1: none}, map[K]int32{none: -1}
	for s, cell := range g.Cell {
		x := mixpolicy.Must(w.Lengths(s))
		k := kind(x)
		if _, met := cells[cell]; !met {
			cells[cell] = k
		}
		if _, met := kinds[k]; !met {
			kinds[k] = cell
		}
		if cells[cell] != k || kinds[k] != cell {
			t.Fatalf("lengths %v, of kind %v, are in cell %d", x, k, cell)
		}
	}
}

func TestNetworkFeatures(t *testing.T) {
	w := Network{Buffers: [4]int{26, 3, 12, 2}}
	loss := mixpolicy.Must(w.LossIntervals())
	if loss.Cells() != 9 || loss.Cell[len(loss.Cell)-1] != 8 { // at most 26+3+12+2 = 43 jobs, so 9 intervals
		t.Fatalf("%d loss intervals, want 9", loss.Cells())
	}
	checkCells(t, w, loss, func(x [4]int) int { return (x[0] + x[1] + x[2] + x[3] + 4) / 5 }) // a job costs 1
	checkCells(t, w, mixpolicy.Must(w.LengthBoxes()), func(x [4]int) (box [4]int) {
		if x[0] > 25 {
			return box
		}
		for i, length := range x {
			box[i] = max(1, (length+9)/10) // length 0 is in the same box as 1 to 10
		}
		return box
	})
	full := mixpolicy.Must(Network{}.LengthBoxes())
	if full.Cells() != 81 || slices.Max(full.Size) != 11*11*11*11 {
		t.Errorf("%d boxes, the largest of %d states, want 81 and 14641", full.Cells(), slices.Max(full.Size))
	}
}
