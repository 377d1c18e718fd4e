package study

import (
	"math"
	"slices"
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
	if got := Ends(r, "p", "m", "q"); !slices.Equal(got, race.Record{row(100, 0), row(100, 1)}) {
		t.Errorf("%+v", got)
	}
	if got := Ends(r, "p", "nobody", "q"); len(got) != 0 {
		t.Errorf("of nobody: %+v", got)
	}
}

// What the races of twenty runs say is within what many runs say of the same settings.
func TestRunsAgreeWithTheRaces(t *testing.T) {
	few := mixpolicy.Must(Recorded())
	many := mixpolicy.Must(Runs("rivals"))
	const eta64 = 14 // of 0.5, 0.7, 1, …
	one := Ends(many, "queue", "Algorithm 1", PenalisedGap)[eta64]
	met := 0
	for _, row := range few.Select(race.Row{Problem: "queue", Race: ByQueries, Method: "Algorithm 1", Quantity: PenalisedGap}) {
		if row.At != one.At {
			continue
		}
		if met++; row.Hi < one.Lo || row.Lo > one.Hi {
			t.Errorf("median of %d runs in [%v, %v], of %d runs in [%v, %v]", row.Trials, row.Lo, row.Hi, one.Trials, one.Lo, one.Hi)
		}
	}
	if met != 1 {
		t.Errorf("%d rows of the races are of the same number of queries, want 1", met)
	}
}

// The record of many runs has what one machine comes to in the same ones.
func TestRunsAreThoseOfOneMachine(t *testing.T) {
	p := mixpolicy.Must(Build("queue")).Problem
	runs := mixpolicy.Must(race.Trials(t.Context(), p, mixpolicy.Penalty{StepSize: mixpolicy.InverseSqrt(0.125), Weight: 4},
		race.Settings{Trials: 400, Seed: 2, Queries: []int{100, 1000, 10_000}}))
	median := func(x []float64) race.Interval { return race.Median(x, 0.95) }
	band := runs.BandOf(race.Queries, mixpolicy.Must(race.PenalisedGap(p)), median).Intervals
	got := band[len(band)-1]
	const setting = 2 // η₀ = ⅛, ω = 4
	want := Ends(mixpolicy.Must(Runs("rivals")), "queue", "penalty", PenalisedGap)[setting]
	for _, v := range [][2]float64{{got.Mean, want.Value}, {got.Lo, want.Lo}, {got.Hi, want.Hi}} {
		if math.Abs(v[0]-v[1]) > 1e-11*v[1] { // the record has twelve digits
			t.Errorf("median %+v, recorded %+v", got, want)
		}
	}
}
