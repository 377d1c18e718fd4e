package study

import (
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// A short fair race: every method is tried in as many settings, the drawings share nothing, and the same drawing
// gives the same values again.
func TestFairRace(t *testing.T) {
	f := mixpolicy.Must(FairRaces())[3]
	f.Tuning, f.Judged, f.Runs, f.Queries = 2, 2, 3, 50
	var first race.Record
	for drawing, base := range Drawings {
		rows, err := f.Compute(t.Context(), drawing, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range FairMethods {
			row, err := rows.One(race.Row{Base: base, Race: Fair, Method: m})
			if err != nil || len(row.Values) != 6 {
				t.Fatalf("%s: %+v, %v", m, row, err)
			}
			want := 1
			if row.Setting != nil {
				want = 192
			}
			if row.Configurations != want || slices.ContainsFunc(row.Values, func(v float64) bool { return !(v >= 0) }) {
				t.Errorf("%s: %d settings, want %d; gaps %v", m, row.Configurations, want, row.Values)
			}
			if drawing == 1 {
				if before := mixpolicy.Must(first.One(race.Row{Race: Fair, Method: m})); slices.Equal(before.Values, row.Values) || before.Seed == row.Seed {
					t.Errorf("%s: the second drawing is the first", m)
				}
			}
		}
		if drawing == 0 {
			first = rows
			one := mixpolicy.Must(mixpolicy.Must(f.Compute(t.Context(), 0, nil, "penalty")).One(race.Row{Race: Fair}))
			if before := mixpolicy.Must(rows.One(race.Row{Race: Fair, Method: "penalty"})); !slices.Equal(one.Values, before.Values) {
				t.Errorf("%v, then %v", before.Values, one.Values)
			}
		}
	}
}

// Who wins one drawing only wins nothing; a family is counted in instances.
func TestFairDuels(t *testing.T) {
	var r Record
	add := func(problem string, drawing int, method string, values ...float64) {
		r.Record = append(r.Record, race.Row{Problem: problem, Base: Drawings[drawing], Race: Fair, Method: method, Quantity: PenalisedGap, Values: values})
	}
	one, two := slices.Repeat([]float64{1}, 40), slices.Repeat([]float64{2}, 40)
	add("queue", 0, "a", one...)
	add("queue", 0, "b", two...)
	add("queue", 1, "a", one...)
	add("queue", 1, "b", two...)
	add("network", 0, "a", one...)
	add("network", 0, "b", two...)
	add("network", 1, "a", one...)
	add("network", 1, "b", one...)
	family := Families()[0].String()
	for drawing := range Drawings {
		add(family, drawing, "a", two...)
		// Of the two runs on each instance one is far worse: no instance is decided.
		add(family, drawing, "b", slices.Repeat([]float64{1, 100}, 20)...)
	}
	want := map[string]string{"queue": "40–0, 40–0", "network": "40–0, 0–0 ?", family: "0–0, 0–0 ?"}
	for _, d := range r.FairDuels([]string{"queue", "network", family}, [2]string{"a", "b"}) {
		if d.String() != want[d.Problem] {
			t.Errorf("%s: %v, want %s", d.Problem, d, want[d.Problem])
		}
	}
	if won, lost, undecided := r.FairWins(Names, "b", "a"); won != 0 || lost != 1 || undecided != 1 {
		t.Errorf("%d won, %d lost, %d undecided, want 0, 1, 1", won, lost, undecided)
	}
	if text := r.FairAgainst(Names, "a", "b").String(); !strings.Contains(text, "40–0, 0–0 ?") {
		t.Error(text)
	}
}
