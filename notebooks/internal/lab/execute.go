package lab

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
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"github.com/mixpolicy/lab/plotting"
)

// Options state how notebooks are executed.
type Options struct {
	Update  bool          // whether to write the fresh outputs also into the notebooks themselves
	Jobs    int           // the greatest number of notebooks that are executed at the same time; less than 1 means 1
	Timeout time.Duration // the longest time that a cell may take; rounded up to seconds, 0 means no limit
}

// paper lists the committed notebooks.
func (l *Lab) paper() []string {
	return named(filepath.Join(l.root, "notebooks"), `^[^.].*\.ipynb$`)
}

// notebooks returns the files of the named notebooks, sorted, or of all committed notebooks if names is empty. A name
// that contains a slash or ends in .ipynb is a path. Any other name is the beginning of committed notebooks' names.
// All notebooks must be in one folder.
func (l *Lab) notebooks(names []string) (chosen []string, err error) {
	all := l.paper()
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no notebooks", l.root)
	}
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".ipynb") || strings.ContainsRune(name, filepath.Separator) {
			file, err := filepath.Abs(name)
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, file)
			continue
		}
		before, known := len(chosen), []string(nil)
		for _, file := range all {
			known = append(known, notebookName(file))
			if strings.HasPrefix(notebookName(file), name) {
				chosen = append(chosen, file)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("no notebook's name begins with %q; the names are %s (name a notebook of your own by its path, "+
				"such as ./%[1]s.ipynb)", name, strings.Join(known, ", "))
		}
	}
	slices.Sort(chosen)
	for _, file := range chosen {
		if _, err := readNotebook(file); err != nil {
			return nil, err
		}
		if filepath.Dir(file) != filepath.Dir(chosen[0]) {
			return nil, fmt.Errorf("%s and %s are in different folders; a run takes notebooks from one folder only", chosen[0], file)
		}
	}
	return slices.Compact(chosen), nil
}

// notebookName returns the file's name without folder and extension.
func notebookName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".ipynb")
}

// A run is the execution of one notebook.
type run struct {
	name     string
	source   string // the notebook's file
	notebook *notebook
	file     string // the executed notebook: a temporary file, or, for [Lab.Pages], source
	elapsed  time.Duration
	cells    map[int]time.Duration // the time of each cell, by the cell's index
	figures  int                   // the number of figures in the notebook's outputs
	pictures map[string]string     // the names of the figure files by their content
}

// execute runs the notebooks in Jupyter, several at a time.
func (l *Lab) execute(ctx context.Context, files []string, o Options) ([]*run, error) {
	cells, size, order := 0, map[int]int64{}, make([]int, len(files))
	for i, file := range files {
		nb, err := readNotebook(file)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(file); err == nil {
			size[i] = info.Size()
		}
		cells += len(nb.code())
		order[i] = i
	}
	// The largest files come first: a notebook with much output probably runs long, and should not run alone at the end.
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	bar := progressbar.NewOptions(cells,
		progressbar.OptionSetWriter(l.log),
		progressbar.OptionSetVisibility(l.onTerminal()),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionClearOnFinish())
	runs := make([]*run, len(files))
	failures := make([]error, len(files))
	var group errgroup.Group
	group.SetLimit(max(1, o.Jobs))
	for _, i := range order {
		group.Go(func() error {
			runs[i], failures[i] = l.executeOne(ctx, files[i], o.Timeout, bar)
			return nil
		})
	}
	group.Wait()
	bar.Finish()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return runs, nil
}

