package mixpolicy_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// The proof's two parts in rational arithmetic, where the diagonal is what the other entries leave: h is at least
// 1 + P̃h outside of z, and no more than twice the time to z; and the bound is 2 Σ |r|h with as much for rounding as
// the number of terms asks for.
func TestErrorBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		criterion := rapid.SampledFrom([]mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(.5), mixpolicy.Discounted(.99)}).Draw(t, "criterion")
		n := rapid.IntRange(2, 7).Draw(t, "n")
		x := mixpolicy.Must(models.Garnet{States: n, Actions: 1, Branches: rapid.IntRange(1, min(3, n)).Draw(t, "branches"), Ring: true,
			Seed: rapid.Uint64().Draw(t, "seed"), Criterion: criterion}.MDP())
		e := mixpolicy.Must(mixpolicy.NewErrorBound(x))
		mu := mixpolicy.Must(x.Occupation(context.Background(), mixpolicy.UniformPolicy(x))).State
		if rapid.Bool().Draw(t, "off") {
			mu[0] += 1e-3
		}
		h, err := e.Time(context.Background(), mu, 1, 1000)
		if err != nil || h == nil {
			t.Fatalf("no time is found: %v", err)
		}

		p, leave, again, terms := exactChain(x)
		zero := 0
		for s, v := range mu {
			if v > mu[zero] {
				zero = s
			}
		}
		// What is next: P̃h without the diagonal.
		next := func(s int, h []float64) *big.Rat {
			sum := new(big.Rat)
			for s2, v := range h {
				sum.Add(sum, mul(again[s2], rat(v)))
				if p[s][s2] != nil {
					sum.Add(sum, mul(p[s][s2], rat(v)))
				}
			}
			return sum
		}
		time := make([]float64, n) // to z, by so many sweeps that it is right to 10⁻⁶
		for range 100_000 {
			change := 0.0
			for s := range n {
				if s != zero {
					sum, _ := next(s, time).Float64()
					l, _ := leave[s].Float64()
					change, time[s] = max(change, (1+sum)/l-time[s]), (1+sum)/l
				}
			}
			if change < 1e-9 {
				break
			}
		}
		for s, v := range h {
			if s == zero {
				if v != 0 {
					t.Fatalf("h(z) = %v", v)
				}
				continue
			}
			if need := new(big.Rat).Add(rat(1), next(s, h)); mul(leave[s], rat(v)).Cmp(need) < 0 {
				t.Fatalf("h(%d) = %v: too small", s, v)
			}
			if v > 2.001*time[s] {
				t.Fatalf("h(%d) = %v, and the time is %v", s, v, time[s])
			}
		}

		exact, sum, rounding := new(big.Rat), new(big.Rat), 0.0
		for s, v := range mu {
			sum.Add(sum, rat(v))
			in := new(big.Rat).Set(again[s])
			for s2 := range n {
				if p[s2][s] != nil {
					in.Add(in, mul(p[s2][s], rat(mu[s2])))
				}
			}
			out := mul(leave[s], rat(v))
			through, _ := new(big.Rat).Add(in, out).Float64()
			rounding += 2 * h[s] * float64(terms[s]+12) * (u*through + 0x1p-1074)
			r := new(big.Rat).Sub(in, out)
			exact.Add(exact, mul(rat(2), mul(r.Abs(r), rat(h[s]))))
		}
		missing := sum.Sub(sum, rat(1))
		exact.Add(exact, missing.Abs(missing))
		bound, allowed := e.Bound(mu, h)
		off, _ := missing.Float64()
		if rounding += 0x1p-51 + off; math.Abs(allowed-rounding) > 2*u+1e-9*rounding { // Σ μ̂ is rounded itself
			t.Fatalf("%v is allowed for rounding, want %v", allowed, rounding)
		}
		want, _ := exact.Float64()
		if rat(bound).Cmp(exact) < 0 || bound > want*(1+1e-12)+2*rounding+2*u { // the residual is rounded by as much
			t.Fatalf("bound %v, want no less than %v, and %v more for rounding", bound, want, rounding)
		}
		if bound < rounding*(1-1e-9)-2*u {
			t.Fatalf("bound %v, want no less than %v for rounding", bound, rounding)
		}
	})
}

// exactChain returns γP of a chain without its diagonal, nil where there is no entry, 1 − γP(s,s), the (1−γ)α/Σα with
// which it begins anew, and the number of entries in each row and column.
func exactChain(x *mixpolicy.MDP) (p [][]*big.Rat, leave, again []*big.Rat, terms []int) {
	n, gamma, alpha := x.States(), rat(x.Gamma()), new(big.Rat)
	restart := new(big.Rat).Sub(rat(1), gamma)
	for _, a := range x.Initial() {
		alpha.Add(alpha, rat(a))
	}
	again = make([]*big.Rat, n)
	for s, a := range x.Initial() {
		again[s] = new(big.Rat).Quo(mul(restart, rat(a)), alpha)
	}
	p, leave, terms = make([][]*big.Rat, n), make([]*big.Rat, n), make([]int, n)
	for s := range n {
		p[s], leave[s] = make([]*big.Rat, n), new(big.Rat).Set(restart)
		to, prob := x.Next(s, 0)
		terms[s] += len(to)
		for k, s2 := range to {
			terms[s2]++
			if int(s2) != s {
				p[s][s2] = mul(gamma, rat(prob[k]))
				leave[s].Add(leave[s], p[s][s2])
			}
		}
	}
	return p, leave, again, terms
}

func rat(v float64) *big.Rat     { return new(big.Rat).SetFloat64(v) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
