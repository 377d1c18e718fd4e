package mixpolicy

import (
	"math"
	"runtime"
	"slices"
	"sync"
)

// Bellman sets dst = 𝒮v, where 𝒮 is the Bellman operator (2.8),
//
//	(𝒮v)(s) = min_a { c_a(s) + γ Σ_{s′} P_a(s,s′) v(s′) },
//
// with γ = 1 under average cost. (The paper's definition prints v* instead of v.) Under discounting, the
// solution v* of v* = 𝒮v* gives the least cost v*(s) = min_π E Σ γᵗ c(sₜ, aₜ) from s₀ = s, and (1−γ)αᵀv*
// = min_π cᵀξ^π. Under average cost, there are relative values h with 𝒮h = h + g·1 if the least average
// cost g is the same from every state. The slices dst and v must have n entries each, and must not
// overlap.
func (x *MDP) Bellman(dst, v []float64) {
	x.checkValues(dst, v)
	for s := range dst {
		best := math.Inf(1)
		for a := range x.m {
			if q := x.backup(s*x.m+a, v); q < best {
				best = q
			}
		}
		dst[s] = best
	}
}

// ActionValues sets dst[s·m + a] = c_a(s) + γ Σ_{s′} P_a(s,s′) v(s′). For each s, the minimum of
// these numbers over a is (𝒮v)(s) of (2.8). The slice dst must have nm entries, and v must have n
// entries.
func (x *MDP) ActionValues(dst, v []float64) {
	if len(dst) != x.Pairs() || len(v) != x.n {
		panic("mixpolicy: ActionValues: dst must have nm entries, and v must have n")
	}
	for i := range dst {
		dst[i] = x.backup(i, v)
	}
}

// Greedy returns the policy that takes, in each state, the first allowed action that attains the minimum
// in (2.8). This policy is optimal if v is v* (under discounting) or h (under average cost); see [MDP.Bellman].
func (x *MDP) Greedy(v []float64) *Policy {
	x.checkValues(v, v)
	actions := make([]int32, x.n)
	x.improve(make([]float64, x.n), v, actions, 0, 1)
	return deterministic(x, actions)
}

func (x *MDP) checkValues(dst, v []float64) {
	if len(dst) != x.n || len(v) != x.n {
		panic("mixpolicy: a value function must have one entry per state")
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

// change records, for one sweep, the least and the greatest change of an entry of v,
// and whether an action changed.
type change struct {
	lo, hi  float64
	actions bool
}

var unchanged = change{lo: math.Inf(1), hi: math.Inf(-1)}

// note includes d in lo and hi, in half the time that min and max take. After a NaN, lo and hi
// stay NaN, because no number is less or greater than NaN.
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

// improve sets dst = 𝒮v and makes actions greedy. The present action stays if its value is
// within tie of the best value.
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

// sweepStates calls do on blocks of states, at most one block per worker. Each state is
// computed independently of the others, and minima and maxima are exact, so the result
// does not depend on the number of workers.
func (x *MDP) sweepStates(workers, terms int, do func(lo, hi int) change) change {
	parts := make([]change, workers)
	parts = parts[:divide(workers, x.n, terms, func(part, lo, hi int) { parts[part] = do(lo, hi) })]
	total := unchanged
	for _, c := range parts {
		total.lo, total.hi = min(total.lo, c.lo), max(total.hi, c.hi)
		total.actions = total.actions || c.actions
	}
	return total
}

// worthwhile is the least number of multiplications that justifies another goroutine. These
// multiplications take some 50 µs, ten times as long as the start of a goroutine.
const worthwhile = 1 << 16

// divide cuts [0, n) into one part per worker, or into fewer parts if n is small, or if there
// are few multiplications (terms). It runs do on all parts at once, and returns the number of
// parts. If workers is 0, there is one worker per CPU. The result of do must not depend on the
// cuts.
func divide(workers, n, terms int, do func(part, lo, hi int)) (parts int) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, n, terms/worthwhile))
	if workers == 1 {
		do(0, 0, n)
		return 1
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(w, w*n/workers, (w+1)*n/workers) })
	}
	wait.Wait()
	return workers
}

