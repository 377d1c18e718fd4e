// Command mutations makes mutants of the code, each with one small change, and runs the tests, which should fail.
//
//	go run ./data/mutations index                                every row of data/index.csv; writes data/mutations.csv
//	go run ./data/mutations index -r 3.22 -r 3.31                some rows; writes nothing
//	go run ./data/mutations package mixpolicy/bregman            a package against its own tests; writes nothing
//	go run ./data/mutations package mixpolicy/bregman -f Ball    one function, or the methods of one type
//
// The command prints the mutants that no test notices, and each finished row. For a row of the index, the mutants are
// changes of the row's symbol. A mutant is killed if the row's check or a short test of the symbol's package fails.
// During a run over the whole index, the file .lab/mutations.csv keeps the finished rows. If the run is interrupted,
// the next run over the whole index continues from this file. To start again from the first row, remove the file.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/internal/mutation"
	"github.com/mixpolicy/lab/mixpolicy/paper"
)

type commandLine struct {
	Root    string `default:"." placeholder:"DIR" help:"The clone. Default: the working directory."`
	Workers int    `default:"${cores}" help:"Number of runs at the same time. Default: the number of cores."`

	Index struct {
		Row []string `short:"r" sep:"none" placeholder:"NUMBER" help:"Only this row; may be repeated. The results are then not written."`
	} `cmd:"" help:"Break the symbol of each row of the index. Run the row's check and the tests of the symbol's package."`
	Package struct {
		Folder   string `arg:"" help:"Folder of a package, such as mixpolicy/theory."`
		Function string `short:"f" placeholder:"NAME" help:"Only this function, this method (Type.Method), or the methods of this type."`
	} `cmd:"" help:"Break the functions of a package and run its short tests."`
}

// A target is a set of functions to break, and the tests to run.
type target struct {
	data.Score
	functions []*mutation.Function
	checks    []check
}

// A check is the tests of a package that match a pattern.
type check struct{ folder, pattern string }

// indexTargets returns a target for each row of the index with one of the given numbers, or for all rows if no number
// is given.
func indexTargets(root string, numbers []string) (all []target, err error) {
	read := map[string][]*mutation.Function{}
	for _, e := range paper.Index() {
		if len(numbers) > 0 && !slices.Contains(numbers, e.Number) {
			continue
		}
		dot := strings.LastIndexByte(e.Symbol, '/') + 1
		dot += strings.IndexByte(e.Symbol[dot:], '.')
		folder := e.Symbol[:dot]
		if read[folder] == nil {
			functions, err := mutation.Functions(root, folder)
			if err != nil {
				return nil, err
			}
			read[folder] = functions
		}
		t := target{Score: data.Score{Number: e.Number, Symbol: e.Symbol}, functions: mutation.Named(read[folder], e.Symbol[dot+1:])}
		if len(t.functions) == 0 {
			err = errors.Join(err, fmt.Errorf("(%s): the symbol %s is neither a function nor a type with methods", e.Number, e.Symbol))
		}
		row := "^TestIndex$/^" + regexp.QuoteMeta(strings.ReplaceAll(e.Number, " ", "_")) + "$"
		t.checks = []check{{"mixpolicy/paper", row}, {folder, "."}}
		all = append(all, t)
	}
	if len(all) < len(numbers) {
		err = fmt.Errorf("rows %q: want numbers of the index, each only once", numbers)
	}
	return all, err
}

// packageTarget returns the target of a package or, if name is not empty, of its functions with this name.
func packageTarget(root, folder, name string) ([]target, error) {
	functions, err := mutation.Functions(root, folder)
	if name != "" {
		functions = mutation.Named(functions, name)
	}
	if err == nil && len(functions) == 0 {
		err = fmt.Errorf("%s: found no function to break (-f %q)", folder, name)
	}
	return []target{{data.Score{Symbol: folder}, functions, []check{{folder, "."}}}}, err
}

