package paper

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Claim is something measurable that the paper says, in our words, with what decides it.
type Claim struct {
	ID         string // stable, such as "6-cost"
	Where      string // section of the paper
	Claim      string
	Experiment string
	Numbers    string
	Verdict    Verdict
	// Timing marks numbers that differ from run to run and machine to machine.
	Timing bool
}

// Claims runs every experiment and returns the claims in the order of the paper.
func Claims(ctx context.Context) ([]Claim, error) {
	var all []Claim
	for _, group := range []func(context.Context) ([]Claim, error){
		policyClaims,
		methodClaims,
		theoryClaims,
		queueClaims,
		textClaims,
	} {
		claims, err := group(ctx)
		all = append(all, claims...)
		if err != nil {
			return all, err
		}
	}
	// By the section that an ID begins with, 0 being the abstract.
	slices.SortStableFunc(all, func(a, b Claim) int { return cmp.Compare(a.ID[:1], b.ID[:1]) })
	return all, nil
}

// WriteClaims writes the claims as CSV with a header.
func WriteClaims(w io.Writer, claims []Claim) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"id", "claim", "numbers", "verdict"}}
	for _, k := range claims {
		rows = append(rows, []string{k.ID, k.Claim, k.Experiment + ": " + k.Numbers, string(k.Verdict)})
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("paper: claims: %w", err)
	}
	return nil
}

// queueClaims are the three comparisons with the penalty method at the end of section 6.
func queueClaims(ctx context.Context) ([]Claim, error) {
	const (
		cost   = "Algorithm 1 reaches a smaller cost than the penalty method"
		spread = "answers of Algorithm 1 vary less between trials than those of the penalty method"
	)
	literal, err := AsPrinted(mixpolicy.Printed).Contest(ctx, DefaultContest(AsPrinted(mixpolicy.Printed)))
	if err != nil {
		return nil, err
	}
	repaired, err := AsPrinted(mixpolicy.Corrected).Contest(ctx, DefaultContest(AsPrinted(mixpolicy.Corrected)))
	if err != nil {
		return nil, err
	}
	sound, err := Working().Contest(ctx, DefaultContest(Working()))
	if err != nil {
		return nil, err
	}
	const (
		stated   = "T = 1000, η = 0.001, R = 100, raw costs"
		working6 = "T = 10⁵, η = η₀/√(t+1), R = 2, costs over c_max"
	)
	tuned := fmt.Sprintf("; each the best of %d configurations by %d other trials", sound.Configurations, sound.TuningTrials)
	var claims []Claim
	for _, e := range []struct {
		id, experiment string
		pair           Pair
	}{
		{"literal", stated + ", Algorithm 1 as printed", literal.AsGiven},
		{"corrected", stated + ", Algorithm 1 corrected", repaired.AsGiven},
		{"corrected-tuned", stated + ", Algorithm 1 corrected" + tuned, repaired.Tuned},
		{"working", working6 + ", η₀ = 1, ω = 1", sound.AsGiven},
		{"working-tuned", working6 + tuned, sound.Tuned},
	} {
		a, b := e.pair.PrimalDual, e.pair.Penalty
		claims = append(claims, Claim{
			ID: "6-cost-" + e.id, Where: "6.2", Claim: cost, Experiment: e.experiment,
			Numbers: fmt.Sprintf("exact-penalty merit %s against %s; cᵀΨθ̂, which infeasible answers lower, %s against %s; true cost of the policies %s against %s",
				meanOf(a.Merit), meanOf(b.Merit), meanOf(a.Objective), meanOf(b.Objective), meanOf(a.PolicyCost), meanOf(b.PolicyCost)),
			Verdict: together(
				less(race.Difference(a.Merit, b.Merit, confidence), 0),
				less(race.Difference(a.Objective, b.Objective, confidence), 0),
				less(race.Difference(a.PolicyCost, b.PolicyCost, confidence), 0)),
		})
		ratio := race.SpreadRatio(a.Objective, b.Objective, confidence, 1)
		claims = append(claims, Claim{
			ID: "6-variance-" + e.id, Where: "6.2", Claim: spread, Experiment: e.experiment,
			Numbers: fmt.Sprintf("ratio of the standard deviations of cᵀΨθ̂ %.3g [%.3g, %.3g] over %d trials", ratio.Mean, ratio.Lo, ratio.Hi, ratio.N),
			Verdict: less(ratio, 1),
		})
	}
	t, err := MeasureStepCost()
	if err != nil {
		return claims, err
	}
	const cheaper = "an iteration of Algorithm 1 is cheaper than one of the penalty method, which has to project"
	return append(claims,
		Claim{
			ID: "6-step-closed", Where: "6.2", Claim: cheaper, Timing: true,
			Experiment: "time of an iteration on the queue, the penalty method with its closed-form projection",
			Numbers:    fmt.Sprintf("%.0f ns against %.0f ns, %.2g times as long", t.PrimalDual, t.Penalty, t.PrimalDual/t.Penalty),
			Verdict:    verdictIf(t.PrimalDual < t.Penalty),
		},
		Claim{
			ID: "6-step-solver", Where: "6.2", Claim: cheaper, Timing: true,
			Experiment: "the same, the penalty method projecting by a general interior-point method",
			Numbers:    fmt.Sprintf("%.0f ns against %.0f ns, a ratio of %.2g", t.PrimalDual, t.PenaltyByBarrier, t.PrimalDual/t.PenaltyByBarrier),
			Verdict:    verdictIf(t.PrimalDual < t.PenaltyByBarrier),
		}), nil
}

// meanOf formats a mean with its interval.
func meanOf(x []float64) string {
	iv := race.TInterval(x, confidence)
	digits := 0
	if w := iv.Hi - iv.Lo; w > 0 && w < 100 { // two digits of the half width
		digits = max(0, 1-int(math.Floor(math.Log10(w/2))))
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, iv.Mean, digits, (iv.Hi-iv.Lo)/2)
}
