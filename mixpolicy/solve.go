package mixpolicy

import (
	"context"
	"fmt"
	"math"
)

// Settings say how long [Solve] runs and what it records. Iterations is required.
type Settings struct {
	Iterations int // T
	// Seed and Stream choose the random numbers: the oracle draws from PCG(Seed, Stream).
	Seed, Stream uint64

	// Recorder sees the state at the iterations of Schedule; nil records nothing.
	Recorder Recorder
	// Schedule says when; nil is LogSpaced(20). The first and the last state are
	// always shown.
	Schedule Schedule

	// Progress, when set, is told now and then how many iterations are done.
	Progress func(done, total int)

	// Uncertified leaves the exact optimum and the policy's true cost out of the
	// certificate, for problems where they take longer than the run.
	Uncertified bool
}

// Recorder sees snapshots of a run. It copies what it keeps and changes nothing.
// An error ends the run.
type Recorder interface {
	Record(p *Problem, s *Snapshot) error
}

// Schedule gives the first iteration after t that is to be recorded.
type Schedule func(t int) int

// Every records each k-th iteration.
func Every(k int) Schedule {
	if k < 1 {
		panic(fmt.Sprintf("mixpolicy: Every(%d), want at least 1", k))
	}
	return func(t int) int { return (t/k + 1) * k }
}

// LogSpaced records about perDecade iterations in each factor of ten.
func LogSpaced(perDecade int) Schedule {
	if perDecade < 1 {
		panic(fmt.Sprintf("mixpolicy: LogSpaced(%d), want at least 1", perDecade))
	}
	k := float64(perDecade)
	return func(t int) int {
		next := math.Pow(10, (math.Floor(k*math.Log10(float64(t)+.5))+1)/k)
		return max(t+1, int(math.Round(next)))
	}
}

// Status says how a run ended.
type Status int

const (
	// Completed is a run of all its iterations.
	Completed Status = iota
	// Interrupted is a run that its context ended early.
	Interrupted
	// Failed is a run that an error of the method or the recorder ended.
	Failed
)

// String returns "completed", "interrupted" or "failed".
func (s Status) String() string {
	switch s {
	case Completed:
		return "completed"
	case Interrupted:
		return "interrupted"
	case Failed:
		return "failed"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// Result is what a run leaves. Its slices belong to the caller.
type Result struct {
	Method     string
	Status     Status
	Iterations int       // done
	Theta      []float64 // θ̂, the method's answer
	Last       []float64 // the last iterate θ_T
	Lambda     []float64 // λ̂ over pairs; nil for methods without multipliers
	Policy     *Policy   // π^θ̂ of (2.20); nil if the run failed
	Certificate
}

// Solve runs a method on p. The result is reproducible to the bit from p, the
// method, and set.Seed and set.Stream.
//
// Bad parameters give an error and no result. If ctx ends the run, or the method
// fails on the way, the result holds what was reached and the error says where it
// stopped. After ctx has ended the certificate has only what takes no time: neither
// the optimum nor the policy's true cost.
func Solve(ctx context.Context, p *Problem, m Method, set Settings) (*Result, error) {
	if set.Iterations < 1 {
		return nil, fmt.Errorf("mixpolicy: %d iterations, want at least 1", set.Iterations)
	}
	o, err := NewOracle(p, set.Seed, set.Stream)
	if err != nil {
		return nil, err
	}
	if err := m.Init(p, o); err != nil {
		return nil, err
	}
	r := &Result{Method: m.Name()}
	var snap Snapshot
	runErr := run(ctx, p, m, set, &snap)
	r.Iterations = snap.Iteration
	r.Theta = append([]float64(nil), snap.Average...)
	r.Last = append([]float64(nil), snap.Last...)
	r.Lambda = append([]float64(nil), snap.Lambda...)
	switch {
	case runErr == nil:
	case ctx.Err() != nil:
		r.Status = Interrupted
	default:
		r.Status = Failed
	}
	certErr := r.certify(ctx, p, m, set, &snap)
	if runErr == nil {
		runErr = certErr
	}
	return r, runErr
}

// run does the iterations, and leaves the last good state in snap.
func run(ctx context.Context, p *Problem, m Method, set Settings, snap *Snapshot) error {
	show := func() error {
		if err := m.View(snap); err != nil {
			return err
		}
		if set.Recorder == nil {
			return nil
		}
		return set.Recorder.Record(p, snap)
	}
	if set.Schedule == nil {
		set.Schedule = LogSpaced(20)
	}
	// Iterations between looks at the context: a tenth of a second, where one takes a
	// nanosecond for every number of Ψ.
	const most = 1024
	look := most
	for look > 1 && float64(look)*float64(p.f.x.Pairs()*p.Dim()) > 1e8 {
		look /= 2
	}
	due := 0 // the next iteration to be shown
	for t := range set.Iterations {
		if t == due {
			if err := show(); err != nil {
				return err
			}
			due = set.Schedule(t)
			if set.Recorder == nil {
				due = math.MaxInt
			}
		}
		if t%look == 0 {
			if err := ctx.Err(); err != nil {
				return stopped(t, set.Iterations, err, show())
			}
			if set.Progress != nil && t%most == 0 {
				set.Progress(t, set.Iterations)
			}
		}
		if err := m.Step(); err != nil {
			return stopped(t, set.Iterations, err, show())
		}
	}
	if set.Progress != nil {
		set.Progress(set.Iterations, set.Iterations)
	}
	return show()
}

func stopped(t, total int, cause, last error) error {
	if last != nil {
		return fmt.Errorf("mixpolicy: stopped after %d of %d iterations: %w; then: %w", t, total, cause, last)
	}
	return fmt.Errorf("mixpolicy: stopped after %d of %d iterations: %w", t, total, cause)
}
