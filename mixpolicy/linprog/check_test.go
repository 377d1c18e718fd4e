package linprog

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
)

// These checks do not use the solver: they compute in exact rational arithmetic, and take roots to 200 bits.

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func dotRat(a, b []*big.Rat) *big.Rat {
	s := new(big.Rat)
	for j := range a {
		s.Add(s, new(big.Rat).Mul(a[j], b[j]))
	}
	return s
}

func toRat(x []float64) []*big.Rat {
	y := make([]*big.Rat, len(x))
	for j, v := range x {
		y[j] = rat(v)
	}
	return y
}

// slack is the allowed error of a constraint, per unit of ‖θ‖₂ and of the row's length. One half, 8(d+4)·2⁻⁵³, is the
// solver's bound on the rounding of the product of a row and a solution of the factored equations. The other half
// allows for the rounding of the point.
func slack(d int) float64 { return 16 * float64(d+4) * 0x1p-53 }

// ballSlack is the amount by which ‖θ‖ may exceed R, per unit of ‖θ‖₂. The normals of the balls of ℓ₂ and ℓ∞ have
// length 1. For ℓ₁, ‖θ‖₁ = 1ᵀθ − 2Σ_{θⱼ<0} θⱼ: the row 1ᵀθ = 1, of length √d, counts once, and the row Σ_{j∈S} θⱼ ≥
// −(R−1)/2, of length at most √d, counts twice.
func ballSlack(n Norm, d int) float64 {
	if n == L1 {
		return 3 * math.Sqrt(float64(d)) * slack(d)
	}
	return slack(d)
}

func normRat(n Norm, x []*big.Rat) *big.Float {
	out := new(big.Float).SetPrec(200)
	for _, v := range x {
		f := new(big.Float).SetPrec(200).SetRat(new(big.Rat).Abs(v))
		switch n {
		case L2:
			out.Add(out, f.Mul(f, f))
		case LInf:
			if f.Cmp(out) > 0 {
				out.Set(f)
			}
		case L1:
			out.Add(out, f)
		}
	}
	if n == L2 {
		out.Sqrt(out)
	}
	return out
}

// reducedCostsRat returns b − Ψᵀλ − μg exactly, and the largest |λᵢΨᵢⱼ|, |bⱼ| or |μ|.
func reducedCostsRat(y Dual, b, g []float64, psi Rows) ([]*big.Rat, float64, error) {
	res := toRat(b)
	most := max(LInf.Of(b), math.Abs(y.Hyperplane))
	for j := range res {
		res[j].Sub(res[j], new(big.Rat).Mul(rat(y.Hyperplane), rat(g[j])))
	}
	if err := checkScales(y.Rows, psi, len(b)); err != nil {
		return nil, 0, err
	}
	row := make([]float64, len(b))
	for _, m := range y.Rows {
		if !(m.Value > 0) || math.IsInf(m.Value, 0) {
			return nil, 0, fmt.Errorf("bad multiplier %+v", m)
		}
		psi.Row(row, m.Row)
		lambda := new(big.Rat).Quo(rat(m.Value), rat(m.Scale))
		for j := range res {
			term := new(big.Rat).Mul(lambda, rat(row[j]))
			res[j].Sub(res[j], term)
			f, _ := term.Float64()
			most = max(most, math.Abs(f))
		}
	}
	return res, most, nil
}

// checkScales verifies that the rows are in increasing order, and that 1 ≤ ‖Ψᵢ‖∞/Scale < 2 for each.
func checkScales(rows []Multiplier, psi Rows, d int) error {
	row, last := make([]float64, d), -1
	for _, m := range rows {
		if m.Row <= last {
			return fmt.Errorf("row %d after row %d", m.Row, last)
		}
		last = m.Row
		psi.Row(row, m.Row)
		if s := LInf.Of(row) / m.Scale; !(1 <= s && s < 2) {
			return fmt.Errorf("scale %v for a row of size %v", m.Scale, LInf.Of(row))
		}
	}
	return nil
}

// check verifies what Solve returned for p. For a solution, check returns the exact gap.
func check(p Mixture, sol *Solution, err error) (gap float64, _ error) {
	return checkProgram(p.program(), sol, err)
}

