package mixpolicy_test

import (
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Bounds are numbers, or there are none, where values overflow: two absorbing states, one of enormous cost.
func TestBoundsOfEnormousCosts(t *testing.T) {
	for _, cost := range []float64{1e306, 1e307, 1e308, 1.7e308} {
		for _, c := range []mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(.9), mixpolicy.Discounted(1 - 0x1p-53)} {
			x, err := mixpolicy.New(mixpolicy.Spec{
				States: 2, Actions: 1, Criterion: c,
				Dynamics: func(s, _ int) (float64, []mixpolicy.Transition) {
					return float64(s) * cost, []mixpolicy.Transition{{To: s, P: 1}}
				},
			})
			if err != nil {
				t.Log(err)
				continue
			}
			for _, method := range valuationMethods {
				v, err := method.run(t.Context(), x, mixpolicy.ValuationSettings{MaxIterations: 500})
				if v == nil && err != nil {
					continue
				}
				if !(v.Lower <= v.Cost() && v.Cost() <= v.Upper && v.Residual >= 0) {
					t.Errorf("%s, %v, cost %g: [%v, %v], residual %v, %v; %v", method.name, c, cost, v.Lower, v.Upper, v.Residual, v.Cost(), err)
				}
			}
		}
	}
}

// A norm that is none is refused at once.
func TestUnknownNorm(t *testing.T) {
	_, err := mixpolicy.NewProblem(queue(t, 5, mixpolicy.Ball(2)).Features(), mixpolicy.Class{Norm: 9, R: 2})
	wantError(t, err, "Norm(9)", "linprog.L2")
}

// A faulty method ends with an error that names it, and no answer is no success.
func TestFaultyMethods(t *testing.T) {
	p := queue(t, 5, mixpolicy.Ball(2))
	for where, want := range map[string]string{"start": "panic in mixpolicy_test.faulty", "step": "panic in", "view": "panic in", "short": "Average of 1 entries, want 2", "none": "Average of 0 entries"} {
		_, err := mixpolicy.Solve(t.Context(), p, faulty(where), mixpolicy.Settings{Iterations: 3})
		wantError(t, err, want)
	}
}

// faulty is a method that fails where it says.
type faulty string

func (faulty) Name() string { return "faulty" }

func (f faulty) Start(*mixpolicy.Problem, *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return &f, f.at("start")
}

func (f *faulty) Step() error { return f.at("step") }

func (f *faulty) View(s *mixpolicy.Snapshot) error {
	switch *f {
	case "short":
		s.Average = []float64{1}
	case "none":
	default:
		s.Average = []float64{.5, .5}
	}
	return f.at("view")
}

func (f faulty) at(where string) error {
	if string(f) == where {
		panic("faulty")
	}
	return nil
}
