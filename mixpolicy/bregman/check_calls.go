package bregman

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A call is one of a method, with what it stores.
type call struct {
	method string
	f      func(dst, x []float64)
	x      []float64
	want   []float64
}

// calls returns calls of φ, ∇φ and ∇φ*.
func (c *checker) calls(points int) (all []call) {
	value := func(dst, x []float64) { dst[0] = c.m.Value(x) }
	for range points {
		x := c.anywhere()
		for _, m := range []struct {
			name string
			f    func(dst, x []float64)
			x    []float64
		}{{c.named.value, value, x}, {c.named.gradient, c.m.Gradient, x}, {c.named.conjugateGradient, c.m.ConjugateGradient, c.gradient(x)}} {
			dst := c.new()
			m.f(dst, slices.Clone(m.x))
			all = append(all, call{m.name, m.f, m.x, dst})
		}
	}
	return all
}

// same reports whether the numbers are the same, NaN with NaN.
func same(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return a == b || a != a && b != b })
}

// repeats calls the methods again: with the result in other memory or in the place of the argument,
// and after other calls. It tells one finding for each method.
func (c *checker) repeats(f *Examination) {
	all, told := c.calls(20), map[string]bool{}
	tell := func(k call, got []float64, words string) {
		if f.must(same(got, k.want), "%s of %s is %s and %s", k.method, vector(k.x), vector(k.want), vector(got)) && !told[k.method] {
			told[k.method] = true
			c.find(c.other(k, got, words))
		}
	}
	for _, k := range all {
		x, fresh, again, inPlace := slices.Clone(k.x), c.new(), c.new(), slices.Clone(k.x)
		k.f(fresh, x)
		if f.must(same(x, k.x), "%s changes its argument %s to %s", k.method, vector(k.x), vector(x)) && !told[k.method] {
			told[k.method] = true
			c.find(Finding{Kind: Unsafe, Method: k.method, Words: k.method + " changes its argument", Where: "x = " + vector(k.x).String(), Measured: math.NaN()})
		}
		tell(k, fresh, "gives another result for the same point: it is random, or remembers")
		if k.method == c.named.value {
			continue
		}
		for i := range again {
			again[i] = 7 // which is to be overwritten
		}
		k.f(again, slices.Clone(k.x))
		tell(k, again, "does not store every entry of its result")
		k.f(inPlace, inPlace)
		tell(k, inPlace, "is wrong when the result takes the place of the argument: it reads an entry that it has written")
	}
	for i := range all { // backwards, and from the middle on, so that others went before
		for _, k := range []call{all[len(all)-1-i], all[(i+len(all)/2)%len(all)]} {
			dst := c.new()
			k.f(dst, slices.Clone(k.x))
			tell(k, dst, "depends on what was called before: it keeps something between calls")
		}
	}
}

// overlaps is how often a call must have seen another end while it ran, before the methods count as
// called from several goroutines at once, and sharePatience how long that may take.
const (
	overlaps      = 2000
	sharePatience = 50 * time.Millisecond
)

// concurrent makes calls in four goroutines, each with points of its own, and compares what they give
// with what they gave alone.
func (c *checker) concurrent(f *Examination) {
	f.must(true, "")
	if c.failed[areNumbers] || c.unsafe() {
		f.Limit, f.Note = 0, "not examined, as it fails alone"
		return
	}
	var (
		group sync.WaitGroup
		lock  sync.Mutex
		done  atomic.Int64 // calls
		met   atomic.Int64 // calls during which another ended
		stop  atomic.Bool
	)
	until := time.Now().Add(sharePatience)
	for range 4 {
		all := c.calls(4)
		group.Go(func() {
			// A panic of a method must not end the program.
			defer func() {
				if p := recover(); p != nil {
					lock.Lock()
					defer lock.Unlock()
					c.panics = true
					c.findPanic(p, stack())
				}
			}()
			dst := c.new()
			for n := 0; !stop.Load(); n++ {
				k := all[n%len(all)]
				clear(dst)
				before := done.Load()
				k.f(dst, k.x)
				if done.Add(1) != before+1 {
					met.Add(1)
				}
				if !same(dst, k.want) {
					stop.Store(true)
					lock.Lock()
					defer lock.Unlock()
					f.must(false, "%s of %s is %s alone and %s among others", k.method, vector(k.x), vector(k.want), vector(dst))
					if !c.unsafe() {
						c.find(c.other(k, dst, "gives other numbers when it is called from several goroutines: calls share a slice or a variable"))
					}
					return
				}
				if n%64 == 0 && (met.Load() > overlaps || time.Now().After(until)) {
					stop.Store(true)
				}
				if n%1024 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	group.Wait()
}

// unsafe reports whether a finding says that already.
func (c *checker) unsafe() bool {
	return slices.ContainsFunc(c.report.Findings, func(f Finding) bool { return f.Kind == Unsafe })
}

// other is the finding that a call gave something else than it should.
func (c *checker) other(k call, got []float64, words string) Finding {
	i := 0
	for same(got[i:i+1], k.want[i:i+1]) {
		i++
	}
	return Finding{
		Kind: Unsafe, Method: k.method, Words: k.method + " " + words, Where: "x = " + vector(k.x).String(),
		Measured: k.want[i], Claimed: got[i],
	}
}
