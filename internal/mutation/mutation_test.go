package mutation

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// shape returns the functions of testdata's package and the program of their mutants.
func shape(t *testing.T) ([]*Function, *Program) {
	t.Helper()
	functions, err := Functions("testdata/module", "shape")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(t.Context(), "testdata/module", "shape", t.TempDir(), functions, nil)
	if err != nil {
		t.Fatal(err)
	}
	return functions, p
}

// survivors returns what a test doesn't notice of a function's mutants.
func survivors(t *testing.T, p *Program, function, pattern string) (left []string, all int) {
	t.Helper()
	for _, m := range p.Mutants {
		if m.Function != function {
			continue
		}
		all++
		outcome, _, out, err := p.Run(t.Context(), m.ID, pattern, 10*time.Second)
		if err != nil {
			t.Fatal(err, out)
		}
		if outcome == Passed {
			left = append(left, string(m.Operator)+": "+m.From+" → "+m.To)
		}
	}
	return left, all
}

// The compiler names files by the shorter of their two names.
func TestBroken(t *testing.T) {
	lines := map[string][]span{"/tmp/m/3.go": {{1, 10, 19}, {2, 20, 29}, {3, 30, 39}}}
	got := broken("# x\n/tmp/m/3.go:12:1: syntax error\n../m/3.go:30:28: syntax error\n", "/tmp/clone", lines)
	if len(got) != 2 || !got[1] || !got[3] {
		t.Errorf("the mutants %v are broken, want 1 and 3", got)
	}
}

func TestMutants(t *testing.T) {
	_, p := shape(t)
	for _, tt := range []struct {
		function, pattern string
		left              []string
	}{
		{"Area", "^TestArea$", []string{"condition: a < 0 → a <= 0"}},
		{"Perimeter", "^TestPerimeter$", nil},
		{"Double", "^TestDouble$", nil},
	} {
		left, all := survivors(t, p, tt.function, tt.pattern)
		if !slices.Equal(left, tt.left) || all < 6 {
			t.Errorf("%s: of %d mutants survive %q, want %q", tt.function, all, left, tt.left)
		}
	}
	// A test that looks at nothing lets everything pass.
	if left, all := survivors(t, p, "Total", "^TestTotal$"); len(left) != all || all < 6 {
		t.Errorf("Total: of %d mutants survive %q, want all", all, left)
	}
}

// A mutant that never ends is ended after its processor time, and tells so.
func TestEndless(t *testing.T) {
	_, p := shape(t)
	i := slices.IndexFunc(p.Mutants, func(m Mutant) bool { return m.From == "x /= 2" && m.To == "x *= 2" })
	if i < 0 {
		t.Fatal("x is not doubled by any mutant")
	}
	outcome, took, out, err := p.Run(t.Context(), p.Mutants[i].ID, "^TestHalvings$", time.Second)
	if outcome != TooLong || err != nil || took < time.Second/2 || took > 3*time.Second {
		t.Errorf("%s after %v, %v\n%s", outcome, took, err, out)
	}
}

// No two mutants of a function have the same words, so that a reason why one computes the same is not
// taken for the other's.
func TestMutantsHaveNames(t *testing.T) {
	functions, _ := shape(t)
	names := map[Mutant]bool{}
	repeated := false
	for _, f := range functions {
		for _, m := range f.Mutants() {
			name := Mutant{Function: m.Function, Operator: m.Operator, From: m.From, To: m.To}
			if names[name] {
				t.Errorf("two mutants %v", name)
			}
			names[name] = true
			repeated = repeated || strings.HasSuffix(m.From, "[2]")
		}
	}
	if !repeated {
		t.Error("no function has a change twice: this test looks at nothing")
	}
}

// Without a mutant the program is the package, and it tells which functions a test enters.
func TestReached(t *testing.T) {
	_, p := shape(t)
	if outcome, _, out, err := p.Run(t.Context(), 0, ".", time.Minute); outcome != Passed || err != nil {
		t.Errorf("%s, %v\n%s", outcome, err, out)
	}
	reached, err := p.Reached(t.Context(), "^TestArea$", time.Minute)
	if err != nil || len(reached) != 1 || !reached["shape.Area"] {
		t.Errorf("reached %v, %v, want shape.Area", reached, err)
	}
	names, err := p.Tests(t.Context())
	if want := []string{"TestArea", "TestPerimeter", "TestDouble", "TestTotal", "TestHalvings"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("tests %q, %v, want %q", names, err, want)
	}
	if _, _, _, err := p.Run(t.Context(), 0, "^TestNone$", time.Minute); err == nil || !strings.Contains(err.Error(), "no test") {
		t.Errorf("no test: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := p.Run(ctx, 0, ".", time.Minute); err == nil {
		t.Error("a run after an interrupt has no error")
	}
}

// A hash changes with the code, and with nothing else.
func TestHash(t *testing.T) {
	functions, _ := shape(t)
	area, perimeter := Named(functions, "Area"), Named(functions, "Perimeter")
	if Hash(area) != Hash(Named(functions, "Area")) || Hash(area) == Hash(perimeter) || Hash(append(area, perimeter...)) == Hash(area) {
		t.Error("hashes don't tell functions apart, or not the same from run to run")
	}
	if Named(functions, "Volume") != nil {
		t.Error("a function that isn't there was found")
	}
}
