// Command record makes most of the records in the folder data, and the README's picture. Tests check the records,
// but do not write them.
//
//	go run ./mixpolicy/study/record list
//	go run ./mixpolicy/study/record comparison -m plug-in -p queue
//	go run ./mixpolicy/study/record network -p "two rules"
//
// go generate runs this command for all records that this command can make; this takes hours on a quiet machine. Other
// commands make three other files in data: go run ./data/peers makes peers.csv, go run ./data/mutations index makes
// mutations.csv, and mixpolicy/beam makes beam.csv. The tests of package models check the values in reference.csv.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/study"
	"github.com/mixpolicy/lab/mixpolicy/theory/adversary"
	"github.com/mixpolicy/lab/plotting"
)

//go:generate go run . comparison
//go:generate go run . network
//go:generate go run . table equations
//go:generate go run . table errata
//go:generate go run . table claims
//go:generate go run . adversaries
//go:generate go run . scale
//go:generate go run . readme
//go:generate go run . statements

type commandLine struct {
	Root string `placeholder:"DIR" help:"The clone whose records are made. Default: the one around the working directory."`

	List        listCmd        `cmd:"" help:"List what is recorded, and the methods that are not recorded yet."`
	Comparison  comparisonCmd  `cmd:"" help:"data/comparison.csv: races on the problems of package study, some minutes for each method."`
	Network     networkCmd     `cmd:"" help:"data/network.csv: the network of four queues at full size. A part takes minutes."`
	Table       tableCmd       `cmd:"" help:"data/equations.csv, errata.csv or claims.csv: checks every equation, erratum or claim."`
	Adversaries adversariesCmd `cmd:"" help:"data/adversaries.csv: search for counterexamples to corrected bounds; some ten minutes."`
	Scale       scaleCmd       `cmd:"" help:"data/scale.csv: how large a network one machine solves: some minutes and 20 GiB."`
	Readme      readmeCmd      `cmd:"" help:"data/figures/readme.svg, and the counts in the README."`
	Statements  statementsCmd  `cmd:"" help:"The paper's statements in the notebooks, from data/statements.md and the errata."`
}

type comparisonCmd struct {
	Problem []string `short:"p" sep:"none" placeholder:"NAME" help:"Only this problem; may be repeated."`
	Race    []string `short:"r" enum:"queries,seconds,fair,until" default:"queries,seconds,fair,until" help:"Only races of these kinds."`
	Method  []string `short:"m" sep:"none" placeholder:"NAME" help:"Only this method; may be repeated."`
}

// Run records one method after another, except in fair races. So, outside fair races, an interruption loses the results
// of at most one method.
func (c comparisonCmd) Run(ctx context.Context, w *work) error {
	if len(c.Problem) == 0 {
		c.Problem = study.FairProblems()
	}
	var raced []string
	for _, name := range c.Problem {
		for _, kind := range c.Race {
			methods, err := study.Update(ctx, w.data("comparison.csv"), name, kind, w.runs(name), c.Method...)
			if err != nil {
				return err
			}
			raced = append(raced, methods...)
		}
	}
	for _, m := range c.Method {
		if !slices.Contains(raced, m) {
			return fmt.Errorf("no method %q on %s; the command \"list\" names methods and problems", m, strings.Join(c.Problem, ", "))
		}
	}
	return nil
}

type networkCmd struct {
	Part []string `short:"p" sep:"none" placeholder:"NAME" help:"Only this part; may be repeated."`
}

// Run keeps memory low, because the model has a million states.
func (c networkCmd) Run(ctx context.Context, w *work) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 30)) // garbage is collected before memory exceeds this limit
	return study.UpdateNetwork(ctx, w.data("network.csv"), func(doing string) { w.tell(doing, 0, -1) }, c.Part...)
}

type listCmd struct{}

func (listCmd) Run(_ context.Context, w *work) error {
	r, err := study.Recorded()
	if err != nil {
		return err
	}
	for _, name := range study.Names {
		instance, err := study.Build(name)
		if err != nil {
			return err
		}
		for _, e := range instance.Entrants(study.BySeconds) {
			note := ""
			if len(r.Select(race.Row{Problem: name, Method: e.Name})) == 0 {
				note = "  (not recorded yet)"
			}
			fmt.Fprintf(w.out, "comparison -p %q -m %q%s\n", name, e.Name, note)
		}
	}
	for _, f := range study.FairProblems()[len(study.Names):] {
		fmt.Fprintf(w.out, "comparison -p %q\n", f)
	}
	for _, p := range study.NetworkParts() {
		fmt.Fprintf(w.out, "network -p %q\n", p.Name)
	}
	fmt.Fprint(w.out, "table equations\ntable errata\ntable claims\nadversaries\nscale\nreadme\nstatements\n")
	return nil
}

type tableCmd struct {
	Name string `arg:"" enum:"equations,errata,claims" help:"equations, errata or claims."`
}

func (c tableCmd) Run(ctx context.Context, w *work) error {
	return atomicfile.Write(w.data(c.Name+".csv"), func(f io.Writer) error {
		switch c.Name {
		case "equations":
			rows, err := paper.Decide(ctx, paper.Index())
			return cmp.Or(err, paper.WriteIndex(f, rows))
		case "errata":
			return paper.WriteErrata(ctx, f)
		}
		claims, err := paper.Claims(ctx)
		return cmp.Or(err, paper.WriteClaims(f, claims))
	})
}

