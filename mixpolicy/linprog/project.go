package linprog

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Project stores in dst the Euclidean projection of y onto Θ_R ∩ Θ₂,
//
//	argmin ‖θ − y‖₂   over   ‖θ‖ ≤ R, 1ᵀθ = 1,
//
// which is the projection in the penalty method whose bound is (4.16). For R = +∞, the set is the hyperplane alone; for
// ℓ₁ and R = 1, the set is the simplex. Project allocates nothing, and dst may be the same slice as y. Let ȳ be the
// mean of y. Then entry j of the projection is
//
//	ℓ₂   1/d + s (yⱼ − ȳ),  s = min{1, √(R² − 1/d) / ‖y − ȳ1‖₂}
//	ℓ∞   yⱼ − κ clipped to [−R, R], for the κ at which the entries sum to 1
//	ℓ₁   (yⱼ − α)₊ − (β − yⱼ)₊, for the α and β at which the two parts sum over j to (R+1)/2 and (R−1)/2
//
// The ℓ₁ form applies if the ball is active; if the ball is inactive, entry j is 1/d + yⱼ − ȳ. The ℓ₁ form holds
// because ‖θ‖₁ = R and 1ᵀθ = 1 fix the sum of the positive entries and the sum of the negative entries.
//
// Project returns an error if R < 1/‖1‖⁎, because the ball then misses the hyperplane. It also returns an error if an
// entry of y is not finite or exceeds 2⁹⁶⁰ in magnitude, because sums of larger entries might overflow.
func (n Norm) Project(dst, y []float64, r float64) error {
	d := len(y)
	if d == 0 || len(dst) != d {
		panic(fmt.Sprintf("linprog: projecting a vector of length %d into one of length %d, want equal lengths > 0", d, len(dst)))
	}
	if n.misses(r, d) {
		return fmt.Errorf("linprog: R = %v is less than %v, the least %s of any θ with 1ᵀθ = 1",
			r, n.OnHyperplane(d), n.Around("θ"))
	}
	least := math.Inf(1)
	for j, v := range y {
		if !(math.Abs(v) <= 0x1p960) {
			return fmt.Errorf("linprog: cannot project y with y[%d] = %v, want a number of at most 2⁹⁶⁰ in magnitude", j, v)
		}
		if math.Abs(v) < math.Abs(least) {
			least = v
		}
	}
	// The entry of least magnitude is subtracted first. This is exact if entries differ little: a vector
	// of equal entries becomes 0. Subtracting the mean a second time removes the rounding of the
	// first subtraction, so the entries of the projection sum to 1 to within their own rounding.
	for j, v := range y {
		dst[j] = v - least
	}
	for range 2 {
		mean := 0.0
		for _, v := range dst {
			mean += v / float64(d)
		}
		addTo(dst, -mean)
	}
	// dst is now y − ȳ1, which has the same projection as y.
	switch n.known() {
	case L2:
		norm, s := L2.Of(dst), 1.0
		if rho := ballRadius(r, d); norm > rho {
			s = rho / norm
		}
		for j := range dst {
			dst[j] = 1/float64(d) + s*dst[j]
		}
	case LInf:
		if r >= LInf.Of(dst)+1/float64(d) { // the ball is inactive
			addTo(dst, 1/float64(d))
			return nil
		}
		// The shift is done twice, because the floating-point numbers near κ are more than r apart if |κ| is large
		// enough. The first pass reduces each entry that ends strictly between −r and r to a magnitude of about r, by
		// an exact subtraction.
		for range 2 {
			floats.AddConst(-boxShift(dst, r), dst)
		}
		for j, v := range dst {
			dst[j] = min(max(v, -r), r)
		}
	case L1:
		norm := 0.0
		for _, v := range dst {
			norm += math.Abs(v + 1/float64(d))
		}
		if norm <= r {
			addTo(dst, 1/float64(d))
			return nil
		}
		upper := waterlineOf(dst, 1, (r+1)/2)
		lower := waterlineOf(dst, -1, (r-1)/2)
		for j, v := range dst {
			// At most one of the two parts is nonzero, because β ≤ α.
			dst[j] = upper.above(v) - lower.above(-v)
		}
	}
	return nil
}

