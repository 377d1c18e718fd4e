package models

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/mixpolicy"
)

// streams is the number of independent runs of [Network.Simulate].
const streams = 32

// Simulate simulates the network under the policy p, step by step. It returns the mean cost per step in each of 32
// independent runs of the given number of steps. Simulate does not use the transition matrix of the MDP, so the result
// is an independent check of the matrix.
//
// A run starts with the empty network. Before the steps that count, the run takes equally many steps whose costs are
// discarded. If the number of steps is a large multiple of the mixing time of the policy's chain, the bias that the
// start causes is small compared with the width of a confidence interval for the mean cost. The random numbers of run k
// come from PCG(seed, k), so the result does not depend on the number of processors.
func (w Network) Simulate(ctx context.Context, p *mixpolicy.Policy, steps int, seed uint64) ([]float64, error) {
	w, err := w.complete()
	if err != nil {
		return nil, err
	}
	if steps < 1 {
		return nil, fmt.Errorf("models: network: %d simulated steps, want at least 1", steps)
	}
	means := make([]float64, streams)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range means {
		g.Go(func() (err error) {
			means[k], err = w.simulate(ctx, p, steps, rand.New(rand.NewPCG(seed, uint64(k))))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("models: network: simulation stopped: %w", err)
	}
	return means, nil
}

func (w Network) simulate(ctx context.Context, p *mixpolicy.Policy, steps int, rng *rand.Rand) (mean float64, err error) {
	g := w.grid()
	var x [4]int
	var total float64
	const check = 1 << 20 // ctx is checked once in this number of steps, or about every 50 ms
	for t := range 2 * steps {
		if t%check == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if t >= steps {
			for i, length := range x {
				total += w.Holding[i] * float64(length)
			}
		}
		u, a := rng.Float64(), 0
		for row := p.Row(g.index(x)); a < 3 && u >= row[a]; a++ {
			u -= row[a]
		}
		w.step(&x, a, rng)
	}
	return total / float64(steps), nil
}

func (w Network) step(x *[4]int, a int, rng *rand.Rand) {
	first, second := serves(a)
	before := *x
	serve := func(i int) {
		if before[i] == 0 && w.Dynamics != PhantomJobs {
			return
		}
		x[i]--
		if k := downstream[i]; k >= 0 {
			x[k]++
		}
	}
	if w.Dynamics == OneEvent {
		u := rng.Float64()
		happens := func(p float64) bool { u -= p; return u < 0 }
		switch {
		case happens(w.Arrival[0]):
			x[0]++
		case happens(w.Arrival[1]):
			x[2]++
		case happens(w.Service[first]):
			serve(first)
		case happens(w.Service[second]):
			serve(second)
		}
	} else {
		if rng.Float64() < w.Arrival[0] {
			x[0]++
		}
		if rng.Float64() < w.Arrival[1] {
			x[2]++
		}
		if rng.Float64() < w.Service[first] {
			serve(first)
		}
		if rng.Float64() < w.Service[second] {
			serve(second)
		}
	}
	for i := range x {
		x[i] = min(max(x[i], 0), w.Buffers[i])
	}
}
