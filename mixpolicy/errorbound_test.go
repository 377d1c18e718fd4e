package mixpolicy_test

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
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
		criterion := rapid.SampledFrom([]mixpolicy.Criterion{mixpolicy.AverageCost, mixpolicy.Discounted(.1), mixpolicy.Discounted(.5), mixpolicy.Discounted(.99)}).Draw(t, "criterion")
		n := rapid.IntRange(2, 7).Draw(t, "n")
		x := mixpolicy.Must(models.Garnet{States: n, Actions: 1, Branches: rapid.IntRange(1, min(3, n)).Draw(t, "branches"), Ring: true,
			Seed: rapid.Uint64().Draw(t, "seed"), Criterion: criterion}.MDP())
		e := mixpolicy.Must(mixpolicy.NewErrorBound(x))
		mu := mixpolicy.Must(x.Occupation(context.Background(), mixpolicy.UniformPolicy(x))).State
		mu[0] = max(0, mu[0]+rapid.SampledFrom([]float64{0, 1e-3, -1e-3}).Draw(t, "off"))
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

// Where masses are so small that products lose digits, a unit of the least number is allowed for each of 14 roundings.
func TestErrorBoundBelowTheNormalRange(t *testing.T) {
	e := mixpolicy.Must(mixpolicy.NewErrorBound(mixpolicy.Must(mixpolicy.New(mixpolicy.Spec{
		States: 2, Actions: 1, Criterion: mixpolicy.AverageCost,
		Dynamics: func(s, _ int) (float64, []mixpolicy.Transition) {
			if s == 0 {
				return 0, []mixpolicy.Transition{{To: 0, P: 1}, {To: 1, P: 1e-308}}
			}
			return 0, []mixpolicy.Transition{{To: 0, P: 1}}
		},
	}))))
	const h = 1e307
	_, rounding := e.Bound([]float64{1, 1e-308}, []float64{0, h})
	if want := 2*14*h*0x1p-1074 + 0x1p-51; math.Abs(rounding-want) > 1e-12*want {
		t.Errorf("%v is allowed for rounding, want %v", rounding, want)
	}
}