// touchTolerance is the sum of the relative rounding errors of 1/√d, √d, their product and R, half a unit of 2⁻⁵² each;
// for ℓ∞, d replaces √d. If R is within this relative tolerance of 1/‖1‖⁎, we assume that the ball of ℓ₂ or ℓ∞ touches
// the hyperplane at the point (1/d)1.
const touchTolerance = 0x1p-51

// misses reports whether no θ satisfies 1ᵀθ = 1 and ‖θ‖ ≤ r.
func (n Norm) misses(r float64, d int) bool {
	if n == L1 {
		return !(r >= 1) // no rounding here
	}
	return !(r*n.dualOfOnes(d) >= 1-touchTolerance)
}

// ballRadius returns √(r² − 1/d): the ℓ₂ ball meets the hyperplane in a ball of this
// radius about (1/d)1.
func ballRadius(r float64, d int) float64 {
	if r >= 0x1p500 {
		return r // 1/d is negligible
	}
	// d r² − 1 without the rounding of r², which would dominate for r close to 1/√d.
	square := r * r
	excess := math.FMA(square, float64(d), -1) + math.FMA(r, r, -square)*float64(d)
	if excess <= 2*touchTolerance {
		return 0
	}
	return math.Sqrt(excess / float64(d))
}

// addTo adds c to each entry. For two or three entries, floats.AddConst of gonum takes longer.
func addTo(x []float64, c float64) {
	for j := range x {
		x[j] += c
	}
}

// A waterline gives (v − α)₊ for α = top + depth, where top is the greatest v. It uses two
// numbers, because one number would not hold enough digits of an α that is large compared with
// v − α. Entries above α are so near the top that v − top has at most the rounding error of v − α.
type waterline struct{ top, depth float64 }

func (w waterline) above(v float64) float64 { return max(0, (v-w.top)-w.depth) }

// waterlineOf finds the α at which Σⱼ (s yⱼ − α)₊ = mass, for s = ±1. The sum is convex and
// nonincreasing in α, so Newton's steps from the left,
//
//	α ← (Σ_S s yⱼ − mass)/|S|   over   S = {j : s yⱼ > α},
//
// only increase α and shrink S, and end after at most d steps (Michelot 1986). One more step, which
// sums the (s yⱼ − α)₊ themselves, removes the rounding of Σ_S s yⱼ.
func waterlineOf(y []float64, s, mass float64) waterline {
	w := waterline{top: math.Inf(-1), depth: math.Inf(-1)}
	for _, v := range y {
		w.top = max(w.top, s*v)
	}
	for count := len(y) + 1; ; {
		size, sum := 0, 0.0
		for _, v := range y {
			if v = s*v - w.top; v > w.depth {
				size++
				sum += v
			}
		}
		if size == 0 || size >= count {
			break
		}
		count = size
		w.depth = (sum - mass) / float64(size)
	}
	size, sum := 0, 0.0
	for _, v := range y {
		if v = w.above(s * v); v > 0 {
			size++
			sum += v
		}
	}
	if size > 0 {
		w.depth += (sum - mass) / float64(size)
	}
	return w
}

