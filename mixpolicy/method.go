package mixpolicy

import (
	"fmt"
	"math"
)

// Method is an iterative way to solve (2.18) from sampled costs. A Method value
// holds the state of one run.
//
// Init makes every allocation and validates the method's parameters; the oracle is
// the only way to costs. Step does one iteration, without allocating; its error
// ends the run. View shows the present state in borrowed slices.
type Method interface {
	Init(p *Problem, o *Oracle) error
	Step() error
	View(s *Snapshot) error
	// Name is a short name for tables and legends.
	Name() string
}

// Snapshot is the state of a method after some iterations. Its slices are borrowed:
// a [Recorder] copies what it keeps and changes nothing.
type Snapshot struct {
	Iteration int // t, the number of steps done
	Queries   int // costs revealed by the oracle

	Last    []float64 // θ_t
	Average []float64 // θ̂_t of (3.27), the method's answer

	// Lambda is λ̂_t of (3.27) over pairs, in units of the true costs, or an unbiased
	// estimate of it ([LazyMultipliers]); nil for methods without multipliers. It is
	// ⪰ 0, but for the printed form of Algorithm 1.
	Lambda []float64
}

// StepSize gives the learning rate η_t of iteration t = 0, 1, ….
type StepSize func(t int) float64

// Constant is η_t = η. Section 6 takes η = 1/T.
func Constant(eta float64) StepSize { return func(int) float64 { return eta } }

// InverseSqrt is η_t = η₀/√(t+1); η₀ = 1 is the choice of Proposition 3.1.
func InverseSqrt(eta0 float64) StepSize {
	return func(t int) float64 { return eta0 / math.Sqrt(float64(t+1)) }
}

// check refuses a schedule that starts with something other than a positive number.
func (eta StepSize) check() error {
	if v := eta(0); !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("mixpolicy: step size η₀ = %v, want a finite number > 0", v)
	}
	return nil
}

// at returns η_t.
func (eta StepSize) at(t int) (float64, error) {
	v := eta(t)
	if !(v >= 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("mixpolicy: step size of iteration %d is %v, want a finite number ≥ 0", t, v)
	}
	return v, nil
}

// String shows how the schedule begins.
func (eta StepSize) String() string {
	return fmt.Sprintf("η = %.4g, %.4g, %.4g, …", eta(0), eta(1), eta(2))
}

// startingPoint returns θ₀: the given point if it is inside the class and on the
// hyperplane, or (1/d, …, 1/d).
func startingPoint(p *Problem, start []float64) ([]float64, error) {
	d := p.Dim()
	if start == nil {
		return constant(d, 1/float64(d)), nil
	}
	if len(start) != d {
		return nil, fmt.Errorf("mixpolicy: θ₀ has %d entries, want d = %d", len(start), d)
	}
	var total, size float64
	for j, v := range start {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("mixpolicy: θ₀ entry %d is %v, want a finite number", j, v)
		}
		total += v
		size += math.Abs(v)
	}
	// Each entry may be rounded, and the sum once per entry.
	if math.Abs(total-1) > float64(2*d)*0x1p-53*size {
		return nil, fmt.Errorf("mixpolicy: θ₀ adds up to %v, want 1", total)
	}
	if size := p.class.Size(start); size > p.class.R {
		return nil, fmt.Errorf("mixpolicy: θ₀ has norm %v, outside the class %v", size, p.class)
	}
	return append([]float64(nil), start...), nil
}

// costScale returns the divisor of observed costs.
func costScale(k float64) (float64, error) {
	if k == 0 {
		return 1, nil
	}
	if !(k > 0) || math.IsInf(k, 1) {
		return 0, fmt.Errorf("mixpolicy: CostScale = %v, want a finite number > 0", k)
	}
	return k, nil
}
