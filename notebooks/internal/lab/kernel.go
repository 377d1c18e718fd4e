package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mixpolicy/lab/plotting"
)

// tools are the Go programs that a notebook needs: the kernel, the program that adds imports to cells, and the program
// that completes code. go.mod pins the versions of these programs.
var tools = []string{
	"github.com/janpfeifer/gonb",
	"golang.org/x/tools/cmd/goimports",
	"golang.org/x/tools/gopls",
}

// setUpKernel builds the tools into .lab/bin and describes the kernel to Jupyter. It also compiles the module into Go's
// build cache, so that the first cell does not wait for the compiler.
func (l *Lab) setUpKernel(ctx context.Context) error {
	pins, err := os.ReadFile(filepath.Join(l.root, "go.mod"))
	if err != nil {
		return err
	}
	err = l.once(step{
		name: "kernel",
		why:  "building the Go kernel, goimports and gopls, at the versions that go.mod pins",
		made: l.path("bin", "gonb"),
		from: string(pins) + runtime.Version() + "mended",
	}, func() error {
		if err := errors.Join(os.MkdirAll(l.path("bin"), 0o755), os.RemoveAll(l.path("bin", "gopls"))); err != nil {
			return err
		}
		modfile, err := l.mended(ctx, pins)
		if err == nil {
			build := []string{"GOWORK=off", "go", "build", "-modfile=" + modfile, "-ldflags=-s -w", "-o", l.path("bin") + "/"}
			_, err = printed(l.command(ctx, "env", append(build, tools...)...))
		}
		if err != nil {
			return reached("the Go module proxy, from which the kernel's source comes,", err)
		}
		return os.Rename(l.path("bin", "gopls"), l.path("bin", "language-server"))
	})
	if err != nil {
		return err
	}
	root, err := printed(l.command(ctx, "go", "env", "GOROOT"))
	if err != nil {
		return err
	}
	if err := errors.Join(l.wrap(strings.TrimSpace(root)), l.writeKernelspec()); err != nil {
		return err
	}
	// Cells are built without the -trimpath that GOFLAGS may contain, and so is the module. A package that does not
	// compile only causes a warning: the cells that need the package will fail.
	if _, err := printed(l.command(ctx, "go", "list", "-trimpath=false", "-export", "-f= ", "./...")); err != nil && ctx.Err() == nil {
		l.say("warning: %v", err)
	}
	return ctx.Err()
}

// mended returns the path of a go.mod with which a modified GoNB is built. The modified GoNB connects to gopls as soon
// as gopls listens, waits up to 25 seconds for an answer, and says in an error message where statements belong. The
// published GoNB connects only after 12 seconds, so the first Tab in a new kernel waits for that time. Moreover, it
// stops waiting for an answer after 8 seconds, which is too early on a busy machine.
func (l *Lab) mended(ctx context.Context, pins []byte) (modfile string, err error) {
	folder, modfile := filepath.Join(l.temp, "gonb"), filepath.Join(l.temp, "gonb.mod")
	published, err := printed(l.command(ctx, "go", "list", "-f={{.Module.Dir}}", tools[0]))
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(folder, os.DirFS(strings.TrimSpace(published))); err != nil {
		return "", err
	}
	changes := strings.NewReplacer("time.After(ConnectTimeout)", "time.After(ConnectTimeout / 100)", "= 8000 *", "= 25000 *",
		"= matches[5]", `= strings.Replace(matches[5], "expected decl", "statements belong below a line with %% alone: expected decl", 1)`)
	for _, name := range []string{"goplsclient/exec.go", "goplsclient/conn.go", "gonberror.go"} {
		file := filepath.Join(folder, "internal", "goexec", name)
		source, err := os.ReadFile(file)
		changed := changes.Replace(string(source))
		if err == nil && changed == string(source) {
			err = fmt.Errorf("GoNB's %s lacks the text that we replace; this may be another version of GoNB", name)
		}
		if err := errors.Join(err, writeFile(file, []byte(changed))); err != nil {
			return "", err
		}
	}
	pins = fmt.Appendf(pins, "\nreplace %s => %q\n", tools[0], folder)
	return modfile, errors.Join(writeFile(modfile, pins), copyFile(filepath.Join(l.temp, "gonb.sum"), filepath.Join(l.root, "go.sum")))
}

