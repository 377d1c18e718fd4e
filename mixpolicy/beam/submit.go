package beam

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
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

// Job is a race that was checked and cut.
type Job struct {
	Name   string
	Race   string // what the pipeline carries: the race, and what its methods did at first
	Output string
	Trials []Cut
	Walks  []Cut
	// Progress, when set, is told how many trials and walks of how many are done.
	Progress func(name string, done, total int)
	// Patience is how long workers may be silent before the race starts again; 0 is for
	// ever. A worker counts its seconds, of which Prism hears at least every half a minute.
	Patience time.Duration
}

// Submit checks everything that can be checked before any work starts: it builds every problem, starts every
// method and times a run of each. The record is written to output, by the file IO of Beam.
func Submit(ctx context.Context, r Race, output string, progress func(name string, done, total int)) (*Job, error) {
	p, err := newPlan(r)
	if err != nil {
		return nil, err
	}
	fs, err := filesystem.New(ctx, output)
	if err != nil {
		return nil, fault.At("beam", "output "+output, err)
	}
	defer fs.Close()
	if size, err := fs.Size(ctx, output); err == nil {
		return nil, fmt.Errorf("beam: output %s exists, of %d bytes; want another name", output, size)
	}
	needsEndpoint := map[string]bool{"": false, "prism": false, "universal": true, "flink": true, "spark": true, "dataflow": false}
	needs, err := find("no runner", needsEndpoint, *runners.Runner)
	if err != nil {
		return nil, fmt.Errorf("beam: %w", err)
	}
	if needs && *jobopts.Endpoint == "" {
		return nil, fmt.Errorf("beam: no endpoint for the runner %s, want --endpoint HOST:PORT of its job server", *runners.Runner)
	}
	if err := answers(ctx, *jobopts.Endpoint); err != nil {
		return nil, err
	}
	j := &Job{Name: fmt.Sprintf("race-%d-%d", os.Getpid(), time.Now().UnixNano()), Output: output, Progress: progress}
	if slices.Contains([]string{"", "prism", "universal"}, *runners.Runner) {
		j.Patience = 2 * time.Minute // the others start the tasks of a dead worker again
	}
	s := submitted{Race: r, Probes: make([]probe, len(p.cells))}
	for k, i := range p.problems {
		problem, err := i.build()
		if err == nil && r.Simulate > 0 && problem.Features().Policy(0) == nil {
			err = errors.New("no base policies to simulate: its features were given")
		}
		if err != nil {
			return nil, fault.At("beam", fmt.Sprintf("race file: Problems[%d] (%s)", k, i.label), err)
		}
		for b := 0; r.Simulate > 0 && b < problem.Dim(); b++ {
			j.Walks = append(j.Walks, Cut{Of: numberOf(k, b), Total: int(r.walks()), Size: 1})
		}
	}
	errs := make([]error, len(p.cells))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	var checked atomic.Int64
	for k, c := range p.cells {
		g.Go(func() error {
			s.Probes[k], errs[k] = c.submit(ctx)
			if progress != nil {
				progress("checking methods", int(checked.Add(1)), len(p.cells))
			}
			return nil
		})
	}
	g.Wait() // without errors: the first in the file counts
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for k := range p.cells {
		j.Trials = append(j.Trials, Cut{Of: k, Total: r.Trials, Size: s.Probes[k].Batch})
	}
	text, err := json.Marshal(s)
	j.Race = string(text)
	return j, err
}

// Total is the number of trials and walks.
func (j *Job) Total() (n int) {
	for _, c := range slices.Concat(j.Trials, j.Walks) {
		n += c.Total
	}
	return n
}

// answers dials an endpoint, if there is one.
func answers(ctx context.Context, endpoint string) error {
	if endpoint == "" {
		return nil
	}
	c, err := grpcx.Dial(ctx, endpoint, 3*time.Second)
	if err == nil {
		defer c.Close()
		_, err = pb.NewJobServiceClient(c).GetJobs(ctx, &pb.GetJobsRequest{})
	}
	if err != nil {
		return fmt.Errorf("beam: endpoint %s: no job service answers: %w", endpoint, cause(err))
	}
	return nil
}

// attempts are how often a race starts when its workers die. Runners of clusters start the tasks of a dead
// worker again; of the local ones, whose worker is one process, the race is what can start again.
const attempts = 3

var (
	errSilent    = errors.New("no worker has reported")
	errUnwritten = errors.New("beam: the job has ended without its record: worker disconnected")
)

