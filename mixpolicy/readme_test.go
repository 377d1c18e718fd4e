package mixpolicy_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The ten lines of the README.
func Example_readme() {
	queue := mixpolicy.Must(models.Queue{}.MDP())                     // section 6
	base := mixpolicy.Must(models.Queue{}.Policies(queue))            // π¹ and π², (6.3)
	psi := mixpolicy.Must(mixpolicy.NewFeatures(queue, base...))      // their occupation measures
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2))) // (2.18) with ‖θ‖₂ ≤ 2
	_, cmax := queue.CostRange()
	method := mixpolicy.PrimalDual{StepSize: mixpolicy.InverseSqrt(64), CostScale: cmax}
	run := mixpolicy.Must(mixpolicy.Solve(context.Background(), p, method,
		mixpolicy.Settings{Iterations: 100_000, Seed: 1})) // Algorithm 1
	fmt.Printf("θ̂ = %.1f, within %.0f %% of the optimum\n", run.Theta, 100*run.Gap/run.Optimum)
	// Output:
	// θ̂ = [1.1 -0.1], within 2 % of the optimum
}

// TestReadmeExample: the code in the README is the example above, which is compiled
// and run.
func TestReadmeExample(t *testing.T) {
	readme := mixpolicy.Must(os.ReadFile("../README.md"))
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	code, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("README.md has no Go code")
	}
	source := mixpolicy.Must(os.ReadFile("readme_test.go"))
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if !strings.Contains(squeeze(string(source)), squeeze(code)) {
		t.Errorf("the README's code is not that of Example_readme in readme_test.go:\n%s", code)
	}
}
