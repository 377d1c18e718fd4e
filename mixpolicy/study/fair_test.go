package study

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// In a short fair race, all methods with parameters are tuned over equally many settings. The two drawings differ in
// seeds and values. If a drawing is repeated, the penalty method has the same values.
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
			t.Errorf("%s: the two drawings have equal values or equal seeds", m)
		}
		if again := row(0, m); m == "penalty" && !reflect.DeepEqual(first, again) {
			t.Errorf("%v, then %v", first, again)
		}
	}
}
