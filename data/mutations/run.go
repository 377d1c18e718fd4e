package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/tools/cover"

	"github.com/mixpolicy/lab/internal/mutation"
	"github.com/mixpolicy/lab/mixpolicy/paper"
)

// packages are those whose scores are recorded.
var packages = []string{"mixpolicy", "mixpolicy/bregman", "mixpolicy/linprog", "mixpolicy/priorwork", "mixpolicy/theory"}

// allScopes are the scopes of the records, in their order.
func allScopes() []string {
	var all []string
	for _, e := range paper.Index() {
		all = append(all, e.Number)
	}
	return append(all, packages...)
}

// indexRows returns the rows of the index with the given numbers, all without any.
func indexRows(numbers []string) ([]paper.Entry, error) {
	rows := paper.Index()
	if len(numbers) == 0 {
		return rows, nil
	}
	for _, n := range numbers {
		if !slices.ContainsFunc(rows, func(e paper.Entry) bool { return e.Number == n }) {
			return nil, fmt.Errorf("no row %q in the index", n)
		}
	}
	return slices.DeleteFunc(rows, func(e paper.Entry) bool { return !slices.Contains(numbers, e.Number) }), nil
}

// symbolFunctions returns the functions that a symbol of the index names. read holds the packages.
func symbolFunctions(root, symbol string, read map[string][]*mutation.Function) ([]*mutation.Function, error) {
	slash := strings.LastIndexByte(symbol, '/') + 1
	dot := slash + strings.IndexByte(symbol[slash:], '.')
	folder, name := symbol[:dot], symbol[dot+1:]
	if read[folder] == nil {
		all, err := mutation.Functions(root, folder)
		if err != nil {
			return nil, err
		}
		read[folder] = all
	}
	found := mutation.Named(read[folder], name)
	if len(found) == 0 {
		return nil, fmt.Errorf("the symbol %s names no code", symbol)
	}
	return found, nil
}

// index breaks the symbol of each row, and runs the row's test.
func (w *work) index(ctx context.Context, rows []paper.Entry) ([]Score, []Survivor, error) {
	read := map[string][]*mutation.Function{}
	of := map[string][]*mutation.Function{}
	var all []*mutation.Function
	var missing error
	for _, e := range rows {
		fs, err := symbolFunctions(w.root, e.Symbol, read)
		if err != nil {
			missing = errors.Join(missing, fmt.Errorf("(%s): %w", e.Number, err))
			continue
		}
		of[e.Number] = fs
		for _, f := range fs {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(e paper.Entry) bool { return of[e.Number] == nil })
	program, clean, err := w.build(ctx, "mixpolicy/paper", all, func(m mutation.Mutant) bool { return m.Operator != mutation.Condition })
	if err != nil {
		return nil, nil, err
	}
	defer clean()
	bar := w.bar("rows", len(rows))
	scores := make([]Score, len(rows))
	survivors := make([][]Survivor, len(rows))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(w.workers)
	for i, e := range rows {
		g.Go(func() error {
			pattern := "^TestIndex$/^" + regexp.QuoteMeta(strings.ReplaceAll(e.Number, " ", "_")) + "$"
			outcome, took, out, err := program.Run(inner, 0, pattern, 5*time.Minute)
			if err != nil || outcome != mutation.Passed {
				return fmt.Errorf("(%s) without a mutant: %s %v\n%s", e.Number, outcome, err, out)
			}
			reached, err := program.Reached(inner, pattern, 5*time.Minute)
			if err != nil {
				return err
			}
			s := Score{Scope: e.Number, Symbol: e.Symbol, Hash: mutation.Hash(of[e.Number])}
			for _, m := range program.Mutants {
				if !slices.ContainsFunc(of[e.Number], func(f *mutation.Function) bool { return f.Folder == m.Folder && f.Name == m.Function }) {
					continue
				}
				s.Mutants++
				killed := false
				if reached[m.Folder+"."+m.Function] {
					outcome, _, _, err := program.Run(inner, m.ID, pattern, limit(took))
					if err != nil {
						return err
					}
					killed = outcome != mutation.Passed
				}
				if killed {
					s.Killed++
					continue
				}
				v := w.survivor(e.Number, m)
				if v.Why != "" {
					s.Equivalent++
				}
				survivors[i] = append(survivors[i], v)
			}
			scores[i] = s
			bar.Add(1)
			return nil
		})
	}
	err = g.Wait()
	done := slices.DeleteFunc(scores, func(s Score) bool { return s.Scope == "" })
	var left []Survivor
	for _, s := range done {
		i := slices.IndexFunc(rows, func(e paper.Entry) bool { return e.Number == s.Scope })
		left = append(left, survivors[i]...)
	}
	return done, left, errors.Join(missing, err)
}

func (w *work) build(ctx context.Context, folder string, functions []*mutation.Function, keep func(mutation.Mutant) bool) (*mutation.Program, func(), error) {
	temporary, err := os.MkdirTemp("", "mutations-*")
	if err != nil {
		return nil, nil, err
	}
	program, err := mutation.Build(ctx, w.root, folder, temporary, functions, keep)
	if err != nil {
		os.RemoveAll(temporary)
		return nil, nil, err
	}
	return program, func() { os.RemoveAll(temporary) }, nil
}

// test is a test of a package: how long it takes, and which functions it enters.
type test struct {
	name    string
	took    time.Duration
	reaches map[string]bool
}

// groups splits tests that are sorted by their time: the quick ones run in one go, each other one
// only if they let a mutant live.
func groups(tests []test) [][]test {
	slow := slices.IndexFunc(tests, func(t test) bool { return t.took >= 100*time.Millisecond })
	if slow < 0 {
		slow = len(tests)
	}
	all := slices.Collect(slices.Chunk(tests[slow:], 1))
	if slow > 0 {
		all = slices.Insert(all, 0, tests[:slow])
	}
	return all
}

// limit is the processor time that tests have which take a given one without a mutant.
func limit(took time.Duration) time.Duration { return 2*time.Second + 5*took }

// files groups functions by the path of their file.
func files(functions []*mutation.Function) (names []string, of map[string][]*mutation.Function) {
	of = map[string][]*mutation.Function{}
	for _, f := range functions {
		name := f.Folder + "/" + f.File
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], f)
	}
	return names, of
}

