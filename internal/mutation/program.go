package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// variable of the environment names the mutant that a test program is.
const variable = "MUTANT"

// helpers is a file of every mutated package.
const helpers = `package %s

import (
	"os"
	"strconv"
)

var mutantID = func() int { id, _ := strconv.Atoi(os.Getenv("` + variable + `")); return id }()

func mutantScaled[T any](v T, by float64) T {
	switch x := any(v).(type) {
	case float64:
		return any(x * by).(T)
	case int:
		return any(x * int(by)).(T)
	case []float64:
		y := append([]float64(nil), x...)
		for i := range y {
			y[i] *= by
		}
		return any(y).(T)
	}
	panic("mutant of another type")
}
`

// Program is the mutants of some functions, and test programs that contain them.
type Program struct {
	Mutants   []Mutant // those that compile
	functions []*Function
	root      string // of the module
	folder    string // of what the program writes
}

// Build mutates the functions, which belong to packages of the module at root, without those that keep refuses, and
// drops the mutants that do not compile. It writes to the folder temporary.
func Build(ctx context.Context, root, temporary string, functions []*Function, keep func(Mutant) bool) (*Program, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	p := &Program{functions: slices.Clone(functions), root: root, folder: temporary}
	slices.SortFunc(p.functions, func(a, b *Function) int { return int(b.decl.Pos() - a.decl.Pos()) })
	args := []string{"build", "-gcflags=./...=-e", "-overlay", p.overlay()} // -e: all errors, not the first ten
	for _, f := range functions {
		if folder := "./" + f.Folder; !slices.Contains(args, folder) {
			args = append(args, folder)
		}
		for _, m := range f.Mutants() {
			if keep == nil || keep(m) {
				m.ID = len(p.Mutants) + 1
				p.Mutants = append(p.Mutants, m)
			}
		}
	}
	for range 20 {
		if err := p.write(); err != nil {
			return nil, fmt.Errorf("mutation: %w", err)
		}
		out, err := p.command(ctx, "go", args...).CombinedOutput()
		if err == nil || ctx.Err() != nil {
			return p, ctx.Err()
		}
		wrong := map[int]bool{}
		for _, m := range position.FindAllStringSubmatch(string(out), -1) {
			id, _ := strconv.Atoi(m[1])
			wrong[id] = true
		}
		if len(wrong) == 0 {
			return nil, fmt.Errorf("mutation: the mutants do not build: %w\n%s", err, out)
		}
		p.Mutants = slices.DeleteFunc(p.Mutants, func(m Mutant) bool { return wrong[m.ID] })
	}
	return nil, errors.New("mutation: the mutants do not build, even without those that the compiler refuses")
}

func (p *Program) overlay() string { return filepath.Join(p.folder, "overlay.json") }

func (p *Program) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = p.root, time.Second
	return cmd
}

// position is that of an error in a mutant, as the compiler tells it.
var position = regexp.MustCompile(`mutant-(\d+)\.go:\d+`)

// write writes the mutated files and overlay.json. To the compiler, each mutant is a file of its own.
func (p *Program) write() error {
	cases := map[*Function]string{}
	for _, m := range p.Mutants {
		cases[m.Function] += fmt.Sprintf("case %d:\n//line mutant-%d.go:1\n%s\n", m.ID, m.ID, m.call(m.body))
	}
	files := map[string]string{}
	for _, f := range p.functions { // from the end of a file to its beginning
		path := filepath.Join(p.root, f.Folder, f.File)
		if files[path] == "" {
			files[path] = string(f.source)
			files[filepath.Join(filepath.Dir(path), "mutant_helpers.go")] = fmt.Sprintf(helpers, f.file.Name.Name)
		}
		at := f.fset.Position(f.decl.Body.Lbrace).Offset + 1
		files[path] = files[path][:at] + "switch mutantID {\n" + cases[f] + "}\n" + files[path][at:]
	}
	overlay := map[string]string{}
	for path, text := range files {
		overlay[path] = filepath.Join(p.folder, fmt.Sprintf("%d.go", len(overlay)))
		if err := os.WriteFile(overlay[path], []byte(text), 0o644); err != nil {
			return err
		}
	}
	table, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	return os.WriteFile(p.overlay(), table, 0o644)
}

// Tests is the test program of a package, with all mutants in it.
type Tests struct {
	program      *Program
	folder, path string
	args         []string
}

// Tests builds the tests of the package in a folder of the module. Random tests of pgregory.net/rapid try the same in
// every run.
func (p *Program) Tests(ctx context.Context, folder string) (*Tests, error) {
	t := &Tests{program: p, folder: folder, path: filepath.Join(p.folder, strings.ReplaceAll(folder, "/", "-")+".test")}
	t.args = []string{"-test.failfast", "-test.short", "-test.skip", "^Fuzz"} // the seeds of fuzz targets take long
	if out, err := p.command(ctx, "go", "test", "-c", "-overlay", p.overlay(), "-o", t.path, "./"+folder).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mutation: the tests of %s: %w\n%s", folder, err, out)
	}
	const imports = `{{join .TestImports " "}} {{join .XTestImports " "}}`
	out, err := p.command(ctx, "go", "list", "-f", imports, "./"+folder).Output()
	if strings.Contains(string(out), "pgregory.net/rapid") {
		t.args = append(t.args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
	}
	return t, err
}

// Pass reports whether the tests that match a pattern, as go test -run has it, pass with a mutant, 0 for none, and how
// long processors worked on that. A test program that computes for longer than the limit, waits for ten times as long, or takes 8 GiB
// has failed. It is an error if no test matches.
func (t *Tests) Pass(ctx context.Context, mutant int, pattern string, limit time.Duration) (bool, time.Duration, error) {
	short, cancel := context.WithTimeout(ctx, 10*limit)
	defer cancel()
	guard := fmt.Sprintf("ulimit -v 8388608 -t %d; exec \"$0\" \"$@\"", 1+int(limit.Seconds()))
	cmd := t.program.command(short, "sh", append([]string{"-c", guard, t.path, "-test.v", "-test.run", pattern}, t.args...)...)
	cmd.Dir = filepath.Join(t.program.root, t.folder)
	cmd.Env = append(os.Environ(), variable+"="+strconv.Itoa(mutant))
	out, err := cmd.CombinedOutput()
	var took time.Duration
	if p := cmd.ProcessState; p != nil {
		took = p.UserTime() + p.SystemTime()
	}
	switch {
	case ctx.Err() != nil:
		return false, 0, ctx.Err()
	case err != nil:
		return false, took, nil
	case !bytes.Contains(out, []byte("--- PASS")):
		return false, 0, fmt.Errorf("mutation: no test of %s matches %q", t.folder, pattern)
	}
	return true, took, nil
}
