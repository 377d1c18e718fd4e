package bregman

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var million = flag.Bool("million", false, "draw 10⁶ cases of each modulus in TestEvaluations")

// dualPoint draws a point of 2 to 64 coordinates, of magnitudes from 1e-300 to 1e300: alike but
// for small differences, one far from the others, ties, spread over many magnitudes, evenly
// spaced, in two clusters, or plainly normal.
func dualPoint(rng *rand.Rand) []float64 {
	y := make([]float64, 2+int(62.999*math.Pow(rng.Float64(), 2)))
	scale := math.Pow(10, 8*rng.Float64()-4)
	if rng.IntN(4) == 0 {
		scale = math.Pow(10, 600*rng.Float64()-300)
	}
	common, spread := scale*rng.NormFloat64(), math.Pow(10, -16*rng.Float64())
	powers, shape := 10*rng.Float64(), rng.IntN(8)
	for i := range y {
		switch n := rng.NormFloat64(); shape {
		case 0:
			y[i] = common * (1 + spread*n)
		case 2:
			y[i] = scale * math.Round(2*n)
		case 3:
			y[i] = math.Copysign(scale*math.Exp(powers*rng.NormFloat64()), n)
		case 4:
			y[i] = scale * float64(i)
		case 5:
			y[i] = scale * (n + 100*float64(rng.IntN(2)))
		default:
			y[i] = scale * n
		}
	}
	if shape == 1 {
		y[rng.IntN(len(y))] *= math.Pow(10, 6*rng.Float64())
	}
	for i, v := range y {
		y[i] = max(-1e300, min(1e300, v))
	}
	return y
}

// A plainKernel knows no more than a kernel must.
type plainKernel struct{ Kernel }

func above(rng *rand.Rand) float64 { return 1 + math.Pow(10, 12*rng.Float64()-9) }

var iterated = []struct {
	name string
	mean float64 // evaluations of J′, as counted and rounded up
	draw func(rng *rand.Rand, d int) Modulus
}{
	{"Ball", 12, func(rng *rand.Rand, d int) Modulus { return Ball{above(rng) / math.Sqrt(float64(d))} }},
	{"LogBall", 12.7, func(rng *rand.Rand, d int) Modulus { return LogBall{above(rng) / math.Sqrt(float64(d))} }},
	{"Cube", 5.15, func(rng *rand.Rand, d int) Modulus { return Cube(above(rng) / float64(d)) }},
	{"Hellinger", 4.8, func(rng *rand.Rand, d int) Modulus { return Hellinger(above(rng) / float64(d)) }},
	{"LogCosine", 4.35, func(rng *rand.Rand, d int) Modulus { return LogCosine(above(rng) / float64(d)) }},
	{"FermiDirac", 5.9, func(rng *rand.Rand, d int) Modulus { return FermiDirac(boxAround(rng, d)) }},
	{"NegativeEntropy", 1.9, func(*rand.Rand, int) Modulus { return NegativeEntropy() }},
	{"Tsallis", 3.3, func(rng *rand.Rand, _ int) Modulus { return Tsallis(0.05 + 0.9*rng.Float64()) }},
	{"Burg", 3.8, func(*rand.Rand, int) Modulus { return Burg() }},
	{"Euclidean", 1.9, func(*rand.Rand, int) Modulus { return Euclidean() }},
	{"PNorm", 5.6, func(rng *rand.Rand, d int) Modulus { return PNorm{1.05 + 0.95*rng.Float64()} }},
	{"scaled LogCosine", 4.35, func(rng *rand.Rand, d int) Modulus {
		return Scale(LogCosine(above(rng)/float64(d)), math.Exp(rng.NormFloat64()))
	}},
	{"scaled Ball", 16.1, func(rng *rand.Rand, d int) Modulus {
		return Scale(Ball{above(rng) / math.Sqrt(float64(d))}, math.Exp(rng.NormFloat64()))
	}},
	{"plain Kernel", 5.15, func(rng *rand.Rand, d int) Modulus {
		return Separable{Kernel: plainKernel{Cube(above(rng) / float64(d)).Kernel}}
	}},
}

