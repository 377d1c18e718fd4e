package mutation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// helper is a file that is added to every mutated package.
const helper = `package %s

import ("os"; "strconv")

var mutantID, _ = strconv.Atoi(os.Getenv("MUTANT"))
`

// Program holds the mutants of some functions, and test programs that contain the mutants.
type Program struct {
	Mutants   []Mutant // the mutants that compile
	functions []*Function
	root      string // the folder of the module
	folder    string // the folder for the program's files
}

// Build mutates functions of the module at root. If the parameter conditions is false, Build makes no mutants of the
// kind [Condition]. It drops the mutants that do not compile, and builds the tests of the given packages, which must
// include the packages of the functions. Build writes the test programs and other files to the folder temporary.
func Build(ctx context.Context, root, temporary string, functions []*Function, conditions bool, packages ...string) (*Program, error) {
	p := &Program{functions: slices.Clone(functions), root: root, folder: temporary}
	slices.SortFunc(p.functions, func(a, b *Function) int { return int(b.decl.Pos() - a.decl.Pos()) })
	for _, f := range functions {
		for _, m := range f.generate() {
			if conditions || m.Operator != Condition {
				m.ID = len(p.Mutants) + 1
				p.Mutants = append(p.Mutants, m)
			}
		}
	}
	for {
		overlay, err := p.write()
		if err != nil {
			return nil, fmt.Errorf("mutation: %w", err)
		}
		// With -e, the compiler reports all errors, not only the first ten.
		args := []string{"test", "-c", "-vet=off", "-gcflags=./...=-e", "-o", p.folder, "-overlay", overlay}
		for _, folder := range packages {
			args = append(args, "./"+folder)
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.WaitDelay = p.root, time.Second
		out, err := cmd.CombinedOutput()
		if err == nil || ctx.Err() != nil {
			return p, ctx.Err()
		}
		before := len(p.Mutants)
		p.Mutants = slices.DeleteFunc(p.Mutants, func(m Mutant) bool {
			return bytes.Contains(out, fmt.Appendf(nil, "mutant-%d.go:", m.ID))
		})
		if len(p.Mutants) == before {
			return nil, fmt.Errorf("mutation: the tests with the mutants do not build: %w\n%s", err, out)
		}
	}
}

// write writes the mutated files and overlay.json. For the compiler, each mutant is a separate file.
func (p *Program) write() (string, error) {
	cases := map[*Function]string{}
	for _, m := range p.Mutants {
		cases[m.Function] += fmt.Sprintf("case %d:\n//line mutant-%d.go:1\n%s\n", m.ID, m.ID, m.call(m.body))
	}
	files := map[string]string{}
	for _, f := range p.functions { // from the end of a file to its beginning
		path := filepath.Join(f.Folder, f.File)
		text := cmp.Or(files[path], string(f.source))
		at := f.decl.Body.Lbrace - f.file.FileStart + 1
		files[path] = text[:at] + "switch mutantID {\n" + cases[f] + "}\n" + text[at:]
		files[filepath.Join(f.Folder, "mutant_helper.go")] = fmt.Sprintf(helper, f.file.Name.Name)
	}
	overlay := map[string]string{}
	for path, text := range files {
		overlay[path] = filepath.Join(p.folder, fmt.Sprintf("%d.go", len(overlay)))
		if err := os.WriteFile(overlay[path], []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	table, err := json.Marshal(map[string]any{"Replace": overlay})
	path := filepath.Join(p.folder, "overlay.json")
	return path, cmp.Or(err, os.WriteFile(path, table, 0o644))
}

// Pass runs tests of the package in a folder, with -short, and with one mutant in place; mutant 0 means the unchanged
// code. The regular expression pattern selects the tests, as in go test -run, except that fuzz targets never run. Pass
// reports whether the tests pass, and the processor time of the run. The tests also count as failed if their program
// takes more than 1 + ⌊limit in seconds⌋ seconds of processor time, runs for longer than ten times the limit, or needs
// more than 8 GiB of address space. Pass returns an error if no test matches, or if every test that matches is skipped.
// Tests with pgregory.net/rapid try the same random values in every run.
func (p *Program) Pass(ctx context.Context, folder string, mutant int, pattern string, limit time.Duration) (bool, time.Duration, error) {
	short, cancel := context.WithTimeout(ctx, 10*limit)
	defer cancel()
	guard := fmt.Sprintf("ulimit -v 8388608 -t %d; exec \"$0\" \"$@\"", 1+int(limit.Seconds()))
	cmd := exec.CommandContext(short, "sh", "-c", guard, filepath.Join(p.folder, filepath.Base(folder)+".test"),
		"-test.v", "-test.run", pattern, "-test.failfast", "-test.short", "-test.skip", "^Fuzz") // the seeds of fuzz targets take long
	cmd.Dir, cmd.WaitDelay = filepath.Join(p.root, folder), time.Second
	cmd.Env = append(os.Environ(), fmt.Sprint("MUTANT=", mutant), "RAPID_SEED=1", "RAPID_NOFAILFILE=true", "RAPID_SHRINKTIME=1ms")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil || cmd.ProcessState == nil {
		return false, 0, cmp.Or(ctx.Err(), err)
	}
	if err == nil && !bytes.Contains(out, []byte("--- PASS")) {
		return false, 0, fmt.Errorf("mutation: in %s, no test that matches %q has run", folder, pattern)
	}
	return err == nil, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
