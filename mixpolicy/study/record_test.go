package study

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

func recorded() Record { return mixpolicy.Must(Recorded()) }

func build(name string) Instance { return mixpolicy.Must(Build(name)) }

// TestRecord runs the first queries of every race by queries, with the recorded settings and on all recorded streams, and
// compares the results with data/comparison.csv. It leaves out methods without a record and, on the network, the true
// costs of all methods except plug-in.
func TestRecord(t *testing.T) {
	known := recorded()
	few := map[string]int{"queue": 100, "grid world": 100, "network": 1}
	for _, name := range Names {
		if testing.Short() {
			t.Skip("some seconds of work")
		}
		c := build(name)
		given := Record{mixpolicy.Must(c.given(t.Context()))}
		compare(t, known.where(name, Given, "", ""), given.Record)

		for _, e := range Only(c.Entrants(ByQueries), known.Methods(name, ByQueries)...) {
			var outcomes []outcome
			for _, quantity := range []string{PenalisedGap, PolicyCost} {
				rows := known.where(name, ByQueries, e.Name, quantity)
				if rows == nil || name == "network" && quantity == PolicyCost && e.Name != "plug-in" {
					continue // evaluating a policy takes some 20 ms
				}
				set := c.settings(ByQueries, e.Name)
				set.Queries = slices.DeleteFunc(slices.Clone(set.Queries), func(q int) bool { return q > few[name] })
				if quantity == PolicyCost {
					set.Valued = race.ValuedAll
				}
				o := c.outcome(e, quantity, set.Halving)
				o.chosen = rows[0].Configuration
				on, k, _ := e.Configuration(o.chosen, o.tried)
				o.runs = mixpolicy.Must(race.Trials(t.Context(), c.Problem, on.Methods[k], set))
				outcomes = append(outcomes, o)
			}
			got, _, _ := c.rows(ByQueries, outcomes, given)
			got = got.Derive(medianOf).Round(6)
			for _, o := range outcomes {
				want, found := known.where(name, ByQueries, e.Name, o.quantity), got.Select(race.Row{Quantity: o.quantity})
				compare(t, want[:min(len(want), len(found))], found)
			}
		}
	}
}

// The fair races of the first family, computed again in one drawing with all their tuning, give the recorded rows.
func TestFairRecord(t *testing.T) {
	f, known := mixpolicy.Must(fairRaceOn(Families()[0].String())), recorded()
	methods := FairMethods
	if testing.Short() {
		methods = FairMethods[4:] // the tuned methods would take some seconds
	}
	for _, m := range methods {
		got := Record{mixpolicy.Must(f.compute(t.Context(), 1, nil, m)).Derive(medianOf).Round(6)}
		slices.SortStableFunc(got.Record, order(""))
		compare(t, known.Select(race.Row{Problem: f.name, Base: Drawings[1], Method: m}), got.Record)
		for _, kind := range []string{Fair, FairTuning} {
			a := final(known.Record, race.Row{Problem: f.name, Base: Drawings[1], Race: kind, Method: m}).Values
			if b := got.Final(f.name, kind, m, PenalisedGap).Values; !floats.EqualApprox(a, b, 1e-6) {
				t.Errorf("%s, %s: %v recorded, %v computed", m, kind, a, b)
			}
		}
	}
}

// The runs on the queue that end by themselves are computed again. All recorded runs that ended have gaps of at most 1 %.
func TestUntilRecord(t *testing.T) {
	known := recorded()
	got := Record{mixpolicy.Must(mixpolicy.Must(fairRaceOn("queue")).until(t.Context())).Derive(medianOf).Round(6)}
	compare(t, known.Select(race.Row{Problem: "queue", Race: Until}), got.Record)
	if c := known.UntilTable().Columns; len(c[0].Text) != len(untilProblems()) || slices.Max(c[5].Numbers) > 1 || c[2].Text[0] != "5" {
		t.Errorf("%+v", c)
	}
}

