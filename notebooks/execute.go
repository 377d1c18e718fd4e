package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"github.com/mixpolicy/lab/notebooks/internal/ipynb"
	"github.com/mixpolicy/lab/plotting"
)

// Notebooks lists the committed notebooks whose names begin with one of the
// given ones, all if none is given, in the order of their names.
func (l *Lab) Notebooks(names []string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(l.Root, "notebooks", "*.ipynb"))
	if err != nil || len(names) == 0 {
		return all, err
	}
	var chosen []string
	for _, name := range names {
		want := notebookName(name)
		matches := slices.DeleteFunc(slices.Clone(all), func(file string) bool {
			return !strings.HasPrefix(notebookName(file), want)
		})
		if len(matches) == 0 {
			return nil, fmt.Errorf("no notebook's name begins with %q; there are %s", want, strings.Join(mapSlice(all, notebookName), ", "))
		}
		chosen = append(chosen, matches...)
	}
	slices.Sort(chosen)
	return slices.Compact(chosen), nil
}

// notebookName is the file's name without folder and extension.
func notebookName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".ipynb")
}

func mapSlice[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

// A Run is one notebook, executed.
type Run struct {
	Name     string
	Notebook *ipynb.Notebook // normalized
	Elapsed  time.Duration
	Figures  int // how many files of figures were made from it
}

// Cells counts the notebook's code cells.
func (r *Run) Cells() int { return codeCells(r.Notebook) }

func codeCells(nb *ipynb.Notebook) (n int) {
	for _, c := range nb.Cells {
		if c.Type == ipynb.Code {
			n++
		}
	}
	return n
}

// Execute runs the notebooks in Jupyter, several at a time. The executed copies
// go into build; the committed files change only if asked for, and only when
// every notebook has run through.
func (l *Lab) Execute(ctx context.Context, files []string, o runOptions) ([]*Run, error) {
	if err := os.MkdirAll(l.build("figures"), 0o755); err != nil {
		return nil, err
	}
	sources := make([]*ipynb.Notebook, len(files))
	total := 0
	for i, file := range files {
		nb, err := ipynb.Read(file)
		if err != nil {
			return nil, err
		}
		sources[i] = nb
		total += codeCells(nb)
	}
	show := l.newProgress(total)
	runs := make([]*Run, len(files))
	failures := make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(max(1, o.Jobs))
	for _, i := range longestFirst(files) {
		file := files[i]
		group.Go(func() error {
			runs[i], failures[i] = l.execute(ctx, file, o.Timeout, show)
			return nil
		})
	}
	group.Wait()
	show.done()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	if o.Update {
		for i, file := range files {
			if err := runs[i].Notebook.Write(file); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
}

// longestFirst orders the notebooks so that no long one is left to run alone at
// the end. What showed much the last time is taken to run long.
func longestFirst(files []string) []int {
	size := make([]int64, len(files))
	order := make([]int, len(files))
	for i, file := range files {
		order[i] = i
		if info, err := os.Stat(file); err == nil {
			size[i] = info.Size()
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	return order
}

//go:embed execute.py
var driver string

// An event is what the driver says of a cell.
type event struct {
	Event   string  `json:"event"` // "executed", "failed", or "stopped" if it didn't fail by itself
	Cell    int     `json:"cell"`  // its index among all cells
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error"`
}

// execute runs one notebook.
func (l *Lab) execute(ctx context.Context, file string, timeout time.Duration, show *progress) (*Run, error) {
	run := &Run{Name: notebookName(file)}
	target := l.build(run.Name + ".ipynb")
	// Jupyter's and the kernel's own log, of use only if they break.
	log, err := os.Create(filepath.Join(l.temp, run.Name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()

	raw := filepath.Join(l.temp, run.Name+".ipynb")
	cmd := l.command(ctx, l.jupyter.python, "-c", driver, file, raw, strconv.Itoa(int(timeout.Seconds())))
	cmd.Env = append(cmd.Env, plotting.Headless+"=1")
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var failed *event
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // not ours: a library's remark
		}
		run.Elapsed = time.Duration(e.Seconds * float64(time.Second))
		switch e.Event {
		case "executed":
			show.cell(run.Name)
		case "failed", "stopped":
			failed = &e
		}
	}
	err = cmd.Wait()
	endGroup(cmd)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if failed == nil && err != nil {
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s: Jupyter: %w\n%s", run.Name, err, tail(string(said), 15))
	}
	if run.Notebook, err = ipynb.Read(raw); err != nil {
		return nil, err
	}
	if failed == nil {
		failed = silentFailure(run.Notebook)
	}
	if failed != nil {
		return nil, &CellError{
			Notebook: run.Name,
			Cell:     run.Notebook.Cells[failed.Cell],
			Message:  failed.Error,
			Stopped:  failed.Event == "stopped",
		}
	}
	run.Notebook.Normalize()
	return run, run.Notebook.Write(target)
}

// silent matches what the kernel writes to a cell's stderr, and calls success,
// when a shell command fails or a magic doesn't exist.
var silent = regexp.MustCompile(`(?m)^exit status \d+$|unknown or not implemented yet`)

// silentFailure finds the first cell that failed without Jupyter's knowledge.
func silentFailure(nb *ipynb.Notebook) *event {
	for i, c := range nb.Cells {
		for _, o := range c.Outputs {
			if o.Type == ipynb.Stream && o.Name == "stderr" && silent.MatchString(string(o.Text)) {
				return &event{Cell: i, Error: strings.TrimSpace(string(o.Text))}
			}
		}
	}
	return nil
}

// A CellError is a cell's failure, in the compiler's or the program's words.
type CellError struct {
	Notebook string
	Cell     ipynb.Cell // with its outputs
	Message  string
	Stopped  bool // from outside, for what Message says
}

var (
	compilerPlace = regexp.MustCompile(`^Cell\[(\d+)\]: Line (\d+)\n`) // as the kernel writes it
	ansi          = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// Error names the notebook, the cell by the number in its prompt, and each
// line with what is wrong there; of a cell that was stopped also why, and what it
// had written until then.
func (e *CellError) Error() string {
	prompt := 0
	if e.Cell.ExecutionCount != nil {
		prompt = *e.Cell.ExecutionCount
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, cell [%d] failed", e.Notebook, prompt)
	if e.Stopped {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	lines := strings.Split(string(e.Cell.Source), "\n")
	at := func(m []string, message string) {
		cell, _ := strconv.Atoi(m[1])
		line, _ := strconv.Atoi(m[2])
		fmt.Fprintf(&b, "\n  ")
		if cell != prompt {
			fmt.Fprintf(&b, "cell [%d] ", cell)
		}
		fmt.Fprintf(&b, "line %d: %s", line, message)
		if cell == prompt && 1 <= line && line <= len(lines) {
			fmt.Fprintf(&b, "\n      %s", strings.TrimSpace(lines[line-1]))
		}
	}
	located := false
	for _, o := range e.Cell.Outputs {
		for _, t := range o.Traceback {
			t = ansi.ReplaceAllString(t, "")
			if m := compilerPlace.FindStringSubmatch(t); m != nil {
				at(m, tail(t, 1))
				located = true
			}
		}
	}
	if located {
		return b.String()
	}
	for _, o := range e.Cell.Outputs {
		if o.Type != ipynb.Stream || o.Name != "stderr" {
			continue
		}
		text := ansi.ReplaceAllString(string(o.Text), "")
		fmt.Fprintf(&b, "\n  %s", strings.ReplaceAll(tail(text, 30), "\n", "\n  "))
		located = true
	}
	if !located && !e.Stopped {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	return b.String()
}

// progress shows how many cells have been executed: a bar on a terminal,
// elsewhere only the notebooks' names as they begin.
type progress struct {
	lab      *Lab
	terminal bool
	bar      *progressbar.ProgressBar

	mu    sync.Mutex
	begun map[string]bool
}

func (l *Lab) newProgress(cells int) *progress {
	f, ok := l.log.(*os.File)
	terminal := ok && term.IsTerminal(int(f.Fd()))
	return &progress{
		lab:      l,
		terminal: terminal,
		bar: progressbar.NewOptions(cells,
			progressbar.OptionSetWriter(l.log),
			progressbar.OptionSetVisibility(terminal),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish()),
		begun: map[string]bool{},
	}
}

// cell counts one more cell of the notebook.
func (p *progress) cell(notebook string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.begun[notebook] && !p.terminal {
		p.lab.say("%-8s %s", "running", notebook)
	}
	p.begun[notebook] = true
	p.bar.Describe(notebook)
	p.bar.Add(1)
}

func (p *progress) done() { p.bar.Finish() }
