// Command notebooks runs the executable paper: it sets up what the notebooks
// need, executes them in Jupyter on the Go kernel, and makes pages of them.
//
//	go run ./notebooks            set up, run everything, make the pages
//	go run ./notebooks run 06     run some of them
//	go run ./notebooks lab        open them in JupyterLab
//	go run ./notebooks -h         everything else
//
// All that the set-up makes is in the folder .lab of the clone, and all that a
// run makes in the folder build; neither touches anything else of yours.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// commandLine is what the user asked for.
type commandLine struct {
	Jupyter jupyterSource `placeholder:"SOURCE" default:"auto" env:"MIXPOLICY_JUPYTER" help:"Where Jupyter comes from: pypi (pinned, into .lab/venv), path (what is already there, if recent enough), debian (apt, as root), or auto: the first of these that works."`

	All   allCommand   `cmd:"" default:"withargs" help:"Set up, execute every notebook, export the pages, print the summary (the default)."`
	Run   runCommand   `cmd:"" help:"The same for some notebooks."`
	Lab   labCommand   `cmd:"" help:"Open JupyterLab on the notebooks (loopback only, with a token)."`
	Clean cleanCommand `cmd:"" help:"Remove .lab and build."`
}

// runOptions are what all and run have in common.
type runOptions struct {
	Update  bool          `help:"Also write the fresh outputs into the committed notebooks."`
	Jobs    int           `default:"2" help:"How many notebooks to execute at a time."`
	Timeout time.Duration `default:"5m" help:"How long one cell may take."`
}

type allCommand struct {
	runOptions `embed:""`
}

type runCommand struct {
	Names      []string `arg:"" name:"name" help:"Notebooks, by name or the beginning of it: 06 is 06-numerical-experiments."`
	runOptions `embed:""`
}

type labCommand struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"Passed on to JupyterLab, such as --no-browser or --port=9999."`
}

type cleanCommand struct{}

func (c *allCommand) Run(ctx context.Context, lab *Lab) error {
	return lab.paper(ctx, nil, c.runOptions)
}

func (c *runCommand) Run(ctx context.Context, lab *Lab) error {
	return lab.paper(ctx, c.Names, c.runOptions)
}

func (c *labCommand) Run(ctx context.Context, lab *Lab) error {
	if err := lab.Setup(ctx); err != nil {
		return err
	}
	return lab.Serve(ctx, c.Args)
}

func (c *cleanCommand) Run(lab *Lab) error {
	return lab.Clean()
}

// paper is the main job: set up, execute the notebooks with these names (all
// if there are none), export, sum up.
func (l *Lab) paper(ctx context.Context, names []string, o runOptions) error {
	begin := time.Now()
	files, err := l.Notebooks(names)
	if err != nil {
		return err
	}
	if err := l.Setup(ctx); err != nil {
		return err
	}
	runs, err := l.Execute(ctx, files, o)
	if err != nil {
		return err
	}
	if err := l.Export(ctx, runs); err != nil {
		return err
	}
	return l.Summarize(ctx, os.Stdout, runs, time.Since(begin))
}

// newParser makes the parser of the command line.
func newParser(cli *commandLine) *kong.Kong {
	return kong.Must(cli,
		kong.Name("go run ./notebooks"),
		kong.Description(`The executable paper: sets up what its notebooks need, executes them in Jupyter on the Go kernel, and makes pages of them.

The set-up is done once and goes into the folder .lab of the clone: the Go kernel with goimports and gopls, built from go.mod's pins; Jupyter; ECharts and MathJax from npm. Pages, figures and executed notebooks go into the folder build.`))
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go stopWithParent(stop)

	var cli commandLine
	command, err := newParser(&cli).Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v (go run ./notebooks -h tells what there is)\n", err)
		os.Exit(2)
	}
	lab, err := NewLab(os.Stderr)
	if err == nil {
		lab.jupyterFrom = cli.Jupyter
		command.BindTo(ctx, (*context.Context)(nil))
		err = command.Run(lab)
		lab.Close()
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "stopped")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// stopWithParent calls stop when the go command that runs us has ended: told
// to terminate, go run does, and tells nobody. Elsewhere than under go run, and
// where there is no /proc to tell, it does nothing.
func stopWithParent(stop func()) {
	parent := os.Getppid()
	program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", parent))
	if filepath.Base(program) != "go" {
		return
	}
	for os.Getppid() == parent {
		time.Sleep(500 * time.Millisecond)
	}
	stop()
}
