package theory

import (
	"math"
	"slices"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// The directions are the axes, both ways, and then 64 of various signs; they end when f says so.
func TestEachDirection(t *testing.T) {
	var all [][]float64
	eachDirection(3, func(x []float64) bool { all = append(all, slices.Clone(x)); return true })
	if len(all) != 2*3+64 {
		t.Fatalf("%d directions", len(all))
	}
	for i, want := range [][]float64{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}} {
		if !slices.Equal(all[i], want) {
			t.Errorf("direction %d is %v, want %v", i, all[i], want)
		}
	}
	for i := range 64 {
		for j := range 3 {
			if want := math.Cos(math.Phi * float64((i+1)*(2*j+1))); math.Abs(all[6+i][j]-want) > 1e-12 { // angles up to 500
				t.Errorf("direction %d has %v, want %v", 6+i, all[6+i][j], want)
			}
		}
	}
	for _, stop := range []int{1, 4, 9} {
		n := 0
		eachDirection(3, func([]float64) bool { n++; return n < stop })
		if n != stop {
			t.Errorf("%d directions, want %d", n, stop)
		}
	}
}

// What is beyond a class is just outside of it, along the first axis that leads there.
func TestBeyond(t *testing.T) {
	start := []float64{0.5, 0.5}
	half := math.Sqrt(3.5 / 2) // (½ + h, ½ − h) is on the sphere of radius 2
	far := 0.5 + (1+0x1p-20)*half
	if x := beyond(bregman.Euclidean(), mixpolicy.Ball(2), start); len(x) != 2 || math.Abs(x[0]-far) > 1e-14 || math.Abs(x[0]+x[1]-1) > 1e-14 {
		t.Errorf("beyond the ball is %v, want (%v, %v)", x, far, 1-far)
	}
	for _, e := range []struct {
		phi   bregman.Modulus
		class mixpolicy.Class
		leave bool
	}{
		{bregman.Ball{R: 2}, mixpolicy.Ball(2), false},
		{bregman.Ball{R: 1.9}, mixpolicy.Ball(2), false},
		{bregman.Ball{R: 2.001}, mixpolicy.Ball(2), true},
		{bregman.Cube(2), mixpolicy.Cube(2), false},
		{bregman.Cube(2.001), mixpolicy.Cube(2), true},
		{bregman.Cube(1.45), mixpolicy.Ball(2), false}, // (1.45, −0.45) is within the ball
		{bregman.NegativeEntropy(), mixpolicy.Simplex(), false},
		{bregman.Euclidean(), mixpolicy.Simplex(), true},
		{bregman.Euclidean(), mixpolicy.Unbounded(), false},
	} {
		if x := beyond(e.phi, e.class, start); (x != nil) != e.leave {
			t.Errorf("%v and the class %v: %v, want one: %v", e.phi, e.class, x, e.leave)
		}
	}
}
