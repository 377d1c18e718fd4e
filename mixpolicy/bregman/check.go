package bregman

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
)

// Check examines a modulus in ℝᵈ: whether it is a Legendre function, whether its methods agree
// with each other, and how it behaves in the projection. The seed determines all random points.
//
// A table of identities relates the methods: ∇φ is the gradient of φ, ∇φ*(∇φ(x)) = x, and so on. Each identity names
// the methods that it relates. Check blames the method that every failing identity names. If all failing identities
// have several methods in common, Check discards each of these methods that appears in an identity that holds, and
// blames the remaining method if exactly one remains. The finding then says what is wrong with the numbers that the
// method returns. For example, these numbers may be off by a factor, an offset or a sign, may be the reciprocals of the
// right numbers, or may be the numbers of another method.
//
// Most tolerances are a thousand times the estimated rounding error of the compared numbers. The estimate takes into
// account how strongly rounding of the argument changes the result; Check measures this change at perturbed points.
// Check omits findings that follow from another finding, so a modulus with several mistakes may need another check
// after the first mistakes are fixed.
//
// If ctx ends before the examinations do, Check stops, and a finding says so.
//
//	report := bregman.Check(ctx, bregman.Cube(2), 4, 1)
//	fmt.Println(report, report.Err())
func Check(ctx context.Context, m Modulus, d int, seed uint64) *Report {
	c := &checker{
		m: m, d: d, rng: rand.New(rand.NewPCG(seed, 0)), named: namesOf(m), report: &Report{Modulus: nameOf(m), Dim: d},
		failed: map[string]bool{}, readings: map[string][]reading{},
	}
	c.protect(func() {
		if err := validate(m); err != nil {
			f := c.accuse(Invalid, 0, "", "%s", strings.TrimPrefix(err.Error(), "bregman: "))
			f.Method = map[bool]string{false: "Validate", true: c.named[domain]}[strings.HasPrefix(f.Words, "the domain")]
		}
	})
	if len(c.report.Findings) > 0 {
		return c.report
	}
	drawn := c.protect(c.draw) && c.parts != nil
	for _, row := range identities {
		if err := ctx.Err(); err != nil {
			c.accuse(Stopped, 0, "", "the examination ended early: %v", err)
			return c.report
		}
		e := Examination{Name: row.name, OK: true}
		if !drawn || !c.protect(func() { c.readAll(row, &e) }) {
			e.OK, e.Worst, e.Limit, e.Where = false, math.Inf(1), 1, "see the panic"
		}
		c.failed[row.name] = !e.OK
		c.report.Examinations = append(c.report.Examinations, e)
	}
	if drawn && !c.panics {
		c.protect(c.taylor)
		c.protect(c.diagnose)
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int { return int(a.Kind - b.Kind) })
	return c.report
}

type checker struct {
	m      Modulus
	d      int
	whole  *part   // m itself
	parts  []*part // the kernels of m as moduli, or, if m is not separable, m itself
	named  map[role]string
	rng    *rand.Rand
	report *Report
	failed map[string]bool // the rows that failed, by name
	panics bool

	// Data that the rows collect for the diagnosis.
	readings map[string][]reading // by the name of their identity
	narrow   bool                 // whether the domain may be too narrow, because the methods also agree outside it
}

// nameOf returns the result of m.String, or, without this method, the type of m.
func nameOf(m any) string {
	if s, ok := m.(fmt.Stringer); ok {
		return fmt.Sprint(s)
	}
	return fmt.Sprintf("%T", m)
}

// A role is the purpose of a method. A set of roles is the sum of its roles.
type role int

const (
	value role = 1 << iota
	gradient
	inverse
	conjugate
	divergence
	curvature
	shift
	domain
	constant
)

// namesOf returns, for each role, the name of the method, field or argument that the author of m provides for it.
func namesOf(m Modulus) map[role]string {
	n := map[role]string{value: "Value", gradient: "Gradient", inverse: "ConjugateGradient", curvature: "ConjugateCurvature",
		domain: "InDomain", constant: "StrongConvexity", conjugate: "Conjugate", divergence: "Divergence", shift: "Shift"}
	s, separable := asSeparable(m)
	if separable {
		n[gradient], n[inverse], n[curvature], n[domain], n[constant] = "Deriv", "ConjDeriv", "ConjCurvature", "Domain", "Mu"
	}
	if is[automatic](s.Kernel) || is[*vectorFunc](m) {
		n[value], n[gradient], n[inverse], n[curvature] = "φ", "φ", "φ", "φ"
	}
	if is[automatic](s.Kernel) {
		n[domain] = "lo and hi"
	}
	return n
}

