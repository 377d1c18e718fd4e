package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// made returns a record made by hand. In the race by queries, a is better than b on 9 of 10 streams, and c equals b up to
// rounding. In the fair races, a is better than b on "queue" in both drawings, and on "network" only in the first. On
// a family, a is far better than b in one of the two runs on each instance, and a little worse in the other,
// except that on the first instance, this other run of b failed.
func made() (r Record) {
	for _, name := range Names {
		r.Record = append(r.Record, race.Row{Problem: name, Race: Given, Quantity: Mixture, Value: 100})
	}
	add := func(problem, base, kind, method string, values ...float64) {
		row := race.Row{Problem: problem, Base: base, Race: kind, Method: method, Quantity: PenalisedGap, Values: values}
		r.Record = append(r.Record, row)
	}
	add("queue", "", ByQueries, "a", 9, 10, 11, 18, 13, 14, 15, 16, 17, 18)
	add("queue", "", ByQueries, "b", 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	add("queue", "", ByQueries, "c", 10+1e-9, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	for k, base := range Drawings {
		one, two := slices.Repeat([]float64{1}, 40), slices.Repeat([]float64{2}, 40)
		both := append([]float64{math.NaN(), 100}, slices.Repeat([]float64{1, 100}, 19)...)
		add("queue", base, Fair, "a", one...)
		add("queue", base, Fair, "b", two...)
		add("network", base, Fair, "a", one...)
		add("network", base, Fair, "b", [][]float64{two, one}[k]...)
		add(Families()[0].String(), base, Fair, "a", two...)
		add(Families()[0].String(), base, Fair, "b", both...)
	}
	return r
}

func TestDuels(t *testing.T) {
	r, queue := made(), []string{"queue"}
	got := r.Duels(ByQueries, PenalisedGap, queue, [2]string{"a", "b"}, [2]string{"b", "c"}, [2]string{"a", "nobody"}, [2]string{"a", "c"})
	want := []race.Duel{
		{Problem: "queue", A: "a", B: "b", Better: 9, Worse: 1, P: 3 * 2 * 11. / 1024}, // 11 of 2¹⁰ outcomes on each side, times Holm's 3
		{Problem: "queue", A: "b", B: "c", P: 1},
		{Problem: "queue", A: "a", B: "c", Better: 9, Worse: 1, P: 3 * 2 * 11. / 1024}, // as for a and b: Holm's p-values do not decrease
	}
	if !slices.EqualFunc(got, want, func(a Duel, b race.Duel) bool {
		d := a[0]
		p := d.P
		d.P, d.Level, d.Difference, d.Differences = b.P, 0, race.Interval{}, nil
		return len(a) == 1 && math.Abs(p-b.P) < 1e-12 && reflect.DeepEqual(d, b)
	}) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	// Nine of the ten differences are −1, and one is 5. For one duel at 5 %, an interval of confidence 1 − 2·11/2¹⁰
	// would leave out the least and the greatest difference; for three duels, the interval contains all ten.
	if v := got[0][0].Difference; v.Mean != -1 || v.Lo != -1 || v.Hi != 5 || v.N != 10 {
		t.Errorf("difference %+v", v)
	}
	text := r.Margins(ByQueries, PenalisedGap, [2]string{"a", "b"}).String() +
		r.Against(ByQueries, PenalisedGap, queue, "a", "b", "nobody").String()
	for _, part := range []string{"9–1", "-1 [-1, -1]", "9–1 ", " –"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	if unbeaten := r.Unbeaten(ByQueries, PenalisedGap, queue, "a", "b"); !slices.Equal(unbeaten["queue"], []string{"a"}) {
		t.Errorf("%q", unbeaten)
	}
}

// A method that is better in only one drawing does not win. On a family, instances count. A method that raced in only
// one drawing has no duel.
func TestFairDuels(t *testing.T) {
	r, family := made(), Families()[0].String()
	half := race.Row{Problem: "queue", Base: Drawings[0], Race: Fair, Method: "half", Quantity: PenalisedGap, Values: []float64{1}}
	r.Record = append(r.Record, half)
	problems := []string{"queue", "network", family}
	want := map[string]string{"queue": "40–0, 40–0 won by a", "network": "40–0, 0–0 ? won by ", family: "1–0, 1–0 ? won by "}
	for _, d := range r.Duels(Fair, PenalisedGap, problems, [2]string{"a", "half"}, [2]string{"a", "b"}) {
		if got := d.String() + " won by " + d.Winner(); got != want[d[0].Problem] || d[0].B != "b" {
			t.Errorf("%s: %v, want %s", d[0].Problem, got, want[d[0].Problem])
		}
		delete(want, d[0].Problem)
	}
	if won, lost, undecided := r.Wins(Fair, problems, "b", "a"); won != 0 || lost != 1 || undecided != 2 || len(want) > 0 {
		t.Errorf("%d won, %d lost, %d undecided, want 0, 1, 2; no duels on %v", won, lost, undecided, want)
	}
	if text := r.Against(Fair, PenalisedGap, Names, "a", "b").String(); !strings.Contains(text, "40–0, 0–0 ?") {
		t.Error(text)
	}
}

// For each kind of costs, the table recommends a method, and it counts every problem. It does not recommend plug-in
// if plug-in loses every run.
func TestRecommendation(t *testing.T) {
	r := recorded()
	table := r.Recommendation()
	use, counted := table.Columns[len(table.Columns)-1].Text, 0
	for k, cell := range table.Columns[1].Text {
		var n, of int
		fmt.Sscanf(cell, "%d of %d", &n, &of)
		if counted += of; use[k] == "" {
			t.Errorf("no method for %s", table.Columns[0].Text[k])
		}
	}
	if counted != 23 {
		t.Errorf("%d problems are counted, want 23", counted)
	}
	worse := Record{slices.Clone(r.Record)} // plug-in loses every run
	for k, row := range worse.Record {
		if values := slices.Clone(row.Values); row.Race == Fair && row.Method == "plug-in" {
			floats.AddConst(1e9, values)
			worse.Record[k].Values = values
		}
	}
	after := worse.Recommendation()
	if text := after.Columns[len(after.Columns)-1].Text[0]; strings.Contains(text+";", "plug-in;") {
		t.Errorf("plug-in loses everywhere on the three problems, and is recommended: %q", text)
	}
}

// If each method beats the next in a circle, no method is unbeaten, and the table recommends none.
func TestRecommendationOfNobody(t *testing.T) {
	var r Record
	n := len(FairMethods) - 1 // without the even mixture
	for i, m := range FairMethods[:n] {
		for _, base := range Drawings {
			row := race.Row{Problem: Names[0], Base: base, Race: Fair, Method: m, Quantity: PenalisedGap}
			for k := range 600 { // m is better than the next method, except in the runs where the next has 0
				row.Values = append(row.Values, float64((i+k)%n))
			}
			r.Record = append(r.Record, row)
		}
	}
	table := r.Recommendation()
	want := append(slices.Repeat([]string{"0 of 3"}, n), "")
	for k, c := range table.Columns[1:] {
		if got := c.Text[0]; got != want[k] {
			t.Errorf("column %q is %q, want %q", c.Head, got, want[k])
		}
	}
}

// A method that knows all costs queries none, and every other method queries some. A method that receives the costs
// of sampled pairs gives the same answer when the costs of all other pairs change.
func TestTold(t *testing.T) {
	const queries = 30
	q := models.Queue{Buffer: 20, Empty: true, Criterion: mixpolicy.Discounted(.9)}
	problem := func(x *mixpolicy.MDP) *mixpolicy.Problem {
		f := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(q.Policies(x))...))
		return mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	}
	x := mixpolicy.Must(q.MDP())
	p := problem(x)
	seen := map[int]bool{}
	o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))
	for range queries {
		i, _ := o.Sample()
		seen[i] = true
	}
	hidden := slices.DeleteFunc(rand.New(rand.NewPCG(1, 0)).Perm(x.Pairs()), func(i int) bool { return seen[i] })
	costs := slices.Clone(x.Costs())
	for k, i := range hidden { // the range of costs stays the same
		costs[i] = x.Costs()[hidden[(k+1)%len(hidden)]]
	}
	other := problem(mixpolicy.Must(x.WithCosts(costs)))

	phi := mixpolicy.Must(q.Monomials(1))
	one, two := Learners(p, phi, queries, 10), Learners(other, phi, queries, 10)
	answer := func(p *mixpolicy.Problem, m mixpolicy.Method) (int, []float64) {
		r := mixpolicy.Must(mixpolicy.Solve(t.Context(), p, m, mixpolicy.Settings{Iterations: queries, Seed: 1, Uncertified: true}))
		answer := slices.Clone(r.Theta)
		for s := 0; s < x.States() && r.Theta == nil; s++ {
			answer = append(answer, r.Policy.Row(s)...)
		}
		return r.Queries, answer
	}
	for k, e := range one {
		asked, first := answer(p, e.Methods[0])
		if asked == 0 || slices.Contains(e.Told, Costs) {
			t.Errorf("%s asks for %d costs and is told %q", e.Name, asked, e.Told)
		}
		if _, second := answer(other, two[k].Methods[0]); slices.Contains(e.Told, SampledCosts) && !slices.Equal(first, second) {
			t.Errorf("%s is told of costs that it has not seen", e.Name)
		}
	}
	for _, e := range Informed(p, phi) {
		if asked, _ := answer(p, e.Methods[0]); asked > 0 || !slices.Contains(e.Told, Costs) {
			t.Errorf("%s asks for %d costs and is told %q", e.Name, asked, e.Told)
		}
	}
	for _, e := range append(one, Informed(p, phi)...) {
		if k := slices.IndexFunc(e.Told, func(what string) bool { return !slices.Contains(Tellings, what) }); k >= 0 {
			t.Errorf("%s is told %q, which has no column", e.Name, e.Told[k])
		}
	}
}
