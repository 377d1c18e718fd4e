package mutation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mixpolicy/lab/internal/mutation"
)

const module = "testdata/module"

// A test notices the mutants of the function that it checks, except a < 0 → a <= 0; a test without an assertion
// notices none. Build leaves out mutants that do not compile, and Pass stops a mutant that never ends.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds mutants")
	}
	functions, err := mutation.Functions(module, "shape")
	if err != nil || len(mutation.Named(functions, "Volume")) > 0 {
		t.Fatal("a function that is not there is found", err)
	}
	p, err := mutation.Build(t.Context(), module, t.TempDir(), functions, true, "shape")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, m := range p.Mutants {
		change := m.From + " → " + m.To
		all[m.Name]++
		all[change]++
		passes, _, err := p.Pass(t.Context(), "shape", m.ID, "^Test"+m.Name+"$", 200*time.Millisecond)
		if err != nil || passes != (m.Name == "Total" || change == "a < 0 → a <= 0") {
			t.Errorf("%s, %s: %s: its test passes: %v, %v", m.Name, m.Operator, change, passes, err)
		}
	}
	for of, least := range map[string]int{"Area": 6, "Perimeter": 6, "Double": 6, "Total": 6, "Halvings": 6,
		"a < 0 → a <= 0": 1, "x /= 2 → x *= 2": 1} {
		if all[of] < least {
			t.Errorf("%d mutants of %s, want %d", all[of], of, least)
		}
	}
	if pass, took, err := p.Pass(t.Context(), "shape", 0, ".", time.Minute); !pass || took <= 0 || err != nil {
		t.Errorf("without a mutant: %v after %v, %v", pass, took, err)
	}
	if _, _, err := p.Pass(t.Context(), "shape", 0, "^TestNone$", time.Minute); err == nil || !strings.Contains(err.Error(), "no test") {
		t.Errorf("no test: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Pass(ctx, "shape", 0, ".", time.Minute); err == nil {
		t.Error("a run after an interrupt has no error")
	}
}
