package mixpolicy_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/linprog"
)

// astray ends at a θ that is no number.
type astray struct {
	optimistic
	at float64
}

func (a *astray) View(s *mixpolicy.Snapshot) error {
	err := a.optimistic.View(s)
	s.Average = []float64{1, a.at}
	return err
}

// A method whose answer is not finite gets an error, and no certificate.
func TestAnswerThatIsNotFinite(t *testing.T) {
	p := section6Problem(t)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		m := &astray{optimistic{eta: mixpolicy.InverseSqrt(1), scale: 1e4}, v}
		r, err := mixpolicy.Solve(t.Context(), p, m, mixpolicy.Settings{Iterations: 3, Seed: 1})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(v)) || r == nil || r.HasOptimum || r.Policy != nil {
			t.Errorf("θ̂₂ = %v: %v, error %v", v, r, err)
		}
	}
}

// The upper bound on the mixing time of a chain whose contraction is known: from either of two
// states, ‖P(0,·) − P(1,·)‖ = 1 − p − q.
func TestMixingBoundsByHand(t *testing.T) {
	for _, c := range []struct {
		p, q, epsilon float64
		upper         int
	}{
		{.1, .2, .25, 4},  // 0.7⁴ = 0.2401 ≤ ¼ < 0.7³
		{.1, .2, .75, 1},  // δ ≤ ε
		{.45, .5, .25, 1}, // 0.05
	} {
		x := twoStates(c.p, c.q, mixpolicy.AverageCost)
		lower, upper, err := mixpolicy.MixingBounds(t.Context(), x, mixpolicy.UniformPolicy(x), c.epsilon, []int{0, 1}, 100)
		if err != nil || upper != c.upper || lower > upper || lower < 1 {
			t.Errorf("%+v: [%d, %d], %v", c, lower, upper, err)
		}
	}
}

// Names in messages and tables.
func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		mixpolicy.Corrected.String(): "corrected", mixpolicy.Printed.String(): "printed",
		mixpolicy.Ball(2).String(): "‖θ‖₂ ≤ 2", mixpolicy.Cube(1.5).String(): "‖θ‖_∞ ≤ 1.5",
		mixpolicy.Discounted(.9).String(): "discount 0.9", mixpolicy.AverageCost.String(): "average cost",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A class for which no modulus is known is refused unless one is given; the simplex and an
// unbounded class have theirs.
func TestClassesWithoutModulus(t *testing.T) {
	psi := section6Problem(t).Features()
	for r, fails := range map[float64]bool{1: false, 1.5: true, math.Inf(1): false} {
		p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Class{Norm: linprog.L1, R: r}))
		err := (&mixpolicy.PrimalDual{CostScale: 1e4}).Init(p, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)))
		if (err != nil) != fails {
			t.Errorf("‖θ‖₁ ≤ %v: error %v", r, err)
		}
	}
}

// Inputs that don't fit each other.
func TestLengthsThatDiffer(t *testing.T) {
	x := section6Problem(t).MDP()
	p := mixpolicy.UniformPolicy(x)
	m := mixpolicy.Must(x.Occupation(p))
	for what, err := range map[string]error{
		"no measure":            second(mixpolicy.FeaturesFromMeasures(x, []*mixpolicy.Policy{p}, nil, 1e-9)),
		"nothing":               second(mixpolicy.FeaturesFromMeasures(x, nil, nil, 1e-9)),
		"a measure too many":    second(mixpolicy.FeaturesFromMeasures(x, []*mixpolicy.Policy{p}, []*mixpolicy.Measure{m, m}, 1e-9)),
		"cost of another model": second(x.WithCosts(make([]float64, 3))),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// Misuse panics with the package's prefix, before an index does.
func TestMisusePanics(t *testing.T) {
	for what, f := range map[string]func(){
		"OrliczNorm, more values":        func() { _, _ = mixpolicy.OrliczNorm(2, []float64{1, 2}, []float64{1}) },
		"OrliczNorm, more probabilities": func() { _, _ = mixpolicy.OrliczNorm(2, []float64{1}, []float64{.5, .5}) },
		"MomentNorm":                     func() { _, _ = mixpolicy.MomentNorm(2, []float64{1}, []float64{.5, .5}) },
		"VectorMomentNorm":               func() { _, _, _ = mixpolicy.VectorMomentNorm(2, mat.NewDense(1, 2, nil), []float64{.5, .5}) },
		"Measure.Cost":                   func() { new(mixpolicy.Measure).Cost([]float64{1}) },
		"Objective":                      func() { section6Problem(t).Objective([]float64{1}) },
		"TotalVariation":                 func() { mixpolicy.TotalVariation([]float64{1}, []float64{.5, .5}) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "mixpolicy: ") {
					t.Errorf("%s: panic %q, want the package's own", what, s)
				}
			}()
			f()
		}()
	}
}

func second[T any](_ T, err error) error { return err }
