package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mixpolicy/lab/data"
)

// A race compares one of our methods with methods of peers, on one instance.
type race struct {
	instance string // the instance in words
	problem  instance
	method   string // our method; empty if instance names our method
	// ours repeats our work as often as calls says, and returns the answer.
	ours  func(ctx context.Context, calls int) ([]float64, error)
	calls int      // the number of calls that are timed together; 0 means 1; more for work that takes microseconds
	peers []string // the methods of the peers, by their names in peers.py
	// agree returns an error that describes how a peer's answer differs from ours.
	agree func(ours, theirs []float64) error
}

const (
	// repetitions is the greatest number of turns, for us and for the best peer: enough to see the median and the spread.
	repetitions = 5
	// budget is the time, counted from the second turns, after which no further turn begins.
	budget = 45 * time.Second
	// The limit of a peer's first turn is patience times our time, but at least leastPatience; later limits are twice as long.
	patience      = 12
	leastPatience = 10 * time.Second
)

// timing is the time of a call in seconds: wall-clock time, and the time of all cores together.
type timing struct{ wall, cpu float64 }

// run measures a race. First, each method runs once. Then we take turns with the fastest of the peers that returned our
// answer.
func (b *bench) run(ctx context.Context, work string, r race) ([]data.Comparison, error) {
	folder, err := os.MkdirTemp(b.temp, work)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := r.problem.write(folder); err != nil {
		return nil, err
	}
	var bytes, perSecond float64
	if size := r.problem.size(); size >= cached {
		b.say("%s: memory", r.instance)
		bytes, perSecond = float64(size), bandwidth()
	}
	r.problem = instance{} // peers need the memory

	b.say("%s: ours", r.instance)
	answer, first, err := timed(ctx, r)
	if err != nil {
		return nil, err
	}
	limit := max(leastPatience, time.Duration(patience*first.wall*float64(time.Second)))

	mine := []timing{first}
	rivals := make([]*rival, len(r.peers))
	var best *rival
	for k, method := range r.peers {
		b.say("%s: %s", r.instance, method)
		v := &rival{method: method}
		rivals[k] = v
		if v.process, v.err = b.python.start(ctx, folder, work, method); v.err != nil {
			continue
		}
		defer v.process.end()
		v.turn(limit, answer, r.agree)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if v.err == nil && (best == nil || v.turns[0].wall < best.turns[0].wall) {
			best = v
		}
		for _, v := range rivals[:k+1] {
			if v != best && v.process != nil {
				v.process.end() // this process is not the fastest, and other processes need its memory
			}
		}
	}
	for begin := time.Now(); len(mine) < repetitions && time.Since(begin) < budget; {
		b.say("%s: in turns", r.instance)
		_, t, err := timed(ctx, r)
		if err != nil {
			return nil, err
		}
		mine = append(mine, t)
		if best == nil {
			continue
		}
		if best.turn(2*limit, answer, r.agree); best.err != nil {
			return nil, fmt.Errorf("%s failed in a later turn: %w", best.method, best.err)
		}
	}
	rows := b.compare(r, mine, rivals)
	for k := range rows {
		rows[k].Bytes, rows[k].Bandwidth = bytes, perSecond
	}
	return rows, nil
}

// timed takes our turn, and returns the answer and the time of a call.
func timed(ctx context.Context, r race) ([]float64, timing, error) {
	runtime.GC() // collecting the garbage of other work should not count in our time
	calls := max(1, r.calls)
	begin, cpu := time.Now(), cpuSeconds()
	answer, err := r.ours(ctx, calls)
	t := timing{time.Since(begin).Seconds() / float64(calls), (cpuSeconds() - cpu) / float64(calls)}
	return answer, t, err
}

// cpuSeconds returns the processor time of all threads of this process.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// A rival is a method of a peer in a race.
type rival struct {
	method  string
	process *process // nil if the process could not start
	turns   []timing
	limit   float64 // the seconds after which the method was stopped; 0 if it was not stopped
	err     error   // why the last turn failed, or why the process could not start
}

// turn makes a rival do the work once, and compares its answer with ours.
func (v *rival) turn(limit time.Duration, ours []float64, agree func(ours, theirs []float64) error) {
	reply, theirs, err := v.process.call(limit)
	if err == nil {
		if err = agree(ours, theirs); err != nil {
			err = fmt.Errorf("its answer differs from ours: %w", err)
		}
	}
	if v.err = err; err == nil {
		v.turns = append(v.turns, timing{reply.Seconds, reply.CPU})
	} else if err.Error() == data.Stopped(limit.Seconds()) {
		v.limit = limit.Seconds()
	}
}

// compare makes the rows of a race, one for each rival.
func (b *bench) compare(r race, mine []timing, rivals []*rival) []data.Comparison {
	row := data.Comparison{Instance: r.instance, Ours: r.method, Python: b.python.version}
	row.We, row.OurCPU = summary(mine)
	var rows []data.Comparison
	for _, v := range rivals {
		c := row
		c.Method = v.method
		c.Peer = "?"
		if v.process != nil {
			c.Peer, c.TheirThreads = v.process.Package, v.process.Threads
			name, _, _ := strings.Cut(c.Peer, " ")
			c.Method = strings.TrimPrefix(v.method, name+" ")
		}
		if v.err == nil {
			c.They, c.TheirCPU = summary(v.turns)
			c.Repetitions = len(v.turns)
		} else {
			c.Outcome = strings.Join(strings.Fields(v.err.Error()), " ")
			c.They = data.Measured{Median: v.limit, Least: v.limit, Greatest: v.limit}
			c.Repetitions = 1
		}
		rows = append(rows, c)
	}
	return rows
}

// summary returns the median, least and greatest wall-clock time, and the median processor time.
func summary(all []timing) (wall data.Measured, cpu float64) {
	var walls, cpus []float64
	for _, t := range all {
		walls, cpus = append(walls, t.wall), append(cpus, t.cpu)
	}
	return measured(walls), measured(cpus).Median
}

// measured returns the median of some numbers, with the least and the greatest.
func measured(x []float64) data.Measured {
	slices.Sort(x)
	n := len(x)
	return data.Measured{Median: (x[(n-1)/2] + x[n/2]) / 2, Least: x[0], Greatest: x[n-1]}
}
