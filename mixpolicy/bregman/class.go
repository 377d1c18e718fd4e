package bregman

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// A Class is Θ_R = {θ : 1ᵀθ = 1, ‖θ‖_P ≤ R} with P = 1, 2 or ∞, on which a modulus has a constant of strong convexity
// and a range.
//
//	on := bregman.Class{P: 2, R: 1.5}
//	mu, certified, err := on.StrongConvexity(m, 3, 1) // in ℝ³, in the norm of ℓ₁
//	size, certified, err := on.Range(m, 3)
type Class struct{ P, R float64 }

// StrongConvexity returns a μ with D(x; y) ≥ (μ/2)‖x − y‖_p² for x and y in the class and in int dom φ ⊂ ℝᵈ, for
// p = 1, 2 or ∞. For a [Separable], the Cauchy–Schwarz inequality and Σ(x − y)ᵢ = 0 give
//
//	μ₂ = min φᵢ″,   μ_∞ = μ₂·d/(d − 1),   μ₁ = 1/max Σᵢ 1/φᵢ″(θᵢ),
//
// with extrema over the class. They are certified (bounds, up to rounding) where φ″ is known to be convex, as for every
// kernel of the gallery: lines through neighbouring values then bound φ″ between them. A declared μ is certified
// as well, and returned if it is greater. Otherwise μ is an estimate from finitely many points, and certified is false.
func (c Class) StrongConvexity(m Modulus, d int, p float64) (mu float64, certified bool, err error) {
	if err := c.validate(m, d); err != nil {
		return 0, false, err
	}
	if !validNorm(p) {
		return 0, false, fmt.Errorf("bregman: strong convexity in ℓ_%g: want p = 1, 2 or ∞", p)
	}
	declared, q, ok := StrongConvexity(m)
	if ok && q > p { // ‖e‖_q ≥ d^(1/q − 1/p) ‖e‖_p
		declared *= math.Pow(float64(d), 2/q-2/p)
	}
	all, separable := c.profiles(m, d)
	if !separable && !ok {
		mu, _ = c.estimate(m, d, p)
		return mu, false, nil
	}
	least, certified := math.Inf(1), separable
	for i := range all {
		k := all[i].kernel
		for j, v := range curvatureBounds(k, all[i].t) {
			least, all[i].f[j] = min(least, v), 1/v
		}
		certified = certified && convexCurvature(k)
	}
	switch {
	case p == 1:
		mu = 1 / c.largest(all)
	case math.IsInf(p, 1) && d > 1:
		mu = least * float64(d) / float64(d-1)
	default:
		mu = least
	}
	if !separable || declared >= mu || math.IsNaN(mu) {
		return declared, ok, nil
	}
	return mu, certified, nil
}

// Range returns an upper bound of max φ − min φ over the class in dom φ ⊂ ℝᵈ: +∞ if the class reaches a boundary where φ
// is unbounded. The minimum is that over 1ᵀθ = 1. For a [Separable], Lagrange multipliers bound the maximum, and
// the bound is certified. Otherwise the maximum is an estimate, from the ends of random rays, and certified is false.
func (c Class) Range(m Modulus, d int) (size float64, certified bool, err error) {
	if err := c.validate(m, d); err != nil {
		return 0, false, err
	}
	all, separable := c.profiles(m, d)
	if !separable {
		_, size = c.estimate(m, d, 2)
		return size, false, nil
	}
	return c.largest(all) - m.Value(lowest(m, d)), true, nil
}

func validNorm(p float64) bool { return p == 1 || p == 2 || math.IsInf(p, 1) }

func (c Class) validate(m Modulus, d int) error {
	if !validNorm(c.P) {
		return fmt.Errorf("bregman: a class of norm ℓ_%g: want P = 1, 2 or ∞", c.P)
	}
	if err := Validate(m, d); err != nil {
		return err
	}
	if least := math.Pow(float64(d), 1/c.P-1); !(c.R >= least) {
		return fmt.Errorf("bregman: the class ‖θ‖_%g ≤ %g does not meet 1ᵀθ = 1 in ℝ^%d: want R ≥ %g", c.P, c.R, d, least)
	}
	return nil
}

