package lab

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mixpolicy/lab/plotting"
)

func TestMain(m *testing.M) {
	Keep()
	code := m.Run()
	if shared != nil {
		shared.Close()
	}
	os.Exit(code)
}

var shared *Lab

// setUp sets up the clone itself, once for all tests.
var setUp = sync.OnceValues(func() (*Lab, error) {
	lab, err := New(os.Stderr)
	if err != nil {
		return nil, err
	}
	shared = lab
	return lab, lab.setUp(context.Background())
})

// readyLab returns a lab that is set up, for tests that execute notebooks. The results go into a folder of the test.
func readyLab(t testing.TB) *Lab {
	t.Helper()
	if testing.Short() {
		t.Skip("executes notebooks in Jupyter")
	}
	ready := try(setUp()).or(t)
	lab := emptyLab(t)
	lab.root, lab.folder, lab.project, lab.python = ready.root, ready.folder, ready.root, ready.python
	noError(t, lab.writeKernelspec())
	return lab
}

// emptyLab returns a lab in an empty folder instead of a clone.
func emptyLab(t testing.TB) *Lab {
	t.Helper()
	lab := try(New(new(bytes.Buffer))).or(t)
	t.Cleanup(func() { noError(t, lab.Close()) })
	lab.root, lab.Output = t.TempDir(), t.TempDir()
	lab.folder, lab.project = filepath.Join(lab.root, "notebooks"), lab.root
	return lab
}

// told returns the log of a lab from emptyLab or readyLab.
func (l *Lab) told() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.(*bytes.Buffer).String()
}

// tried is a result or an error.
type tried[T any] struct {
	value T
	err   error
}

func try[T any](value T, err error) tried[T] { return tried[T]{value, err} }

