package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mixpolicy/lab/internal/mutation"
	"github.com/mixpolicy/lab/mixpolicy/paper"
)

const root = "../.."

func record(t *testing.T, root string) ([]Score, []Survivor) {
	t.Helper()
	scores, err := readScores(root)
	if err != nil {
		t.Fatal(err)
	}
	survivors, err := readSurvivors(root)
	if err != nil {
		t.Fatal(err)
	}
	return scores, survivors
}

// The record is of the code as it is: another symbol, or a change of its code, asks for a new one.
// Of each symbol nine mutants of ten die, and all that return a constant or the argument or turn a sign.
func TestRecordOfIndex(t *testing.T) {
	scores, survivors := record(t, root)
	read := map[string][]*mutation.Function{}
	for _, e := range paper.Index() {
		again := "go run ./data/mutations index -r '" + e.Number + "' makes it anew"
		functions, err := symbolFunctions(root, e.Symbol, read)
		if err != nil {
			t.Errorf("(%s): %v", e.Number, err)
			continue
		}
		i := slices.IndexFunc(scores, func(s Score) bool { return s.Scope == e.Number })
		if i < 0 {
			t.Errorf("(%s): no record; %s", e.Number, again)
			continue
		}
		s := scores[i]
		if s.Symbol != e.Symbol || s.Hash != mutation.Hash(functions) {
			t.Errorf("(%s): the record is of another code of %s; %s", e.Number, s.Symbol, again)
		}
		if s.Mutants == 0 || s.Share() < 0.9 {
			t.Errorf("(%s): %d of %d mutants of %s are killed, want nine tenths", e.Number, s.Killed, s.Mutants-s.Equivalent, e.Symbol)
		}
		left := 0
		for _, v := range survivors {
			if v.Scope != e.Number {
				continue
			}
			left++
			if op := mutation.Operator(v.Operator); v.Why == "" && (op == mutation.Constant || op == mutation.Sign || op == mutation.Identity) {
				t.Errorf("(%s): %s in %s survives: %s → %s", e.Number, op, v.Function, v.From, v.To)
			}
		}
		if left != s.Mutants-s.Killed {
			t.Errorf("(%s): %d survivors are listed, want %d", e.Number, left, s.Mutants-s.Killed)
		}
	}
}

// Of each package nine mutants of ten die, and the others are listed with what is known of them. What is new or has
// changed since the record counts as if all its mutants lived.
func TestRecordOfPackages(t *testing.T) {
	scores, survivors := record(t, root)
	for _, folder := range packages {
		functions, err := mutation.Functions(root, folder)
		if err != nil {
			t.Fatal(err)
		}
		var all Score
		var changed []string
		left, same := 0, 0
		names, of := files(functions)
		for _, name := range names {
			hash := mutation.Hash(of[name])
			if i := slices.IndexFunc(scores, func(s Score) bool { return s.Symbol == name && s.Hash == hash }); i >= 0 {
				all.add(scores[i])
				continue
			}
			changed = append(changed, name)
			for _, f := range of[name] {
				all.Mutants += len(f.Mutants())
			}
		}
		for _, v := range survivors {
			if v.Scope != folder {
				continue
			}
			left++
			if v.Why != "" {
				same++
			} else if v.Left == "" {
				t.Errorf("%s: %s → %s survives, and nobody has said in data/survivors.csv why it computes the same, or what it changes", v.Function, v.From, v.To)
			}
		}
		for _, s := range scores {
			if s.Scope == folder {
				left, same = left-(s.Mutants-s.Killed), same-s.Equivalent
			}
		}
		if same != 0 {
			t.Errorf("%s: %d more have a reason why they compute the same than are counted", folder, same)
		}
		if left != 0 {
			t.Errorf("%s: %d survivors too many are listed", folder, left)
		}
		if all.Share() < 0.9 {
			t.Errorf("%s: %d of %d mutants are killed, want nine tenths. Not on record as they are: %q; go run ./data/mutations package %[1]s", folder, all.Killed, all.Mutants-all.Equivalent, changed)
		}
	}
}

