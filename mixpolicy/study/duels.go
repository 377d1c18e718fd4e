package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Level is that of the tests: the probability of one or more wrong verdicts in a table.
const Level = 0.05

// Duel is a comparison of two methods on a problem, or on a family of them.
type Duel struct {
	Problem, A, B string
	// Better and Worse count the runs, or the instances of a family, on which A came to less
	// than B at the end, or to more. The others were equal.
	Better, Worse int
	// Won and Lost count the instances of a family that the sign test over runs decides by
	// itself, Of all Instances; 0 on a problem that is no family.
	Won, Lost, Instances int
	// P is the p-value of the sign test of Better against Worse, adjusted for all duels that
	// were asked for at once ([race.Holm]).
	P float64
	// Difference is the median of A's numbers minus B's, run by run, with an interval; those of all k
	// duels that were asked for at once hold together with 95 %, as each has 1 − 0.05/k. Of a family
	// there is none: N = 0.
	Difference race.Interval
}

// Winner is the method that the test takes for the better one, or "".
func (d Duel) Winner() string {
	switch {
	case d.P > Level:
		return ""
	case d.Better > d.Worse:
		return d.A
	}
	return d.B
}

// String shows the counts, such as "18–2", with those of the instances of a family that are decided,
// and a question mark if there is no winner.
func (d Duel) String() string {
	text := fmt.Sprintf("%d–%d", d.Better, d.Worse)
	if d.Instances > 0 {
		text += fmt.Sprintf(" (%d–%d)", d.Won, d.Lost)
	}
	if d.Winner() == "" {
		text += " ?"
	}
	return text
}

// Problems are the names of the problems and families that have a race of the kind.
func (r Record) Problems(kind string) (names []string) {
	for _, row := range r.Select(race.Row{Race: kind}) {
		if !slices.Contains(names, row.Problem) {
			names = append(names, row.Problem)
		}
	}
	return names
}

// Duels compares methods at the end of the races of a kind, [ByQueries] or [BySeconds], on the
// same streams: each pair, if both took part, on each of the problems. Holm's correction is for
// all of them.
func (r Record) Duels(kind, quantity string, problems []string, pairs ...[2]string) []Duel {
	var all []Duel
	var p []float64
	var differences [][]float64
	for _, problem := range problems {
		for _, pair := range pairs {
			if d, x, ok := r.duel(kind, quantity, problem, pair[0], pair[1]); ok {
				all, p, differences = append(all, d), append(p, d.P), append(differences, x)
			}
		}
	}
	for k, v := range race.Holm(p) {
		all[k].P = v
		if x := differences[k]; len(x) > 0 {
			all[k].Difference = race.Median(x, 1-Level/float64(len(p)))
		}
	}
	return all
}

// duel also returns the differences of the runs, but of no family.
func (r Record) duel(kind, quantity, problem, a, b string) (d Duel, differences []float64, ok bool) {
	d = Duel{Problem: problem, A: a, B: b}
	count := func(a, quantity string) (n, of int) {
		row, err := r.One(race.Row{Problem: problem, Race: kind, Method: a, Quantity: quantity})
		if err != nil {
			return 0, 0
		}
		return int(row.Value), row.Trials
	}
	x, y := r.runs(problem, kind, a, quantity), r.runs(problem, kind, b, quantity)
	if d.Better, d.Instances = count(a, betterThan(b)); d.Instances > 0 {
		d.Worse, _ = count(b, betterThan(a))
		d.Won, _ = count(a, wonAgainst(b))
		d.Lost, _ = count(b, wonAgainst(a))
	} else if len(x) == 0 || len(y) == 0 {
		return d, nil, false
	} else {
		differences = x.Differences(y)
		d.Better, d.Worse = race.Signs(differences, rounding*r.Mark(problem, Mixture))
	}
	d.P = race.SignTest(d.Better, d.Worse)
	return d, differences, true
}