// protect calls f, and reports whether f returned without a panic. A panic becomes a finding, which names the line that
// panicked. The finding also names the innermost method on the stack, among the methods that moduli and kernels have.
func (c *checker) protect(f func()) (ok bool) {
	defer func() {
		p := recover()
		if c.panics = c.panics || p != nil; p == nil {
			return
		}
		found, pc := Finding{Kind: Panics, Words: fmt.Sprint(p), Measured: math.NaN()}, make([]uintptr, 256)
		frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)]) // skip the frames of this function and of the panic
		for call, more := frames.Next(); more && found.Method == ""; call, more = frames.Next() {
			if found.Where == "" && !strings.HasPrefix(call.Function, "runtime.") {
				found.Where = fmt.Sprintf("%s:%d", filepath.Base(call.File), call.Line)
			}
			name := strings.TrimSuffix(call.Function[strings.LastIndex(call.Function, ".")+1:], "-fm")
			if strings.Contains(methods, " "+name+" ") {
				found.Method, found.Words = name, name+" panics: "+found.Words
			}
		}
		if !slices.ContainsFunc(c.report.Findings, func(f Finding) bool { return f.Method == found.Method && f.Where == found.Where }) {
			c.report.Findings = append(c.report.Findings, found)
		}
	}()
	f()
	return true
}

const methods = " Value Gradient ConjugateGradient InDomain Deriv ConjDeriv Domain Conjugate Divergence " +
	"Shift ConjCurvature ConjugateCurvature StrongConvexity Validate "

// slack is the greatest allowed ratio of an error to its estimate.
const slack = 1000

// A part is a modulus that Check examines: a kernel of a [Separable], as a modulus in ℝ¹, or the whole modulus. Most
// identities are examined on the kernels if m is separable, and on the whole modulus otherwise.
type part struct {
	Modulus
	kernel Kernel // nil if the part is the whole modulus
	i      int    // the coordinate of the kernel
	each   bool   // whether each coordinate has its own kernel
	own    role   // the methods that the modulus or kernel has, including optional methods
	points [][]float64
	size   float64 // the median of ‖∇φ‖ at the points: the scale of rounding errors where ∇φ is small
}

// draw makes the parts and their points: some simple points, which are easy to read in a finding, and random points.
func (c *checker) draw() {
	c.whole = partOf(c.m, c.m)
	if s, sum := asSeparable(c.m); sum {
		c.split(s)
		return
	}
	// A vectorFunc computes with hyper-dual numbers and is less accurate near the boundary than other moduli, so its
	// points stay further inside.
	first, decades := c.inside(), map[bool]float64{false: 12, true: 6}[is[*vectorFunc](c.m)]
	if first == nil {
		c.accuse(Disagrees, domain, "", "no point was found inside the domain")
		return
	}
	for _, v := range append(simple, 1/float64(c.d)) {
		c.whole.add(slices.Repeat([]float64{v}, c.d))
	}
	c.whole.add(first)
	for range 120 { // in all directions; half of the time, close to the boundary on a logarithmic scale
		x, e := c.whole.points[c.rng.IntN(len(c.whole.points))], c.normal(1)
		if c.rng.IntN(2) == 0 {
			x = first
		}
		t := c.rng.Float64()
		if c.rng.IntN(2) == 0 {
			t = 1 - math.Exp(-decades*t)
		}
		c.whole.add(combine(1, x, t*c.whole.exit(x, e, 2*(1+norm2(x))/norm2(e)), e))
	}
	c.parts = []*part{c.whole}
}

var simple = []float64{0.3, 0.6, -0.3, 1.5, -1.5, 0.1, -0.1, 0}

// partOf returns a part for m, with the methods that m, or its kernel, has.
func partOf(m Modulus, of any) *part {
	own := value | gradient | inverse
	for r, has := range map[role]bool{conjugate: is[Conjugator](of) || is[kernelConjugator](of), shift: is[Shifter](of),
		divergence: is[Divergencer](of) || is[kernelDivergencer](of), curvature: is[Curver](of) || is[kernelCurver](of)} {
		if has {
			own |= r
		}
	}
	return &part{Modulus: m, own: own}
}

