// Command notebooks runs the executable paper: it sets up what the notebooks need, executes them in Jupyter on the Go
// kernel, and makes pages from them.
//
//	go run ./notebooks            set up, run everything, make the pages
//	go run ./notebooks run 06     run the notebooks whose names begin with 06
//	go run ./notebooks pages      make pages from the outputs that the notebooks have
//	go run ./notebooks lab        open copies of the notebooks in JupyterLab
//	go run ./notebooks new DIR    make a folder for notebooks of your own
//	go run ./notebooks kernel     install the Go kernel into your own Jupyter
//	go run ./notebooks site       make a site whose cells run in the reader's browser
//	go run ./notebooks -h         list all commands and flags
//
// The set-up writes to the folder .lab of the clone, and a run writes to the folder build. Apart from these folders,
// the set-up and a run change only temporary files and the caches of Go, pip and npm, unless you use a flag: --debian
// allows the set-up to install a Debian package, and run --update also writes the fresh outputs into the notebooks.
// Only the command kernel writes into your own Jupyter. When any of these commands ends, for whatever reason, the
// processes that the command started end too, except that Debian's package manager may finish first.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/mixpolicy/lab/notebooks/internal/lab"
)

const description = `The executable paper: sets up what its notebooks need, executes them in Jupyter on the Go kernel, and makes pages
of them.

The set-up is done once and goes into the folder .lab of the clone: the Go kernel with goimports and gopls, built from
go.mod's pins; Jupyter from PyPI or, if this fails, the Jupyter of the python3 on the PATH; ECharts, MathJax,
MiniSearch and CodeMirror from npm. The command site also installs JupyterLite from PyPI. Pages, figures and executed
notebooks go into the folder build.`

// commandLine holds the user's request.
type commandLine struct {
	Run    runCommand    `cmd:"" default:"withargs" help:"Set up, execute the notebooks, export pages, print a summary (the default)."`
	Lab    labCommand    `cmd:"" help:"Open JupyterLab, for this machine only, with a token, on copies of the notebooks for you to change."`
	New    newCommand    `cmd:"" help:"Make a folder for notebooks and packages of your own, outside the clone."`
	Pages  pagesCommand  `cmd:"" help:"Make the pages of the notebooks from their present outputs, without executing anything."`
	Site   siteCommand   `cmd:"" help:"Make a site whose cells run in any browser, in the folder build/site, from the pages in build."`
	Kernel kernelCommand `cmd:"" help:"Install the Go kernel into your own Jupyter, or remove it."`
	Clean  cleanCommand  `cmd:"" help:"Remove .lab and build."`

	Debian bool `help:"Let the set-up install, as root, Debian's package python3-venv if Python needs it."`
}

type runCommand struct {
	Names []string `arg:"" optional:"" name:"name" help:"Notebooks, by name or the beginning of it (06); one of your own, by its path."`

	Update  bool          `help:"Also write the fresh outputs into the notebooks themselves."`
	Jobs    int           `default:"2" help:"How many notebooks to execute at a time."`
	Timeout time.Duration `default:"5m" help:"How long one cell may take."`
}

func (c *runCommand) Run(ctx context.Context, l *lab.Lab) error {
	return l.Run(ctx, os.Stdout, c.Names, lab.Options{Update: c.Update, Jobs: c.Jobs, Timeout: c.Timeout})
}

type labCommand struct {
	Args []string `arg:"" optional:"" passthrough:"" help:"A folder or notebook to open, then flags for JupyterLab, such as --no-browser."`
}

func (c *labCommand) Run(ctx context.Context, l *lab.Lab) error { return l.Serve(ctx, c.Args) }

type newCommand struct {
	Dir string `arg:"" help:"The folder. The Go module gets the folder's name."`
}

func (c *newCommand) Run(ctx context.Context, l *lab.Lab) error { return l.NewProject(ctx, c.Dir) }

type pagesCommand struct {
	Names []string `arg:"" optional:"" name:"name" help:"Notebooks, named as for run."`
}

func (c *pagesCommand) Run(ctx context.Context, l *lab.Lab) error { return l.Pages(ctx, c.Names) }

type siteCommand struct {
	Dir   string `arg:"" optional:"" help:"The folder of your own notebooks; first make their pages with run. Default: the paper's."`
	Serve bool   `help:"Then serve the site to this machine, until interrupted."`
	Port  int    `default:"8899" help:"The port to serve at; 0 means any free port."`
}

func (c *siteCommand) Run(ctx context.Context, l *lab.Lab) error {
	if !c.Serve {
		return l.Site(ctx, c.Dir, "")
	}
	return l.Site(ctx, c.Dir, fmt.Sprintf("127.0.0.1:%d", c.Port))
}

type kernelCommand struct {
	Install bool `required:"" xor:"do" help:"Put the kernel where nbconvert, Notebook and editors find it. It needs this clone with .lab."`
	Remove  bool `required:"" xor:"do" help:"Remove the kernel."`
}

func (c *kernelCommand) Run(ctx context.Context, l *lab.Lab) error {
	if c.Remove {
		return l.RemoveKernel()
	}
	return l.InstallKernel(ctx)
}

type cleanCommand struct{}

func (c *cleanCommand) Run(ctx context.Context, l *lab.Lab) error { return l.Clean(ctx) }

func main() {
	lab.Keep()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go lab.StopWithGoRun(stop)

	line := new(commandLine)
	parser := kong.Must(line, kong.Name("go run ./notebooks"), kong.Description(description))
	command, err := parser.Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v (go run ./notebooks -h lists the commands)\n", err)
		os.Exit(2)
	}
	l, err := lab.New(os.Stderr)
	if err == nil {
		l.Debian = line.Debian
		command.BindTo(ctx, (*context.Context)(nil))
		err = command.Run(l)
		l.Close()
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
