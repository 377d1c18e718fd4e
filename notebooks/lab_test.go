package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mixpolicy/lab/notebooks/internal/ipynb"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		shared.Close()
	}
	os.Exit(code)
}

var shared *Lab

// setUp is the clone's own set-up, made once for all tests.
var setUp = sync.OnceValues(func() (*Lab, error) {
	lab, err := NewLab(os.Stderr)
	if err != nil {
		return nil, err
	}
	shared = lab
	return lab, lab.Setup(context.Background())
})

// readyLab is a lab that is set up, for tests that execute notebooks. What
// they make goes into a folder of the test's.
func readyLab(t *testing.T) *Lab {
	t.Helper()
	if testing.Short() {
		t.Skip("executes notebooks in Jupyter")
	}
	ready, err := setUp()
	if err != nil {
		t.Fatal(err)
	}
	lab := emptyLab(t)
	lab.Root = ready.Root
	lab.jupyter = ready.jupyter
	return lab
}

// emptyLab is a lab in an empty folder instead of a clone.
func emptyLab(t *testing.T) *Lab {
	t.Helper()
	lab, err := NewLab(new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	lab.Root = t.TempDir()
	lab.Build = t.TempDir()
	return lab
}

// told is what the set-up of an empty lab has said.
func (l *Lab) told() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.(*bytes.Buffer).String()
}

// options are those of a test run, the command's own.
var options = runOptions{Jobs: 2, Timeout: 5 * time.Minute}

const magics = "%noautoget\n%goflags \"-ldflags=-s -w\""

func code(source string, tags ...any) ipynb.Cell { return cell(ipynb.Code, source, tags) }

func prose(source string, tags ...any) ipynb.Cell { return cell(ipynb.Markdown, source, tags) }

func cell(kind, source string, tags []any) ipynb.Cell {
	c := ipynb.Cell{Type: kind, Source: ipynb.Text(source), Metadata: map[string]any{}}
	if len(tags) > 0 {
		c.Metadata["tags"] = tags
	}
	return c
}

// notebook writes a notebook that begins with the magics.
func notebook(t *testing.T, name string, cells ...ipynb.Cell) (file string) {
	t.Helper()
	nb := &ipynb.Notebook{Cells: append([]ipynb.Cell{code(magics, "setup")}, cells...)}
	nb.Normalize()
	file = filepath.Join(t.TempDir(), name+".ipynb")
	if err := nb.Write(file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheCloneIsFoundFromAnyFolderInIt(t *testing.T) {
	lab, err := NewLab(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	if _, err := os.Stat(filepath.Join(lab.Root, "notebooks", "main.go")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if _, err := NewLab(os.Stderr); err == nil || !strings.Contains(err.Error(), Module) {
		t.Errorf("outside of a clone: %v; want an error that names %s", err, Module)
	}
}

func TestAStepIsTakenOnceUntilWhatItIsMadeFromChanges(t *testing.T) {
	lab := emptyLab(t)
	times := 0
	take := func(from string) {
		t.Helper()
		err := lab.once(step{name: "thing", why: "making the thing", made: lab.path("thing"), from: from}, func() error {
			times++
			return writeFile(lab.path("thing"), []byte(from))
		})
		if err != nil {
			t.Fatal(err)
		}
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
		t.Errorf("taken %d times; want anew for another version and for a lost result", times)
	}
	if n := strings.Count(lab.told(), "making the thing"); n != 3 {
		t.Errorf("said what it does %d times; want 3:\n%s", n, lab.told())
	}
}

func TestWithoutPythonTheErrorSaysWhatToInstall(t *testing.T) {
	lab := emptyLab(t)
	t.Setenv("PATH", t.TempDir())
	_, err := lab.setUpJupyter(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no python3 on the PATH") || !strings.Contains(err.Error(), "3.10") {
		t.Errorf("error: %v", err)
	}
}

func TestWithoutPyPITheErrorSaysWhereElseJupyterMayComeFrom(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a virtual environment")
	}
	lab := emptyLab(t)
	lab.jupyterFrom = fromPyPI
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_FIND_LINKS", "")
	t.Setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
	_, err := lab.setUpJupyter(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"PyPI", "--jupyter=path", "--jupyter=debian"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
}

func TestAJupyterOnThePathMustBeRecentEnough(t *testing.T) {
	for _, c := range []struct {
		have versions
		want string
	}{
		{versions{"nbconvert": "7.0.0", "nbclient": "0.8.0"}, ""},
		{versions{"nbconvert": "7.17.2", "nbclient": "1.0"}, ""},
		{versions{"nbconvert": "6.5.3", "nbclient": "0.7.2"}, "lacks nbconvert ≥ 7 (there is 6.5.3) and nbclient ≥ 0.8 (there is 0.7.2)"},
		{versions{}, "lacks nbconvert ≥ 7 (there is none) and nbclient ≥ 0.8 (there is none)"},
	} {
		got := ""
		if err := c.have.recentEnough(7, 8); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %q; want %q", c.have, got, c.want)
		}
	}
}

func TestSourcesOfJupyterAreReadByName(t *testing.T) {
	for want, name := range sourceNames {
		var got jupyterSource
		if err := got.UnmarshalText([]byte(name)); err != nil || got != jupyterSource(want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	var s jupyterSource
	if err := s.UnmarshalText([]byte("conda")); err == nil || !strings.Contains(err.Error(), "pypi") {
		t.Errorf("an unknown source: %v; want an error that names the known ones", err)
	}
}

func TestWithoutNpmPagesNameTheDeliveryNetwork(t *testing.T) {
	lab := emptyLab(t)
	t.Setenv("PATH", t.TempDir())
	if err := lab.fetchScripts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(lab.told(), "no npm on the PATH") {
		t.Errorf("said: %s", lab.told())
	}
	placed, err := lab.placeScripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		if got := placed[s.name]; got != (source{s.cdn, s.integrity}) {
			t.Errorf("%s comes from %v; want %s, checked", s.name, got, s.cdn)
		}
	}
}

func TestTheKernelspecMayBeMovedWithTheClone(t *testing.T) {
	lab := emptyLab(t)
	if err := lab.writeKernelspec(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(lab.path("jupyter", "kernels", "gonb", "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec kernelspec
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), lab.Root) {
		t.Errorf("it holds the clone's path:\n%s", data)
	}
	// What {resource_dir}, the folder of kernel.json, makes of the last argument.
	work := strings.TrimPrefix(spec.Argv[len(spec.Argv)-1], "-go_work=")
	work = filepath.Clean(strings.ReplaceAll(work, "{resource_dir}", lab.path("jupyter", "kernels", "gonb")))
	if work != lab.Root {
		t.Errorf("the kernel works on %s; want the clone, %s", work, lab.Root)
	}
}

func TestASecondSetUpMakesNothing(t *testing.T) {
	lab := readyLab(t)
	if err := lab.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said := lab.told(); strings.Contains(said, "done in") {
		t.Errorf("it made again:\n%s", said)
	}
}
