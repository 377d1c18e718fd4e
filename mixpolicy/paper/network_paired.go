package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/plotting"
)

// RunGap is the penalised gap of one run at the end; At is its stream.
const RunGap = "penalised gap of a run"

// comparedMethods are those that solve (2.18).
var comparedMethods = []string{"Algorithm 1", "Algorithm 1, rows scaled", "penalty", "plug-in"}

// paired runs the tuned methods of the part "two rules" once more, on the same streams, and
// records the gap of each run: means with intervals do not tell whether one method is better than another on the
// same draws. The error says so if the means are not those of the record.
func (e FourQueues) paired(ctx context.Context) (rows race.Record, err error) {
	defer catch(&err)
	const learnt = "two rules"
	r := e.begin(ctx, &rows, must(e.Network.MDP()), e.Base[0])
	_, cMax := r.x.CostRange()
	gap := penalisedGap(must(r.p.Optimum(ctx)).Objective, cMax)
	record := must(RecordedNetwork())
	for _, entrant := range networkEntrants(cMax, r.Radius) {
		if !slices.Contains(comparedMethods, entrant.Name) {
			continue
		}
		like := race.Row{Part: learnt, Quantity: LearntGap, Method: entrant.Name}
		points := record.Select(like)
		want := points[len(points)-1]
		k := slices.IndexFunc(entrant.Methods, func(m mixpolicy.Method) bool {
			_, text := parameters(m)
			return text == want.Settings
		})
		if k < 0 {
			return rows, fmt.Errorf("paper: %s: %s has no setting %q", learnt, entrant.Name, want.Settings)
		}
		r.tell(entrant.Name)
		runs := must(race.Trials(ctx, r.p, entrant.Methods[k], race.Settings{
			Trials: r.Learning.Trials, Seed: r.Seed, Iterations: r.Learning.Queries, Schedule: mixpolicy.Every(r.Learning.Queries),
		}))
		gaps := runs.Final(gap)
		if mean := race.TInterval(gaps, confidence).Mean; math.Abs(mean-want.Value) > 1e-6*(math.Abs(mean)+want.Hi-want.Lo+1e-6) {
			return rows, fmt.Errorf("paper: %s: the mean gap of %s is %v, recorded is %v; record that part first", learnt, entrant.Name, mean, want.Value)
		}
		like = race.Row{Quantity: RunGap, Method: entrant.Name, Settings: want.Settings}
		for i, t := range runs.Finished() {
			like.At = float64(t.Stream)
			r.addNumber(like, gaps[i])
		}
	}
	return rows, nil
}

// GapDuels is the table of who has the smaller gap on the same streams: runs better – worse, the
// median of the paired differences with its interval, and p of the sign test with Holm's
// correction for the table.
func (r NetworkRecord) GapDuels() plotting.Table {
	const part = "two rules, paired"
	var pairs, counts, medians, verdicts []string
	var p []float64
	for i, a := range comparedMethods {
		for _, b := range comparedMethods[i+1:] {
			var x []float64
			less, more := 0, 0
			others := r.Select(race.Row{Part: part, Quantity: RunGap, Method: b})
			for k, u := range r.Select(race.Row{Part: part, Quantity: RunGap, Method: a}) {
				d := u.Value - others[k].Value
				x = append(x, d)
				if d < 0 {
					less++
				} else if d > 0 {
					more++
				}
			}
			pairs, counts = append(pairs, a+" against "+b), append(counts, fmt.Sprintf("%d–%d", less, more))
			medians = append(medians, race.Median(x, confidence).String())
			p = append(p, race.SignTest(less, more))
		}
	}
	for _, v := range race.Holm(p) {
		verdicts = append(verdicts, fmt.Sprintf("%.2g", v))
	}
	return plotting.Table{Caption: "Gap, run by run on the same streams: two rules", Columns: []plotting.Column{
		{Head: "pair", Text: pairs}, {Head: "better – worse", Text: counts}, {Head: "median difference", Text: medians}, {Head: "p (Holm)", Text: verdicts},
	}}
}
