package mixpolicy

import (
	"context"
	"errors"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/reduction"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// errorBound bounds the distance of a measure μ̂ from the exact μ. A discounted μ is the
// stationary distribution of γP + (1−γ)1α, so there is a chain P̃ with μ = μP̃ under either
// criterion. Let h(s) be at least the mean time that P̃ takes from s to a state z, with
// h(z) = 0. The residual r = μ̂ − μ̂P̃ adds up to 0, and μ̂ − rN is a multiple of μ, where
// N(s,s′) is the mean number of visits to s′ from s before z. So
//
//	‖μ̂ − μ‖₁ ≤ 2‖rN‖₁ ≤ 2 Σ_s |r(s)| h(s)     if Σ μ̂ = 1.
//
// Every h ⪰ 0 with h ≥ 1 + P̃h outside z is at least the mean time to z. Under discounting,
// h = 1/(1−γ) is enough if z is the restart ∗. Otherwise, sweeps from h = 0 approach
// the mean time from below. Once h − P̃h ≥ ½ outside z, 2h is enough. These sweeps
// usually take little time compared with the computation of μ.
type errorBound struct {
	x       *MDP
	chain   *sparse.Matrix
	into    *sparse.Matrix
	leave   []float64
	support []int32
	restart float64 // (1−γ)/Σα: P̃ restarts in s with probability restart·α(s)

	quick      int       // number of sweeps for h that cost little
	time       []float64 // h, once it is known
	exact      Measure   // μ by elimination, if h was not found
	unprovable bool      // a lower residual would not help: other errors exceed half of the limit, or no bound was found
}

func (x *MDP) newErrorBound(chain *sparse.Matrix, support []int32) *errorBound {
	return &errorBound{
		x: x, chain: chain, into: chain.Transpose(), leave: x.leaving(chain), support: support,
		restart: (1 - x.Gamma()) / sum.Of(x.initial), quick: min(quick, max(64, 200_000_000/(chain.NNZ()+x.n))),
	}
}

// quick is the number of sweeps for h that cost little compared with elimination, or with the work for a lower
// residual. On large chains, errorBound.quick is less: the number of sweeps that take a second, but at least 64.
const quick = 1024

// prove returns a bound on ‖μ̂ − μ‖₁, or 2 if it finds none. Σ μ̂ must be 1 to within rounding. Under discounting,
// prove first tries h = 1/(1−γ), and returns the bound from this h if the bound is at most limit. If not, or under
// average cost, prove looks for h with at most min(e.quick, maxSweeps) sweeps. If these sweeps do not suffice, it
// tries elimination. If elimination is not cheap, it looks for h again, with up to maxSweeps sweeps. Later calls use
// the same h or μ.
func (e *errorBound) prove(ctx context.Context, mu []float64, limit float64, maxSweeps int) (float64, error) {
	x := e.x
	if !x.criterion.Average() {
		all := constant(x.n, 1/(1-x.Gamma()))
		if bound, _ := e.bound(mu, all); bound <= limit {
			return bound, nil
		}
	}
	if e.time == nil && e.exact.State == nil && !e.unprovable { // else a previous call has looked for h
		if err := e.findTime(ctx, mu, limit, min(maxSweeps, e.quick)); err != nil {
			return 2, err
		}
		if e.time == nil {
			err := x.eliminate(ctx, &e.exact, e.chain, e.support, quickly)
			if errors.Is(err, reduction.ErrFill) && maxSweeps > e.quick {
				err = e.findTime(ctx, mu, limit, maxSweeps)
			}
			if ctx.Err() != nil {
				return 2, err
			}
		}
	}
	if e.time != nil {
		bound, rounding := e.bound(mu, e.time)
		e.unprovable = rounding > limit/2
		return bound, nil
	}
	if e.exact.State != nil {
		e.unprovable = e.exact.Error > limit/2
		return sum.Diff1(mu, e.exact.State)*(1+0x1p-50) + e.exact.Error, nil
	}
	e.unprovable = true
	return 2, nil
}

// bound returns 2 Σ |r|h plus a bound on its rounding error, and this rounding bound alone. Apart from the sums, at
// most 11 roundings affect the inflow of a state: 5 of its own (1−γ, Σα, their quotient, the product with α, the
// addition), 1 in the difference, and 5 in h|r|, its margin and the addition. At most 11 roundings affect the outflow.
func (e *errorBound) bound(mu, h []float64) (bound, rounding float64) {
	g := e.x.Gamma()
	var all, allowed sum.Accumulator
	for _, s := range e.support {
		in, terms := others(e.into, s, mu)
		in = g*in + e.restart*e.x.initial[s]
		out := mu[s] * e.leave[s]
		// Each sum has a relative error of at most 2⁻⁵³ per term. Another 12 terms cover the products, which
		// may be below the normal range, and the operations that follow.
		more := float64(terms+e.chain.Ptr[s+1]-e.chain.Ptr[s]+12) * (0x1p-53*(in+out) + 0x1p-1074)
		all.Add(h[s] * (math.Abs(out-in) + more))
		allowed.Add(h[s] * more)
	}
	off := 0x1p-51 + math.Abs(sum.Of(mu)-1) // covers Σ μ̂ ≠ 1
	return 2*all.Value() + off, 2*allowed.Value() + off
}

// findTime makes sweeps until h − P̃h ≥ ½ outside z, the state of greatest mass. Then it
// sets e.time to h divided by a lower bound on the entries of h − P̃h outside z. It gives
// up after at most maxSweeps sweeps, or once h is so large that the rounding error of the
// bound exceeds the limit.
func (e *errorBound) findTime(ctx context.Context, mu []float64, limit float64, maxSweeps int) error {
	zero := e.support[0]
	for _, s := range e.support {
		if mu[s] > mu[zero] {
			zero = s
		}
	}
	h := make([]float64, e.x.n)
	for done, check := 0, 1; check <= maxSweeps; check *= 2 {
		for ; done < check; done++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			e.sweep(h, zero, done%2 == 1)
		}
		if _, rounding := e.bound(mu, h); !(rounding <= limit) {
			return nil // more sweeps would only increase h and the rounding error
		}
		if drop := e.leastDrop(h, zero); drop >= .5 {
			for s := range h {
				h[s] /= drop
			}
			e.time = h
			return nil
		}
	}
	return nil
}

