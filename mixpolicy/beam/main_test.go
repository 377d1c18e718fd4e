package beam

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/mixpolicy/lab/mixpolicy"
)

// Environment variables, each of which gives a process of this test program its role.
const (
	isCommand = "MIXPOLICY_TEST_COMMAND"
	isPrism   = "MIXPOLICY_TEST_PRISM" // Prism's job server at this port
	isOther   = "MIXPOLICY_TEST_OTHER" // a program built from another version
	isWatched = "MIXPOLICY_TEST_WATCH" // a worker that writes its process id into this file at step 500 of a trial
)

func TestMain(m *testing.M) {
	RegisterMethod("breaks", breaks{})
	if os.Getenv(isOther) != "" {
		build = func() string { return "another version" }
	}
	switch port, err := strconv.Atoi(os.Getenv(isPrism)); {
	case os.Getenv(isCommand) != "" || os.Getenv(isWorker) != "":
		Main()
		return
	case err == nil:
		if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: port}); err != nil {
			panic(err)
		}
		select {}
	}
	flag.Parse()
	apache.Init()
	log.SetLogger(&log.Standard{Level: log.SevFatal})
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// breaks is a method that fails at step At if this step samples a pair whose number is a multiple of 3; with At = 0,
// it never fails. Each step sleeps for Wait.
type breaks struct {
	At   int
	Wait int // nanoseconds in each step
}

func (b breaks) Name() string { return "breaks" }

func (b breaks) Start(p *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	if b.At < 0 {
		return nil, fmt.Errorf("breaks: At = %d, want 0 or more", b.At)
	}
	return &breaking{breaks: b, o: o, theta: make([]float64, p.Dim())}, nil
}

type breaking struct {
	breaks
	o     *mixpolicy.Oracle
	t     int
	theta []float64
}

func (b *breaking) Step() error {
	pair, cost := b.o.Sample()
	time.Sleep(time.Duration(b.Wait))
	if b.t++; b.At > 0 && b.t == b.At && pair%3 == 0 {
		return errors.New("it broke")
	}
	b.theta[pair%len(b.theta)] += cost
	if mark := os.Getenv(isWatched); mark != "" && b.t == 500 {
		os.WriteFile(mark, []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	return nil
}

func (b *breaking) View(s *mixpolicy.Snapshot) error {
	*s = mixpolicy.Snapshot{Last: b.theta, Average: b.theta}
	return nil
}

// ours returns the command that runs this test program in a process of its own, with env in its environment.
func ours(t testing.TB, env string, args ...string) *exec.Cmd {
	t.Helper()
	self := mixpolicy.Must(os.Executable())
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Second)
	t.Cleanup(stop)
	c := exec.CommandContext(ctx, self, args...)
	c.Env = append(os.Environ(), env)
	c.Dir = t.TempDir()
	c.WaitDelay = time.Second
	return c
}

// serve starts a job server, ends it with the test, and returns its endpoint.
func serve(t testing.TB, command func(port int) *exec.Cmd) (endpoint string) {
	t.Helper()
	l := mixpolicy.Must(net.Listen("tcp", "localhost:0"))
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	c := command(port)
	c.Stdout, c.Stderr = io.Discard, io.Discard
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	endpoint = fmt.Sprintf("localhost:%d", port)
	conn := mixpolicy.Must(grpcx.Dial(t.Context(), endpoint, time.Minute))
	conn.Close()
	return endpoint
}

func servePrism(t testing.TB) (endpoint string) {
	return serve(t, func(port int) *exec.Cmd { return ours(t, isPrism+"="+strconv.Itoa(port)) })
}

// file writes a race file.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "race.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// record runs a race through the command with flags, and returns the CSV file and the command's output.
func record(t testing.TB, text string, flags ...string) (record, told string) {
	t.Helper()
	path := file(t, text)
	out, err := ours(t, isCommand+"=1", append(flags, path)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%.2000s", flags, err, out)
	}
	b := mixpolicy.Must(os.ReadFile(strings.TrimSuffix(path, ".json") + ".csv"))
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*part*")); len(left) > 0 {
		t.Errorf("%v: left %v", flags, left)
	}
	return string(b), string(out)
}

// embedded runs a race in this process, with the trials of each method cut into the given number of tasks (0: as
// Submit cuts them).
func embedded(t testing.TB, text string, tasks int) string {
	t.Helper()
	r := mixpolicy.Must(ParseRace([]byte(text)))
	path := filepath.Join(t.TempDir(), "race.csv")
	j := mixpolicy.Must(Submit(t.Context(), r, path, nil))
	if tasks > 0 {
		for k := range j.Cuts {
			j.Cuts[k].Size = (r.Trials + tasks - 1) / tasks
		}
	}
	if err := j.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return string(mixpolicy.Must(os.ReadFile(path)))
}
