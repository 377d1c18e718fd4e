// Package lab runs the notebooks of a clone of this repository. It sets up what
// they need (the Go kernel, Jupyter, two scripts), executes them, makes pages of
// them, and opens them in JupyterLab.
package lab

import (
	"context"
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

const module = "github.com/mixpolicy/lab"

// A Lab is a clone of the repository, together with what the set-up puts into
// its folder .lab. Make it by [New].
type Lab struct {
	root   string // of the clone
	output string // where runs put what they make: the clone's folder build, but for tests
	python string // the interpreter that has Jupyter, once set up

	temp string // temporary files of this run, and the mark of its processes
	log  io.Writer
	mu   sync.Mutex // guards log
}

// New finds the clone around the working directory. What the set-up does is
// told to log, a line a step.
func New(log io.Writer) (*Lab, error) {
	root, err := cloneRoot()
	if err != nil {
		return nil, err
	}
	// Not in .lab: the language server's socket must have a short name.
	temp, err := os.MkdirTemp("", "mixpolicy-")
	if err != nil {
		return nil, err
	}
	return &Lab{root: root, output: filepath.Join(root, "build"), temp: temp, log: log}, nil
}

// cloneRoot is the nearest folder upward whose go.mod declares our module.
func cloneRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module "+module+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not inside a clone of %s", start, module)
		}
	}
}

// Run executes the notebooks whose names begin with one of the given ones, or
// all if there are none, makes pages of them, and writes a summary to w.
func (l *Lab) Run(ctx context.Context, w io.Writer, names []string, o Options) error {
	begin := time.Now()
	files, err := l.notebooks(names)
	if err != nil {
		return err
	}
	if err := l.setUp(ctx); err != nil {
		return err
	}
	runs, err := l.execute(ctx, files, o)
	if err != nil {
		return err
	}
	if err := l.export(ctx, runs); err != nil {
		return err
	}
	return l.summarize(w, runs, time.Since(begin))
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

// path is the file or folder with this name in .lab.
func (l *Lab) path(elem ...string) string {
	return filepath.Join(append([]string{l.root, ".lab"}, elem...)...)
}

// build is the file or folder with this name among what runs make.
func (l *Lab) build(elem ...string) string {
	return filepath.Join(append([]string{l.output}, elem...)...)
}

// setUp makes everything that executing, exporting and editing need. What a
// former run made from the same versions is kept.
func (l *Lab) setUp(ctx context.Context) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.setUpKernel(ctx) })
	group.Go(func() error { return l.setUpJupyter(ctx) })
	group.Go(func() error { return l.fetchScripts(ctx) })
	return group.Wait()
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
			f.Close()
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

// once takes the step, unless its stamp says that it was done
// before and from the same.
func (l *Lab) once(s step, do func() error) error {
	stamp := l.path("stamps", s.name)
	if have, err := os.ReadFile(stamp); err == nil && string(have) == s.from {
		if _, err := os.Stat(s.made); err == nil {
			return nil
		}
	}
	l.say("%-8s %s", s.name, s.why)
	begin := time.Now()
	if err := do(); err != nil {
		return err
	}
	if err := writeFile(stamp, []byte(s.from)); err != nil {
		return err
	}
	l.say("%-8s done in %.0f s", s.name, time.Since(begin).Seconds())
	return nil
}

// say writes one line about the set-up.
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

// copyFile is writeFile with the content of another file.
func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, data)
}
