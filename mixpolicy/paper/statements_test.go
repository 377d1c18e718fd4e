package paper

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

var boxed = regexp.MustCompile(`\\boxed\b|\*\*`)

// Every entry of the index has a statement. If the entry has errata, the statement has a corrected form, which marks
// what differs from the printed form. Without the marks, the two forms must still differ.
func TestStatements(t *testing.T) {
	all := mixpolicy.Must(Statements())
	if len(all) != len(Index()) {
		t.Fatalf("%d statements, want %d", len(all), len(Index()))
	}
	for i, s := range all {
		if e := Index()[i]; s.Number != e.Number || s.Printed == "" || s.Says == "" || (s.Corrected != "") != (e.Errata != "") {
			t.Errorf("(%s): the statement in its place is %+v", e.Number, s)
		}
		if boxed.MatchString(s.Printed) {
			t.Errorf("(%s): a mark in the printed form", s.Number)
		}
		if s.Corrected == "" {
			continue
		}
		plain := func(tex string) string {
			return regexp.MustCompile(`[{}\s]`).ReplaceAllString(boxed.ReplaceAllString(tex, ""), "")
		}
		if !boxed.MatchString(s.Corrected) || plain(s.Corrected) == plain(s.Printed) {
			t.Errorf("(%s): no mark in the corrected form, or nothing differs: %s", s.Number, s.Corrected)
		}
	}
	for _, s := range all {
		for part, text := range map[string]string{"printed": s.Printed, "corrected": s.Corrected, "sentences": s.Says} {
			if strings.Count(text, "$")%2 != 0 || strings.Count(text, "{") != strings.Count(text, "}") || strings.Count(text, "**")%2 != 0 {
				t.Errorf("(%s), %s: dollar signs, braces or asterisks don't match: %s", s.Number, part, text)
			}
		}
		if strings.Contains(s.Says, "$$") {
			t.Errorf("(%s): a display in the sentences", s.Number)
		}
	}
}

// restsOn returns all entries that an entry rests on, directly or through others.
func restsOn(of map[string][]string, number string) (all []string) {
	for next := of[number]; len(next) > 0; next = next[1:] {
		if n := next[0]; !slices.Contains(all, n) {
			all, next = append(all, n), slices.Concat(next, of[n])
		}
	}
	return all
}

// Theorem 3.4 rests on Proposition 5.1 and Lemma 5.1, with which section 5 begins, and not on (4.3). No entry rests
// on itself, or on anything outside the index.
func TestPremises(t *testing.T) {
	of := mixpolicy.Must(Premises())
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
