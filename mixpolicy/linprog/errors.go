package linprog

import "fmt"

// An UnboundedError says that bᵀθ has no minimum: every Point + s·Direction with
// s ≥ 0 is feasible, for ΨDirection ⪰ 0 and 1ᵀDirection = 0, and bᵀDirection < 0. It
// occurs only for R = +∞.
type UnboundedError struct {
	Point     []float64 // feasible
	Direction []float64 // of length ‖·‖₂ = 1
	Slope     float64   // bᵀDirection < 0
}

func (e *UnboundedError) Error() string {
	return fmt.Sprintf("linprog: unbounded: bᵀθ falls by %v per unit along a ray of feasible points; bound ‖θ‖", -e.Slope)
}

// A StalledError says that no answer could be proved: rounding kept the method from a point
// where no row is violated, or from a gap that is closed, and the program is too large for
// exact arithmetic. The optimum is between Bound and Objective, if it exists.
type StalledError struct {
	Violation float64 // of the last point, as in [Solution]
	Pivots    int     // steps taken
	Bound     float64 // certified, −∞ if there is none
	Objective float64 // of the best feasible point, +∞ if none is known
}

func (e *StalledError) Error() string {
	return fmt.Sprintf("linprog: not decided: no proof after %d steps, with a violation of %v: the active rows are dependent to within rounding; the optimum is between %v and %v",
		e.Pivots, e.Violation, e.Bound, e.Objective)
}

// An EntryError names an entry of the data that is not a finite number.
type EntryError struct {
	Row, Col int // of Ψ; Row is −1 for b
	Value    float64
}

func (e *EntryError) Error() string {
	if e.Row < 0 {
		return fmt.Sprintf("linprog: b[%d] = %v, want a finite number", e.Col, e.Value)
	}
	return fmt.Sprintf("linprog: Ψ[%d,%d] = %v, want a finite number", e.Row, e.Col, e.Value)
}
