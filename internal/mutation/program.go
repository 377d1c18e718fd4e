package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// variable of the environment that tells a [Program] which mutant it is.
const variable = "MUTANT"

// helpers is what every mutated package has more.
const helpers = `package %s

import (
	"os"
	"strconv"
)

var mutantID = func() int { id, _ := strconv.Atoi(os.Getenv("` + variable + `")); return id }()

var mutantTrace = os.Getenv("` + variable + `_TRACE")

var mutantSeen = map[string]bool{}

// mutantEnter writes the names of functions that are entered, once each.
func mutantEnter(name string) {
	mutantLock <- struct{}{}
	defer func() { <-mutantLock }()
	if mutantSeen[name] {
		return
	}
	mutantSeen[name] = true
	f, err := os.OpenFile(mutantTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	f.WriteString(name + "\n")
	f.Close()
}

var mutantLock = make(chan struct{}, 1)

func mutantScale(dst []float64, by float64) {
	for i := range dst {
		dst[i] *= by
	}
}

func mutantScaled(x []float64, by float64) []float64 {
	if x == nil {
		return nil
	}
	y := make([]float64, len(x))
	for i := range x {
		y[i] = by * x[i]
	}
	return y
}
`

// limits end a mutant that allocates or computes without end. Processor time is the same
// whatever else the machine does; the system counts it in whole seconds.
const limits = `//go:build linux

package %s

import (
	"os"
	"strconv"
	"syscall"
)

func init() {
	if mutantID > 0 {
		syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 8 << 30, Max: 8 << 30})
		if seconds, _ := strconv.ParseUint(os.Getenv("` + variable + `_SECONDS"), 10, 64); seconds > 0 {
			syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds})
		}
	}
}
`

// Program is a test program of a package with mutants in it.
type Program struct {
	Mutants []Mutant
	Folder  string // of the package whose tests it has
	root    string
	path    string
}

// Build builds the tests of the package in a folder below root with all mutants of the functions,
// which may be of any packages there. Mutants that don't compile
// are left out. Files are written to the folder temporary.
func Build(ctx context.Context, root, folder, temporary string, functions []*Function, keep func(Mutant) bool) (*Program, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("mutation: %w", err)
	}
	p := &Program{Folder: folder, root: root, path: filepath.Join(temporary, "mutants.test")}
	for _, f := range functions {
		for _, m := range f.Mutants() {
			if keep == nil || keep(m) {
				m.ID = len(p.Mutants) + 1
				p.Mutants = append(p.Mutants, m)
			}
		}
	}
	for range 20 {
		lines, err := p.write(temporary, functions)
		if err != nil {
			return nil, err
		}
		module := "-gcflags=" + "./...=-e" // all errors, not the first ten
		cmd := exec.CommandContext(ctx, "go", "test", "-c", module, "-overlay", filepath.Join(temporary, "overlay.json"), "-o", p.path, "./"+folder)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err == nil {
			return p, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		wrong := broken(string(out), root, lines)
		if len(wrong) == 0 {
			return nil, fmt.Errorf("mutation: %s does not build: %w\n%s", folder, err, out)
		}
		p.Mutants = slices.DeleteFunc(p.Mutants, func(m Mutant) bool { return wrong[m.ID] })
	}
	return nil, fmt.Errorf("mutation: %s does not build, even without the mutants that the compiler refuses", folder)
}

// span is the lines of a mutant in a mutated file.
type span struct{ id, first, last int }

var position = regexp.MustCompile(`(?m)^([^\s:]+\.go):(\d+):\d+: `)

// broken returns the mutants in whose lines the compiler found errors. It names files from root
// where that is shorter.
func broken(output, root string, lines map[string][]span) map[int]bool {
	wrong := map[int]bool{}
	for _, m := range position.FindAllStringSubmatch(output, -1) {
		file := m[1]
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, file)
		}
		line, _ := strconv.Atoi(m[2])
		for _, s := range lines[file] {
			if s.first <= line && line <= s.last {
				wrong[s.id] = true
			}
		}
	}
	return wrong
}

