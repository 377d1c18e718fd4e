package sum

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

const u = 0x1p-53

// exact returns Σ xᵢyᵢ and Σ |xᵢyᵢ|. It rounds the products as Dot does, adds them exactly, and rounds each sum once.
func exact(x, y []float64) (value, absolute float64) {
	total, size := new(big.Float).SetPrec(2200), new(big.Float).SetPrec(2200)
	for i := range x {
		p := x[i] * y[i]
		total.Add(total, big.NewFloat(p))
		size.Add(size, big.NewFloat(math.Abs(p)))
	}
	value, _ = total.Float64()
	absolute, _ = size.Float64()
	return
}

// The error of a sum of n terms is at most 2u|Σx| + 2n²u² Σ|x| (Higham, Accuracy and
// Stability of Numerical Algorithms, §4.3, for compensated summation).
func TestAccumulator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "x"), rapid.IntRange(-200, 200).Draw(t, "e"))
		}), 0, 60).Draw(t, "x")
		if rapid.Bool().Draw(t, "cancel") { // make the big terms cancel
			for _, v := range x {
				x = append(x, -v*rapid.SampledFrom([]float64{1, 1, 1 + 0x1p-40}).Draw(t, "f"))
			}
		}
		ones := make([]float64, len(x))
		for i := range ones {
			ones[i] = 1
		}
		want, size := exact(x, ones)
		n := float64(len(x))
		if got := Of(x); math.Abs(got-want) > 2*u*math.Abs(want)+2*n*n*u*u*size {
			t.Fatalf("Of = %v, want %v", got, want)
		}
		y := rapid.SliceOfN(rapid.Float64Range(-9, 9), len(x), len(x)).Draw(t, "y")
		want, size = exact(x, y)
		if got := Dot(x, y); math.Abs(got-want) > 2*u*math.Abs(want)+2*n*n*u*u*size {
			t.Fatalf("Dot = %v, want %v", got, want)
		}
		// AddProduct loses only the part of a product that is below the normal range.
		var products Accumulator
		total, absolute := new(big.Float).SetPrec(2200), 0.
		for i, v := range x {
			products.AddProduct(v, y[i])
			total.Add(total, new(big.Float).Mul(new(big.Float).SetPrec(200).SetFloat64(v), big.NewFloat(y[i])))
			absolute += math.Abs(v * y[i])
		}
		all, _ := total.Float64()
		if got := products.Value(); math.Abs(got-all) > 2*u*math.Abs(all)+8*n*n*u*u*absolute+2*n*math.SmallestNonzeroFloat64 {
			t.Fatalf("Σxy = %v, want %v", got, all)
		}
		diff := make([]float64, len(x))
		for i := range x {
			diff[i] = math.Abs(x[i] - y[i])
		}
		want, size = exact(diff, ones)
		if got := Diff1(x, y); math.Abs(got-want) > 2*u*want+2*n*n*u*u*size {
			t.Fatalf("Diff1 = %v, want %v", got, want)
		}
	})
}

func TestInfinity(t *testing.T) {
	inf := math.Inf(1)
	if got := Of([]float64{1, inf, 2}); got != inf {
		t.Errorf("1 + ∞ + 2 = %v", got)
	}
	if got := Of([]float64{inf, -inf}); !math.IsNaN(got) {
		t.Errorf("∞ − ∞ = %v", got)
	}
}

func TestLengths(t *testing.T) {
	for name, f := range map[string]func(x, y []float64) float64{"Dot": Dot, "Diff1": Diff1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s accepts unequal lengths", name)
				}
			}()
			f([]float64{1}, nil)
		}()
	}
}
