package shape

import "testing"

func TestArea(t *testing.T) {
	if v, err := Area(2, 3); v != 6 || err != nil {
		t.Error(v, err)
	}
}

func TestPerimeter(t *testing.T) {
	if v := Perimeter(3, 3); v != 12 {
		t.Error(v)
	}
}

func TestDouble(t *testing.T) {
	dst := make([]float64, 2)
	if Double(dst, []float64{1, 5}); dst[1] != 10 {
		t.Error(dst)
	}
}

// TestTotal checks nothing.
func TestTotal(t *testing.T) { Total([]float64{1, 2}) }

func TestHalvings(t *testing.T) {
	if n := Halvings(8); n != 3 {
		t.Error(n)
	}
}
