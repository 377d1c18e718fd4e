package study

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

func recorded(t *testing.T) Record {
	t.Helper()
	r, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func build(t *testing.T, name string) Instance {
	t.Helper()
	c, err := Build(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRecord runs, of every race by queries, the part up to a number of queries that takes
// little time, with the recorded settings and all seeds, and compares data/comparison.csv
// with what it finds. Methods that are not recorded yet are left out.
func TestRecord(t *testing.T) {
	known := recorded(t)
	few := map[string]int{"queue": 100, "grid world": 100, "network": 1}
	for _, name := range Names {
		if testing.Short() && name == "network" {
			continue // some seconds of work
		}
		c := build(t, name)
		marks, err := c.Marks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, known.where(name, Given, "", ""), c.given(marks))

		for _, e := range Only(c.Learners(ByQueries), known.Methods(name, ByQueries)...) {
			o := outcome{Entrant: e, finer: finely(ByQueries, e.Name) && e.Axes != nil, chosen: map[string]int{}, runs: map[string]*race.Runs{}}
			recorded := map[string]race.Record{}
			for _, quantity := range []string{PenalisedGap, PolicyCost} {
				if name == "network" && quantity == PolicyCost && e.Name != "plug-in" {
					continue // a policy takes some 20 ms to be evaluated
				}
				set := c.settings(ByQueries, e.Name)
				set.Queries = slices.DeleteFunc(slices.Clone(set.Queries), func(q int) bool { return q > few[name] })
				if quantity == PolicyCost {
					set.Valued = race.ValuedAll
				}
				if rows := known.where(name, ByQueries, e.Name, quantity); len(rows) > 0 {
					o.chosen[quantity] = rows[0].Configuration
					on, k, _ := e.Configuration(rows[0].Configuration, rows[0].Configurations)
					o.runs[quantity] = mixpolicy.Must(race.Trials(t.Context(), c.Problem, on.Methods[k], set))
					recorded[quantity] = rows
				}
			}
			if len(o.runs) == 0 {
				continue
			}
			got := c.rows(ByQueries, o).Derive(medianOf).Round(6)
			for quantity, want := range recorded {
				found := got.Select(race.Row{Quantity: quantity})
				compare(t, want[:min(len(want), len(found))], found)
			}
		}
	}
}

// The first family is computed whole, and the tuned setting of one method.
func TestFamilyRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	f := Families()[0]
	got, err := f.Compute(t.Context(), familySettings)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, recorded(t).where(f.String(), ByQueries, "", ""), got.Derive(medianOf).Round(6))
}

// Plug-in knows the optimum of the queue after a handful of queries, so that a short race
// shows when it arrives: as recorded, and as everyone is told.
func TestReached(t *testing.T) {
	known, c := recorded(t), build(t, "queue")
	marks, err := c.Marks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	set := c.settings(ByQueries, "plug-in")
	set.Queries = c.Queries[:10]
	plugIn, err := c.race(t.Context(), Only(c.Learners(ByQueries), "plug-in")[0], set)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := known.Reached(c.Name, "plug-in", GapGoal)
	if !ok {
		t.Fatal("not recorded")
	}
	compare(t, race.Record{got}, c.reach(plugIn, marks).Derive(medianOf).Select(race.Row{Quantity: GapGoal}))
	if _, ok := known.Reached(c.Name, "certainty equivalence", GapGoal); ok {
		t.Error("a penalised gap without θ̂")
	}
	if got, want := known.Budget(c.Name), float64(c.Queries[len(c.Queries)-1]); got != want {
		t.Errorf("%v queries at the end of the race, want %v", got, want)
	}
}

// compare takes six digits for all.
func compare(t *testing.T, want, got race.Record) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d rows recorded, %d computed", len(want), len(got))
	}
	same := func(a, b, scale float64) bool { return a == b || math.Abs(a-b) <= 1e-5*scale }
	for i, w := range want {
		g := got[i]
		// Rounding is that of the costs, as is a penalised gap near 0, and an interval's ends are
		// rounded in proportion to those.
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

// What is recorded of a method is complete: races of both kinds, queries to goals, and the runs behind the end; with
// enough trials, and intervals about their medians.
func TestRecordIsComplete(t *testing.T) {
	known := recorded(t)
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
		least := 0
		switch row.Race {
		case ByQueries:
			if least = 20; slices.Contains(Names, row.Problem) && finely(ByQueries, row.Method) {
				least = 100
			}
		case BySeconds:
			least = 20
		}
		if !(row.Lo <= row.Value && row.Value <= row.Hi) || row.Trials < least {
			t.Errorf("%+v", row)
		}
		if (row.Machine != "") != strings.HasPrefix(row.Race, BySeconds) {
			t.Errorf("machine of %+v", row)
		}
	}
}

// small is the queue with little to do. Its name is that of the recorded instance.
func small(t *testing.T) Instance {
	c := build(t, "queue")
	c.Queries, c.Times = []int{1, 20}, []time.Duration{time.Millisecond}
	return c
}

