package paper

import (
	"slices"
	"strings"
	"testing"
)

// Each erratum: the printed form fails and the corrected form passes, by a computation.
func TestErrata(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Errata() {
		t.Run(e.ID, func(t *testing.T) {
			if seen[e.ID] {
				t.Error("the ID is used twice")
			}
			seen[e.ID] = true
			f, err := e.Witness(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.PrintedHolds() {
				t.Errorf("the printed form holds: %+v", f)
			}
			if !f.CorrectedHolds() {
				t.Errorf("the corrected form fails: %+v", f)
			}
			for name, text := range map[string]string{"Printed": e.Printed, "Corrected": e.Corrected, "Why": e.Why, "Downstream": e.Downstream, "numbers": f.Numbers} {
				if text == "" {
					t.Errorf("%s is empty", name)
				}
			}
			if strings.Count(e.Why, "\n") > 1 || len(e.Why) > 260 {
				t.Errorf("Why has %d bytes, want two lines", len(e.Why))
			}
		})
	}
}

// The index and the errata tell of each other.
func TestErrataAndIndex(t *testing.T) {
	numbers := map[string]Entry{}
	for _, e := range Index() {
		numbers[e.Number] = e
	}
	for _, e := range Errata() {
		for _, where := range e.Where {
			if strings.HasPrefix(where, "§") {
				continue
			}
			if _, ok := numbers[where]; !ok {
				t.Errorf("erratum %q is about %q, which is not in the index", e.ID, where)
			}
		}
	}
	for _, n := range numbers {
		if n.Errata == "" {
			continue
		}
		i := slices.IndexFunc(Errata(), func(e Erratum) bool { return e.ID == n.Errata })
		if i < 0 {
			t.Errorf("(%s) names the erratum %q, which does not exist", n.Number, n.Errata)
		} else if !slices.Contains(Errata()[i].Where, n.Number) {
			t.Errorf("(%s) names the erratum %q, which is about %v", n.Number, n.Errata, Errata()[i].Where)
		}
	}
}

func TestRecorded(t *testing.T) {
	all, err := RecordedErrata()
	if err != nil || len(all) != len(Errata()) {
		t.Errorf("%d errata recorded, %v", len(all), err)
	}
	rows, err := RecordedIndex()
	if err != nil || len(rows) != len(Index()) {
		t.Errorf("%d entries recorded, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Verdict == "" || r.Finding.Numbers == "" {
			t.Errorf("(%s): recorded %+v", r.Number, r)
		}
	}
}
