// Command mutations breaks the code and runs the tests, which should fail: what stays unseen is
// in data/survivors.csv, the scores are in data/mutations.csv.
//
//	go run ./data/mutations index                  every row of data/equations.csv: its symbol against its test
//	go run ./data/mutations index -r 3.22 -r 3.31  some rows
//	go run ./data/mutations package mixpolicy/theory mixpolicy/linprog
//
// Of a package it breaks the files that have changed since the record, and of the others what survived and has no
// reason yet, which takes minutes; --all breaks everything. On two cores the index takes five minutes, all of a
// package from five minutes to an hour. An interrupt keeps the rows and the files that are done. A test that takes
// two seconds and five times its processor time has failed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type commandLine struct {
	Root    string `default:"." placeholder:"DIR" help:"The clone. Default: the working directory."`
	Workers int    `default:"${cores}" help:"Runs at the same time. Default: the number of cores."`

	Index   indexCmd   `cmd:"" help:"For each row of data/equations.csv, break its symbol and run its test."`
	Package packageCmd `cmd:"" help:"Break the functions of packages and run their tests."`
}

type indexCmd struct {
	Row []string `short:"r" sep:"none" placeholder:"NUMBER" help:"Only this row; may be repeated."`
	Dry bool     `help:"Tell what survives, and write nothing."`
}

// Run decides the rows.
func (c indexCmd) Run(ctx context.Context, w *work) error {
	rows, err := indexRows(c.Row)
	if err != nil {
		return err
	}
	scores, survivors, err := w.index(ctx, rows)
	return w.finish(c.Dry, scores, survivors, err)
}

type packageCmd struct {
	Folder   []string `arg:"" help:"Folders of packages, such as mixpolicy/theory."`
	Function string   `short:"f" placeholder:"NAME" help:"Only this function, Type.Method, or the methods of this type; implies --dry."`
	All      bool     `help:"Also what was killed in files that have not changed since the record."`
	Dry      bool     `help:"Tell what survives, and write nothing."`
}

// Run decides the packages.
func (c packageCmd) Run(ctx context.Context, w *work) error {
	for _, folder := range c.Folder {
		scores, survivors, err := w.pkg(ctx, folder, c.Function, c.All)
		if err := w.finish(c.Dry || c.Function != "", scores, survivors, err); err != nil {
			return err
		}
	}
	return nil
}

// work is what both commands share.
type work struct {
	root    string
	workers int
	last    []Score    // what data/mutations.csv says
	known   []Survivor // what data/survivors.csv says
}

// finish prints scores and survivors and, if dry is not set, puts them in the records, in place of
// earlier ones of the same code. It does so too if err, which it returns, ended the work early.
func (w *work) finish(dry bool, scores []Score, survivors []Survivor, err error) error {
	for _, s := range survivors {
		if s.Why+s.Left == "" {
			fmt.Printf("%s: %s, %s: %s → %s\n", s.Scope, s.Function, s.Operator, s.From, s.To)
		}
	}
	var all Score
	for _, s := range scores {
		fmt.Printf("%s, %s: %d of %d mutants killed, %d equivalent\n", s.Scope, s.Symbol, s.Killed, s.Mutants, s.Equivalent)
		all.add(s)
	}
	fmt.Printf("%.1f %% of %d mutants that are not equivalent are killed\n", 100*all.Share(), all.Mutants-all.Equivalent)
	if !dry && len(scores) > 0 {
		if err := update(w.root, scores, survivors); err != nil {
			return err
		}
	}
	return err
}

func (w *work) bar(what string, n int) *progressbar.ProgressBar {
	return progressbar.NewOptions(n, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionSetVisibility(term.IsTerminal(int(os.Stderr.Fd()))), progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
}

func main() {
	var c commandLine
	k := kong.Parse(&c, kong.Name("mutations"), kong.Description("Break the code, and see which tests notice."),
		kong.Vars{"cores": fmt.Sprint(runtime.NumCPU())})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := &work{root: c.Root, workers: c.Workers}
	var err error
	if w.last, err = readScores(c.Root); err == nil {
		w.known, err = readSurvivors(c.Root)
	}
	if err == nil {
		k.BindTo(ctx, (*context.Context)(nil))
		err = k.Run(w)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1)
	}
}
