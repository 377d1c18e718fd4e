package beam

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	apache "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	pb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Job is a checked race, cut into tasks.
type Job struct {
	Name   string
	Race   string // the race and the build of the submitting program, as text for the pipeline
	Output string
	Cuts   []Cut
	// [Job.Run] calls Progress with the current activity, the number of finished trials and walks, and the number of
	// all trials and walks.
	Progress func(name string, done, total int)
	// Patience is how long workers may be silent before [Job.Run] cancels the job, and starts the race again or gives
	// up; 0 means no limit. Workers are silent if none of their counts of seconds of work grows. Prism receives the
	// counts at least every half minute.
	Patience time.Duration
}

// Submit checks all that can be checked before work starts: it builds every problem, starts every method in each
// setting on each problem, and times one run of each. It passes the number of checks begun so far to the function
// progress. Submit returns an error if the file output exists. [Job.Run] writes the record to this file, with Beam's
// file IO.
func Submit(ctx context.Context, r Race, output string, progress func(name string, done, total int)) (*Job, error) {
	p, err := newPlan(r)
	if err != nil {
		return nil, err
	}
	switch bytes, there, err := size(ctx, output); {
	case err != nil:
		return nil, fault.At("beam", "output "+output, err)
	case there:
		return nil, fmt.Errorf("beam: output %s exists already, with %d bytes; want another name", output, bytes)
	}
	if progress == nil {
		progress = func(string, int, int) {}
	}
	needsEndpoint := map[string]bool{"": false, "prism": false, "universal": true, "flink": true, "spark": true, "dataflow": false}
	switch needs, err := find("no runner", needsEndpoint, *runners.Runner); {
	case err != nil:
		return nil, fmt.Errorf("beam: %w", err)
	case needs && *jobopts.Endpoint == "":
		return nil, fmt.Errorf("beam: no endpoint for the runner %s, want --endpoint HOST:PORT of its job server", *runners.Runner)
	}
	if *jobopts.Endpoint != "" {
		if err := answers(ctx, *jobopts.Endpoint); err != nil {
			return nil, fmt.Errorf("beam: endpoint %s: no job service answers: %w", *jobopts.Endpoint, cause(err))
		}
	}
	j := &Job{Name: fmt.Sprintf("race-%d-%d", os.Getpid(), time.Now().UnixNano()), Output: output, Progress: progress}
	if slices.Contains([]string{"", "prism", "universal"}, *runners.Runner) {
		j.Patience = 2 * time.Minute // other runners restart the tasks of a dead worker
	}
	for k, i := range p.problems {
		problem, err := i.build()
		if err == nil && r.Simulate > 0 && problem.Features().Policy(0) == nil {
			err = errors.New("no base policies to simulate, because Ψ was given without policies")
		}
		if err != nil {
			return nil, fault.At("beam", fmt.Sprintf("race file: Problems[%d] (%s)", k, i.label), err)
		}
		for b := 0; r.Simulate > 0 && b < problem.Dim(); b++ {
			j.Cuts = append(j.Cuts, Cut{Of: len(p.cells) + k*mostPolicies + b, Total: int(r.walks()), Size: 1})
		}
	}
	trials, errs := make([]Cut, len(p.cells)), make([]error, len(p.cells))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k, c := range p.cells {
		g.Go(func() error { // waits if as many checks are running as there are processors
			trials[k] = Cut{Of: k, Total: r.Trials}
			trials[k].Size, errs[k] = c.try(ctx)
			return nil
		})
		progress("checking methods", k+1, len(p.cells))
	}
	_ = g.Wait()
	for k, err := range errs { // report the first error in the order of the file
		if err != nil {
			return nil, fault.At("beam", p.cells[k].place, err)
		}
	}
	j.Cuts = append(j.Cuts, trials...)
	text, err := json.Marshal(submitted{r, build()})
	j.Race = string(text)
	return j, err
}

// Total returns the number of trials and walks.
func (j *Job) Total() (n int) {
	for _, c := range j.Cuts {
		n += c.Total
	}
	return n
}

// answers returns an error unless the job service at an endpoint lists its jobs.
func answers(ctx context.Context, endpoint string) error {
	c, err := grpcx.Dial(ctx, endpoint, 3*time.Second)
	if err == nil {
		defer c.Close()
		_, err = pb.NewJobServiceClient(c).GetJobs(ctx, &pb.GetJobsRequest{})
	}
	return err
}

// attempts is the greatest number of times that a race starts if its workers die. The runner of a cluster restarts the
// tasks of a dead worker. With the local runners, whose worker is one process, only the whole race can start again.
const attempts = 3

// deaths lists texts in the errors of a job whose worker has died.
var deaths = []string{"worker disconnected", "stopped before", "control connection", "panic", errSilent.Error(), errUnwritten.Error()}

