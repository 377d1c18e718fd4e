package beam

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
	"github.com/mixpolicy/lab/mixpolicy/race"
	"github.com/mixpolicy/lab/mixpolicy/study"
)

// Race is what a race file says: each method runs in each setting of its grid on each problem, on
// the streams 0, …, Trials−1 of a seed, as [race.Trials] runs them. Nothing is tuned: every
// setting has its rows.
type Race struct {
	Problems []Entry
	Methods  []Entry

	Trials     int
	Seed       uint64
	Iterations int   // T, with looks at about 20 iterations in each factor of ten; or
	Queries    []int `json:",omitzero"` // the numbers of revealed costs at which to look; nil isn't []

	// Quantities are what is recorded: "penalised gap", which is the only one without this
	// list, "true cost of the policy", "cost", "violation" and "mass".
	Quantities []string

	// Simulate is a number of steps: so long a walk counts the visits of each base policy of
	// each problem. 0 simulates nothing.
	Simulate int64
}

// Entry is a registered problem or method.
type Entry struct {
	Name     string
	Label    string                      `json:",omitzero"` // in the record; "" is the name
	Settings jsontext.Value              `json:",omitzero"` // of the type that was registered
	Grid     map[string][]jsontext.Value `json:",omitzero"` // values of settings, of which each combination takes part; for methods
}

// curves are the quantities that are judged by θ̂ alone, or are part of a look.
func curves(p *mixpolicy.Problem, name string) (race.Curve, error) {
	if name == study.PenalisedGap {
		return race.PenalisedGap(p)
	}
	return find("no quantity", quantities, name)
}

var quantities = map[string]race.Curve{
	study.PenalisedGap: nil, study.PolicyCost: race.PolicyCost, "cost": race.Cost, "violation": race.Violation, "mass": race.Mass,
}

// ParseRace reads a race file. The error names the entry that is wrong.
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

// plan is a race whose names are found, and whose problems are built when they are needed.
type plan struct {
	Race
	problems []*instance
	cells    []*cell
}

// instance is a problem of the race.
type instance struct {
	label string
	build func() (*mixpolicy.Problem, error) // once
	score func() ([]race.Curve, error)       // of the quantities
}

// cell is a method in one setting on one problem: what trials are of.
type cell struct {
	*instance
	like   race.Row // what its rows have in common
	place  string   // in the race file, for errors
	method mixpolicy.Method
	set    race.Settings
	looks  int   // at most
	probed probe // what the first steps came to where the race was submitted
	check  func() error
}

// plans are those that this process has seen, so that nothing is built twice.
var plans sync.Map // from the text of a race to func() (*plan, error)

// open returns the plan of a race as the pipeline carries it.
func open(text string) (*plan, error) {
	p, _ := plans.LoadOrStore(text, sync.OnceValues(func() (*plan, error) {
		var s submitted
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, fmt.Errorf("beam: race of another version of this program: %w", err)
		}
		p, err := newPlan(s.Race)
		if err == nil && len(s.Probes) != len(p.cells) {
			err = fmt.Errorf("beam: %d methods on problems were checked where the race was submitted, and %d are known here: "+
				"want workers of the same build", len(s.Probes), len(p.cells))
		}
		if err != nil {
			return nil, err
		}
		for k, c := range p.cells {
			c.probed = s.Probes[k]
		}
		return p, nil
	}))
	return p.(func() (*plan, error))()
}

// submitted is a race with what its methods did where it was submitted.
type submitted struct {
	Race
	Probes []probe
}

