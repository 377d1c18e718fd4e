// Package lab runs the notebooks of a clone of this repository. It sets up what the notebooks need (the Go kernel,
// Jupyter, scripts from npm), executes the notebooks, makes pages from them, and opens them in JupyterLab.
package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

const module = "github.com/mixpolicy/lab"

// A Lab is a clone of the repository, together with its folder .lab, which the set-up fills. [New] makes a Lab.
type Lab struct {
	// Debian lets the set-up install Debian's package python3-venv if Python needs it.
	Debian bool
	// Output is the folder for the results of runs. "" means the folder build in the clone or, for the reader's own
	// notebooks, a folder build next to these notebooks.
	Output string

	root   string // the folder of the clone
	python string // the interpreter with Jupyter, once set up

	// The notebooks to work on: the paper's, or the reader's own (see workOn).
	own     bool
	folder  string // the folder of the notebooks
	project string // the folder of the module whose packages cells may import, in addition to the clone's packages

	temp    string // folder of this run's temporary files; its path marks the run's processes
	held    *os.File
	used    *os.File     // .lab/used, once this lab has locked it
	release func() error // ends the processes and removes temp
	log     io.Writer
	mu      sync.Mutex // guards log
}

// New returns the lab of the clone that contains the working directory. The lab writes messages about its work to log,
// line by line.
func New(log io.Writer) (*Lab, error) {
	root, err := cloneRoot()
	if err != nil {
		return nil, err
	}
	temp, held, err := makeTemp()
	if err != nil {
		return nil, err
	}
	release, err := startKeeper(temp)
	if err != nil {
		return nil, err
	}
	l := &Lab{root: root, folder: filepath.Join(root, "notebooks"), project: root, temp: temp, held: held, release: release, log: log}
	return l, nil
}

// cloneRoot returns the folder of our module, if the working directory is in it.
func cloneRoot() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f={{.Main}}{{.Dir}}", module).Output()
	root, ours := bytes.CutPrefix(bytes.TrimSpace(root), []byte("true"))
	if err != nil || !ours {
		return "", fmt.Errorf("the working directory is not inside a clone of %s", module)
	}
	return string(root), nil
}

// Run executes the named notebooks, or all committed notebooks if names is empty. It then makes pages from the
// notebooks, and writes a summary to w. Each of the given names is the path of a notebook, or a prefix that selects all
// committed notebooks whose names begin with it.
func (l *Lab) Run(ctx context.Context, w io.Writer, names []string, o Options) error {
	begin := time.Now()
	files, err := l.prepare(ctx, names)
	if err != nil {
		return err
	}
	runs, err := l.execute(ctx, files, o)
	if err != nil {
		return err
	}
	if err := l.publish(ctx, runs, o.Update); err != nil {
		return err
	}
	return l.summarize(w, runs, time.Since(begin))
}

// Pages makes pages from the notebooks as [Lab.Run] does, but with their present outputs: it executes nothing.
func (l *Lab) Pages(ctx context.Context, names []string) error {
	files, err := l.prepare(ctx, names)
	if err != nil {
		return err
	}
	runs := make([]*run, len(files))
	for i, file := range files {
		runs[i] = &run{name: notebookName(file), source: file, file: file}
		if runs[i].notebook, err = readNotebook(file); err != nil {
			return err
		}
	}
	return l.publish(ctx, runs, false)
}

// prepare finds the named notebooks, and sets up what they need.
func (l *Lab) prepare(ctx context.Context, names []string) (files []string, err error) {
	if files, err = l.notebooks(names); err != nil {
		return nil, err
	}
	if err := l.workOn(filepath.Dir(files[0])); err != nil {
		return nil, err
	}
	return files, l.setUp(ctx)
}

// publish puts the executed notebooks and their pages into build and, if update is set, overwrites the originals with
// the executed notebooks. Before publish, the notebooks that [Lab.Run] executed are temporary files of this run, so
// simultaneous runs do not interfere.
func (l *Lab) publish(ctx context.Context, runs []*run, update bool) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if update {
		for _, r := range runs {
			if err := copyFile(r.source, r.file); err != nil {
				return err
			}
		}
	}
	if !l.own { // clean keeps the build of the reader's own notebooks
		if err := markAsCache(l.build()); err != nil {
			return err
		}
	}
	return l.export(ctx, runs)
}

// markAsCache marks a folder that clean removes. Backup programs that know the mark omit the folder. In a cell,
// plotting.Save writes no file into a marked folder.
func markAsCache(folder string) error {
	return writeFile(filepath.Join(folder, "CACHEDIR.TAG"), []byte("Signature: 8a477f597d28d172789f06886806bc55\n"+
		"# Made by go run ./notebooks, and removed by go run ./notebooks clean: see bford.info/cachedir\n"))
}