var (
	errSilent    = errors.New("no worker has reported")
	errUnwritten = errors.New("the job has ended without writing the record")
)

// Run runs the job on the runner that the flags name, and writes the record.
func (j *Job) Run(ctx context.Context) error {
	doing := "trials"
	for try := 1; ; try++ {
		err := j.attempt(ctx, try, doing)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("beam: %s stopped: %w", j.Output, ctx.Err())
		case err == nil:
			return nil
		}
		dead := slices.ContainsFunc(deaths, func(s string) bool { return strings.Contains(err.Error(), s) })
		why := "a worker has died"
		if errors.Is(err, errSilent) {
			why = fmt.Sprintf("%v for %v", err, j.Patience)
			err = fmt.Errorf("%w for %v; the race was started %d times; try a larger --patience", err, j.Patience, attempts)
		}
		if !dead || try == attempts {
			return cause(err)
		}
		doing = fmt.Sprintf("trials, attempt %d of %d (%s)", try+1, attempts, why)
	}
}

// attempt submits the job once.
func (j *Job) attempt(ctx context.Context, try int, doing string) error {
	*jobopts.JobName = fmt.Sprintf("%s-%d", j.Name, try)
	pipeline, s := apache.NewPipelineWithRoot()
	j.Build(s)
	ctx, stop := context.WithCancelCause(ctx)
	watched := make(chan error, 1)
	go func() {
		why := j.watch(ctx, doing)
		stop(why)
		watched <- why
	}()
	err := beamx.Run(ctx, pipeline)
	stop(nil)
	if why := <-watched; why != nil { // a cancelled job may end without an error
		return why
	}
	if _, there, _ := size(context.WithoutCancel(ctx), j.Output); err == nil && !there {
		return errUnwritten
	}
	return err
}

// size returns the size of a file, and whether it exists. It returns an error if Beam has no file system for the path.
func size(ctx context.Context, path string) (bytes int64, there bool, err error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return 0, false, err
	}
	defer fs.Close()
	bytes, absent := fs.Size(ctx, path)
	return bytes, absent == nil, nil
}

// cause returns our own error inside an error of Beam or, if there is none, the last line of Beam's error.
func cause(err error) error {
	text, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(err.Error()), ",stackTrace:\n", "\nStacktrace:"), "\nStacktrace:")
	if at := strings.LastIndex(text, "beam: "); at >= 0 {
		text, _, _ = strings.Cut(text[at:], "\n")
		return errors.New(text)
	}
	return errors.New("beam: " + text[strings.LastIndex(text, "\n")+1:])
}

// watch reports progress, as this process and the job service count it, until ctx ends or workers are silent for too
// long. In both cases, it then cancels the job.
func (j *Job) watch(ctx context.Context, doing string) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	done.here.Store(0)
	j.Progress(doing, 0, j.Total())
	var jobs pb.JobServiceClient
	id, told, seconds, heard := "", 0, int64(0), time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if jobs == nil {
			c, err := grpcx.Dial(ctx, *jobopts.Endpoint, time.Second)
			if err != nil {
				continue
			}
			defer c.Close()
			jobs = pb.NewJobServiceClient(c)
		}
		call, stop := context.WithTimeout(ctx, 5*time.Second) // a job service may wait for a stopped worker
		if id == "" {
			all, _ := jobs.GetJobs(call, &pb.GetJobsRequest{}) // nil if there is an error
			for _, v := range all.GetJobInfo() {
				if strings.Contains(v.JobName, *jobopts.JobName) {
					id, heard = v.JobId, time.Now()
					defer func() {
						end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second/2)
						defer stop()
						jobs.Cancel(end, &pb.CancelJobRequest{JobId: id}) // no effect on a job that has ended
					}()
				}
			}
			stop()
			continue
		}
		trials, work := done.here.Load(), atWork.here.Load()
		if m, err := jobs.GetJobMetrics(call, &pb.GetJobMetricsRequest{JobId: id}); err == nil {
			trials, work = max(trials, counted(m, "done")), work+counted(m, "atWork")
		}
		stop()
		if work != seconds {
			seconds, heard = work, time.Now()
		}
		if j.Patience > 0 && time.Since(heard) > j.Patience {
			return errSilent
		}
		told = max(told, int(trials))
		j.Progress(doing, told, j.Total())
	}
}

// counted returns what the workers have added to a counter, as far as the job service knows.
func counted(m *pb.GetJobMetricsResponse, name string) (n int64) {
	all := metricsx.FromMonitoringInfos(nil, m.GetMetrics().GetAttempted(), m.GetMetrics().GetCommitted()).AllMetrics()
	for _, c := range all.Counters() {
		if c.Namespace() == "mixpolicy" && c.Name() == name {
			n += max(c.Attempted, c.Committed)
		}
	}
	return n
}
