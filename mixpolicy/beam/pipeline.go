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

// Task is work that takes seconds: From, …, To−1 of the trials of a cell, or of the walks of a
// base policy, of which there is a number.
type Task struct{ Of, From, To int }

// Cut says into how large tasks how many trials or walks are cut.
type Cut struct{ Of, Total, Size int }

// Block is a part of the record, as CSV with a header.
type Block struct {
	Order int
	CSV   []byte
}

func init() {
	// Beam knows functions by their names, which instances of a generic one share.
	apache.RegisterCoder(reflect.TypeFor[Summary](), packSummary, unpackSummary)
	apache.RegisterCoder(reflect.TypeFor[Visits](), packVisits, unpackVisits)
	register.Function2x0(cutTasks)
	register.DoFn3x1[context.Context, Task, func(int, Summary), error](&runTrials{})
	register.Function2x1(mergeSummaries)
	register.DoFn2x2[int, Summary, Block, error](&trialRows{})
	register.DoFn3x1[context.Context, Task, func(int, Visits), error](&walk{})
	register.Function2x1(mergeVisits)
	register.DoFn2x2[int, Visits, Block, error](&visitRows{})
	register.DoFn3x1[context.Context, int, func(*Block) bool, error](&writeRecord{})
	register.Emitter1[Task]()
	register.Emitter2[int, Summary]()
	register.Emitter2[int, Visits]()
	register.Iter1[Block]()
}

func packSummary(s Summary) ([]byte, error)   { return pack(s) }
func unpackSummary(b []byte) (Summary, error) { return unpack[Summary](b) }
func packVisits(v Visits) ([]byte, error)     { return pack(v) }
func unpackVisits(b []byte) (Visits, error)   { return unpack[Visits](b) }

// Build makes the pipeline of a race that [Submit] has checked:
//
//	cells    → tasks of seconds → a Summary of each → one of each cell
//	policies → walks of seconds → Visits of each    → those of each policy   → rows → the record
//
// The same race gives the same record in any number of bundles and workers, to the byte.
func (j *Job) Build(s apache.Scope) {
	var blocks []apache.PCollection
	if len(j.Trials) > 0 {
		s := s.Scope("Trials")
		blocks = append(blocks, apache.ParDo(s, &trialRows{Race: j.Race}, Trials(s, j.Race, apache.CreateList(s, j.Trials))))
	}
	if len(j.Walks) > 0 {
		s := s.Scope("Walks")
		blocks = append(blocks, apache.ParDo(s, &visitRows{Race: j.Race}, Walks(s, j.Race, apache.CreateList(s, j.Walks))))
	}
	s = s.Scope("Record")
	all := apache.AddFixedKey(s, apache.Flatten(s, blocks...))
	apache.ParDo0(s, &writeRecord{Path: j.Output, Part: j.Output + ".part-" + j.Name}, apache.GroupByKey(s, all))
}

// Trials runs cells of a race, cut as a PCollection<Cut> says, and returns a
// PCollection<KV<int, Summary>> of the number of the cell and what all its runs came to.
func Trials(s apache.Scope, race string, cuts apache.PCollection) apache.PCollection {
	return apache.CombinePerKey(s, mergeSummaries, apache.ParDo(s, &runTrials{Race: race}, tasks(s, cuts)))
}

// Walks simulates base policies, cut as a PCollection<Cut> says, and returns a
// PCollection<KV<int, Visits>> of the number of the policy and what all its walks visited.
func Walks(s apache.Scope, race string, cuts apache.PCollection) apache.PCollection {
	return apache.CombinePerKey(s, mergeVisits, apache.ParDo(s, &walk{Race: race}, tasks(s, cuts)))
}

// tasks spreads them over the workers.
func tasks(s apache.Scope, cuts apache.PCollection) apache.PCollection {
	return apache.Reshuffle(s, apache.ParDo(s, cutTasks, cuts))
}

func cutTasks(c Cut, emit func(Task)) {
	for from := 0; from < c.Total; from += c.Size {
		emit(Task{c.Of, from, min(from+c.Size, c.Total)})
	}
}