func is[T any](v any) bool { _, ok := v.(T); return ok }

// split makes a part for each kernel, and draws the points of the whole modulus. Every second of these points is ∇φ* of
// a random dual point, if the domain contains this ∇φ*.
func (c *checker) split(s Separable) {
	for i, k := range s.kernels() {
		p := partOf(Separable{Kernel: k}, k)
		p.kernel, p.i, p.each = k, i, s.Each != nil
		lo, hi := k.Domain()
		for _, v := range append(simple, 1/float64(c.d)) {
			p.add([]float64{v})
		}
		for range max(20, 200/len(s.kernels())) {
			p.add([]float64{c.spread(lo, hi)})
		}
		c.parts = append(c.parts, p)
	}
	for k := range 100 {
		x := make([]float64, c.d)
		for i := range x {
			points := c.parts[i%len(c.parts)].points
			x[i] = points[c.rng.IntN(len(points))][0]
		}
		if y := c.whole.inverse(c.normal(math.Exp(4*c.rng.Float64() - 2))); k%2 == 0 && c.m.InDomain(y) {
			x = y
		}
		c.whole.add(x)
	}
}

// add keeps x if it is in the domain and ‖x‖ < 10⁴, unless φ(x) = +∞ and ∇φ(x) has an entry beyond ±10²⁵⁰, as where
// cosh overflows.
func (p *part) add(x []float64) {
	if firstNonFinite(x) < 0 && norm2(x) < 1e4 && p.InDomain(x) && !(math.IsInf(p.Value(x), 1) && maxAbs(p.gradient(x)) > 1e250) {
		p.points = append(p.points, x)
	}
}

// inside returns a point of the domain, or nil if it finds none. It tries (1/d)1 (the start of a run), 0, the point
// given to [FromVectorFunc], and ∇φ* of random dual points.
func (c *checker) inside() []float64 {
	candidates := [][]float64{slices.Repeat([]float64{1 / float64(c.d)}, c.d), make([]float64, c.d)}
	if v, ok := c.m.(*vectorFunc); ok {
		candidates = append(candidates, v.inside)
	}
	if k := slices.IndexFunc(candidates, c.m.InDomain); k >= 0 {
		return candidates[k]
	}
	for trial := range 400 { // if y is too large, x is on the boundary; if y is too small, x may be far out
		y := c.normal(math.Exp2(float64(trial%200) / 8 * float64(1-2*(trial%2))))
		for i, v := range y { // the range of ∇φ may be on one side of 0, as for −log x
			y[i] = min(v, math.Abs(v)*float64(1-2*(trial/200)))
		}
		if x := c.whole.inverse(y); c.m.InDomain(x) && norm2(x) < 1e4 {
			return x
		}
	}
	return nil
}

// spread returns a random point of the interval (lo, hi). If an end is finite, the distance of the point from a finite
// end is uniform on a logarithmic scale.
func (c *checker) spread(lo, hi float64) float64 {
	gap, up, width := math.Exp(-12*c.rng.Float64()), c.rng.IntN(2) == 0, hi-lo
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return c.rng.NormFloat64() * math.Pow(gap, -4./3) / 1000
	case math.IsInf(width, 1):
		width, up = 20, math.IsInf(hi, 1)
	}
	if up {
		return lo + width*gap/2
	}
	return hi - width*gap/2
}

// exit finds the largest t in [0, most] for which x + te is in the domain, by bisecting the floating-point numbers.
func (p *part) exit(x, e []float64, most float64) float64 {
	at := func(n int) float64 { return math.Float64frombits(uint64(n)) } // rises with n
	outside := sort.Search(int(math.Float64bits(most))+1, func(n int) bool { return !p.InDomain(combine(1, x, at(n), e)) })
	return at(max(0, outside-1))
}

// reach returns a t with x ± te in the domain: (1 + ‖x‖)/‖e‖, halved as often as needed.
func (p *part) reach(x, e []float64) float64 {
	t := (1 + norm2(x)) / norm2(e)
	for k := 0; k < 200 && !(p.InDomain(combine(1, x, t, e)) && p.InDomain(combine(1, x, -t, e))); k++ {
		t /= 2
	}
	return t
}

