// Package contributing follows CONTRIBUTING.md.
package contributing

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a fenced block of the page: a file, or a line to add to one.
type block struct{ language, path, text string }

// blocks returns those of the page that name a file in their first line.
func blocks(t *testing.T) (all []block) {
	t.Helper()
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?ms)^```(\\w+)\n(?://|---) (\\S+)\n(.*?)^```$")
	for _, m := range fence.FindAllStringSubmatch(string(page), -1) {
		all = append(all, block{m[1], m[2], m[3]})
	}
	if len(all) == 0 {
		t.Fatal("no block of CONTRIBUTING.md names a file")
	}
	return all
}

// apply writes a block into the clone at root. Of a diff, the line with a space stands in the
// file once, and those with a plus come after it.
func (b block) apply(t *testing.T, root string) {
	t.Helper()
	path := filepath.Join(root, b.path)
	if b.language != "diff" {
		if err := os.WriteFile(path, []byte(b.text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var before, added string
	for line := range strings.Lines(b.text) {
		switch line[0] {
		case ' ':
			before = line[1:]
		case '+':
			added += line[1:]
		}
	}
	if n := bytes.Count(old, []byte(before)); n != 1 || added == "" {
		t.Fatalf("%s has the line %q %d times, want once", b.path, before, n)
	}
	block{path: b.path, text: strings.Replace(string(old), before, before+added, 1)}.apply(t, root)
}

// tryOut races the new method, with the new modulus beside it, on the new model.
const tryOut = `package main

import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

func main() {
	ctx := context.Background()
	x := mixpolicy.Must(models.Inventory{Lost: 8, Holding: 0.2}.MDP())
	order := func(a int) *mixpolicy.Policy {
		return mixpolicy.Must(mixpolicy.PolicyFunc(x, func(s int, row []float64) {
			for k := range row {
				row[k] = 0.02
			}
			row[a] += 1 - 0.02*float64(len(row))
		}))
	}
	psi := mixpolicy.Must(mixpolicy.NewFeatures(ctx, x, order(0), order(2)))
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	for _, o := range mixpolicy.Must(race.Run(ctx, p, []race.Entrant{
		{Name: "optimistic", Methods: []mixpolicy.Method{priorwork.Optimistic{CostScale: 16}}},
		{Name: "hypentropy", Methods: []mixpolicy.Method{mixpolicy.PrimalDual{Modulus: bregman.Hypentropy(1), CostScale: 16}}},
	}, race.Settings{Trials: 3, Queries: []int{100, 1000}, Seed: 1})) {
		if o.Err != nil || len(o.Runs.Finished()) != 3 {
			panic(fmt.Sprint(o.Name, o.Err))
		}
		fmt.Println(o.Name, len(o.Runs.Finished()))
	}
}
`

// The page is followed in a copy of the clone: everything builds, what all moduli, methods
// and errata must pass passes, others' records stand, and a race of the new ones runs.
func TestContributing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the module")
	}
	root := t.TempDir()
	run := func(dir, name string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("../..", "sh", "-c", `git ls-files -z --cached --others --exclude-standard |
		tar --null -T - --ignore-failed-read -cf - 2>/dev/null | tar -xf - -C "$0"`, root) // without what is deleted, and not committed yet
	for _, b := range blocks(t) {
		b.apply(t, root)
		if b.language == "json" && !json.Valid([]byte(b.text)) {
			t.Errorf("%s is not JSON", b.path)
		}
		if lines := strings.Count(b.text, "\n"); b.language == "go" && lines > 80 {
			t.Errorf("%s has %d lines", b.path, lines)
		}
	}
	if out := run(root, "gofmt", "-l", "mixpolicy"); out != "" {
		t.Errorf("not formatted by gofmt: %s", out)
	}
	run(root, "go", "build", "./...")
	run(root, "go", "run", "./mixpolicy/study/record", "table", "errata")
	run(root, "go", "test", "-short", "./mixpolicy/bregman", "./mixpolicy/priorwork", "./mixpolicy/models", "./mixpolicy/study", "./mixpolicy/study/record")
	run(root, "go", "test", "-run", "TestErrata|TestRecorded", "./mixpolicy/paper")
	if out := run(root, "go", "run", "./mixpolicy/study/record", "list"); !strings.Contains(out, `-m "optimistic"  (not recorded yet)`) {
		t.Errorf("record list does not say that the method is not recorded yet:\n%s", out)
	}
	folder := filepath.Join(root, "tryout")
	if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(filepath.Join(folder, "main.go"), []byte(tryOut), 0o644)); err != nil {
		t.Fatal(err)
	}
	if out := run(root, "go", "run", "./tryout"); out != "optimistic 3\nhypentropy 3\n" {
		t.Errorf("the race printed %q", out)
	}

	// The last, as the other experiments are left out, which take half a minute: the record is of the new claim alone.
	experiments := filepath.Join(root, "mixpolicy", "paper", "claims.go")
	all, err := os.ReadFile(experiments)
	if err != nil {
		t.Fatal(err)
	}
	alone := regexp.MustCompile(`(\texampleClaims,\n)[^}]*`).ReplaceAll(all, []byte("$1"))
	if err := os.WriteFile(experiments, alone, 0o644); err != nil {
		t.Fatal(err)
	}
	run(root, "go", "run", "./mixpolicy/study/record", "table", "claims")
	claims, err := os.ReadFile(filepath.Join(root, "data", "claims.csv"))
	if err != nil || strings.Count(string(claims), "\n") != 3 || !strings.Contains(string(claims), "0.5,0.4122") {
		t.Errorf("the new claim is not recorded with its interval: %v, %s", err, claims)
	}
}
