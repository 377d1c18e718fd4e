package linprog

import (
	"math"
	"math/big"
)

// An integral cut is (a, rhs) in whole numbers, 2^shift times that of the row divided by its
// scale, or of the ball or the hyperplane as they are written.
type integral struct {
	a     []*big.Int
	rhs   *big.Int
	shift int
}

// affine is a number rest + lead·t for an infinitely large t.
type affine struct{ lead, rest *big.Rat }

func (a affine) sign() int {
	if s := a.lead.Sign(); s != 0 {
		return s
	}
	return a.rest.Sign()
}

// cmpRatio compares a/r with b/s, where r, s > 0.
func cmpRatio(a affine, r *big.Rat, b affine, s *big.Rat) int {
	if c := cmpProduct(a.lead, s, b.lead, r); c != 0 {
		return c
	}
	return cmpProduct(a.rest, s, b.rest, r)
}

func cmpProduct(a, s, b, r *big.Rat) int {
	return new(big.Rat).Mul(a, s).Cmp(new(big.Rat).Mul(b, r))
}

// addScaled returns a + f·b.
func (a affine) addScaled(f *big.Rat, b affine) affine {
	lead, rest := new(big.Rat).Mul(f, b.lead), new(big.Rat).Mul(f, b.rest)
	return affine{lead.Add(lead, a.lead), rest.Add(rest, a.rest)}
}

// times returns f·a.
func (a affine) times(f *big.Rat) affine {
	return affine{new(big.Rat).Mul(f, a.lead), new(big.Rat).Mul(f, a.rest)}
}

// A position is the point (rest + lead·t)/den.
type position struct {
	lead, rest []*big.Int
	den        *big.Int // > 0
}

// whole returns 2^shift·x in whole numbers, with the least shift.
func whole(x []float64) (out []*big.Int, shift int) {
	lowest := math.MaxInt
	for _, v := range x {
		if v != 0 {
			_, e := math.Frexp(v)
			lowest = min(lowest, e-53)
		}
	}
	out = make([]*big.Int, len(x))
	for j, v := range x {
		f, e := math.Frexp(v)
		out[j] = big.NewInt(int64(math.Ldexp(f, 53)))
		if v != 0 {
			out[j].Lsh(out[j], uint(e-53-lowest))
		}
	}
	if lowest == math.MaxInt {
		return out, 0
	}
	return out, -lowest
}

// integral returns c in whole numbers, from the data. Rows are homogeneous, a ball has its
// ±θⱼ ≥ −R or 2Σ_S θⱼ ≥ 1 − R.
func (p *path) integral(c *cut) *integral {
	if c.form != nil {
		return c.form
	}
	row, extra := make([]float64, p.d+1), 0
	switch c.row {
	case hyperplane:
		copy(row, p.g)
		row[p.d] = 1
	case ball:
		unit := 1.0
		row[p.d] = -p.radius
		if p.norm == L1 {
			unit, row[p.d] = 2, 1-p.radius
			extra = 1
		}
		for j, v := range c.normal {
			if v != 0 {
				row[j] = math.Copysign(unit, v)
			}
		}
	default:
		p.psi.Row(row[:p.d], c.row)
		_, extra = math.Frexp(c.scale)
		extra--
	}
	a, shift := whole(row)
	c.form = &integral{a: a[:p.d], rhs: a[p.d], shift: shift + extra}
	return c.form
}

// perUnit returns what the product v of the cut's whole numbers is for its unit normal.
func (c *cut) perUnit(v *big.Int) *big.Float {
	f := new(big.Float).SetPrec(64).SetInt(v)
	f.SetMantExp(f, -c.form.shift)
	return f.Quo(f, big.NewFloat(c.length))
}

// inUnits rounds multipliers of the cuts' whole numbers to those of their unit normals.
func inUnits(cuts []*cut, ratios []*big.Rat) []float64 {
	out := make([]float64, len(cuts))
	for k, c := range cuts {
		f := new(big.Float).SetPrec(128).SetRat(ratios[k])
		f.SetMantExp(f, c.form.shift)
		out[k], _ = f.Mul(f, big.NewFloat(c.length)).Float64()
	}
	return out
}

func dotInt(a, b []*big.Int) *big.Int {
	sum, product := new(big.Int), new(big.Int)
	for j := range a {
		sum.Add(sum, product.Mul(a[j], b[j]))
	}
	return sum
}

// powerRat returns 2^e.
func powerRat(e int) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}