// write writes the mutated files and overlay.json, and returns where the mutants are.
func (p *Program) write(temporary string, functions []*Function) (map[string][]span, error) {
	of := map[string][]Mutant{}
	for _, m := range p.Mutants {
		of[m.Folder+"."+m.Function] = append(of[m.Folder+"."+m.Function], m)
	}
	byFile := map[string][]*Function{}
	overlay := map[string]string{}
	put := func(path string, contents []byte) error {
		at := filepath.Join(temporary, fmt.Sprintf("%d.go", len(overlay)))
		overlay[path] = at
		return os.WriteFile(at, contents, 0o644)
	}
	for _, f := range functions {
		path := filepath.Join(p.root, f.Folder, f.File)
		byFile[path] = append(byFile[path], f)
		if extra := filepath.Join(p.root, f.Folder, "mutant_helpers.go"); overlay[extra] == "" {
			name := f.file.Name.Name
			if err := errors.Join(put(extra, fmt.Appendf(nil, helpers, name)), put(filepath.Join(p.root, f.Folder, "mutant_limit.go"), fmt.Appendf(nil, limits, name))); err != nil {
				return nil, fmt.Errorf("mutation: %w", err)
			}
		}
	}
	lines := map[string][]span{}
	for path, fs := range byFile {
		slices.SortFunc(fs, func(a, b *Function) int { return int(a.decl.Pos() - b.decl.Pos()) })
		fs = slices.CompactFunc(fs, func(a, b *Function) bool { return a.Name == b.Name && a.decl.Pos() == b.decl.Pos() })
		var b bytes.Buffer
		line := func() int { return bytes.Count(b.Bytes(), []byte("\n")) + 1 }
		var spans []span
		done := 0
		for _, f := range fs {
			at := f.offset(f.decl.Body.Pos())
			b.Write(f.source[done : at+1])
			done = at + 1
			fmt.Fprintf(&b, "if mutantTrace != \"\" { mutantEnter(%q) }\nswitch mutantID {\n", f.Folder+"."+f.Name)
			for _, m := range of[f.Folder+"."+f.Name] {
				first := line()
				fmt.Fprintf(&b, "case %d:\n%s func() %s %s()\n", m.ID, returns(f.parameters(f.decl.Type.Results)), f.signature(), f.mutated(m))
				if f.decl.Type.Results == nil {
					b.WriteString("return\n")
				}
				spans = append(spans, span{m.ID, first, line() - 1})
			}
			b.WriteString("}\n")
		}
		b.Write(fs[0].source[done:])
		if err := put(path, b.Bytes()); err != nil {
			return nil, fmt.Errorf("mutation: %w", err)
		}
		lines[overlay[path]] = spans
	}
	table, err := json.Marshal(map[string]any{"Replace": overlay})
	if err == nil {
		err = os.WriteFile(filepath.Join(temporary, "overlay.json"), table, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("mutation: %w", err)
	}
	return lines, nil
}

// mutated returns the body with the change of a mutant.
func (f *Function) mutated(m Mutant) string {
	if m.edit.end < 0 {
		return m.edit.text
	}
	body := f.text(f.decl.Body)
	return body[:m.edit.start] + m.edit.text + body[m.edit.end:]
}

// Outcome of a run.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	TooLong Outcome = "stopped after its time"
)

// Run runs the tests that match a pattern, as go test -run has it, with a mutant, 0 for none, and
// tells the processor time that they took. A mutant that takes more than the limit is ended; without
// limits on processor time, or if it sleeps, after ten times as long. Args are passed to the
// tests. It fails if no test matches.
func (p *Program) Run(ctx context.Context, mutant int, pattern string, limit time.Duration, args ...string) (Outcome, time.Duration, string, error) {
	seconds := strconv.Itoa(int(math.Ceil(limit.Seconds())))
	return p.run(ctx, []string{variable + "=" + strconv.Itoa(mutant), variable + "_SECONDS=" + seconds}, pattern, limit, args)
}

func (p *Program) run(ctx context.Context, environment []string, pattern string, limit time.Duration, args []string) (Outcome, time.Duration, string, error) {
	short, cancel := context.WithTimeout(ctx, 10*limit)
	defer cancel()
	cmd := exec.CommandContext(short, p.path, append([]string{"-test.run", pattern, "-test.v", "-test.failfast"}, args...)...)
	cmd.Dir = filepath.Join(p.root, p.Folder)
	cmd.Env = append(os.Environ(), environment...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	took := processorTime(cmd.ProcessState)
	switch {
	case ctx.Err() != nil:
		return "", took, string(out), ctx.Err()
	case short.Err() != nil || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < 0: // by us or by the system
		return TooLong, took, string(out), nil
	case err != nil:
		return Failed, took, string(out), nil
	case !strings.Contains(string(out), "--- PASS"):
		return "", took, string(out), fmt.Errorf("mutation: no test of %s matches %q", p.Folder, pattern)
	}
	return Passed, took, string(out), nil
}

func processorTime(s *os.ProcessState) time.Duration {
	if s == nil {
		return 0 // it did not start
	}
	return s.UserTime() + s.SystemTime()
}

// Reached returns the mutated functions, as "folder.Name", that the tests of a pattern enter.
func (p *Program) Reached(ctx context.Context, pattern string, limit time.Duration, args ...string) (map[string]bool, error) {
	file, err := os.CreateTemp(filepath.Dir(p.path), "trace-*")
	if err != nil {
		return nil, fmt.Errorf("mutation: %w", err)
	}
	trace := file.Name()
	file.Close()
	defer os.Remove(trace)
	if o, _, out, err := p.run(ctx, []string{variable + "_TRACE=" + trace}, pattern, limit, args); err != nil || o == TooLong {
		return nil, errors.Join(err, fmt.Errorf("mutation: tracing %s: %s\n%s", pattern, o, out))
	}
	b, err := os.ReadFile(trace)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("mutation: %w", err)
	}
	reached := map[string]bool{}
	for name := range strings.Lines(string(b)) {
		reached[strings.TrimSpace(name)] = true
	}
	return reached, nil
}

// Tests returns the names of the program's tests, fuzz targets and examples.
func (p *Program) Tests(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, p.path, "-test.list", ".")
	cmd.Dir = filepath.Join(p.root, p.Folder)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("mutation: the tests of %s: %w", p.Folder, err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return strings.HasPrefix(name, "Benchmark") }), nil
}
