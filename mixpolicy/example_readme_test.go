package mixpolicy_test

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The example of the README.
func Example_readme() {
	ctx := context.Background()
	queue := mixpolicy.Must(models.Queue{}.MDP())                     // section 6
	base := mixpolicy.Must(models.Queue{}.Policies(queue))            // π¹ and π², (6.3)
	psi := mixpolicy.Must(mixpolicy.NewFeatures(ctx, queue, base...)) // their occupation measures
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2))) // (2.18) with ‖θ‖₂ ≤ 2
	method := mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(64)}
	run := mixpolicy.Must(mixpolicy.Solve(ctx, p, method, // Algorithm 1
		mixpolicy.Settings{Iterations: 100_000, Seed: 1}))
	fmt.Printf("θ̂ = %.1f, within %.0f %% of the optimum\n", run.Theta, 100*run.Gap/run.Optimum)
	// Output:
	// θ̂ = [1.1 -0.1], within 2 % of the optimum
}
