package paper

import "testing"

// Theorem 3.4 rests on the two inequalities with which section 5 begins, and on none of the
// bounds of section 4.
func TestPremises(t *testing.T) {
	of, err := Premises()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		number, on string
		rests      bool
	}{
		{"Theorem 3.4", "Proposition 5.1", true},
		{"Theorem 3.4", "Lemma 5.1", true},
		{"3.22", "3.7", true},
		{"Lemma 5.1", "Theorem 3.4", false},
		{"Theorem 3.4", "4.3", false},
	} {
		rests := false
		for _, n := range restsOn(of, want.number) {
			rests = rests || n == want.on
		}
		if rests != want.rests {
			t.Errorf("%s rests on %s: %v, want %v", want.number, want.on, rests, want.rests)
		}
	}
}
