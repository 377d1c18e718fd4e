package mixpolicy_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
)

// drawExtreme draws an MDP whose probabilities are anything from 1e-320 to 1, with γ within an
// ulp of 1 and costs to 1e306.
func drawExtreme(t *rapid.T, actions int) *mixpolicy.MDP {
	n := rapid.IntRange(1, 5).Draw(t, "n")
	size := rapid.SampledFrom([]float64{1, 1e-300, 1e100, 1e280, 1e306}).Draw(t, "size of costs")
	sizes := []float64{1, .5, .1, 1e-3, 1e-9, 1e-15, 1e-100, 1e-154, 1e-177, 1e-300, 1e-310, 1e-320}
	sizes = sizes[:rapid.SampledFrom([]int{4, len(sizes)}).Draw(t, "sizes")]
	spec := mixpolicy.Spec{
		States: n, Actions: actions, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, _ int) (float64, []mixpolicy.Transition) {
			row, left := make([]float64, n), 1.
			for s2 := range row {
				if s2 != s && rapid.Bool().Draw(t, "moves") {
					row[s2] = rapid.SampledFrom(sizes).Draw(t, "size") * rapid.Float64Range(.5, 1).Draw(t, "p") / float64(n)
					left -= row[s2]
				}
			}
			if row[s] = left; rapid.Bool().Draw(t, "never stays") && left < 1 {
				row[s] = 0
				for s2 := range row {
					row[s2] /= 1 - left
				}
			}
			return rapid.Float64Range(-1, 1).Draw(t, "c") * size, dense(row)
		},
	}
	if rapid.Bool().Draw(t, "discounted") {
		spec.Criterion = mixpolicy.Discounted(1 - rapid.Float64Range(1, 2).Draw(t, "1−γ")*math.Ldexp(1, -rapid.IntRange(2, 53).Draw(t, "power of 1−γ")))
		if rapid.Bool().Draw(t, "from 0") {
			spec.Initial = make([]float64, n)
			spec.Initial[0] = 1
		}
	}
	x, err := mixpolicy.New(spec)
	if err != nil { // left is off by a rounding of 1 where it is nearly 0
		t.Skip(err)
	}
	return x
}

// exactly returns μ of the first policy without rounding, from the state given, or α if it is
// negative. A chain's P(s,s) is what its other entries leave. It returns nil if there are
// several recurrent classes.
func exactly(x *mixpolicy.MDP, actions []int, from int) []*big.Rat {
	n, size := x.States(), x.States()
	gamma := rat(x.Gamma())
	if x.Gamma() < 1 {
		size++ // the state ∗
	}
	p := make([][]*big.Rat, size)
	for s := range p {
		p[s] = make([]*big.Rat, size)
		for s2 := range p[s] {
			p[s][s2] = new(big.Rat)
		}
	}
	for s := range n {
		states, values := x.Next(s, actions[s])
		for k, s2 := range states {
			p[s][s2].Mul(gamma, rat(values[k]))
		}
		if size > n {
			p[s][n].Sub(big.NewRat(1, 1), gamma)
			p[n][s].SetFloat64(x.Initial()[s])
			if from >= 0 {
				p[n][s].SetInt64(0)
			}
		}
	}
	if size > n && from >= 0 {
		p[n][from].SetInt64(1)
	}
	mu := rationalMeasure(p)
	if mu == nil {
		return nil
	}
	mu = mu[:n]
	total := new(big.Rat)
	for _, v := range mu {
		total.Add(total, v)
	}
	for _, v := range mu {
		v.Quo(v, total)
	}
	return mu
}

// No measure is called right that is not, and none has a NaN or an infinity.
func TestExtremeMeasures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkMeasures(t, drawExtreme(t, 1)) })
}

// leastProbability returns the least of the first policy that is not 0.
func leastProbability(x *mixpolicy.MDP) float64 {
	least := 1.
	for s := range x.States() {
		_, p := x.Next(s, 0)
		least = min(least, slices.Min(p))
	}
	return least
}

