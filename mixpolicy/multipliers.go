package mixpolicy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Multipliers chooses how [PrimalDual] keeps λ. The iterates are the same.
type Multipliers int

const (
	// AutoMultipliers is LazyMultipliers for the corrected form where nm is large enough
	// for it to be faster, 16 for d = 2 and 300 else, and DenseMultipliers otherwise.
	AutoMultipliers Multipliers = iota
	// DenseMultipliers keeps the vector λ_t, at nm·d operations an iteration.
	DenseMultipliers
	// LazyMultipliers computes λ_t only at the sampled pair, from the path of θ. While
	// λ is inside its ball the cost of an iteration does not depend on nm, and
	// Snapshot.Lambda is an unbiased estimate of λ̂. With the printed form, which must
	// have no ball then, both are exact.
	LazyMultipliers
)

// String returns "auto", "dense" or "lazy".
func (k Multipliers) String() string {
	switch k {
	case AutoMultipliers:
		return "auto"
	case DenseMultipliers:
		return "dense"
	case LazyMultipliers:
		return "lazy"
	}
	return fmt.Sprintf("Multipliers(%d)", int(k))
}

// multipliers is λ_t of Algorithm 1.
type multipliers interface {
	// at returns λ_t of a pair, whose row of Ψ is given.
	at(pair int, row []float64) float64
	// accumulate adds η_tλ_t to the sum of (3.27), or an unbiased estimate of it from
	// what is known: the sampled pair and its λ_t.
	accumulate(eta float64, pair int, lambda float64)
	// ascend performs (3.26), from λ_t to λ_{t+1}.
	ascend(eta float64, theta []float64)
	// sum returns what was accumulated, borrowed.
	sum() []float64
	// current stores λ_t in dst.
	current(dst []float64)
}

// denseMultipliers is λ_t as a vector.
type denseMultipliers struct {
	f      *Features
	form   Form
	radius float64   // G
	rows   []float64 // r_i with row scaling, else nil
	scaled []float64 // λ_t, or r_iλ_t(i)
	move   []float64 // −ηθ, by which λ_t moves along Ψ
	total  []float64 // Σ ηλ, in the same units
	shown  []float64
}

func newDenseMultipliers(f *Features, form Form, radius float64, rowScaling bool) *denseMultipliers {
	pairs := f.x.Pairs()
	l := &denseMultipliers{f: f, form: form, radius: radius, scaled: make([]float64, pairs), total: make([]float64, pairs), move: make([]float64, f.Dim())}
	if rowScaling {
		l.rows, l.shown = make([]float64, pairs), make([]float64, pairs)
		f.MulVec(l.rows, constant(f.Dim(), 1))
		for i, r := range l.rows {
			if r == 0 { // a row of zeros, whose λ stays 0
				l.rows[i] = 1
			}
		}
	}
	return l
}

func (l *denseMultipliers) at(pair int, _ []float64) float64 { return l.unscale(pair, l.scaled[pair]) }

// unscale returns λ(i) for r_iλ(i).
func (l *denseMultipliers) unscale(pair int, v float64) float64 {
	if l.rows == nil {
		return v
	}
	return v / l.rows[pair]
}

func (l *denseMultipliers) accumulate(eta float64, _ int, _ float64) {
	floats.AddScaled(l.total, eta, l.scaled)
}

func (l *denseMultipliers) ascend(eta float64, theta []float64) { l.step(eta, theta) }

// step is ascend; it returns ‖λ‖ unless there is no ball.
func (l *denseMultipliers) step(eta float64, theta []float64) (norm float64) {
	sign := -eta
	if l.form == Printed {
		sign = eta
	}
	floats.ScaleTo(l.move, sign, theta)
	l.f.psi.add(l.scaled, 0, l.move)
	if l.form == Corrected {
		for i, v := range l.scaled {
			if v < 0 {
				l.scaled[i] = 0
			}
		}
	}
	return l.shrink()
}

// shrink scales λ into its ball, and returns its norm, or 0 if there is no ball.
func (l *denseMultipliers) shrink() float64 {
	if math.IsInf(l.radius, 1) {
		return 0
	}
	norm := l.norm(l.scaled)
	if norm > l.radius {
		floats.Scale(l.radius/norm, l.scaled)
		return l.radius
	}
	return norm
}

// norm returns ‖λ‖₂, or √(Σ r_iλ_i²) with row scaling, for λ in the units of scaled: by the
// plain sum of squares, unless that leaves the range of numbers whose squares are
// normal.
func (l *denseMultipliers) norm(x []float64) float64 {
	if l.rows != nil {
		var s float64
		for i, v := range x {
			s += v * (v / l.rows[i])
		}
		return math.Sqrt(s)
	}
	if s := floats.Dot(x, x); s > 0x1p-900 && s < 0x1p1000 {
		return math.Sqrt(s)
	}
	return floats.Norm(x, 2)
}

func (l *denseMultipliers) sum() []float64 {
	if l.rows == nil {
		return l.total
	}
	return floats.DivTo(l.shown, l.total, l.rows)
}

func (l *denseMultipliers) current(dst []float64) {
	for i, v := range l.scaled {
		dst[i] = l.unscale(i, v)
	}
}
