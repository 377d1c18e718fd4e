package lab

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheCommand asks the command what it takes.
func TestTheCommand(t *testing.T) {
	program := command(t)
	for line, want := range map[string][]string{
		"-h":               {"go run ./notebooks", "run <name>", "lab ", "new <dir>", "clean", "--debian", ".lab", "build", "PyPI"},
		"run -h":           {"--update", "--timeout", "by name or the beginning of it"},
		"run":              {"error: expected", "-h tells what there is", "exit status 2"},
		"print":            {"error: unexpected argument print", "exit status 2"},
		"--jobs=two":       {"error: --jobs", "exit status 2"},
		"run nosuch":       {`error: no notebook's name begins with "nosuch"; there are 00-start-here, `, "exit status 1"},
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
