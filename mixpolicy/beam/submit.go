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
	needs, err := find("no runner", map[string]bool{"": false, "prism": false, "universal": true, "flink": true, "spark": true, "dataflow": false}, *runners.Runner)
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

// Run runs the job on the runner of the flags, and writes the record.
func (j *Job) Run(ctx context.Context) error {
	for try := 1; ; try++ {
		name := fmt.Sprintf("%s-%d", j.Name, try)
		*jobopts.JobName = name
		pipeline, s := apache.NewPipelineWithRoot()
		j.Build(s)
		watching, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			j.watch(watching, name)
			close(ended)
		}()
		err := beamx.Run(ctx, pipeline)
		stop()
		<-ended
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("beam: %s stopped: %w", j.Output, ctx.Err())
		case err == nil:
			return nil
		case try == attempts || !strings.Contains(err.Error(), "worker disconnected"):
			return cause(err)
		}
		fmt.Fprintf(os.Stderr, "a worker has died, attempt %d of %d\n", try+1, attempts)
	}
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

// watch tells of progress, as the job service counts it, and cancels the job when ctx ends before it.
func (j *Job) watch(ctx context.Context, name string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var jobs pb.JobServiceClient
	id, told := "", 0
	here.Store(0)
	for {
		select {
		case <-ctx.Done():
			if id != "" {
				end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second/2)
				defer stop()
				jobs.Cancel(end, &pb.CancelJobRequest{JobId: id}) // of a job that has ended this does nothing
			}
			return
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
		if id == "" {
			all, err := jobs.GetJobs(ctx, &pb.GetJobsRequest{})
			for _, v := range all.GetJobInfo() {
				if err == nil && strings.Contains(v.JobName, name) {
					id = v.JobId
				}
			}
		}
		if id == "" || j.Progress == nil {
			continue
		}
		told = max(told, int(here.Load()))
		if m, err := jobs.GetJobMetrics(ctx, &pb.GetJobMetricsRequest{JobId: id}); err == nil {
			n := 0
			for _, c := range metricsx.FromMonitoringInfos(nil, m.GetMetrics().GetAttempted(), m.GetMetrics().GetCommitted()).AllMetrics().Counters() {
				if c.Name() == "done" && c.Namespace() == "mixpolicy" {
					n += int(max(c.Attempted, c.Committed))
				}
			}
			told = max(told, n)
		}
		j.Progress("trials", told, j.Total())
	}
}
