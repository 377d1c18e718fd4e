package beam

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/study"
)

// Race is the content of a race file. Each method runs on each problem, in each setting of its grid, with the random
// numbers of the streams 0, …, Trials−1 of Seed, as in [race.Trials]. No setting is selected: every setting has its own
// rows in the record.
type Race struct {
	Problems []Entry
	Methods  []Entry

	Trials int
	Seed   uint64
	// Iterations is T, the number of iterations of a run. If there are methods, either Iterations or Queries must be
	// set, but not both. With Iterations, the quantities are recorded about 20 times for each tenfold increase of the
	// number of iterations.
	Iterations int
	// Queries lists, in increasing order, numbers of revealed costs. A run records the quantities when the number of
	// costs revealed to the run reaches each of these numbers. An empty list is an error, but nil is not.
	Queries []int `json:",omitzero"`

	// Quantities lists the quantities to record. The possible quantities are "penalised gap", "true cost of the
	// policy", "cost", "violation" and "mass". If a race file has no Quantities, [ParseRace] chooses the penalised gap
	// alone.
	Quantities []string

	// Simulate is the number of steps that all walks under one base policy take together; every base policy of every
	// problem has its own walks. The record gives the mean cost of the walks, and the share of their steps in each
	// state. If Simulate is 0, there are no walks.
	Simulate int64
}

// Entry names a registered problem or method, and gives its settings.
type Entry struct {
	Name     string
	Label    string                      `json:",omitzero"` // the name in the record; "" means Name
	Settings jsontext.Value              `json:",omitzero"` // settings in JSON, for the type that was registered under Name
	Grid     map[string][]jsontext.Value `json:",omitzero"` // for methods: the values of each setting that varies; all combinations run
}

// quantities maps the names of quantities to curves. The curve of the penalised gap is nil here, because it depends on
// the problem.
var quantities = map[string]race.Curve{
	study.PenalisedGap: nil, study.PolicyCost: race.PolicyCost, "cost": race.Cost, "violation": race.Violation, "mass": race.Mass,
}

// ParseRace reads a race file. It checks the names, the labels, the grids, the settings of methods, Quantities and
// Simulate; [Submit] checks the rest. An error in the name, the label or the grid of an entry, or in the settings of a
// method, names the entry.
func ParseRace(text []byte) (r Race, err error) {
	if err := decode(text, &r); err != nil {
		return r, fmt.Errorf("beam: race file: %w", err)
	}
	if r.Quantities == nil {
		r.Quantities = []string{study.PenalisedGap}
	}
	_, err = newPlan(r)
	return r, err
}

// plan is a race whose names have been looked up, and whose problems are built when they are needed.
type plan struct {
	Race
	problems []*instance
	cells    []*cell
}

// instance is a problem of the race, built when it is first needed.
type instance struct {
	label      string
	quantities []string
	build      func() (*judged, error)
}

// judged is a problem with the curve of each quantity.
type judged struct {
	*mixpolicy.Problem
	curves []race.Curve
}

// unit returns the subject of the tasks whose Of is the given number: a method in one setting on one problem or, for
// numbers from len(p.cells) on, a base policy.
func (p *plan) unit(of int) interface {
	do(ctx context.Context, from, to int) (Part, error)
	rows(Part) race.Record
} {
	if of < len(p.cells) {
		return p.cells[of]
	}
	of -= len(p.cells)
	return walked{p, of / mostPolicies, of % mostPolicies}
}

const mostPolicies = 1 << 20

// cell is a method in one setting on one problem: the subject of trials.
type cell struct {
	*instance
	like   race.Row // the fields that the rows of the cell share
	place  string   // the place in the race file, for errors
	method mixpolicy.Method
	set    race.Settings
	looks  int // greatest number of recordings of a run
}

// plans are the plans that this process has opened, so that it builds nothing twice.
var plans sync.Map // from the text of a race to func() (*plan, error)

