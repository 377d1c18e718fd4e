package lab

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAProjectOfOnesOwn makes a project in a new folder, and pages with figures from two notebooks: the project's
// first notebook, which checks and races a modulus, and one that imports a package of the project.
func TestAProjectOfOnesOwn(t *testing.T) {
	t.Parallel()
	readyLab(t)
	program := command(t)
	dir := filepath.Join(t.TempDir(), "a folder of mine", "my-queue")
	run := func(args ...string) (said string, err error) {
		out, err := exec.Command(program, args...).CombinedOutput()
		return string(out), err
	}
	said := try(run("new", dir)).or(t)
	if want := "go run ./notebooks lab " + dir; !strings.Contains(said, want) {
		t.Errorf("it does not say %q:\n%s", want, said)
	}
	try(run("new", dir)).or(t) // the second time, there is nothing to do
	noError(t, writeFile(filepath.Join(dir, "wave", "wave.go"), []byte(`package wave

import "github.com/mixpolicy/lab/plotting"

// Figure is a line.
func Figure() plotting.Figure {
	return plotting.Figure{Title: "Mine", Layers: []plotting.Layer{plotting.Line{X: []float64{0, 1, 2}, Y: []float64{1, -1, 1}}}}
}
`)))
	second := filepath.Join(dir, "second.ipynb")
	noError(t, copyFile(second, writeNotebook(t, "second", prose("# Mine"), code("import (\n\t\"example.com/my-queue/wave\"\n\t\"github.com/mixpolicy/lab/plotting\"\n)\n%%\nplotting.Show(wave.Figure())\nplotting.Save(\"wave.pdf\", wave.Figure())"))))

	said, err := run("run", filepath.Join(dir, "first.ipynb"), second)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{"2 in all", filepath.Join(dir, "build", "index.html"), "go run ./notebooks lab " + dir} {
		if !strings.Contains(said, want) {
			t.Errorf("the summary lacks %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "claims") || strings.Contains(said, "equations") {
		t.Errorf("the summary tells of the paper:\n%s", said)
	}
	for name, want := range map[string]string{"index.html": "my-queue", "first.html": "A modulus of my own", "second.html": "example.com/my-queue/wave", "figures/second-1.svg": "</svg>", "figures/first-3.png": "PNG", "../wave.pdf": "PDF"} {
		page := string(try(os.ReadFile(filepath.Join(dir, "build", name))).or(t))
		if !strings.Contains(page, want) {
			t.Errorf("%s lacks %q", name, want)
		}
		if strings.Contains(page, "equations.html") {
			t.Errorf("%s links to the paper's equations", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "build", "CACHEDIR.TAG")); err == nil {
		t.Error("the project's build has the mark of what clean removes, but clean leaves it")
	}
	if nb := try(readNotebook(filepath.Join(dir, "build", "first.ipynb"))).or(t); len(nb.code()) != 5 {
		t.Errorf("the first notebook has %d cells of code; want 5", len(nb.code()))
	}
	try(printed(exec.Command("go", "-C", dir, "vet", "./..."))).or(t) // the project is a Go module like any other

	noError(t, os.WriteFile(filepath.Join(dir, "first.ipynb"), []byte("mine"), 0o644))
	if said, err := run("new", dir); err == nil || !strings.Contains(said, "first.ipynb exists, and differs from a new project's") {
		t.Errorf("new in a folder with another first.ipynb: %v, %s", err, said)
	}
}

// JupyterLab opens the given folder or notebook, in the module around it. The kernel can import the packages of this
// module.
func TestWhereJupyterLabIsOpened(t *testing.T) {
	paper := emptyLab(t)
	mine := filepath.Join(t.TempDir(), "mine")
	bare := t.TempDir()
	for _, file := range []string{filepath.Join(paper.root, "go.mod"), filepath.Join(paper.folder, "00.ipynb"), filepath.Join(paper.root, copies, "00.ipynb"), filepath.Join(mine, "go.mod"), filepath.Join(mine, "a b", "x.ipynb"), filepath.Join(bare, "y.ipynb")} {
		noError(t, writeFile(file, nil))
	}
	for _, c := range []struct{ open, root, address, work, build string }{
		{paper.folder, paper.root, "/lab/tree/notebooks", paper.root, filepath.Join(paper.root, "build")},
		{filepath.Join(paper.root, copies), paper.root, "/lab/tree/my-notebooks", paper.root, filepath.Join(paper.root, copies, "build")},
		{mine, mine, "/lab", mine + "," + paper.root, filepath.Join(mine, "build")},
		{filepath.Join(mine, "a b", "x.ipynb"), mine, "/lab/tree/a%20b/x.ipynb", mine + "," + paper.root, filepath.Join(mine, "a b", "build")},
		{filepath.Join(bare, "y.ipynb"), bare, "/lab/tree/y.ipynb", paper.root, filepath.Join(bare, "build")},
	} {
		lab := emptyLab(t)
		lab.root, lab.folder, lab.project, lab.Output = paper.root, paper.folder, paper.root, ""
		noError(t, lab.workOn(folderOf(c.open)))
		noError(t, lab.configureServer(c.open))
		noError(t, lab.writeKernelspec())
		var config struct {
			ServerApp struct{ IP, Root_dir string }
			LabApp    struct{ Default_url string }
		}
		noError(t, json.Unmarshal(try(os.ReadFile(filepath.Join(lab.temp, "config", "jupyter_config.json"))).or(t), &config))
		var spec kernelspec
		noError(t, json.Unmarshal(try(os.ReadFile(filepath.Join(lab.temp, "jupyter", "kernels", "gonb", "kernel.json"))).or(t), &spec))
		if got := config.ServerApp; got.Root_dir != c.root || got.IP != "127.0.0.1" {
			t.Errorf("%s: JupyterLab shows %s at %s, want %s to this machine only", c.open, got.Root_dir, got.IP, c.root)
		}
		if got := config.LabApp.Default_url; got != c.address {
			t.Errorf("%s: it opens %s, want %s", c.open, got, c.address)
		}
		if got := spec.Argv[len(spec.Argv)-1]; got != "-go_work="+c.work {
			t.Errorf("%s: the kernel has %s, want %s", c.open, got, c.work)
		}
		if lab.build() != c.build {
			t.Errorf("%s: pages go into %s, want %s", c.open, lab.build(), c.build)
		}
	}
}

// The user's own Jupyter finds the installed kernel, and runs a cell with it. Installing and removing our kernel do not
// change a kernel of another origin with the same name.
func TestTheKernelIsFoundByAnyJupyter(t *testing.T) {
	lab := readyLab(t)
	home := t.TempDir()
	for _, name := range []string{"GOCACHE", "GOPATH"} { // by default, these folders are in the home
		t.Setenv(name, strings.TrimSpace(try(printed(exec.Command("go", "env", name))).or(t)))
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	noError(t, lab.InstallKernel(t.Context()))
	spec := try(filepath.Glob(filepath.Join(home, "*", "*", "*", "kernels", "gonb", "kernel.json"))).or(t)
	if len(spec) == 0 {
		spec = []string{filepath.Join(home, "Library", "Jupyter", "kernels", "gonb", "kernel.json")}
	}
	file := writeNotebook(t, "mine", code("import \"github.com/mixpolicy/lab/mixpolicy\"\n%%\nfmt.Println(mixpolicy.Ball(2))"))
	try(printed(exec.Command(lab.python, "-m", "nbconvert", "--execute", "--to=notebook", "--inplace", file))).or(t)
	if got := try(readNotebook(file)).or(t).Cells[0].Outputs; len(got) != 1 || !strings.Contains(string(got[0].Text), "2") {
		t.Errorf("the cell shows %v", got)
	}
	noError(t, lab.RemoveKernel())
	if err := lab.RemoveKernel(); err == nil || !strings.Contains(err.Error(), "no kernel gonb in "+home) {
		t.Errorf("removed twice: %v", err)
	}
	noError(t, writeFile(spec[0], []byte("{}")))
	if err := errors.Join(lab.InstallKernel(t.Context()), lab.RemoveKernel()); err == nil || strings.Count(err.Error(), "another kernel gonb") != 2 {
		t.Errorf("with another kernel of this name: %v", err)
	}
}

func TestAProjectsFolderIsNamedAsAModule(t *testing.T) {
	lab := emptyLab(t)
	for _, name := range []string{"my queue", "a,b", "µ", ".hidden"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := lab.NewProject(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "want letters, digits") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s was made", dir)
		}
	}
	lab.project = filepath.Join(t.TempDir(), "a,b", "c")
	if err := lab.writeKernelspec(); err == nil || !strings.Contains(err.Error(), "a comma") {
		t.Errorf("a comma in a folder's name: %v", err)
	}
}

func TestTheReadersCopiesAreTheReaders(t *testing.T) {
	lab := emptyLab(t)
	paper := filepath.Join(lab.folder, "00.ipynb")
	mine := filepath.Join(lab.root, copies, "00.ipynb")
	for _, step := range []struct{ what, paper, mine, want, said string }{
		{"at first", "one", "", "one", ""},
		{"the paper's is new", "two", "", "two", ""},
		{"the reader has changed it", "two", "changed", "changed", ""},
		{"and the paper's is new", "three", "", "changed", "is as you left it"},
		{"the reader has taken the new one", "three", "three", "three", ""},
		{"after which it is followed", "four", "", "four", ""},
		{"clean", "five", "", "five", ""},
		{"the reader has changed that", "five", "changed", "changed", ""},
		{"clean", "five", "", "changed", ""},
	} {
		if step.what == "clean" {
			noError(t, lab.Clean(t.Context()))
		}
		noError(t, writeFile(paper, []byte(step.paper)))
		if step.mine != "" {
			noError(t, writeFile(mine, []byte(step.mine)))
		}
		before := len(lab.told())
		noError(t, lab.copyPaper(t.Context()))
		got, said := string(try(os.ReadFile(mine)).or(t)), lab.told()[before:]
		if got != step.want || (step.said == "") != (said == "") || !strings.Contains(said, step.said) {
			t.Errorf("%s: the copy is %q, and it says %q; want %q and %q", step.what, got, said, step.want, step.said)
		}
	}
}

// Jupyter trusts a notebook of the reader's only if it is a copy of the paper's, not another notebook of the same name.
func TestOnlyThePapersOutputsAreTrusted(t *testing.T) {
	t.Parallel()
	lab := emptyLab(t)
	lab.python = readyLab(t).python
	script := code("%%")
	script["outputs"] = []any{map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{"text/html": "<script>1</script>"}}}
	for _, name := range []string{"00", "01"} {
		noError(t, copyFile(filepath.Join(lab.folder, name+".ipynb"), writeNotebook(t, name, prose("# "+name), script)))
	}
	noError(t, lab.copyPaper(t.Context()))
	noError(t, copyFile(filepath.Join(lab.root, copies, "01.ipynb"), writeNotebook(t, "01", prose("# Another"), script)))
	noError(t, errors.Join(lab.copyPaper(t.Context()), lab.signPaper(t.Context())))
	trusted := try(printed(lab.command(t.Context(), lab.python, "-c", `import nbformat, nbformat.sign, sys
print([nbformat.sign.NotebookNotary().check_signature(nbformat.read(f, 4)) for f in sys.argv[1:]])`,
		filepath.Join(lab.root, copies, "00.ipynb"), filepath.Join(lab.root, copies, "01.ipynb")))).or(t)
	if want := "[True, False]\n"; trusted != want {
		t.Errorf("whether Jupyter trusts the paper's notebook, and another: %s; want %s", trusted, want)
	}
}
