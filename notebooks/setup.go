package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

// Module is the module whose clone the command works in.
const Module = "github.com/mixpolicy/lab"

// A Lab is a clone of the repository, together with what the set-up puts into
// its folder .lab.
type Lab struct {
	Root  string // of the clone
	Build string // where runs put what they make; in the clone, but for tests

	jupyterFrom jupyterSource
	jupyter     jupyter // once set up

	temp string // temporary files of this run, and the mark of its processes
	log  io.Writer
	mu   sync.Mutex // guards log
}

// NewLab finds the clone around the working directory. What the set-up does is
// told to log, a line a step.
func NewLab(log io.Writer) (*Lab, error) {
	root, err := cloneRoot()
	if err != nil {
		return nil, err
	}
	// Not in .lab: the language server's socket must have a short name.
	temp, err := os.MkdirTemp("", "mixpolicy-")
	if err != nil {
		return nil, err
	}
	return &Lab{Root: root, Build: filepath.Join(root, "build"), temp: temp, log: log}, nil
}

// cloneRoot is the nearest folder upward whose go.mod declares Module.
func cloneRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module "+Module+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside a clone of %s", start, Module)
		}
	}
}

// path is the file or folder with this name in .lab.
func (l *Lab) path(elem ...string) string {
	return filepath.Join(append([]string{l.Root, ".lab"}, elem...)...)
}

// build is the file or folder with this name among what runs make.
func (l *Lab) build(elem ...string) string {
	return filepath.Join(append([]string{l.Build}, elem...)...)
}

// environment is that of every process the lab starts: our programs first on
// the PATH, everything of Jupyter's in .lab, nothing of the user's touched.
func (l *Lab) environment() []string {
	path := l.path("bin")
	if l.jupyter.python != "" {
		path += string(os.PathListSeparator) + filepath.Dir(l.jupyter.python)
	}
	env := []string{
		"PATH=" + path + string(os.PathListSeparator) + os.Getenv("PATH"),
		"TMPDIR=" + l.temp,
		"JUPYTER_PATH=" + l.path("jupyter"),
		"JUPYTER_CONFIG_DIR=" + l.path("jupyter", "config"),
		"JUPYTER_DATA_DIR=" + l.path("jupyter"),
		"JUPYTER_RUNTIME_DIR=" + filepath.Join(l.temp, "runtime"),
		"JUPYTER_PLATFORM_DIRS=1", // silences a warning; every folder is given here anyway
		"IPYTHONDIR=" + l.path("ipython"),
		"PYTHONUTF8=1",
		"MIXPOLICY_FIGURES=" + l.build("figures"),
		"GOWORK=", // cells make a workspace of their own
	}
	// -mod is an error in a workspace.
	if strings.Contains(os.Getenv("GOFLAGS"), "-mod") {
		env = append(env, "GOFLAGS=")
	}
	return append(os.Environ(), env...)
}

// Setup makes everything that executing, exporting and editing need. What a
// former run made from the same versions is kept.
func (l *Lab) Setup(ctx context.Context) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := l.buildTools(ctx); err != nil {
			return err
		}
		return l.warmCells(ctx)
	})
	var found jupyter
	group.Go(func() (err error) {
		found, err = l.setUpJupyter(ctx)
		return err
	})
	group.Go(func() error { return l.fetchScripts(ctx) })
	err = group.Wait()
	l.jupyter = found
	return err
}

// Clean removes everything that a set-up or a run made.
func (l *Lab) Clean() error {
	for _, dir := range []string{l.path(), l.build()} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		l.say("removed %s", dir)
	}
	return nil
}

// lock keeps two set-ups of one clone from meeting.
func (l *Lab) lock() (unlock func(), err error) {
	if err := os.MkdirAll(l.path(), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.path("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	fd := int(f.Fd())
	if syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		l.say("waiting for another set-up of this clone")
		if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
			return nil, err
		}
	}
	return func() { f.Close() }, nil
}

// A step is something the set-up makes once.
type step struct {
	name string // also of its stamp
	why  string // what is being done and what for
	made string // must exist afterwards
	from string // what it is made from: another value makes it anew
}

// once does what the step says, unless its stamp tells that it was done
// before and from the same.
func (l *Lab) once(s step, do func() error) error {
	sum := sha256.Sum256([]byte(s.from))
	want := hex.EncodeToString(sum[:])
	stamp := l.path("stamps", s.name)
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		if _, err := os.Stat(s.made); err == nil {
			return nil
		}
	}
	l.say("%-8s %s", s.name, s.why)
	begin := time.Now()
	if err := do(); err != nil {
		return err
	}
	if err := writeFile(stamp, []byte(want)); err != nil {
		return err
	}
	l.say("%-8s done in %.0f s", s.name, time.Since(begin).Seconds())
	return nil
}

// say tells one line about the set-up.
func (l *Lab) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.log, format+"\n", args...)
}

// writeFile writes the file, whole or not at all, and its folder if need be.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(name, data)
}