// open returns the plan of the race in a text such as [Job.Race]. It refuses a race that another build
// submitted, because other code, other versions of Go and other processors may compute other numbers.
func open(text string) (*plan, error) {
	p, _ := plans.LoadOrStore(text, sync.OnceValues(func() (*plan, error) {
		var s submitted
		if err := json.Unmarshal([]byte(text), &s); err != nil || s.Build != build() {
			return nil, fmt.Errorf("beam: this worker is built from other code (%s) than the program that submitted the race (%s): "+
				"want workers of the same build", build(), s.Build)
		}
		return newPlan(s.Race)
	}))
	return p.(func() (*plan, error))()
}

// submitted is a race, and the build of the program that submitted the race. The bits of the record depend on the race
// and the build.
type submitted struct {
	Race
	Build string
}

// build names the versions of Go and of the code, and the kind of processor.
var build = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo() // programs built with modules have this information
	h := fnv.New32a()
	for _, m := range append(info.Deps, &info.Main) {
		fmt.Fprintln(h, m.Path, m.Version, m.Sum)
	}
	name := fmt.Sprintf("%s, modules %08x", info.GoVersion, h.Sum32())
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "GOA") || s.Key == "vcs.revision" { // GOARCH, GOAMD64, …
			name += ", " + s.Value
		}
	}
	return name
})

// newPlan looks up the names, and makes the checks that [ParseRace] describes.
func newPlan(r Race) (*plan, error) {
	p := &plan{Race: r}
	if len(r.Problems) == 0 || len(r.Methods) == 0 && r.Simulate == 0 {
		return nil, errors.New("beam: race file: no problems, or no work for them; want a problem, and a method or Simulate > 0")
	}
	if r.Simulate != 0 && (r.Simulate < 2*fewestSteps || r.Simulate > mostSimulated) {
		return nil, fmt.Errorf("beam: race file: Simulate: %d steps, want 0 or %d to %d", r.Simulate, 2*fewestSteps, mostSimulated)
	}
	for k, name := range r.Quantities {
		if _, err := find("no quantity", quantities, name); err != nil {
			return nil, fmt.Errorf("beam: race file: Quantities[%d]: %w", k, err)
		}
	}
	for k, e := range r.Problems {
		i, err := newInstance(e, r.Quantities)
		if err != nil {
			return nil, fault.At("beam", fmt.Sprintf("race file: Problems[%d] (%s)", k, e.Name), err)
		}
		p.problems = append(p.problems, i)
	}
	set := race.Settings{Trials: r.Trials, Seed: r.Seed, Iterations: r.Iterations, Queries: r.Queries, Valued: race.Unvalued}
	if slices.Contains(r.Quantities, study.PolicyCost) {
		set.Valued = race.ValuedAll
	}
	kind, looks := study.ByQueries, len(r.Queries)
	if r.Queries == nil {
		kind, looks = "iterations", 1
		for t := 0; t < r.Iterations; t = mixpolicy.LogSpaced(20)(t) {
			looks++
		}
	}
	var grids [][]configuration
	for k, e := range r.Methods {
		all, err := e.configurations()
		if err != nil {
			return nil, fault.At("beam", fmt.Sprintf("race file: Methods[%d] (%s)", k, e.Name), err)
		}
		grids = append(grids, all)
	}
	for _, i := range p.problems {
		for k, e := range r.Methods {
			for n, v := range grids[k] {
				place := fmt.Sprintf("race file: Methods[%d] (%s), setting %d on %s", k, e.Name, n, i.label)
				p.cells = append(p.cells, &cell{instance: i, method: v.method, set: set, looks: looks, place: place, like: race.Row{
					Problem: i.label, Race: kind, Method: e.label(), Configuration: n, Configurations: len(grids[k]),
					Seed: r.Seed, Settings: v.settings,
				}})
			}
		}
	}
	for k, entries := range [][]Entry{r.Problems, r.Methods} {
		for n, e := range entries {
			if slices.ContainsFunc(entries[:n], func(f Entry) bool { return f.label() == e.label() }) {
				list := []string{"Problems", "Methods"}[k]
				return nil, fmt.Errorf("beam: race file: %s[%d] (%s): the label %q is used twice, want it once", list, n, e.Name, e.label())
			}
		}
	}
	return p, nil
}