func boxAround(rng *rand.Rand, d int) (lo, hi []float64) {
	r := above(rng) / float64(d)
	for range d {
		lo = append(lo, -r*rng.Float64())
		hi = append(hi, r*(1+rng.Float64()))
	}
	return lo, hi
}

// The bound of the documentation, and one that holds even for what is no modulus: a bracket is
// found in 104 steps of growing length or not at all, and has at most 2⁶⁴ numbers in it.
const (
	mostEvaluations = 130
	noMoreThan      = patience + 104 + 64 + 2
)

// solve sees that the iteration on J does not fail, takes no more evaluations than it may, and that
// the projection is on the hyperplane: 1ᵀθ = 1 up to an ulp of every θᵢ, and one of every yᵢ, that
// moves θᵢ by (φ*)″(yᵢ)|yᵢ| ulps.
func solve(t *testing.T, m Modulus, y []float64) (evaluations int) {
	t.Helper()
	if overflows(m, y) {
		return 0
	}
	_, evaluations, err := NewtonShift(m, y, nil)
	if err != nil || evaluations > mostEvaluations {
		t.Fatalf("%v, y = %v: %d evaluations, %v", m, y, evaluations, err)
	}
	before := slices.Clone(y)
	if _, err := ProjectDual(m, y, nil); err != nil {
		t.Fatalf("%v, y = %v: %v", m, before, err)
	}
	r, size, theta := residual(m, y)
	s, separable := asSeparable(m)
	for i, v := range theta {
		switch {
		case !separable:
			size += math.Abs(v)
		default:
			size += kernelCurvature(s.at(i), y[i]) * math.Abs(y[i])
			if lo, hi := s.at(i).Domain(); s.Each != nil { // θ is the sum of an end and a gap
				size += max(-lo, hi)
			}
		}
	}
	if p, ok := m.(PNorm); ok { // a power q − 1
		size *= 1 / (p.P - 1)
	}
	if !(math.Abs(r) <= 8*ulp*size) {
		t.Fatalf("%v, y = %v: 1ᵀθ − 1 = %g, rounding accounts for %.2g", m, before, r, ulp*size)
	}
	return evaluations
}

// overflows reports whether ∇φ* is ±∞ half as far from 0 as the entries of y are apart: no
// floating-point numbers hold the projection then.
func overflows(m Modulus, y []float64) bool {
	far, theta := slices.Max(y)/2-slices.Min(y)/2, make([]float64, len(y))
	m.ConjugateGradient(theta, slices.Repeat([]float64{far}, len(y)))
	above := slices.Max(theta)
	m.ConjugateGradient(theta, slices.Repeat([]float64{-far}, len(y)))
	return math.IsInf(above, 1) && math.IsInf(slices.Min(theta), -1)
}

func TestEvaluations(t *testing.T) {
	cases := 5_000
	switch {
	case *million:
		cases = 1_000_000
	case testing.Short():
		cases = 500
	}
	for kind, c := range iterated {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := source(uint64(100 + kind))
			total, most := 0, 0
			for range cases {
				y := dualPoint(rng)
				n := solve(t, c.draw(rng, len(y)), y)
				total += n
				most = max(most, n)
			}
			mean := float64(total) / float64(cases)
			if mean > c.mean {
				t.Errorf("%.2f evaluations of J′ on average, want at most %g", mean, c.mean)
			}
			t.Logf("%.2f evaluations of J′ on average, at most %d", mean, most)
		})
	}
}

