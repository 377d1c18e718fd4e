package study

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

var update = flag.Bool("update", false, "run all races and write data/comparison.csv: with -timeout 1h, on a quiet machine")

var only = flag.String("course", "", "with -update, the only course to race on")

// updateRecord runs all races and writes their record, a course at a time.
func updateRecord(t *testing.T) {
	path := filepath.Join("..", "..", "data", "comparison.csv")
	var all Record
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		if all, err = Read(f); err != nil {
			t.Fatal(err)
		}
	} else if !os.IsNotExist(err) {
		t.Fatal(err)
	}
	courses, err := Courses()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range courses {
		if *only != "" && *only != c.Name {
			continue
		}
		found, err := c.Record(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all.without(c.Name), found...)
		var b bytes.Buffer
		if err := all.Write(&b); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.WriteBytes(path, b.Bytes()); err != nil {
			t.Fatal(err)
		}
		t.Log(c.Name)
	}
}

// TestRecord runs, of every race by queries, the part up to a number of queries that takes
// little time, with the recorded configurations and all seeds, and compares data/comparison.csv
// with what it finds; -update writes it.
func TestRecord(t *testing.T) {
	if *update {
		updateRecord(t)
		return
	}
	known, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	courses, err := Courses()
	if err != nil {
		t.Fatal(err)
	}
	few := map[string]int{"queue": 320, "grid world": 320, "network": 1}
	for _, c := range courses {
		if testing.Short() && c.Name == "network" {
			continue // 20 policies of everyone, to be evaluated, are five seconds of work
		}
		marks, err := c.Marks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, known.where(c.Name, Given, ""), c.given(marks))

		contestants := c.Learners()
		for i, x := range contestants {
			rows := known.where(c.Name, ByQueries, x.Name)
			if len(rows) == 0 {
				t.Fatalf("%s: nothing recorded of %s; -update runs all races", c.Name, x.Name)
			}
			k := rows[0].Configuration
			contestants[i].Configurations = x.Configurations[k : k+1]
		}
		queries := slices.Clone(c.Queries)
		for queries[len(queries)-1] > few[c.Name] {
			queries = queries[:len(queries)-1]
		}
		set := settings()
		set.TuningTrials = 0
		found, err := priorwork.CompareByQueries(t.Context(), c.Problem, contestants, queries, set)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range contestants {
			want := known.where(c.Name, ByQueries, x.Name)
			var got Record
			for _, row := range c.rows(ByQueries, found, contestants) {
				if row.Method == x.Name {
					row.Configuration, row.Configurations = want[0].Configuration, want[0].Configurations
					got = append(got, row)
				}
			}
			compare(t, want[:min(len(want), len(got))], got)
		}
	}
}

// Plug-in knows the optimum of the queue after a handful of queries, so that a short race
// shows when it arrives: as recorded, and as everyone is told.
func TestReached(t *testing.T) {
	known, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	c, err := queue()
	if err != nil {
		t.Fatal(err)
	}
	marks, err := c.Marks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var plugIn []priorwork.Contestant
	for _, x := range c.Learners() {
		if x.Name == "plug-in" {
			plugIn = append(plugIn, x)
		}
	}
	cmp, err := priorwork.CompareByQueries(t.Context(), c.Problem, plugIn, c.Queries[:20], settings())
	if err != nil {
		t.Fatal(err)
	}
	want := c.reach(cmp, marks).of(MeritGoal)
	got, ok := known.Reached(c.Name, "plug-in", MeritGoal)
	if !ok {
		t.Fatal("not recorded")
	}
	compare(t, Record{got}, want)
	if _, ok := known.Reached(c.Name, "certainty equivalence", MeritGoal); ok {
		t.Error("a merit without θ̂")
	}
	if got, want := known.Budget(c.Name), float64(c.Queries[len(c.Queries)-1]); got != want {
		t.Errorf("%v queries at the end of the race, want %v", got, want)
	}
}