// Plug-in finds the optimum of the queue within a handful of queries, so a short race is enough to compute when plug-in
// reaches the goal of the penalised gap.
func TestReached(t *testing.T) {
	known, c := recorded(), build("queue")
	set := c.settings(ByQueries, "plug-in")
	set.Queries = c.Queries[:10]
	plugIn := mixpolicy.Must(c.race(t.Context(), Only(c.Entrants(ByQueries), "plug-in")[0], set))
	_, _, goals := c.rows(ByQueries, plugIn, known)
	compare(t, known.where(c.Name, Reaching, "plug-in", GapGoal), goals.Derive(medianOf).Select(race.Row{Quantity: GapGoal}))
	if rows := known.where(c.Name, Reaching, "certainty equivalence", GapGoal); rows != nil {
		t.Errorf("a penalised gap without θ̂: %+v", rows)
	}
}

// compare fails the test unless the rows are the same; numbers may differ by 10⁻⁵ of their scale.
func compare(t *testing.T, want, got race.Record) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d rows recorded, %d computed", len(want), len(got))
	}
	same := func(a, b, scale float64) bool { return a == b || math.Abs(a-b) <= 1e-5*scale }
	for i, w := range want {
		g := got[i]
		// The scale of a value is its size, but at least the width of its interval. The scale of a penalised gap is
		// also at least 10⁻⁴, because a gap near 0 is the rounded difference of two costs.
		scale := max(math.Abs(w.Value), w.Hi-w.Lo, 1e-6*math.Abs(w.At))
		if w.Quantity == PenalisedGap {
			scale = max(scale, 1e-4)
		}
		near := same(w.At, g.At, math.Abs(w.At)) && same(w.Value, g.Value, scale) && same(w.Lo, g.Lo, scale) && same(w.Hi, g.Hi, scale)
		w.At, w.Value, w.Lo, w.Hi, w.Values = g.At, g.Value, g.Lo, g.Hi, g.Values
		if !near || !reflect.DeepEqual(w, g) {
			t.Errorf("recorded %+v, computed %+v", want[i], g)
		}
	}
}

// The record of each method has races by queries and by seconds, the queries that reach goals, and the final value of
// each run. Every row has enough trials, and an interval that contains its value.
func TestRecordIsComplete(t *testing.T) {
	known := recorded()
	for _, name := range Names {
		for _, method := range known.Methods(name, ByQueries) {
			for _, kind := range []string{BySeconds, Reaching} {
				if len(known.where(name, kind, method, "")) == 0 {
					t.Errorf("%s: no %s of %s", name, kind, method)
				}
			}
			for _, quantity := range []string{PenalisedGap, PolicyCost} {
				if end := known.Final(name, ByQueries, method, quantity); end.Method != "" && end.Values == nil {
					t.Errorf("%s: no runs of %s by %s", name, method, quantity)
				}
			}
		}
	}
	for _, row := range known.Record {
		least := map[string]int{ByQueries: 20, BySeconds: 20}[row.Race]
		if row.Race == ByQueries && slices.Contains(Names, row.Problem) && finely(ByQueries, row.Method) {
			least = 100
		}
		if !(row.Lo <= row.Value && row.Value <= row.Hi) || row.Trials < least {
			t.Errorf("%+v", row)
		}
		if (row.Machine != "") != strings.HasPrefix(row.Race, BySeconds) {
			t.Errorf("machine of %+v", row)
		}
	}
}

// small is the queue with short races, under the name of the recorded instance.
func small() Instance {
	c := build("queue")
	c.Queries, c.Times = []int{1, 20}, []time.Duration{time.Millisecond}
	return c
}

// The best setting of a finely tuned method is inside its grid, so the grid is wide enough. There is one exception:
// by the true cost of policies on the queue, the smallest penalty weight tried is the best.
func TestBestSettingsAreInside(t *testing.T) {
	known := recorded()
	for _, name := range Names {
		for _, e := range build(name).Entrants(ByQueries) {
			for _, quantity := range []string{PenalisedGap, PolicyCost} {
				row := known.Final(name, ByQueries, e.Name, quantity)
				if !finely(ByQueries, e.Name) || e.Axes == nil || row.Method == "" {
					continue
				}
				want := ""
				if name == "queue" && e.Name == "penalty" && quantity == PolicyCost {
					want = "ω"
				}
				on, k, edges := e.Configuration(row.Configuration, row.Configurations)
				if got := strings.Join(edges, ", "); got != want {
					t.Errorf("%s, %s, %s: %s is at the edge of %q, want %q", name, e.Name, quantity, on.Setting(k), got, want)
				}
			}
		}
	}
}