func checkProgram(p program, sol *Solution, err error) (gap float64, _ error) {
	var inf *InfeasibleError
	var unb *UnboundedError
	var stalled *StalledError
	switch {
	case errors.As(err, &inf):
		return 0, checkInfeasible(p, inf)
	case errors.As(err, &stalled):
		return 0, checkStalled(p, sol, stalled)
	case errors.As(err, &unb):
		return 0, checkUnbounded(p, unb)
	case err != nil:
		return 0, err
	}
	d := len(p.b)
	if err := checkRows(p.psi, sol.Theta, slack(d)); err != nil {
		return 0, err
	}
	theta := toRat(sol.Theta)
	length := L2.Of(sol.Theta)
	sum := dotRat(theta, toRat(p.g))
	sum.Sub(sum, rat(1))
	if off, _ := sum.Float64(); math.Abs(off) > slack(d)*length*math.Sqrt(float64(d)) {
		return 0, fmt.Errorf("gᵀθ − 1 = %v", off)
	}
	if v := p.norm.Of(sol.Theta); v > p.radius+ballSlack(p.norm, d)*length {
		return 0, fmt.Errorf("‖θ‖ = %v, R = %v", v, p.radius)
	}
	objective := dotRat(toRat(p.b), theta)
	if f, _ := objective.Float64(); math.Abs(f-sol.Objective) > 0x1p-52*math.Abs(f)+0x1p-100*L2.Of(p.b)*length {
		return 0, fmt.Errorf("objective %v, is %v", sol.Objective, f)
	}
	if !math.IsInf(p.radius, 1) && sol.Radius != p.radius {
		return 0, fmt.Errorf("radius %v, R = %v", sol.Radius, p.radius)
	}
	exact, size, most, err := checkBound(p, sol)
	if err != nil {
		return 0, err
	}
	// The multiplier of the ball is ν = ‖b − Ψᵀλ − μg‖⁎, as in (2.18).
	if math.Abs(size-sol.Ball) > float64(d+4)*slack(d)*most {
		return 0, fmt.Errorf("multiplier of the ball %v, is %v", sol.Ball, size)
	}
	// ν(R − ‖θ‖) is a part of the gap, so it is 0 up to rounding.
	if sol.Ball > 0 && sol.Ball*(p.radius-p.norm.Of(sol.Theta)) > float64(d+4)*slack(d)*most*p.radius {
		return 0, fmt.Errorf("multiplier %v of an inactive ball", sol.Ball)
	}
	f, _ := new(big.Float).Sub(new(big.Float).SetPrec(200).SetRat(objective), exact).Float64()
	return f, nil
}

// checkBound returns exact = μ − R·size with size = ‖b − Ψᵀλ − μg‖⁎. It also returns size and most, the magnitude of
// the largest term in b − Ψᵀλ − μg. It fails if Bound exceeds exact.
func checkBound(p program, sol *Solution) (exact *big.Float, size, most float64, err error) {
	norm := p.norm
	if math.IsInf(p.radius, 1) {
		norm = L2
	}
	res, most, err := reducedCostsRat(sol.Dual, p.b, p.g, p.psi)
	if err != nil {
		return nil, 0, 0, err
	}
	loss := normRat(norm.Dual(), res)
	size, _ = loss.Float64()
	loss.Mul(loss, new(big.Float).SetFloat64(sol.Radius))
	exact = new(big.Float).SetPrec(200).SetFloat64(sol.Hyperplane)
	if exact.Sub(exact, loss).Cmp(new(big.Float).SetFloat64(sol.Bound)) < 0 {
		return nil, 0, 0, fmt.Errorf("bound %v exceeds the exact bound %v", sol.Bound, exact)
	}
	return exact, size, most, nil
}

// checkStalled verifies an answer without a proof. If R is finite, Bound must be a lower bound. If Objective is finite,
// Theta must not violate any row.
func checkStalled(p program, sol *Solution, e *StalledError) error {
	if sol == nil || math.IsNaN(e.Bound) || e.Bound > e.Objective || !strings.Contains(e.Error(), "not decided") {
		return fmt.Errorf("%+v, %+v", e, sol)
	}
	if !math.IsInf(p.radius, 1) { // for R = +∞, each bound has its own radius
		if sol.Bound != e.Bound {
			return fmt.Errorf("%+v, %+v", e, sol)
		}
		if _, _, _, err := checkBound(p, sol); err != nil {
			return err
		}
	}
	if !math.IsInf(e.Objective, 1) {
		return checkRows(p.psi, sol.Theta, slack(len(p.b)))
	}
	return nil
}