// valueRounding returns ε such that rounding moves an entry of 𝒮v − v by at most
// ε(‖c‖∞ + ‖v‖∞). With at most k entries in a row and unit roundoff u, the inner product, the
// addition of the cost and the difference have rounding errors of at most (k+4)u(‖c‖∞ + ‖v‖∞) in total.
// The row itself may add up to 1 ± 16(k+1)u, which adds 16(k+1)u(‖c‖∞ + ‖v‖∞). The sum of the two bounds
// is less than 20(k+1)u(‖c‖∞ + ‖v‖∞).
func (x *MDP) valueRounding() float64 {
	k := 0
	for i := range x.Pairs() {
		k = max(k, x.p.Ptr[i+1]-x.p.Ptr[i])
	}
	return 20 * float64(k+1) * 0x1p-53
}

// greedy is a greedy policy with bounds that shorten the next greedy step: the step skips
// actions that cannot have become better than the present action (temporary elimination,
// Hastings and van Nunen 1977). The result is the same, bit for bit, as without the bounds. With
//
//	q(s,a) = c_a(s) + γP_a(s,·)v,
//
// a change of v by δ raises q by at least γ min δ, because rows of P add up to 1. The rise is the
// sum of γ min δ over the steps. When a step computes q of a pair, it stores q minus the rise at
// that step. In a later step, the stored number plus the rise at the later step is a lower bound on
// q. The step skips the pair if this bound exceeds the q of the policy's action. After a few steps,
// most states have one action left. The rows of the policy's actions are stored side by side.
type greedy struct {
	x       *MDP
	actions []int32

	start []int // where the row of state s begins in col and val; there is room for the longest row of s
	end   []int // where the present row of state s ends
	col   []int32
	val   []float64
	cost  []float64

	rise   float64   // Σ γ min δ, rounded down
	least  []float32 // for each pair: the stored q − rise, rounded down; +∞ for the policy's action; few digits are enough
	rivals []float32 // for each state: the minimum of least over its pairs
	v      []float64 // v of the last step
	slack  float64   // in the last step: a bound on how far rounding moves an entry of 𝒮v − v
}

func newGreedy(x *MDP) *greedy {
	g := &greedy{
		x: x, actions: make([]int32, x.n),
		start: make([]int, x.n), end: make([]int, x.n), cost: make([]float64, x.n),
		least: make([]float32, x.Pairs()), rivals: make([]float32, x.n), v: make([]float64, x.n),
	}
	room := 0
	for s := range x.n {
		g.start[s] = room
		longest := 0
		for i := s * x.m; i < (s+1)*x.m; i++ {
			longest = max(longest, x.p.Ptr[i+1]-x.p.Ptr[i])
		}
		room += longest
	}
	g.col, g.val = make([]int32, room), make([]float64, room)
	return g
}

// take stores the row and the cost of action a in state s.
func (g *greedy) take(s, a int) {
	i := s*g.x.m + a
	col, val := g.x.p.Row(i)
	copy(g.col[g.start[s]:], col)
	copy(g.val[g.start[s]:], val)
	g.end[s], g.cost[s] = g.start[s]+len(col), g.x.cost[i]
}

// follow returns c^π(s) + γP^π(s,·)v for the policy's action.
func (g *greedy) follow(s int, v []float64) float64 {
	col := g.col[g.start[s]:g.end[s]]
	val := g.val[g.start[s]:g.end[s]][:len(col)]
	var e float64
	for k, c := range col {
		e += val[k] * v[c]
	}
	return g.cost[s] + g.x.criterion.gamma*e
}

// sweep sets dst = c^π + γP^π v.
func (g *greedy) sweep(dst, v []float64, workers int) change {
	return g.x.sweepStates(workers, len(g.col), func(lo, hi int) change {
		c := unchanged
		for s := lo; s < hi; s++ {
			dst[s] = g.follow(s, v)
			c.note(dst[s] - v[s])
		}
		return c
	})
}

