package paper

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// ReadingResult says what a reading of the transition law (6.1) does to the
// experiment of section 6.
type ReadingResult struct {
	Reading      models.Reading
	BaseCosts    []float64 // cᵀψ¹, cᵀψ²
	Lo, Hi       float64   // Ψθ ⪰ 0 on 1ᵀθ = 1 if and only if Lo ≤ θ₁ ≤ Hi
	Optimum      float64   // of (2.18) with R = 100
	Theta        []float64 // its θ
	BestPossible float64   // least average cost of any policy of the MDP
}

// CompareReadings computes the experiment's exact numbers under every reading of
// (6.1) that gives a Markov decision process.
func CompareReadings(ctx context.Context) ([]ReadingResult, error) {
	var out []ReadingResult
	for _, r := range models.Readings() {
		res, err := compareReading(ctx, r)
		if err != nil {
			return out, fmt.Errorf("paper: reading %q: %w", r, err)
		}
		out = append(out, res)
	}
	return out, nil
}

func compareReading(ctx context.Context, r models.Reading) (ReadingResult, error) {
	res := ReadingResult{Reading: r}
	q := models.Queue{Reading: r}
	x, err := q.MDP()
	if err != nil {
		return res, err
	}
	base, err := q.Policies(x)
	if err != nil {
		return res, err
	}
	p, err := mixtureProblem(x, mixpolicy.Ball(100), base...)
	if err != nil {
		return res, err
	}
	res.BaseCosts = p.BaseCosts()
	best, err := p.Optimum()
	if err != nil {
		return res, err
	}
	res.Optimum, res.Theta = best.Objective, best.Theta
	// The ends of the feasible interval are the optima of two linear programs.
	lo, err := p.Solve(ctx, []float64{1, 0})
	if err != nil {
		return res, err
	}
	hi, err := p.Solve(ctx, []float64{-1, 0})
	if err != nil {
		return res, err
	}
	res.Lo, res.Hi = lo.Theta[0], hi.Theta[0]
	v, err := mixpolicy.PolicyIteration(ctx, x, mixpolicy.ValuationSettings{})
	if err != nil {
		return res, err
	}
	res.BestPossible = v.Cost()
	return res, nil
}
