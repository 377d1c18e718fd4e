package mixpolicy

import (
	"sync"
)

// What tests see of the state inside.
var (
	EliminationError = eliminationError
	CostWarning      = (*Problem).costWarning
)

// Force makes pair the next one that Sample gives.
func (o *Oracle) Force(pair int) {
	o.used = len(o.drawn) - 1
	o.drawn[o.used] = int32(pair)
}

// Insides is what tests see of a run of [PrimalDual].
type Insides interface {
	Run
	CurrentMultipliers() []float64
	Lazy() bool
	LimitPath(numbers int)
}

// CurrentMultipliers returns λ_t, in units of the scaled cost.
func (a *primalDual) CurrentMultipliers() []float64 {
	dst := make([]float64, a.p.MDP().Pairs())
	a.lambda.current(dst)
	return dst
}

// Lazy tells whether λ is lazy at this moment.
func (a *primalDual) Lazy() bool {
	l, ok := a.lambda.(*lazyMultipliers)
	return ok && !l.dense
}

// LimitPath bounds the path of lazy multipliers.
func (a *primalDual) LimitPath(numbers int) { a.lambda.(*lazyMultipliers).longest = numbers }

// SumOfSquares is that of the counts of a simulation, as its two halves.
func SumOfSquares(counts ...int64) (hi, lo uint64, value float64) {
	var q square
	for _, v := range counts {
		q.add(v)
	}
	return q.hi, q.lo, q.float()
}

// Factored returns the same features with Ψ in factors, as large ones have it.
func (f *Features) Factored() *Features {
	g := *f
	var mu [][]float64
	for j := range f.Dim() {
		mu = append(mu, f.Measure(j).State)
	}
	g.psi = newFactored(f.x, f.base, mu)
	return &g
}

// Split is split, with the parts that it makes, in any order.
func Split(workers, n, terms int) (parts int, cuts [][2]int) {
	var lock sync.Mutex
	parts = split(workers, n, terms, func(_, lo, hi int) {
		lock.Lock()
		defer lock.Unlock()
		cuts = append(cuts, [2]int{lo, hi})
	})
	return parts, cuts
}

// IsFactored tells whether Ψ is in factors.
func (f *Features) IsFactored() bool {
	_, ok := f.psi.(*factored)
	return ok
}

// Improve is a plain greedy step.
func (x *MDP) Improve(dst, v []float64, actions []int32, tie float64) (lo, hi float64, changed bool) {
	c := x.improve(dst, v, actions, tie, 1)
	return c.lo, c.hi, c.actions
}

// Greedy does greedy steps that leave out what is too far behind.
type Greedy struct{ *greedy }

func NewGreedy(x *MDP) Greedy { return Greedy{newGreedy(x)} }

func (g Greedy) Step(dst, v []float64, tie float64, workers int) (lo, hi float64, changed bool) {
	c := g.step(dst, v, tie, g.x.valueRounding()*(largest(g.x.cost)+largest(v)), workers)
	return c.lo, c.hi, c.actions
}

// Rise moves to v and returns the rise.
func (g Greedy) Rise(v []float64, slack float64) float64 {
	g.move(v, slack)
	return g.rise
}

// Alone tells how many states have no action that could be better than the present one,
// whose q is given.
func (g Greedy) Alone(present []float64) int {
	n := 0
	for s, least := range g.rivals {
		if float64(least) > present[s]-g.rise {
			n++
		}
	}
	return n
}

func (g Greedy) Sweep(dst, v []float64) (lo, hi float64) {
	c := g.sweep(dst, v, 1)
	return c.lo, c.hi
}

func (g Greedy) Actions() []int32 { return g.actions }

// Noted is the extremes of some changes.
func Noted(changes ...float64) (lo, hi float64) {
	c := unchanged
	for _, d := range changes {
		c.note(d)
	}
	return c.lo, c.hi
}

// RivalBound is the bound that is kept of a pair with the value q, at a rise of 0.
func RivalBound(q float64) float64 { return float64(new(greedy).bound(q)) }
