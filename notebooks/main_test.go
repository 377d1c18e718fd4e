package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mixpolicy/lab/notebooks/internal/lab"
)

func TestMain(m *testing.M) {
	lab.Keep()
	os.Exit(m.Run())
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheCommand checks the command's help and its errors.
func TestTheCommand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "notebooks")
	if said, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for line, want := range map[string][]string{
		"-h":               {"go run ./notebooks", "run [<name> ...]", "lab ", "pages", "new <dir>", "clean", "--debian", ".lab", "build", "PyPI"},
		"run -h":           {"--update", "--timeout", "by name or the beginning of it"},
		"--print":          {"error: unknown flag --print", "-h lists the commands", "exit status 2"},
		"nosuch":           {`error: no notebook's name begins with "nosuch"`, "exit status 1"},
		"--jobs=two":       {"error: --jobs", "exit status 2"},
		"kernel":           {"--install", "--remove", "exit status 2"},
		"run nosuch":       {`error: no notebook's name begins with "nosuch"; the names are 00-start-here, `, "exit status 1"},
		"run ./no.ipynb":   {"no.ipynb: no such file", "exit status 1"},
		"lab ./nowhere":    {"nowhere: no such file", "exit status 1"},
		"new 'a'":          {"can't be the name of a Go module", "exit status 1"},
		"run 00 --timeout": {"error: --timeout", "exit status 2"},
	} {
		said, err := exec.Command(program, strings.Fields(line)...).CombinedOutput()
		text := string(said)
		if err != nil {
			text += err.Error()
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is answered without %q:\n%s", line, w, text)
			}
		}
	}
}

// TestNotebooks executes the paper's notebooks and compares their cells with
// the committed cells, except the outputs of cells tagged timing.
func TestNotebooks(t *testing.T) {
	if testing.Short() {
		t.Skip("executes notebooks in Jupyter")
	}
	l, err := lab.New(os.Stderr)
	noError(t, err)
	defer l.Close()
	l.Output = t.TempDir()
	noError(t, l.Run(context.Background(), os.Stdout, nil, lab.Options{Jobs: 3, Timeout: 5 * time.Minute}))
	files, err := filepath.Glob("*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			if runtime.GOARCH != "amd64" {
				t.Skip("the committed outputs are amd64's: elsewhere a multiplication and an addition may be one operation, with one rounding")
			}
			committed, fresh := cellsWithoutTimings(t, file), cellsWithoutTimings(t, filepath.Join(l.Output, file))
			if len(committed) != len(fresh) {
				t.Fatalf("%d cells are committed, %d executed", len(committed), len(fresh))
			}
			for i, is := range fresh {
				was, at := committed[i], 0
				if is == was {
					continue
				}
				for at < min(len(is), len(was)) && is[at] == was[at] {
					at++
				}
				around := func(s string) string { return s[max(0, at-200):min(len(s), at+200)] }
				t.Errorf("cell %d differs from the committed cell (go run ./notebooks --update writes the fresh outputs into the notebook):\ncommitted …%s…\nfresh     …%s…", i, around(was), around(is))
			}
		})
	}
}

// cellsWithoutTimings returns the notebook's cells as JSON, without the outputs of cells tagged timing.
func cellsWithoutTimings(t *testing.T, file string) (cells []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	noError(t, err)
	var nb struct{ Cells []map[string]any }
	noError(t, json.Unmarshal(data, &nb))
	for _, c := range nb.Cells {
		if strings.Contains(fmt.Sprint(c["metadata"]), "timing") {
			c["outputs"] = nil
		}
		text, err := json.Marshal(c)
		noError(t, err)
		cells = append(cells, string(text))
	}
	return cells
}
