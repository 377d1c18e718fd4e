package bregman_test

import (
	"math"
	"math/big"
	"slices"
)

// Oracles in 400-bit arithmetic. They follow the printed definitions, even where these cancel.
const bigPrec = 400

func bf(x float64) *big.Float         { return new(big.Float).SetPrec(bigPrec).SetFloat64(x) }
func bzero() *big.Float               { return new(big.Float).SetPrec(bigPrec) }
func badd(a, b *big.Float) *big.Float { return bzero().Add(a, b) }
func bsub(a, b *big.Float) *big.Float { return bzero().Sub(a, b) }
func bmul(a, b *big.Float) *big.Float { return bzero().Mul(a, b) }
func bquo(a, b *big.Float) *big.Float { return bzero().Quo(a, b) }
func bsqrt(a *big.Float) *big.Float   { return bzero().Sqrt(a) }
func f64(a *big.Float) float64        { v, _ := a.Float64(); return v }

// bexp returns eᵃ: Taylor's series at a/2ᵏ, squared k times.
func bexp(a *big.Float) *big.Float {
	if f64(a) < -1e5 {
		return bzero()
	}
	k := max(0, a.MantExp(nil)+20)
	t := bzero().SetMantExp(a, -k)
	sum, term := bf(1), bf(1)
	for n := 1; n < 40; n++ {
		term = bquo(bmul(term, t), bf(float64(n)))
		sum = badd(sum, term)
	}
	for range k {
		sum = bmul(sum, sum)
	}
	return sum
}

// blog returns log a by Newton's method on exp.
func blog(a *big.Float) *big.Float {
	mant := bzero()
	e := a.MantExp(mant)
	x := bf(math.Log(f64(mant)) + float64(e)*math.Ln2)
	for range 5 {
		x = badd(x, bsub(bmul(a, bexp(bzero().Neg(x))), bf(1)))
	}
	return x
}

func bdot(x, y []float64) *big.Float {
	s := bzero()
	for i := range x {
		s = badd(s, bmul(bf(x[i]), bf(y[i])))
	}
	return s
}

func bigBallGap(r float64, x []float64) *big.Float { return bsub(bmul(bf(r), bf(r)), bdot(x, x)) }

// bigBallDivergence is (3.9) as printed.
func bigBallDivergence(r float64, x, y []float64) *big.Float {
	q := bsqrt(bigBallGap(r, y))
	a := bquo(bsub(bmul(bf(r), bf(r)), bdot(x, y)), q)
	return bsub(a, bsqrt(bigBallGap(r, x)))
}

// bigBallShift is the larger root z of ((R²d−1)d)z² + 2(R²d−1)(1ᵀy)z + R²(1ᵀy)² − ‖y‖² − 1 = 0.
func bigBallShift(r float64, y []float64) *big.Float {
	d, rr, s := bf(float64(len(y))), bmul(bf(r), bf(r)), bdot(slices.Repeat([]float64{1}, len(y)), y)
	excess := bsub(bmul(rr, d), bf(1))
	lead, half := bmul(d, excess), bmul(s, excess)
	c := bsub(bsub(bmul(rr, bmul(s, s)), bdot(y, y)), bf(1))
	disc := bsub(bmul(half, half), bmul(lead, c))
	return bquo(bsub(bsqrt(disc), half), lead)
}

// bigEntropyTerm is a log(a/b) − a + b.
func bigEntropyTerm(a, b *big.Float) *big.Float {
	if a.Sign() == 0 {
		return b
	}
	return badd(bsub(bmul(a, blog(bquo(a, b))), a), b)
}

// bigCubeDivergence is (3.12) as printed.
func bigCubeDivergence(r float64, x, y []float64) *big.Float {
	s := bzero()
	for i := range x {
		s = badd(s, bigEntropyTerm(badd(bf(r), bf(x[i])), badd(bf(r), bf(y[i]))))
		s = badd(s, bigEntropyTerm(bsub(bf(r), bf(x[i])), bsub(bf(r), bf(y[i]))))
	}
	return s
}

// bigCubeTheta is R tanh(u/2).
func bigCubeTheta(r float64, u *big.Float) *big.Float {
	e := bexp(u)
	return bmul(bf(r), bquo(bsub(e, bf(1)), badd(e, bf(1))))
}

// relErr returns |got − want|/|want|, and |got| where want is 0.
func relErr(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		return math.Abs(got)
	}
	return math.Abs(f64(bquo(bsub(bf(got), want), want)))
}
