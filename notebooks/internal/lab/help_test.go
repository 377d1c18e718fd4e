package lab

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ask is a program that executes cells and then asks the kernel what a reader asks with Shift-Tab and with Tab, with the
// cursor at the mark |. If there is no answer, the program asks again, because GoNB waits only 25 seconds for gopls, and
// on a very busy machine, the first answer takes longer.
const ask = `
import json, sys, time
from jupyter_client.manager import start_new_kernel
cells, hovered, completed = json.load(sys.stdin)
manager, kernel = start_new_kernel(kernel_name="gonb", startup_timeout=60)
try:
    for cell in cells:
        kernel.execute(cell, reply=True, timeout=120)
    deadline = time.monotonic() + 120
    def answer(ask, told, code):
        while True:
            found = told(ask(code.replace("|", ""), code.index("|"), reply=True, timeout=120)["content"])
            if found or time.monotonic() > deadline:
                return found
            time.sleep(1)
    def hover(content): return content["data"].get("text/markdown", "")
    def matches(content): return content["matches"]
    print(json.dumps({
        "hovers": {code: answer(kernel.inspect, hover, code) for code in hovered},
        "matches": {code: answer(kernel.complete, matches, code) for code in completed},
    }))
finally:
    kernel.stop_channels()
    manager.shutdown_kernel(now=True)
`

// TestHelpInACell asks the kernel for the documentation of names, including the gallery's moduli, and
// for completions.
func TestHelpInACell(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	hovers := map[string]string{
		"%%\nm := bregman.Ba|ll{R: 2}":         "φ(θ) = −√(R² − ‖θ‖²)",
		"%%\nvar method mixpolicy.Primal|Dual": "∇φ(θ̃) = ∇φ(θ) − η ĝ                                  (3.25a)",
		"%%\nfmt.Println(half|Ball())":         "halfBall is declared in this notebook.",
	}
	for _, m := range strings.Fields("LogBall Cube Hellinger LogCosine FermiDirac NegativeEntropy Tsallis Burg Euclidean PNorm") {
		hovers["%%\n_ = bregman.|"+m] = "φ("
	}
	completions := map[string]string{
		"%%\nm := bregman.B|":              "Ball",
		"%%\nm := bregman.Ball{R: 2}\nm.|": "ConjugateGradient",
		"%%\nmethod := mixpolicy.Prim|":    "PrimalDual",
		"%%\nm := half|":                   "halfBall",
	}
	const cell = `import (
	"fmt"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
)

// halfBall is declared in this notebook.
func halfBall() bregman.Modulus { return bregman.Ball{R: 0.5} }

%%
fmt.Println(mixpolicy.Ball(2), halfBall())`
	cmd := lab.command(t.Context(), lab.python, "-c", ask)
	cmd.Dir = filepath.Join(lab.root, "notebooks")
	cmd.Stdin = bytes.NewReader(try(json.Marshal([]any{[]string{cell}, hovers, completions})).or(t))
	said := try(printed(cmd)).or(t)
	var answers struct {
		Hovers  map[string]string
		Matches map[string][]string
	}
	if err := json.Unmarshal([]byte(tail(said, 1)), &answers); err != nil {
		t.Fatalf("%v:\n%s", err, said)
	}
	for code, want := range hovers {
		if !strings.Contains(answers.Hovers[code], want) {
			t.Errorf("Shift-Tab at %q: want %q in\n%s", code, want, answers.Hovers[code])
		}
	}
	for code, want := range completions {
		if !slices.Contains(answers.Matches[code], want) {
			t.Errorf("Tab at %q: want %s in %q", code, want, answers.Matches[code])
		}
	}
}

// The kernel connects to gopls as soon as gopls listens, so that the module is loaded when the reader first presses Tab.
func TestGoplsIsAskedAtOnce(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	fake := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(fake, "gopls"), []byte("#!"+lab.python+`
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[2].removeprefix("unix;"))
s.listen()
s.accept()
open(sys.argv[0] + ".asked", "w")
`), 0o755))
	cmd := lab.command(t.Context(), lab.python, "-c", `
import os, sys, time
from jupyter_client.manager import start_new_kernel
manager, kernel = start_new_kernel(kernel_name="gonb", startup_timeout=60)
begin = time.monotonic()
while not os.path.exists(sys.argv[1]) and time.monotonic() < begin + 8: time.sleep(0.1)
print(os.path.exists(sys.argv[1]))
kernel.stop_channels()
manager.shutdown_kernel(now=True)`, filepath.Join(fake, "gopls.asked"))
	cmd.Env = append(cmd.Env, "PATH="+fake+":"+lab.path("bin")+":"+os.Getenv("PATH"))
	if said := tail(try(printed(cmd)).or(t), 1); said != "True" {
		t.Errorf("not asked within 8 seconds: %s", said)
	}
}
