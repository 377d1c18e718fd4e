package bregman

import (
	"fmt"
	"math"

	"github.com/mixpolicy/lab/mixpolicy/internal/sum"
)

// This file makes moduli out of moduli. A combination of separable moduli is separable
// again, as a [Separable] over a combined kernel, so that the solver's bounds still apply.

// KernelOf returns the kernel of a separable modulus, and false if m is none.
func KernelOf(m Modulus) (Kernel, bool) {
	if s, ok := m.(Separable); ok {
		return s.Kernel, true
	}
	if c, ok := m.(Coordinatewise); ok {
		return coordinate{c, m}, true
	}
	return nil, false
}

// coordinate is one coordinate of a modulus.
type coordinate struct {
	Coordinatewise
	m Modulus
}

func (k coordinate) Value(x float64) float64 { return k.m.Value([]float64{x}) }

func (k coordinate) ConjCurvature(y float64) float64 { return curvature(k.Coordinatewise, y) }
func (k coordinate) Sketch(y float64) (x, slope float64) {
	return sketch(k.Coordinatewise, y)
}
func (k coordinate) Validate() error { return validate(k.m) }
func (k coordinate) String() string  { return fmt.Sprint(k.m) }

// curvature returns (k*)″(y), NaN if k does not know.
func curvature(k any, y float64) float64 {
	if c, ok := k.(KernelCurver); ok {
		return c.ConjCurvature(y)
	}
	return math.NaN()
}

func validate(x any) error {
	if v, ok := x.(Validator); ok {
		return v.Validate()
	}
	return nil
}

// Scale returns cφ, for c > 0. The step sizes of Algorithm 1 act as 1/c: ηg on cφ is
// (η/c)g on φ.
func Scale(m Modulus, c float64) Modulus {
	if k, ok := KernelOf(m); ok {
		return Separable{scaledKernel{k, c}}
	}
	return scaled{m, c}
}

type scaledKernel struct {
	Kernel
	c float64
}

func (k scaledKernel) Value(x float64) float64     { return k.c * k.Kernel.Value(x) }
func (k scaledKernel) Deriv(x float64) float64     { return k.c * k.Kernel.Deriv(x) }
func (k scaledKernel) ConjDeriv(y float64) float64 { return k.Kernel.ConjDeriv(y / k.c) }
func (k scaledKernel) ConjCurvature(y float64) float64 {
	return curvature(k.Kernel, y/k.c) / k.c
}
func (k scaledKernel) Sketch(y float64) (x, slope float64) {
	x, slope = sketch(k.Kernel, y/k.c)
	return x, slope / k.c
}
func (k scaledKernel) Divergence(x, y float64) float64 {
	return k.c * kernelDivergence(k.Kernel, x, y)
}
func (k scaledKernel) Validate() error {
	if err := validate(k.Kernel); err != nil {
		return err
	}
	return validFactor(k.c)
}
func (k scaledKernel) String() string { return fmt.Sprintf("%g·(%v)", k.c, k.Kernel) }

func validFactor(c float64) error {
	if !(c > 0) || math.IsInf(c, 1) {
		return fmt.Errorf("bregman: modulus scaled by %g: want a positive number", c)
	}
	return nil
}

type scaled struct {
	Modulus
	c float64
}

func (s scaled) Value(x []float64) float64 { return s.c * s.Modulus.Value(x) }
func (s scaled) Gradient(dst, x []float64) {
	s.Modulus.Gradient(dst, x)
	for i := range dst {
		dst[i] *= s.c
	}
}
func (s scaled) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	for i, v := range y {
		dst[i] = v / s.c
	}
	s.Modulus.ConjugateGradient(dst, dst)
}
func (s scaled) Divergence(x, y []float64) float64 { return s.c * Divergence(s.Modulus, x, y) }
func (s scaled) Validate() error {
	if err := validate(s.Modulus); err != nil {
		return err
	}
	return validFactor(s.c)
}
func (s scaled) String() string { return fmt.Sprintf("%g·(%v)", s.c, s.Modulus) }

// Translate returns φ(x − b), whose domain is moved by b. A b of length 1 moves every
// coordinate.
func Translate(m Modulus, b ...float64) Modulus {
	if k, ok := KernelOf(m); ok {
		if len(b) == 1 {
			return Separable{affineKernel{k, 1, -b[0]}}
		}
		ks := make(Coordinates, len(b))
		for i, v := range b {
			ks[i] = affineKernel{k, 1, -v}
		}
		return ks
	}
	return translated{m, b}
}

type translated struct {
	Modulus
	b []float64
}

