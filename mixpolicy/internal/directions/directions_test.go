package directions

import (
	"math"
	"slices"
	"testing"
)

// The directions are the axes, both ways, and then 64 of various signs; they end when asked to.
func TestAll(t *testing.T) {
	var all [][]float64
	for x := range All(3) {
		all = append(all, slices.Clone(x))
	}
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
		for range All(3) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("%d directions, want %d", n, stop)
		}
	}
}
