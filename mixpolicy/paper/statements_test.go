package paper

import (
	"regexp"
	"strings"
	"testing"
)

var boxed = regexp.MustCompile(`\\boxed\b|\*\*`)

// Every entry of the index is stated. Where it is corrected, what differs is marked, and
// without the marks it is another statement.
func TestStatements(t *testing.T) {
	all, err := Statements()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(Index()) {
		t.Fatalf("%d statements, want %d", len(all), len(Index()))
	}
	for i, s := range all {
		if e := Index()[i]; s.Number != e.Number || s.Printed == "" || s.Says == "" || (s.Corrected != "") != (e.Errata != "") {
			t.Errorf("(%s), after which comes %+v", e.Number, s)
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