// Recording one method leaves every other row in its place, byte for byte.
func TestUpdateLeavesOthersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "comparison.csv")
	known := recorded()
	var before bytes.Buffer
	if err := errors.Join(known.Write(&before), os.WriteFile(path, before.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	const name = "exact LP (2.18)"
	raced := mixpolicy.Must(Update(t.Context(), path, "queue", BySeconds, nil, name, "plugin"))
	after := mixpolicy.Must(os.ReadFile(path))
	others := func(text string) string {
		return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
			return strings.HasPrefix(line, ",queue,") && strings.Contains(line, ","+name+",")
		}), "\n")
	}
	if others(string(after)) != others(before.String()) || !slices.Equal(raced, []string{name}) {
		t.Errorf("raced %q, or rows of other methods have changed", raced)
	}
	now := Record{mixpolicy.Must(race.ReadFile(path))}
	if got, want := now.Methods("queue", BySeconds), known.Methods("queue", BySeconds); !slices.Equal(got, want) {
		t.Errorf("methods %q, want %q", got, want)
	}
	if n := len(now.where("queue", BySeconds, name, "")); n != 2 {
		t.Errorf("%d rows of the exact LP, want 2: one penalised gap and one true cost", n)
	}
}

// A finely tuned method is tuned again on a finer grid around the best setting of the first grid, and runs with the
// best setting of the finer grid.
func TestTunedTwice(t *testing.T) {
	c := small()
	e := Only(c.Entrants(ByQueries), "penalty")[0]
	set := race.Settings{Trials: 2, TuningTrials: 4, Halving: true, Seed: 1, Queries: []int{1, 20}}
	outcomes := mixpolicy.Must(c.race(t.Context(), e, set))
	n := len(e.Methods)
	set.Middle = func(x []float64) float64 { return medianOf(x).Mean }
	best := func(e race.Entrant) int {
		_, best, err := race.Tune(t.Context(), c.Problem, e, set)
		return mixpolicy.Must(best, err)
	}
	for k, o := range outcomes {
		set.Score, set.Valued = o.score, race.ValuedEnd
		first := best(e)
		second := best(e.Finer(first))
		want := e.Finer(first).Methods[second]
		named := o.quantity == []string{PenalisedGap, PolicyCost}[k]
		if !named || o.chosen != first*n+second || !reflect.DeepEqual(o.runs.Method, want) || o.tried != 2*n {
			t.Errorf("%s: setting %d of %d, %+v, want setting %d around setting %d", o.quantity, o.chosen, o.tried, o.runs.Method, second, first)
		}
	}
	set.Halving = false
	outcomes = mixpolicy.Must(c.race(t.Context(), Only(c.Entrants(BySeconds), "penalty")[0], set))
	if o := outcomes[0]; len(outcomes) != 2 || o.tried != 16 || o.chosen >= 16 {
		t.Errorf("%+v", outcomes)
	}
}

// If every setting of an entrant fails, the error says why. If only some fail, a setting that runs is chosen.
func TestAMethodThatFails(t *testing.T) {
	c := small()
	set := c.settings(ByQueries, "plug-in")
	for _, methods := range [][]mixpolicy.Method{{mixpolicy.Penalty{Weight: -1}}, {mixpolicy.Penalty{Weight: -1}, mixpolicy.Penalty{Weight: -2}}} {
		_, err := c.race(t.Context(), enter("wrong", "", nil, methods...), set)
		if err == nil || !strings.Contains(err.Error(), "ω = -1") {
			t.Errorf("error %v", err)
		}
	}
	o := mixpolicy.Must(c.race(t.Context(), enter("half wrong", "", nil, mixpolicy.Penalty{Weight: -1}, mixpolicy.Penalty{}), set))
	rows, tuning, _ := c.rows(ByQueries, o, recorded())
	if len(rows) != 4 || len(tuning) != 2 || o[0].chosen != 1 || !math.IsNaN(tuning[0].Values[0]) {
		t.Errorf("%+v, tuning %+v", rows, tuning)
	}
}