// Sweeps for h go up and then down, so that a path is followed in one of them or in two; z is the first state that has the
// greatest mass; and they are looked at when they are a power of two.
func TestErrorBoundSweeps(t *testing.T) {
	const n = 12
	mu := make([]float64, n)
	for c, next := range map[int]func(int) int{1: func(s int) int { return (s + n - 1) % n }, 2: func(s int) int { return (s + 1) % n }} {
		for most := 1; most <= 2; most++ {
			e := mixpolicy.Must(mixpolicy.NewErrorBound(walk(n, mixpolicy.AverageCost, next)))
			for s := range mu {
				mu[s] = 1. / n // the first is z
			}
			h, err := e.Time(t.Context(), mu, 1, most)
			if err != nil || (h != nil) != (most >= c) || h != nil && h[0] != 0 {
				t.Errorf("%d sweeps: h = %v, %v; want it after %d", most, h, err, c)
			}
		}
	}
	// Two parts of two states, between which few steps lead: k sweeps leave h − P̃h ≥ ½ when (1−ε)ᵏ < ½ or so.
	for look, sweeps := range map[int]float64{64: 40, 128: 90} {
		e := mixpolicy.Must(mixpolicy.NewErrorBound(parts(math.Ln2 / sweeps)))
		for most := look / 2; most <= look+1; most++ {
			fresh := *e
			h, err := fresh.Time(t.Context(), []float64{.3, .2, .3, .2}, 1, most)
			if err != nil || (h != nil) != (most >= look) {
				t.Fatalf("%d sweeps: h = %v, %v; want it after %d", most, h, err, look)
			}
		}
	}
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

// By h, or by elimination where h takes more than 1024 sweeps or too many are asked for, of up to 1500 states; and no
// measure is proved if rounding alone takes half of the limit.
func TestErrorBoundProves(t *testing.T) {
	mu := []float64{.3, .2, .3, .2}
	for _, c := range []struct {
		sweeps float64
		most   int
		time   bool
	}{{600, 5000, true}, {600, 1023, false}, {1200, 5000, false}} { // h is enough after 1024 sweeps, and 2048
		e := mixpolicy.Must(mixpolicy.NewErrorBound(parts(math.Ln2 / c.sweeps)))
		_, hopeless, h, exact, err := e.Prove(t.Context(), mu, 1, c.most)
		if err != nil || hopeless || (h != nil) != c.time || (exact == nil) != c.time {
			t.Errorf("%v: by %v or %v, hopeless: %v, %v", c, h, exact, hopeless, err)
		}
		if _, _, again, same, _ := e.Prove(t.Context(), []float64{.2, .3, .2, .3}, 1, c.most); h != nil && &again[0] != &h[0] || exact != nil && &same[0] != &exact[0] {
			t.Errorf("%v: both are found anew", c)
		}
	}
	for n, small := range map[int]bool{1500: true, 1501: false} {
		bound, hopeless, h, exact, err := mixpolicy.Must(mixpolicy.NewErrorBound(geometric(n, .25, .5))).Prove(t.Context(), make([]float64, n), 1e-3, 0)
		if err != nil || h != nil || (exact != nil) != small || hopeless == small || !small && bound != 2 {
			t.Errorf("%d states: %v by %v or %d exact masses, hopeless: %v, %v", n, bound, h, len(exact), hopeless, err)
		}
	}

	for range 50 { // ‖μ̂ − μ‖₁ is rounded up
		mu := []float64{rand.Float64(), rand.Float64(), rand.Float64(), rand.Float64()}
		bound, _, _, exact, _ := mixpolicy.Must(mixpolicy.NewErrorBound(parts(.1))).Prove(t.Context(), mu, 1, 0)
		least := rat(mixpolicy.EliminationError(4))
		for s := range mu {
			d := new(big.Rat).Sub(rat(mu[s]), rat(exact[s]))
			least.Add(least, d.Abs(d))
		}
		most, _ := mul(least, rat(1+0x1.8p-50)).Float64()
		if rat(bound).Cmp(least) < 0 || bound > most {
			t.Fatalf("bound %v, want %v or a little more", bound, least.FloatString(20))
		}
	}

	x := parts(.1)
	e := mixpolicy.Must(mixpolicy.NewErrorBound(x))
	h, _ := e.Time(t.Context(), mu, 1, 1000)
	_, rounding := e.Bound(mu, h)
	for most, floor := range map[int]float64{1000: rounding, 0: mixpolicy.EliminationError(4)} {
		for _, over := range []float64{1, 1 + 1e-9} {
			if _, hopeless, _, _, err := mixpolicy.Must(mixpolicy.NewErrorBound(x)).Prove(t.Context(), mu, 2*floor/over, most); err != nil || hopeless != (over > 1) {
				t.Errorf("up to %d sweeps: rounding of %v and a limit of %v: hopeless is %v, %v", most, floor, 2*floor/over, hopeless, err)
			}
		}
	}
	// Under discounting h = 1/(1−γ) does, if that is enough: at the limit, but not below.
	y := mixpolicy.Must(x.WithCriterion(mixpolicy.Discounted(.9)))
	e = mixpolicy.Must(mixpolicy.NewErrorBound(y))
	rough, _ := e.Bound(mu, slices.Repeat([]float64{1 / (1 - y.Gamma())}, 4))
	if bound, _, h, _, err := e.Prove(t.Context(), mu, rough, 1000); bound != rough || h != nil || err != nil {
		t.Errorf("bound %v by h = %v, %v; want %v", bound, h, err, rough)
	}
	if bound, _, h, _, err := e.Prove(t.Context(), mu, math.Nextafter(rough, 0), 1000); bound >= rough || h == nil || err != nil {
		t.Errorf("bound %v by h = %v, %v; want less than %v", bound, h, err, rough)
	}
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