// A counter is for the runner, which may tell of it late, and has what this process has counted.
type counter struct {
	apache.Counter
	here atomic.Int64
}

var (
	done   = counter{Counter: apache.NewCounter("mixpolicy", "done")}   // trials and walks
	atWork = counter{Counter: apache.NewCounter("mixpolicy", "atWork")} // seconds, which only a worker counts that lives
)

func (c *counter) add(ctx context.Context, n int) {
	c.Inc(ctx, int64(n))
	c.here.Add(int64(n))
}

// living does a task, and counts the seconds that it takes. Beam's counters are for the goroutine that
// has ctx from Beam.
func living(ctx context.Context, task func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- task() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		atWork.add(ctx, 1)
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
	}
}

type runTrials struct{ Race string }

// ProcessElement runs the trials of a task. What fails is in the summary.
func (f *runTrials) ProcessElement(ctx context.Context, t Task, emit func(int, Summary)) error {
	var s Summary
	err := living(ctx, func() error {
		p, err := open(f.Race)
		if err != nil {
			return err
		}
		c := p.cells[t.Of]
		if err := c.check(); err != nil {
			return err
		}
		s, err = c.trials(ctx, t.From, t.To)
		return err
	})
	if err == nil {
		done.add(ctx, t.To-t.From)
		emit(t.Of, s)
	}
	return err
}

// trials are those on the streams from, …, to−1.
func (c *cell) trials(ctx context.Context, from, to int) (s Summary, err error) {
	p, err := c.build()
	if err != nil {
		return s, err
	}
	score, err := c.score()
	if err != nil {
		return s, err
	}
	set, at := c.set, make([]int, c.looks)
	for ; from < to; from += fewTrials {
		set.First, set.Trials = from, min(fewTrials, to-from)
		runs, err := race.Trials(ctx, p, c.method, set)
		if ctx.Err() != nil {
			return s, err // what else there is of errors is in the runs
		}
		for k := range runs.Trials {
			run := &runs.Trials[k]
			values, why := c.values(run, score, at)
			if why != nil {
				s.fail(failure{run.Stream, run.Steps, why.Error()})
			} else {
				s.add(at, values)
			}
		}
	}
	return s, nil
}

// fewTrials are in memory at a time.
const fewTrials = 1000

// values are those of the quantities at each look, and at is the moment of each. The error is
// that of a run which failed, or says that it diverged. What has finished early is as at its end.
func (c *cell) values(run *race.Trial, score []race.Curve, at []int) (values [][]float64, err error) {
	if run.Err != nil {
		return nil, run.Err
	}
	values = make([][]float64, len(score))
	for k := range at {
		l := &run.Observations[min(k, len(run.Observations)-1)]
		if at[k] = l.Iteration; c.set.Queries != nil {
			at[k] = l.Queries
		}
		for q, curve := range score {
			v := curve(l)
			if v == v && !countable(v) {
				return nil, fmt.Errorf("race: stream %d diverged: a quantity is %v after %d steps", run.Stream, v, l.Iteration)
			}
			values[q] = append(values[q], v)
		}
	}
	return values, nil
}

func mergeSummaries(a, b Summary) Summary { a.merge(b); return a }

type trialRows struct{ Race string }

// ProcessElement makes the rows of a cell.
func (f *trialRows) ProcessElement(of int, s Summary) (Block, error) {
	p, err := open(f.Race)
	if err != nil {
		return Block{}, err
	}
	return block(of, s.rows(p.cells[of].like, p.Quantities))
}

func block(order int, rows race.Record) (Block, error) {
	var text bytes.Buffer
	err := rows.Write(&text)
	return Block{order, text.Bytes()}, err
}

type writeRecord struct{ Path, Part string }

// ProcessElement writes the record, whole or not at all: to another name first, where files
// can be renamed, and stores of objects show none before it is complete.
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
	if _, err := race.Read(bytes.NewReader(text)); err != nil { // what can't be read is not written
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
