package race_test

import (
	"context"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/prompt"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Trials and races end with their context.
func TestWorkEndsWithItsContext(t *testing.T) {
	p := queue(t)
	set := race.Settings{Trials: 20, Iterations: 1e8, Seed: 1, Schedule: mixpolicy.Every(10)}
	prompt.Check(t, map[string]func(ctx context.Context) error{
		"trials": func(ctx context.Context) error { _, err := race.Trials(ctx, p, mixpolicy.PlugIn{}, set); return err },
		"race": func(ctx context.Context) error {
			_, err := race.Run(ctx, p, []race.Entrant{{Name: "plug-in", Methods: []mixpolicy.Method{mixpolicy.PlugIn{}}}}, set)
			return err
		},
	})
}
