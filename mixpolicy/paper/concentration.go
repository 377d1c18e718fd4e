package paper

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/theory"
)

// Tail is a concentration inequality at one deviation: the frequency in simulation with
// its exact (Clopper–Pearson) interval of 95 %, or an exact probability, against the bound.
type Tail struct {
	Statement string
	Deviation float64
	Frequency float64
	Lo, Hi    float64
	Bound     float64
	Trials    int // 0 for an exact probability
	Constant  string
}

// clopperPearson returns the exact interval of a probability that was seen k times in n.
func clopperPearson(k, n int) (lo, hi float64) {
	tail := (1 - confidence) / 2
	if hi = 1; k < n {
		hi = mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-tail)
	}
	if k > 0 {
		lo = mathext.InvRegIncBeta(float64(k), float64(n-k+1), tail)
	}
	return lo, hi
}

// Concentration evaluates the concentration inequalities of Lemma 5.2 and of the appendix,
// with explicit constants: (5.19a) by 2000 simulated runs, c₀ = 1; (A.6) corrected for sums
// of signs, c = ¼; (A.9) for sums of exponential variables, exactly, c = ¼.
func Concentration(ctx context.Context) ([]Tail, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return concentration()
}

// concentration is computed once: it is the same every time.
var concentration = sync.OnceValues(func() ([]Tail, error) {
	var tails []Tail
	p, err := SmallProblem(mixpolicy.Ball(2))
	if err != nil {
		return nil, err
	}
	const trials, iterations = 2000, 25
	sums := make([]float64, trials)
	var k *theory.Constants
	var squares float64
	for i := range sums {
		r, err := NewTrace(p, TraceSettings{Iterations: iterations, StepSize: mixpolicy.InverseSqrt(1), Beta: 20, Seed: 519, Stream: uint64(i)})
		if err != nil {
			return nil, err
		}
		k, squares = r.K, r.Sums.Squares
		corner := []float64{k.R / math.Sqrt2, -k.R / math.Sqrt2, 1}
		if err := p.Class().Norm.Project(corner, corner, k.R); err != nil {
			return nil, err
		}
		sums[i] = math.Abs(r.total(func(s TraceStep) float64 { return s.Eta * floats.Dot(s.Error, difference(s.Theta, corner)) }))
	}
	for _, delta := range []float64{1, 3, 10, 30, 100, 300, 1000} {
		hits := 0
		for _, v := range sums {
			if v >= delta {
				hits++
			}
		}
		t := Tail{Statement: "5.19a", Deviation: delta, Frequency: float64(hits) / trials, Trials: trials, Constant: "c₀ = 1",
			Bound: min(1, 2*math.Exp(-sq(delta)/(8*sq(k.R*k.Ce(mixpolicy.Corrected))*squares)))}
		t.Lo, t.Hi = clopperPearson(hits, trials)
		tails = append(tails, t)
	}
	// (A.6) corrected, 2 exp(−ε²/4Σσ²): sums of 100 signs, of norm σ = 1/√ln 2 each, exactly.
	binomial := distuv.Binomial{N: 100, P: 0.5}
	for _, heads := range []float64{55, 60, 70, 80, 90, 100} {
		deviation := 2*heads - 100
		exact := 2 * binomial.Survival(heads-0.5)
		tails = append(tails, Tail{Statement: "A.6", Deviation: deviation, Frequency: exact, Lo: exact, Hi: exact, Constant: "c = 1/4",
			Bound: min(1, 2*math.Exp(-sq(deviation)*math.Ln2/(4*100)))})
	}
	// (A.9): T exponential variables of mean 1 have the norm b = 2, and their sum is Gamma.
	for _, n := range []float64{1, 10, 100} {
		for _, delta := range []float64{1, 3, 10, 30, 100} {
			exact := mathext.GammaIncRegComp(n, n+delta)
			tails = append(tails, Tail{Statement: "A.9", Deviation: delta, Frequency: exact, Lo: exact, Hi: exact, Constant: "c = 1/4",
				Bound: math.Exp(-0.25 * min(sq(delta)/(4*n), delta/2))})
		}
	}
	return tails, nil
})

// worstTail returns by how much the lower ends of a statement's probabilities exceed its
// bound at most, and how many there are.
func worstTail(ctx context.Context, statement string) (worst float64, count int, err error) {
	tails, err := Concentration(ctx)
	for _, t := range tails {
		if t.Statement == statement {
			count++
			worst = max(worst, excess(t.Lo, t.Bound))
		}
	}
	return worst, count, err
}
