package beam_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/beam"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Example adds a modulus and a problem of the user. A main registers them in the same two lines, and then calls
// beam.Main(), which takes the race file and all flags from the command line.
func Example() {
	beam.RegisterModulus("scaled ball", func(r float64) bregman.Modulus { return bregman.Ball{R: 2 * r} })
	beam.RegisterProblem("machine", machine)

	folder := mixpolicy.Must(os.MkdirTemp("", "race"))
	defer os.RemoveAll(folder)
	r := mixpolicy.Must(beam.ParseRace([]byte(`{
		"Problems": [{"Name": "machine", "Settings": {"Outage": 9, "Service": 1, "Criterion": 0.9}}],
		"Methods":  [{"Name": "Algorithm 1", "Settings": {"Modulus": {"scaled ball": 1}, "Beta": "+Inf"}}],
		"Trials": 200, "Seed": 1, "Queries": [100, 10000]
	}`)))
	output := filepath.Join(folder, "race.csv")
	job := mixpolicy.Must(beam.Submit(context.Background(), r, output, nil))
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range mixpolicy.Must(race.ReadFile(output)).Select(race.Row{Quantity: "penalised gap"}) {
		fmt.Printf("%.0f queries: median of %d runs %.3f\n", row.At, row.Trials, row.Value)
	}
	// Output:
	// 100 queries: median of 200 runs 0.363
	// 10000 queries: median of 200 runs 0.108
}

func machine(m models.Machine) (*mixpolicy.Problem, error) {
	x, err := m.MDP()
	if err != nil {
		return nil, err
	}
	never, err := mixpolicy.StateIndependent(x, 1, 0)
	if err != nil {
		return nil, err
	}
	always, err := mixpolicy.StateIndependent(x, 0, 1)
	if err != nil {
		return nil, err
	}
	psi, err := mixpolicy.NewFeatures(context.Background(), x, never, always)
	if err != nil {
		return nil, err
	}
	return mixpolicy.NewProblem(psi, mixpolicy.Ball(2))
}
