package mixpolicy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Method is a method that [Solve] can run. Most methods are iterative and learn from sampled costs. A Method holds only
// settings. Its fields are exported, and a run never writes to them, so a Method can be copied, shared between
// goroutines, printed, and run several times at once. The zero value of a method can be run, unless the method needs a
// field that has no default, such as a number of steps or a basis Φ.
type Method interface {
	// Name is a short name for tables and legends.
	Name() string
	// Start validates the settings and makes the allocations that the steps need, except
	// for data that grow during the run. A method that learns the costs must take them from
	// the oracle only.
	Start(p *Problem, o *Oracle) (Run, error)
}

// Run is the state of one run of a [Method]. It belongs to one goroutine.
type Run interface {
	// Step does one iteration. It should allocate only for data that grow. An error ends the
	// run. [ErrDone] is not a failure: it says that nothing is left to do.
	Step() error
	// View sets *s to the present state. The slices of s are valid until the next Step.
	View(s *Snapshot) error
}

// PolicyRun is a [Run] that learns a policy without a θ, such as a run of priorwork.PiLearning. The View of a PolicyRun
// leaves Last and Average nil. Policy returns the learnt policy. A call to Policy can take a long time, because some
// methods solve an optimisation problem only in this call.
type PolicyRun interface {
	Run
	Policy(ctx context.Context) (*Policy, error)
}

// SlowRun is a [Run] whose View takes a long time because View solves a problem. ViewUntil does the same
// as View, but when ctx ends, ViewUntil returns early, with an error. Then *s can show the state reached
// so far.
type SlowRun interface {
	Run
	ViewUntil(ctx context.Context, s *Snapshot) error
}

// View sets *s to the state of a run. For a [SlowRun], View returns early, with an error, when ctx
// ends. If the run panics, View returns the panic as an error.
func View(ctx context.Context, r Run, s *Snapshot) (err error) {
	defer recovered(&err, r)
	if slow, ok := r.(SlowRun); ok {
		return slow.ViewUntil(ctx, s)
	}
	return r.View(s)
}

// ErrDone is the error that Step returns when nothing is left to do.
var ErrDone = errors.New("the method has finished")

// Snapshot is the state of a run after some iterations. Its slices are borrowed: a Recorder must
// copy the slices that it keeps, and must not change any slice.
type Snapshot struct {
	// Iteration is t, the number of steps done, and Queries is the number of costs that the oracle has revealed.
	// View does not set these two numbers: the code that runs the method, such as [Solve], sets them.
	Iteration, Queries int

	Last    []float64 // θ_t; nil for a [PolicyRun]
	Average []float64 // θ̂_t, the method's answer, such as (3.27a); nil for a [PolicyRun]

	// Lambda is λ̂_t of (3.27), one entry per pair, in the unit of the true costs. With lazy
	// multipliers and the corrected form, Lambda is an unbiased estimate of λ̂_t instead (see
	// [LazyMultipliers]). Methods without multipliers leave Lambda nil. Lambda is ⪰ 0, except for the
	// printed form of Algorithm 1.
	Lambda []float64
}

// StepSize is a schedule of learning rates: At(t) is η_t, for the iterations t = 0, 1, ….
type StepSize interface{ At(t int) float64 }

// Constant is η_t = η. Section 6 takes η = 1/T.
type Constant float64

// At returns η.
func (eta Constant) At(int) float64 { return float64(eta) }

// InverseSqrt is η_t = η₀/√(t+1); η₀ = 1 is the choice in the proof of Proposition 3.1.
type InverseSqrt float64

// At returns η₀/√(t+1).
func (eta InverseSqrt) At(t int) float64 { return float64(eta) / math.Sqrt(float64(t+1)) }

// Scaled is η_t = By · Of.At(t).
type Scaled struct {
	By float64
	Of StepSize
}

// At returns By · Of.At(t).
func (eta Scaled) At(t int) float64 { return eta.By * eta.Of.At(t) }

// StepFunc is a schedule given as a function f: η_t = f(t).
type StepFunc func(t int) float64

// At returns f(t).
func (f StepFunc) At(t int) float64 { return f(t) }

// String shows η₀, η₁ and η₂, rounded.
func (eta Constant) String() string { return showSteps(eta) }

// String shows η₀, η₁ and η₂, rounded.
func (eta InverseSqrt) String() string { return showSteps(eta) }

// String shows η₀, η₁ and η₂, rounded.
func (eta Scaled) String() string { return showSteps(eta) }

// String shows η₀, η₁ and η₂, rounded.
func (f StepFunc) String() string { return showSteps(f) }

func showSteps(eta StepSize) string {
	if unset(eta) {
		return "η not set"
	}
	return fmt.Sprintf("η = %.4g, %.4g, %.4g, …", eta.At(0), eta.At(1), eta.At(2))
}

// MarshalJSON returns {"Constant": η}.
func (eta Constant) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]float64{"Constant": float64(eta)})
}

// MarshalJSON returns {"InverseSqrt": η₀}.
func (eta InverseSqrt) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]float64{"InverseSqrt": float64(eta)})
}

// MarshalJSON returns an error, because a function has no JSON form.
func (f StepFunc) MarshalJSON() ([]byte, error) {
	return nil, errors.New("mixpolicy: a StepFunc can't be written as JSON, want Constant, InverseSqrt, Scaled or a type of your own")
}

// unset reports whether a schedule, or the schedule that it scales, is nil.
func unset(eta StepSize) bool {
	switch v := eta.(type) {
	case nil:
		return true
	case StepFunc:
		return v == nil
	case Scaled:
		return unset(v.Of)
	}
	return false
}

// Steps returns eta, or [InverseSqrt](1) if eta is nil. It returns an error if eta is a nil
// [StepFunc] or a [Scaled] without a schedule, or if η₀ = At(0) is not a finite number > 0.
func Steps(eta StepSize) (StepSize, error) {
	if eta == nil {
		eta = InverseSqrt(1)
	}
	if unset(eta) {
		return nil, fmt.Errorf("mixpolicy: step size %T without a schedule, want one such as InverseSqrt(1)", eta)
	}
	if v := eta.At(0); !(v > 0) || math.IsInf(v, 1) {
		return nil, fmt.Errorf("mixpolicy: step size η₀ = %v, want a finite number > 0", v)
	}
	return eta, nil
}

// stepAt returns η_t, or an error unless η_t is a finite number ≥ 0.
func stepAt(eta StepSize, t int) (float64, error) {
	v := eta.At(t)
	if !(v >= 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("mixpolicy: step size of iteration %d is %v, want a finite number ≥ 0", t, v)
	}
	return v, nil
}
