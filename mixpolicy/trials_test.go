package mixpolicy_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Trials are the same to the bit for any number of workers, and trial k is the run on
// stream k.
func TestTrialsWorkers(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	method := mixpolicy.PrimalDual{CostScale: .1}
	var first *mixpolicy.Trials
	for _, workers := range []int{1, 2, 5} {
		got, err := mixpolicy.RunTrials(context.Background(), p, method, mixpolicy.TrialSettings{Trials: 7, Iterations: 500, Seed: 4, Workers: workers, Certify: true})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Errorf("%d workers give other results than one", workers)
		}
	}
	for k, r := range first.Results {
		var h mixpolicy.History
		want, err := mixpolicy.Solve(context.Background(), p, method, mixpolicy.Settings{Iterations: 500, Seed: 4, Stream: uint64(k), Recorder: &h})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r, want) || !reflect.DeepEqual(first.Runs[k], &h) {
			t.Errorf("trial %d is not the run on stream %d", k, k)
		}
	}
	if first.Method != "primal–dual" || !slices.Equal(first.Iteration, first.Runs[3].Iteration) {
		t.Errorf("%s, %v", first.Method, first.Iteration)
	}
}

// The first failing trial ends the trials, by its number; on cancellation the finished
// ones are there.
func TestTrialsFail(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	plain := mixpolicy.PlugIn{}
	_, err := mixpolicy.RunTrials(context.Background(), p, plain, mixpolicy.TrialSettings{Iterations: 1})
	wantError(t, err, "0 trials, want at least 1")
	_, err = mixpolicy.RunTrials(context.Background(), p, plain, mixpolicy.TrialSettings{Trials: 1})
	wantError(t, err, "trial 0", "0 iterations")
	_, err = mixpolicy.RunTrials(context.Background(), p, mixpolicy.PrimalDual{Beta: -1}, mixpolicy.TrialSettings{Trials: 3, Iterations: 1, Workers: 1})
	wantError(t, err, "trial 0", "β = -1")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var done atomic.Int64
	got, err := mixpolicy.RunTrials(ctx, p, plain, mixpolicy.TrialSettings{
		Trials: 50, Iterations: 20, Workers: 1,
		Progress: func(k, total int) {
			if total != 50 {
				t.Errorf("total %d", total)
			}
			if done.Store(int64(k)); k == 3 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	if got == nil || len(got.Runs) != 3 || len(got.Results) != 3 || done.Load() != 3 {
		t.Errorf("%d trials finished, want 3", done.Load())
	}
}

// A band is the mean and Student's interval of the curves, iteration by iteration.
func TestBand(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	trials, err := mixpolicy.RunTrials(context.Background(), p, mixpolicy.Penalty{},
		mixpolicy.TrialSettings{Trials: 6, Iterations: 100, Schedule: mixpolicy.Every(25)})
	if err != nil {
		t.Fatal(err)
	}
	merit := mixpolicy.Must(p.MeritCurve())
	for name, curve := range map[string]mixpolicy.Curve{"cost": mixpolicy.CostCurve, "violation": mixpolicy.ViolationCurve, "θ₁": mixpolicy.ThetaCurve(0), "merit": merit} {
		band := trials.Band(curve, .9)
		if !slices.Equal(band.Iteration, []int{0, 25, 50, 75, 100}) || band.Trials != 6 || band.Confidence != .9 {
			t.Errorf("%+v", band)
		}
		for i := range band.Iteration {
			var x []float64
			for _, h := range trials.Runs {
				x = append(x, curve(h)[i])
			}
			iv := mixpolicy.TInterval(x, .9)
			if band.Mean[i] != iv.Mean || band.Lo[i] != iv.Lo || band.Hi[i] != iv.Hi || band.Std[i] != iv.Std {
				t.Errorf("%s at %d: %v, want %v", name, band.Iteration[i], band.Mean[i], iv)
			}
		}
		final := trials.Final(curve)
		for k, h := range trials.Runs {
			if y := curve(h); final[k] != y[len(y)-1] {
				t.Errorf("final %s of trial %d is %v", name, k, final[k])
			}
		}
	}
	for k, h := range trials.Runs {
		for i, theta := range h.Average {
			want := mixpolicy.Must(p.Merit(theta))
			if got := merit(h)[i]; math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
				t.Errorf("trial %d: merit %v at %d, want %v", k, got, h.Iteration[i], want)
			}
		}
	}
}

// The quantiles of Student's distribution, from the tables in any textbook.
func TestTIntervalTable(t *testing.T) {
	for _, c := range []struct {
		n          int
		confidence float64
		quantile   float64
	}{
		{2, .95, 12.706}, {3, .95, 4.303}, {5, .95, 2.776}, {10, .95, 2.262}, {20, .95, 2.093}, {31, .95, 2.042},
		{2, .99, 63.657}, {10, .99, 3.250}, {5, .90, 2.132}, {121, .99, 2.617},
	} {
		x := make([]float64, c.n)
		var mean, squares float64
		for i := range x {
			x[i] = float64(i * i)
			mean += x[i] / float64(c.n)
		}
		for _, v := range x {
			squares += (v - mean) * (v - mean)
		}
		half := c.quantile * math.Sqrt(squares/float64(c.n-1)/float64(c.n))
		iv := mixpolicy.TInterval(x, c.confidence)
		const digits = .0005 / 2 // of the table, relative to a quantile of 2 or more
		if math.Abs(iv.Mean-mean) > 1e-12*mean || math.Abs(iv.Hi-mean-half) > digits*half || math.Abs(mean-iv.Lo-half) > digits*half || iv.N != c.n {
			t.Errorf("n = %d: %v, want %v ± %v", c.n, iv, mean, half)
		}
	}
	if s := (mixpolicy.Interval{Mean: 1.5, Lo: 1, Hi: 2}).String(); s != "1.5 [1, 2]" {
		t.Errorf("String gives %q", s)
	}
	if iv := mixpolicy.TInterval([]float64{3}, .95); iv.Mean != 3 || !math.IsInf(iv.Lo, -1) || !math.IsInf(iv.Hi, 1) {
		t.Errorf("one value: %v", iv)
	}
}

// On normal data the interval covers the mean as often as it says: of N intervals
// √(p(1−p)/N) is the standard error, and five of them are missed once in 10⁶.
func TestTIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, runs, p = 5, 4000, .95
	covered := 0.
	x := make([]float64, n)
	for range runs {
		for i := range x {
			x[i] = 7 + 2*rng.NormFloat64()
		}
		if iv := mixpolicy.TInterval(x, p); iv.Lo <= 7 && 7 <= iv.Hi {
			covered += 1. / runs
		}
	}
	if tolerance := 5 * math.Sqrt(p*(1-p)/runs); math.Abs(covered-p) > tolerance {
		t.Errorf("%v of the intervals cover the mean, want %v ± %v", covered, p, tolerance)
	}
}

// The bootstrap of three values, against its 27 equally likely resamples. The quantile
// levels 0.08, 0.2, 0.8 and 0.92 are further than six standard errors of 9,999 draws, at
// most 6·√(¼/9999) = 0.03, from the steps of the distribution.
func TestBootstrapEnumerated(t *testing.T) {
	x := []float64{0, 1, 10}
	var means []float64
	for _, a := range x {
		for _, b := range x {
			for _, c := range x {
				means = append(means, (a+b+c)/3)
			}
		}
	}
	slices.Sort(means)
	for _, confidence := range []float64{.6, .84} {
		lo := means[int(27*(1-confidence)/2)]
		hi := means[int(27*(1+confidence)/2)]
		iv := mixpolicy.BootstrapInterval(x, confidence, 3)
		if math.Abs(iv.Lo-lo) > 8*u || math.Abs(iv.Hi-hi) > 8*u || math.Abs(iv.Mean-11./3) > 8*u {
			t.Errorf("confidence %v: %v, want [%v, %v]", confidence, iv, lo, hi)
		}
	}
	if a, b := mixpolicy.BootstrapInterval(x, .8, 1), mixpolicy.BootstrapInterval(x, .8, 1); a != b {
		t.Error("the same seed twice differs")
	}
	if iv := mixpolicy.BootstrapInterval([]float64{3}, .95, 1); iv.Mean != 3 || !math.IsInf(iv.Lo, -1) {
		t.Errorf("one value: %v", iv)
	}
}

// For many values the bootstrap agrees with Student: both ends to within the spread of a
// quantile over 9,999 resamples, a few per cent of the width, and the skew of the data.
func TestBootstrapNearStudent(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x := make([]float64, 400)
	for i := range x {
		x[i] = rng.ExpFloat64()
	}
	a, b := mixpolicy.TInterval(x, .95), mixpolicy.BootstrapInterval(x, .95, 1)
	width := a.Hi - a.Lo
	if math.Abs(a.Lo-b.Lo) > .06*width || math.Abs(a.Hi-b.Hi) > .06*width {
		t.Errorf("bootstrap %v, Student %v", b, a)
	}
}

func TestIntervalPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"no data":      func() { mixpolicy.TInterval(nil, .95) },
		"confidence 1": func() { mixpolicy.TInterval([]float64{1, 2}, 1) },
		"confidence 0": func() { mixpolicy.TInterval([]float64{1, 2}, 0) },
		"NaN":          func() { mixpolicy.BootstrapInterval([]float64{1, 2}, math.NaN(), 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
