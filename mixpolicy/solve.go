package mixpolicy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Settings says how long [Solve] runs and what it records. Iterations is required.
type Settings struct {
	Iterations int // T
	// Seed and Stream determine the random numbers: the oracle draws from PCG(Seed, Stream).
	Seed, Stream uint64

	// Recorder sees the state at the iterations that Schedule chooses; if Recorder is nil, nothing is
	// recorded.
	Recorder Recorder
	// Schedule chooses the recorded iterations; nil means LogSpaced(20). Whatever Schedule chooses,
	// Recorder sees the first and the last state.
	Schedule Schedule

	// Progress, if set, is called now and then with the number of iterations done.
	Progress func(done, total int)

	// Uncertified omits Optimum, Gap, PenalisedGap, PolicyCost and PolicyResidual from the certificate, for problems
	// where computing these numbers takes longer than the run.
	Uncertified bool
}

// Recorder sees snapshots of a run. It must copy the slices that it keeps, and must not change any
// slice of a snapshot. An error of Record ends the run.
type Recorder interface {
	Record(p *Problem, s *Snapshot) error
}

// Schedule returns the first iteration after t that is to be recorded.
type Schedule func(t int) int

// Every returns a schedule that records every k-th iteration. It panics if k < 1.
func Every(k int) Schedule {
	if k < 1 {
		panic(fmt.Sprintf("mixpolicy: Every(%d), want at least 1", k))
	}
	return func(t int) int { return (t/k + 1) * k }
}

// LogSpaced returns a schedule that records about perDecade iterations in each decade 10ᵏ, …, 10ᵏ⁺¹ with
// 10ᵏ ≥ 0.43·perDecade. Up to about the iteration 0.43·perDecade, the schedule records every iteration.
// LogSpaced panics if perDecade < 1.
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
	// Completed means that the run did all iterations, or ended earlier with [ErrDone].
	Completed Status = iota
	// Interrupted means that the context ended the run early.
	Interrupted
	// Failed means that an error of the method or the recorder ended the run.
	Failed
)

// String returns "completed", "interrupted" or "failed".
func (s Status) String() string { return named("Status", int(s), "completed", "interrupted", "failed") }

// Result is the result of a run. Its slices belong to the caller.
type Result struct {
	Method     string
	Status     Status
	Iterations int       // iterations done
	Theta      []float64 // θ̂, the method's answer; nil for a [PolicyRun]
	Last       []float64 // the last iterate θ_T; nil for a [PolicyRun]
	Lambda     []float64 // λ̂ over pairs; nil for methods without multipliers
	// Policy is π^θ̂ of (2.20), or nil if there is no finite θ̂. For a [PolicyRun], Policy is the learned policy, or nil
	// if the run was interrupted.
	Policy *Policy
	Run    Run // the run itself, for anything else that the method has learned
	Certificate
}

// Solve runs a method on p. The result of a completed run depends only on p, the method, set.Iterations, set.Seed,
// set.Stream and set.Uncertified. On one architecture, completed runs with the same inputs give the same result, bit
// for bit. The last digits can differ between architectures, because some architectures fuse products with sums
// (arm64), or compute exp and log in another way (wasm).
//
// Bad parameters give an error and no result. If ctx ends the run, or the method or the recorder fails during the run,
// the result holds the state reached, and the error says after how many iterations. If the certificate or the policy of
// a completed run cannot be computed, Solve returns the result and an error. After ctx has ended, the certificate
// contains only numbers that take little time to compute, so it contains neither the optimum nor the policy's true
// cost.
func Solve(ctx context.Context, p *Problem, m Method, set Settings) (*Result, error) {
	switch err := CheckMethod(m); {
	case ctx == nil:
		return nil, errors.New("mixpolicy: Solve without a context, want one such as context.Background()")
	case p == nil || p.f == nil:
		return nil, errors.New("mixpolicy: Solve without a problem, want one from NewProblem")
	case err != nil:
		return nil, err
	case set.Iterations < 1:
		return nil, fmt.Errorf("mixpolicy: %d iterations, want at least 1", set.Iterations)
	}
	if set.Schedule == nil {
		set.Schedule = LogSpaced(20)
	}
	o, err := NewOracle(p, set.Seed, set.Stream)
	if err != nil {
		return nil, err
	}
	run, err := Start(m, p, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Method: m.Name(), Run: run}
	var snap Snapshot
	show := func(t int) error {
		err := View(ctx, run, &snap)
		if wrong := snap.check(p, run); err == nil && wrong != nil {
			snap, err = Snapshot{}, wrong
		}
		if snap.Iteration, snap.Queries = t, o.Queries(); err != nil {
			return err
		}
		if set.Recorder == nil {
			return nil
		}
		return set.Recorder.Record(p, &snap)
	}
	done, err := Drive(ctx, run, func(t int) (next int, err error) {
		if set.Progress != nil && t == set.Iterations {
			set.Progress(t, t)
		}
		if next = set.Schedule(t); set.Recorder == nil || next <= t {
			next = set.Iterations
		}
		return min(next, set.Iterations), show(t)
	}, func(t int) {
		if set.Progress != nil {
			set.Progress(t, set.Iterations)
		}
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		r.Status = Interrupted
	default:
		r.Status = Failed
	}
	if err != nil {
		last := show(done)
		if r.Status == Interrupted && errors.Is(last, ctx.Err()) {
			last = nil // View stopped for the same reason
		}
		err = stopped(done, set.Iterations, err, last)
	}
	r.Iterations = snap.Iteration
	r.Theta, r.Last, r.Lambda = slices.Clone(snap.Average), slices.Clone(snap.Last), slices.Clone(snap.Lambda)
	certErr := cmp.Or(r.certify(ctx, p, set, &snap), r.checkOverflow(p))
	if err == nil {
		err = certErr
	}
	return r, err
}

// CheckMethod returns an error if m is nil or a nil pointer.
func CheckMethod(m Method) error {
	if v := reflect.ValueOf(m); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return errors.New("mixpolicy: run without a method, want one such as PrimalDual{}")
	}
	return nil
}

