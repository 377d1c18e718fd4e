package study

import (
	"math"
	"reflect"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// The ends of runs are their last looks, one for each setting.
func TestEnds(t *testing.T) {
	row := func(at float64, configuration int) race.Row {
		return race.Row{Problem: "p", Method: "m", Quantity: "q", At: at, Configuration: configuration}
	}
	other := row(200, 0)
	other.Method = "n"
	r := race.Record{row(10, 0), row(100, 0), other, row(10, 1), row(100, 1)}
	if got := Ends(r, "p", "m", "q"); !reflect.DeepEqual(got, race.Record{row(100, 0), row(100, 1)}) {
		t.Errorf("%+v", got)
	}
	if got := Ends(r, "p", "nobody", "q"); len(got) != 0 {
		t.Errorf("of nobody: %+v", got)
	}
}

// The record of 100,000 runs has what a plain loop comes to in a quarter of them, at their first look.
func TestRunsAreThoseOfALoop(t *testing.T) {
	p := mixpolicy.Must(Family{Dim: 10, Noise: Heavy}.Instance(0, false))
	runs := mixpolicy.Must(race.Trials(t.Context(), p, mixpolicy.PlugIn{}, race.Settings{Trials: 25_000, Seed: 1, Queries: []int{100}}))
	end := make([]float64, len(runs.Trials))
	gap := mixpolicy.Must(race.PenalisedGap(p))
	for k := range runs.Trials {
		end[k] = gap(runs.Trials[k].End())
	}
	recorded := mixpolicy.Must(Runs("beam"))
	for _, e := range []struct {
		quantity string
		race.Interval
		tolerance float64 // of twelve digits, and of quantiles of a sketch
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