// checkMeasures compares all methods with rational arithmetic. Auto and Elimination must not fail
// where products of a few probabilities are normal numbers.
func checkMeasures(t failer, x *mixpolicy.MDP) {
	t.Helper()
	want := exactly(x, make([]int, x.States()), -1)
	for method := mixpolicy.Auto; method <= mixpolicy.Multilevel; method++ {
		q, err := mixpolicy.Occupation(context.Background(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: method, MaxSweeps: 3000})
		if q != nil {
			var off float64
			for s, mu := range q.State {
				if !(mu >= 0 && mu <= 1) || !(q.Pair[s] >= 0) {
					t.Fatalf("%v: μ = %v, %v", method, q.State, err)
				}
				if want != nil {
					d, _ := new(big.Rat).Sub(rat(mu), want[s]).Float64()
					off += math.Abs(d)
				}
			}
			if !(q.Residual >= 0 && q.Residual < 3 && q.Error >= 0) {
				t.Fatalf("%v: residual %v, error %v", method, q.Residual, q.Error)
			}
			if err == nil && !(off <= q.Error && q.Error <= 1e-6) {
				t.Fatalf("%v: μ = %v is off by %.3g, said to be off by %.3g at most; γ = 1 − %.3g", method, q.State, off, q.Error, 1-x.Gamma())
			}
		}
		if q == nil && want != nil && method <= mixpolicy.Elimination && leastProbability(x) > 1e-20 {
			t.Fatalf("%v: %v", method, err)
		}
	}
}

// Chains on which these once failed: NaN by elimination, masses that overflow in sweeps, and a
// measure that was wrong by .41 and called right.
func TestMeasuresThatFailed(t *testing.T) {
	for _, c := range []struct {
		p         [][]float64
		criterion mixpolicy.Criterion
	}{
		{[][]float64{{.5, .5}, {1e-310, 1}}, mixpolicy.AverageCost},
		{[][]float64{{1, 1e-177, 0}, {1e-177, 1, 1e-177}, {0, 3e-177, 1}}, mixpolicy.AverageCost},
		// From 0 to 1 by way of 3 with 10⁻³³⁰, and from 1 to 2, which keeps all mass.
		{[][]float64{{1, 0, 0, 1e-165}, {1e-300, .5, .5, 0}, {0, 1e-290, 1, 0}, {1, 1e-165, 0, 0}}, mixpolicy.AverageCost},
		{[][]float64{{0, 1, 0}, {1e-177, 0, 1}, {0, 1e-177, 1}}, mixpolicy.AverageCost},
		{[][]float64{{1, 1e-177, 0}, {1e-177, 1, 1e-177}, {0, 3e-177, 1}}, mixpolicy.Discounted(1 - 0x1p-53)},
		{[][]float64{{1 - 0x1p-40, 0x1p-40}, {0x1p-41, 1 - 0x1p-41}}, mixpolicy.Discounted(1 - 1e-12)},
		{[][]float64{{0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}}, mixpolicy.Discounted(1 - 0x1p-53)},
	} {
		checkMeasures(t, mixpolicy.Must(chain(c.p...).WithCriterion(c.criterion)))
	}
}

