package linprog

import (
	"fmt"
	"math"
)

// Project stores in dst the Euclidean projection of y onto Θ_R ∩ Θ₂,
//
//	argmin ‖θ − y‖₂   over   ‖θ‖ ≤ R, 1ᵀθ = 1,
//
// the projection of the penalty method (4.16). R = +∞ is the hyperplane alone, and
// ℓ₁ with R = 1 the simplex. It allocates nothing, and dst may be y. With ȳ the mean
// of y, the solution is
//
//	ℓ₂   1/d + s (yⱼ − ȳ),  s = min{1, √(R² − 1/d) / ‖y − ȳ1‖₂}
//	ℓ∞   yⱼ − κ clipped to [−R, R], for the κ at which the sum is 1
//	ℓ₁   (yⱼ − α)₊ − (β − yⱼ)₊, the two parts having the sums (R+1)/2 and (R−1)/2
//
// unless for ℓ₁ the ball is inactive. The ℓ₁ form holds because ‖θ‖₁ = R and 1ᵀθ = 1
// fix the sums of the positive and of the negative part.
//
// It is an error if the ball misses the hyperplane, R < 1/‖1‖⁎, or if y has an entry
// that is not finite or beyond 2⁹⁶⁰ in size (where sums might overflow).
func (n Norm) Project(dst, y []float64, r float64) error {
	d := len(y)
	if d == 0 || len(dst) != d {
		panic(fmt.Sprintf("linprog: projecting a vector of length %d into one of length %d", d, len(dst)))
	}
	if n.misses(r, d) {
		return fmt.Errorf("linprog: R = %v is less than 1/‖1‖⁎ = %v, so the %v ball misses the hyperplane 1ᵀθ = 1",
			r, n.OnHyperplane(d), n)
	}
	mean := 0.0
	for j, v := range y {
		if !(math.Abs(v) <= 0x1p960) {
			return fmt.Errorf("linprog: cannot project y with y[%d] = %v", j, v)
		}
		mean += v / float64(d)
	}
	// A second pass takes the rounding of the first out of the mean, so that the sum
	// below is 1 to within rounding of its terms even if ȳ is large beside them.
	fix := 0.0
	for j, v := range y {
		dst[j] = v - mean
		fix += dst[j] / float64(d)
	}
	for j := range dst {
		dst[j] -= fix
	}
	// dst is now y less its mean, which has the same projection.
	switch n {
	case L2:
		norm, s := L2.Of(dst), 1.0
		if rho := ballRadius(r, d); norm > rho {
			s = rho / norm
		}
		for j := range dst {
			dst[j] = 1/float64(d) + s*dst[j]
		}
	case LInf:
		if r >= LInf.Of(dst)+1/float64(d) { // then it is inactive
			addTo(dst, 1/float64(d))
			return nil
		}
		projectBox(dst, r)
	case L1:
		norm := 0.0
		for _, v := range dst {
			norm += math.Abs(v + 1/float64(d))
		}
		if norm <= r {
			addTo(dst, 1/float64(d))
			return nil
		}
		upper := threshold(dst, 1, (r+1)/2)
		lower := threshold(dst, -1, (r-1)/2)
		for j, v := range dst {
			// max before min: α ≥ β, so at most one of the two parts is not zero.
			dst[j] = upper.above(v) - lower.above(-v)
		}
	default:
		panic("linprog: unknown norm " + n.String())
	}
	return nil
}

// misses reports that no θ has 1ᵀθ = 1 and ‖θ‖ ≤ r, beyond doubt: for r within the
// rounding of 1/‖1‖⁎ the two sets are taken to touch.
func (n Norm) misses(r float64, d int) bool {
	const rounding = 0x1p-51 // of √d, of 1/√d and of the product: half a unit 2⁻⁵² each
	slack := rounding
	if n == L1 {
		slack = 0 // r < 1 is exact
	}
	return !(r*n.dualOfOnes(d) >= 1-slack)
}

