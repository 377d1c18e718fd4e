package paper

import (
	"slices"
	"testing"
)

// restsOn returns all that an entry rests on, directly or through others.
func restsOn(of map[string][]string, number string) (all []string) {
	for next := of[number]; len(next) > 0; next = next[1:] {
		if n := next[0]; !slices.Contains(all, n) {
			all, next = append(all, n), slices.Concat(next, of[n])
		}
	}
	return all
}

// Theorem 3.4 rests on the two inequalities with which section 5 begins, and on none of the
// bounds of section 4. Nothing rests on itself, or on what the index lacks.
func TestPremises(t *testing.T) {
	of, err := Premises()
	if err != nil {
		t.Fatal(err)
	}
	for n := range of {
		for _, on := range append(restsOn(of, n), n) {
			if !slices.ContainsFunc(Index(), func(e Entry) bool { return e.Number == on }) {
				t.Errorf("(%s) rests on %q, which is not in the index", n, on)
			}
		}
		if slices.Contains(restsOn(of, n), n) {
			t.Errorf("(%s) rests on itself", n)
		}
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
		if rests := slices.Contains(restsOn(of, want.number), want.on); rests != want.rests {
			t.Errorf("%s rests on %s: %v, want %v", want.number, want.on, rests, want.rests)
		}
	}
}
