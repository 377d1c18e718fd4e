package mixpolicy_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// Multilevel against elimination on random MDPs and networks, under both criteria,
// with states that carry no mass.
func TestMultilevelAgainstElimination(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		criterion := mixpolicy.AverageCost
		if rapid.Bool().Draw(t, "discounted") {
			criterion = mixpolicy.Discounted(rapid.Float64Range(.5, .9999).Draw(t, "γ"))
		}
		var x *mixpolicy.MDP
		var p *mixpolicy.Policy
		var err error
		if rapid.Bool().Draw(t, "network") {
			w := models.Network{Buffers: [4]int{5, 3, 3, 4}, Criterion: criterion, Dynamics: rapid.SampledFrom([]models.Dynamics{models.IndependentEvents, models.PhantomJobs, models.OneEvent}).Draw(t, "dynamics")}
			if x, err = w.MDP(); err == nil {
				p, err = w.Policy(x, rapid.SampledFrom(models.Rules()).Draw(t, "rule"))
			}
		} else {
			x, err = models.Garnet{States: rapid.IntRange(1, 400).Draw(t, "n"), Actions: 2, Branches: 1, Ring: true, Criterion: criterion}.MDP()
			if err == nil {
				p = mixpolicy.UniformPolicy(x)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		want, err := mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Elimination})
		if err != nil {
			t.Fatal(err)
		}
		got, err := mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel})
		if err != nil {
			t.Fatal(err)
		}
		if got.Residual > 1e-12 {
			t.Fatalf("residual %v", got.Residual)
		}
		// A residual of 1e-12, times a mixing time of some 10³ steps in these networks.
		if off := floats.Distance(got.State, want.State, 1); off > 2*got.Error+1e-12 || off > 1e-9 {
			t.Fatalf("error %v, estimated %v", off, got.Error)
		}
		for i, v := range want.Pair {
			// Under discounting a state that is never reached may keep the 2⁻¹⁰⁰⁰ that
			// multilevel gives every state.
			if v == 0 && got.Pair[i] > 1e-290 {
				t.Fatalf("pair %d has mass %v, want none", i, got.Pair[i])
			}
		}
	})
}

// A queue of 20,000 lengths that hardly drifts: the mixing time is above 10⁷, and
// sweeps would take millions.
func TestMultilevelOnALongQueue(t *testing.T) {
	const n = 20_000
	x, err := models.Queue{Buffer: n, Arrival: .5, Rates: []float64{.5005}}.MDP()
	if err != nil {
		t.Fatal(err)
	}
	chain := models.BirthDeath{Up: make([]float64, n-1), Down: make([]float64, n-1)}
	for k := range chain.Up {
		chain.Up[k], chain.Down[k] = .5/1.0005, .5005/1.0005
	}
	want, err := chain.Stationary()
	if err != nil {
		t.Fatal(err)
	}
	got, err := mixpolicy.Occupation(context.Background(), x, mixpolicy.UniformPolicy(x), mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel, Tolerance: 1e-14})
	if err != nil {
		t.Fatal(err)
	}
	off := floats.Distance(got.State, want, 1)
	if got.Sweeps > 1000 || off > 2*got.Error+1e-9 || off > 1e-7 {
		t.Errorf("error %.2g, estimated %.2g, after %d sweeps", off, got.Error, got.Sweeps)
	}
}

// A start near the solution saves sweeps, for a measure of the same quality.
func TestWarmStart(t *testing.T) {
	w := models.Network{Buffers: [4]int{9, 7, 7, 9}}
	x, err := w.MDP()
	if err != nil {
		t.Fatal(err)
	}
	base, err := w.Policies(x, models.Longer, models.AnyQueue)
	if err != nil {
		t.Fatal(err)
	}
	near, err := mixpolicy.Mixture([]float64{.99, .01}, base...)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, method := range []mixpolicy.MeasureMethod{mixpolicy.Multilevel, mixpolicy.GaussSeidel} {
		set := mixpolicy.MeasureSettings{Method: method, Tolerance: 1e-10}
		cold, err := mixpolicy.Occupation(ctx, x, base[0], set)
		if err != nil {
			t.Fatal(err)
		}
		m, err := mixpolicy.Occupation(ctx, x, near, set)
		if err != nil {
			t.Fatal(err)
		}
		set.Start = m.State
		warm, err := mixpolicy.Occupation(ctx, x, base[0], set)
		if err != nil {
			t.Fatal(err)
		}
		if warm.Sweeps >= cold.Sweeps || warm.Residual > 1e-10 {
			t.Errorf("%v: %d sweeps from near, %d from far", method, warm.Sweeps, cold.Sweeps)
		}
	}
	for _, bad := range [][]float64{{1}, append(make([]float64, x.States()-1), math.NaN()), append(make([]float64, x.States()-1), -1)} {
		if _, err := mixpolicy.Occupation(ctx, x, base[0], mixpolicy.MeasureSettings{Start: bad}); err == nil || !strings.Contains(err.Error(), "Start") {
			t.Errorf("start %v…: error %v", bad[0], err)
		}
	}
}

func TestMultilevelStops(t *testing.T) {
	w := models.Network{Buffers: [4]int{9, 7, 7, 9}}
	x, err := w.MDP()
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Policy(x, models.Longer)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m, err := mixpolicy.Occupation(ctx, x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel, Progress: func(sweeps int, r float64) {
		if sweeps > 20 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || m == nil || math.Abs(floats.Sum(m.State)-1) > 1e-12 || m.Sweeps < 20 {
		t.Errorf("cancelled: error %v, measure %+v", err, m != nil)
	}
	if m, err = mixpolicy.Occupation(context.Background(), x, p, mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel, MaxSweeps: 15}); err == nil || m == nil {
		t.Errorf("15 sweeps are enough: %v", err)
	}
}

// The stationary measure of the network of 1,028,196 states to a residual of 1e-10, from
// the uniform measure, and from that of a policy that serves another queue once in ten
// thousand times.
func BenchmarkStationary(b *testing.B) {
	w := models.Network{}
	x, err := w.MDP()
	if err != nil {
		b.Fatal(err)
	}
	other := mixpolicy.Must(w.Policy(x, models.AnyQueue))
	for _, rule := range []models.Rule{models.Longer, models.LastBuffer} {
		p := mixpolicy.Must(w.Policy(x, rule))
		set := mixpolicy.MeasureSettings{Method: mixpolicy.Multilevel, Tolerance: 1e-10}
		run := func(name string, set mixpolicy.MeasureSettings) {
			b.Run(rule.String()+"/"+name, func(b *testing.B) {
				for b.Loop() {
					m, err := mixpolicy.Occupation(b.Context(), x, p, set)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(m.Sweeps), "sweeps")
				}
			})
		}
		run("uniform", set)
		near := mixpolicy.Must(mixpolicy.Mixture([]float64{1 - 1e-4, 1e-4}, p, other))
		set.Start = mixpolicy.Must(mixpolicy.Occupation(b.Context(), x, near, set)).State
		run("near", set)
	}
}
