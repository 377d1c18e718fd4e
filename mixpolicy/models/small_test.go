package models

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

func ExampleMachine() {
	cost, serviced, err := Machine{}.Optimum()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("average cost %.4f, service while working: %v, while broken: %v\n", cost, serviced[Working] == 1, serviced[Broken] == 1)
	// Output:
	// average cost 1.5556, service while working: true, while broken: true
}

// The closed forms against elimination, for any machine and policy.
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
		x, err := w.MDP()
		if err != nil {
			t.Fatal(err)
		}
		serviced := pair(share, "serviced")
		p, err := mixpolicy.NewPolicy(x, []float64{1 - serviced[0], serviced[0], 1 - serviced[1], serviced[1]})
		if err != nil {
			t.Fatal(err)
		}
		m, err := x.Occupation(p)
		if err != nil {
			t.Fatal(err)
		}
		mu, err := w.Measure(serviced)
		if err != nil {
			t.Fatal(err)
		}
		// p, q ≥ .01 and 1−p carry a rounding of 2⁻⁵³ each: 100 times that, a few times over.
		for s := range mu {
			if math.Abs(m.State[s]-mu[s]) > 1e-13 {
				t.Fatalf("μ(%d) = %v, want %v", s, mu[s], m.State[s])
			}
		}
		cost, err := w.Cost(serviced)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Cost(x.Costs()); math.Abs(got-cost) > 1e-12 {
			t.Fatalf("cost %v, want %v", cost, got)
		}
		best, where, err := w.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		if c, _ := w.Cost(where); c != best || best > cost+1e-12 {
			t.Fatalf("optimum %v, but %v costs %v", best, serviced, cost)
		}
		// One step of the chain multiplies μ₀ − μ by the second eigenvalue.
		if w.Criterion == (mixpolicy.Criterion{}) {
			lambda, err := w.Relaxation(serviced)
			if err != nil {
				t.Fatal(err)
			}
			after := 1 - blend(w.Break, serviced[Working]) // μ₀ = working
			if math.Abs(after-mu[0]-lambda*(1-mu[0])) > 1e-13 {
				t.Fatalf("eigenvalue %v, but one step leaves %v of %v", lambda, after-mu[0], 1-mu[0])
			}
		}
	})
}

func TestGridWorld(t *testing.T) {
	x, err := GridWorld{Slip: .2}.MDP()
	if err != nil {
		t.Fatal(err)
	}
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
		{7, 3, "(1, 0) 0.1  (2, 0) 0.9"},             // west off the map, south too
		{6, 2, "(1, 2) 0.1  (1, 3) 0.1  (2, 3) 0.8"}, // east off the map
	} {
		if got := row(c.s, c.a); got != c.want {
			t.Errorf("%s %s: %s, want %s", x.StateName(c.s), x.ActionName(c.a), got, c.want)
		}
	}
	if x.Cost(2, 0) != 10 || x.Cost(10, 0) != 0 || x.Cost(0, 0) != 1 {
		t.Errorf("costs %v %v %v, want 10 in the swamp, 0 at the goal, 1 elsewhere", x.Cost(2, 0), x.Cost(10, 0), x.Cost(0, 0))
	}
	if _, err := x.Occupation(mixpolicy.UniformPolicy(x)); err != nil {
		t.Error(err)
	}
}

func TestGridWorldRefuses(t *testing.T) {
	for _, c := range []struct {
		world GridWorld
		want  string
	}{
		{GridWorld{Map: "S.\n.G."}, "row 1 has 3 cells, row 0 has 2"},
		{GridWorld{Map: "SS\n.G"}, "second start at row 0, column 1"},
		{GridWorld{Map: "..\n.G"}, "without a start"},
		{GridWorld{Map: "S."}, "without a goal"},
		{GridWorld{Map: "S?G"}, `'?' at row 0, column 1`},
		{GridWorld{Slip: 1.2}, "1.2"},
		{GridWorld{Slip: math.NaN()}, "NaN"},
	} {
		if _, err := c.world.MDP(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want it to say %q", c.world, err, c.want)
		}
	}
}

// Whatever is drawn, the result is an MDP whose rows New has checked, or an error.
func FuzzGridWorld(f *testing.F) {
	for _, m := range []string{"", exampleMap, "SG", "S\nG\n", "\n\n", "S#G\r", "S~~\n..G"} {
		f.Add(m, .3)
	}
	f.Fuzz(func(t *testing.T, drawing string, slip float64) {
		x, err := GridWorld{Map: drawing, Slip: slip}.MDP()
		if (x == nil) == (err == nil) {
			t.Fatalf("MDP %v with error %v", x, err)
		}
		if err == nil && drawing != "" && x.States() != len(drawing)-strings.Count(drawing, "\n")-strings.Count(drawing, "#") {
			t.Fatalf("%q has %d states", drawing, x.States())
		}
	})
}
