package beam

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	apache "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

//go:embed usage.txt
var usage string

var (
	output   = flag.String("output", "", "The record. Default: race.csv for race.json.")
	patience = flag.Duration("patience", -1, "How long workers may be silent; 0: forever.")
)

// isWorker names the variable that is set in the environment of worker processes.
const isWorker = "MIXPOLICY_BEAM_WORKER"

// Main is the whole command race: it runs the race file given in the arguments or, in a worker process, does the work
// that the runner sends. A program that registers its own moduli, methods or problems calls Main at the end of its
// function main.
func Main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	if os.Getenv(isWorker) != "" {
		work()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { // for work that does not check ctx, such as computing the features of a large model
		time.Sleep(900 * time.Millisecond)
		fmt.Fprintln(os.Stderr, "error: interrupted")
		os.Exit(1)
	})
	if err := command(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// command runs the race that the arguments describe, and writes its progress to tell.
func command(ctx context.Context, args []string, tell io.Writer) error {
	var files []string
	for len(args) > 0 { // flags may precede and follow the file
		if err := flag.CommandLine.Parse(args); err != nil {
			return err
		}
		if args = flag.Args(); len(args) > 0 {
			files, args = append(files, args[0]), args[1:]
		}
	}
	apache.Init() // does not return in a worker that Beam has started
	log.SetLogger(&log.Standard{Level: log.SevFatal})
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the errors that Beam logs are also returned
	if len(files) != 1 {
		return fmt.Errorf("%d race files, want one (see --help)", len(files))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	r, err := ParseRace(text)
	if err != nil {
		return fmt.Errorf("%s: %w", files[0], err)
	}
	*output = cmp.Or(*output, strings.TrimSuffix(files[0], ".json")+".csv")
	if strings.EqualFold(*jobopts.EnvironmentType, "PROCESS") && *jobopts.EnvironmentConfig == "" {
		if err := processes(); err != nil {
			return err
		}
	}
	job, err := Submit(ctx, r, *output, progress(tell))
	if err != nil {
		return err
	}
	if *patience >= 0 {
		job.Patience = *patience
	}
	began := time.Now()
	if err := job.Run(ctx); err != nil {
		return err
	}
	took, n := time.Since(began), job.Total()
	fmt.Fprintf(tell, "%s: %d trials and walks in %v, %.4g a second\n", *output, n, took.Round(time.Millisecond), float64(n)/took.Seconds())
	return nil
}

// progress returns a function that shows a bar in a terminal. Elsewhere, the function writes a line when the activity
// changes, and otherwise at most one line in ten seconds.
func progress(w io.Writer) func(name string, done, total int) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(w), progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
		return func(name string, done, total int) {
			bar.Describe(name)
			bar.ChangeMax(total)
			bar.Set(done)
		}
	}
	last, doing := time.Time{}, ""
	return func(name string, done, total int) {
		if name != doing || time.Since(last) > 10*time.Second {
			doing, last = name, time.Now()
			fmt.Fprintf(w, "%s: %d of %d\n", name, done, total)
		}
	}
}

// processes makes runners start this program as the worker, without an artifact and without Beam's boot program.
func processes() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{"command": self, "env": map[string]string{isWorker: "1"}})
	*jobopts.EnvironmentConfig = string(config)
	*jobopts.WorkerBinary = cmp.Or(*jobopts.WorkerBinary, self)
	return err
}

// work asks the runner that started this process where to connect, as Beam's boot program does, and works until the
// runner closes the connection or kills the process.
func work() {
	set := flag.NewFlagSet("worker", flag.ExitOnError)
	id := set.String("id", "", "")
	provision := set.String("provision_endpoint", "", "")
	for _, other := range []string{"logging_endpoint", "artifact_endpoint", "control_endpoint"} {
		set.String(other, "", "")
	}
	set.Parse(os.Args[1:])
	*id = strings.Trim(*id, "'") // Prism puts the id in quotes
	ctx := grpcx.WriteWorkerID(context.Background(), *id)
	info, err := tools.ProvisionInfo(ctx, *provision)
	if err == nil {
		var options runtime.RawOptionsWrapper
		if err = tools.ProtoToOptions(info.GetPipelineOptions(), &options); err == nil {
			runtime.GlobalOptions.Import(options.Options)
			apache.Init()
			can := harness.Options{RunnerCapabilities: info.GetRunnerCapabilities()}
			err = harness.MainWithOptions(ctx, info.GetLoggingEndpoint().GetUrl(), info.GetControlEndpoint().GetUrl(), can)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: worker %s: %v\n", *id, err)
		os.Exit(1)
	}
}
