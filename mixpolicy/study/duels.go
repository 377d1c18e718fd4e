package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Level is the significance level of the sign tests: among all tests under one Holm correction, the probability of one
// or more wrong verdicts is at most Level.
const Level = 0.05

// rounding is the size, in units of the optimum, up to which a difference between two answers counts as rounding.
const rounding = 1e-9

// Duel is a comparison of two methods on a problem. It has one entry or, for a fair race, one entry for each drawing.
type Duel []race.Duel

// Winner returns the method that wins every entry of the duel, or "" if there is no such method.
func (d Duel) Winner() string {
	for _, drawing := range d {
		if drawing.Winner() != d[0].Winner() {
			return ""
		}
	}
	return d[0].Winner()
}

// String shows the numbers of wins and losses of the first method, such as "12–48, 9–51". A question mark follows if
// there is no winner.
func (d Duel) String() (text string) {
	for _, drawing := range d {
		text += fmt.Sprintf(", %d–%d", drawing.Better, drawing.Worse)
	}
	if d.Winner() == "" {
		text += " ?"
	}
	return text[2:]
}

// Duels compares pairs of methods by a quantity at the end of the races of the given kind: [ByQueries], [BySeconds] or
// [Fair]. For each of the given problems on which both methods of a pair raced, it compares the two methods run by run,
// on the same streams. On a family, it counts instances instead of runs: a method wins an instance if it is better than
// the other method in more than half of the runs in which the two differ. Holm's correction covers all comparisons of
// one call.
func (r Record) Duels(kind, quantity string, problems []string, pairs ...[2]string) (all []Duel) {
	bases := []string{""}
	if kind == Fair {
		bases = Drawings
	}
	var flat []race.Duel
	for _, problem := range problems {
		_, random := family(problem)
		tolerance := rounding
		if kind != Fair {
			tolerance *= r.Mark(problem, Mixture)
		}
		for _, pair := range pairs {
			var duel Duel
			for _, base := range bases {
				d := met(r.Record, race.Row{Problem: problem, Base: base, Race: kind, Quantity: quantity}, pair, tolerance, random)
				if d.Differences != nil {
					duel = append(duel, d)
				}
			}
			if len(duel) == len(bases) { // both took part
				flat = append(flat, duel...)
			}
		}
	}
	race.Settle(flat, Level)
	for d := range slices.Chunk(flat, len(bases)) {
		all = append(all, d)
	}
	return all
}

// met compares the Values of two methods in the last row of each method that matches like. On a family, it compares
// them instance by instance.
func met(r race.Record, like race.Row, pair [2]string, rounding float64, family bool) race.Duel {
	var values [2][]float64
	for k, m := range pair {
		like.Method = m
		values[k] = final(r, like).Values
	}
	d := race.Compare(values[0], values[1], rounding)
	if family {
		d.Differences = majorities(values[0], values[1])
		d.Better, d.Worse = race.Signs(d.Differences, 0)
	}
	d.Problem, d.A, d.B = like.Problem, pair[0], pair[1]
	return d
}

// majorities returns, for each instance of a family, the number of runs with x > y minus the number of runs with x < y.
func majorities(x, y []float64) (all []float64) {
	for k, n := 0, max(1, len(x)/familyInstances); k+n <= min(len(x), len(y)); k += n {
		less, more := race.Signs(race.Differences(x[k:k+n], y[k:k+n]), rounding)
		all = append(all, float64(more-less))
	}
	return all
}

// with returns the pairs of a method and each of the others.
func with(method string, others ...string) (pairs [][2]string) {
	for _, o := range others {
		pairs = append(pairs, [2]string{method, o})
	}
	return pairs
}

func pairs(methods []string) (all [][2]string) {
	for i, m := range methods {
		all = append(all, with(m, methods[i+1:]...)...)
	}
	return all
}

// Wins compares the methods a and b by penalised gap at the end of the races of the given kind. It counts the problems
// on which method a wins the duel, the problems on which method b wins, and the problems on which neither wins.
func (r Record) Wins(kind string, problems []string, a, b string) (won, lost, undecided int) {
	winners := map[string]int{}
	for _, d := range r.Duels(kind, PenalisedGap, problems, [2]string{a, b}) {
		winners[d.Winner()]++
	}
	return winners[a], winners[b], winners[""]
}

// Against returns the table of a method's duels with other methods. The table has a row for each problem.
func (r Record) Against(kind, quantity string, problems []string, method string, others ...string) plotting.Table {
	c, tests := plotting.Cells{Missing: "–"}, 0
	for _, d := range r.Duels(kind, quantity, problems, with(method, others...)...) {
		tests += len(d)
		c.Set(d[0].Problem, d[0].B, d.String())
	}
	caption := fmt.Sprintf("%s: wins and losses of %s against each method, counted in runs", quantity, method)
	if kind == Fair {
		caption += ", or in the instances of a family, in each of two drawings"
	}
	caption += fmt.Sprintf("; ?: no winner at %g %% with Holm's correction for %d tests", 100*Level, tests)
	return c.Table(caption, "problem", others...)
}

// Margins returns a table of duels on the three problems of [Names], between the given pairs of methods. For each duel,
// it includes the median difference between the two methods.
func (r Record) Margins(kind, quantity string, pairs ...[2]string) plotting.Table {
	return margins(quantity, slices.Concat(r.Duels(kind, quantity, Names, pairs...)...))
}