// lowest returns argmin φ over 1ᵀθ = 1, where ∇φ is a multiple of 1.
func lowest(m Modulus, d int) []float64 {
	x := make([]float64, d)
	if _, err := ProjectDual(m, x, nil); err != nil {
		panic(err) // Validate has found a shift
	}
	m.ConjugateGradient(x, x)
	return x
}

// A profile is a function f(t) of one coordinate, or of several that have a kernel in common, at points of the
// interval of that coordinate; between two of them, f − λt − νg is at most the larger of the values beside it.
type profile struct {
	kernel  Kernel
	count   float64
	t, f, g []float64
}

// profiles returns φᵢ, and g = |t| or t² as ‖θ‖_P has it, within the intervals that the class and the domain leave to θᵢ.
func (c Class) profiles(m Modulus, d int) (all []profile, separable bool) {
	s, ok := asSeparable(m)
	if !ok {
		return nil, false
	}
	n, count := float64(d), 1.0
	if s.Each == nil {
		d, count = 1, n
	}
	l := line{m: m, sep: s, y: make([]float64, int(n))}
	low, high := l.sums()
	for i := range d {
		k := s.at(i)
		lo, hi := k.Domain()
		a, b := max(lo, hi-(high-1)), min(hi, lo+(1-low)) // the others add up to no more than they can
		if math.IsInf(low, -1) {
			b = hi
		}
		if math.IsInf(high, 1) {
			a = lo
		}
		mean, half := 1/n, math.Sqrt((1-1/n)*max(0, c.R*c.R-1/n))
		switch c.P {
		case 1:
			mean, half = 0.5, c.R/2
		case math.Inf(1):
			mean, half = 0, c.R
			a = max(a, 1-(n-1)*c.R)
		}
		all = append(all, newProfile(k, count, max(a, mean-half), min(b, mean+half), c.P))
	}
	return all, true
}

func newProfile(k Kernel, count, a, b, p float64) profile {
	f, pieces := profile{kernel: k, count: count}, 512
	if math.IsInf(b-a, 1) { // f is unbounded
		return profile{k, count, []float64{1}, []float64{math.Inf(1)}, []float64{0}}
	}
	lo, hi := k.Domain()
	for j := range pieces + 1 { // denser near the ends
		t := a + (b-a)*math.Pow(math.Sin(math.Pi/2*float64(j)/float64(pieces)), 2)
		if len(f.t) > 0 && f.t[len(f.t)-1] < 0 && t > 0 {
			f.t = append(f.t, 0) // where |t| has its kink
		}
		f.t = append(f.t, max(math.Nextafter(lo, hi), min(math.Nextafter(hi, lo), t)))
	}
	f.t = slices.Compact(f.t)
	for j, t := range f.t {
		at := max(a, min(b, t))
		if j == 0 && a == lo || j == len(f.t)-1 && b == hi {
			at = map[bool]float64{true: lo, false: hi}[j == 0]
		}
		v, below := k.Value(at), math.Abs(t)
		if math.IsNaN(v) { // 0·log 0 as it stands
			v = k.Value(t)
		}
		if p == 2 { // a chord of t² is at most a quarter of the squared step above it
			gap := max(t-f.t[max(j-1, 0)], f.t[min(j+1, len(f.t)-1)]-t)
			below = t*t - gap*gap/4
		}
		f.f, f.g = append(f.f, v), append(f.g, below)
	}
	return f
}

// curvatureBounds returns at each of the points the least of φ″ on the pieces beside it. If φ″ is convex, it is above
// the lines through the two points on either side.
func curvatureBounds(k Kernel, t []float64) []float64 {
	h, low := make([]float64, len(t)), slices.Repeat([]float64{math.Inf(1)}, len(t))
	for j, v := range t {
		h[j] = 1 / kernelCurvature(k, k.Deriv(v))
	}
	line := func(i, j int, at float64) float64 {
		if i < 0 || j >= len(t) || math.IsInf(h[i]+h[j], 1) {
			return math.Inf(-1)
		}
		return h[i] + (h[j]-h[i])*((at-t[i])/(t[j]-t[i]))
	}
	for j := range t {
		next := min(j+1, len(t)-1)
		v := max(min(h[j], line(j-1, j, t[next])), min(h[next], line(next, next+1, t[j])))
		if next == j {
			v = h[j]
		}
		low[j], low[next] = min(low[j], v), min(low[next], v)
	}
	return low
}

