package mixpolicy

import (
	"math"
	"slices"
)

// greedy is a greedy policy, and what makes the next greedy step a short one: it
// leaves out actions that can't have become better than the present one (temporary
// elimination: Hastings and van Nunen 1977). The result is the same to the bit. With
//
//	q(s,a) = c_a(s) + γP_a(s,·)v,
//
// a change of v by δ raises q by at least γ min δ, as rows add up to 1. These numbers are
// added up in a rise, and a pair keeps q less the rise of the time when q was computed:
// with the present rise added that is a lower bound, and the pair is left out while it is
// above the present q of the policy's action. Soon most states have one action left, whose
// rows are held side by side.
type greedy struct {
	x       *MDP
	actions []int32

	start []int // of the place of state s in col and val, which has room for the longest of its rows
	end   []int // of its present row
	col   []int32
	val   []float64
	cost  []float64

	rise   float64   // Σ γ min δ, rounded down
	least  []float32 // of each pair: q − rise, rounded down; +∞ for the policy's. Few digits are enough.
	rivals []float32 // the least of these in a state
	v      []float64 // of the last step
	slack  float64   // of it: how far rounding moves an entry of 𝒮v − v
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
	unknown := float32(math.Inf(-1))
	for i := range g.least {
		g.least[i] = unknown
	}
	for s := range g.rivals {
		g.rivals[s] = unknown
	}
	return g
}

// take makes a the action of s.
func (g *greedy) take(s, a int) {
	i := s*g.x.m + a
	col, val := g.x.p.Row(i)
	copy(g.col[g.start[s]:], col)
	copy(g.val[g.start[s]:], val)
	g.end[s], g.cost[s] = g.start[s]+len(col), g.x.cost[i]
	g.actions[s] = int32(a)
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

// step sets dst = 𝒮v, makes the policy greedy, and tells whether an action changed. An
// action that is within tie of the best one stays. Rounding moves an entry of 𝒮v − v
// by at most slack.
func (g *greedy) step(dst, v []float64, tie, slack float64, workers int) change {
	g.move(v, slack)
	first := g.end[0] == 0
	return g.x.sweepStates(workers, g.x.p.NNZ(), func(lo, hi int) change {
		c := unchanged
		open := make([]contest, batch)
		rows := make([]candidate, batch*g.x.m+1)
		for ; lo < hi; lo += batch {
			// The policy's values, and the pairs that may be better; their values; the choices.
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
			for _, o := range slices.Backward(open[:n]) { // a list ends where the next begins
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

// batch is how many states are looked at together: enough for the memory to be asked for
// many of their rows at once, and few enough for the list of these to stay at hand.
const batch = 64

// contest is a state in which more than one action may be the best, and the first of its
// candidates in the list.
type contest struct{ state, first int }

// candidate is a pair whose action may be the best one, and c_a(s) + γP_a(s,·)v.
type candidate struct {
	pair  int
	value float64
}

// candidates lists the pairs of s whose bound is at most the limit, and returns how many they
// are. The list has room for m + 1.
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

// move takes the change to v into account. A computed q may be off by slack, then and now;
// and so may be the least δ, and the sums of rows with it.
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

// choose returns (𝒮v)(s), given q of the present action and of the candidates, and takes note
// of the action and of the bounds.
func (g *greedy) choose(s int, list []candidate, present, tie float64) (best float64, changed bool) {
	now := s*g.x.m + int(g.actions[s])
	best, arg := present, now
	for _, c := range list {
		if c.value < best {
			best, arg = c.value, c.pair
		}
		if c.pair == now { // in the first step
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

// bound returns q − rise, rounded down: a float32 is within 2⁻²⁴ of a number, or 2⁻¹⁴⁹.
func (g *greedy) bound(q float64) float32 {
	q -= g.rise
	if q > math.MaxFloat32 {
		q = math.MaxFloat32
	}
	return float32(q - 0x1p-22*math.Abs(q) - 0x1p-148)
}