// The method or returns the value, or ends the test with the error. (A panic would leave kernels behind.)
func (r tried[T]) or(t testing.TB) T {
	t.Helper()
	noError(t, r.err)
	return r.value
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options are the options of test runs, and also the command's defaults.
var options = Options{Jobs: 2, Timeout: 5 * time.Minute}

func code(source string, tags ...string) map[string]any {
	return map[string]any{"cell_type": "code", "source": source, "execution_count": nil, "outputs": []any{}, "metadata": map[string]any{"tags": append([]string{}, tags...)}}
}

func prose(source string, tags ...string) map[string]any {
	return map[string]any{"cell_type": "markdown", "source": source, "metadata": map[string]any{"tags": append([]string{}, tags...)}}
}

// writeNotebook writes a notebook with these cells.
func writeNotebook(t *testing.T, name string, cells ...map[string]any) (file string) {
	t.Helper()
	for i, c := range cells {
		c["id"] = fmt.Sprint("cell-", i)
	}
	data := try(json.Marshal(map[string]any{
		"cells":          cells,
		"metadata":       map[string]any{"kernelspec": map[string]any{"display_name": "Go (gonb)", "language": "go", "name": "gonb"}},
		"nbformat":       4,
		"nbformat_minor": 5,
	})).or(t)
	file = filepath.Join(t.TempDir(), name+".ipynb")
	noError(t, os.WriteFile(file, data, 0o644))
	return file
}

func TestTheCloneIsFoundFromAnyFolderInIt(t *testing.T) {
	lab := try(New(os.Stderr)).or(t)
	defer lab.Close()
	try(os.Stat(filepath.Join(lab.root, "notebooks", "main.go"))).or(t)
	t.Chdir(t.TempDir())
	if _, err := New(os.Stderr); err == nil || !strings.Contains(err.Error(), module) {
		t.Errorf("outside a clone: %v; want an error that names %s", err, module)
	}
}

func TestAStepIsTakenOnceUntilWhatItIsMadeFromChanges(t *testing.T) {
	lab := emptyLab(t)
	times := 0
	take := func(from string) {
		t.Helper()
		noError(t, lab.once(step{name: "thing", why: "making the thing", made: lab.path("thing"), from: from}, func() error {
			times++
			return writeFile(lab.path("thing"), []byte(from))
		}))
	}
	take("version 1")
	take("version 1")
	if times != 1 {
		t.Errorf("taken %d times; want once", times)
	}
	take("version 2")
	os.Remove(lab.path("thing"))
	take("version 2")
	if times != 3 {
		t.Errorf("taken %d times; want 3: also for another version and for a lost result", times)
	}
	cut := errors.New("cut off")
	if err := lab.once(step{name: "thing", made: lab.path("thing"), from: "version 3"}, func() error { return cut }); err != cut {
		t.Errorf("%v; want %v", err, cut)
	}
	if take("version 2"); times != 4 {
		t.Error("what version 3 left was taken for version 2")
	}
	if n := strings.Count(lab.told(), "making the thing"); n != 4 {
		t.Errorf("said what it does %d times; want 4:\n%s", n, lab.told())
	}
}

func TestWithoutPythonTheErrorSaysWhatToInstall(t *testing.T) {
	lab := emptyLab(t)
	t.Setenv("PATH", t.TempDir())
	err := lab.setUpJupyter(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no python3 on the PATH") || !strings.Contains(err.Error(), "3.10") {
		t.Errorf("error: %v", err)
	}
}

// fakes puts shell scripts first on the PATH.
func fakes(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range scripts {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func TestAnOldPythonIsToldByItsVersion(t *testing.T) {
	lab := emptyLab(t)
	dir := fakes(t, map[string]string{"python3": `case "$2" in "import sys"*) echo 3.9.2 ;; *) printf 'jupyterlab ≥ 4.0 (there is 3.6.1)' ;; esac`})
	want := "there is no Jupyter: " + dir + "/python3 is Python 3.9.2, want 3.10 or later; and " + dir + "/python3, which is on the PATH, lacks jupyterlab ≥ 4.0 (there is 3.6.1)"
	if err := lab.setUpJupyter(t.Context()); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

func TestDebiansPackagesNeedAYes(t *testing.T) {
	lab := emptyLab(t)
	dir := fakes(t, map[string]string{
		"python3": `[ -e "$0".venv ] || { echo ensurepip is not available; exit 1; }`,
		"apt-get": `touch "$(dirname "$0")/python3.venv"`,
	})
	installed := filepath.Join(dir, "python3.venv")
	err := lab.makeVenv(t.Context(), "python3", lab.path("venv"))
	if _, none := os.Stat(installed); none == nil || err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "package python3-venv, which go run ./notebooks --debian installs") {
		t.Errorf("unasked: %v; want an error of one line, and nothing installed", err)
	}
	lab.Debian = true
	noError(t, lab.makeVenv(t.Context(), "python3", lab.path("venv")))
}

// If PyPI can't be reached, the set-up uses the Jupyter of python3 on the PATH, if no package of Jupyter is missing.
func TestWithoutPyPIJupyterIsTakenFromThePath(t *testing.T) {
	ready := readyLab(t)
	lab := emptyLab(t)
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_FIND_LINKS", "")
	t.Setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
	t.Setenv("PIP_RETRIES", "0") // retries would take half a minute

	bare := filepath.Join(t.TempDir(), "bare")
	try(printed(lab.command(t.Context(), "python3", "-m", "venv", "--without-pip", bare))).or(t)
	want := "jupyterlab ≥ 4.0 (there is none) and nbconvert ≥ 7.0 (there is none) and nbclient ≥ 0.10 (there is none)"
	if lacks := try(printed(lab.command(t.Context(), filepath.Join(bare, "bin", "python3"), "-c", lacksProgram))).or(t); lacks != want {
		t.Errorf("a bare Python lacks %s; want %s", lacks, want)
	}
	t.Setenv("PATH", filepath.Dir(ready.python)+":"+os.Getenv("PATH"))
	err := lab.setUpJupyter(t.Context())
	if err != nil || filepath.Dir(lab.python) != filepath.Dir(ready.python) || !strings.Contains(lab.told(), "PyPI can't be reached") {
		t.Errorf("%v, and Jupyter from %s; want Jupyter from %s; the log says\n%s", err, lab.python, ready.python, lab.told())
	}
}

func TestWithoutNpmPagesNameTheDeliveryNetwork(t *testing.T) {
	lab := emptyLab(t)
	t.Setenv("PATH", t.TempDir())
	noError(t, lab.fetchScripts(t.Context()))
	if !strings.Contains(lab.told(), "not available, so pages load scripts from") {
		t.Errorf("said: %s", lab.told())
	}
	placed := try(lab.placeScripts()).or(t)
	for _, s := range scripts {
		if got := placed[s.name()]; got != (source{s.address(), s.integrity}) {
			t.Errorf("%s comes from %v; want %s, checked", s.pack, got, s.address())
		}
	}
}

// The digest that pages require of a script from the delivery network is the digest of the script in npm's package.
func TestScriptsAreThoseOfTheDeliveryNetwork(t *testing.T) {
	lab := readyLab(t)
	for _, s := range scripts {
		sum := sha512.Sum384(try(os.ReadFile(lab.script(s))).or(t))
		if got := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); got != s.integrity || !strings.Contains(packages, `"`+strings.Replace(s.pack, "@", `": "`, 1)+`"`) {
			t.Errorf("%s of %s has digest %s; want %s, and this version in package.json", s.file, s.pack, got, s.integrity)
		}
	}
}

// The kernel runs go get for the imports of each cell before it runs the cell. It runs gopls when the kernel starts.
func TestTheKernelsProgramsDoOnlyWhatIsNeeded(t *testing.T) {
	lab := emptyLab(t)
	goroot := strings.TrimSpace(try(printed(lab.command(t.Context(), "go", "env", "GOROOT"))).or(t))
	noError(t, lab.wrap(goroot))
	noError(t, writeFile(lab.path("bin", "language-server"), []byte("#!/bin/sh\necho help")))
	noError(t, os.Chmod(lab.path("bin", "language-server"), 0o755))
	for line, want := range map[string]string{
		"go get": "", "go get -t": "", "go get ./missing": "go.mod file not found", "go version": "go version", "gopls": "help", "gopls headless": "",
	} {
		args := strings.Fields(line)
		cmd := lab.command(t.Context(), lab.path("bin", args[0]), args[1:]...)
		if line == "gopls headless" {
			cmd.Env = append(cmd.Env, plotting.Headless+"=1")
		}
		said, err := printed(cmd)
		if err != nil {
			said = err.Error()
		}
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%s says %q; want %q", line, said, want)
		}
	}
}

func TestASecondSetUpMakesNothing(t *testing.T) {
	lab := readyLab(t)
	noError(t, lab.setUp(t.Context()))
	if said := lab.told(); strings.Contains(said, "done in") {
		t.Errorf("it made again:\n%s", said)
	}
}