// boxShift returns a κ at which Σⱼ clip(yⱼ − κ, −r, r) = 1, or a neighbouring number. It needs d r ≥ 1.
// The sum is piecewise linear and nonincreasing in κ. boxShift uses Newton's method, and halves the bracket
// if Newton's step would leave the bracket.
func boxShift(y []float64, r float64) float64 {
	lo, hi := floats.Min(y)-r, floats.Max(y)+r
	for kappa := 0.0; ; {
		free, rest, middle := 0, 0.0, 0.0
		for _, v := range y {
			switch v -= kappa; {
			case v >= r:
				rest += r
			case v <= -r:
				rest -= r
			default:
				free++
				middle += v
			}
		}
		excess := rest + middle - 1
		if math.Abs(excess) <= 0x1p-52 {
			return kappa
		}
		if excess > 0 {
			lo = kappa
		} else {
			hi = kappa
		}
		next := kappa + excess/float64(free) // ±Inf or NaN if no entry is free
		if next == kappa && math.Abs(excess) <= r*float64(free) {
			return kappa // no other number is closer to the root, and the free entries can absorb the excess
		}
		if !(lo < next && next < hi) {
			next = lo + (hi-lo)/2
		}
		if next <= lo || next >= hi {
			// lo and hi are neighbouring numbers. If they are more than r apart, the root is within r of the least
			// or the greatest entry of y. It is then the end of the bracket that the search, which began at 0, has
			// not moved: hi if hi > 0, else lo.
			if hi > 0 {
				return hi
			}
			return lo
		}
		kappa = next
	}
}

// ProjectByBarrier stores in dst the Euclidean projection of y onto {1ᵀθ = 1, ‖θ‖₂ ≤ R}. Like a general convex solver,
// it uses an interior-point method: Newton's method for
//
//	min t·½‖θ − y‖² − log(R² − ‖θ‖²)  subject to  1ᵀθ = 1,
//
// with t = 1, 10, …, 10¹². The KKT system keeps 1ᵀθ = 1. The barrier is self-concordant with the parameter 1, so at the
// minimiser for t, ½‖θ − y‖² is within 1/t of the least ½‖θ − y‖² on the set. ProjectByBarrier replaces the CVX call of
// section 6; the closed form is [Norm.Project].
//
// At the end, ProjectByBarrier computes the maximum of (θ − y)ᵀ(θ − z) over all z in the set. This maximum is at least
// ‖θ − θ*‖₂², where θ* is the projection. ProjectByBarrier returns an error unless the maximum is at most
// 10⁻⁹(1 + ‖y‖₂). The possible causes are an entry of y that is not finite, an R outside (1/√d, ∞), a y too far from
// the ball for this method, and an R too large for this method.
func ProjectByBarrier(dst, y []float64, r float64) error {
	d := len(y)
	for j := range dst {
		dst[j] = 1 / float64(d)
	}
	kkt, rhs, step := mat.NewDense(d+1, d+1, nil), mat.NewVecDense(d+1, nil), mat.NewVecDense(d+1, nil)
	var lu mat.LU
	for t := 1.0; t <= 1e12; t *= 10 {
		for range 50 { // the function is self-concordant: from the previous t, about ten steps are enough
			gap := r*r - floats.Dot(dst, dst)
			kkt.Zero()
			for i, xi := range dst {
				rhs.SetVec(i, -(t*(xi-y[i]) + 2*xi/gap))
				for j, xj := range dst {
					kkt.Set(i, j, 4*xi*xj/(gap*gap))
				}
				kkt.Set(i, i, kkt.At(i, i)+t+2/gap)
				kkt.Set(i, d, 1)
				kkt.Set(d, i, 1)
			}
			lu.Factorize(kkt)
			lu.SolveVecTo(step, false, rhs) // its error is a large condition number; the test at the end covers it
			decrement := mat.Dot(rhs, step)
			if decrement < 1e-12 {
				break
			}
			length := 1.0
			if decrement > 1./16 { // a shorter step stays in the domain, and lowers the function by at least a constant
				length = 1 / (1 + math.Sqrt(decrement))
			}
			floats.AddScaled(dst, length, step.RawVector().Data[:d])
		}
	}
	g := floats.SubTo(make([]float64, d), dst, y)
	mean := floats.Sum(g) / float64(d)
	gap := floats.Dot(g, dst) - mean
	addTo(g, -mean)
	gap += ballRadius(r, d) * L2.Of(g)
	if L2.misses(r, d) || !(gap <= 1e-9*(1+L2.Of(y))) {
		return fmt.Errorf("linprog: the barrier method fails for y = %v, R = %v, want finite y near the ball, 1/√%d < R < ∞", y, r, d)
	}
	return nil
}