// wrap puts two commands into .lab/bin. The first, go, runs the go command of the GOROOT root, but skips go get without
// names. GoNB calls go get before each cell that does not say %noautoget. The call would cost 0.1 s, or 0.5 s with the
// network, but go.mod already has the imports of the paper's notebooks. Builds by this go may use more memory, and so
// take a sixth less time. The second command, gopls, ends at once if no reader can ask for completions, because the
// real gopls would load the module for each notebook.
func (l *Lab) wrap(root string) error {
	for name, script := range map[string]string{
		"go":    fmt.Sprintf("case \"$*\" in get | \"get -t\") exit ;; build*) export GOGC=400 ;; esac\nexec '%s/bin/go' \"$@\"", root),
		"gopls": fmt.Sprintf("[ -n \"$%s\" ] || exec '%s' \"$@\"", plotting.Headless, l.path("bin", "language-server")),
	} {
		file := l.path("bin", name)
		if err := errors.Join(writeFile(file, []byte("#!/bin/sh\n"+script+"\n")), os.Chmod(file, 0o755)); err != nil {
			return err
		}
	}
	return nil
}

// A kernelspec describes to Jupyter how to start a kernel.
type kernelspec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
	Metadata      struct {
		Clone string `json:"mixpolicy_clone,omitempty"` // the clone from which the kernel was installed
	} `json:"metadata"`
}

// kernelspec describes our kernel. It is on the PATH, and its workspace contains the clone and the project. The kernel
// reports the compiler's messages as text, which nbclient reads. Linking cells without a symbol table is faster. The
// user's own GOFLAGS do not apply, because flags such as -mod may be errors in the kernel's workspace.
func (l *Lab) kernelspec() (*kernelspec, error) {
	work := l.root
	if l.project != l.root {
		work = l.project + "," + l.root
	}
	if strings.Count(work, ",") > 1 || l.project == l.root && strings.Contains(work, ",") {
		return nil, fmt.Errorf("the Go kernel does not work in a folder whose path contains a comma: %s", work)
	}
	return &kernelspec{
		Argv:          []string{"gonb", "--kernel", "{connection_file}", "-raw_error", "-go_work=" + work},
		DisplayName:   "Go (gonb)",
		Language:      "go",
		InterruptMode: "message",
		Env:           map[string]string{"GOFLAGS": "-ldflags=-s"},
	}, nil
}

// write writes the kernelspec into Jupyter's folder.
func (k *kernelspec) write(folder string) error {
	spec, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(folder, "kernels", "gonb", "kernel.json"), append(spec, '\n'))
}

// writeKernelspec describes our kernel to the Jupyter of this run.
func (l *Lab) writeKernelspec() error {
	spec, err := l.kernelspec()
	if err != nil {
		return err
	}
	return spec.write(filepath.Join(l.temp, "jupyter"))
}

// InstallKernel puts the kernel into the user's own Jupyter, where nbconvert, Notebook and editors find it by the name
// gonb. The kernel needs this clone and its set-up. The kernel keeps the PATH that is set during the installation.
func (l *Lab) InstallKernel(ctx context.Context) error {
	folder, _, err := l.installed()
	if err != nil {
		return err
	}
	spec, err := l.kernelspec()
	if err := errors.Join(err, l.setUp(ctx)); err != nil {
		return err
	}
	spec.Argv[0] = l.path("bin", "gonb")
	spec.Env["PATH"] = l.path("bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	spec.Metadata.Clone = l.root
	if err := spec.write(folder); err != nil {
		return err
	}
	l.say("the kernel gonb is in %s; go run ./notebooks kernel --remove removes it", folder)
	return nil
}

// RemoveKernel removes the kernel that [Lab.InstallKernel] has put into the user's Jupyter.
func (l *Lab) RemoveKernel() error {
	folder, there, err := l.installed()
	if err == nil && !there {
		err = fmt.Errorf("no kernel gonb in %s", folder)
	}
	if err != nil {
		return err
	}
	l.say("removing the kernel gonb from %s", folder)
	return os.RemoveAll(filepath.Join(folder, "kernels", "gonb"))
}

// installed returns the folder of the user's own Jupyter, and whether this folder contains our kernel. A kernel of
// another origin with the name gonb is an error.
func (l *Lab) installed() (folder string, there bool, err error) {
	home, err := os.UserHomeDir()
	folder = filepath.Join(cmp.Or(os.Getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share")), "jupyter")
	if runtime.GOOS == "darwin" {
		folder = filepath.Join(home, "Library", "Jupyter")
	}
	if own := os.Getenv("JUPYTER_DATA_DIR"); own != "" {
		folder, err = own, nil
	}
	if err != nil {
		return "", false, err
	}
	file := filepath.Join(folder, "kernels", "gonb", "kernel.json")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return folder, false, nil
	}
	var spec kernelspec
	if err := errors.Join(err, json.Unmarshal(data, &spec)); err != nil {
		return "", false, fmt.Errorf("%s: %w", file, err)
	}
	if spec.Metadata.Clone == "" {
		return "", false, fmt.Errorf("another kernel gonb is in %s: remove it first, with jupyter kernelspec remove gonb", file)
	}
	return folder, true, nil
}
