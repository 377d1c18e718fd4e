package theory

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// OrliczNorm returns the Orlicz norm (2.3) of a random variable X that takes the value x[i] with probability p[i],
// for ψ_ν(t) = exp(t^ν) − 1,
//
//	‖X‖_ψν = inf { β > 0 : E ψ_ν(|X|/β) ≤ 1 }.
//
// The result is accurate to within a few rounding errors. For ν = 2, the norm is the sub-Gaussian norm; for ν = 1, the
// norm is the sub-exponential norm. For ν < 1, the formula gives no norm, and OrliczNorm returns an error. The paper
// prints |X| − E|X|/β as the argument of ψ; this formula gives no norm (see [PrintedOrlicz]). OrliczNorm panics if x
// and p differ in length.
func OrliczNorm(nu float64, x, p []float64) (float64, error) {
	z, w, top, atTop, err := orliczSupport(nu, x, p)
	if err != nil || top == 0 {
		return 0, err
	}
	// With s = β^−ν and X scaled to max |X| = 1, G(s) = Σ p (exp(s|z|^ν) − 1) grows and is
	// convex. Newton's method for G = 1 decreases towards the root from the right. At the
	// start, the greatest |z| alone gives G ≥ 1, and no exponential exceeds 1 + 1/P(|z| = 1).
	for i := range z {
		z[i] = math.Pow(z[i], nu)
	}
	s := math.Log1p(1 / atTop)
	for {
		var g, slope sum.Accumulator
		for i, v := range z {
			g.Add(w[i] * math.Expm1(s*v))
			slope.Add(w[i] * v * math.Exp(s*v))
		}
		next := s - (g.Value()-1)/slope.Value()
		if !(next < s) { // from here on, rounding decides
			return top * math.Pow(s, -1/nu), nil
		}
		s = next
	}
}

// MomentNorm returns the moment norm of a random variable X that takes the value x[i] with probability p[i],
//
//	sup_{q ≥ 1} q^(−1/ν) (E|X|^q)^(1/q),
//
// to a relative error of 10⁻¹². This norm is (2.4) for ν = 2 and (2.6) for ν = 1. It is equivalent, but in general not
// equal, to the [OrliczNorm] with the same ν. MomentNorm panics if x and p differ in length.
//
// The function ln E|X|^q is convex in q, so on an interval of q, it lies below its chord. The chord gives an explicit
// bound on the supremum over the interval. An interval is halved until its bound is at most a relative 10⁻¹³ above the
// best value found, or until its length is at most 10⁻⁹ times its upper end.
func MomentNorm(nu float64, x, p []float64) (float64, error) {
	z, w, top, atTop, err := orliczSupport(nu, x, p)
	if err != nil || top == 0 {
		return 0, err
	}
	value, _ := momentSup(nu, z, w, atTop)
	return top * math.Exp(value), nil
}

// momentSup returns sup K(q)/q − ln(q)/ν for K(q) = ln E|Z|^q and max |Z| = 1, and the q
// that attains it.
func momentSup(nu float64, z, w []float64, atTop float64) (best, at float64) {
	logs := make([]float64, len(z))
	for i, v := range z {
		logs[i] = math.Log(v)
	}
	cumulant := func(q float64) float64 {
		var e sum.Accumulator
		for i, l := range logs {
			e.Add(w[i] * math.Exp(q*l))
		}
		return math.Log(e.Value())
	}
	best = math.Inf(-1)
	type interval struct{ a, ka, b, kb float64 }
	probe := func(q float64) float64 {
		k := cumulant(q)
		if v := k/q - math.Log(q)/nu; v > best {
			best, at = v, q
		}
		return k
	}
	// Beyond q₀ = max(1, −ν ln P(|Z| = 1)), the values K(q)/q − ln(q)/ν fall: their slope is K′(q)/q − K(q)/q² − 1/νq
	// with K′ ≤ 0 and −K(q) ≤ −ln P(|Z| = 1).
	end := max(1, -nu*math.Log(atTop))
	todo := []interval{{1, probe(1), end, probe(end)}}
	const accuracy = 1e-13 // accuracy of the logarithm: some hundred roundings of K
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		slope := (i.kb - i.ka) / (i.b - i.a)
		start := i.ka - slope*i.a
		// K(q)/q − ln(q)/ν ≤ slope + start/q − ln(q)/ν, which is greatest at q = −ν·start.
		q := min(max(-nu*start, i.a), i.b)
		if slope+start/q-math.Log(q)/nu <= best+accuracy || i.b-i.a <= 1e-9*i.b {
			continue
		}
		m := i.a + (i.b-i.a)/2
		km := probe(m)
		todo = append(todo, interval{i.a, i.ka, m, km}, interval{m, km, i.b, i.kb})
	}
	return best, at
}