func (t translated) by(i int) float64 {
	if len(t.b) == 1 {
		return t.b[0]
	}
	return t.b[i]
}

func (t translated) checkLen(x []float64) {
	if len(t.b) != 1 {
		checkLen(t.b, x)
	}
}

// minus stores x − b in dst.
func (t translated) minus(dst, x []float64) []float64 {
	t.checkLen(x)
	for i, v := range x {
		dst[i] = v - t.by(i)
	}
	return dst
}

func (t translated) Value(x []float64) float64 {
	return t.Modulus.Value(t.minus(make([]float64, len(x)), x))
}
func (t translated) Gradient(dst, x []float64) {
	checkLen(dst, x)
	t.Modulus.Gradient(dst, t.minus(dst, x))
}
func (t translated) ConjugateGradient(dst, y []float64) {
	t.checkLen(y)
	t.Modulus.ConjugateGradient(dst, y)
	for i := range dst {
		dst[i] += t.by(i)
	}
}
func (t translated) InDomain(x []float64) bool {
	return t.Modulus.InDomain(t.minus(make([]float64, len(x)), x))
}
func (t translated) Divergence(x, y []float64) float64 {
	return Divergence(t.Modulus, t.minus(make([]float64, len(x)), x), t.minus(make([]float64, len(y)), y))
}
func (t translated) Validate() error { return validate(t.Modulus) }
func (t translated) String() string  { return fmt.Sprintf("%v moved by %v", t.Modulus, t.b) }

// affineKernel is φ(sx + t), s ≠ 0.
type affineKernel struct {
	Kernel
	s, t float64
}

func (k affineKernel) Value(x float64) float64     { return k.Kernel.Value(k.s*x + k.t) }
func (k affineKernel) Deriv(x float64) float64     { return k.s * k.Kernel.Deriv(k.s*x+k.t) }
func (k affineKernel) ConjDeriv(y float64) float64 { return (k.Kernel.ConjDeriv(y/k.s) - k.t) / k.s }
func (k affineKernel) ConjCurvature(y float64) float64 {
	return curvature(k.Kernel, y/k.s) / (k.s * k.s)
}
func (k affineKernel) Sketch(y float64) (x, slope float64) {
	x, slope = sketch(k.Kernel, y/k.s)
	return (x - k.t) / k.s, slope / (k.s * k.s)
}
func (k affineKernel) Divergence(x, y float64) float64 {
	return kernelDivergence(k.Kernel, k.s*x+k.t, k.s*y+k.t)
}
func (k affineKernel) Domain() (lo, hi float64) {
	lo, hi = k.Kernel.Domain()
	lo, hi = (lo-k.t)/k.s, (hi-k.t)/k.s
	return min(lo, hi), max(lo, hi)
}
func (k affineKernel) Validate() error { return validate(k.Kernel) }
func (k affineKernel) String() string  { return fmt.Sprintf("%v at %gx%+g", k.Kernel, k.s, k.t) }

// boxKernel is a kernel moved from its own interval onto (lo, hi), with s the ratio of their
// lengths. It reckons from the nearer end, so that nothing is lost there.
type boxKernel struct {
	Kernel
	lo, hi, s float64
}

func (k boxKernel) inner(x float64) float64 {
	a, b := k.Kernel.Domain()
	if x-k.lo < k.hi-x {
		return a + k.s*(x-k.lo)
	}
	return b - k.s*(k.hi-x)
}

func (k boxKernel) outer(x float64) float64 {
	a, b := k.Kernel.Domain()
	if x-a < b-x {
		return k.lo + (x-a)/k.s
	}
	return k.hi - (b-x)/k.s
}

func (k boxKernel) Value(x float64) float64     { return k.Kernel.Value(k.inner(x)) }
func (k boxKernel) Deriv(x float64) float64     { return k.s * k.Kernel.Deriv(k.inner(x)) }
func (k boxKernel) ConjDeriv(y float64) float64 { return k.outer(k.Kernel.ConjDeriv(y / k.s)) }
func (k boxKernel) ConjCurvature(y float64) float64 {
	return curvature(k.Kernel, y/k.s) / (k.s * k.s)
}
func (k boxKernel) Sketch(y float64) (x, slope float64) {
	x, slope = sketch(k.Kernel, y/k.s)
	return k.outer(x), slope / (k.s * k.s)
}
func (k boxKernel) Divergence(x, y float64) float64 {
	return kernelDivergence(k.Kernel, k.inner(x), k.inner(y))
}
func (k boxKernel) Domain() (lo, hi float64) { return k.lo, k.hi }
func (k boxKernel) Validate() error          { return validate(k.Kernel) }
func (k boxKernel) String() string           { return fmt.Sprintf("%v on (%g, %g)", k.Kernel, k.lo, k.hi) }

