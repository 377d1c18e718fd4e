package mixpolicy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TrialSettings control [RunTrials]. Trials and Iterations are required.
type TrialSettings struct {
	Trials     int
	Iterations int
	Seed       uint64   // trial k uses stream k of this seed
	Schedule   Schedule // of the curves; nil is LogSpaced(20)
	Workers    int      // goroutines; 0 is one per CPU. The result does not depend on it.
	// Certify asks for each trial's optimum and true policy cost.
	Certify bool
	// Progress, when set, is told how many trials are done; it may be called
	// concurrently.
	Progress func(done, total int)
}

// Trials holds repeated runs of one method on one problem, in the order of their
// streams.
type Trials struct {
	Method    string
	Iteration []int // of the curves, common to all runs
	Runs      []*History
	Results   []*Result
}

// RunTrials runs a method on the streams 0, 1, … of a seed, in parallel. The
// first failing trial ends it, with an error that names its stream; on cancellation
// the finished trials are returned with the error.
func RunTrials(ctx context.Context, p *Problem, m Method, set TrialSettings) (*Trials, error) {
	if set.Trials < 1 {
		return nil, fmt.Errorf("mixpolicy: %d trials, want at least 1", set.Trials)
	}
	if set.Workers <= 0 {
		set.Workers = runtime.GOMAXPROCS(0)
	}
	runs, results := make([]*History, set.Trials), make([]*Result, set.Trials)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(set.Workers)
	finished := make(chan struct{}, set.Trials)
	for k := range set.Trials {
		g.Go(func() error {
			h := new(History)
			r, err := Solve(gctx, p, m, Settings{
				Iterations: set.Iterations, Seed: set.Seed, Stream: uint64(k),
				Recorder: h, Schedule: set.Schedule, Uncertified: !set.Certify,
			})
			if err != nil {
				return fmt.Errorf("mixpolicy: trial %d: %w", k, err)
			}
			runs[k], results[k] = h, r
			finished <- struct{}{}
			if set.Progress != nil {
				set.Progress(len(finished), set.Trials)
			}
			return nil
		})
	}
	err := g.Wait()
	t := &Trials{}
	for k, r := range results {
		if r != nil {
			t.Runs, t.Results = append(t.Runs, runs[k]), append(t.Results, r)
		}
	}
	if len(t.Runs) == 0 {
		return nil, err
	}
	t.Method, t.Iteration = t.Results[0].Method, t.Runs[0].Iteration
	return t, err
}

// Curve picks one number per recorded iteration out of a run.
type Curve func(h *History) []float64

// The curves of the paper's figures.
var (
	CostCurve      Curve = func(h *History) []float64 { return h.Cost }
	ViolationCurve Curve = func(h *History) []float64 { return h.Violation }
)

// ThetaCurve is the curve of θ̂ⱼ, for the mixing coefficients of Fig. 2 (left).
func ThetaCurve(j int) Curve { return func(h *History) []float64 { return h.Coordinate(j) } }

// Band is a curve of means over trials with its confidence interval.
type Band struct {
	Iteration    []int
	Mean, Lo, Hi []float64
	// Std is the standard deviation between trials.
	Std        []float64
	Confidence float64
	Trials     int
}

// Band returns the mean of a curve over trials with t intervals of the given
// confidence, such as 0.95. It panics unless 0 < confidence < 1.
func (t *Trials) Band(c Curve, confidence float64) Band {
	b := Band{Iteration: t.Iteration, Confidence: confidence, Trials: len(t.Runs)}
	curves := make([][]float64, len(t.Runs))
	for k, h := range t.Runs {
		curves[k] = c(h)
	}
	sample := make([]float64, len(curves))
	for i := range t.Iteration {
		for k := range curves {
			sample[k] = curves[k][i]
		}
		iv := TInterval(sample, confidence)
		b.Mean, b.Lo, b.Hi, b.Std = append(b.Mean, iv.Mean), append(b.Lo, iv.Lo), append(b.Hi, iv.Hi), append(b.Std, iv.Std)
	}
	return b
}

// Final returns the last value of a curve in each trial.
func (t *Trials) Final(c Curve) []float64 {
	out := make([]float64, len(t.Runs))
	for k, h := range t.Runs {
		v := c(h)
		out[k] = v[len(v)-1]
	}
	return out
}

// Interval is a mean with a confidence interval.
type Interval struct {
	Mean, Lo, Hi float64
	Std          float64 // of a single value
	Confidence   float64
	N            int
}

// String returns "mean [lo, hi]".
func (v Interval) String() string { return fmt.Sprintf("%.6g [%.6g, %.6g]", v.Mean, v.Lo, v.Hi) }

// TInterval returns Student's interval, mean ± t_{n−1} s/√n: exact for normal data,
// and for means of many. With one value it is the whole line.
func TInterval(x []float64, confidence float64) Interval {
	checkConfidence(confidence)
	if len(x) == 0 {
		panic("mixpolicy: interval of no data")
	}
	if len(x) == 1 {
		return Interval{x[0], math.Inf(-1), math.Inf(1), 0, confidence, 1}
	}
	mean, std := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1+confidence)/2) * std / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half, std, confidence, len(x)}
}

// BootstrapInterval returns the percentile bootstrap interval of the mean from 9,999
// resamples drawn with PCG(seed, 0). It assumes no shape, but is a little too narrow
// for small samples.
func BootstrapInterval(x []float64, confidence float64, seed uint64) Interval {
	iv := TInterval(x, confidence)
	if len(x) == 1 {
		return iv
	}
	const resamples = 9999 // (resamples+1)·(1−confidence)/2 is whole for the usual levels
	rng := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, resamples)
	for i := range means {
		var total float64
		for range x {
			total += x[rng.IntN(len(x))]
		}
		means[i] = total / float64(len(x))
	}
	slices.Sort(means)
	iv.Lo = stat.Quantile((1-confidence)/2, stat.Empirical, means, nil)
	iv.Hi = stat.Quantile((1+confidence)/2, stat.Empirical, means, nil)
	return iv
}

func checkConfidence(c float64) {
	if !(c > 0 && c < 1) {
		panic(fmt.Sprintf("mixpolicy: confidence %v, want between 0 and 1", c))
	}
}