// Run runs the job on the runner of the flags, and writes the record.
func (j *Job) Run(ctx context.Context) error {
	doing := "trials"
	for try := 1; ; try++ {
		err := j.attempt(ctx, try, doing)
		silent := errors.Is(err, errSilent)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("beam: %s stopped: %w", j.Output, ctx.Err())
		case err == nil:
			return nil
		case try == attempts && silent:
			return fmt.Errorf("beam: %w for %v, in each of %d attempts; --patience waits longer", err, j.Patience, attempts)
		case silent:
			doing = fmt.Sprintf("trials, attempt %d of %d (no worker has reported for %v)", try+1, attempts, j.Patience)
		case try == attempts || !strings.Contains(err.Error(), "worker disconnected"):
			return cause(err)
		default:
			doing = fmt.Sprintf("trials, attempt %d of %d (a worker has died)", try+1, attempts)
		}
	}
}

// attempt submits the job once.
func (j *Job) attempt(ctx context.Context, try int, doing string) error {
	name := fmt.Sprintf("%s-%d", j.Name, try)
	*jobopts.JobName = name
	pipeline, s := apache.NewPipelineWithRoot()
	j.Build(s)
	ctx, stop := context.WithCancelCause(ctx)
	watched := make(chan error, 1)
	go func() {
		why := j.watch(ctx, name, doing)
		stop(why)
		watched <- why
	}()
	err := beamx.Run(ctx, pipeline)
	stop(nil)
	if why := <-watched; why != nil { // a job that was cancelled may end without an error
		return why
	}
	if err == nil && !j.written(ctx) {
		return errUnwritten
	}
	return err
}

// written tells whether the output is there.
func (j *Job) written(ctx context.Context) bool {
	ctx = context.WithoutCancel(ctx)
	fs, err := filesystem.New(ctx, j.Output)
	if err != nil {
		return false
	}
	defer fs.Close()
	_, err = fs.Size(ctx, j.Output)
	return err == nil
}

// cause is what an error of Beam ends with: ours, if there is one in it, or its last line.
func cause(err error) error {
	text := strings.TrimSpace(err.Error())
	if at := strings.LastIndex(text, "beam: "); at >= 0 {
		text, _, _ = strings.Cut(text[at:], "\n")
		return errors.New(text)
	}
	return errors.New("beam: " + text[strings.LastIndex(text, "\n")+1:])
}

// watch tells of progress, as the job service counts it, until ctx ends or workers are silent for too long.
// Then it cancels the job.
func (j *Job) watch(ctx context.Context, name, doing string) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	done.here.Store(0)
	if j.Progress != nil {
		j.Progress(doing, 0, j.Total())
	}
	var jobs pb.JobServiceClient
	id, told := "", 0
	seconds, heard := int64(0), time.Now()
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
			defer func() {
				end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second/2)
				defer stop()
				if id != "" {
					jobs.Cancel(end, &pb.CancelJobRequest{JobId: id}) // of a job that has ended this does nothing
				}
			}()
		}
		if id == "" {
			all, err := jobs.GetJobs(ctx, &pb.GetJobsRequest{})
			for _, v := range all.GetJobInfo() {
				if err == nil && strings.Contains(v.JobName, name) {
					id, heard = v.JobId, time.Now()
				}
			}
		}
		if id == "" {
			continue
		}
		trials, work := done.here.Load(), atWork.here.Load()
		if m, err := jobs.GetJobMetrics(ctx, &pb.GetJobMetricsRequest{JobId: id}); err == nil {
			trials, work = max(trials, counted(m, "done")), work+counted(m, "atWork")
		}
		if work != seconds {
			seconds, heard = work, time.Now()
		}
		if j.Patience > 0 && time.Since(heard) > j.Patience {
			return errSilent
		}
		if told = max(told, int(trials)); j.Progress != nil {
			j.Progress(doing, told, j.Total())
		}
	}
}

// counted is what the workers have added to a counter, as far as the job service knows.
func counted(m *pb.GetJobMetricsResponse, name string) (n int64) {
	all := metricsx.FromMonitoringInfos(nil, m.GetMetrics().GetAttempted(), m.GetMetrics().GetCommitted()).AllMetrics()
	for _, c := range all.Counters() {
		if c.Namespace() == "mixpolicy" && c.Name() == name {
			n += max(c.Attempted, c.Committed)
		}
	}
	return n
}