// Clean waits until no run and no JupyterLab uses the clone. Then Clean removes .lab, and the results of running the
// paper's notebooks.
func (l *Lab) Clean(ctx context.Context) error {
	unlock, err := l.lockAlone(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, name := range append(named(l.path(), ""), l.build()) {
		if name == l.path("lock") || name == l.path("used") {
			continue // removed last
		}
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	l.used.Close()
	l.used = nil
	os.Remove(l.path("used"))
	os.Remove(l.path("lock"))
	os.Remove(l.path()) // fails if a waiting run has already made a new lock in it
	l.say("removed %s and %s", l.path(), l.build())
	return nil
}

// path returns the path of the file or folder with this name in .lab.
func (l *Lab) path(elem ...string) string {
	return filepath.Join(append([]string{l.root, ".lab"}, elem...)...)
}

// build returns the path of the file or folder with this name among the results of runs.
func (l *Lab) build(elem ...string) string {
	folder := l.Output
	if folder == "" {
		folder = filepath.Join(l.root, "build")
		if l.own {
			folder = filepath.Join(l.folder, "build")
		}
	}
	return filepath.Join(append([]string{folder}, elem...)...)
}

// setUp makes everything that executing, exporting and editing need. It keeps what an earlier run made from the
// same versions.
func (l *Lab) setUp(ctx context.Context) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := errors.Join(l.removeParts(), markAsCache(l.path()), l.use(syscall.LOCK_SH)); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.setUpKernel(ctx) })
	group.Go(func() error { return l.setUpJupyter(ctx) })
	group.Go(func() error { return l.fetchScripts(ctx) })
	return group.Wait()
}

// lock keeps processes from changing .lab and build of one clone at the same time. If another process is changing these
// folders, lock reports the other process's command line and waits until the other process has unlocked the folders.
func (l *Lab) lock(ctx context.Context) (unlock func(), err error) {
	name := l.path("lock")
	for told := false; ctx.Err() == nil; {
		if err := os.MkdirAll(l.path(), 0o755); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		err = lockFile(f, name, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			f.Truncate(0)
			fmt.Fprintf(f, "%s (process %d)", strings.Join(append([]string{"go run ./notebooks"}, os.Args[1:]...), " "), os.Getpid())
			return func() { f.Close() }, nil
		}
		holder, _ := io.ReadAll(f)
		f.Close()
		switch {
		case errors.Is(err, fs.ErrNotExist): // clean has just removed it
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, err
		case !told && len(holder) > 0:
			l.say("waiting for %s, which is changing .lab or build", holder)
			told = true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, ctx.Err()
}

// lockAlone waits until neither a run nor an open JupyterLab uses the set-up, and then locks as lock does.
func (l *Lab) lockAlone(ctx context.Context) (unlock func(), err error) {
	for told := false; ; told = true {
		if unlock, err = l.lock(ctx); err != nil {
			return nil, err
		}
		if err = l.use(syscall.LOCK_EX | syscall.LOCK_NB); err == nil {
			return unlock, nil
		}
		unlock()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, err
		}
		if !told {
			l.say("waiting until no run and no JupyterLab uses this clone")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// use locks .lab/used until the lab is closed: with a shared lock, to use the set-up, or with an exclusive lock, to
// remove the set-up. Call use between lock and unlock.
func (l *Lab) use(how int) (err error) {
	if l.used == nil {
		if l.used, err = os.OpenFile(l.path("used"), os.O_CREATE|os.O_RDWR, 0o644); err != nil {
			return err
		}
	}
	return syscall.Flock(int(l.used.Fd()), how)
}

// removeParts removes partial files that killed writers left in the folders to which the command writes, and in the
// notebooks' folder, where cells write. It skips build/site, which is cleaned when the site is made.
func (l *Lab) removeParts() error {
	folders := []string{l.folder, filepath.Join(l.root, copies), filepath.Join(l.root, given), l.build(), l.build("figures")}
	filepath.WalkDir(l.path(), func(path string, d fs.DirEntry, err error) error {
		switch { // an error is ignored, because an open JupyterLab may remove files meanwhile
		case path == l.path("venv"), path == l.path("npm", "node_modules"): // large, and only pip and npm write to them
			return fs.SkipDir
		case err == nil && d.IsDir():
			folders = append(folders, path)
		}
		return nil
	})
	var failures []error
	for _, folder := range folders {
		for _, file := range named(folder, "") {
			if atomicfile.Left(file) {
				failures = append(failures, os.Remove(file))
			}
		}
	}
	return errors.Join(failures...)
}

// named returns the sorted paths of the files and folders in folder whose names match pattern, if folder exists.
func named(folder, pattern string) (files []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if ok, _ := regexp.MatchString(pattern, e.Name()); ok {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files
}

// A step is a part of the set-up that is done once.
type step struct {
	name string // also the name of the step's stamp
	why  string // what the log says about the step
	made string // a file or folder that must exist after the step
	from string // what the step depends on; if this changes, the step is done again
}

// once does nothing if s.made exists, and the step's stamp, a file, contains s.from. Otherwise, once calls do and, if
// do succeeds, writes the stamp.
func (l *Lab) once(s step, do func() error) error {
	stamp := l.path("stamps", s.name)
	if have, err := os.ReadFile(stamp); err == nil && string(have) == s.from {
		if _, err := os.Stat(s.made); err == nil {
			return nil
		}
	}
	l.say("%-8s %s", s.name, s.why)
	begin := time.Now()
	if err := os.RemoveAll(stamp); err != nil { // from now on, the work of the step may be half done
		return err
	}
	if err := do(); err != nil {
		return err
	}
	if err := writeFile(stamp, []byte(s.from)); err != nil {
		return err
	}
	l.say("%-8s done in %.0f s", s.name, time.Since(begin).Seconds())
	return nil
}

// say writes a message to the log.
func (l *Lab) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.log, format+"\n", args...)
}

// writeFile writes the file, whole or not at all, and makes its folder if necessary.
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
