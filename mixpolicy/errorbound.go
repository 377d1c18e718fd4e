package mixpolicy

import (
	"context"
	"errors"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/reduction"
	"github.com/mixpolicy/lab/mixpolicy/internal/sparse"
	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// errorBound proves how far a measure μ̂ is from the truth. A discounted μ is the stationary
// distribution of γP + (1−γ)1α, so there is a chain P̃ with μ = μP̃ in each case. Let h(s) be
// no less than the time that P̃ takes from s to a state z, h(z) = 0. The residual
// r = μ̂ − μ̂P̃ adds up to 0, and with N(s,s′) the mean number of visits to s′ from s before
// z, μ̂ − rN is a multiple of μ. So
//
//	‖μ̂ − μ‖₁ ≤ 2‖rN‖₁ ≤ 2 Σ_s |r(s)| h(s)     if Σ μ̂ = 1.
//
// Such an h is any h ⪰ 0 that is at least 1 + P̃h outside z. Under discounting
// h = 1/(1−γ) is enough for the restart ∗ as z. Else sweeps from h = 0 come close to the
// time from below; when h − P̃h ≥ ½, 2h is enough, which takes few sweeps beside those that
// come close to μ.
type errorBound struct {
	x       *MDP
	chain   *sparse.Matrix
	into    *sparse.Matrix
	leave   []float64
	support []int32
	restart float64 // (1−γ)/Σα, with which a state is left for s per unit of α(s)

	quick      int       // sweeps for h that cost little
	time       []float64 // h, once it is known
	exact      Measure   // by elimination, where h was not found
	unprovable bool      // no measure can be proved to be within the limit
}

func (x *MDP) newErrorBound(chain *sparse.Matrix, support []int32) *errorBound {
	return &errorBound{
		x: x, chain: chain, into: chain.Transpose(), leave: x.leaving(chain), support: support,
		restart: (1 - x.Gamma()) / sum.Of(x.initial), quick: min(quick, max(64, 200_000_000/(chain.NNZ()+x.n))),
	}
}

// quick sweeps for h cost little beside elimination, and beside a measure of tighter residual. On large chains they are as
// many as take a second.
const quick = 1024

// prove bounds ‖μ̂ − μ‖₁ where Σ μ̂ is 1 to within rounding, with up to maxSweeps sweeps. Where
// elimination takes little, that is done in place of sweeps that are not quick.
func (e *errorBound) prove(ctx context.Context, mu []float64, limit float64, maxSweeps int) (float64, error) {
	x := e.x
	if !x.criterion.Average() {
		all := constant(x.n, 1/(1-x.Gamma()))
		if bound, _ := e.bound(mu, all); bound <= limit {
			return bound, nil
		}
	}
	if e.time == nil && e.exact.State == nil && !e.unprovable { // else it was sought before
		if err := e.findTime(ctx, mu, limit, min(maxSweeps, e.quick)); err != nil {
			return 2, err
		}
		if e.time == nil {
			err := x.eliminate(ctx, &e.exact, e.chain, e.support, MeasureSettings{Tolerance: limit * limit}, quickly)
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

// bound returns 2 Σ |r|h, with what rounding may add to it, and that alone. Beside the sums at
// most 11 roundings touch the mass that flows through a state: 5 on the way in (1−γ, Σα, their quotient, the
// product with α, the addition; no more on the way out), 1 in the difference, and 5 in h|r|, in its margin
// and in adding up.
func (e *errorBound) bound(mu, h []float64) (bound, rounding float64) {
	g := e.x.Gamma()
	var all, allowed sum.Accumulator
	for _, s := range e.support {
		in, terms := others(e.into, s, mu)
		in = g*in + e.restart*e.x.initial[s]
		out := mu[s] * e.leave[s]
		// Each sum has an error of half a unit a term, and so has Σ μ̂ = 1; 12 more are for products,
		// which may be below the normal range, and for what follows.
		more := float64(terms+e.chain.Ptr[s+1]-e.chain.Ptr[s]+12) * (0x1p-53*(in+out) + 0x1p-1074)
		all.Add(h[s] * (math.Abs(out-in) + more))
		allowed.Add(h[s] * more)
	}
	off := 0x1p-51 + math.Abs(sum.Of(mu)-1)
	return 2*all.Value() + off, 2*allowed.Value() + off
}

// findTime sweeps until h is enough, unless no measure could then be proved to be within
// the limit.
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
			return nil // h only grows
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

// sweep sets h(s) to 1 + P̃h for each s ≠ z in turn.
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

// leastDrop returns min (h − P̃h)(s) over s ≠ z, less what rounding may add to it.
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

// ahead returns the sum of Σ_{s′≠s} γP(s,s′)h(s′) and restart, which P̃ adds for the states of α,
// and the number of its terms.
func (e *errorBound) ahead(h []float64, s int32, restart float64) (in float64, terms int) {
	in, terms = others(e.chain, s, h)
	return e.x.Gamma()*in + restart, terms
}

// others returns row s of a matrix times x, less what is on the diagonal, and the number of its terms.
func others(m *sparse.Matrix, s int32, x []float64) (sum float64, terms int) {
	col, val := m.Row(int(s))
	for k, c := range col {
		if c != s {
			sum += val[k] * x[c]
		}
	}
	return sum, len(col)
}
