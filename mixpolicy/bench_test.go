package mixpolicy_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// queue returns (2.18) for the queue of section 6 with the given buffer.
func queue(tb testing.TB, buffer int, class mixpolicy.Class) *mixpolicy.Problem {
	tb.Helper()
	q := models.Queue{Buffer: buffer}
	x := mixpolicy.Must(q.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(tb.Context(), x, mixpolicy.Must(q.Policies(x))...))
	return mixpolicy.Must(mixpolicy.NewProblem(psi, class))
}

// start starts a method on stream 0 of seed 1.
func start(tb testing.TB, p *mixpolicy.Problem, m mixpolicy.Method) mixpolicy.Run {
	tb.Helper()
	return startOn(tb, p, m, mixpolicy.Must(mixpolicy.NewOracle(p, 1, 0)))
}

func startOn(tb testing.TB, p *mixpolicy.Problem, m mixpolicy.Method, o *mixpolicy.Oracle) mixpolicy.Run {
	tb.Helper()
	return mixpolicy.Must(m.Start(p, o))
}

// advance takes n steps.
func advance(tb failer, m mixpolicy.Run, n int) {
	tb.Helper()
	for range n {
		if err := m.Step(); err != nil {
			tb.Fatalf("%v", err)
		}
	}
}

// view returns the state of a run.
func view(tb failer, m mixpolicy.Run) (s mixpolicy.Snapshot) {
	tb.Helper()
	if err := m.View(&s); err != nil {
		tb.Fatalf("%v", err)
	}
	return s
}

// cMax is the greatest cost of the queue, 100² + 60·0.8³.
const cMax = 100*100 + 60*0.8*0.8*0.8

func BenchmarkStep(b *testing.B) {
	section6 := func() *mixpolicy.Problem { return queue(b, 100, mixpolicy.Ball(2)) }
	bench := func(name string, p func() *mixpolicy.Problem, m mixpolicy.Method) {
		b.Run(name, func(b *testing.B) {
			run := start(b, p(), m)
			b.ReportAllocs()
			for b.Loop() {
				if err := run.Step(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	const dense, lazy = mixpolicy.DenseMultipliers, mixpolicy.LazyMultipliers
	bench("queue/dense", section6, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: dense})
	bench("queue/lazy", section6, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: lazy})
	bench("queue/dense, ball", section6, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: dense, Beta: 5})
	bench("queue/lazy, ball", section6, mixpolicy.PrimalDual{CostScale: cMax, Multipliers: lazy, Beta: 5})
	bench("queue/printed", section6, mixpolicy.PrimalDual{Modulus: bregman.Cube(2), CostScale: 1e8, Form: mixpolicy.Printed, StepSize: mixpolicy.Constant(1e-6)})
	bench("queue/penalty", section6, mixpolicy.Penalty{CostScale: cMax})
	bench("queue/plug-in", section6, mixpolicy.PlugIn{})
	for _, d := range []int{2, 4, 16} {
		for _, n := range []int{10, 100, 1000, 10_000, 100_000, 1_000_000} {
			if n*d > 2_000_000 {
				continue
			}
			p := func() *mixpolicy.Problem { return geometricProblem(b, n, d) }
			bench(fmt.Sprintf("lazy/d=%d/n=%d", d, n), p, mixpolicy.PrimalDual{Multipliers: lazy})
			if n <= 1000 {
				bench(fmt.Sprintf("dense/d=%d/n=%d", d, n), p, mixpolicy.PrimalDual{Multipliers: dense})
			}
		}
	}
}

// geometricProblem has d measures on n states, one action: mixtures of a geometric
// distribution of its own and the uniform one, as a birth–death chain has, and costs
// that rise with the state.
func geometricProblem(tb testing.TB, n, d int) *mixpolicy.Problem {
	x := walk(n, mixpolicy.AverageCost, func(s int) transitions { return transitions{{To: (s + 1) % n, P: 1}} })
	cost := make([]float64, n)
	for s := range cost {
		cost[s] = float64(s) / float64(n)
	}
	x = mixpolicy.Must(x.WithCosts(cost))
	columns := make([][]float64, d)
	for j := range columns {
		columns[j] = make([]float64, n)
		for s := range columns[j] {
			columns[j][s] = math.Pow(1-float64(5*j)/float64(n*d), float64(s))
		}
		floats.Scale(1/floats.Sum(columns[j]), columns[j])
	}
	return mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, columns...)), mixpolicy.Ball(2)))
}