// The best setting of a method that is finely tuned is inside of its grid, so that no better one is beyond.
// There is one exception: by the true cost of policies, on the queue, the best penalty is none.
func TestBestSettingsAreInside(t *testing.T) {
	known := recorded(t)
	for _, name := range Names {
		for _, e := range build(t, name).Learners(ByQueries) {
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

// To record one method leaves every other row as it was, byte for byte and in its place.
func TestUpdateLeavesOthersAlone(t *testing.T) {
	c := small(t)
	path := filepath.Join(t.TempDir(), "comparison.csv")
	known := recorded(t)
	var before bytes.Buffer
	if err := known.Write(&before); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, before.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{ByQueries, BySeconds} {
		if err := c.Update(t.Context(), path, kind, nil, "exact LP (2.18)", "plug-in"); err != nil {
			t.Fatal(err)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	others := func(text string) string {
		return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
			return strings.HasPrefix(line, ",queue,") && (strings.Contains(line, ",plug-in,") || strings.Contains(line, ",exact LP (2.18),"))
		}), "\n")
	}
	if others(string(after)) != others(before.String()) {
		t.Error("rows of others have changed")
	}
	r, err := race.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := Record{r}
	if got, want := now.Methods(c.Name, BySeconds), known.Methods(c.Name, BySeconds); !slices.Equal(got, want) {
		t.Errorf("methods %q, want %q", got, want)
	}
	if n := len(now.where(c.Name, ByQueries, "plug-in", "")); n != 4 {
		t.Errorf("%d rows of plug-in by queries, want a penalised gap and a cost for each of two marks", n)
	}
	if n := len(now.where(c.Name, BySeconds, "exact LP (2.18)", "")); n != 2 {
		t.Errorf("%d rows of the exact LP, want a penalised gap and a cost at its one time", n)
	}
	if err := c.Update(t.Context(), path, ByQueries, nil, "plugin"); err == nil || !strings.Contains(err.Error(), `no method "plugin" on queue`) {
		t.Errorf("error %v", err)
	}
}

// Who is finely tuned is tuned again on a finer grid around the best of the first, and runs with the best of that.
func TestTunedTwice(t *testing.T) {
	c := small(t)
	e := Only(c.Learners(ByQueries), "penalty")[0]
	set := race.Settings{Trials: 2, TuningTrials: 4, Halving: true, Seed: 1, Queries: []int{1, 20}}
	o, err := c.race(t.Context(), e, set)
	if err != nil {
		t.Fatal(err)
	}
	n := len(e.Methods)
	if o.configurations() != 2*n {
		t.Errorf("%d configurations, want twice %d", o.configurations(), n)
	}
	set.Middle = func(x []float64) float64 { return medianOf(x).Mean }
	for quantity, score := range c.scores() {
		set.Score, set.Valued = score, race.ValuedEnd
		_, first, err := race.Tune(t.Context(), c.Problem, e, set)
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := race.Tune(t.Context(), c.Problem, e.Finer(first), set)
		if err != nil {
			t.Fatal(err)
		}
		if k := o.chosen[quantity]; k != first*n+second || !reflect.DeepEqual(o.runs[quantity].Method, e.Finer(first).Methods[second]) {
			t.Errorf("%s: setting %d, %+v, want %d of those around %d", quantity, k, o.runs[quantity].Method, second, first)
		}
	}
	set.Halving = false
	if o, err = c.race(t.Context(), Only(c.Learners(BySeconds), "penalty")[0], set); err != nil || o.configurations() != 16 || o.chosen[PenalisedGap] >= 16 {
		t.Errorf("%+v, %v", o.chosen, err)
	}
}

// Who fails is a row that says so, and is nobody else's business.
func TestAMethodThatFailsIsARow(t *testing.T) {
	c := small(t)
	set := c.settings(ByQueries, "plug-in")
	for _, e := range []struct {
		race.Entrant
		rows, failed int // by queries
	}{
		{enter("wrong", "", nil, mixpolicy.Penalty{Weight: -1}), 1, 1},
		{enter("all wrong", "", nil, mixpolicy.Penalty{Weight: -1}, mixpolicy.Penalty{Weight: -2}), 1, 1},
		{enter("half wrong", "", nil, mixpolicy.Penalty{Weight: -1}, mixpolicy.Penalty{}), 4, 0},
		{enter("right", "", nil, mixpolicy.PlugIn{}), 4, 0},
	} {
		o, err := c.race(t.Context(), e.Entrant, set)
		if err != nil {
			t.Fatal(err)
		}
		rows := c.rows(ByQueries, o)
		if failed := len(rows.Select(race.Row{Quantity: race.Failure})); len(rows) != e.rows || failed != e.failed {
			t.Errorf("%s: %+v", e.Name, rows)
		}
		if tuning := c.tuning(o); e.Name == "half wrong" && (len(tuning) != 4 || tuning[0].Quantity != race.Failure || !strings.Contains(tuning[0].Settings, "ω = -1") || tuning[1].Quantity != PenalisedGap) {
			t.Errorf("%+v", tuning)
		}
		if e.Name != "wrong" {
			continue
		}
		known := recorded(t)
		known.Record = append(known.Record, rows...)
		if table := known.Finals(c.Name).String(); !strings.Contains(table, "wrong") || !strings.Contains(table, "failed") {
			t.Errorf("%s", table)
		}
	}
}

// A method without a row is named.
func TestMissing(t *testing.T) {
	c, known := build(t, "queue"), recorded(t)
	if names := c.Missing(known); names != nil {
		t.Logf("not recorded yet: %q", names) // which is no failure
	}
	known.Record = slices.DeleteFunc(known.Record, func(row race.Row) bool { return row.Method == "penalty" })
	if names := c.Missing(known); !slices.Contains(names, "penalty") || slices.Contains(names, "plug-in") {
		t.Errorf("missing %q", names)
	}
}