// convexCurvature reports whether φ″ is known to be convex: 2R/(R² − x²), R²/(R² − x²)^{3/2}, sec², and xᵖ with p ≤ 0 are.
func convexCurvature(k Kernel) bool {
	switch k := k.(type) {
	case cube, fermiDirac, hellinger, logCosine, entropy, tsallis, burg, square:
		return true
	case scaledKernel:
		return convexCurvature(k.Kernel)
	}
	return false
}

// largest returns an upper bound of Σᵢ fᵢ(θᵢ) over the class, the least over λ and ν ≥ 0 of
//
//	λ + ν·g(R) + Σᵢ max over t of fᵢ(t) − λt − νg(t).
//
// It is convex in λ and ν, so it falls as long as the t that are chosen have Σt > 1 or Σg > g(R).
func (c Class) largest(all []profile) float64 {
	best, size := math.Inf(1), c.R
	if c.P == 2 {
		size *= c.R
	}
	along := func(nu float64) (above bool) {
		bisect(math.Inf(-1), func(lambda float64) bool {
			total, sumT, sumG := lambda+nu*min(size, math.MaxFloat64), 0.0, 0.0
			for _, p := range all {
				top, at := math.Inf(-1), 0
				for k, f := range p.f {
					if v := f - lambda*p.t[k] - nu*p.g[k]; v > top {
						top, at = v, k
					}
				}
				total, sumT, sumG = total+p.count*top, sumT+p.count*p.t[at], sumG+p.count*p.g[at]
			}
			best, above = min(best, total), sumG > size
			return sumT > 1
		})
		return above
	}
	if along(0) && !math.IsInf(c.P, 1) && !math.IsInf(best, 1) {
		bisect(0, along)
	}
	return best
}

// bisect looks for the number, no less than from, up to which rising is true.
func bisect(from float64, rising func(float64) bool) {
	a, b := from, 1.
	if math.IsInf(a, -1) {
		for a = -1; !rising(a) && a > -1e9; a *= 8 {
		}
	}
	for ; rising(b) && b < 1e9; b *= 8 {
	}
	for range 30 {
		if mid := a + (b-a)/2; rising(mid) {
			a = mid
		} else {
			b = mid
		}
	}
}

// estimate returns the least ⟨∇φ(x) − ∇φ(y), x − y⟩/‖x − y‖_p² of neighbours, and the range of φ, at points and ends of
// random rays from the lowest point.
func (c Class) estimate(m Modulus, d int, p float64) (mu, size float64) {
	rng, from := rand.New(rand.NewPCG(1, 0)), lowest(m, d)
	direction := func(i int) []float64 {
		e := make([]float64, d)
		if rng.IntN(3) == 0 {
			e[i], e[(i+1+rng.IntN(d-1))%d] = 1, -1
			return e
		}
		for j := range e {
			e[j] = rng.NormFloat64()
		}
		floats.AddConst(-sum.Of(e)/float64(d), e)
		return e
	}
	g, h := make([]float64, d), make([]float64, d)
	mu = math.Inf(1)
	for trial := range 400 * min(d-1, 4) {
		e := direction(trial % d)
		end := halve(0, 2*min(c.R, 1e6)+2, func(t float64) bool {
			x := combine(1, from, t, e)
			return floats.Norm(x, c.P) <= c.R && m.InDomain(x)
		})
		size = max(size, m.Value(combine(1, from, end, e))-m.Value(from))
		x := combine(1, from, end*rng.Float64(), e)
		y := combine(1, x, 1e-4*end, direction(trial%d))
		if m.InDomain(x) && m.InDomain(y) {
			m.Gradient(g, x)
			m.Gradient(h, y)
			floats.Sub(g, h)
			floats.SubTo(h, x, y)
			mu = min(mu, floats.Dot(g, h)/math.Pow(floats.Norm(h, p), 2))
		}
	}
	return mu, size
}
