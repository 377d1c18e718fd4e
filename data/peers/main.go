// Command peers measures how long methods of this module and methods of other packages take to solve the same problems.
// It writes data/peers.csv and, from this file, the table in the README:
//
//	go run ./data/peers                    everything: about ten minutes on two cores
//	go run ./data/peers --only stationary  one piece of work
//	go run ./data/peers --quick            small problems, to check that everything works; writes nothing
//
// The peers are Python packages, at the versions of requirements.txt, in a virtual environment in .lab. Each method of
// a peer runs in its own process, which runs peers.py. Before the clock starts, the process reads the instance from
// files, compiles and warms up. A time counts only if the method's answer agrees with ours. In a turn, a method does
// the work once. The time limit for the first turn of a peer's method is ten seconds or twelve times our time,
// whichever is longer. For later turns, this limit is doubled. On each instance, the fastest of the peers' methods that
// give our answer has up to five turns, and its recorded time is the median of these turns. Every other method of a
// peer has one turn. Times are wall-clock times, on a machine that should have no other work. The rows also record
// processor times, the numbers of threads that we and the peer may use, and the speed of memory if the problem is too
// large for a cache.
package main

//go:generate go run . readme

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/atomicfile"
)

type commandLine struct {
	Measure struct {
		Only  []string `enum:"${works}" help:"Only these pieces of work, of ${enum}. Default: all." placeholder:"WORK"`
		Quick bool     `help:"Small problems, to check that everything works; nothing is written."`
	} `cmd:"" default:"withargs" help:"Measure, and write data/peers.csv and the README's table (the default)."`
	Readme struct{} `cmd:"" help:"Write the README's table from data/peers.csv."`
}

type bench struct {
	temp   string
	quick  bool
	python *python
	bar    *progressbar.ProgressBar
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var names []string
	for _, w := range works {
		names = append(names, w.name)
	}
	var cli commandLine
	command := kong.Parse(&cli, kong.Name("go run ./data/peers"),
		kong.Description("Measures the methods of this module and those of other packages on the same problems."),
		kong.Vars{"works": strings.Join(names, ", ")})
	root, err := clone()
	if err == nil && command.Command() == "readme" {
		err = readme(root)
	} else if err == nil {
		err = measure(ctx, root, cli.Measure.Only, cli.Measure.Quick)
	}
	command.FatalIfErrorf(err)
}

// measure measures the works with the given names, or all works if no name is given. Unless quick is true, the new rows
// of a finished work replace the old rows of this work.
func measure(ctx context.Context, root string, only []string, quick bool) error {
	b := &bench{quick: quick}
	var err error
	if b.python, err = peersIn(ctx, filepath.Join(root, ".lab", "peers")); err != nil {
		return err
	}
	if b.temp, err = os.MkdirTemp("", "peers-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	b.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSpinnerType(14),
		progressbar.OptionSetVisibility(term.IsTerminal(int(os.Stderr.Fd()))), progressbar.OptionClearOnFinish())
	for _, w := range works {
		if len(only) > 0 && !slices.Contains(only, w.name) {
			continue
		}
		rows, err := b.measure(ctx, w)
		if err != nil {
			return err
		}
		b.bar.Clear()
		for k := range rows {
			c := &rows[k]
			c.Work, c.Machine, c.Threads = w.name, processor(), runtime.GOMAXPROCS(0)
			c.Go, c.Date = strings.TrimPrefix(runtime.Version(), "go"), time.Now().UTC().Format(time.DateOnly)
			ratio, _ := c.Ratio()
			fmt.Printf("%s: %s %.4g s | %s, %s %.4g s, ratio %.3g %s\n",
				c.Instance, c.Ours, c.We.Median, c.Peer, c.Method, c.They.Median, ratio, c.Outcome)
		}
		if quick {
			continue
		}
		if err := record(root, w.name, rows); err != nil {
			return err
		}
	}
	return nil
}

// say shows the current activity.
func (b *bench) say(format string, args ...any) {
	b.bar.Describe(fmt.Sprintf(format, args...))
	b.bar.Add(1)
}

// clone returns the folder of the module.
func clone() (string, error) {
	mod, err := output(exec.Command("go", "env", "GOMOD"))
	if err != nil {
		return "", err
	}
	root := filepath.Dir(mod)
	if _, err := os.Stat(filepath.Join(root, "data", "peers")); err != nil {
		return "", errors.New("the working directory is not in a clone of the module")
	}
	return root, nil
}

// processor returns the processor's model and the number of its cores.
func processor() string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, found := strings.Cut(string(info), "model name"); found {
			name, _, _ := strings.Cut(rest, "\n")
			model = strings.TrimLeft(name, "\t: ")
		}
	}
	return fmt.Sprintf("%s, %d cores", model, runtime.GOMAXPROCS(0))
}

// recorded returns the rows of data/peers.csv.
func recorded(root string) ([]data.Comparison, error) {
	f, err := os.Open(filepath.Join(root, "data", "peers.csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return data.ReadComparisons(f)
}

// record replaces the rows of a work in data/peers.csv, and the README's table.
func record(root, name string, rows []data.Comparison) error {
	old, err := recorded(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	place := func(c data.Comparison) int {
		return slices.IndexFunc(works, func(w work) bool { return w.name == c.Work })
	}
	all := append(slices.DeleteFunc(old, func(c data.Comparison) bool { return c.Work == name || place(c) < 0 }), rows...)
	slices.SortStableFunc(all, func(a, b data.Comparison) int { return place(a) - place(b) })
	var text strings.Builder
	if err := data.WriteComparisons(&text, all); err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(root, "data", "peers.csv"), []byte(text.String())); err != nil {
		return err
	}
	return readme(root)
}

// readme writes the README's table again from data/peers.csv.
func readme(root string) error {
	all, err := recorded(root)
	if err != nil {
		return err
	}
	name := filepath.Join(root, "README.md")
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := data.WithComparisons(string(old), all)
	if err != nil || text == string(old) {
		return err
	}
	return atomicfile.WriteBytes(name, []byte(text))
}