func margins(quantity string, duels []race.Duel) plotting.Table {
	race.Settle(duels, Level)
	t := plotting.Table{
		Caption: fmt.Sprintf("%s, run by run on the same streams: median differences with simultaneous %g %% intervals, "+
			"and p of the sign test, corrected for %d tests by Holm's method", quantity, 100*(1-Level), len(duels)),
		Columns: plotting.Columns("problem", "pair", "runs", "better – worse", "median difference", "p"),
	}
	for _, d := range duels {
		v := d.Difference
		t.Row(d.Problem, d.A+" against "+d.B, fmt.Sprint(v.N), fmt.Sprintf("%d–%d", d.Better, d.Worse),
			fmt.Sprintf("%.3g [%.3g, %.3g]", v.Mean, v.Lo, v.Hi), fmt.Sprintf("%.2g", d.P))
	}
	return t
}

// Unbeaten returns, for each problem, the methods that took part and lost no duel with another of the given methods.
// Holm's correction covers all problems and pairs.
func (r Record) Unbeaten(kind, quantity string, problems []string, methods ...string) map[string][]string {
	met, lost, unbeaten := map[[2]string]bool{}, map[[2]string]bool{}, map[string][]string{}
	for _, d := range r.Duels(kind, quantity, problems, pairs(methods)...) {
		for _, m := range []string{d[0].A, d[0].B} {
			at, w := [2]string{d[0].Problem, m}, d.Winner()
			met[at], lost[at] = true, lost[at] || w != "" && w != m
		}
	}
	for _, p := range problems {
		for _, m := range methods {
			if at := [2]string{p, m}; met[at] && !lost[at] {
				unbeaten[p] = append(unbeaten[p], m)
			}
		}
	}
	return unbeaten
}

// Recommendation returns a table that says which methods to use for (2.18) if costs must be learnt from the oracle's
// samples. (Some methods also use max |c|.) The candidates are the [FairMethods] other than [EvenMixture]. A row covers
// a group of problems of the fair races. For each candidate, the row counts the problems on which no other candidate
// beat it in both drawings, by penalised gap after equally many queries. The row recommends the candidates with the
// highest count or, if all counts are 0, no candidate.
func (r Record) Recommendation() plotting.Table {
	learners := slices.DeleteFunc(slices.Clone(FairMethods), func(m string) bool { return m == EvenMixture })
	unbeaten := r.Unbeaten(Fair, PenalisedGap, slices.Concat(Names, FamilyNames()), learners...)
	var c plotting.Cells
	group := func(what string, problems []string) {
		most, use := 1, []string(nil)
		for _, m := range learners {
			n := len(slices.DeleteFunc(slices.Clone(problems), func(p string) bool { return !slices.Contains(unbeaten[p], m) }))
			if c.Set(what, m, fmt.Sprintf("%d of %d", n, len(problems))); n > most {
				most, use = n, nil
			}
			if n == most {
				use = append(use, m)
			}
		}
		c.Set(what, "use", strings.Join(use, "; "))
	}
	group("three problems, exact costs", Names)
	for _, n := range []Noise{Exact, Gaussian, Heavy, Outliers} {
		group("random problems, "+n.String(), FamilyNames(n))
	}
	caption := fmt.Sprintf("For (2.18), with costs from the oracle: the number of problems of the fair races on which no other method "+
		"beats a method in both drawings, by penalised gap after equal queries (sign tests at %g %%, with Holm's correction)", 100*Level)
	return c.Table(caption, "costs", append(learners, "use")...)
}

// ByTelling returns a table of the best methods by true cost. Each cell covers, for one problem, a group of methods
// that receive the same information. The cell names the methods of the group that no other method of the group beats in
// the race by queries or, if the group does not take part in this race, in the race by seconds. The cell also shows the
// median true cost that the method named first reaches at the end of the race.
func (r Record) ByTelling(problems ...string) (t plotting.Table, err error) {
	defer catch(&err)
	var c plotting.Cells
	for _, problem := range problems {
		groups := map[string][]string{}
		for _, e := range must(Build(problem)).Entrants(BySeconds) {
			told := strings.Join(e.Told, "; ")
			groups[told] = append(groups[told], e.Name)
			c.Set(told, problem, "")
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
				c.Set(told, problem, fmt.Sprintf("%s: %.4g", strings.Join(best, "; "), r.Final(problem, kind, best[0], PolicyCost).Value))
			}
		}
	}
	return c.Table(fmt.Sprintf("True cost of the policy: the methods that no method with the same information beats (sign tests at %g %%, "+
		"with Holm's correction in each cell), and the cost of the first method's policy", 100*Level), "told", problems...), nil
}

// ToldTable lists the information that each method receives, for all methods that race on the named problems.
func ToldTable(problems ...string) (t plotting.Table, err error) {
	defer catch(&err)
	var c plotting.Cells
	for _, problem := range problems {
		for _, e := range must(Build(problem)).Entrants(BySeconds) {
			for _, what := range e.Told {
				c.Set(e.Name, what, "✓")
			}
		}
	}
	return c.Table("Information of each method: what it knows, and at which pairs it may query costs", "method", Tellings...), nil
}
