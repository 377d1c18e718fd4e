package priorwork

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

func ExampleSolveLP() {
	x := mixpolicy.Must(models.Queue{}.MDP())
	s := mixpolicy.Must(SolveLP(background, x))
	fmt.Printf("best average cost %.5f, proved to be at least %.5f, by %d of %d pairs\n", s.Dual, s.Lower(), s.PositiveRows, x.Pairs())
	// Output:
	// best average cost 29.38958, proved to be at least 29.38958, by 100 of 400 pairs
}

// The identity in the doc comment of LPCertificate holds for any v, g and ξ.
func TestLPCertificateIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := random(t, rapid.SampledFrom(allCriteria).Draw(t, "criterion"))
		v := rapid.SliceOfN(rapid.Float64Range(-5, 5), x.States(), x.States()).Draw(t, "v")
		xi := rapid.SliceOfN(rapid.Float64Range(-1, 2), x.Pairs(), x.Pairs()).Draw(t, "ξ")
		g := 0.0
		if x.Criterion().Average() {
			g = rapid.Float64Range(-3, 3).Draw(t, "g")
		}
		c := checkLP(x, v, g, xi)
		// Compute r and f from their definitions.
		q := make([]float64, x.Pairs())
		x.ActionValues(q, v)
		f := times(-(1 - x.Gamma()), x.Initial())
		var total, slackness, violation, wrong float64
		for i, w := range xi {
			s := i / x.Actions()
			r := q[i] - v[s] - g
			total, slackness, violation, wrong = total+r*w, slackness+math.Abs(r*w), max(violation, -r), wrong+max(0, -w)
			f[s] += w
			to, prob := x.Next(s, i%x.Actions())
			for k, s2 := range to {
				f[s2] -= x.Gamma() * prob[k] * w
			}
		}
		mass := floats.Sum(xi) - 1
		total += floats.Dot(f, v) + g*mass
		wrong += floats.Norm(f, 1) + math.Abs(mass)
		// The sums have a few dozen terms of at most 30, from at most 24 pairs and 8 states.
		const tolerance = 300 * 30 * u
		for _, e := range []float64{c.Gap() - total, c.Slackness - slackness, c.PrimalViolation - violation, c.DualViolation - wrong} {
			if math.Abs(e) > tolerance {
				t.Fatalf("%+v, want the gap %v, slackness %v, violations %v and %v", c, total, slackness, violation, wrong)
			}
		}
		// Lower is a lower bound on the least cost, and equals the least cost at the solution.
		best := mixpolicy.Must(mixpolicy.PolicyIteration(background, x, mixpolicy.ValuationSettings{}))
		exact := checkLP(x, best.Value, best.Cost(), xi)
		if c.Lower() > min(best.Upper+1e-12, c.Primal) || math.Abs(best.Cost()-exact.Lower()) > 1e-9 {
			t.Fatalf("lower bounds %v and at v* %v of a cost of %v", c.Lower(), exact.Lower(), best.Cost())
		}
	})
}
