package mixpolicy

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
)

// Oracle is the sampling oracle of assumption (A.3). A method that learns the costs sees them only through
// the oracle; a method for known costs does not use it. An Oracle counts its queries, and belongs to one run.
type Oracle struct {
	f       *Features
	rng     *rand.PCG
	table   *alias.Table
	queries int

	noise  func(*rand.Rand) float64 // draws the number that is added to each revealed cost; nil for no noise
	noises *rand.Rand               // generates the noise; separate from rng, so that noise does not change the pairs

	// Pairs are drawn in batches, and drawing a batch also reads the data that the steps will need. For large
	// models, each read is a cache miss, and independent misses together take about as long as one miss.
	drawn   [64]int32
	used    int
	row     []float64
	fetched float64 // the sum of the data read; without this sum, the compiler would remove the reads
}

// NewOracle returns an oracle for p. The oracle draws pairs and next states with the generator
// PCG(seed, stream). If p has noise (see [Problem.WithNoise]), the oracle draws this noise with PCG(seed, ^stream).
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

// Sample performs steps (1) and (2) of Algorithm 1: it draws a pair from q and reveals the pair's cost. By
// default, q = (1/d) Σ ψⁱ: the pair is drawn from ψⁱ for an i that is uniform in {1, …, d}. (Section 3.1
// prints {0, 1, …, d}.) Sample returns the pair's index s·m + a and the cost.
func (o *Oracle) Sample() (pair int, cost float64) {
	if o.used == len(o.drawn) {
		o.draw()
	}
	pair = int(o.drawn[o.used])
	o.used++
	return pair, o.reveal(pair)
}

// reveal counts a query, and returns the cost of the pair plus the problem's noise.
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

// Query reveals the cost of (s, a) and a next state s′ ~ P_a(s, ·), as in assumption (A.3)(iii).
func (o *Oracle) Query(s, a int) (cost float64, next int) {
	return o.reveal(s*o.f.x.m + a), o.next(s, a)
}

// Transition does what Sample does, and also reveals a next state s′ ~ P_a(s, ·). It is for methods that know
// neither P nor Ψ: with the default q, each result is like one entry in a log of what the base policies did.
func (o *Oracle) Transition() (pair int, cost float64, next int) {
	pair, cost = o.Sample()
	return pair, cost, o.next(pair/o.f.x.m, pair%o.f.x.m)
}

// next draws s′ ~ P_a(s, ·).
func (o *Oracle) next(s, a int) (next int) {
	to, prob := o.f.x.Next(s, a)
	u := float64(o.rng.Uint64()>>11) * 0x1p-53
	for k, v := range prob {
		next = int(to[k]) // if rounding leaves u ≥ 0 throughout, the last state is the result
		if u -= v; u < 0 {
			break
		}
	}
	return next
}

// Rand returns the generator that draws the pairs and the next states, for methods that need other random numbers too.
func (o *Oracle) Rand() *rand.PCG { return o.rng }

// Queries returns the number of costs revealed so far.
func (o *Oracle) Queries() int { return o.queries }