func (e Entry) label() string { return cmp.Or(e.Label, e.Name) }

func newInstance(e Entry, names []string) (*instance, error) {
	build, err := find("no problem", problems, e.Name)
	if err == nil && e.Grid != nil {
		err = errors.New("it has a grid, but only methods may have one")
	}
	return &instance{e.label(), names, sync.OnceValues(func() (*judged, error) {
		p, err := build(e.Settings)
		j := &judged{Problem: p}
		for k := 0; k < len(names) && err == nil; k++ {
			c := quantities[names[k]]
			if names[k] == study.PenalisedGap {
				c, err = race.PenalisedGap(p)
			}
			j.curves = append(j.curves, c)
		}
		return j, err
	})}, err
}

// configuration is a method in one setting of the grid.
type configuration struct {
	method   mixpolicy.Method
	settings string
}

// mostSettings bounds a grid, because every setting is tried on every problem before the race starts.
const mostSettings = 10_000

// configurations returns the method for each combination of the values in the grid. The setting whose name is first in
// alphabetical order changes most slowly.
func (e Entry) configurations() (all []configuration, err error) {
	zero, err := find("no method", methods, e.Name)
	if err != nil {
		return nil, err
	}
	fixed := map[string]jsontext.Value{}
	if err := decode(e.Settings, &fixed); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	combinations := []map[string]jsontext.Value{fixed}
	for _, name := range slices.Sorted(maps.Keys(e.Grid)) {
		n := len(combinations) * len(e.Grid[name])
		if n == 0 || n > mostSettings {
			return nil, fmt.Errorf("grid: with %s it has %d settings, want 1 to %d", name, n, mostSettings)
		}
		var more []map[string]jsontext.Value
		for _, c := range combinations {
			for _, v := range e.Grid[name] {
				c = maps.Clone(c)
				c[name] = v
				more = append(more, c)
			}
		}
		combinations = more
	}
	for _, c := range combinations {
		text, err := json.Marshal(c, json.Deterministic(true))
		m := reflect.New(reflect.TypeOf(zero))
		m.Elem().Set(reflect.ValueOf(zero))
		if err == nil {
			err = decode(text, m.Interface())
		}
		if err != nil {
			return nil, err
		}
		if string(text) == "{}" {
			text = nil
		}
		all = append(all, configuration{m.Elem().Interface().(mixpolicy.Method), string(text)})
	}
	return all, nil
}

const (
	timedRun = 250 * time.Millisecond // each run that takes longer is a separate task
	taskTime = 2 * time.Second
)

// try starts the method, times a run, and returns how many runs make a task. It returns an error if the problem cannot
// be built, if the method cannot be started, if the settings of the race are wrong, or if ctx has ended.
func (c *cell) try(ctx context.Context) (runs int, err error) {
	p, err := c.build()
	if err != nil {
		return 0, err
	}
	if _, err := mixpolicy.Start(c.method, p.Problem, mixpolicy.Must(mixpolicy.NewOracle(p.Problem, c.set.Seed, 0))); err != nil {
		return 0, err
	}
	one := c.set
	one.Trials, one.Workers = min(1, c.set.Trials), 1
	short, stop := context.WithTimeout(ctx, timedRun)
	defer stop()
	began := time.Now()
	if ran, err := race.Trials(short, p.Problem, c.method, one); ran == nil { // a failed run is not an error here; the record counts it
		return 0, err
	}
	if short.Err() != nil {
		return 1, ctx.Err()
	}
	return max(1, int(taskTime/max(time.Since(began), time.Microsecond))), nil
}