// step sets dst = 𝒮v, makes the policy greedy, and reports whether an action changed.
// The present action stays if its value is within tie of the best value. Rounding must
// move an entry of 𝒮v − v by at most slack.
func (g *greedy) step(dst, v []float64, tie, slack float64, workers int) change {
	g.move(v, slack)
	first := g.end[0] == 0
	return g.x.sweepStates(workers, g.x.p.NNZ(), func(lo, hi int) change {
		c := unchanged
		open := make([]contest, batch)
		rows := make([]candidate, batch*g.x.m)
		for ; lo < hi; lo += batch {
			// Compute the policy's values, and list the pairs that may be better. Then evaluate these pairs and choose.
			n, k := 0, 0
			for s := lo; s < min(lo+batch, hi); s++ {
				present := math.Inf(1)
				if !first {
					present = g.follow(s, v)
				}
				if dst[s] = present; float64(g.rivals[s]) <= present-g.rise {
					open[n] = contest{s, k}
					k += g.candidates(rows[k:], s, present-g.rise)
					n++
				}
			}
			for i := range rows[:k] {
				rows[i].value = g.x.backup(rows[i].pair, v)
			}
			for _, o := range slices.Backward(open[:n]) { // a state's candidates end where the next state's candidates begin
				var changed bool
				dst[o.state], changed = g.choose(o.state, rows[o.first:k], dst[o.state], tie)
				if k = o.first; changed || first {
					g.take(o.state, int(g.actions[o.state]))
				}
				c.actions = c.actions || changed
			}
			for s := lo; s < min(lo+batch, hi); s++ {
				c.note(dst[s] - v[s])
			}
		}
		return c
	})
}

// batch is the number of states in one pass: enough to read many rows from memory at once,
// and few enough to keep the list of candidates in the cache.
const batch = 64

// A contest is a state with candidates; first is the index of its first candidate in the list.
type contest struct{ state, first int }

// candidate is a pair whose action may be the best, and its value c_a(s) + γP_a(s,·)v.
type candidate struct {
	pair  int
	value float64
}

// candidates lists the pairs of s whose entry in g.least is at most limit, and returns their number.
// The list must have room for m candidates.
func (g *greedy) candidates(list []candidate, s int, limit float64) (count int) {
	from := s * g.x.m
	for a, q := range g.least[from:][:g.x.m] { // without a branch, which would be hard to predict
		list[count].pair = from + a
		var is int
		if float64(q) <= limit {
			is = 1
		}
		count += is
	}
	return count
}

// move adds γ min δ to the rise, where δ is v minus the v of the last step. From the rise, it subtracts
// three times the sum of the last slack and the present slack: once for the error of the q that was
// stored, once for the error of the present q, and once for the errors of min δ and of the sums of rows.
func (g *greedy) move(v []float64, slack float64) {
	least := math.Inf(1)
	for s, now := range v {
		if d := now - g.v[s]; d < least {
			least = d
		}
	}
	copy(g.v, v)
	g.rise = math.Nextafter(g.rise+g.x.Gamma()*least-3*(slack+g.slack), math.Inf(-1))
	g.slack = slack
}

// choose returns (𝒮v)(s), given q of the present action and of the candidates. It updates the
// action and the bounds, and reports whether the action changed.
func (g *greedy) choose(s int, list []candidate, present, tie float64) (best float64, changed bool) {
	now := s*g.x.m + int(g.actions[s])
	best, arg := present, now
	for _, c := range list {
		if c.value < best {
			best, arg = c.value, c.pair
		}
		if c.pair == now { // only in the first step
			present = c.value
		}
		g.least[c.pair] = g.bound(c.value)
	}
	if present > best+tie {
		g.least[now] = g.bound(present)
	} else {
		arg = now
	}
	g.least[arg] = float32(math.Inf(1))
	g.actions[s], g.rivals[s] = int32(arg-s*g.x.m), slices.Min(g.least[s*g.x.m:][:g.x.m])
	return best, arg != now
}

// bound returns q − rise, rounded down. Rounding to float32 has a relative error of at
// most 2⁻²⁴ in the normal range, and an absolute error of at most 2⁻¹⁴⁹ below this range.
func (g *greedy) bound(q float64) float32 {
	q -= g.rise
	if q > math.MaxFloat32 {
		q = math.MaxFloat32
	}
	return float32(q - 0x1p-22*math.Abs(q) - 0x1p-148)
}
