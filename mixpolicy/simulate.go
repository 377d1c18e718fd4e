package mixpolicy

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/mixpolicy/lab/mixpolicy/internal/alias"
)

// SimulateSettings controls [Simulate].
type SimulateSettings struct {
	Steps   int    // number of steps, summed over all 64 streams; at least 64
	Seed    uint64 // seed of all streams
	Workers int    // goroutines; 0 means one per CPU. The result does not depend on Workers.
	// Progress, if set, is called after each stream; its argument is the total number of steps of the streams finished
	// so far. Calls do not overlap.
	Progress func(done int)
}

// Empirical is an occupation measure estimated from visits. Only the fields State and Pair of the embedded
// Measure are set.
type Empirical struct {
	Measure
	Visits []int64 // number of visits to each pair, nm entries
	Steps  int     // number of steps of the finished streams; after a cancellation, fewer than requested
	// StateError[s] is the standard error of State[s], estimated from the spread between the
	// streams (0 if only one stream finished).
	StateError []float64
	// MeanCost is an estimate of cᵀξ, and CostError is the standard error of MeanCost, estimated from the
	// spread of the streams' costs (0 if only one stream finished).
	MeanCost, CostError float64
}

// simulationStreams is the number of independent chains that share the steps. It is fixed so
// that the result does not depend on the number of workers; the spread between 64 streams
// gives a standard error that is accurate to about 9 % (1/√(2·63)).
const simulationStreams = 64

// Simulate runs the chain of π and counts visits to state–action pairs. (For Fig. 1, the paper counts
// visits to states.) The steps are distributed over 64 independent streams that start from α. Under
// discounting, a stream restarts from α with probability 1−γ after each step, so visit frequencies
// estimate the discounted measure (2.10). Stream k draws from PCG(Seed, k), so unless the simulation
// is cancelled, the result is the same, bit for bit, for any number of workers. If ctx ends, Simulate
// returns an error together with the result of the finished streams, or with nil if no stream
// finished.
func Simulate(ctx context.Context, x *MDP, p *Policy, set SimulateSettings) (*Empirical, error) {
	if err := x.checkPolicy(p); err != nil {
		return nil, err
	}
	if set.Steps < simulationStreams {
		return nil, fmt.Errorf("mixpolicy: %d simulated steps, want at least one for each of %d streams", set.Steps, simulationStreams)
	}
	sim, err := newSimulator(ctx, x, p)
	if err != nil {
		return nil, err
	}
	if set.Workers <= 0 {
		set.Workers = runtime.GOMAXPROCS(0)
	}

	// Visits are added up as integers, so the order in which streams
	// end does not matter.
	var mu sync.Mutex
	e := &Empirical{Visits: make([]int64, x.Pairs())}
	squares := make([]square, x.n)
	cost, steps := make([]float64, simulationStreams), make([]float64, simulationStreams)
	scratch := sync.Pool{New: func() any { v := make([]int64, x.Pairs()); return &v }}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(set.Workers)
	for k := range simulationStreams {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return stoppedSimulation(err)
			}
			visits := *scratch.Get().(*[]int64)
			clear(visits)
			quota := set.Steps*(k+1)/simulationStreams - set.Steps*k/simulationStreams
			if err := sim.run(ctx, rand.NewPCG(set.Seed, uint64(k)), visits, quota); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			e.Steps += quota
			steps[k] = float64(quota)
			for s := range x.n {
				var here int64
				for i := s * x.m; i < (s+1)*x.m; i++ {
					here += visits[i]
					e.Visits[i] += visits[i]
					cost[k] += x.cost[i] * float64(visits[i]) / float64(quota)
				}
				squares[s].add(here)
			}
			scratch.Put(&visits)
			if set.Progress != nil {
				set.Progress(e.Steps)
			}
			return nil
		})
	}
	err = g.Wait()
	if e.Steps == 0 {
		return nil, err
	}
	e.summarise(x, cost, steps, squares)
	return e, err
}

// square is a sum of squares of counts, stored in 128 bits. The sum is exact, so the order of the
// terms does not matter.
type square struct{ hi, lo uint64 }

func (q *square) add(v int64) {
	hi, lo := bits.Mul64(uint64(v), uint64(v))
	var carry uint64
	q.lo, carry = bits.Add64(q.lo, lo, 0)
	q.hi += hi + carry
}