// A new record of some code takes the place of the old one, in the order of the index; what is on
// record of other code stays, and what is of no row and no package goes.
func TestUpdate(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, b := Score{Scope: "2.1", Symbol: "x.A", Hash: "1", Mutants: 3, Killed: 1, Equivalent: 1}, Score{Scope: "3.22", Symbol: "x.B", Hash: "2", Mutants: 2, Killed: 2}
	lived := []Survivor{{"2.1", "x.A", "sign", "a + b", "a - b", "b is 0", ""}, {"2.1", "x.A", "term", "a", "b", "", "the order"}}
	for _, u := range []struct {
		scores    []Score
		survivors []Survivor
	}{
		{[]Score{b, {Scope: "9.9", Mutants: 1}}, []Survivor{{Scope: "9.9"}}},
		{[]Score{a}, []Survivor{{"2.1", "x.A", "factor", "2", "4", "", ""}, lived[0]}},
		{[]Score{a}, lived},
	} {
		if err := update(root, u.scores, u.survivors); err != nil {
			t.Fatal(err)
		}
	}
	scores, survivors := record(t, root)
	if !slices.Equal(scores, []Score{a, b}) || !slices.Equal(survivors, lived) {
		t.Errorf("on record are %+v and %+v", scores, survivors)
	}
	w := work{known: survivors}
	m := mutation.Mutant{Folder: "x", Function: "A", Operator: mutation.Sign, From: "a + b", To: "a - b"}
	if s := w.survivor("2.4", m); s.Why != "b is 0" {
		t.Errorf("the reason is lost: %+v", s)
	}
	if s := w.survivor("2.4", mutation.Mutant{Folder: "x", Function: "A", Operator: mutation.Term, From: "a", To: "b"}); s.Left != "the order" {
		t.Errorf("what it changes is lost: %+v", s)
	}
	if m.From += " [2]"; w.survivor("2.4", m).Why != "" {
		t.Error("the reason of one change is given to another")
	}
}

// Of a file that is as on record only what survived without a reason is broken again, and all of one that is not.
// The scores come out the same.
func TestPackage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test program three times")
	}
	w := &work{root: "../../internal/mutation/testdata/module", workers: 2}
	scores, survivors, err := w.pkg(t.Context(), "shape", "", false)
	if err != nil {
		t.Fatal(err)
	}
	if len(scores) != 1 || scores[0].Symbol != "shape/shape.go" || scores[0].Mutants-scores[0].Killed != len(survivors) || len(survivors) < 2 {
		t.Fatalf("%+v, and %d survivors", scores, len(survivors))
	}
	for _, changed := range []bool{false, true} {
		w.last, w.known = slices.Clone(scores), slices.Clone(survivors)
		w.known[0].Why, w.known[1].Left = "a reason", "another order"
		if changed {
			w.last[0] = Score{Scope: "shape", Symbol: "shape/shape.go", Hash: "another", Mutants: 1}
		}
		want := scores[0]
		want.Equivalent++
		again, left, err := w.pkg(t.Context(), "shape", "", false)
		if err != nil || len(again) != 1 || again[0] != want || !slices.Equal(left, w.known) {
			t.Errorf("changed %v: %+v, want %+v; survivors %+v, want %+v; %v", changed, again, want, left, w.known, err)
		}
	}
	// Interrupted, it is as on record.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if again, left := w.lastOf("shape", "shape/shape.go", try(mutation.Functions(w.root, "shape"))); again != w.last[0] || !slices.Equal(left, w.known) {
		t.Errorf("on record are %+v and %+v", again, left)
	}
	if again, _, err := w.pkg(ctx, "shape", "", true); err == nil {
		t.Errorf("%+v after an interrupt, and no error", again)
	}
}

// try returns v, or panics with err.
func try[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A symbol is a function or a method below the module's root, or a type and with it its methods.
func TestSymbolFunctions(t *testing.T) {
	read := map[string][]*mutation.Function{}
	for symbol, least := range map[string]int{"mixpolicy.MDP.FlowResidual": 1, "mixpolicy/bregman.Ball": 3} {
		if fs, err := symbolFunctions(root, symbol, read); err != nil || len(fs) < least {
			t.Errorf("%s: %d functions, %v", symbol, len(fs), err)
		}
	}
	if _, err := symbolFunctions(root, "mixpolicy.Nothing", read); err == nil {
		t.Error("mixpolicy.Nothing names code")
	}
}

// The quick tests run first and together, each slow one alone.
func TestGroups(t *testing.T) {
	of := func(ms ...time.Duration) (tests []test) {
		for _, m := range ms {
			tests = append(tests, test{took: m * time.Millisecond})
		}
		return tests
	}
	for _, tt := range []struct {
		tests []test
		want  []int
	}{{nil, nil}, {of(1, 2), []int{2}}, {of(1, 100), []int{1, 1}}, {of(100, 200), []int{1, 1}}, {of(1, 2, 3, 100, 200), []int{3, 1, 1}}} {
		var got []int
		for _, g := range groups(tt.tests) {
			got = append(got, len(g))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d tests are run in groups of %v, want %v", len(tt.tests), got, tt.want)
		}
	}
}
