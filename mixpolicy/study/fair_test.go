package study

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// A short fair race: every method is tried in as many settings, the drawings share nothing, and the same drawing
// gives the same values again.
func TestFairRace(t *testing.T) {
	f := mixpolicy.Must(fairRaceOn(Families()[0].String()))
	f.tuning, f.judged, f.runs, f.queries = 2, 2, 3, 50
	row := func(drawing int, method string) race.Row {
		return mixpolicy.Must(mixpolicy.Must(f.compute(t.Context(), drawing, nil, method)).One(race.Row{Base: Drawings[drawing], Race: Fair}))
	}
	for _, m := range FairMethods {
		first, second, want := row(0, m), row(1, m), 192
		if first.Setting == nil {
			want = 1
		}
		wrong := func(v float64) bool { return !(v >= 0) }
		if first.Configurations != want || len(first.Values) != 6 || slices.ContainsFunc(first.Values, wrong) || m != first.Method {
			t.Errorf("%s: %d settings, want %d; gaps %v", m, first.Configurations, want, first.Values)
		}
		if slices.Equal(first.Values, second.Values) || first.Seed == second.Seed {
			t.Errorf("%s: the second drawing is the first", m)
		}
		if again := row(0, m); m == "penalty" && !reflect.DeepEqual(first, again) {
			t.Errorf("%v, then %v", first, again)
		}
	}
}

// Who wins one drawing only wins nothing; a family is counted in instances.
func TestFairDuels(t *testing.T) {
	var r Record
	add := func(problem string, drawing int, a, b []float64) {
		like := race.Row{Problem: problem, Base: Drawings[drawing], Race: Fair, Quantity: PenalisedGap}
		for k, method := range []string{"a", "b"} {
			like.Method, like.Values = method, slices.Repeat([][]float64{a, b}[k], 40/len([][]float64{a, b}[k]))
			r.Record = append(r.Record, like)
		}
	}
	family := Families()[0].String()
	for drawing := range Drawings {
		add("queue", drawing, []float64{1}, []float64{2})
		add("network", drawing, []float64{1}, []float64{2 - float64(drawing)})
		// Of the two runs on each instance one is far worse: no instance is decided.
		add(family, drawing, []float64{2}, []float64{1, 100})
	}
	want := map[string]string{"queue": "40–0, 40–0", "network": "40–0, 0–0 ?", family: "0–0, 0–0 ?"}
	for _, d := range r.FairDuels([]string{"queue", "network", family}, [2]string{"a", "b"}) {
		if d.String() != want[d[0].Problem] {
			t.Errorf("%s: %v, want %s", d[0].Problem, d, want[d[0].Problem])
		}
		delete(want, d[0].Problem)
	}
	if won, lost, undecided := r.FairWins(Names, "b", "a"); won != 0 || lost != 1 || undecided != 1 || len(want) > 0 {
		t.Errorf("%d won, %d lost, %d undecided, want 0, 1, 1; no duels on %v", won, lost, undecided, want)
	}
	if text := r.FairAgainst(Names, "a", "b").String(); !strings.Contains(text, "40–0, 0–0 ?") {
		t.Error(text)
	}
}
