package mixpolicy_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// ‖μ̂ − μ‖₁ ≤ Error of a measure by sweeps, wherever they end; and Error is no more than the proof says,
// 2 Σ|r|h for the residual r and h = 1/(1−γ), or an h of at most twice the mean time to the state of
// greatest mass. The mean time is computed here by sweeps of its own, to six digits.
func TestErrorBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		criterion := rapid.SampledFrom([]mixpolicy.Criterion{
			mixpolicy.AverageCost, mixpolicy.Discounted(.1), mixpolicy.Discounted(.5), mixpolicy.Discounted(.99),
		}).Draw(t, "criterion")
		n := rapid.IntRange(2, 7).Draw(t, "n")
		x := mixpolicy.Must(models.Garnet{States: n, Actions: 1, Branches: rapid.IntRange(1, min(3, n)).Draw(t, "branches"), Ring: true,
			Seed: rapid.Uint64().Draw(t, "seed"), Criterion: criterion}.MDP())
		// Rounds of 8 sweeps until the residual is small enough, and the error within its root.
		set := mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel, Tolerance: math.Pow(10, -rapid.Float64Range(1, 13).Draw(t, "digits"))}
		q, err := mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), set)
		if err != nil {
			t.Fatal(err)
		}
		off := new(big.Rat)
		for s, mu := range exactly(x, make([]int, n), -1) {
			d := new(big.Rat).Sub(rat(q.State[s]), mu)
			off.Add(off, d.Abs(d))
		}
		if off.Cmp(rat(q.Error)) > 0 {
			t.Fatalf("μ is off by %v, said to be off by %v at most", off.FloatString(20), q.Error)
		}
		zero := 0
		for s, v := range q.State {
			if v > q.State[zero] {
				zero = s
			}
		}
		restart := func(h []float64) (sum float64) {
			for s, v := range h {
				sum += (1 - x.Gamma()) * x.Initial()[s] * v
			}
			return sum
		}
		time := make([]float64, n)
		for change := 1.; change > 1e-8; {
			change = 0
			for s := range n {
				if s == zero {
					continue
				}
				next := 1 + restart(time)
				to, p := x.Next(s, 0)
				for k, s2 := range to {
					next += x.Gamma() * p[k] * time[s2]
				}
				change, time[s] = max(change, next-time[s]), next
			}
		}
		flow := make([]float64, n)
		for s, mu := range q.State {
			flow[s] += (1 - x.Gamma()) * x.Initial()[s]
			to, p := x.Next(s, 0)
			for k, s2 := range to {
				flow[s2] += x.Gamma() * p[k] * mu
			}
		}
		var byTime, byRestart, rounding float64
		for s, mu := range q.State {
			r := math.Abs(mu - flow[s])
			byTime, byRestart, rounding = byTime+2*r*2*time[s], byRestart+2*r/(1-x.Gamma()), rounding+40*u*(1+2*time[s])
		}
		want := byTime
		if x.Gamma() < 1 {
			want, rounding = max(byTime, byRestart), rounding+100*u/(1-x.Gamma())
		}
		if q.Error > want*(1+1e-6)+rounding {
			t.Fatalf("error %v, want at most %v", q.Error, want)
		}
	})
}

// parts is a chain of two pairs of states; a step leaves its pair with probability ε.
func parts(epsilon float64) *mixpolicy.MDP {
	return mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 4, Actions: 1, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, _ int) (float64, []mixpolicy.Transition) {
			return 0, []mixpolicy.Transition{{To: s ^ 1, P: .5}, {To: s, P: .5 - epsilon}, {To: s ^ 2, P: epsilon}}
		},
	}))
}

// Where sweeps take more than 1,024 to find the time, elimination has the error; and no measure is proved whose
// elimination loses digits.
func TestErrorBoundByElimination(t *testing.T) {
	for _, c := range []struct{ sweeps, over float64 }{{600, 4}, {1200, 1}} { // the time is enough after 1024 sweeps, and 2048
		x := parts(math.Ln2 / c.sweeps)
		set := mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel, Tolerance: 1e-4, Start: []float64{.3, .2, .3, .2}}
		q, err := mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), set)
		if err != nil {
			t.Fatal(err)
		}
		var off float64
		for _, mu := range q.State {
			off += math.Abs(mu - .25)
		}
		if least := mixpolicy.Must(x.Occupation(t.Context(), mixpolicy.UniformPolicy(x))).Error; q.Error < off || (q.Error <= off+2*least) != (c.over == 1) {
			t.Errorf("%v: error %v, want %v and %v more", c, q.Error, off, least)
		}
	}
	x := chain([][]float64{{1, 1e-310}, {2e-310, 1}})
	for method, want := range map[mixpolicy.MeasureMethod]string{
		mixpolicy.Auto: "elimination loses digits", mixpolicy.GaussSeidel: "its error may be 2",
	} {
		_, err := mixpolicy.Occupation(t.Context(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: method})
		wantError(t, err, want)
	}
}

func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