// compare takes six digits for all.
func compare(t *testing.T, want, got Record) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d rows recorded, %d computed: %+v", len(want), len(got), got)
	}
	same := func(a, b, scale float64) bool { return a == b || math.Abs(a-b) <= 1e-5*scale }
	for i, w := range want {
		g := got[i]
		// A merit near 0 is the difference of two costs, and an interval's end that of a mean and
		// a width: what rounding does is in proportion to those.
		scale := max(math.Abs(w.Value), w.Hi-w.Lo, 1e-6*math.Abs(w.At))
		if w.Quantity == Merit {
			scale = max(scale, 1e-4)
		}
		near := same(w.At, g.At, math.Abs(w.At)) && same(w.Value, g.Value, scale) && same(w.Lo, g.Lo, scale) && same(w.Hi, g.Hi, scale)
		w.At, w.Value, w.Lo, w.Hi = g.At, g.Value, g.Lo, g.Hi
		if !near || w != g {
			t.Errorf("recorded %+v, computed %+v; -update runs all races", want[i], g)
		}
	}
}

// The record is complete: every method of every course, enough trials, and intervals about
// their means.
func TestRecordIsComplete(t *testing.T) {
	known, err := Recorded()
	if err != nil {
		t.Fatal(err)
	}
	courses, err := Courses()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range courses {
		for _, x := range c.Learners() {
			for _, race := range []Race{ByQueries, BySeconds, Reaching} {
				if len(known.where(c.Name, race, x.Name)) == 0 {
					t.Errorf("%s: no %s of %s", c.Name, race, x.Name)
				}
			}
			if n := len(known.where(c.Name, Tuning, x.Name)); len(x.Configurations) > 1 && n != len(x.Configurations) {
				t.Errorf("%s: %d configurations of %s, want %d", c.Name, n, x.Name, len(x.Configurations))
			}
		}
		for _, x := range priorwork.Knowing(c.Problem, c.Basis) {
			if len(known.where(c.Name, BySeconds, x.Name)) == 0 {
				t.Errorf("%s: no race by seconds of %s", c.Name, x.Name)
			}
		}
	}
	for _, row := range known {
		if !(row.Lo <= row.Value && row.Value <= row.Hi) || (row.Race == ByQueries || row.Race == BySeconds) && row.Trials < 20 {
			t.Errorf("%+v", row)
		}
		if (row.Machine != "") != (row.Race == BySeconds) {
			t.Errorf("machine of %+v", row)
		}
	}
}

// Whatever is read is written and read again as the same.
func FuzzRead(f *testing.F) {
	head := strings.Join(header, ",") + "\n"
	f.Add(head + "queue,queries,plug-in,\"a, b\",merit,1,2,1,3,0,1,20,1,\n")
	f.Add(head + "queue,reach,penalty,,x,1e3,+Inf,2,Inf,0,1,20,18446744073709551615,m\n")
	f.Add("course")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := r.Write(&once); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("%q does not read: %v", once.String(), err)
		}
		if err := again.Write(&twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("wrote %q, then %q (%v)", once.String(), twice.String(), err)
		}
	})
}

func TestReadErrors(t *testing.T) {
	line := "queue,queries,plug-in,,merit,1,2,1,3,0,1,20,1,"
	good := strings.Join(header, ",") + "\n" + line + "\n"
	r, err := Read(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil || b.String() != good {
		t.Errorf("wrote %q (%v), want %q", b.String(), err, good)
	}
	for _, c := range []struct{ text, says string }{
		{"", "header"},
		{strings.Replace(good, ",2,1,3", ",two,1,3", 1), `line 2: value "two"`},
		{strings.Replace(good, ",2,1,3", ",NaN,1,3", 1), `line 2: value "NaN"`},
		{strings.Replace(good, ",20,", ",1.5,", 1), `line 2: trials "1.5"`},
		{strings.Replace(good, ",20,1,", ",20,-1,", 1), `line 2: seed "-1"`},
		{good + "queue\n", "wrong number of fields"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want one that says %q", c.text, err, c.says)
		}
	}
}