// runs has what each run of a method had at the end of a race, a row each; none if there are none.
func (r Record) runs(problem, kind, method, quantity string) race.Record {
	row, err := r.One(race.Row{Problem: problem, Race: kind + ", trial", Method: method, Quantity: quantity})
	if err != nil {
		return nil
	}
	return mixpolicy.Must(row.Expand())
}

// Wins counts the families of a kind of race by who of two methods wins the duel by penalised gap: a, b, or nobody.
func (r Record) Wins(kind, a, b string) (won, lost, undecided int) {
	families := slices.DeleteFunc(r.Problems(kind), func(name string) bool { return slices.Contains(Names, name) })
	for _, d := range r.Duels(kind, PenalisedGap, families, [2]string{a, b}) {
		switch d.Winner() {
		case a:
			won++
		case b:
			lost++
		default:
			undecided++
		}
	}
	return won, lost, undecided
}

// Against is the table of a method's duels with others, a row a problem.
func (r Record) Against(kind, quantity string, problems []string, method string, others ...string) plotting.Table {
	var pairs [][2]string
	for _, o := range others {
		pairs = append(pairs, [2]string{method, o})
	}
	duels := r.Duels(kind, quantity, problems, pairs...)
	t := plotting.Table{
		Caption: fmt.Sprintf("%s: wins and losses of %s against each method, counted in runs, or in the instances of a family (in brackets those that their own runs decide); ?: no winner at %g %% with Holm's correction for %d tests", quantity, method, 100*Level, len(duels)),
		Columns: columns(append([]string{"problem"}, others...)...),
	}
	for _, p := range problems {
		cells := []any{p}
		for _, o := range others {
			cell := "–"
			if k := slices.IndexFunc(duels, func(d Duel) bool { return d.Problem == p && d.B == o }); k >= 0 {
				cell = duels[k].String()
			}
			cells = append(cells, cell)
		}
		t.Row(cells...)
	}
	return t
}

// Margins is the table of the duels of pairs on the three problems: by how much one is better.
func (r Record) Margins(kind, quantity string, pairs ...[2]string) plotting.Table {
	duels := r.Duels(kind, quantity, Names, pairs...)
	t := plotting.Table{
		Caption: fmt.Sprintf("%s, run by run on the same streams: median differences with intervals that hold together with %g %%, and p of the sign test, corrected for %d tests by Holm's method", quantity, 100*(1-Level), len(duels)),
		Columns: columns("problem", "pair", "runs", "better – worse", "median difference", "p"),
	}
	for _, d := range duels {
		v := d.Difference
		t.Row(d.Problem, d.A+" against "+d.B, fmt.Sprint(v.N), fmt.Sprintf("%d–%d", d.Better, d.Worse),
			fmt.Sprintf("%.3g [%.3g, %.3g]", v.Mean, v.Lo, v.Hi), fmt.Sprintf("%.1g", d.P))
	}
	return t
}

// Unbeaten returns, for each problem, those of the methods that lost no duel with another of
// them, at the level for all problems and pairs together.
func (r Record) Unbeaten(kind, quantity string, problems []string, methods ...string) map[string][]string {
	var pairs [][2]string
	for i, a := range methods {
		for _, b := range methods[i+1:] {
			pairs = append(pairs, [2]string{a, b})
		}
	}
	lost := map[[2]string]bool{}
	took := map[[2]string]bool{}
	for _, d := range r.Duels(kind, quantity, problems, pairs...) {
		took[[2]string{d.Problem, d.A}], took[[2]string{d.Problem, d.B}] = true, true
		switch d.Winner() {
		case d.A:
			lost[[2]string{d.Problem, d.B}] = true
		case d.B:
			lost[[2]string{d.Problem, d.A}] = true
		}
	}
	unbeaten := map[string][]string{}
	for _, p := range problems {
		for _, m := range methods {
			if at := [2]string{p, m}; took[at] && !lost[at] {
				unbeaten[p] = append(unbeaten[p], m)
			}
		}
	}
	return unbeaten
}

