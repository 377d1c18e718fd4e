package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// tools are the Go programs a notebook needs: the kernel, what gives its cells
// their imports, and what completes code in them. go.mod pins their versions.
var tools = []string{
	"github.com/janpfeifer/gonb",
	"golang.org/x/tools/cmd/goimports",
	"golang.org/x/tools/gopls",
}

// setUpKernel builds the tools into .lab/bin and describes the kernel to
// Jupyter. It also compiles the module into Go's build cache, so that the first
// cell doesn't wait for it.
func (l *Lab) setUpKernel(ctx context.Context) error {
	pins, err := os.ReadFile(filepath.Join(l.root, "go.mod"))
	if err != nil {
		return err
	}
	err = l.once(step{
		name: "kernel",
		why:  "building the Go kernel, goimports and gopls, at the versions that go.mod pins",
		made: l.path("bin", "gonb"),
		from: string(pins) + runtime.Version(),
	}, func() error {
		if err := os.MkdirAll(l.path("bin"), 0o755); err != nil {
			return err
		}
		_, err := printed(l.command(ctx, "go", append([]string{"build", "-ldflags=-s -w", "-o", l.path("bin") + "/"}, tools...)...))
		return reached("the Go module proxy, from which the kernel's source comes,", err)
	})
	if err != nil {
		return err
	}
	if err := l.writeGo(ctx); err != nil {
		return err
	}
	if err := l.writeKernelspec(); err != nil {
		return err
	}
	// The cell that needs a broken package will say so too.
	if _, err := printed(l.command(ctx, "go", "build", "./...")); err != nil && ctx.Err() == nil {
		l.say("warning: %v", err)
	}
	return ctx.Err()
}

// writeGo puts a go command into .lab/bin that is the real one, except that go get without
// names does nothing. GoNB calls that before each cell, unless a
// cell says %noautoget: it has no flag for it. All that notebooks import is in
// go.mod, and the call would cost a cell 0.1 s, and 0.5 s where it asks the network.
func (l *Lab) writeGo(ctx context.Context) error {
	root, err := printed(l.command(ctx, "go", "env", "GOROOT"))
	if err != nil {
		return err
	}
	file := l.path("bin", "go")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in get | \"get -t\") exit ;; esac\nexec '%s/bin/go' \"$@\"\n", strings.TrimSpace(root))
	if err := writeFile(file, []byte(script)); err != nil {
		return err
	}
	return os.Chmod(file, 0o755)
}

// A kernelspec says how Jupyter starts a kernel.
type kernelspec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
}

// writeKernelspec describes our kernel to this run: found by the PATH, with the clone and the project in
// its workspace. The compiler's words come as text, where nbclient looks for them. Cells are linked
// without a symbol table, which is faster; any other flag of the user's, such as -mod, may
// be an error in the kernel's workspace.
func (l *Lab) writeKernelspec() error {
	work := l.root
	if l.project != l.root {
		work = l.project + "," + l.root
	}
	if strings.Count(work, ",") > 1 || l.project == l.root && strings.Contains(work, ",") {
		return fmt.Errorf("a comma in the folder's name, where the Go kernel can't have one: %s", work)
	}
	spec, err := json.MarshalIndent(kernelspec{
		Argv:          []string{"gonb", "--kernel", "{connection_file}", "-raw_error", "-go_work=" + work},
		DisplayName:   "Go (gonb)",
		Language:      "go",
		InterruptMode: "message",
		Env:           map[string]string{"GOFLAGS": "-ldflags=-s"},
	}, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(l.temp, "jupyter", "kernels", "gonb", "kernel.json"), append(spec, '\n'))
}
