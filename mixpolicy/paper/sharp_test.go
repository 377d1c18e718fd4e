package paper

import (
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// A step size at an end of its grid is remarked, one inside is not and has two neighbours; θ₀'s own gap is a row.
func TestSharpnessOfTheStep(t *testing.T) {
	p := mixpolicy.Must(QueueProblem(mixpolicy.Cube(2)))
	cube := Family{"cube", func(R float64) bregman.Modulus { return bregman.Cube(R) }}
	for _, c := range []struct {
		etas  []float64
		atEnd bool
	}{{[]float64{1e-9, 1e-8, 1e-7}, true}, {[]float64{1e-6, 32, 1e9}, false}} {
		m, err := CompareModuli(t.Context(), p, ModuliSettings{Iterations: 2000, Trials: 2, TuningTrials: 4, Etas: c.etas}, cube)
		if err != nil {
			t.Fatal(err)
		}
		text := m.Sharpness().String()
		if strings.Contains(text, "at an end of the grid") != c.atEnd || strings.Contains(text, "not tried") != c.atEnd || !strings.Contains(text, "θ₀") {
			t.Errorf("η₀ from %v:\n%s", c.etas, text)
		}
	}
}
