package study

import (
	"context"
	"fmt"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Everyone can run: on average and on discounted cost, with a basis, and where all costs are
// 0; and none brings more settings than may be tuned.
func TestEveryEntrantRuns(t *testing.T) {
	q := models.Queue{Buffer: 6, Empty: true}
	for _, criterion := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(.9)} {
		q.Criterion = criterion
		x := mixpolicy.Must(q.MDP())
		phi := mixpolicy.Must(q.Monomials(1))
		for _, x := range []*mixpolicy.MDP{x, mixpolicy.Must(x.WithCosts(make([]float64, x.Pairs())))} {
			f := mixpolicy.Must(mixpolicy.NewFeatures(t.Context(), x, mixpolicy.Must(q.Policies(x))...))
			p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
			names := map[string]bool{}
			for _, e := range append(Learners(p, phi, 20, 10), Informed(p, phi)...) {
				names[e.Name] = true
				if n := len(e.Methods); n < 1 || n > 16 || e.Source == "" {
					t.Errorf("%s brings %d settings, from %q", e.Name, n, e.Source)
				}
				for k, m := range e.Methods {
					runs, err := race.Trials(t.Context(), p, m, race.Settings{Trials: 1, Iterations: 20, Valued: race.ValuedEnd})
					if err != nil || !(runs.Final(race.PolicyCost)[0] >= 0) {
						t.Errorf("%v: %s, setting %d: %v", criterion, e.Name, k, err)
					}
				}
			}
			for name, want := range map[string]bool{
				"π-learning": criterion.Average(), "randomised LP": !criterion.Average(), "smoothed ALP, primal–dual": !criterion.Average(),
				"smoothed LP": !criterion.Average(), "approximate LP": true, "ALP, sampled constraints": true,
			} {
				if names[name] != want {
					t.Errorf("%v: %s takes part: %v, want %v", criterion, name, names[name], want)
				}
			}
		}
	}
}

// Some of the learners on a short queue, at equal numbers of queries.
func ExampleLearners() {
	q := models.Queue{Buffer: 20}
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, mixpolicy.Must(q.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	gap := mixpolicy.Must(race.PenalisedGap(p))
	some := Only(Learners(p, nil, 1000, 50), "Algorithm 1", "Algorithm 1, rows scaled", "penalty", "plug-in")
	for _, o := range mixpolicy.Must(race.Run(context.Background(), p, some,
		race.Settings{Trials: 20, TuningTrials: 4, Seed: 1, Queries: []int{100, 1000}})) {
		b := o.Runs.Band(race.Queries, gap, .95)
		fmt.Printf("%-30s penalised gap %.2f and %.2f, settings: %d\n", o.Name, b.Intervals[0].Mean, b.Intervals[1].Mean, len(o.Methods))
	}
	// Output:
	// Algorithm 1                    penalised gap 10.59 and 4.91, settings: 16
	// Algorithm 1, rows scaled       penalised gap 10.61 and 4.30, settings: 16
	// penalty                        penalised gap 13.14 and 3.10, settings: 16
	// plug-in                        penalised gap 0.00 and 0.00, settings: 1
}