// Sum returns φ₁ + φ₂ + … for separable moduli, on the intersection of their domains. The
// inverse of the derivative is found by iteration. It returns an error if one of them is
// not separable: the conjugate of such a sum has no formula in those of its terms.
func Sum(ms ...Modulus) (Modulus, error) {
	var total Kernel
	for i, m := range ms {
		k, ok := KernelOf(m)
		if !ok {
			return nil, fmt.Errorf("bregman: term %d of the sum, %v, is not separable", i, m)
		}
		if total == nil {
			total = k
		} else {
			total = sumKernel{total, k}
		}
	}
	if total == nil {
		return nil, fmt.Errorf("bregman: a sum of no moduli")
	}
	s := Separable{total}
	return s, s.Validate()
}

// Regularize returns φ + (ε/2)‖x‖², which is at least ε-strongly convex in ℓ₂, for a
// separable φ.
func Regularize(m Modulus, epsilon float64) (Modulus, error) {
	return Sum(m, Scale(Euclidean{}, epsilon))
}

type sumKernel struct{ a, b Kernel }

func (k sumKernel) Value(x float64) float64     { return k.a.Value(x) + k.b.Value(x) }
func (k sumKernel) Deriv(x float64) float64     { return k.a.Deriv(x) + k.b.Deriv(x) }
func (k sumKernel) ConjDeriv(y float64) float64 { lo, hi := k.Domain(); return invert(k, y, lo, hi) }
func (k sumKernel) ConjCurvature(y float64) float64 {
	_, second := k.derivs(k.ConjDeriv(y))
	return 1 / second
}
func (k sumKernel) derivs(x float64) (first, second float64) {
	a, b := k.a.Deriv(x), k.b.Deriv(x)
	return a + b, 1/curvature(k.a, a) + 1/curvature(k.b, b)
}
func (k sumKernel) Divergence(x, y float64) float64 {
	return kernelDivergence(k.a, x, y) + kernelDivergence(k.b, x, y)
}
func (k sumKernel) Domain() (lo, hi float64) {
	lo, hi = k.a.Domain()
	lo2, hi2 := k.b.Domain()
	return max(lo, lo2), min(hi, hi2)
}
func (k sumKernel) Validate() error {
	if err := validate(k.a); err != nil {
		return err
	}
	return validate(k.b)
}
func (k sumKernel) String() string { return fmt.Sprintf("%v + %v", k.a, k.b) }

// Coordinates is φ(x) = Σᵢ kᵢ(xᵢ) with a kernel for each coordinate.
type Coordinates []Kernel

var (
	_ Modulus     = Coordinates{}
	_ Conjugator  = Coordinates{}
	_ Divergencer = Coordinates{}
	_ Curver      = Coordinates{}
	_ Validator   = Coordinates{}
)

// Box moves a separable modulus with a bounded domain onto the box (loᵢ, hiᵢ), coordinate by
// coordinate. It returns an error if m is not separable, if its domain is unbounded, or if
// an interval is empty.
func Box(m Modulus, lo, hi []float64) (Modulus, error) {
	checkLen(lo, hi)
	k, ok := KernelOf(m)
	if !ok {
		return nil, fmt.Errorf("bregman: box of %v: want a separable modulus", m)
	}
	a, b := k.Domain()
	if math.IsInf(a, -1) || math.IsInf(b, 1) {
		return nil, fmt.Errorf("bregman: box of %v: its domain (%g, %g) is unbounded", m, a, b)
	}
	ks := make(Coordinates, len(lo))
	for i := range lo {
		if !(lo[i] < hi[i]) || math.IsInf(hi[i]-lo[i], 1) {
			return nil, fmt.Errorf("bregman: side %d of the box, (%g, %g), is not a bounded interval", i, lo[i], hi[i])
		}
		ks[i] = boxKernel{k, lo[i], hi[i], (b - a) / (hi[i] - lo[i])}
	}
	return ks, nil
}

// Validate returns the first error of a kernel.
func (c Coordinates) Validate() error {
	for _, k := range c {
		if err := validate(k); err != nil {
			return err
		}
	}
	return nil
}

// Value returns Σᵢ kᵢ(xᵢ).
func (c Coordinates) Value(x []float64) float64 {
	c.check(x)
	var acc sum.Accumulator
	for i, v := range x {
		if lo, hi := c[i].Domain(); !(lo <= v && v <= hi) {
			return math.Inf(1)
		}
		acc.Add(c[i].Value(v))
	}
	return acc.Value()
}