// checkRows verifies Ψx ⪰ −tol‖x‖₂‖Ψᵢ‖₂.
func checkRows(psi Rows, x []float64, tol float64) error {
	n, d := psi.Dims()
	row, xr := make([]float64, d), toRat(x)
	bound := new(big.Float).SetPrec(200).SetFloat64(-tol * L2.Of(x))
	for i := range n {
		psi.Row(row, i)
		var dot, size float64
		for j, a := range row {
			dot, size = dot+a*x[j], size+math.Abs(a*x[j])
		}
		if dot > 0x1p-1000 && dot > float64(d)*0x1p-50*size { // positive despite rounding
			continue
		}
		a := toRat(row)
		v := new(big.Float).SetPrec(200).SetRat(dotRat(a, xr))
		least := normRat(L2, a)
		if least.Mul(least, bound); v.Cmp(least) < 0 {
			return fmt.Errorf("row %d: Ψᵢx = %v, ‖Ψᵢ‖ = %v, x = %v", i, v, normRat(L2, a), x)
		}
	}
	return nil
}

func checkInfeasible(p program, e *InfeasibleError) error {
	norm := p.norm
	radius := p.radius
	if math.IsInf(p.radius, 1) {
		norm, radius = L2, max(e.Radius, 0x1p20)
	}
	if e.Error() == "" {
		return errors.New("no message")
	}
	y := Dual{Rows: e.Rows, Hyperplane: e.Hyperplane}
	res, _, err := reducedCostsRat(y, make([]float64, len(p.b)), p.g, p.psi)
	if err != nil {
		return err
	}
	right := normRat(norm.Dual(), res)
	right.Mul(right, new(big.Float).SetFloat64(radius))
	if !(e.Radius >= radius) || right.Cmp(new(big.Float).SetFloat64(e.Hyperplane)) > 0 {
		return fmt.Errorf("no proof of infeasibility: κ = %v, R‖Ψᵀλ + κ1‖ = %v, %+v", e.Hyperplane, right, e)
	}
	return nil
}

func checkUnbounded(p program, e *UnboundedError) error {
	if !math.IsInf(p.radius, 1) {
		return errors.New("unbounded with a bound")
	}
	d := len(p.b)
	if err := checkRows(p.psi, e.Point, slack(d)); err != nil {
		return err
	}
	if err := checkRows(p.psi, e.Direction, slack(d)); err != nil {
		return err
	}
	g := toRat(p.g)
	point, along := dotRat(g, toRat(e.Point)), dotRat(g, toRat(e.Direction))
	point.Sub(point, rat(1))
	off, _ := point.Float64()
	tilt, _ := along.Float64()
	slope, _ := dotRat(toRat(p.b), toRat(e.Direction)).Float64()
	root := math.Sqrt(float64(d))
	switch {
	case math.Abs(off) > slack(d)*root*L2.Of(e.Point):
		return fmt.Errorf("gᵀx − 1 = %v", off)
	case math.Abs(tilt) > slack(d)*root:
		return fmt.Errorf("gᵀv = %v", tilt)
	case math.Abs(L2.Of(e.Direction)-1) > slack(d):
		return fmt.Errorf("‖v‖ = %v", L2.Of(e.Direction))
	case !(slope < 0) || math.Abs(slope-e.Slope) > slack(d)*L2.Of(p.b):
		return fmt.Errorf("slope %v, is %v", e.Slope, slope)
	}
	return nil
}

// panics checks that f panics with a message that begins with prefix.
func panics(t *testing.T, prefix string, f func()) {
	t.Helper()
	defer func() {
		if s, _ := recover().(string); !strings.HasPrefix(s, prefix) {
			t.Errorf("panic %q, want %s…", s, prefix)
		}
	}()
	f()
}

// must returns v, or panics with err.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
