package linprog

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// The checks here use nothing of the solver: exact rational arithmetic, and 200 bits
// for the roots.

// slack is what a solution may be off by, per unit of ‖θ‖₂ and of a row's length: the
// bound 8(d+4)·2⁻⁵³ that the solver takes for the rounding of a product with a point
// of its factored equations, and as much again for that of the point itself.
func slack(d int) float64 { return 16 * float64(d+4) * 0x1p-53 }

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

// reducedCostsRat returns b − Ψᵀλ − μ1 exactly, and the largest |λᵢΨᵢⱼ|, |bⱼ| or |μ|.
func reducedCostsRat(y Dual, b []float64, psi Rows) ([]*big.Rat, float64, error) {
	res := toRat(b)
	most := max(LInf.Of(b), math.Abs(y.Hyperplane))
	for j := range res {
		res[j].Sub(res[j], rat(y.Hyperplane))
	}
	row := make([]float64, len(b))
	last := -1
	for _, m := range y.Rows {
		if !(m.Value > 0) || math.IsInf(m.Value, 0) || m.Row <= last {
			return nil, 0, fmt.Errorf("bad multiplier %+v", m)
		}
		last = m.Row
		psi.Row(row, m.Row)
		if s := LInf.Of(row) / m.Scale; !(1 <= s && s < 2) {
			return nil, 0, fmt.Errorf("scale %v for a row of size %v", m.Scale, LInf.Of(row))
		}
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

// check verifies what Solve returned for p. For a solution it returns the exact gap.
func check(p Mixture, sol *Solution, err error) (gap float64, _ error) {
	var inf *InfeasibleError
	var unb *UnboundedError
	switch {
	case errors.As(err, &inf):
		return 0, checkInfeasible(p, inf)
	case errors.As(err, &unb):
		return 0, checkUnbounded(p, unb)
	case err != nil:
		return 0, err
	}
	d := len(p.B)
	if err := checkRows(p.Psi, sol.Theta, slack(d)); err != nil {
		return 0, err
	}
	theta := toRat(sol.Theta)
	length := L2.Of(sol.Theta)
	sum := rat(-1)
	for _, v := range theta {
		sum.Add(sum, v)
	}
	if off, _ := sum.Float64(); math.Abs(off) > slack(d)*length*math.Sqrt(float64(d)) {
		return 0, fmt.Errorf("1ᵀθ − 1 = %v", off)
	}
	if v := p.Norm.Of(sol.Theta); v > p.R*(1+slack(d)) {
		return 0, fmt.Errorf("‖θ‖ = %v, R = %v", v, p.R)
	}
	objective := dotRat(toRat(p.B), theta)
	if f, _ := objective.Float64(); f != sol.Objective {
		return 0, fmt.Errorf("objective %v, is %v", sol.Objective, f)
	}
	// The bound is one: exactly.
	norm := p.Norm
	if math.IsInf(p.R, 1) {
		norm = L2
	} else if sol.Radius != p.R {
		return 0, fmt.Errorf("radius %v, R = %v", sol.Radius, p.R)
	}
	res, most, err := reducedCostsRat(sol.Dual, p.B, p.Psi)
	if err != nil {
		return 0, err
	}
	loss := normRat(norm.Dual(), res)
	size, _ := loss.Float64()
	loss.Mul(loss, new(big.Float).SetFloat64(sol.Radius))
	exact := new(big.Float).SetPrec(200).SetFloat64(sol.Hyperplane)
	exact.Sub(exact, loss)
	if exact.Cmp(new(big.Float).SetFloat64(sol.Bound)) < 0 {
		return 0, fmt.Errorf("bound %v is not one: %v", sol.Bound, exact)
	}
	// The multiplier of the ball is that of (2.18): ‖b − Ψᵀλ − μ1‖⁎ = ν.
	if math.Abs(size-sol.Ball) > float64(d+4)*slack(d)*most {
		return 0, fmt.Errorf("multiplier of the ball %v, is %v", sol.Ball, size)
	}
	if sol.Ball > 0 && p.Norm.Of(sol.Theta) < p.R*(1-slack(d)) {
		return 0, fmt.Errorf("multiplier %v of an inactive ball", sol.Ball)
	}
	f, _ := new(big.Float).Sub(new(big.Float).SetPrec(200).SetRat(objective), exact).Float64()
	return f, nil
}

// checkRows verifies Ψx ⪰ −tol‖x‖₂‖Ψᵢ‖₂.
func checkRows(psi Rows, x []float64, tol float64) error {
	n, d := psi.Dims()
	row, xr := make([]float64, d), toRat(x)
	bound := new(big.Float).SetPrec(200).SetFloat64(-tol * L2.Of(x))
	for i := range n {
		psi.Row(row, i)
		a := toRat(row)
		v := new(big.Float).SetPrec(200).SetRat(dotRat(a, xr))
		least := normRat(L2, a)
		if least.Mul(least, bound); v.Cmp(least) < 0 {
			return fmt.Errorf("row %d: Ψᵢx = %v, ‖Ψᵢ‖ = %v, x = %v", i, v, normRat(L2, a), x)
		}
	}
	return nil
}

func checkInfeasible(p Mixture, e *InfeasibleError) error {
	norm := p.Norm
	radius := p.R
	if math.IsInf(p.R, 1) {
		norm, radius = L2, e.Radius
	}
	if e.Error() == "" {
		return errors.New("no message")
	}
	res, _, err := reducedCostsRat(Dual{Rows: e.Rows, Hyperplane: e.Hyperplane}, make([]float64, len(p.B)), p.Psi)
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

func checkUnbounded(p Mixture, e *UnboundedError) error {
	if !math.IsInf(p.R, 1) {
		return errors.New("unbounded with a bound")
	}
	d := len(p.B)
	if err := checkRows(p.Psi, e.Point, slack(d)); err != nil {
		return err
	}
	if err := checkRows(p.Psi, e.Direction, slack(d)); err != nil {
		return err
	}
	point, along := rat(-1), new(big.Rat)
	for j := range d {
		point.Add(point, rat(e.Point[j]))
		along.Add(along, rat(e.Direction[j]))
	}
	off, _ := point.Float64()
	tilt, _ := along.Float64()
	slope, _ := dotRat(toRat(p.B), toRat(e.Direction)).Float64()
	root := math.Sqrt(float64(d))
	switch {
	case math.Abs(off) > slack(d)*root*L2.Of(e.Point):
		return fmt.Errorf("1ᵀx − 1 = %v", off)
	case math.Abs(tilt) > slack(d)*root:
		return fmt.Errorf("1ᵀv = %v", tilt)
	case math.Abs(L2.Of(e.Direction)-1) > slack(d):
		return fmt.Errorf("‖v‖ = %v", L2.Of(e.Direction))
	case !(slope < 0) || math.Abs(slope-e.Slope) > slack(d)*L2.Of(p.B):
		return fmt.Errorf("slope %v, is %v", e.Slope, slope)
	}
	return nil
}