func (c Coordinates) check(x []float64) {
	if len(x) != len(c) {
		panic(fmt.Sprintf("bregman: vector of %d entries for a modulus of %d coordinates", len(x), len(c)))
	}
}

// Gradient stores kᵢ′(xᵢ) in dst.
func (c Coordinates) Gradient(dst, x []float64) {
	checkLen(dst, x)
	c.check(x)
	for i, v := range x {
		dst[i] = c[i].Deriv(v)
	}
}

// ConjugateGradient stores (kᵢ*)′(yᵢ) in dst.
func (c Coordinates) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	c.check(y)
	for i, v := range y {
		dst[i] = c[i].ConjDeriv(v)
	}
}

func (c Coordinates) side(i int) (lo, hi float64) { return c[i].Domain() }

func (c Coordinates) halfway(i int) float64 {
	lo, hi := c[i].Domain()
	return c[i].Deriv(lo + (hi-lo)/2)
}

func (c Coordinates) curvatureAt(i int, y float64) float64 { return curverOf(c[i]).ConjCurvature(y) }

func (c Coordinates) sketchAt(i int, y float64) (x, slope float64) { return sketch(c[i], y) }

// InDomain reports whether every xᵢ is inside its kernel's interval.
func (c Coordinates) InDomain(x []float64) bool {
	c.check(x)
	for i, v := range x {
		if lo, hi := c[i].Domain(); !(lo < v && v < hi) {
			return false
		}
	}
	return true
}

// Conjugate returns Σᵢ kᵢ*(yᵢ).
func (c Coordinates) Conjugate(y []float64) float64 {
	c.check(y)
	var acc sum.Accumulator
	for i, v := range y {
		acc.Add(kernelConjugate(c[i], v))
	}
	return acc.Value()
}

// ConjugateCurvature returns Σᵢ (kᵢ*)″(yᵢ).
func (c Coordinates) ConjugateCurvature(y []float64) float64 {
	c.check(y)
	var acc sum.Accumulator
	for i, v := range y {
		acc.Add(curvature(c[i], v))
	}
	return acc.Value()
}

// Divergence returns the sum of the kernels' divergences.
func (c Coordinates) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	c.check(x)
	var acc sum.Accumulator
	for i, v := range x {
		acc.Add(kernelDivergence(c[i], v, y[i]))
	}
	return acc.Value()
}

// String tells the number of coordinates and the first kernel.
func (c Coordinates) String() string {
	if len(c) == 0 {
		return "no coordinates"
	}
	return fmt.Sprintf("%d coordinates: %v, …", len(c), c[0])
}

// A Block is a modulus for the next Len coordinates.
type Block struct {
	Len     int
	Modulus Modulus
}

// Blocks is φ(x) = φ₁(x₁, …, x_{n₁}) + φ₂(x_{n₁+1}, …) + …: each block of coordinates in a set of
// its own.
type Blocks []Block

var (
	_ Modulus     = Blocks{}
	_ Conjugator  = Blocks{}
	_ Divergencer = Blocks{}
	_ Curver      = Blocks{}
	_ Validator   = Blocks{}
)

// Validate returns the first error of a block.
func (b Blocks) Validate() error {
	for i, block := range b {
		if block.Modulus == nil || block.Len < 1 {
			return fmt.Errorf("bregman: block %d has %d coordinates and the modulus %v", i, block.Len, block.Modulus)
		}
		if err := validate(block.Modulus); err != nil {
			return err
		}
	}
	return nil
}

func (b Blocks) check(x []float64) {
	n := 0
	for _, block := range b {
		n += block.Len
	}
	if n != len(x) {
		panic(fmt.Sprintf("bregman: vector of %d entries for blocks of %d", len(x), n))
	}
}

func (b Blocks) total(x []float64, f func(m Modulus, x []float64) float64) float64 {
	b.check(x)
	var acc sum.Accumulator
	for _, block := range b {
		acc.Add(f(block.Modulus, x[:block.Len]))
		x = x[block.Len:]
	}
	return acc.Value()
}

// Value returns the sum over the blocks.
func (b Blocks) Value(x []float64) float64 { return b.total(x, Modulus.Value) }

// Conjugate returns the sum over the blocks.
func (b Blocks) Conjugate(y []float64) float64 { return b.total(y, Conjugate) }

// ConjugateCurvature returns the sum over the blocks.
func (b Blocks) ConjugateCurvature(y []float64) float64 {
	return b.total(y, func(m Modulus, y []float64) float64 { return JSecond(m, y, 0) })
}

