package directions

import (
	"slices"
	"testing"
)

// The directions are the axes, both ways, and then 64 of various signs; they end when asked to.
func TestAll(t *testing.T) {
	var all [][]float64
	for x := range All(3) {
		all = append(all, slices.Clone(x))
	}
	for i, want := range [][]float64{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}} {
		if !slices.Equal(all[i], want) {
			t.Errorf("direction %d is %v, want %v", i, all[i], want)
		}
	}
	signs := map[[3]bool]int{}
	for _, x := range all[6:] {
		signs[[3]bool{x[0] > 0, x[1] > 0, x[2] > 0}]++
	}
	if len(all) != 2*3+64 || len(signs) != 8 {
		t.Errorf("%d directions, others than axes of the signs %v", len(all), signs)
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