// sweep solves h(s) = 1 + (P̃h)(s) for h(s), for each s ≠ z in turn. In the restart term of P̃h, it uses the h
// from before the sweep.
func (e *errorBound) sweep(h []float64, zero int32, backward bool) {
	restart := e.restart * sum.Dot(e.x.initial, h)
	for i := range e.support {
		if backward {
			i = len(e.support) - 1 - i
		}
		if s := e.support[i]; s != zero {
			in, _ := e.ahead(h, s, restart)
			h[s] = (1 + in) / e.leave[s]
		}
	}
}

// leastDrop returns a lower bound on min (h − P̃h)(s) over s ≠ z. The bound holds despite rounding.
func (e *errorBound) leastDrop(h []float64, zero int32) float64 {
	restart, least := e.restart*sum.Dot(e.x.initial, h), math.Inf(1)
	for _, s := range e.support {
		if s != zero {
			in, terms := e.ahead(h, s, restart)
			out := h[s] * e.leave[s]
			least = min(least, out-in-float64(terms+12)*0x1p-53*(in+out))
		}
	}
	return least
}

// ahead returns Σ_{s′≠s} γP(s,s′)h(s′) + restart, and the number of entries of row s. Here, restart is the
// contribution of α to P̃h.
func (e *errorBound) ahead(h []float64, s int32, restart float64) (in float64, terms int) {
	in, terms = others(e.chain, s, h)
	return e.x.Gamma()*in + restart, terms
}

// others returns the product of row s and x without the diagonal term, and the number of
// entries of the row.
func others(m *sparse.Matrix, s int32, x []float64) (sum float64, terms int) {
	col, val := m.Row(int(s))
	for k, c := range col {
		if c != s {
			sum += val[k] * x[c]
		}
	}
	return sum, len(col)
}