// The whole gallery, at dual points chosen to be hard: ties, huge and tiny entries, and spreads
// that leave J′ flat but for steps.
func TestHardDualPoints(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	points := [][]float64{
		{0}, {1e300}, {-1e300}, {tiny}, {-3},
		{0, 0}, {1e300, 1e300}, {1e300, -1e300}, {1e300, math.Nextafter(1e300, 0)}, {-28.87, 38.96}, {tiny, -tiny}, {1, 1e-300}, {700, -800},
		{0, 0, 0}, {2000, -1e300, 1000}, {1e300, 1e300, -1e300}, {1e300, 0, -1e300}, {5, 5, -5}, {1e16, 1e16 + 2, 1e16 + 4}, {1, 1e5, 1e10},
	}
	long := make([]float64, 1000)
	for i := range long {
		long[i] = float64(i%7) * math.Pow(10, float64(i%40)-20)
	}
	steps := make([]float64, 1000)
	for i := range steps {
		steps[i] = 1e3 * float64(i)
	}
	points = append(points, long, steps, make([]float64, 1000))
	for _, y := range points {
		d := len(y)
		for _, r := range []float64{1 + 1e-12, 1.5, 2, 1e6} {
			for _, m := range Gallery(d, r) {
				solve(t, m, slices.Clone(y))
			}
		}
	}
	for _, c := range []struct {
		lo, hi []float64
		y      []float64
	}{ // lo + hi = 1: the flat stretch between two steps is where the root is
		{[]float64{0, 0.2}, []float64{0.8, 1}, []float64{-28.87, 38.96}},
		{[]float64{-1, -1}, []float64{2, 2}, []float64{-28.87, 38.96}},
		{[]float64{0, 0}, []float64{1, 1}, []float64{-1e300, 1e300}},
		{[]float64{0, 0}, []float64{tiny, 2}, []float64{3, -4}},
		{[]float64{-1e300, 0, 0}, []float64{0, 1e300, tiny}, []float64{1, 2, 3}},
	} {
		solve(t, FermiDirac(c.lo, c.hi), c.y)
	}
	for _, r := range []float64{tiny, 1e-310, 0.1} { // too small a cube
		if _, _, err := NewtonShift(Cube(r), []float64{1, 2, 3}, nil); err == nil {
			t.Errorf("no error for R = %g in ℝ³", r)
		}
	}
}

// A kernel for each coordinate, of which some have intervals without an end.
func TestMixedCoordinates(t *testing.T) {
	m := Separable{Each: []Kernel{entropy{}, cube{2}, burg{}, square{}}}
	rng := source(12)
	for range 2000 {
		solve(t, m, normal(rng, 4, math.Pow(10, 6*rng.Float64()-3)))
	}
}

// mirrored is the entropy of 1 − x.
var mirrored = closures{"mirrored entropy",
	func(x float64) float64 { return entropy{}.Value(1 - x) },
	func(x float64) float64 { return -entropy{}.Deriv(1 - x) },
	func(y float64) float64 { return 1 - entropy{}.ConjDeriv(-y) }, math.Inf(-1), 1}

// The shift is between the bounds that the iteration begins with, to what rounding makes of J′.
func TestBracketHoldsTheShift(t *testing.T) {
	rng := source(13)
	for trial := range 3000 {
		d := 2 + rng.IntN(3)
		m := Separable{Each: make([]Kernel, d)}
		for i := range d {
			lo := (1.5*rng.Float64() - 0.5) / float64(d)
			m.Each[i] = []Kernel{fermiDirac{lo, 1/float64(d) + 3*rng.Float64()*rng.Float64()}, entropy{}, mirrored}[rng.IntN(2+trial%2)*min(1, trial%4)]
		}
		if trial%3 == 0 {
			m = Separable{Kernel: m.Each[0]}
		}
		y := normal(rng, d, 3)
		l := line{m: m, y: y, u: make([]float64, d), sep: m, separable: true}
		a, b, err := l.bracket()
		if err != nil {
			continue
		}
		z, _, err := NewtonShift(m, y, nil)
		if r := JDeriv(m, y, z); err != nil || !(math.Abs(r) <= 1e-12*(1+math.Abs(z))) {
			t.Fatalf("%v, y = %v: z = %g with J′ = %g, %v", m, y, z, r, err)
		}
		if !(a <= z && z <= b) {
			t.Fatalf("%v, y = %v: z = %g, not between %g and %g", m, y, z, a, b)
		}
	}
}

