package paper

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// BoundRow sets the bounds of Proposition 3.1 against a run: the queue of section 6 with
// costs divided by c_max, R = 2, η_t = 1/√(t+1), β = T^Power, at the level δ = 0.05.
type BoundRow struct {
	T           int
	Power, Beta float64
	// Measured is whether there was a run; Gap and Violation are of its answer, the
	// greatest of the trials, else NaN. The gap of an infeasible answer may be negative.
	Measured       bool
	Gap, Violation float64
	// Trivial is the greatest gap of any θ ∈ Θ₂ ∩ Θ_R: a bound above it says nothing.
	Trivial float64

	Corrected, Sharp                   theory.Bound
	CorrectedViolation, SharpViolation theory.Bound
}

// Orders is log₁₀ of a bound over what was measured.
func Orders(b theory.Bound, measured float64) float64 {
	return math.Log10(b.Value / math.Abs(measured))
}

// BetaPowers are the exponents for which [CompareBounds] sets β = T^power.
var BetaPowers = []float64{1. / 8, 1. / 4, 3. / 8, 1. / 2}

// CompareBounds evaluates the bounds for T = 10, 10², …, 10⁷ and β = T^power, and runs the
// algorithm, in three trials each, for T up to the given number. (10⁶ takes some 10 s.)
func CompareBounds(ctx context.Context, measured int) (rows []BoundRow, err error) {
	defer catch(&err)
	p := must(QueueProblem(mixpolicy.Ball(2)))
	base := must(theory.NewConstants(p, mixpolicy.PrimalDual{Beta: 1, CostScale: cMax}))
	best := must(p.Optimum(ctx)).Objective
	// On the hyperplane (x, 1−x) the ball is an interval, and the objective is linear.
	half := math.Sqrt((4 - 0.5) / 2)
	top := max(p.Objective([]float64{0.5 - half, 0.5 + half}), p.Objective([]float64{0.5 + half, 0.5 - half}))
	const delta, trials = 0.05, 3
	for _, power := range BetaPowers {
		for t := 10; t <= 10_000_000; t *= 10 {
			beta := math.Pow(float64(t), power)
			k, s := base.With(beta), theory.InverseSqrtSums(mixpolicy.Corrected, t)
			row := BoundRow{T: t, Power: power, Beta: beta, Gap: math.NaN(), Violation: math.NaN(), Trivial: (top - best) / cMax,
				Corrected: k.ObjectiveBound(s, delta), Sharp: k.SharpObjectiveBound(s, delta),
				CorrectedViolation: k.ViolationBound(s, delta), SharpViolation: k.SharpViolationBound(s, delta)}
			if row.Measured = t <= measured; row.Measured {
				r := must(race.Trials(ctx, p, mixpolicy.PrimalDual{Beta: beta, CostScale: cMax},
					race.Settings{Trials: trials, Iterations: t, Seed: 7, Schedule: mixpolicy.Every(t)}))
				row.Gap = (floats.Max(r.Final(race.Cost)) - best) / cMax
				row.Violation = floats.Max(r.Final(race.Violation))
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}