// run breaks the functions of each target, prints the mutants that survive, and calls done after each target.
func run(ctx context.Context, root string, workers int, targets []target, done func(data.Score) error) error {
	temporary, err := os.MkdirTemp("", "mutations-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	var functions []*mutation.Function
	var folders []string
	for _, t := range targets {
		for _, f := range t.functions {
			if !slices.Contains(functions, f) {
				functions = append(functions, f)
			}
		}
		for _, c := range t.checks {
			folders = append(folders, c.folder)
		}
	}
	// For the index, conditions stay as they are, because most guard against bad input, which equations do not cover.
	program, err := mutation.Build(ctx, root, temporary, functions, targets[0].Number == "", folders...)
	if err != nil {
		return err
	}
	limits := map[check]time.Duration{}
	for _, t := range targets {
		for _, c := range t.checks {
			if limits[c] > 0 {
				continue
			}
			pass, took, err := program.Pass(ctx, c.folder, 0, c.pattern, 5*time.Minute)
			if err != nil || !pass {
				return errors.Join(fmt.Errorf("%s: the tests that match %s do not pass on the unchanged code", c.folder, c.pattern), err)
			}
			limits[c] = 2*time.Second + 3*took
		}
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, t := range targets {
		// The fastest check comes first.
		slices.SortFunc(t.checks, func(a, b check) int { return cmp.Compare(limits[a], limits[b]) })
		g.Go(func() error {
			for _, m := range program.Mutants {
				if !slices.Contains(t.functions, m.Function) {
					continue
				}
				t.Mutants++
				survives := true
				for _, c := range t.checks {
					if survives {
						var err error
						if survives, _, err = program.Pass(ctx, c.folder, m.ID, c.pattern, limits[c]); err != nil {
							return err
						}
					}
				}
				if !survives {
					t.Killed++
					continue
				}
				fmt.Printf("%s %s.%s survives, %s: %s → %s\n", t.Number, m.Folder, m.Name, m.Operator, m.From, m.To)
			}
			mu.Lock()
			defer mu.Unlock()
			return done(t.Score)
		})
	}
	return g.Wait()
}

func main() {
	var c commandLine
	k := kong.Parse(&c, kong.Name("mutations"), kong.Description("Break the code, and print the changes that no test notices."),
		kong.Vars{"cores": fmt.Sprint(runtime.NumCPU())})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command, _, _ := strings.Cut(k.Command(), " ")
	targets, err := indexTargets(c.Root, c.Index.Row)
	if command == "package" {
		targets, err = packageTarget(c.Root, c.Package.Folder, c.Package.Function)
	}
	k.FatalIfErrorf(err)
	whole, kept := command == "index" && len(c.Index.Row) == 0, filepath.Join(c.Root, ".lab", "mutations.csv")
	var scores []data.Score
	write := func(path string) error {
		return atomicfile.Write(path, func(w io.Writer) error { return csvrows.Encode(w, scores) })
	}
	place := map[string]int{} // the place of each row in the index
	for i, t := range targets {
		place[t.Number] = i
	}
	if f, err := os.Open(kept); whole && err == nil {
		scores, err = csvrows.Decode[data.Score](f, nil)
		k.FatalIfErrorf(err)
		targets = slices.DeleteFunc(targets, func(t target) bool {
			return slices.ContainsFunc(scores, func(s data.Score) bool { return s.Number == t.Number })
		})
	} else if whole {
		k.FatalIfErrorf(os.MkdirAll(filepath.Dir(kept), 0o755))
	}
	k.FatalIfErrorf(run(ctx, c.Root, c.Workers, targets, func(s data.Score) error {
		scores = append(scores, s)
		fmt.Fprintf(os.Stderr, "%d of %d: %s %s, %d of %d killed\n", len(scores), len(place), s.Number, s.Symbol, s.Killed, s.Mutants)
		if whole {
			return write(kept)
		}
		return nil
	}))
	mutants, killed := 0, 0
	for _, s := range scores {
		mutants, killed = mutants+s.Mutants, killed+s.Killed
	}
	fmt.Printf("%d of %d mutants killed, %.1f %%\n", killed, mutants, 100*float64(killed)/float64(mutants))
	if whole {
		slices.SortFunc(scores, func(a, b data.Score) int { return cmp.Compare(place[a.Number], place[b.Number]) })
		k.FatalIfErrorf(errors.Join(write(filepath.Join(c.Root, "data", "mutations.csv")), os.Remove(kept)))
	}
}