func (q square) float() float64 { return math.Ldexp(float64(q.hi), 64) + float64(q.lo) }

// summarise turns counts into frequencies and errors.
func (e *Empirical) summarise(x *MDP, cost, steps []float64, squares []square) {
	total := float64(e.Steps)
	e.State, e.Pair = make([]float64, x.n), make([]float64, x.Pairs())
	e.StateError = make([]float64, x.n)
	finished := 0
	for _, w := range steps {
		if w > 0 {
			finished++
		}
	}
	k := float64(finished)
	for s := range x.n {
		var visits float64
		for i := s * x.m; i < (s+1)*x.m; i++ {
			visits += float64(e.Visits[i])
			e.Pair[i] = float64(e.Visits[i]) / total
		}
		e.State[s] = visits / total
		// Let v be the number of visits to s in one of the k finished streams. The estimated variance of v is
		// (Σv² − (Σv)²/k)/(k−1). The variance of the total Σv is k times as great.
		if finished > 1 {
			e.StateError[s] = math.Sqrt(max(0, squares[s].float()-visits*visits/k)/(k-1)*k) / total
		}
	}
	// The weight of a finished stream is its number of steps. These numbers differ by at most 1. An unfinished stream
	// has weight 0.
	e.MeanCost = stat.Mean(cost, steps)
	if finished > 1 {
		var spread float64
		for i, c := range cost {
			if steps[i] > 0 {
				spread += (c - e.MeanCost) * (c - e.MeanCost)
			}
		}
		e.CostError = math.Sqrt(spread / (k - 1) / k)
	}
}

// simulator draws the action and the next state jointly: each state has one table of
// (action, next state), so one draw gives both.
type simulator struct {
	x        *MDP
	start    *alias.Table
	tables   []*alias.Table
	outcomes [][]outcome
}

type outcome struct{ pair, next int32 }

func newSimulator(ctx context.Context, x *MDP, p *Policy) (*simulator, error) {
	sim := &simulator{x: x, tables: make([]*alias.Table, x.n), outcomes: make([][]outcome, x.n)}
	var err error
	if sim.start, err = alias.New(x.initial); err != nil {
		return nil, fmt.Errorf("mixpolicy: initial distribution: %w", err)
	}
	var w []float64
	for s := range x.n {
		if s%1024 == 0 && ctx.Err() != nil {
			return nil, stoppedSimulation(ctx.Err())
		}
		w = w[:0]
		var out []outcome
		for a, pa := range p.Row(s) {
			if pa == 0 {
				continue
			}
			to, prob := x.Next(s, a)
			for k, s2 := range to {
				w = append(w, pa*prob[k])
				out = append(out, outcome{int32(x.Pair(s, a)), s2})
			}
		}
		if sim.tables[s], err = alias.New(w); err != nil {
			return nil, fmt.Errorf("mixpolicy: policy in state %s: %w", x.StateName(s), err)
		}
		sim.outcomes[s] = out
	}
	return sim, nil
}

func stoppedSimulation(err error) error { return fmt.Errorf("mixpolicy: simulation stopped: %w", err) }

// run simulates one stream, and counts each visited pair in visits.
func (sim *simulator) run(ctx context.Context, rng *rand.PCG, visits []int64, steps int) error {
	restart := uint64(0) // the stream restarts if a random 64-bit number is below restart, (1−γ)2⁶⁴; 0 means never
	if !sim.x.criterion.Average() {
		restart = math.MaxUint64
		if stop := 1 - sim.x.Gamma(); stop < 1 { // 1−γ rounds to 1 if γ ≤ 2⁻⁵⁴
			restart = uint64(math.Ldexp(stop, 64))
		}
	}
	s := sim.start.Draw(rng)
	const batch = 1 << 16 // a millisecond or two between checks of the context
	for step := range steps {
		if step%batch == 0 {
			if err := ctx.Err(); err != nil {
				return stoppedSimulation(err)
			}
		}
		o := sim.outcomes[s][sim.tables[s].Draw(rng)]
		visits[o.pair]++
		s = int(o.next)
		if restart > 0 && rng.Uint64() < restart {
			s = sim.start.Draw(rng)
		}
	}
	return nil
}