// PrintedOrlicz returns E ψ_ν(|X| − E|X|/β), the expectation in (2.3) as printed; ν must be 1 or 2. X takes the value
// x[i] with probability p[i]. PrintedOrlicz uses exp(t^ν) − 1 even for t < 0, although ψ is defined only for t ≥ 0. For
// ν = 2, there may be no β for which the expectation is at most 1. For ν = 1, the expectation is at most 1 for every β
// that is small enough.
func PrintedOrlicz(nu, beta float64, x, p []float64) float64 {
	var mean, e float64
	for i, v := range x {
		mean += p[i] * math.Abs(v)
	}
	for i, v := range x {
		e += p[i] * math.Expm1(math.Pow(math.Abs(v)-mean/beta, nu))
	}
	return e
}

// orliczSupport returns the nonzero |x[i]| with p[i] > 0, divided by their maximum; their probabilities; the maximum;
// and the probability of the maximum.
func orliczSupport(nu float64, x, p []float64) (z, w []float64, top, atTop float64, err error) {
	if len(x) != len(p) {
		panic(fmt.Sprintf("theory: %d outcomes and %d probabilities, want equal numbers", len(x), len(p)))
	}
	if !(nu >= 1) || math.IsInf(nu, 1) {
		return nil, nil, 0, 0, fmt.Errorf("theory: ψ_ν(t) = exp(t^ν) − 1 with ν = %v, want ν ≥ 1 and ν < ∞", nu)
	}
	if err := sum.CheckDistribution(p, len(p)); err != nil {
		return nil, nil, 0, 0, fmt.Errorf("theory: distribution: %w", err)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, 0, 0, fmt.Errorf("theory: outcome %d is %v, want a finite number", i, v)
		}
		if p[i] > 0 && v != 0 {
			z, w = append(z, math.Abs(v)), append(w, p[i])
			top = max(top, math.Abs(v))
		}
	}
	for i := range z {
		if z[i] /= top; z[i] == 1 {
			atTop += w[i]
		}
	}
	return z, w, top, atTop, nil
}

// VectorMomentNorm returns a lower and an upper bound on the norm of a random vector Z that equals row i of the matrix
// z with probability p[i],
//
//	sup_{‖x‖₂ = 1} sup_{q ≥ 1} q^(−1/ν) (E|⟨x,Z⟩|^q)^(1/q).
//
// This norm is (2.5) for ν = 2 and (2.7) for ν = 1. The supremum over x is the maximum of a convex function; in
// general, this maximum is hard to find. The lower bound is the greatest local maximum found by climbing from the
// directions of the rows, of E Z, and of the eigenvectors of E ZZᵀ. The upper bound is the [MomentNorm] of ‖Z‖₂. In one
// dimension, the two bounds are equal. VectorMomentNorm panics unless p has exactly one entry per row.
func VectorMomentNorm(nu float64, z mat.Matrix, p []float64) (lower, upper float64, err error) {
	rows, d := z.Dims()
	vectors := make([][]float64, rows)
	sizes := make([]float64, rows)
	for i := range vectors {
		vectors[i] = mat.Row(nil, i, z)
		sizes[i] = floats.Norm(vectors[i], 2)
	}
	if upper, err = MomentNorm(nu, sizes, p); err != nil || upper == 0 {
		return 0, upper, err
	}
	moment := mat.NewSymDense(d, nil)
	mean := make([]float64, d)
	starts := [][]float64{mean}
	for i, v := range vectors {
		moment.SymRankOne(moment, p[i], mat.NewVecDense(d, v))
		floats.AddScaled(mean, p[i], v)
		starts = append(starts, slices.Clone(v))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(moment, true) {
		return 0, upper, errors.New("theory: float64 cannot hold the eigenvectors of E ZZᵀ, want outcomes nearer to 1 in magnitude")
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	for j := range d {
		starts = append(starts, mat.Col(nil, j, &axes))
	}
	for _, x := range starts {
		if size := floats.Norm(x, 2); size > 0 {
			floats.Scale(1/size, x)
			lower = max(lower, climbMoments(nu, x, vectors, p))
		}
	}
	return min(lower, upper), upper, nil
}

// climbMoments moves x on the sphere to a local maximum of the norm of ⟨x,Z⟩, and returns this maximum. For the q that
// attains the norm, E|⟨x,Z⟩|^q is convex in x, so the normalised gradient is at least as good as x.
func climbMoments(nu float64, x []float64, vectors [][]float64, p []float64) float64 {
	inner := make([]float64, len(vectors))
	gradient := make([]float64, len(x))
	best := 0.0
	for {
		for i, v := range vectors {
			inner[i] = floats.Dot(x, v)
		}
		z, w, top, atTop, err := orliczSupport(nu, inner, p)
		if err != nil || top == 0 {
			return best
		}
		value, q := momentSup(nu, z, w, atTop)
		now := top * math.Exp(value)
		if !(now > best*(1+1e-10)) { // the accuracy of momentSup plus a margin
			return max(best, now)
		}
		best = now
		clear(gradient)
		for i, v := range vectors {
			if p[i] > 0 {
				weight := p[i] * math.Pow(math.Abs(inner[i])/top, q-1)
				floats.AddScaled(gradient, math.Copysign(weight, inner[i]), v)
			}
		}
		floats.ScaleTo(x, 1/floats.Norm(gradient, 2), gradient)
	}
}