// Gradient is the blocks' gradients one after the other.
func (b Blocks) Gradient(dst, x []float64) {
	checkLen(dst, x)
	b.check(x)
	for _, block := range b {
		block.Modulus.Gradient(dst[:block.Len], x[:block.Len])
		dst, x = dst[block.Len:], x[block.Len:]
	}
}

// ConjugateGradient is the blocks' maps one after the other.
func (b Blocks) ConjugateGradient(dst, y []float64) {
	checkLen(dst, y)
	b.check(y)
	for _, block := range b {
		block.Modulus.ConjugateGradient(dst[:block.Len], y[:block.Len])
		dst, y = dst[block.Len:], y[block.Len:]
	}
}

// InDomain reports whether every block is in its domain.
func (b Blocks) InDomain(x []float64) bool {
	b.check(x)
	for _, block := range b {
		if !block.Modulus.InDomain(x[:block.Len]) {
			return false
		}
		x = x[block.Len:]
	}
	return true
}

// Divergence returns the sum over the blocks.
func (b Blocks) Divergence(x, y []float64) float64 {
	checkLen(x, y)
	b.check(x)
	var acc sum.Accumulator
	for _, block := range b {
		acc.Add(Divergence(block.Modulus, x[:block.Len], y[:block.Len]))
		x, y = x[block.Len:], y[block.Len:]
	}
	return acc.Value()
}

// Radial is φ(x) = k(‖x‖) for an even kernel k: what [Separable] makes a cube of, Radial makes
// a ball of. The domain of k must be (−R, R), R possibly infinite, with k′(0) = 0.
type Radial struct{ Kernel Kernel }

var (
	_ Modulus    = Radial{}
	_ Conjugator = Radial{}
	_ Curver     = Radial{}
	_ Validator  = Radial{}
)

// Validate returns an error unless the kernel's domain is symmetric and k′(0) = 0.
func (r Radial) Validate() error {
	if r.Kernel == nil {
		return fmt.Errorf("bregman: radial modulus without a kernel")
	}
	if lo, hi := r.Kernel.Domain(); lo != -hi || !(hi > 0) {
		return fmt.Errorf("bregman: radial modulus of a kernel on (%g, %g): want (−R, R)", lo, hi)
	}
	if d := r.Kernel.Deriv(0); d != 0 {
		return fmt.Errorf("bregman: radial modulus of a kernel with k′(0) = %g: want 0", d)
	}
	return validate(r.Kernel)
}

// Value returns k(‖x‖).
func (r Radial) Value(x []float64) float64 {
	n := Norm(2).Of(x)
	if _, hi := r.Kernel.Domain(); !(n <= hi) {
		return math.Inf(1)
	}
	return r.Kernel.Value(n)
}

// Gradient stores k′(‖x‖)x/‖x‖ in dst.
func (r Radial) Gradient(dst, x []float64) { radially(dst, x, r.Kernel.Deriv) }

// ConjugateGradient stores (k*)′(‖y‖)y/‖y‖ in dst.
func (r Radial) ConjugateGradient(dst, y []float64) { radially(dst, y, r.Kernel.ConjDeriv) }

func radially(dst, x []float64, f func(float64) float64) {
	checkLen(dst, x)
	n := Norm(2).Of(x)
	if n == 0 {
		clear(dst)
		return
	}
	v := f(n)
	for i := range x {
		dst[i] = x[i] / n * v
	}
}

// ConjugateCurvature returns J″ of (3.24), d(s (k*)″(n) + (1 − s) (k*)′(n)/n) with n = ‖y‖ and
// s = dȳ²/n², or NaN if the kernel is no [KernelCurver].
func (r Radial) ConjugateCurvature(y []float64) float64 {
	k, ok := r.Kernel.(KernelCurver)
	n := Norm(2).Of(y)
	switch {
	case !ok:
		return math.NaN()
	case n == 0:
		return float64(len(y)) * k.ConjCurvature(0)
	}
	_, _, c, ww := centred(y)
	t := math.Sqrt(ww) / c / n // √(1 − s)
	t *= t
	return float64(len(y)) * (max(0, 1-t)*k.ConjCurvature(n) + t*r.Kernel.ConjDeriv(n)/n)
}

// InDomain reports whether ‖x‖ < R.
func (r Radial) InDomain(x []float64) bool {
	_, hi := r.Kernel.Domain()
	return Norm(2).Of(x) < hi
}

// Conjugate returns k*(‖y‖).
func (r Radial) Conjugate(y []float64) float64 { return kernelConjugate(r.Kernel, Norm(2).Of(y)) }

// String names the kernel.
func (r Radial) String() string { return fmt.Sprintf("radial %v", r.Kernel) }
