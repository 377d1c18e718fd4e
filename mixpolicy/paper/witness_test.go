package paper

import "testing"

// Witnesses that the errata are to name: the printed form fails and the corrected one holds.
func TestWitnesses(t *testing.T) {
	for name, w := range map[string]check{"reciprocal": witnessReciprocal, "bracket": witnessBracket, "hat": witnessHat} {
		f, err := w.run(t.Context())
		if err != nil || f.PrintedHolds() || !f.CorrectedHolds() {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}
