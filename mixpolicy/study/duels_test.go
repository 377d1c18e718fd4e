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

// made is a record by hand: on "queue" a is better than b on 9 of 10 streams, and c equals b up to
// rounding; in a family b is better than a on 6 of 6 instances, 4 of them by themselves.
func made() (r Record) {
	r.Record = race.Record{{Problem: "queue", Race: Given, Quantity: Mixture, Value: 100}}
	for method, more := range map[string]float64{"a": -1, "b": 0, "c": 1e-9} {
		row := race.Row{Problem: "queue", Race: ByQueries, Method: method, Quantity: PenalisedGap}
		for k := range 10 {
			if row.Values = append(row.Values, float64(10+k)+more); method == "a" && k == 3 {
				row.Values[k] += 6
			}
		}
		r.Record = append(r.Record, row)
	}
	for _, c := range []struct {
		method, quantity string
		count            float64
	}{{"a", betterThan("b"), 0}, {"a", wonAgainst("b"), 0}, {"b", betterThan("a"), 6}, {"b", wonAgainst("a"), 4}} {
		r.Record = append(r.Record, race.Row{Problem: "family", Race: ByQueries, Method: c.method, Quantity: c.quantity, Value: c.count, Trials: 6})
	}
	return r
}

func TestDuels(t *testing.T) {
	r := made()
	problems := []string{"queue", "family"}
	got := r.Duels(ByQueries, PenalisedGap, problems, [2]string{"a", "b"}, [2]string{"b", "c"})
	want := []race.Duel{
		{Problem: "queue", A: "a", B: "b", Better: 9, Worse: 1, P: 3 * 2 * 11. / 1024}, // 1 + 10 of 2¹⁰ falls, on either side
		{Problem: "queue", A: "b", B: "c", P: 1},
		{Problem: "family", A: "a", B: "b", Worse: 6, Lost: 4, Instances: 6, P: 3 * 2 * 11. / 1024},
	}
	// Holm: 3·22/1024, and then 2·2/64, which is less and so raised to that.
	if !slices.EqualFunc(got, want, func(a, b race.Duel) bool {
		p := a.P
		a.P, a.Level, a.Difference, a.Differences = b.P, 0, race.Interval{}, nil
		return math.Abs(p-b.P) < 1e-12 && reflect.DeepEqual(a, b)
	}) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	// The median of −1 nine times and 5; of ten differences all but the least and the greatest are an
	// interval of 1 − 2·11/2¹⁰ for one duel at 5 %, and all are for three.
	if v := got[0].Difference; v.Mean != -1 || v.Lo != -1 || v.Hi != 5 || v.N != 10 || got[2].Difference.N != 0 {
		t.Errorf("difference %+v, and %+v of a family", v, got[2].Difference)
	}
	text := r.Margins(ByQueries, PenalisedGap, [2]string{"a", "b"}).String() + r.Against(ByQueries, PenalisedGap, problems, "a", "b", "nobody").String()
	for _, part := range []string{"9–1", "-1 [-1, -1]", "9–1 ", " –"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	for problem, want := range map[string]string{"queue": "9–1 won by a", "family": "0–6 (0–4) won by b"} {
		d := r.Duels(ByQueries, PenalisedGap, []string{problem}, [2]string{"a", "b"})[0]
		if got := d.String() + " won by " + d.Winner(); got != want {
			t.Errorf("%s: %s, want %s", problem, got, want)
		}
	}
	// "queue" is no family, and a and c did not meet on one.
	for pair, want := range map[[2]string][3]int{{"a", "b"}: {0, 1, 0}, {"b", "a"}: {1, 0, 0}, {"a", "c"}: {}} {
		if won, lost, undecided := r.Wins(ByQueries, pair[0], pair[1]); [3]int{won, lost, undecided} != want {
			t.Errorf("%v: won %d, lost %d, undecided %d families, want %v", pair, won, lost, undecided, want)
		}
	}
	if unbeaten := r.Unbeaten(ByQueries, PenalisedGap, problems[:1], "a", "b"); !slices.Equal(unbeaten["queue"], []string{"a"}) {
		t.Errorf("%q", unbeaten)
	}
}

// The recommendation names who is beaten least, in each kind of costs, and every problem counts.
func TestRecommendation(t *testing.T) {
	r := recorded()
	table := r.Recommendation()
	use, counted := table.Columns[len(table.Columns)-1].Text, 0
	for k, cell := range table.Columns[1].Text {
		var n, of int
		fmt.Sscanf(cell, "%d of %d", &n, &of)
		if counted += of; use[k] == "" {
			t.Errorf("nobody for %s", table.Columns[0].Text[k])
		}
	}
	if all := len(r.Problems(ByQueries)); counted != all {
		t.Errorf("%d problems are counted, want %d", counted, all)
	}
	worse := Record{slices.Clone(r.Record)} // where plug-in loses every run
	for k, row := range worse.Record {
		if values := slices.Clone(row.Values); row.Race == ByQueries && row.Method == "plug-in" && row.Quantity == PenalisedGap {
			floats.AddConst(1e9, values)
			worse.Record[k].Values = values
		}
	}
	after := worse.Recommendation()
	if text := after.Columns[len(after.Columns)-1].Text[0]; strings.Contains(text+";", "plug-in;") {
		t.Errorf("plug-in loses everywhere on the three problems, and is recommended: %q", text)
	}
}

// Where each beats the next in a circle, nobody is unbeaten, and nobody is recommended.
func TestRecommendationOfNobody(t *testing.T) {
	var r Record
	n := len(familyMethods)
	for i, m := range familyMethods {
		for j, other := range familyMethods {
			wins := 10.
			switch (j - i + n) % n {
			case 1:
				wins = 20
			case n - 1:
				wins = 0
			}
			r.Record = append(r.Record, race.Row{Problem: Families()[0].String(), Race: ByQueries, Method: m, Quantity: betterThan(other), Value: wins, Trials: 20})
		}
	}
	table := r.Recommendation()
	want := append(slices.Repeat([]string{"0 of 1"}, n), "")
	for k, c := range table.Columns[1:] {
		if got := c.Text[1]; got != want[k] {
			t.Errorf("column %q is %q, want %q", c.Head, got, want[k])
		}
	}
}

// Who is told all costs asks for none, and who is not asks. Who sees costs of pairs that the oracle
// draws, and no others, gives the same answer when the others are changed.
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
	for k, i := range hidden { // the range stays
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