type adversariesCmd struct {
	Space     []string `short:"s" sep:"none" placeholder:"NAME" help:"Only this space of instances; may be repeated."`
	Instances int      `default:"1000000" help:"Number of instances of each bound, at most 500 per start; a grid's points share them."`
}

// Run searches the spaces of instances for counterexamples, one space after another. If spaces are named, Run searches
// only the named spaces, and keeps the records of all other spaces.
func (c adversariesCmd) Run(ctx context.Context, w *work) error {
	path := w.data("adversaries.csv")
	text, err := os.ReadFile(path)
	known, bad := data.Adversaries(bytes.NewReader(text))
	if err := errors.Join(err, bad); err != nil {
		return err
	}
	spaces := adversary.Spaces()
	for _, name := range c.Space {
		if !slices.ContainsFunc(spaces, func(s adversary.Space) bool { return s.Name == name }) {
			return fmt.Errorf("no space %q; data/adversaries.csv names all spaces", name)
		}
	}
	var all []data.Adversary
	for _, s := range spaces {
		records := slices.DeleteFunc(slices.Clone(known), func(r data.Adversary) bool { return r.Space != s.Name })
		if len(c.Space) == 0 || slices.Contains(c.Space, s.Name) {
			var done atomic.Int64
			share := max(1, c.Instances/s.Cells)
			if records, err = adversary.Search(ctx, s, share, 1, runtime.GOMAXPROCS(0), func(n int) {
				w.tell("adversaries: "+s.Name, int(done.Add(int64(n))), share)
			}); err != nil {
				return err
			}
		}
		all = append(all, records...)
	}
	return atomicfile.Write(path, func(f io.Writer) error { return csvrows.Encode(f, all) })
}

type scaleCmd struct{}

// Run measures the smallest network first, so the peak memory of the process so far is the peak memory for the network
// just measured.
func (scaleCmd) Run(ctx context.Context, w *work) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(18 << 30)) // garbage is collected before memory exceeds this limit
	var all []data.Scale
	for _, buffers := range study.Scales() {
		w.tell(fmt.Sprintf("a network with buffers %v", buffers), 0, -1)
		s, err := study.MeasureScale(ctx, buffers)
		var u syscall.Rusage
		if err := errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &u)); err != nil {
			return err
		}
		s.Memory, s.Date = 1024*float64(u.Maxrss), time.Now().UTC().Format(time.DateOnly)
		s.Machine = fmt.Sprintf("%s, %d cores", runtime.GOARCH, runtime.GOMAXPROCS(0))
		all = append(all, s)
	}
	return atomicfile.Write(w.data("scale.csv"), func(f io.Writer) error { return csvrows.Encode(f, all) })
}

type readmeCmd struct{}

func (readmeCmd) Run(ctx context.Context, w *work) error {
	figure, err := paper.ReadmeFigure(ctx, w.runs("picture"))
	if err != nil {
		return err
	}
	return errors.Join(plotting.Save(w.data("figures", "readme.svg"), figure), edit(filepath.Join(w.root, "README.md"), paper.WithSummary))
}

type statementsCmd struct{}

func (statementsCmd) Run(w *work) error {
	files, err := filepath.Glob(filepath.Join(w.root, "notebooks", "*.ipynb"))
	for _, file := range files {
		err = cmp.Or(err, edit(file, func(text string) (string, error) {
			text, _, err := paper.WithStatements(text)
			return text, err
		}))
	}
	return err
}

// edit applies a change to the text of a file.
func edit(file string, change func(text string) (string, error)) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := change(string(old))
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return atomicfile.WriteBytes(file, []byte(text))
}

// work holds the root of the clone, and shows progress: with a bar in a terminal, otherwise with a line for each new
// activity.
type work struct {
	root string
	out  io.Writer
	mu   sync.Mutex
	bar  *progressbar.ProgressBar
	last string
}

func (w *work) data(name ...string) string {
	return filepath.Join(w.root, "data", filepath.Join(name...))
}

// runs returns the progress function of a race.
func (w *work) runs(what string) func(name string, done, total int) {
	return func(name string, done, total int) { w.tell(what+": "+name, done, total) }
}

func (w *work) tell(doing string, done, total int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bar != nil {
		w.bar.Describe(doing)
		w.bar.ChangeMax(total)
		w.bar.Set(done)
	} else if doing != w.last {
		w.last = doing
		fmt.Fprintln(w.out, doing)
	}
}

// root returns the root of the clone that contains the given folder.
func root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	for at := dir; err == nil; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "data", "comparison.csv")); err == nil {
			return at, nil
		} else if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in a clone of the lab: neither this folder nor a parent contains data/comparison.csv", dir)
		}
	}
	return "", err
}

func run(ctx context.Context, args []string, out *os.File) error {
	var cli commandLine
	parser := kong.Must(&cli, kong.Name("go run ./mixpolicy/study/record"),
		kong.Description("Makes the records in data/ and the README's picture again, whole or one part at a time. "+
			"An interrupted command leaves every file whole, with the results that were finished before."))
	command, err := parser.Parse(args)
	if err != nil {
		return err
	}
	w := &work{out: out}
	if w.root, err = root(cli.Root); err != nil {
		return err
	}
	if term.IsTerminal(int(out.Fd())) {
		w.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
		defer w.bar.Finish()
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(w)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}
