package paper

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
)

// CoinRun is one run on a problem that is all noise: one state, two actions of nearly equal
// cost, each of them a base policy, and a large class, R = 1000. It sets the left sides of
// (5.23), (5.28) and (5.34) against the right side of (5.24), at the level ρ = 0.05 and with
// the constants c₀, c₁ that are not given taken to be 1.
type CoinRun struct {
	Sum           float64 // left side of (5.21) and, over Ση, of (5.23), at its best λ
	Bracket       float64 // of (5.26) over Ση
	Gap           float64 // cᵀΨ(θ̂ − θ*), (5.28)
	Violation     float64 // left side of (5.34), −∞ if it is not the second case
	Steps         float64 // Ση
	Printed       float64 // right side of (5.21) as printed, C_e being that of (3.34b)
	PrintedWithA3 float64 // C_e being that of (A.3), with c_max
	Corrected     float64 // right side that is proved, with probability 1 − ρ
}

// Coin makes 100 such runs. Costs are 1000 and a little less, and a step 1/1000, so that a
// sample moves ∇φ(θ) by 1 and θ across the class; C_e of (3.34b) has no c_max in it, and is 7.
func Coin(ctx context.Context) ([]CoinRun, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return coin()
}

const (
	coinLevel  = 0.05
	coinRadius = 1000
	coinCost   = 1000
)

func coinProblem() (*mixpolicy.Problem, error) {
	x, err := mixpolicy.New(mixpolicy.Spec{States: 1, Actions: 2, Criterion: mixpolicy.AverageCost,
		Dynamics: func(_, a int) (float64, []mixpolicy.Transition) {
			return coinCost * (1 - float64(a)/40), []mixpolicy.Transition{{To: 0, P: 1}}
		}})
	if err != nil {
		return nil, err
	}
	var base []*mixpolicy.Policy
	for a := range 2 {
		p, err := mixpolicy.Deterministic(x, []int{a})
		if err != nil {
			return nil, err
		}
		base = append(base, p)
	}
	return mixtureProblem(x, mixpolicy.Ball(coinRadius), base...)
}

var coin = sync.OnceValues(func() ([]CoinRun, error) {
	const trials, iterations = 100, 100
	p, err := coinProblem()
	if err != nil {
		return nil, err
	}
	psi := p.Features()
	runs := make([]CoinRun, trials)
	for i := range runs {
		r, err := NewTrace(p, TraceSettings{Iterations: iterations, StepSize: mixpolicy.Constant(1. / coinCost), Beta: 1, Stream: uint64(i)})
		if err != nil {
			return nil, err
		}
		best, _, err := r.optimum()
		if err != nil {
			return nil, err
		}
		var sure, proved float64 // Ση²(‖∇_θ𝓛‖² + ‖∇_λ𝓛‖² + E‖e‖²), and what takes its place
		for _, s := range r.Steps {
			var variance float64
			for pair, q := range psi.Sampling() {
				e := stochasticGradient(p, s.Lambda, pair)
				floats.Sub(e, s.Mean)
				variance += q * floats.Dot(e, e)
			}
			mean, ascent := sq(floats.Norm(s.Mean, 2)), sq(floats.Norm(s.Ascent, 2))
			sure += sq(s.Eta) * (mean + ascent + variance)
			proved += sq(s.Eta) * ((mean+sq(r.K.Ce(mixpolicy.Corrected)))/r.Mu + ascent/2)
		}
		start := r.divergence(best, r.Steps[0].Theta)
		log := math.Log(4 / coinLevel)
		printed := func(ce float64) float64 {
			return start + sure + 2*math.Sqrt2*coinRadius*ce*math.Sqrt(log*r.Sums.Squares) +
				ce*max(math.Sqrt(log*r.Sums.Fourth), log*r.Sums.Squares)
		}
		s, v := r.Sums.Sum, p.Violation(r.Theta)
		gap := p.Objective(r.Theta) - p.Objective(best)
		complementary := p.Objective(best) - r.lagrangian(best, r.Lambda)
		// The best λ of the ball against θ̂ is along [Ψθ̂]₋, of length G or S‖[Ψθ̂]₋‖₂.
		length := min(r.G, 2*s*v)
		left := gap + complementary + length*2*v - sq(length)/(2*s)
		run := CoinRun{
			Sum: left * s, Gap: gap, Violation: math.Inf(-1), Steps: s,
			Bracket:       gap + complementary + 2*r.G*v*v*s/max(r.G, s*v) - sq(r.G*v)*s/max(sq(r.G), sq(s*v)),
			Printed:       printed(r.K.Ce(mixpolicy.Printed)),
			PrintedWithA3: printed(r.K.Ce(mixpolicy.Corrected)),
			Corrected:     start + proved + 2*coinRadius*r.K.Ce(mixpolicy.Corrected)*math.Sqrt(2*math.Log(1/coinLevel)*r.Sums.Squares),
		}
		if r.G/s <= v {
			run.Violation = gap + complementary + 2*r.G*v - sq(r.G)/s
		}
		runs[i] = run
	}
	return runs, nil
})

// exceeding counts runs of which the left side over Ση exceeds the right side over Ση.
func exceeding(runs []CoinRun, left, right func(CoinRun) float64) (n int) {
	for _, r := range runs {
		if !(left(r) <= right(r)/r.Steps) {
			n++
		}
	}
	return n
}

// coinFinding is how much more often than ρ a left side exceeds the right side of (5.24): the
// printed form by the lower end of its interval, the corrected one by what was seen.
func coinFinding(ctx context.Context, left func(CoinRun) float64) (Finding, error) {
	runs, err := Coin(ctx)
	if err != nil {
		return Finding{}, err
	}
	printed := exceeding(runs, left, func(r CoinRun) float64 { return r.Printed })
	withA3 := exceeding(runs, left, func(r CoinRun) float64 { return r.PrintedWithA3 })
	corrected := exceeding(runs, left, func(r CoinRun) float64 { return r.Corrected })
	lo, _ := clopperPearson(printed, len(runs))
	return Finding{
		Printed: excess(lo, coinLevel), Corrected: excess(float64(corrected)/float64(len(runs)), coinLevel),
		Numbers: fmt.Sprintf("two prices near 1000, R = 1000, ρ = 0.05: with C_e of (3.34b), which lacks c_max, it fails in %d of %d runs; with C_e of (A.3), whatever the slips on the way to it, in %d; corrected, in %d",
			printed, len(runs), withA3, corrected),
	}, nil
}

// likelyAlongRuns evaluates an inequality whose right side is that of (5.24).
func likelyAlongRuns(number string) check {
	left := map[string]func(CoinRun) float64{
		"5.23": func(r CoinRun) float64 { return r.Sum / r.Steps },
		"5.24": func(r CoinRun) float64 { return r.Sum / r.Steps },
		"5.26": func(r CoinRun) float64 { return r.Bracket },
		"5.28": func(r CoinRun) float64 { return r.Gap },
		"5.34": func(r CoinRun) float64 { return r.Violation },
	}[number]
	return func(ctx context.Context) (Finding, error) {
		f, err := coinFinding(ctx, left)
		if err != nil {
			return f, err
		}
		along, err := alongRuns(number)(ctx)
		if err != nil {
			return f, err
		}
		f.Corrected = max(f.Corrected, along.Corrected)
		f.Tolerance = along.Tolerance
		f.Numbers += "; along runs, " + along.Numbers
		return f, nil
	}
}