// newPlan looks up the names, and refuses what can't be run.
func newPlan(r Race) (*plan, error) {
	p := &plan{Race: r}
	if len(r.Problems) == 0 || len(r.Methods) == 0 && r.Simulate == 0 {
		return nil, errors.New("beam: race file: no problems, or neither methods nor a simulation, want at least one")
	}
	if r.Simulate < 0 || r.Simulate > 0 && r.Simulate < 2*fewestSteps {
		return nil, fmt.Errorf("beam: race file: Simulate: %d steps, want at least %d, or 0 for none", r.Simulate, 2*fewestSteps)
	}
	valued := race.Unvalued
	for k, name := range r.Quantities {
		if _, err := find("no quantity", quantities, name); err != nil {
			return nil, fmt.Errorf("beam: race file: Quantities[%d]: %w", k, err)
		}
		if name == study.PolicyCost {
			valued = race.ValuedAll
		}
	}
	set := race.Settings{Trials: r.Trials, Seed: r.Seed, Iterations: r.Iterations, Queries: r.Queries, Valued: valued}
	kind, looks := "iterations", 1
	if r.Queries != nil {
		kind, looks = study.ByQueries, len(r.Queries)
	} else {
		for t := 0; t < r.Iterations; t = mixpolicy.LogSpaced(20)(t) {
			looks++
		}
	}
	for k, e := range r.Problems {
		i, err := newInstance(e, r.Quantities)
		if err == nil && e.Grid != nil {
			err = errors.New("a grid, want one for methods only")
		}
		if err == nil && slices.ContainsFunc(p.problems, func(j *instance) bool { return j.label == i.label }) {
			err = fmt.Errorf("label %q for a second time, want another Label", i.label)
		}
		if err != nil {
			return nil, fault.At("beam", fmt.Sprintf("race file: Problems[%d] (%s)", k, e.Name), err)
		}
		p.problems = append(p.problems, i)
	}
	type entry struct {
		label, place string
		settings     []configuration
	}
	var entries []entry
	for k, e := range r.Methods {
		m := entry{label: orName(e), place: fmt.Sprintf("race file: Methods[%d] (%s)", k, e.Name)}
		var err error
		m.settings, err = e.configurations()
		if err == nil && slices.ContainsFunc(entries, func(n entry) bool { return n.label == m.label }) {
			err = fmt.Errorf("label %q for a second time, want another Label", m.label)
		}
		if err != nil {
			return nil, fault.At("beam", m.place, err)
		}
		entries = append(entries, m)
	}
	if few := set; len(entries) > 0 {
		few.Trials = min(1, set.Trials)
		if _, err := race.Trials(canceled, somewhere(), mixpolicy.PlugIn{}, few); !errors.Is(err, context.Canceled) {
			return nil, fault.At("beam", "race file", err)
		}
	}
	for _, i := range p.problems {
		for _, m := range entries {
			for n, v := range m.settings {
				place := fmt.Sprintf("%s, setting %d on %s", m.place, n, i.label)
				c := &cell{instance: i, method: v.method, set: set, looks: looks, place: place}
				c.like = race.Row{
					Problem: i.label, Race: kind, Method: m.label, Configuration: n, Configurations: len(m.settings),
					Seed: r.Seed, Settings: v.settings,
				}
				c.check = sync.OnceValue(c.isAsSubmitted)
				p.cells = append(p.cells, c)
			}
		}
	}
	return p, nil
}

// canceled and somewhere are for [race.Trials] to check settings by, and do nothing.
var (
	canceled  = func() context.Context { ctx, stop := context.WithCancel(context.Background()); stop(); return ctx }()
	somewhere = sync.OnceValue(func() *mixpolicy.Problem { return mixpolicy.Must(study.Family{Dim: 1}.Instance(0, false)) })
)

func orName(e Entry) string {
	if e.Label != "" {
		return e.Label
	}
	return e.Name
}

func newInstance(e Entry, names []string) (*instance, error) {
	build, err := find("no problem", problems, e.Name)
	if err != nil {
		return nil, err
	}
	i := &instance{label: orName(e)}
	i.build = sync.OnceValues(func() (*mixpolicy.Problem, error) { return build(e.Settings) })
	i.score = sync.OnceValues(func() (all []race.Curve, err error) {
		p, err := i.build()
		for k := 0; k < len(names) && err == nil; k++ {
			var c race.Curve
			c, err = curves(p, names[k])
			all = append(all, c)
		}
		return all, err
	})
	return i, nil
}

// configuration is a method in one setting of the grid.
type configuration struct {
	method   mixpolicy.Method
	settings string
}

