package study

import (
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Under each criterion, and given a basis, every entrant for this criterion runs, even if all costs are 0.
// Every entrant has at most 16 settings.
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
					t.Errorf("%s: %d settings, want 1 to 16; source %q, want a name", e.Name, n, e.Source)
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
