// Package contributing tests the instructions in CONTRIBUTING.md by following them.
package contributing

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// fence matches the blocks of CONTRIBUTING.md that name a file in their first line.
var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(?://|---) (\\S+)\n(.*?)^```$")

func read(path ...string) string { return string(mixpolicy.Must(os.ReadFile(filepath.Join(path...)))) }

func write(text string, path ...string) {
	mixpolicy.Must(0, os.WriteFile(filepath.Join(path...), []byte(text), 0o644))
}

// with applies a diff to the text. The first line of the diff, without its space, must occur once in the text. The lines
// of the diff that begin with a plus are inserted after this line.
func with(t *testing.T, text, diff string) string {
	t.Helper()
	before, added, _ := strings.Cut(diff[1:], "\n+")
	added = before + "\n" + strings.ReplaceAll(added, "\n+", "\n")
	if n := strings.Count(text, before+"\n"); n != 1 {
		t.Fatalf("the line %q occurs %d times, want once", before, n)
	}
	return strings.Replace(text, before+"\n", added, 1)
}

// tryOut races the new method and Algorithm 1 with the new modulus, on the new model.
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

// The test follows CONTRIBUTING.md in a copy of the clone: everything builds, the tests of all moduli, methods and errata
// pass, the stored results of other methods stay valid, and the new method, modulus and model run in a race.
func TestContributing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the module")
	}
	root := t.TempDir()
	run := func(dir, name string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir, command.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath") // the next copy reuses what is compiled
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("../..", "sh", "-c", `git ls-files -z --cached --others --exclude-standard |
		tar --null -T - --ignore-failed-read -cf - 2>/dev/null | tar -xf - -C "$0"`, root) // skips deleted files
	for _, block := range fence.FindAllStringSubmatch(read("../../CONTRIBUTING.md"), -1) {
		language, path, text := block[1], block[2], block[3]
		if language == "json" && !json.Valid([]byte(text)) {
			t.Errorf("%s is not JSON", path)
		}
		if lines := strings.Count(text, "\n"); language == "go" && lines > 80 {
			t.Errorf("%s has %d lines", path, lines)
		}
		if language == "diff" {
			text = with(t, read(root, path), text)
		}
		write(text, root, path)
	}
	if out := run(root, "gofmt", "-l", "mixpolicy"); out != "" {
		t.Errorf("not formatted by gofmt: %s", out)
	}
	run(root, "go", "list", "-export", "-f= ", "./...") // compiles all packages without linking
	run(root, "go", "run", "./mixpolicy/study/record", "table", "errata")
	run(root, "go", "test", "-short", "./mixpolicy/bregman", "./mixpolicy/priorwork", "./mixpolicy/models", "./mixpolicy/study", "./mixpolicy/study/record")
	run(root, "go", "test", "-run", "TestErrata|TestRecorded", "./mixpolicy/paper")
	if out := run(root, "go", "run", "./mixpolicy/study/record", "list"); !strings.Contains(out, `-m "optimistic"  (not recorded yet)`) {
		t.Errorf("record list does not say that the method is not recorded yet:\n%s", out)
	}
	mixpolicy.Must(0, os.Mkdir(filepath.Join(root, "tryout"), 0o755))
	write(tryOut, root, "tryout", "main.go")
	if out := run(root, "go", "run", "./tryout"); out != "optimistic 3\nhypentropy 3\n" {
		t.Errorf("the race printed %q", out)
	}

	// This step is the last, because it removes the other experiments, which would take half a minute. The record then
	// holds only the new claim.
	const experiments = "mixpolicy/paper/claims.go"
	alone := regexp.MustCompile(`(\texampleClaims,\n)[^}]*`)
	write(alone.ReplaceAllString(read(root, experiments), "$1"), root, experiments)
	run(root, "go", "run", "./mixpolicy/study/record", "table", "claims")
	if claims := read(root, "data/claims.csv"); strings.Count(claims, "\n") != 3 || !strings.Contains(claims, "0.5,0.4122") {
		t.Errorf("the new claim is not recorded with its interval: %s", claims)
	}
}