// configurations are all combinations of the grid, the first name in the order of the alphabet
// changing last.
func (e Entry) configurations() (all []configuration, err error) {
	zero, err := find("no method", methods, e.Name)
	if err != nil {
		return nil, err
	}
	fixed := map[string]jsontext.Value{}
	if len(e.Settings) > 0 {
		if err := json.Unmarshal(e.Settings, &fixed); err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
	}
	combinations := []map[string]jsontext.Value{fixed}
	for _, name := range slices.Sorted(maps.Keys(e.Grid)) {
		var more []map[string]jsontext.Value
		for _, c := range combinations {
			for _, v := range e.Grid[name] {
				c = maps.Clone(c)
				c[name] = v
				more = append(more, c)
			}
		}
		if combinations = more; len(more) == 0 {
			return nil, fmt.Errorf("grid: %s has no value, want at least one", name)
		}
	}
	for _, c := range combinations {
		text, err := json.Marshal(c, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		m, err := newMethod(zero, text)
		if err != nil {
			return nil, err
		}
		if string(text) == "{}" {
			text = nil
		}
		all = append(all, configuration{m, string(text)})
	}
	return all, nil
}

func newMethod(zero mixpolicy.Method, settings jsontext.Value) (mixpolicy.Method, error) {
	m := reflect.New(reflect.TypeOf(zero))
	m.Elem().Set(reflect.ValueOf(zero))
	if err := decode(settings, m.Interface()); err != nil {
		return nil, err
	}
	return m.Elem().Interface().(mixpolicy.Method), nil
}

// probe is what the first steps of a method came to, to the bit. Workers compare theirs: another
// version of the code may compute other numbers, and so may another kind of processor.
type probe struct {
	Steps  int
	Digest uint64
	Batch  int // runs that take seconds
}

const (
	probeSteps = 64
	probeTime  = 50 * time.Millisecond
	timedRun   = 250 * time.Millisecond // a run that takes longer is a bundle of its own
	bundleTime = 2 * time.Second
)

// first does the first steps, at most so many, until the context ends. The error is for settings
// that the method refuses; a step that fails is none.
func (c *cell) first(ctx context.Context, steps int) (probe, error) {
	p, err := c.build()
	if err != nil {
		return probe{}, err
	}
	o, err := mixpolicy.NewOracle(p, c.set.Seed, 0)
	if err != nil {
		return probe{}, err
	}
	run, err := c.method.Start(p, o)
	if err != nil {
		return probe{}, err
	}
	h := fnv.New64a()
	done := 0
	for done < steps && ctx.Err() == nil {
		if err := run.Step(); err != nil {
			fmt.Fprint(h, err)
			break
		}
		done++
	}
	var s mixpolicy.Snapshot
	if err := mixpolicy.View(context.WithoutCancel(ctx), run, &s); err != nil {
		fmt.Fprint(h, err)
	}
	binary.Write(h, binary.LittleEndian, slices.Concat(s.Last, s.Average, []float64{float64(o.Queries())}))
	return probe{Steps: done, Digest: h.Sum64()}, nil
}

// submit does the first steps, and times a run. The error is for what can't be built or started.
func (c *cell) submit(ctx context.Context) (probe, error) {
	short, stop := context.WithTimeout(ctx, probeTime)
	defer stop()
	known, err := c.first(short, probeSteps)
	if err != nil {
		return known, fault.At("beam", c.place, err)
	}
	if _, err := c.score(); err != nil {
		return known, fault.At("beam", c.place, err)
	}
	known.Batch = 1
	one := c.set
	one.Trials, one.Workers = 1, 1
	short, stop = context.WithTimeout(ctx, timedRun)
	defer stop()
	began := time.Now()
	if race.Trials(short, mixpolicy.Must(c.build()), c.method, one); short.Err() == nil {
		known.Batch = max(1, int(bundleTime/max(time.Since(began), time.Microsecond)))
	}
	return known, ctx.Err()
}

// isAsSubmitted compares the first steps with those where the race was submitted.
func (c *cell) isAsSubmitted() error {
	got, err := c.first(context.Background(), c.probed.Steps)
	if err != nil {
		return fault.At("beam", c.place, err)
	}
	if got.Steps != c.probed.Steps || got.Digest != c.probed.Digest {
		return fmt.Errorf("beam: %s: this worker (%s/%s, %s) computes other numbers than the program that submitted the race: "+
			"want workers of the same build", c.place, runtime.GOOS, runtime.GOARCH, runtime.Version())
	}
	return nil
}
