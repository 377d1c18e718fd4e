package mixpolicy

import "math"

// greedy is a greedy policy, and what makes the next greedy step a short one: it
// leaves out actions that are too far behind the best one to have caught up (temporary
// elimination: Hastings and van Nunen 1977). The result is the same to the bit. With
//
//	Δ(s,a) = c_a(s) + γP_a(s,·)v − (𝒮v)(s),
//
// a change of v by δ lowers Δ by at most γ(max δ − min δ), as rows add up to 1. These
// spans are added up in a debt, and a pair keeps Δ plus the debt of the time when Δ
// was computed: it is left out while that is above the present debt. Soon most states
// have one action left, whose rows are held side by side.
type greedy struct {
	x       *MDP
	actions []int32

	start []int // of the place of state s in col and val, which has room for the longest of its rows
	end   []int // of its present row
	col   []int32
	val   []float64
	cost  []float64

	debt   float64
	due    []float32 // of each pair: Δ + debt, rounded down. Few digits are enough.
	rivals []float32 // the least due of the other actions in a state
	v      []float64 // of the last step
	slack  float64   // of it: how far rounding moves an entry of 𝒮v − v
}

func newGreedy(x *MDP) *greedy {
	g := &greedy{
		x: x, actions: make([]int32, x.n),
		start: make([]int, x.n), end: make([]int, x.n), cost: make([]float64, x.n),
		due: make([]float32, x.Pairs()), rivals: make([]float32, x.n), v: make([]float64, x.n),
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
	limit := g.move(v, slack) + tie
	first := g.end[0] == 0
	return g.x.sweepStates(workers, g.x.p.NNZ(), func(lo, hi int) change {
		c := unchanged
		scratch := make([]candidate, g.x.m+1)
		for s := lo; s < hi; s++ {
			if float64(g.rivals[s]) > limit {
				dst[s] = g.follow(s, v)
			} else {
				best, changed := g.compare(s, v, scratch, limit, tie)
				if changed || first {
					g.take(s, int(g.actions[s]))
				}
				dst[s], c.actions = best, c.actions || changed
			}
			c.note(dst[s] - v[s])
		}
		return c
	})
}

// move takes the change to v into account, and returns the debt. A computed Δ is a
// difference of two numbers that rounding may have moved by slack each, then and now;
// and so are the extremes of δ, at most.
func (g *greedy) move(v []float64, slack float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for s, now := range v {
		d := now - g.v[s]
		lo, hi = min(lo, d), max(hi, d)
	}
	copy(g.v, v)
	g.debt = math.Nextafter(g.debt+g.x.Gamma()*(hi-lo)+3*(slack+g.slack), math.Inf(1))
	g.slack = slack
	return g.debt
}

// compare returns (𝒮v)(s), and chooses the action. The scratch is of length m + 1.
func (g *greedy) compare(s int, v []float64, scratch []candidate, limit, tie float64) (best float64, changed bool) {
	now := int(g.actions[s])
	due := g.due[s*g.x.m:][:g.x.m]
	// The candidates are listed first, without a branch that is hard to predict: then
	// their rows are fetched at the same time.
	count, rivals := 0, float32(math.MaxFloat32)
	for a, d := range due {
		scratch[count].action = a
		var is int
		if float64(d) <= limit {
			is = 1
		}
		if a == now {
			is = 1
		}
		count += is
	}
	best, arg := math.Inf(1), now
	var kept float64
	for k := range scratch[:count] {
		c := &scratch[k]
		c.value = g.x.backup(s*g.x.m+c.action, v)
		if c.value < best {
			best, arg = c.value, c.action
		}
		if c.action == now {
			kept = c.value
		}
	}
	if !(kept > best+tie) {
		arg = now
	}
	for _, c := range scratch[:count] {
		due[c.action] = float32(min(math.MaxFloat32, (c.value-best+g.debt)*(1-0x1p-22)))
	}
	for a, d := range due {
		if a != arg {
			rivals = min(rivals, d)
		}
	}
	g.actions[s], g.rivals[s] = int32(arg), rivals
	return best, arg != now
}

// candidate is an action that may be the best one.
type candidate struct {
	action int
	value  float64
}
