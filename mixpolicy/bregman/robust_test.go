package bregman

import (
	"math"
	"strings"
	"testing"
)

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
		for _, finding := range Check(m, 2, 1).Findings {
			if finding.OK && (math.IsNaN(finding.Worst) || finding.Worst > finding.Limit) {
				t.Fatalf("%+v passes", finding)
			}
		}
	})
}