// ballRadius returns √(r² − 1/d): the ℓ₂ ball meets the hyperplane in a ball of this
// radius about 1/d.
func ballRadius(r float64, d int) float64 {
	if r >= 0x1p500 {
		return r // 1/d is nothing beside it
	}
	root := 1 / math.Sqrt(float64(d))
	return math.Sqrt(max(0, (r-root)*(r+root)))
}

func addTo(x []float64, c float64) {
	for j := range x {
		x[j] += c
	}
}

// A waterline gives (v − α)₊ as (v − base)₊ for v above the line, in a form that
// does not lose the small difference of a large v and a large α: α = base − lift.
type waterline struct{ base, lift float64 }

func (w waterline) above(v float64) float64 { return max(0, (v-w.base)+w.lift) }

// threshold finds the α at which Σⱼ (s yⱼ − α)₊ = mass, for s = ±1. The sum is convex
// and decreasing in α, so that Newton's steps from the left,
// α ← (Σ_{S} s yⱼ − mass)/|S| over S = {j : s yⱼ > α}, only increase α and shrink S, and
// end after at most d of them (Michelot 1986).
func threshold(y []float64, s, mass float64) waterline {
	line := waterline{base: math.Inf(-1)}
	count := -1
	for {
		var top, sum float64
		size := 0
		for _, v := range y {
			v *= s
			// The first pass takes all; later ones those above the line.
			if count < 0 || (v-line.base)+line.lift > 0 {
				if size == 0 {
					top = v
				}
				size++
				sum += v - top // relative to one member: no cancellation later
			}
		}
		if size == 0 || size == count {
			return line
		}
		line = waterline{base: top + sum/float64(size), lift: mass / float64(size)}
		count = size
	}
}

// projectBox finds the κ at which Σⱼ clip(yⱼ − κ, −r, r) = 1, where d r ≥ 1, and stores
// the clipped vector in y. The sum is piecewise linear and decreasing in κ; Newton's
// steps find κ when they stay within the bracket, halving does when they don't.
func projectBox(y []float64, r float64) {
	lo, hi := y[0], y[0]
	for _, v := range y {
		lo, hi = min(lo, v), max(hi, v)
	}
	lo, hi = lo-r, hi+r
	kappa := 0.0 // y has mean 0: the κ of a box that is inactive, but for 1/d
	if !(lo < kappa && kappa < hi) {
		kappa = lo + (hi-lo)/2
	}
	for {
		free, rest, freeSum := 0, 0.0, 0.0
		for _, v := range y {
			switch v -= kappa; {
			case v >= r:
				rest += r
			case v <= -r:
				rest -= r
			default:
				free++
				freeSum += v
			}
		}
		excess := rest + freeSum - 1
		if excess > 0 {
			lo = kappa
		} else {
			hi = kappa
		}
		next := kappa + excess/float64(free) // ±Inf or NaN when nothing is free
		if !(lo < next && next < hi) {
			next = lo + (hi-lo)/2
		}
		// Done when κ no longer moves: a Newton step within its own piece moves it once
		// more at most, and halving ends at neighbouring numbers.
		if next == kappa || next == lo || next == hi || math.Abs(excess) <= 0x1p-52*(1+math.Abs(rest)) {
			break
		}
		kappa = next
	}
	// The free entries share what the others leave: as differences to their own mean,
	// so that a κ far greater than r costs no digits.
	free, rest, mean := 0, 0.0, 0.0
	for _, v := range y {
		switch v -= kappa; {
		case v >= r:
			rest += r
		case v <= -r:
			rest -= r
		default:
			free++
			mean += (v - mean) / float64(free)
		}
	}
	for j, v := range y {
		switch v -= kappa; {
		case v >= r:
			y[j] = r
		case v <= -r:
			y[j] = -r
		default:
			y[j] = min(max((v-mean)+(1-rest)/float64(free), -r), r)
		}
	}
}
