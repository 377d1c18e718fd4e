package mixpolicy_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// faulty is a method that panics in one call, which f.at names. Its View returns f.average, and wrong counts.
type faulty struct {
	at      string
	average []float64
}

func (faulty) Name() string { return "faulty" }

func (f faulty) Start(*mixpolicy.Problem, *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return &f, f.do("start")
}

func (f faulty) Step() error { return f.do("step") }

func (f faulty) View(s *mixpolicy.Snapshot) error {
	s.Iteration, s.Queries, s.Average = -7, 1<<40, f.average
	return f.do("view")
}

func (f faulty) do(what string) error {
	if f.at == what {
		panic("faulty")
	}
	return nil
}

// Solve returns an error that names the fault of a method. It certifies no θ̂ that has
// the wrong length or is not finite. Solve counts iterations and queries itself.
func TestFaultyMethods(t *testing.T) {
	p := queue(t, 100, mixpolicy.Ball(2))
	const notFinite = "faulty returned θ̂ = [1 %v], which is not finite"
	for want, f := range map[string]faulty{
		"panic in mixpolicy_test.faulty": {at: "start"}, "panic in *mixpolicy_test.faulty": {"step", []float64{.5, .5}}, "panic in": {"view", []float64{.5, .5}},
		"Average of 1 entries, want 2": {average: []float64{1}}, "Average of 0 entries": {},
		fmt.Sprintf(notFinite, math.NaN()): {average: []float64{1, math.NaN()}}, fmt.Sprintf(notFinite, math.Inf(-1)): {average: []float64{1, math.Inf(-1)}},
	} {
		r, err := mixpolicy.Solve(t.Context(), p, f, mixpolicy.Settings{Iterations: 3, Seed: 1})
		wantError(t, err, want)
		if f.at == "" && (r == nil || r.Objective != 0 || r.HasOptimum || r.Policy != nil) {
			t.Errorf("%s: %v", want, r)
		}
	}
	r, err := mixpolicy.Solve(t.Context(), p, faulty{average: []float64{.5, .5}}, mixpolicy.Settings{Iterations: 3, Seed: 1})
	if err != nil || r.Iterations != 3 || r.Queries != 0 {
		t.Errorf("%v, %v, want 3 iterations and no query", r, err)
	}
}

// many prints a Ψ of d equal columns, with all mass in state 0.
func many(d int) string {
	return mixpolicy.Must(mixpolicy.FeaturesFromColumns(flip(), slices.Repeat([][]float64{{1, 0}}, d)...)).String()
}

// Values have these texts in messages and tables.
func TestNames(t *testing.T) {
	last := mixpolicy.Must(mixpolicy.Deterministic(mixpolicy.Must(models.Machine{}.MDP()), []int{1, 0}))
	for want, v := range map[string]any{
		"corrected": mixpolicy.Corrected, "printed": mixpolicy.Printed,
		"‖θ‖₂ ≤ 2": mixpolicy.Ball(2), "‖θ‖_∞ ≤ 1.5": mixpolicy.Cube(1.5),
		"discount 0.9": mixpolicy.Discounted(.9), "average cost": mixpolicy.AverageCost,
		"primal–dual (as printed)":            mixpolicy.PrimalDual{Form: mixpolicy.Printed}.Name(),
		"primal–dual, rows scaled":            mixpolicy.PrimalDual{RowScaling: true}.Name(),
		fmt.Sprint(bregman.Euclidean()):       mixpolicy.DefaultModulus(mixpolicy.Unbounded()),
		fmt.Sprint(bregman.Cube(2)):           mixpolicy.DefaultModulus(mixpolicy.Cube(2)),
		fmt.Sprint(bregman.NegativeEntropy()): mixpolicy.DefaultModulus(mixpolicy.Simplex()),
		fmt.Sprint(bregman.Ball{R: 2}):        mixpolicy.DefaultModulus(mixpolicy.Ball(2)),
		"deterministic policy of 2 states and 2 actions\nin state 0 with probabilities [0 1]": last,
		"completed": mixpolicy.Completed, "interrupted": mixpolicy.Interrupted,
		"failed": mixpolicy.Failed, "Status(9)": mixpolicy.Status(9),
		"Ψ of 2 pairs and 8 columns\ncᵀΨ = [0 0 0 0 0 0 0 0]":              many(8),
		"Ψ of 2 pairs and 9 columns\ncᵀΨ = [0 0 0 0 0 0 0 0 … (9 in all)]": many(9),
		"η = 0.25, 0.25, 0.25, …":                                          mixpolicy.Constant(.25), "η not set": mixpolicy.StepFunc(nil),
		"η = 1, 2, 3, …": mixpolicy.StepFunc(func(t int) float64 { return float64(t + 1) }),
	} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Misuse panics with a message of the package, not of the runtime.
func TestMisusePanics(t *testing.T) {
	x, p := flip(), queue(t, 100, mixpolicy.Ball(2))
	of := func(n int) []float64 { return make([]float64, n) }
	panics := func(what string, want any, f func()) {
		defer func() {
			got := recover()
			if s, _ := got.(string); got != want && !(want == nil && strings.HasPrefix(s, "mixpolicy: ")) {
				t.Errorf("%s: panic %q, want the package's own", what, got)
			}
		}()
		f()
	}
	for what, f := range map[string]func(){
		"Measure.Cost": func() { new(mixpolicy.Measure).Cost(of(1)) },
		"Objective":    func() { p.Objective(of(1)) },
		"Ψθ":           func() { p.Features().MulVec(of(400), of(1)) },
		"Every(0)":     func() { mixpolicy.Every(0) },
		"LogSpaced(0)": func() { mixpolicy.LogSpaced(0) },

		"Bellman of a long v":     func() { x.Bellman(of(2), of(3)) },
		"Bellman into a long one": func() { x.Bellman(of(3), of(2)) },
		"ActionValues into one":   func() { x.ActionValues(of(1), of(2)) },
		"Greedy for nothing":      func() { x.Greedy(nil) },
	} {
		panics(what, nil, f)
	}
	failure := errors.New("failure")
	panics("Must", failure, func() { mixpolicy.Must(0, failure) })
}
