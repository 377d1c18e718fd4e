package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// Level is that of the tests: the probability of one or more wrong verdicts in a table.
const Level = 0.05

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
// all of them. Of a family there are no differences.
func (r Record) Duels(kind, quantity string, problems []string, pairs ...[2]string) (all []race.Duel) {
	for _, problem := range problems {
		for _, pair := range pairs {
			if d := r.duel(kind, quantity, problem, pair[0], pair[1]); d.Differences != nil || d.Instances > 0 {
				all = append(all, d)
			}
		}
	}
	race.Settle(all, Level)
	return all
}

func (r Record) duel(kind, quantity, problem, a, b string) (d race.Duel) {
	for _, c := range []struct {
		method, quantity string
		count            *int
	}{{a, betterThan(b), &d.Better}, {b, betterThan(a), &d.Worse}, {a, wonAgainst(b), &d.Won}, {b, wonAgainst(a), &d.Lost}} {
		row := r.Final(problem, kind, c.method, c.quantity)
		*c.count, d.Instances = int(row.Value), max(d.Instances, row.Trials)
	}
	x, y := r.Final(problem, kind, a, quantity).Values, r.Final(problem, kind, b, quantity).Values
	if d.Instances == 0 && x != nil && y != nil {
		d = race.Compare(x, y, rounding*r.Mark(problem, Mixture))
	}
	d.Problem, d.A, d.B = problem, a, b
	return d
}

// with pairs a method with others.
func with(method string, others ...string) (pairs [][2]string) {
	for _, o := range others {
		pairs = append(pairs, [2]string{method, o})
	}
	return pairs
}

// pairs are all pairs of methods.
func pairs(methods []string) (all [][2]string) {
	for i, m := range methods {
		all = append(all, with(m, methods[i+1:]...)...)
	}
	return all
}

// tally counts duels by who wins: a, b, or nobody.
func tally[D interface{ Winner() string }](duels []D, a, b string) (won, lost, undecided int) {
	for _, d := range duels {
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

// Wins counts the families of a kind of race by who of two methods wins the duel by penalised gap: a, b, or nobody.
func (r Record) Wins(kind, a, b string) (won, lost, undecided int) {
	families := slices.DeleteFunc(r.Problems(kind), func(name string) bool { return slices.Contains(Names, name) })
	return tally(r.Duels(kind, PenalisedGap, families, [2]string{a, b}), a, b)
}

// Against is the table of a method's duels with others, a row a problem.
func (r Record) Against(kind, quantity string, problems []string, method string, others ...string) plotting.Table {
	var c cells
	for _, p := range problems {
		for _, o := range others {
			c.set(p, o, "–")
		}
	}
	duels := r.Duels(kind, quantity, problems, with(method, others...)...)
	for _, d := range duels {
		c.set(d.Problem, d.B, d.String())
	}
	return c.table(fmt.Sprintf("%s: wins and losses of %s against each method, counted in runs, or in the instances of a family "+
		"(in brackets those that their own runs decide); ?: no winner at %g %% with Holm's correction for %d tests",
		quantity, method, 100*Level, len(duels)), "problem", others...)
}

// Margins is the table of the duels of pairs on the three problems: by how much one is better.
func (r Record) Margins(kind, quantity string, pairs ...[2]string) plotting.Table {
	duels := r.Duels(kind, quantity, Names, pairs...)
	t := plotting.Table{
		Caption: fmt.Sprintf("%s, run by run on the same streams: median differences with intervals that hold together with %g %%, "+
			"and p of the sign test, corrected for %d tests by Holm's method", quantity, 100*(1-Level), len(duels)),
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
	lost := map[[2]string]bool{} // of who took part
	for _, d := range r.Duels(kind, quantity, problems, pairs(methods)...) {
		for _, m := range []string{d.A, d.B} {
			at, w := [2]string{d.Problem, m}, d.Winner()
			lost[at] = lost[at] || w != "" && w != m
		}
	}
	unbeaten := map[string][]string{}
	for _, p := range problems {
		for _, m := range methods {
			if beaten, took := lost[[2]string{p, m}]; took && !beaten {
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
	unbeaten := r.Unbeaten(ByQueries, PenalisedGap, problems, familyMethods...)
	var c cells
	group := func(what string, belongs func(problem string) bool) {
		members := slices.DeleteFunc(slices.Clone(problems), func(p string) bool { return !belongs(p) })
		most, use := 1, []string(nil)
		for _, name := range familyMethods {
			n := len(slices.DeleteFunc(slices.Clone(members), func(p string) bool { return !slices.Contains(unbeaten[p], name) }))
			c.set(what, name, fmt.Sprintf("%d of %d", n, len(members)))
			if n > most {
				most, use = n, nil
			}
			if n == most {
				use = append(use, name)
			}
		}
		c.set(what, "use", strings.Join(use, "; "))
	}
	group("three problems, exact costs", func(p string) bool { return slices.Contains(Names, p) })
	for _, n := range []Noise{Exact, Gaussian, Heavy, Outliers} {
		group("random problems, "+n.String(), func(p string) bool {
			f, random := family(p)
			return random && f.Noise == n
		})
	}
	return c.table(fmt.Sprintf("For (2.18), costs from the oracle: problems on which a method is beaten by none of the others, "+
		"by penalised gap after equal queries (sign tests at %g %%, Holm)", 100*Level),
		"costs", append(slices.Clone(familyMethods), "use")...)
}

// ByTelling is the table of who is best by true cost on each of the problems among those who are
// told the same: the methods that no other of them beats, and the median of the first.
func (r Record) ByTelling(problems ...string) (t plotting.Table, err error) {
	defer catch(&err)
	var c cells
	for _, problem := range problems {
		groups := map[string][]string{}
		for _, e := range must(Build(problem)).Entrants(BySeconds) {
			told := strings.Join(e.Told, "; ")
			groups[told] = append(groups[told], e.Name)
			c.set(told, problem, "")
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
				c.set(told, problem, fmt.Sprintf("%s: %.4g", strings.Join(best, "; "), r.Final(problem, kind, best[0], PolicyCost).Value))
			}
		}
	}
	return c.table(fmt.Sprintf("True cost of the policy: who is beaten by nobody who is told the same (sign tests at %g %%, "+
		"with Holm's correction in each cell), and what the first of them costs", 100*Level), "told", problems...), nil
}

// ToldTable says who is told what, of all methods that race on the named problems.
func ToldTable(problems ...string) (t plotting.Table, err error) {
	defer catch(&err)
	var c cells
	for _, problem := range problems {
		for _, e := range must(Build(problem)).Entrants(BySeconds) {
			for _, what := range e.Told {
				c.set(e.Name, what, "✓")
			}
		}
	}
	return c.table("Who is told what: what is known, and at which pairs costs may be asked for", "method", Tellings...), nil
}