func (l *Lab) onTerminal() bool {
	f, ok := l.log.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

//go:embed execute.py
var driver string

// An event is a message of the driver about a cell.
type event struct {
	Event   string  `json:"event"`   // "executed", "failed", or, after a timeout or the kernel's death, "stopped"
	Cell    int     `json:"cell"`    // the cell's index among all cells
	Seconds float64 `json:"seconds"` // since the driver began
	Error   string  `json:"error"`
}

// executeOne executes one notebook.
func (l *Lab) executeOne(ctx context.Context, file string, timeout time.Duration, bar *progressbar.ProgressBar) (*run, error) {
	name := notebookName(file)
	r := &run{name: name, source: file, file: filepath.Join(l.temp, name+".ipynb"), cells: map[int]time.Duration{}}
	if !l.onTerminal() {
		l.say("%-8s %s", "running", r.name)
	}
	// The log of Jupyter and the kernel is needed only if one of them breaks.
	log, err := os.Create(filepath.Join(l.temp, r.name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()

	cmd := l.command(ctx, l.python, "-c", driver, file, r.file, strconv.Itoa(int((timeout+time.Second-1)/time.Second)))
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
			continue // a message of a Python library
		}
		before := r.elapsed
		r.elapsed = time.Duration(e.Seconds * float64(time.Second))
		switch e.Event {
		case "executed":
			r.cells[e.Cell] = r.elapsed - before
			bar.Describe(r.name)
			bar.Add(1)
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
		return nil, fmt.Errorf("%s: Jupyter: %w\n%s", r.name, err, tail(string(said), 15))
	}
	if r.notebook, err = readNotebook(r.file); err != nil {
		return nil, err
	}
	if failed == nil {
		failed = silentFailure(r.notebook)
	}
	if failed != nil {
		return nil, &cellError{
			notebook: r.name,
			cell:     r.notebook.Cells[failed.Cell],
			message:  failed.Error,
			stopped:  failed.Event == "stopped",
		}
	}
	return r, nil
}

// silent matches what the kernel writes to a cell's stderr when a shell command fails or a magic does not exist. The
// kernel reports such a cell as executed.
var silent = regexp.MustCompile(`(?m)^exit status \d+$|unknown or not implemented yet`)

// silentFailure finds the first cell whose failure Jupyter did not notice.
func silentFailure(nb *notebook) *event {
	for i, c := range nb.Cells {
		for _, o := range c.Outputs {
			if o.Name == "stderr" && silent.MatchString(string(o.Text)) {
				return &event{Cell: i, Error: strings.TrimSpace(string(o.Text))}
			}
		}
	}
	return nil
}

// A cellError is the failure of a cell.
type cellError struct {
	notebook string
	cell     cell // with its outputs
	message  string
	stopped  bool // a timeout or the kernel's death stopped the cell; message states which
}

var (
	compilerPlace = regexp.MustCompile(`^Cell\[(\d+)\]: Line (\d+)\n`) // how the kernel writes the place of an error
	ansi          = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// Error names the notebook, the cell by the number in its prompt, and each faulty line with its error. If no line is
// known, the text contains the end of the cell's stderr or, if stderr is empty, Jupyter's message. For a cell that was
// stopped, the text also states the reason.
func (e *cellError) Error() string {
	prompt := e.cell.ExecutionCount
	head := fmt.Sprintf("%s, cell [%d] failed", e.notebook, prompt)
	if e.stopped {
		head += ": " + e.message
	}
	lines := strings.Split(string(e.cell.Source), "\n")
	var said string
	for _, o := range e.cell.Outputs {
		for _, t := range o.Traceback {
			t = ansi.ReplaceAllString(t, "")
			m := compilerPlace.FindStringSubmatch(t)
			if m == nil {
				continue
			}
			place, code := "line "+m[2], ""
			if line, _ := strconv.Atoi(m[2]); m[1] != strconv.Itoa(prompt) {
				place = fmt.Sprintf("cell [%s] %s", m[1], place)
			} else if 1 <= line && line <= len(lines) {
				code = "\n      " + strings.TrimSpace(lines[line-1])
			}
			said += fmt.Sprintf("\n  %s: %s%s", place, tail(t, 1), code)
		}
	}
	if said == "" {
		for _, o := range e.cell.Outputs {
			if o.Name == "stderr" {
				said += "\n  " + strings.ReplaceAll(tail(ansi.ReplaceAllString(string(o.Text), ""), 30), "\n", "\n  ")
			}
		}
	}
	if said == "" && !e.stopped {
		said = ": " + e.message
	}
	return head + said
}
