package priorwork

import (
	"errors"
	"math"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// stepsToProof returns the first step at which the duality gap of θ̂ and λ̂, plus the cost times the negative mass of
// θ̂, is below 10⁻⁶ of the cost. If there is no such step before step most, it returns most.
func stepsToProof(t *testing.T, p *mixpolicy.Problem, m mixpolicy.Method, most int) int {
	t.Helper()
	run := begin[mixpolicy.Run](p, m)
	for k := 1; k < most; k++ {
		var s mixpolicy.Snapshot
		mixpolicy.Must(0, errors.Join(run.Step(), run.View(&s)))
		value := p.Objective(s.Average)
		if math.Abs(value-p.DualBound(s.Lambda))+math.Abs(value)*p.NegativeMass(s.Average) < 1e-6*math.Abs(value) {
			return k
		}
	}
	return most
}

// Neither method needs more steps than we measured. Without the reflection, the anchor z₀/(k+2), the restarts or
// the safeguard of σ, some problems would need more.
func TestHalpernPDHGSteps(t *testing.T) {
	_, slow := discountedQueue()
	for _, c := range []struct {
		name          string
		p             *mixpolicy.Problem
		halpern, pdhg int
	}{
		{"queue of 20 places", queueProblem(models.Queue{Buffer: 20}, mixpolicy.Ball(2)), 448, 10240},
		{"queue of 50 places", queueProblem(models.Queue{Buffer: 50}, mixpolicy.Ball(2)), 240, 672},
		{"queue of section 6", section6(mixpolicy.Ball(2)), 224, 528},
		{"queue of section 6, cube", section6(mixpolicy.Cube(2)), 256, 480},
		{"discounted queue, R = 100", slow, 752, 1392},
		{"random, ball", garnetProblem(mixpolicy.Ball(2)), 368, 688},
		{"random, small ball", garnetProblem(mixpolicy.Ball(.75)), 240, 544},
		{"random, cube", garnetProblem(mixpolicy.Cube(2)), 368, 784},
		{"random, simplex", garnetProblem(mixpolicy.Simplex()), 32, 32},
	} {
		for m, most := range map[mixpolicy.Method]int{HalpernPDHG{}: c.halpern, PDHG{}: c.pdhg} {
			if got := stepsToProof(t, c.p, m, 20_000); got > most {
				t.Errorf("%s: %d steps of %s, want at most %d", c.name, got, m.Name(), most)
			}
		}
	}
}
