package priorwork

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tested is no method, and its comment is in no list.
//
// Source: a test.
type tested struct{}

// Every method says where it comes from and what differs, or that nothing is known to, and
// mixpolicy.Penalty's list is that of its doc comment.
func TestPublications(t *testing.T) {
	all := Publications()
	files, err := code.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		text, _ := code.ReadFile(f.Name())
		for _, head := range strings.Split(string(text), "\nfunc (")[1:] {
			receiver, _, start := strings.Cut(strings.SplitN(head, "\n", 2)[0], ") Start(")
			if !start {
				continue
			}
			method := receiver[strings.LastIndex(" "+receiver, " "):]
			i := slices.IndexFunc(all, func(p Publication) bool { return p.Method == method })
			if i < 0 {
				t.Errorf("%s: no source in its doc comment", method)
				continue
			}
			none := strings.HasPrefix(all[i].Source, "none") || strings.Contains(string(text), "// Deviations: none known.\ntype "+method+" ")
			if (len(all[i].Deviations) == 0) != none {
				t.Errorf("%s, of %s: deviations %q", method, all[i].Source, all[i].Deviations)
			}
		}
	}
	for _, p := range all {
		if p.Method == reflect.TypeFor[tested]().Name() {
			t.Errorf("%s is of a test", p.Method)
		}
		for _, s := range append(p.Deviations, p.Source) {
			if !strings.HasSuffix(s, ".") || strings.Contains(s, "\n") {
				t.Errorf("%s: %q, want a sentence", p.Method, s)
			}
		}
	}
	text, err := os.ReadFile("../penalty.go")
	if err != nil {
		t.Fatal(err)
	}
	penalty := publications(text)[0]
	penalty.Method = "mixpolicy.Penalty"
	if last := all[len(all)-1]; !reflect.DeepEqual(last, penalty) {
		t.Errorf("%+v, in its doc comment %+v", last, penalty)
	}
	i := slices.IndexFunc(all, func(p Publication) bool { return p.Method == "ConstraintSampling" })
	if got := all[i]; len(got.Deviations) != 3 || !strings.HasPrefix(got.Deviations[2], "A pair that is drawn again") || !strings.HasPrefix(got.Source, "de Farias and Van Roy, Math") {
		t.Errorf("%+v", got)
	}
}