// Every interval for a cost holds it, and every value is as near as it is said to be.
func TestExtremeValuations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawExtreme(t, rapid.IntRange(1, 2).Draw(t, "m"))
		n, m := x.States(), x.Actions()
		var best *big.Rat
		costOf := func(actions []int, from int) *big.Rat {
			cost := new(big.Rat)
			mu := exactly(x, actions, from)
			if mu == nil {
				return nil
			}
			for s, v := range mu {
				cost.Add(cost, new(big.Rat).Mul(v, rat(x.Cost(s, actions[s]))))
			}
			return cost
		}
		least := make([]*big.Rat, n) // from each state
		actions := make([]int, n)
		for k := 0; k < 1<<(n*(m-1)); k++ {
			for s := range actions {
				actions[s] = k >> s & 1
			}
			cost := costOf(actions, -1)
			if cost == nil {
				t.Skip("several classes")
			}
			if best == nil || cost.Cmp(best) < 0 {
				best = cost
			}
			for s := range n {
				if v := costOf(actions, s); least[s] == nil || v.Cmp(least[s]) < 0 {
					least[s] = v
				}
			}
		}
		clear(actions)
		first := mixpolicy.Must(mixpolicy.Deterministic(x, actions))
		evaluate := func(ctx context.Context, x *mixpolicy.MDP, set mixpolicy.ValuationSettings) (*mixpolicy.Valuation, error) {
			return mixpolicy.Evaluate(ctx, x, first, set)
		}
		for _, method := range append(slices.Clone(valuationMethods), valuationMethod{"evaluate", evaluate}) {
			what := method.name
			v, err := method.run(t.Context(), x, mixpolicy.ValuationSettings{MaxIterations: 100})
			if v == nil && err != nil {
				continue
			}
			want, values := best, least
			if what == "evaluate" {
				want, values = costOf(actions, -1), nil
				for s := range n {
					values = append(values, costOf(actions, s))
				}
			}
			within := func(v, lo, hi float64, want *big.Rat) bool {
				above := math.IsInf(lo, -1) || rat(lo).Cmp(want) <= 0
				below := math.IsInf(hi, 1) || rat(hi).Cmp(want) >= 0
				return above && below && !(lo > v) && !(v > hi)
			}
			if !within(v.Cost(), v.Lower, v.Upper, want) {
				f, _ := want.Float64()
				t.Fatalf("%s: cost %v is not in [%v, %v], %v", what, f, v.Lower, v.Upper, err)
			}
			for s, value := range v.Value {
				if math.IsNaN(value) || math.IsInf(value, 0) {
					t.Fatalf("%s: v = %v, %v", what, v.Value, err)
				}
				if x.Gamma() < 1 && err == nil {
					// The truth is a cost per step, (1−γ)v.
					off := rat(x.Gamma())
					off.Sub(big.NewRat(1, 1), off).Mul(off, rat(value)).Sub(off, values[s])
					if most := rat((v.Upper - v.Lower) / 2); off.Abs(off).Cmp(most) > 0 {
						f, _ := off.Float64()
						t.Fatalf("%s: (1−γ)v(%d) = %v is off by %v, in [%v, %v]", what, s, (1-x.Gamma())*value, f, v.Lower, v.Upper)
					}
				}
			}
			if err == nil && !(v.Upper-v.Lower < math.Inf(1) && v.Residual < math.Inf(1)) {
				t.Fatalf("%s: [%v, %v], residual %v", what, v.Lower, v.Upper, v.Residual)
			}
		}
	})
}

// rationalMeasure solves μ = μP in rational arithmetic, with P(s,s) = 1 − Σ_{s′≠s}; it returns nil if
// several recurrent classes leave μ open.
func rationalMeasure(p [][]*big.Rat) []*big.Rat {
	n := len(p)
	// Rows: column s of I − P, that is Σ_{s′} μ(s′)(1{s′=s} − P(s′,s)) = 0; the last: Σ μ = 1.
	a := make([][]*big.Rat, n)
	for s := range n {
		a[s] = make([]*big.Rat, n+1)
		for s2 := range n {
			if s == s2 {
				a[s][s2] = new(big.Rat)
				for j := range n {
					if j != s {
						a[s][s2].Add(a[s][s2], p[s][j])
					}
				}
			} else {
				a[s][s2] = new(big.Rat).Neg(p[s2][s])
			}
		}
		a[s][n] = new(big.Rat)
	}
	for j := range n + 1 {
		a[n-1][j] = big.NewRat(1, 1)
	}
	for k := range n { // Gauss–Jordan
		pivot := k
		for pivot < n && a[pivot][k].Sign() == 0 {
			pivot++
		}
		if pivot == n {
			return nil
		}
		a[k], a[pivot] = a[pivot], a[k]
		inverse := new(big.Rat).Inv(a[k][k])
		for j := k; j <= n; j++ {
			a[k][j].Mul(a[k][j], inverse)
		}
		for i := range n {
			if i == k || a[i][k].Sign() == 0 {
				continue
			}
			f := new(big.Rat).Set(a[i][k])
			for j := k; j <= n; j++ {
				a[i][j].Sub(a[i][j], new(big.Rat).Mul(f, a[k][j]))
			}
		}
	}
	mu := make([]*big.Rat, n)
	for s := range mu {
		mu[s] = a[s][n]
	}
	return mu
}

func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