// Start starts a run of m. If the method panics, Start returns the panic as an error that names the method's type.
func Start(m Method, p *Problem, o *Oracle) (r Run, err error) {
	defer recovered(&err, m)
	return m.Start(p, o)
}

// recovered turns a panic of a method or a run into an error.
func recovered(err *error, of any) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("mixpolicy: panic in %T: %v", of, v)
	}
}

// check returns an error if a slice of a view has the wrong length. Last and Lambda may be nil; for a [PolicyRun],
// Average may also be nil.
func (s *Snapshot) check(p *Problem, r Run) error {
	_, learnsPolicy := r.(PolicyRun)
	for _, v := range []struct {
		name string
		of   []float64
		n    int
		none bool // may be nil
	}{{"Average", s.Average, p.Dim(), learnsPolicy}, {"Last", s.Last, p.Dim(), true}, {"Lambda", s.Lambda, p.MDP().Pairs(), true}} {
		if len(v.of) != v.n && !(v.none && v.of == nil) {
			return fmt.Errorf("mixpolicy: View of %T shows %s of %d entries, want %d", r, v.name, len(v.of), v.n)
		}
	}
	return nil
}

// checkInterval is the longest time that should pass between two checks of a run's context.
const checkInterval = 20 * time.Millisecond

// Drive performs the steps of a run, for [Solve] and all other code that runs methods. It calls look(0) before the
// first step. Each call look(t) returns a total number of steps; after this many steps, Drive calls look next. The run
// ends when look(t) returns a number ≤ t, when ctx ends, or after an error. [ErrDone] ends the run without an error,
// but first, Drive calls look(t) for the last t, unless it has already done so. Some 50 to 100 times a second (less
// often if a step or a call of look takes more than 20 ms), Drive calls tick with the number of steps so far, unless
// tick is nil. Drive returns the number of steps. If the run panics, Drive returns the panic as an error.
func Drive(ctx context.Context, r Run, look func(t int) (next int, err error), tick func(t int)) (steps int, err error) {
	defer recovered(&err, r)
	begin, check, every := time.Now(), 0, 1
	for t, next := 0, 0; ; t++ {
		steps = t
		isLook := t == next
		if isLook {
			if next, err = look(t); err != nil || next <= t {
				return t, err
			}
		}
		if t == check {
			if err := ctx.Err(); err != nil {
				return t, err
			}
			if tick != nil {
				tick(t)
			}
			now := time.Now()
			switch took := now.Sub(begin); {
			case took < checkInterval/2:
				every *= 2
			case took > checkInterval:
				every = max(1, every/2)
			}
			begin, check = now, t+every
		}
		switch err := r.Step(); {
		case err == ErrDone && !isLook:
			_, err = look(t)
			return t, err
		case err == ErrDone:
			return t, nil
		case err != nil:
			return t, err
		}
	}
}

func stopped(t, total int, cause, last error) error {
	if last != nil && last.Error() != cause.Error() {
		cause = fmt.Errorf("%w; then: %w", cause, last)
	}
	return fault.At("mixpolicy", fmt.Sprintf("stopped after %d of %d iterations", t, total), cause)
}
