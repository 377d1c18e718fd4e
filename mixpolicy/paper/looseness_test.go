package paper

import (
	"math"
	"testing"
)

// No run exceeds a corrected bound, and the sharp ones are not above the plain ones.
func TestCompareBounds(t *testing.T) {
	measured := 100_000
	if testing.Short() {
		measured = 10_000
	}
	rows, err := CompareBounds(t.Context(), measured)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 7*len(BetaPowers) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Sharp.Value > r.Corrected.Value {
			t.Errorf("T = %d, β = %.3g: sharp %v above corrected %v", r.T, r.Beta, r.Sharp.Value, r.Corrected.Value)
		}
		if !r.Measured {
			continue
		}
		if !(r.Gap <= r.Sharp.Value && r.Violation <= r.CorrectedViolation.Value && r.Violation <= r.SharpViolation.Value) {
			t.Errorf("a run exceeds its bounds: %+v", r)
		}
		if math.IsInf(r.Gap, 0) {
			t.Errorf("T = %d: no gap", r.T)
		}
	}
}
