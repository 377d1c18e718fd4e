package beam

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	apache "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Task is a piece of work: the trials From, …, To−1 of a method, or the walks From, …, To−1 of a base policy. The field
// Of identifies the method, with its setting and problem, or the base policy (see plan.unit).
type Task struct{ Of, From, To int }

// Cut says how the trials of a method, or the walks of a base policy, are cut into tasks. Of identifies the method or
// the base policy, as in [Task]. There are Total trials or walks in all, and at most Size of them in each task.
type Cut struct{ Of, Total, Size int }

// Part holds the results of one or more tasks with the same [Task.Of].
type Part struct {
	Runs  Summary
	Walks Visits
}

func merge(a, b Part) Part {
	a.Runs.merge(b.Runs)
	a.Walks.merge(b.Walks)
	return a
}

// Block holds, as CSV with a header, the rows of the record for one method or base policy. Order is the [Task.Of] of
// the method or the base policy.
type Block struct {
	Order int
	CSV   []byte
}

func init() {
	apache.RegisterCoder(reflect.TypeFor[Part](), pack, unpack)
	register.Function2x0(cutTasks)
	register.DoFn3x1[context.Context, Task, func(int, Part), error](&doTask{})
	register.Function2x1(merge)
	register.DoFn2x2[int, Part, Block, error](&makeRows{})
	register.DoFn3x1[context.Context, int, func(*Block) bool, error](&writeRecord{})
	register.Emitter1[Task]()
	register.Emitter2[int, Part]()
	register.Iter1[Block]()
}

// Build adds to the scope s the pipeline of a race that [Submit] has checked:
//
//	methods and base policies → tasks → a Part of each task → a Part of each method or policy → rows → the record
//
// A race gives the same record, byte for byte, for any number of bundles and workers.
func (j *Job) Build(s apache.Scope) {
	tasks := apache.Reshuffle(s, apache.ParDo(s, cutTasks, apache.CreateList(s, j.Cuts)))
	parts := apache.CombinePerKey(s, merge, apache.ParDo(s, &doTask{j.Race}, tasks))
	blocks := apache.AddFixedKey(s, apache.ParDo(s, &makeRows{j.Race}, parts))
	apache.ParDo0(s, &writeRecord{Path: j.Output, Part: j.Output + ".part-" + j.Name}, apache.GroupByKey(s, blocks))
}

func cutTasks(c Cut, emit func(Task)) {
	for from := 0; from < c.Total; from += c.Size {
		emit(Task{c.Of, from, min(from+c.Size, c.Total)})
	}
}

// A counter counts twice: for the runner, which may report late, and in its field here, for this process alone.
type counter struct {
	apache.Counter
	here atomic.Int64
}

var (
	done   = counter{Counter: apache.NewCounter("mixpolicy", "done")}   // trials and walks
	atWork = counter{Counter: apache.NewCounter("mixpolicy", "atWork")} // seconds of work; a dead worker counts none
)

func (c *counter) add(ctx context.Context, n int) {
	c.Inc(ctx, int64(n))
	c.here.Add(int64(n))
}

type doTask struct{ Race string }

// ProcessElement carries out a task. The task runs in another goroutine. Meanwhile, ProcessElement counts the seconds
// of work in the goroutine in which Beam called it. If a run fails, the part counts the failure, and ProcessElement
// returns no error.
func (f *doTask) ProcessElement(ctx context.Context, t Task, emit func(int, Part)) error {
	var part Part
	ended := make(chan error, 1)
	go func() {
		p, err := open(f.Race)
		if err == nil {
			part, err = p.unit(t.Of).do(ctx, t.From, t.To)
		}
		ended <- err
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		atWork.add(ctx, 1)
		select {
		case err := <-ended:
			if err == nil {
				done.add(ctx, t.To-t.From)
				emit(t.Of, part)
			}
			return err
		case <-tick.C:
		}
	}
}

// do runs the trials on the streams from, …, to−1.
func (c *cell) do(ctx context.Context, from, to int) (part Part, err error) {
	p, err := c.build()
	if err != nil {
		return part, err
	}
	for set := c.set; from < to; from += fewTrials {
		set.First, set.Trials = from, min(fewTrials, to-from)
		runs, err := race.Trials(ctx, p.Problem, c.method, set)
		if ctx.Err() != nil {
			return part, err // the runs contain all other errors
		}
		for k := range runs.Trials {
			run := &runs.Trials[k]
			values, why := c.values(run, p.curves)
			if why != nil {
				part.Runs.fail(failure{run.Stream, run.Steps, why.Error()})
			} else {
				part.Runs.add(values)
			}
		}
	}
	return part, nil
}

func (c *cell) rows(part Part) race.Record { return part.Runs.rows(c.like, c.quantities) }

// fewTrials is the greatest number of trials that a task keeps in memory at once.
const fewTrials = 1000

// values returns the values of the quantities at each recording; the last row holds the number of iterations or
// queries. It returns an error if the run failed, or if the run diverged, that is, if a number is not [countable] (NaN
// is not an error). Recordings due after the end of a run have the values at the end of the run.
func (c *cell) values(run *race.Trial, curves []race.Curve) (values [][]float64, err error) {
	if run.Err != nil {
		return nil, run.Err
	}
	values = make([][]float64, len(curves)+1)
	for k := range c.looks {
		l := &run.Observations[min(k, len(run.Observations)-1)]
		for q, curve := range curves {
			v := curve(l)
			if v == v && !countable(v) {
				return nil, fmt.Errorf("race: stream %d diverged: a quantity is %v after %d steps", run.Stream, v, l.Iteration)
			}
			values[q] = append(values[q], v)
		}
		at := l.Iteration
		if c.set.Queries != nil {
			at = l.Queries
		}
		values[len(curves)] = append(values[len(curves)], float64(at))
	}
	return values, nil
}

type makeRows struct{ Race string }

// ProcessElement makes the rows of the record for a method or a base policy.
func (f *makeRows) ProcessElement(of int, part Part) (Block, error) {
	p, err := open(f.Race)
	if err != nil {
		return Block{}, err
	}
	var text bytes.Buffer
	err = p.unit(of).rows(part).Write(&text)
	return Block{of, text.Bytes()}, err
}

type writeRecord struct{ Path, Part string }

// ProcessElement writes the record, whole or not at all. Where files can be renamed, it first writes a file with
// another name, and then renames the file. An object store shows a file only when it is complete.
func (f *writeRecord) ProcessElement(ctx context.Context, _ int, blocks func(*Block) bool) (err error) {
	var all []Block
	for b := (Block{}); blocks(&b); b = (Block{}) {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b Block) int { return cmp.Compare(a.Order, b.Order) })
	var text []byte
	for k, b := range all {
		if k > 0 {
			_, b.CSV, _ = bytes.Cut(b.CSV, []byte("\n")) // without the header
		}
		text = append(text, b.CSV...)
	}
	if _, err := race.Read(bytes.NewReader(text)); err != nil { // do not write what cannot be read
		return fault.At("beam", f.Path, err)
	}
	fs, err := filesystem.New(ctx, f.Path)
	if err != nil {
		return fault.At("beam", f.Path, err)
	}
	defer fs.Close()
	files, renames := fs.(filesystem.Renamer)
	path := f.Path
	if renames {
		path = f.Part
	}
	if err = filesystem.Write(ctx, fs, path, text); err == nil && renames {
		err = files.Rename(ctx, path, f.Path)
	}
	if remover, ok := fs.(filesystem.Remover); ok && renames && err != nil {
		remover.Remove(ctx, path)
	}
	if err != nil {
		return fault.At("beam", f.Path, err)
	}
	return nil
}
