package race_test

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

func section6() *mixpolicy.Problem {
	x := mixpolicy.Must(models.Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(context.Background(), x, mixpolicy.Must(models.Queue{}.Policies(x))...))
	return mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
}

// Trials of one method, and their mean with a confidence band.
func ExampleTrials() {
	trials := mixpolicy.Must(race.Trials(context.Background(), section6(), mixpolicy.PlugIn{},
		race.Settings{Trials: 20, Iterations: 1000, Seed: 1, Schedule: mixpolicy.Every(500)}))
	band := trials.Band(race.Iterations, race.Cost, .95)
	for k, t := range band.At {
		fmt.Printf("%4.0f samples: cost %.1f, 95 %% interval [%.1f, %.1f]\n", t, band.Intervals[k].Mean, band.Intervals[k].Lo, band.Intervals[k].Hi)
	}
	// Output:
	//    0 samples: cost 5691.7, 95 % interval [5691.7, 5691.7]
	//  500 samples: cost 2861.6, 95 % interval [2861.6, 2861.6]
	// 1000 samples: cost 2861.6, 95 % interval [2861.6, 2861.6]
}

// Two methods, each with the best of its settings, after equal numbers of queries on the same streams.
func ExampleRun() {
	p := section6()
	steps := func(eta float64) mixpolicy.StepSize { return mixpolicy.InverseSqrt(eta) }
	outcomes := mixpolicy.Must(race.Run(context.Background(), p, []race.Entrant{
		{Name: "Algorithm 1", Methods: race.Grid(race.Powers(4, 4, 6), func(eta float64) mixpolicy.Method {
			return mixpolicy.PrimalDual{StepSize: steps(eta), CostScale: 1e4}
		})},
		{Name: "penalty", Methods: race.Grid2(race.Powers(1, 4, 3), []float64{8, 32}, func(eta, omega float64) mixpolicy.Method {
			return mixpolicy.Penalty{StepSize: steps(eta), Weight: omega, CostScale: 1e4}
		})},
	}, race.Settings{Trials: 20, TuningTrials: 4, Queries: []int{1000, 10_000}, Seed: 1}))
	gap := mixpolicy.Must(race.PenalisedGap(p))
	for _, o := range outcomes {
		band := o.Runs.Band(race.Queries, gap, .95)
		fmt.Printf("%-11s penalised gap %.0f, then %.0f; the best of %d settings\n", o.Name, band.Intervals[0].Mean, band.Intervals[1].Mean, len(o.Methods))
	}
	fmt.Printf("difference at the end %.0f\n", race.TInterval(race.Differences(outcomes[0].Runs.Ends(gap), outcomes[1].Runs.Ends(gap)), .95).Mean)
	// Output:
	// Algorithm 1 penalised gap 621, then 187; the best of 6 settings
	// penalty     penalised gap 260, then 50; the best of 6 settings
	// difference at the end 137
}
