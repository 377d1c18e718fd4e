package study

import (
	"math"
	"reflect"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Ends returns the last row of each setting.
func TestEnds(t *testing.T) {
	like := race.Row{Problem: "p", Method: "m", Quantity: "q"}
	r := race.Record{like, like, {Problem: "p", Method: "n", Quantity: "q", At: 200}, like, like}
	r[1].At, r[4].At, r[3].Configuration, r[4].Configuration = 100, 100, 1, 1
	if got := Ends(r, "p", "m", "q"); !reflect.DeepEqual(got, race.Record{r[1], r[4]}) || len(Ends(r, "p", "nobody", "q")) != 0 {
		t.Errorf("%+v", got)
	}
}

// At the first observation, the record of plug-in's 25,000 runs agrees with the same runs by package race, without Beam.
func TestRunsAreThoseOfALoop(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 25,000 runs")
	}
	p := mixpolicy.Must(Family{Dim: 10, Noise: Heavy}.Instance(0, false))
	runs := mixpolicy.Must(race.Trials(t.Context(), p, mixpolicy.PlugIn{}, race.Settings{Trials: 25_000, Seed: 1, Queries: []int{100}}))
	end := runs.Final(mixpolicy.Must(race.PenalisedGap(p)))
	recorded := mixpolicy.Must(Runs("beam"))
	for _, e := range []struct {
		quantity string
		race.Interval
		tolerance float64 // covers rounding to twelve digits, or the error of a sketch's quantiles
	}{
		{"mean of penalised gap", race.TInterval(end, 0.95), 1e-11},
		{PenalisedGap, race.Median(end, 0.95), 1e-3},
	} {
		first := recorded.Select(race.Row{Problem: "random, d = 10, heavy tails", Method: "plug-in", Quantity: e.quantity})[0]
		for _, v := range [][2]float64{{first.At, 100}, {first.Value, e.Mean}, {first.Lo, e.Lo}, {first.Hi, e.Hi}} {
			if math.Abs(v[0]-v[1]) > e.tolerance*v[1] {
				t.Errorf("%s %+v, recorded %+v", e.quantity, e.Interval, first)
			}
		}
	}
}