// pkg breaks the functions of a package that its tests cover, and runs those tests that enter
// the broken function, the quick ones first. Of files that are as on record it breaks only what survived
// and has no reason, unless all is set or a function is named.
func (w *work) pkg(ctx context.Context, folder, only string, all bool) ([]Score, []Survivor, error) {
	functions, err := mutation.Functions(w.root, folder)
	if err != nil {
		return nil, nil, err
	}
	if only != "" {
		if functions = mutation.Named(functions, only); len(functions) == 0 {
			return nil, nil, fmt.Errorf("%s has no function %s", folder, only)
		}
	}
	names, of := files(functions)
	asBefore := map[string]Score{} // files that have not changed
	for _, s := range w.last {
		if s.Scope == folder && of[s.Symbol] != nil && s.Hash == mutation.Hash(of[s.Symbol]) && !all && only == "" {
			asBefore[s.Symbol] = s
		}
	}
	covered, err := w.coverage(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	program, clean, err := w.build(ctx, folder, functions, func(m mutation.Mutant) bool {
		if _, ok := asBefore[folder+"/"+m.File]; ok {
			return w.survived(folder, m)
		}
		return covered(m)
	})
	if err != nil {
		return nil, nil, err
	}
	defer clean()
	var tests []test
	args, err := w.arguments(folder)
	if len(program.Mutants) > 0 && err == nil {
		tests, err = w.tests(ctx, program, args)
	}
	if err != nil {
		return nil, nil, err
	}
	bar := w.bar(folder, len(program.Mutants))
	h := &hunt{Program: program, tests: tests, args: args}
	tried, dead := make([]bool, len(program.Mutants)), make([]bool, len(program.Mutants))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(w.workers)
	for i, m := range program.Mutants {
		g.Go(func() error {
			var err error
			if _, ok := asBefore[folder+"/"+m.File]; !ok || w.survivor(folder, m).Why == "" {
				dead[i], err = h.killed(inner, m)
			}
			tried[i] = err == nil
			bar.Add(1)
			return err
		})
	}
	err = g.Wait()
	var scores []Score
	var survivors []Survivor
	for _, name := range names {
		s := Score{Scope: folder, Symbol: name, Hash: mutation.Hash(of[name])}
		var left []Survivor
		done := true
		for i, m := range program.Mutants {
			if folder+"/"+m.File != name {
				continue
			}
			done = done && tried[i]
			s.Mutants++
			if dead[i] {
				s.Killed++
				continue
			}
			v := w.survivor(folder, m)
			if v.Why != "" {
				s.Equivalent++
			}
			left = append(left, v)
		}
		if last, ok := asBefore[name]; ok { // the others died before
			s.Killed += last.Mutants - s.Mutants
			s.Mutants = last.Mutants
		}
		if !done { // it stays as on record
			s, left = w.lastOf(folder, name, of[name])
		}
		if s.Scope != "" {
			scores, survivors = append(scores, s), append(survivors, left...)
		}
	}
	return scores, survivors, err
}

// A hunt is the tests of a package's mutants, and which of them killed one last, by functions.
type hunt struct {
	*mutation.Program
	tests []test
	args  []string
	last  sync.Map
}

// killed reports whether one of those tests fails that enter a mutant's function. The one that killed the last
// mutant of that function comes first, since it often kills the next one, too.
func (h *hunt) killed(ctx context.Context, m mutation.Mutant) (bool, error) {
	var reach []test
	for _, t := range h.tests {
		if t.reaches[m.Folder+"."+m.Function] {
			reach = append(reach, t)
		}
	}
	order := groups(reach)
	if last, ok := h.last.Load(m.Function); ok {
		order = slices.Insert(order, 0, []test{last.(test)})
	}
	for _, group := range order {
		var names []string
		var took time.Duration
		for _, t := range group {
			names = append(names, t.name)
			took += t.took
		}
		outcome, _, out, err := h.Run(ctx, m.ID, "^("+strings.Join(names, "|")+")$", limit(took), h.args...)
		if err != nil {
			return false, err
		}
		if outcome == mutation.Passed {
			continue
		}
		for _, t := range group {
			if len(group) == 1 || strings.Contains(out, "--- FAIL: "+t.name+" ") {
				h.last.Store(m.Function, t)
			}
		}
		return true, nil
	}
	return false, nil
}

// survived reports whether a mutant is on record as a survivor of a package.
func (w *work) survived(folder string, m mutation.Mutant) bool {
	v := w.survivor(folder, m)
	v.Why, v.Left = "", ""
	return slices.ContainsFunc(w.known, func(k Survivor) bool { k.Why, k.Left = "", ""; return k == v })
}

// lastOf is what is on record of a file, none if its Scope is empty.
func (w *work) lastOf(folder, name string, functions []*mutation.Function) (s Score, left []Survivor) {
	for _, k := range w.last {
		if k.Scope == folder && k.Symbol == name {
			s = k
		}
	}
	for _, k := range w.known {
		if k.Scope == folder && slices.ContainsFunc(functions, func(f *mutation.Function) bool { return f.Folder+"."+f.Name == k.Function }) {
			left = append(left, k)
		}
	}
	return s, left
}

// arguments are the flags of a package's tests: random tests are to try the same every time, and
// write no files.
func (w *work) arguments(folder string) ([]string, error) {
	args := []string{"-test.short"}
	files, err := filepath.Glob(filepath.Join(w.root, folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(b), `"pgregory.net/rapid"`) {
			return append(args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ms"), nil
		}
	}
	return args, nil
}

// tests runs each test of a program alone, and returns them by their time.
func (w *work) tests(ctx context.Context, program *mutation.Program, args []string) ([]test, error) {
	names, err := program.Tests(ctx)
	if err != nil {
		return nil, err
	}
	bar := w.bar("tests", len(names))
	var tests []test
	for _, name := range names {
		if strings.HasPrefix(name, "Fuzz") {
			continue // its seeds take long, and what they alone notice has no test of its own
		}
		pattern := "^" + name + "$"
		outcome, took, out, err := program.Run(ctx, 0, pattern, 5*time.Minute, args...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if strings.Contains(out, "--- SKIP: "+name) {
			continue // with -short
		}
		if err != nil || outcome != mutation.Passed {
			return nil, fmt.Errorf("%s without a mutant: %s %v\n%s", name, outcome, err, out)
		}
		reached, err := program.Reached(ctx, pattern, 5*time.Minute, args...)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test{name, took, reached})
		bar.Add(1)
	}
	slices.SortFunc(tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return tests, nil
}

// coverage tells of a mutant whether the short tests of its package run its line.
func (w *work) coverage(ctx context.Context, folder string) (func(mutation.Mutant) bool, error) {
	f, err := os.CreateTemp("", "cover-*.out")
	if err != nil {
		return nil, err
	}
	f.Close()
	defer os.Remove(f.Name())
	cmd := exec.CommandContext(ctx, "go", "test", "-short", "-coverprofile", f.Name(), "./"+folder)
	cmd.Dir = w.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
	}
	profiles, err := cover.ParseProfiles(f.Name())
	if err != nil {
		return nil, err
	}
	lines := map[string]map[int]bool{}
	for _, p := range profiles {
		file := filepath.Base(p.FileName)
		lines[file] = map[int]bool{}
		for _, b := range p.Blocks {
			for l := b.StartLine; l <= b.EndLine && b.Count > 0; l++ {
				lines[file][l] = true
			}
		}
	}
	return func(m mutation.Mutant) bool { return lines[m.File][m.Line] }, nil
}