// Recommendation is the table of whom to use for (2.18) when the oracle's samples are all that is
// known of the costs: for each kind of costs on how many problems of the record a method was beaten
// by none of the others, by penalised gap after equal queries. Those to use were beaten on the fewest.
func (r Record) Recommendation() plotting.Table {
	problems := r.Problems(ByQueries)
	methods := familyMethods
	unbeaten := r.Unbeaten(ByQueries, PenalisedGap, problems, methods...)
	t := plotting.Table{
		Caption: fmt.Sprintf("For (2.18), costs from the oracle: problems on which a method is beaten by none of the others, by penalised gap after equal queries (sign tests at %g %%, Holm)", 100*Level),
		Columns: columns(slices.Concat([]string{"costs"}, methods, []string{"use"})...),
	}
	group := func(what string, members []string) {
		cells, most, use := []any{what}, 0, ""
		for _, name := range methods {
			n := 0
			for _, p := range members {
				if slices.Contains(unbeaten[p], name) {
					n++
				}
			}
			cells = append(cells, fmt.Sprintf("%d of %d", n, len(members)))
			if n > most {
				most, use = n, name
			} else if n == most && n > 0 {
				use += "; " + name
			}
		}
		t.Row(append(cells, use)...)
	}
	group("three problems, exact costs", Names)
	for _, n := range []Noise{Exact, Gaussian, Heavy, Outliers} {
		var members []string
		for _, f := range Families() {
			if f.Noise == n && slices.Contains(problems, f.String()) {
				members = append(members, f.String())
			}
		}
		group("random problems, "+n.String(), members)
	}
	return t
}

// ByTelling is the table of who is best by true cost on each of the problems among those who are
// told the same: the methods that no other of them beats, and the median of the first.
func (r Record) ByTelling(problems ...string) (plotting.Table, error) {
	t := plotting.Table{Caption: fmt.Sprintf("True cost of the policy: who is beaten by nobody who is told the same (sign tests at %g %%, with Holm's correction in each cell), and what the first of them costs", 100*Level)}
	cells := map[string]map[string]string{} // of a telling on a problem
	var tellings []string
	for _, problem := range problems {
		c, err := Build(problem)
		if err != nil {
			return t, err
		}
		groups := map[string][]string{}
		for _, e := range c.All() {
			told := strings.Join(e.Told, "; ")
			if cells[told] == nil {
				cells[told] = map[string]string{}
				tellings = append(tellings, told)
			}
			groups[told] = append(groups[told], e.Name)
		}
		for told, methods := range groups {
			kind := ByQueries
			if len(r.where(problem, kind, methods[0], "")) == 0 {
				kind = BySeconds
			}
			best := methods
			if len(methods) > 1 {
				best = r.Unbeaten(kind, PolicyCost, []string{problem}, methods...)[problem]
			}
			if len(best) > 0 {
				cells[told][problem] = fmt.Sprintf("%s: %.4g", strings.Join(best, "; "), r.final(problem, kind, best[0], PolicyCost).Value)
			}
		}
	}
	t.Columns = columns(append([]string{"told"}, problems...)...)
	for _, told := range tellings {
		row := []any{told}
		for _, problem := range problems {
			row = append(row, cells[told][problem])
		}
		t.Row(row...)
	}
	return t, nil
}

// ToldTable says who is told what, of all methods that race on the named problems.
func ToldTable(problems ...string) (plotting.Table, error) {
	t := plotting.Table{
		Caption: "Who is told what: what is known, and at which pairs costs may be asked for",
		Columns: columns(append([]string{"method"}, Tellings...)...),
	}
	for _, problem := range problems {
		c, err := Build(problem)
		if err != nil {
			return t, err
		}
		for _, e := range c.All() {
			if slices.Contains(t.Columns[0].Text, e.Name) {
				continue
			}
			row := []any{e.Name}
			for _, what := range Tellings {
				cell := ""
				if slices.Contains(e.Told, what) {
					cell = "✓"
				}
				row = append(row, cell)
			}
			t.Row(row...)
		}
	}
	return t, nil
}
