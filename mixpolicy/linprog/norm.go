package linprog

import (
	"fmt"
	"math"
)

// Norm names the norm ‖·‖ of the constraint ‖θ‖ ≤ R.
type Norm int

const (
	L2   Norm = iota // ‖θ‖₂ = √Σθⱼ²
	LInf             // ‖θ‖_∞ = max |θⱼ|
	L1               // ‖θ‖₁ = Σ|θⱼ|
)

// String returns ‖·‖₂, ‖·‖_∞ or ‖·‖₁.
func (n Norm) String() string { return n.Around("·") }

// Around writes x between the bars of the norm: L2.Around("θ") returns ‖θ‖₂.
func (n Norm) Around(x string) string {
	if n < L2 || n > L1 {
		return fmt.Sprintf("Norm(%d)", int(n))
	}
	return "‖" + x + [...]string{"‖₂", "‖_∞", "‖₁"}[n]
}

// known returns n, or panics if n is not a norm.
func (n Norm) known() Norm {
	if n < L2 || n > L1 {
		panic("linprog: unknown norm " + n.String() + ", want L2, LInf or L1")
	}
	return n
}

// Dual returns the norm ‖y‖⁎ = max {yᵀx : ‖x‖ ≤ 1}.
func (n Norm) Dual() Norm { return [...]Norm{L2, L1, LInf}[n.known()] }

// Of returns ‖x‖, without intermediate overflow or underflow.
func (n Norm) Of(x []float64) float64 {
	var most, sum float64
	for _, v := range x {
		v = math.Abs(v)
		sum += v
		most = max(most, v)
	}
	switch n.known() {
	case L2:
		return norm2(x, most)
	case LInf:
		return most
	}
	return sum
}

// OnHyperplane returns min {‖θ‖ : 1ᵀθ = 1} = 1/‖1‖⁎, attained at θ = (1/d)1. If R is less than this minimum, no θ
// satisfies both ‖θ‖ ≤ R and 1ᵀθ = 1.
func (n Norm) OnHyperplane(d int) float64 { return 1 / n.dualOfOnes(d) }

// dualOfOnes returns ‖1‖⁎ in ℝᵈ.
func (n Norm) dualOfOnes(d int) float64 {
	return [...]float64{math.Sqrt(float64(d)), float64(d), 1}[n.known()]
}

// norm2 returns ‖x‖₂, given most = ‖x‖∞, which decides whether squares are safe.
func norm2(x []float64, most float64) float64 {
	// Squares of numbers in (2⁻⁵⁰⁰, 2⁵⁰⁰), and sums of up to 2²³ of them, are normal
	// numbers; smaller terms do not matter compared with the largest.
	if most > 0x1p-500 && most < 0x1p500 {
		var s float64
		for _, v := range x {
			s += v * v
		}
		return math.Sqrt(s)
	}
	scale := powerOfTwo(most) // for 0, +∞ and NaN, any scale gives the right norm
	var s float64
	for _, v := range x {
		v /= scale
		s += v * v
	}
	return scale * math.Sqrt(s)
}

// powerOfTwo returns the largest power of two that is at most x, for finite x > 0. For 0, +∞ and NaN, it returns ½.
// Division by a power of two is exact, unless the quotient is outside the normal range.
func powerOfTwo(x float64) float64 {
	_, e := math.Frexp(x) // x = f·2ᵉ with ½ ≤ f < 1
	return math.Ldexp(1, e-1)
}