func (c *checker) normal(scale float64) []float64 {
	x := make([]float64, c.d)
	for i := range x {
		x[i] = scale * c.rng.NormFloat64()
	}
	return x
}

func (p *part) gradient(x []float64) []float64 { return freshly(p.Gradient, x) }
func (p *part) inverse(y []float64) []float64  { return freshly(p.ConjugateGradient, y) }

// freshly returns f(x) in a new slice. It does not change x, even if f overwrites its argument.
func freshly(f func(dst, x []float64), x []float64) []float64 {
	dst := make([]float64, len(x))
	f(dst, slices.Clone(x))
	return dst
}

// unit returns the i-th unit vector in ℝᵈ.
func unit(d, i int) []float64 { return replaced(make([]float64, d), i, 1) }

// replaced returns a copy of x with v as its i-th entry.
func replaced(x []float64, i int, v float64) []float64 {
	z := slices.Clone(x)
	z[i] = v
	return z
}

func combine(a float64, x []float64, b float64, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		z[i] = a*x[i] + b*y[i]
	}
	return z
}

func norm2(x []float64) float64 { return normP(2, x) }

// rounding estimates the rounding error of φ(x) as an ulp of φ(x) plus the noise of φ along x. If x = 0, it adds an ulp
// of 1 instead of the noise.
func (p *part) rounding(x []float64) float64 {
	if maxAbs(x) == 0 {
		return ulp * (1 + math.Abs(p.Value(x)))
	}
	return noise(func(t float64) float64 { return p.Value(combine(1+t, x, 0, x)) }, 0x1p-16*p.reach(x, x))
}

// noise returns an ulp of f(0) plus the rounding noise of f, estimated from fourth differences, because a smooth
// function contributes almost nothing to fourth differences (Moré and Wild 2011).
func noise(f func(t float64) float64, h float64) (off float64) {
	var v [7]float64
	v[0] = math.NaN()
	for trial := 0; trial < 8 && firstNonFinite(v[:]) >= 0; trial++ {
		for k := range v {
			v[k] = f(float64(k-3) * h)
		}
		h /= 8
	}
	for k := range 3 {
		off = max(off, math.Abs(v[k]-4*v[k+1]+6*v[k+2]-4*v[k+3]+v[k+4])/8) // a fourth difference has √70 times the noise of f
	}
	return off + ulp*math.Abs(v[3])
}

// derivative returns f′(0) from central differences with h, h/2, h/4, …, extrapolated to h = 0 (Richardson). It also
// estimates the error: the distance of the extrapolation from the values that it combines (Ridders 1982), plus the
// effect of the noise of f and of the given rounding error. It chooses the extrapolation with the least estimated
// error.
func derivative(f func(t float64) float64, h, rounding float64) (slope, off float64) {
	rounding += noise(f, 0x1p-16*h)
	var row [14]float64
	slope, off = math.NaN(), math.Inf(1)
	for k := range row {
		last := row
		row[0] = (f(h) - f(-h)) / (2 * h)
		for j := 1; j <= k; j++ {
			row[j] = row[j-1] + (row[j-1]-last[j-1])/(math.Exp2(2*float64(j))-1)
			if e := max(math.Abs(row[j]-last[j-1]), math.Abs(row[j]-row[j-1])) + rounding/h; e < off {
				slope, off = row[j], e
			}
		}
		h /= 2
	}
	return slope, off
}

// condition returns the sum of two numbers: how far f(x) moves if each entry xᵢ moves by ulp·(|xᵢ| + elsewhere), and
// ulp·‖f(x)‖. It takes the worse of two moves of x: all entries move away from 0, or the entries move alternately away
// from 0 and towards 0, which changes their ratios.
func condition(f func([]float64) []float64, x, fx []float64, elsewhere float64) (most float64) {
	for _, turn := range []float64{1, -1} {
		moved, step := slices.Clone(x), 4*ulp
		for i, v := range x {
			moved[i] += step * (v + math.Copysign(elsewhere, v))
			step *= turn
		}
		most = max(most, norm2(combine(1, f(moved), -1, fx)))
	}
	if math.IsNaN(most) { // x is so near the boundary that the move leaves the domain
		return math.Inf(1)
	}
	return most/4 + ulp*norm2(fx)
}
