package bregman

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
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
	for i, k := range all[:3] {
		if name := c.written(k.f, k.x, all[3+i].x); name != "" && !told[k.method] {
			f.must(false, "%s writes to %s", k.method, name)
			told[k.method] = true
			c.find(Finding{Kind: Unsafe, Method: k.method, Words: fmt.Sprintf("%s writes to %s, which all calls share: it can't be called from several goroutines", k.method, name), Measured: math.NaN()})
		}
	}
	if len(told) > 0 {
		return
	}
	for i := range all { // backwards, and from the middle on, so that others went before
		for _, k := range []call{all[len(all)-1-i], all[(i+len(all)/2)%len(all)]} {
			dst := c.new()
			k.f(dst, slices.Clone(k.x))
			tell(k, dst, "depends on what was called before: it keeps something between calls")
		}
	}
}

// written returns the name of a field of m, or of what it leads to, that a method changes; "" if there is
// none. Fields of package sync, and what a mutex stands beside, don't count.
func (c *checker) written(f func(dst, x []float64), x, y []float64) string {
	var before, after [2]map[string]uint64
	for i, p := range [][]float64{x, y} {
		before[i] = fields(c.m)
		f(c.new(), slices.Clone(p))
		after[i] = fields(c.m)
	}
	for name, v := range after[1] {
		if v != before[1][name] {
			return name
		}
	}
	return ""
}

const aFunction = "a function"

// fields returns a hash of all numbers in each field that can be reached from m.
func fields(m any) map[string]uint64 {
	all, seen := map[string]uint64{}, map[uintptr]bool{}
	var walk func(v reflect.Value, name string)
	walk = func(v reflect.Value, name string) {
		add := func(bits uint64) { all[name] = (all[name] ^ bits) * 1099511628211 } // Fowler, Noll and Vo
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Pointer()] {
				return
			}
			if v.Kind() == reflect.Pointer {
				seen[v.Pointer()] = true
			}
			walk(v.Elem(), name)
		case reflect.Struct:
			for i := range v.NumField() {
				if strings.HasPrefix(v.Type().Field(i).Type.String(), "sync.") {
					return
				}
			}
			for i := range v.NumField() {
				walk(v.Field(i), v.Type().Field(i).Name)
			}
		case reflect.Slice, reflect.Array:
			for i := range min(v.Len(), 4096) {
				walk(v.Index(i), name)
			}
		case reflect.Map:
			add(uint64(v.Len()))
		case reflect.Func: // whose variables can't be seen
			all[aFunction] = 1
		case reflect.Float32, reflect.Float64:
			add(math.Float64bits(v.Float()))
		case reflect.Int, reflect.Int64, reflect.Int32:
			add(uint64(v.Int()))
		case reflect.Bool:
			if v.Bool() {
				add(1)
			}
		}
	}
	walk(reflect.ValueOf(m), "itself")
	return all
}

// Calls are made in batches. overlaps is the number of batches during which another goroutine must have ended
// one before the methods count as called at once, and sharePatience how long that may take on a busy
// machine; meanwhile goroutines are interrupted in the middle of calls. It is longer for functions, as the
// variables that they share can't be found by looking.
const (
	overlaps             = 1000
	sharePatience        = 30 * time.Millisecond
	sharePatienceOfFuncs = 300 * time.Millisecond
)

// concurrent makes calls in four goroutines, each with points of its own, and compares what they give
// with what they gave alone.
func (c *checker) concurrent(f *Examination) {
	f.must(true, "")
	for _, failed := range c.failed {
		if failed {
			f.Limit, f.Note = 0, "not examined, as something fails alone"
			return
		}
	}
	var (
		group     sync.WaitGroup
		lock      sync.Mutex
		ended, at atomic.Int64 // batches, and those during which another ended
		stop      atomic.Bool
	)
	until := time.Now().Add(sharePatience)
	if fields(c.m)[aFunction] > 0 {
		until = time.Now().Add(sharePatienceOfFuncs)
	}
	// batch reports whether a call gives what it gave alone, 64 times.
	batch := func(k call, dst []float64) bool {
		for range 64 {
			if k.f(dst, k.x); !same(dst, k.want) {
				return false
			}
		}
		return true
	}
	for range 4 {
		all := c.calls(4)
		group.Go(func() {
			defer stop.Store(true)
			c.guard(&lock, func() {
				for n := 0; !stop.Load(); n++ {
					k, dst, before := all[n%len(all)], c.new(), ended.Load()
					if !batch(k, dst) {
						lock.Lock()
						defer lock.Unlock()
						if f.must(false, "%s of %s is %s alone and %s among others", k.method, vector(k.x), vector(k.want), vector(dst)); !c.unsafe() {
							c.find(c.other(k, dst, "gives other numbers when it is called from several goroutines: calls share a slice or a variable"))
						}
						return
					}
					if ended.Add(1) != before+1 {
						at.Add(1)
					}
					if at.Load() > overlaps || time.Now().After(until) {
						return
					}
				}
			})
		})
	}
	group.Wait()
}

// guard is protect for goroutines.
func (c *checker) guard(lock *sync.Mutex, f func()) {
	defer func() {
		if p := recover(); p != nil {
			lock.Lock()
			defer lock.Unlock()
			c.panics = true
			c.findPanic(p, stack())
		}
	}()
	f()
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
