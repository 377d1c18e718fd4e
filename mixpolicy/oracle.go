package mixpolicy

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
)

// Oracle is the sampling oracle of assumption (A.3), and the only source of costs for a
// method. It counts the queries. An Oracle belongs to one run.
type Oracle struct {
	f       *Features
	rng     *rand.PCG
	table   *alias.Table
	queries int

	noise  func(*rand.Rand) float64 // added to each cost, or nil
	noises *rand.Rand               // the generator of the noise: separate, so noise does not change the pairs

	// Pairs are drawn in batches, together with the data that a step reads about them. For large
	// models, each read is a cache miss, and independent misses together take as long as one miss.
	drawn   [64]int32
	used    int
	row     []float64
	fetched float64 // a sum that prevents the compiler from removing the reads
}

// NewOracle returns an oracle for p that draws pairs from PCG(seed, stream), and the noise of
// costs ([Problem.WithNoise]) from PCG(seed, ^stream).
func NewOracle(p *Problem, seed, stream uint64) (*Oracle, error) {
	if p == nil || p.f == nil {
		return nil, errors.New("mixpolicy: oracle without a problem, want one from NewProblem")
	}
	table, err := p.f.draw()
	if err != nil {
		return nil, fmt.Errorf("mixpolicy: sampling distribution: %w", err)
	}
	o := &Oracle{f: p.f, rng: rand.NewPCG(seed, stream), table: table, row: make([]float64, p.Dim())}
	o.used = len(o.drawn)
	if o.noise = p.noise; o.noise != nil {
		o.noises = rand.New(rand.NewPCG(seed, ^stream))
	}
	return o, nil
}

// Sample performs steps (1) and (2) of Algorithm 1: it draws a pair from q and reveals the
// pair's cost. By default, q = (1/d) Σ ψⁱ: i is uniform in {1, …, d}, and the pair is drawn
// from ψⁱ. (Section 3.1 prints {0, 1, …, d}.) Sample returns the pair's index s·m + a and the
// cost.
func (o *Oracle) Sample() (pair int, cost float64) {
	if o.used == len(o.drawn) {
		o.draw()
	}
	pair = int(o.drawn[o.used])
	o.used++
	return pair, o.reveal(pair)
}

// reveal returns the cost of a pair, with the problem's noise.
func (o *Oracle) reveal(pair int) float64 {
	o.queries++
	if o.noise == nil {
		return o.f.x.cost[pair]
	}
	return o.f.x.cost[pair] + o.noise(o.noises)
}

func (o *Oracle) draw() {
	for k := range o.drawn {
		o.drawn[k] = int32(o.table.Draw(o.rng))
	}
	o.used, o.fetched = 0, 0
	for _, pair := range o.drawn {
		o.f.Row(o.row, int(pair))
		o.fetched += o.f.sampling[pair] + o.f.x.cost[pair] + o.row[0]
	}
}

// Query reveals the cost of (s, a) and a next state s′ ~ P_a(s, ·), as in (A.3)(iii).
func (o *Oracle) Query(s, a int) (cost float64, next int) {
	return o.reveal(s*o.f.x.m + a), o.next(s, a)
}

// Transition does what Sample does, and also reveals a next state s′ ~ P_a(s, ·). The result is like an entry of a log of
// the base policies, for methods that know neither P nor Ψ.
func (o *Oracle) Transition() (pair int, cost float64, next int) {
	pair, cost = o.Sample()
	return pair, cost, o.next(pair/o.f.x.m, pair%o.f.x.m)
}

// next draws s′ ~ P_a(s, ·).
func (o *Oracle) next(s, a int) (next int) {
	to, prob := o.f.x.Next(s, a)
	u := float64(o.rng.Uint64()>>11) * 0x1p-53
	for k, v := range prob {
		next = int(to[k]) // the last state if rounding leaves u ≥ 0
		if u -= v; u < 0 {
			break
		}
	}
	return next
}

// Rand returns the generator of the run, for methods that draw more than pairs.
func (o *Oracle) Rand() *rand.PCG { return o.rng }

// Queries returns the number of revealed costs.
func (o *Oracle) Queries() int { return o.queries }
