package study

import (
	"fmt"
	"math/rand/v2"
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
	for method, counts := range map[string][2]float64{"a": {0, 0}, "b": {6, 4}} {
		other := map[string]string{"a": "b", "b": "a"}[method]
		r.Record = append(r.Record,
			race.Row{Problem: "family", Race: ByQueries, Method: method, Quantity: betterThan(other), Value: counts[0], Trials: 6},
			race.Row{Problem: "family", Race: ByQueries, Method: method, Quantity: wonAgainst(other), Value: counts[1], Trials: 6})
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
		near := a.P > b.P-1e-12 && a.P < b.P+1e-12
		return near && a.Problem+a.A+a.B == b.Problem+b.A+b.B && [5]int{a.Better, a.Worse, a.Won, a.Lost, a.Instances} == [5]int{b.Better, b.Worse, b.Won, b.Lost, b.Instances}
	}) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	// The median of −1 nine times and 5; of ten differences all but the least and the greatest are an
	// interval of 1 − 2·11/2¹⁰ for one duel at 5 %, and all are for three.
	if v := got[0].Difference; v.Mean != -1 || v.Lo != -1 || v.Hi != 5 || v.N != 10 || got[2].Difference.N != 0 {
		t.Errorf("difference %+v, and %+v of a family", v, got[2].Difference)
	}
	if margins := r.Margins(ByQueries, PenalisedGap, [2]string{"a", "b"}).String(); !strings.Contains(margins, "-1 [-1, -1]") || !strings.Contains(margins, "9–1") {
		t.Error(margins)
	}
	alone := r.Duels(ByQueries, PenalisedGap, problems[:1], [2]string{"a", "b"})[0]
	if alone.Winner() != "a" || alone.String() != "9–1" {
		t.Errorf("%+v is won by %q", alone, alone.Winner())
	}
	// "queue" is no family, and a and c did not meet on one.
	for pair, want := range map[[2]string][3]int{{"a", "b"}: {0, 1, 0}, {"b", "a"}: {1, 0, 0}, {"a", "c"}: {}} {
		if won, lost, undecided := r.Wins(ByQueries, pair[0], pair[1]); [3]int{won, lost, undecided} != want {
			t.Errorf("%v: won %d, lost %d, undecided %d families, want %v", pair, won, lost, undecided, want)
		}
	}
	if family := r.Duels(ByQueries, PenalisedGap, problems[1:], [2]string{"a", "b"})[0]; family.Winner() != "b" || family.String() != "0–6 (0–4)" {
		t.Errorf("%+v is won by %q", family, family.Winner())
	}
	unbeaten := r.Unbeaten(ByQueries, PenalisedGap, problems[:1], "a", "b")
	if !slices.Equal(unbeaten["queue"], []string{"a"}) {
		t.Errorf("%q", unbeaten)
	}
	if table := r.Against(ByQueries, PenalisedGap, problems, "a", "b", "nobody").String(); !strings.Contains(table, "9–1") || !strings.Contains(table, "–") {
		t.Error(table)
	}
}

// The recommendation names who is beaten least, in each kind of costs, and every problem counts.
func TestRecommendation(t *testing.T) {
	r := recorded(t)
	table := r.Recommendation()
	use := table.Columns[len(table.Columns)-1].Text
	counted := 0
	for _, cell := range table.Columns[1].Text {
		var n, of int
		fmt.Sscanf(cell, "%d of %d", &n, &of)
		counted += of
	}
	if all := len(r.Problems(ByQueries)); counted != all {
		t.Errorf("%d problems are counted, want %d", counted, all)
	}
	for k, kind := range table.Columns[0].Text {
		if use[k] == "" {
			t.Errorf("nobody for %s", kind)
		}
	}
	worse := Record{slices.Clone(r.Record)} // where plug-in loses every run
	for k, row := range worse.Record {
		if row.Race == ByQueries && row.Method == "plug-in" && row.Quantity == PenalisedGap && row.Values != nil {
			worse.Record[k].Values = slices.Clone(row.Values)
			floats.AddConst(1e9, worse.Record[k].Values)
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
	for i, m := range familyMethods {
		for j, other := range familyMethods {
			better := map[int]float64{1: 20, len(familyMethods) - 1: 0}
			wins, decided := better[(j-i+len(familyMethods))%len(familyMethods)]
			if !decided {
				wins = 10
			}
			r.Record = append(r.Record, race.Row{Problem: Families()[0].String(), Race: ByQueries, Method: m, Quantity: betterThan(other), Value: wins, Trials: 20})
		}
	}
	table := r.Recommendation()
	for k, c := range table.Columns {
		want := "0 of 1"
		if k == 0 {
			want = "random problems, exact costs"
		} else if k == len(table.Columns)-1 {
			want = ""
		}
		if got := c.Text[1]; got != want {
			t.Errorf("column %q is %q, want %q", c.Head, got, want)
		}
	}
}

// Who is told all costs asks for none, and who is not asks. Who sees costs of pairs that the oracle
// draws, and no others, gives the same answer when the others are changed.
func TestTold(t *testing.T) {
	const queries = 30
	q := models.Queue{Buffer: 20, Empty: true, Criterion: mixpolicy.Discounted(.9)}
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(q.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	seen := map[int]bool{}
	o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))
	for range queries {
		i, _ := o.Sample()
		seen[i] = true
	}
	var hidden []int
	for i := range x.Pairs() {
		if !seen[i] {
			hidden = append(hidden, i)
		}
	}
	costs := slices.Clone(x.Costs())
	for k, i := range rand.New(rand.NewPCG(1, 0)).Perm(len(hidden)) { // the range stays
		costs[hidden[k]] = x.Costs()[hidden[i]]
	}
	y := mixpolicy.Must(x.WithCosts(costs))
	other := mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), y, mixpolicy.Must(q.Policies(y))...)), mixpolicy.Ball(2)))

	phi := mixpolicy.Must(q.Monomials(1))
	one, two := Learners(p, phi, queries, 10), Learners(other, phi, queries, 10)
	answer := func(p *mixpolicy.Problem, m mixpolicy.Method) (queries int, answer []float64) {
		o := mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0))
		run := mixpolicy.Must(m.Start(p, o))
		for range 30 {
			if run.Step() != nil {
				break
			}
		}
		var s mixpolicy.Snapshot
		if err := run.View(&s); err != nil {
			t.Fatal(err)
		}
		if learner, ok := run.(mixpolicy.PolicyRun); ok {
			policy := mixpolicy.Must(learner.Policy(t.Context()))
			for s := range x.States() {
				answer = append(answer, policy.Row(s)...)
			}
			return o.Queries(), answer
		}
		return o.Queries(), slices.Clone(s.Average)
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
		for _, what := range e.Told {
			if !slices.Contains(Tellings, what) {
				t.Errorf("%s is told %q, which has no column", e.Name, what)
			}
		}
	}
}
