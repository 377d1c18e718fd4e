package paper

import (
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/plotting"
)

// Every figure of the network can be drawn from the record, and shows something.
func TestNetworkPlots(t *testing.T) {
	r, err := RecordedNetwork()
	if err != nil {
		t.Fatal(err)
	}
	maps, err := r.ActionMaps()
	if err != nil {
		t.Fatal(err)
	}
	rules, costs := r.RuleCosts()
	ranks, ranking := r.Ranking()
	figures := []plotting.Figure{costs, ranking, r.TwoMixtures(), r.TuningCurves("two rules"), r.Room(AllRules()), r.Room(StateDependent()),
		r.DualTuning("dual ALP"), r.DualTuning("dual ALP, phantom jobs")}
	for _, p := range []plotting.Panels{
		maps, r.TotalLengths(models.Rules()...), r.LearningCurves("two rules"), r.LearningCurves("state-dependent"),
		r.DualCurves("dual ALP", "rules"), r.DualCurves("dual ALP, phantom jobs", "rules, phantom jobs"),
	} {
		figures = append(figures, p.Figures...)
	}
	for _, f := range figures {
		if err := f.Validate(); err != nil || len(f.Layers) < 1 {
			t.Errorf("%s: %v, %d layers", f.Title, err, len(f.Layers))
		}
	}
	for _, table := range []plotting.Table{rules, ranks, r.DynamicsTable(), r.FullRoom("rules"), r.LearntTable("two rules"), r.LearntTable("state-dependent")} {
		for _, c := range table.Columns {
			if len(c.Text)+len(c.Numbers) < 4 {
				t.Errorf("%s: column %q of %d texts and %d numbers", table.Caption, c.Head, len(c.Text), len(c.Numbers))
			}
		}
	}
	// cμ is the best of the rules; whatever is above it in the ranking is above its cost.
	if best := rules.Columns[1].Text[0]; best != "cμ" {
		t.Errorf("the best rule is %s", best)
	}
}
