package bregman_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/mixpolicy/lab/mixpolicy/bregman"
)

// dualPoint draws a point with 2 to 64 coordinates of magnitudes from 1e-300 to 1e300. The coordinates are nearly
// equal, have one outlier, have ties, spread over many magnitudes, are evenly spaced, form two clusters, or are normal.
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

// A plainKernel hides all methods of a kernel that the interface Kernel does not require.
type plainKernel struct{ Kernel }

func above(rng *rand.Rand) float64 { return 1 + math.Pow(10, 12*rng.Float64()-9) }

var iterated = []struct {
	name string
	mean float64 // the measured mean number of evaluations of J′, rounded up
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
	{"scaled Ball", 12.3, func(rng *rand.Rand, d int) Modulus {
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

// mostEvaluations is the bound in the documentation of NewtonShift.
const mostEvaluations = 130

// solve checks that NewtonShift succeeds within mostEvaluations, and that ProjectDual reaches the hyperplane: |1ᵀθ − 1|
// is at most eight times the effect of an ulp in every θᵢ and in every yᵢ (an ulp in yᵢ moves θᵢ by (φ*)″(yᵢ)|yᵢ|
// ulps). solve returns the number of evaluations.
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
	r, size, _ := residual(m, y)
	size += condition(m, y) / ulp * math.Sqrt(float64(len(y)))
	size += ends(m)             // θᵢ may be computed as an end of its interval plus a gap
	if p, ok := m.(PNorm); ok { // ∇φ* takes powers q − 1 = 1/(p − 1)
		size *= 1 / (p.P - 1)
	}
	if !(math.Abs(r) <= 8*ulp*size) {
		t.Fatalf("%v, y = %v: 1ᵀθ − 1 = %g, rounding accounts for %.2g", m, before, r, ulp*size)
	}
	return evaluations
}

// overflows reports whether ∇φ* has an entry +∞ at far·1 and an entry −∞ at −far·1, where far is half the spread of y.
// If so, floating-point numbers cannot represent the projection.
func overflows(m Modulus, y []float64) bool {
	far, theta := slices.Max(y)/2-slices.Min(y)/2, make([]float64, len(y))
	m.ConjugateGradient(theta, slices.Repeat([]float64{far}, len(y)))
	above := slices.Max(theta)
	m.ConjugateGradient(theta, slices.Repeat([]float64{-far}, len(y)))
	return math.IsInf(above, 1) && math.IsInf(slices.Min(theta), -1)
}

func TestEvaluations(t *testing.T) {
	cases := 5_000
	if *million {
		cases = 1_000_000
	} else if testing.Short() {
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
				total, most = total+n, max(most, n)
			}
			if mean := float64(total) / float64(cases); mean > c.mean {
				t.Errorf("%.2f evaluations of J′ on average, and at most %d; want at most %g on average", mean, most, c.mean)
			}
		})
	}
}

// solve passes for the whole gallery at hard dual points: with ties, with huge and tiny entries, and with spreads
// that make J′ a staircase.
func TestHardDualPoints(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	points := [][]float64{
		{0}, {1e300}, {-1e300}, {tiny}, {-3},
		{0, 0}, {1e300, 1e300}, {1e300, -1e300}, {1e300, math.Nextafter(1e300, 0)}, {-28.87, 38.96}, {tiny, -tiny}, {1, 1e-300}, {700, -800},
		{0, 0, 0}, {2000, -1e300, 1000}, {1e300, 1e300, -1e300}, {1e300, 0, -1e300}, {5, 5, -5}, {7e21, 7e21, 7e21}, {-1e30, -1e30, -1e30}, {1e16, 1e16 + 2, 1e16 + 4}, {1, 1e5, 1e10},
	}
	long, steps := make([]float64, 1000), make([]float64, 1000)
	for i := range long {
		long[i], steps[i] = float64(i%7)*math.Pow(10, float64(i%40)-20), 1e3*float64(i)
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
	}{ // in the first three cases, lo₁ + hi₂ = 1, and the root is in the flat stretch between two steps
		{[]float64{0, 0.2}, []float64{0.8, 1}, []float64{-28.87, 38.96}},
		{[]float64{-1, -1}, []float64{2, 2}, []float64{-28.87, 38.96}},
		{[]float64{0, 0}, []float64{1, 1}, []float64{-1e300, 1e300}},
		{[]float64{0, 0}, []float64{tiny, 2}, []float64{3, -4}},
	} {
		solve(t, FermiDirac(c.lo, c.hi), c.y)
	}
	for _, r := range []float64{tiny, 1e-310, 0.1} { // too small a cube
		if _, _, err := NewtonShift(Cube(r), []float64{1, 2, 3}, nil); err == nil {
			t.Errorf("no error for R = %g in ℝ³", r)
		}
	}
}

// solve passes if each coordinate has its own kernel, also on unbounded intervals.
func TestMixedCoordinates(t *testing.T) {
	m := Separable{Each: []Kernel{entropic, Cube(2).Kernel, Burg().Kernel, parabola}}
	rng := source(12)
	for range 2000 {
		solve(t, m, normal(rng, 4, math.Pow(10, 6*rng.Float64()-3)))
	}
}

// ends adds up max(−lo, hi) over the coordinates with bounded intervals.
func ends(m Modulus) (size float64) {
	s, _ := m.(Separable)
	for i := range s.Each {
		if lo, hi := s.Each[i].Domain(); hi-lo < inf {
			size += max(-lo, hi)
		}
	}
	return size
}
