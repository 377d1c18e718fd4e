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
	if len(all) != 172 {
		t.Errorf("%d statements, want 172", len(all))
	}
	for _, s := range all {
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

func TestStatementsAreOfTheIndex(t *testing.T) {
	index := []Entry{{Number: "1.1"}, {Number: "Lemma 1.2", Errata: "argmin"}}
	const first, second = "## 1.1\n\n> $$a$$\n\nIt says a.\n\n", "## Lemma 1.2\n\n> Let\n>\n> - $$b$$\n\n> $$\\boxed c$$\n\nIt says c.\n\nAnd more.\n"
	got, err := parseStatements("# Preface\n\n"+first+second, index)
	if err != nil {
		t.Fatal(err)
	}
	want := Statement{"Lemma 1.2", "Let\n\n- $$b$$", `$$\boxed c$$`, "It says c.\n\nAnd more."}
	if len(got) != 2 || got[0] != (Statement{"1.1", "$$a$$", "", "It says a."}) || got[1] != want {
		t.Errorf("%+v", got)
	}
	for text, wrong := range map[string]string{
		first:                                 "(Lemma 1.2) has no section",
		first + second + first:                "(1.1) has two sections",
		first + second + "## 1.3" + first[6:]: "(1.3) is not in the index",
		"## 1.1\n\n> $$a$$\n\n> $$b$$\n\nIt says a.\n\n" + second: "want both or neither",
		"## 1.1\n\nIt says a.\n\n" + second:                       "(1.1) has 0 quotations",
		"## 1.1\n\n> $$a$$\n\n" + second:                          "(1.1) has 1 quotations",
	} {
		if _, err := parseStatements(text, index); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want %q", text, err, wrong)
		}
	}
}
