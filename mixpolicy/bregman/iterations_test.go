package bregman

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var million = flag.Bool("million", false, "run TestIterations on 10⁶ cases of each modulus")

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
type plainKernel struct{ k Cube }

func (p plainKernel) Value(x float64) float64     { return p.k.Value([]float64{x}) }
func (p plainKernel) Deriv(x float64) float64     { return p.k.Deriv(x) }
func (p plainKernel) ConjDeriv(y float64) float64 { return p.k.ConjDeriv(y) }
func (p plainKernel) Domain() (lo, hi float64)    { return p.k.Domain() }
func (p plainKernel) String() string              { return fmt.Sprint("plain ", p.k) }

// iterated draws moduli with parameters from one end of what is allowed to the other: R from
// its bound times 1 + 10⁻⁹ to times 10³.
var iterated = []struct {
	name string
	draw func(rng *rand.Rand, d int) Modulus
}{
	{"Ball", func(rng *rand.Rand, d int) Modulus { return Ball{above(rng) / math.Sqrt(float64(d))} }},
	{"LogBall", func(rng *rand.Rand, d int) Modulus { return LogBall{above(rng) / math.Sqrt(float64(d))} }},
	{"Cube", func(rng *rand.Rand, d int) Modulus { return Cube{above(rng) / float64(d)} }},
	{"Hellinger", func(rng *rand.Rand, d int) Modulus { return Hellinger{above(rng) / float64(d)} }},
	{"LogCosine", func(rng *rand.Rand, d int) Modulus { return LogCosine{above(rng) / float64(d)} }},
	{"FermiDirac", func(rng *rand.Rand, d int) Modulus { return FermiDirac(boxAround(rng, d)) }},
	{"NegativeEntropy", func(*rand.Rand, int) Modulus { return NegativeEntropy{} }},
	{"Tsallis", func(rng *rand.Rand, _ int) Modulus { return Tsallis{0.05 + 0.9*rng.Float64()} }},
	{"Burg", func(*rand.Rand, int) Modulus { return Burg{} }},
	{"Euclidean", func(*rand.Rand, int) Modulus { return Euclidean{} }},
	{"PNorm", func(rng *rand.Rand, d int) Modulus { return PNorm{1.05 + 0.95*rng.Float64()} }},
	{"scaled LogCosine", func(rng *rand.Rand, d int) Modulus {
		return Scale(LogCosine{above(rng) / float64(d)}, math.Exp(rng.NormFloat64()))
	}},
	{"Box of Hellinger", func(rng *rand.Rand, d int) Modulus { return boxOf(Hellinger{1}, boxAround(rng, d)) }},
	{"Box of LogCosine", func(rng *rand.Rand, d int) Modulus { return boxOf(LogCosine{1}, boxAround(rng, d)) }},
	{"Radial", func(rng *rand.Rand, d int) Modulus {
		k, _ := KernelOf(LogCosine{above(rng) / math.Sqrt(float64(d))})
		return Radial{k}
	}},
	{"plain Kernel", func(rng *rand.Rand, d int) Modulus { return Separable{plainKernel{Cube{above(rng) / float64(d)}}} }},
}

func above(rng *rand.Rand) float64 { return 1 + math.Pow(10, 12*rng.Float64()-9) }

func boxAround(rng *rand.Rand, d int) (b struct{ Lo, Hi []float64 }) {
	r := above(rng) / float64(d)
	for range d {
		b.Lo = append(b.Lo, -r*rng.Float64())
		b.Hi = append(b.Hi, r*(1+rng.Float64()))
	}
	return b
}

func boxOf(m Modulus, b struct{ Lo, Hi []float64 }) Modulus {
	boxed, err := Box(m, b.Lo, b.Hi)
	if err != nil {
		panic(err)
	}
	return boxed
}

// The iteration on J never fails, eight evaluations of J′ are enough, and the projection is on
// the hyperplane to rounding.
func TestIterations(t *testing.T) {
	cases := 10_000
	switch {
	case *million:
		cases = 1_000_000
	case testing.Short():
		cases = 1_000
	}
	for kind, c := range iterated {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := source(uint64(100 + kind))
			var counts [9]int
			for range cases {
				y := dualPoint(rng)
				m := c.draw(rng, len(y))
				_, n, err := NewtonShift(m, y, nil)
				if err != nil {
					t.Fatalf("%v, y = %v: %v", m, y, err)
				}
				if n > 8 {
					t.Fatalf("%v, y = %v: %d evaluations", m, y, n)
				}
				counts[n]++
				onHyperplane(t, m, y)
			}
			t.Logf("evaluations of J′, 0 to 8: %v", counts)
		})
	}
}

// onHyperplane projects y and sees that 1ᵀθ = 1, up to an ulp of every θᵢ, and one of every yᵢ,
// that moves θᵢ by (φ*)″(yᵢ)|yᵢ| ulps.
func onHyperplane(t *testing.T, m Modulus, y []float64) {
	t.Helper()
	before := slices.Clone(y)
	if _, err := ProjectDual(m, y, nil); err != nil {
		t.Fatalf("%v, y = %v: %v", m, before, err)
	}
	r, size, theta := residual(m, y)
	for i, v := range theta {
		switch m := m.(type) {
		case Separable:
			size += curverOf(m.Kernel).ConjCurvature(y[i]) * math.Abs(y[i])
		case KernelCurver:
			size += m.ConjCurvature(y[i]) * math.Abs(y[i])
		case boxed:
			lo, hi := m.side(i)
			size += m.curvatureAt(i, y[i])*math.Abs(y[i]) + max(-lo, hi)
		case straightener:
			size += (1 + m.amplification()) * math.Abs(v)
		default:
			size += math.Abs(v)
		}
	}
	if !(math.Abs(r) <= 8*ulp*size) {
		t.Fatalf("%v, y = %v: 1ᵀθ − 1 = %g, rounding accounts for %.2g", m, before, r, ulp*size)
	}
}