// A strictKernel must not be asked for φ′ where there is none.
type strictKernel struct {
	Kernel
	t *testing.T
}

func (k strictKernel) Deriv(x float64) float64 {
	if lo, hi := k.Domain(); !(lo < x && x < hi) {
		k.t.Errorf("φ′(%g) asked for, outside of (%g, %g)", x, lo, hi)
	}
	return k.Kernel.Deriv(x)
}

func (k strictKernel) ConjCurvature(y float64) float64 {
	return k.Kernel.(kernelCurver).ConjCurvature(y)
}

func TestShiftStaysInside(t *testing.T) {
	for _, k := range []Kernel{cube{1}, cube{1e6}, fermiDirac{0, 1}, fermiDirac{-3, 1}, entropy{}, burg{}} {
		for _, y := range [][]float64{{0, 0}, {3, -4}, {1e300, 1e300}, {-1e300, -1e300}, {1e16, 1e16 + 2}, {1e300, -1e300, 0}} {
			if _, _, err := NewtonShift(Separable{Kernel: strictKernel{k, t}}, y, nil); err != nil {
				t.Errorf("%v, y = %v: %v", k, y, err)
			}
		}
	}
}

// A sickKernel is the bit entropy of (−1, 1) with one of the mistakes that an author can make.
type sickKernel struct {
	mistake uint8
	at, by  float64
}

func (k sickKernel) sick(mistake uint8, x float64) bool { return k.mistake%8 == mistake && x > k.at }

func (k sickKernel) Value(x float64) float64 {
	if k.sick(0, x) {
		return math.NaN()
	}
	return cube{1}.Value(x)
}

func (k sickKernel) Deriv(x float64) float64 {
	v := cube{1}.Deriv(x)
	switch {
	case k.sick(1, x):
		return math.NaN()
	case k.sick(2, x): // not increasing
		return v - k.by
	case k.sick(3, x): // not even a function of one value
		return v + k.by*math.Sin(1e9*x)
	}
	return v
}

func (k sickKernel) ConjDeriv(y float64) float64 {
	x := cube{1}.ConjDeriv(y)
	switch {
	case k.sick(4, y):
		return math.NaN()
	case k.sick(5, y): // beyond what it says is the domain
		return x + k.by
	case k.sick(6, y): // not increasing
		return x - k.by
	}
	return x
}

func (k sickKernel) ConjCurvature(y float64) float64 {
	if k.sick(7, y) {
		return k.by
	}
	return cube{1}.ConjCurvature(y)
}

func (k sickKernel) Domain() (lo, hi float64) {
	if k.mistake >= 128 { // a domain that is none of its own
		return k.at, k.by
	}
	return -1, 1
}

func (k sickKernel) String() string { return "sick kernel" }

// Whatever a kernel returns, Check and the projection end, and find out or give an answer.
func FuzzSickKernel(f *testing.F) {
	for mistake := range uint8(8) {
		f.Add(mistake, 0.2, 0.5, 1.0, -2.0, 3.0)
		f.Add(128+mistake, -1.0, math.Inf(1), 1.0, -2.0, 3.0)
	}
	f.Fuzz(func(t *testing.T, mistake uint8, at, by, a, b, c float64) {
		m := Separable{Kernel: sickKernel{mistake, at, by}}
		y := []float64{a, b, c}
		if _, n, err := NewtonShift(m, y, nil); err != nil && !strings.HasPrefix(err.Error(), "bregman: ") || n > noMoreThan {
			t.Fatalf("%d evaluations, error %v", n, err)
		}
		if z, err := ProjectDual(m, y, nil); err == nil && math.IsNaN(z) {
			t.Fatal("z is NaN and there is no error")
		}
		consistent(t, Check(m, 2, 1))
	})
}
