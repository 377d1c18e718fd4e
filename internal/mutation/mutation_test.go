package mutation_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mixpolicy/lab/internal/mutation"
)

const module = "testdata/module"

// A test notices the mutants of what it looks at, a test without an assertion none. Mutants that do not compile are
// left out, and a mutant that never ends is ended.
func TestMutants(t *testing.T) {
	functions, err := mutation.Functions(module, "shape")
	if err != nil || len(mutation.Named(functions, "Volume")) > 0 {
		t.Fatal("a function that is not there is found", err)
	}
	p, err := mutation.Build(t.Context(), module, t.TempDir(), functions, true, "shape")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	left := map[string][]string{}
	for _, m := range p.Mutants {
		all[m.Name]++
		passes, _, err := p.Pass(t.Context(), "shape", m.ID, "^Test"+m.Name+"$", 200*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if passes {
			left[m.Name] = append(left[m.Name], string(m.Operator)+": "+m.From+" → "+m.To)
		}
	}
	for function, want := range map[string][]string{"Area": {"condition: a < 0 → a <= 0"}, "Perimeter": nil, "Double": nil, "Halvings": nil} {
		if !slices.Equal(left[function], want) || all[function] < 6 {
			t.Errorf("%s: %d mutants, %q survive, want %q", function, all[function], left[function], want)
		}
	}
	if len(left["Total"]) != all["Total"] || all["Total"] < 6 {
		t.Errorf("Total: %d mutants, %q survive, want all", all["Total"], left["Total"])
	}
	if !slices.ContainsFunc(p.Mutants, func(m mutation.Mutant) bool { return m.From == "x /= 2" && m.To == "x *= 2" }) {
		t.Error("no mutant of Halvings is endless")
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
