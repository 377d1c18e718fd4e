package mixpolicy

import "math"

// Bellman sets dst = 𝒮v for the Bellman operator (2.8),
//
//	(𝒮v)(s) = min_a { c_a(s) + γ Σ_{s′} P_a(s,s′) v(s′) },
//
// with γ = 1 under average cost. (The paper's definition has v* where v is meant.)
// Under discounting v* = 𝒮v* is the least cost Σ γᵗ c(sₜ, aₜ) from each state, and
// (1−γ)αᵀv* = min cᵀξ. Under average cost the fixed point is 𝒮h = h + g·1 with
// the least average cost g. dst and v have n entries and may not overlap.
func (x *MDP) Bellman(dst, v []float64) {
	x.checkValues(dst, v)
	x.improve(dst, v, make([]int32, x.n), 0, 1)
}

// ActionValues sets dst[s·m + a] = c_a(s) + γ Σ_{s′} P_a(s,s′) v(s′), what the
// minimum in (2.8) is taken over. dst has nm entries, v has n.
func (x *MDP) ActionValues(dst, v []float64) {
	if len(dst) != x.Pairs() || len(v) != x.n {
		panic("mixpolicy: ActionValues wants nm and n entries")
	}
	for i := range dst {
		dst[i] = x.backup(i, v)
	}
}

// Greedy returns the policy that attains the minimum in (2.8), the first of equal
// actions. For v = v* it is optimal.
func (x *MDP) Greedy(v []float64) *Policy {
	x.checkValues(v, v)
	actions := make([]int32, x.n)
	x.improve(make([]float64, x.n), v, actions, 0, 1)
	return deterministic(x, actions)
}

func (x *MDP) checkValues(dst, v []float64) {
	if len(dst) != x.n || len(v) != x.n {
		panic("mixpolicy: value function wants one entry per state")
	}
}

// backup returns c_i + γ P_i v for the pair i.
func (x *MDP) backup(i int, v []float64) float64 {
	lo, hi := x.p.Ptr[i], x.p.Ptr[i+1]
	col := x.p.Col[lo:hi]
	val := x.p.Val[lo:hi:hi][:len(col)]
	var e float64
	for k, c := range col {
		e += val[k] * v[c]
	}
	return x.cost[i] + x.criterion.gamma*e
}

// change is what a sweep did: the least and greatest entry of 𝒮v − v, and whether
// an action changed.
type change struct {
	lo, hi  float64
	actions bool
}

var unchanged = change{lo: math.Inf(1), hi: math.Inf(-1)}

// note takes part in every sweep, and does what min and max would in half of their time. A
// NaN stays: no number is less or more.
func (c *change) note(d float64) {
	if d < c.lo {
		c.lo = d
	}
	if d > c.hi {
		c.hi = d
	}
	if d != d {
		c.lo, c.hi = d, d
	}
}

// improve sets dst = 𝒮v and makes actions greedy. An action that is within tie of
// the best one stays.
func (x *MDP) improve(dst, v []float64, actions []int32, tie float64, workers int) change {
	return x.sweepStates(workers, x.p.NNZ(), func(lo, hi int) change {
		c := unchanged
		for s := lo; s < hi; s++ {
			now := int(actions[s])
			best, arg, kept := math.Inf(1), now, math.Inf(1)
			for a := range x.m {
				q := x.backup(s*x.m+a, v)
				if a == now {
					kept = q
				}
				if q < best {
					best, arg = q, a
				}
			}
			if kept > best+tie {
				actions[s], c.actions = int32(arg), true
			}
			dst[s] = best
			c.note(best - v[s])
		}
		return c
	})
}

// sweepStates runs do over all states, in a block per worker. Every state is
// computed by itself and extremes are exact, so the number of workers leaves no
// trace.
func (x *MDP) sweepStates(workers, terms int, do func(lo, hi int) change) change {
	parts := make([]change, workers)
	parts = parts[:split(workers, x.n, terms, func(part, lo, hi int) { parts[part] = do(lo, hi) })]
	total := unchanged
	for _, c := range parts {
		total.lo, total.hi = min(total.lo, c.lo), max(total.hi, c.hi)
		total.actions = total.actions || c.actions
	}
	return total
}

// valueRounding returns ε such that rounding moves an entry of 𝒮v − v by at most
// ε(‖c‖∞ + ‖v‖∞). With k entries in a row and unit roundoff u, the inner product,
// cost and difference err by at most (k+4)u of that, and the row itself, which may
// add up to 1 ± 16(k+1)u, by 16(k+1)u; together less than 20(k+1)u.
func (x *MDP) valueRounding() float64 {
	k := 0
	for i := range x.Pairs() {
		k = max(k, x.p.Ptr[i+1]-x.p.Ptr[i])
	}
	return 20 * float64(k+1) * 0x1p-53
}

// largest returns ‖x‖∞.
func largest(x []float64) float64 {
	lo, hi := extremes(x)
	return max(hi, -lo)
}

// extremes returns the least and the greatest of numbers, several times as fast as
// slices.Min and slices.Max, which look for NaN.
func extremes(x []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi
}
