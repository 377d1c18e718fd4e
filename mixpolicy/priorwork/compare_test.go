package priorwork

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// shortQueue is the queue of section 6 with 20 lengths and the simplex's neighbourhood.
func shortQueue(t testing.TB) (models.Queue, *mixpolicy.Problem) {
	t.Helper()
	q := models.Queue{Buffer: 20}
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(x, mixpolicy.Must(q.Policies(x))...))
	return q, mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
}

func ExampleCompareByQueries() {
	q := models.Queue{Buffer: 20}
	x := mixpolicy.Must(q.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(x, mixpolicy.Must(q.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(f, mixpolicy.Ball(2)))
	c := mixpolicy.Must(CompareByQueries(background, p, Learners(p, nil, 1000, 50), []int{100, 1000},
		ComparisonSettings{Trials: 20, TuningTrials: 4, Seed: 1}))
	for _, r := range c.Races {
		if r.Merit != nil {
			fmt.Printf("%-30s merit %.2f and %.2f, configurations: %d\n", r.Name, r.Merit[0].Mean, r.Merit[1].Mean, r.Tried)
		}
	}
	// Output:
	// Algorithm 1                    merit 10.59 and 4.91, configurations: 16
	// Algorithm 1, last iterate      merit 41.45 and 8.81, configurations: 16
	// Algorithm 1, rows scaled       merit 10.61 and 4.30, configurations: 16
	// Algorithm 1, variance reduced  merit 14.25 and 6.09, configurations: 16
	// penalty                        merit 13.14 and 3.10, configurations: 16
	// dual ALP                       merit 13.05 and 3.08, configurations: 16
	// plug-in                        merit 0.00 and 0.00, configurations: 1
}

// The same races whatever the number of workers, but for the time they take.
func TestCompareIsReproducible(t *testing.T) {
	q, p := shortQueue(t)
	compareWith := func(workers int) *Comparison {
		c, err := CompareByQueries(background, p, Learners(p, mixpolicy.Must(q.Monomials(2)), 300, 50)[3:], []int{200, 300},
			ComparisonSettings{Trials: 3, TuningTrials: 2, Seed: 5, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		for k := range c.Races {
			c.Races[k].Seconds = nil
			for _, run := range c.Races[k].Runs {
				for i := range run {
					run[i].Seconds = 0
				}
			}
		}
		return c
	}
	one := compareWith(1)
	if two := compareWith(3); !reflect.DeepEqual(one, two) {
		t.Errorf("one worker: %+v\nthree: %+v", one, two)
	}
	for _, r := range one.Races {
		for k, want := range []float64{200, 300} {
			if r.Queries[k].Mean != want {
				t.Errorf("%s: %v queries at a checkpoint of %v", r.Name, r.Queries[k], want)
			}
		}
		for k, m := range r.Merit {
			if m.Mean < 0 || r.PolicyCost[k].Mean <= 0 {
				t.Errorf("%s: merit %v, policy cost %v", r.Name, m, r.PolicyCost[k])
			}
		}
		if r.Name == "plug-in" && (r.Tried != 1 || r.Configuration != 0) {
			t.Errorf("plug-in was tuned: %+v", r)
		}
	}
}

// fixed answers with a given θ: what a configuration is worth is known. Silent, it asks nothing.
type fixed struct {
	theta  []float64
	silent bool
}

func (f fixed) Name() string { return "fixed" }

func (f fixed) Start(_ *mixpolicy.Problem, o *mixpolicy.Oracle) (mixpolicy.Run, error) {
	return fixedRun{f, o}, nil
}

type fixedRun struct {
	fixed
	o *mixpolicy.Oracle
}

func (r fixedRun) Step() error {
	if !r.silent {
		r.o.Sample()
	}
	return nil
}

func (r fixedRun) View(s *mixpolicy.Snapshot) error { s.Average = r.theta; return nil }

// Tuning takes the configuration of least merit, and a contestant's merit is that of its θ̂.
func TestCompareTakesTheBestConfiguration(t *testing.T) {
	_, p := shortQueue(t)
	best := mixpolicy.Must(p.Optimum()).Theta
	var configurations []mixpolicy.Method
	thetas := [][]float64{{.5, .5}, {1.9, -.9}, best, {0, 1}}
	for _, theta := range thetas {
		configurations = append(configurations, fixed{theta: theta})
	}
	race := func(tuning int) Race {
		c, err := CompareByQueries(background, p, []Contestant{{"fixed", "", configurations}}, []int{10}, ComparisonSettings{Trials: 2, TuningTrials: tuning})
		if err != nil {
			t.Fatal(err)
		}
		return c.Races[0]
	}
	for k, merit := range race(1).Tuning {
		if want := mixpolicy.Must(p.Merit(thetas[k])); math.Abs(merit-want) > 1e-12*(1+want) {
			t.Errorf("tuning saw a merit of %v in configuration %d, want %v", merit, k, want)
		}
	}
	if r := race(1); len(r.Tuning) != 4 || len(r.Runs) != 2 || r.Runs[1][0].Score() != r.Merit[0].Mean || r.Runs[1][0].PolicyCost != r.PolicyCost[0].Mean {
		t.Errorf("tuned: %+v", r)
	}
	if r := race(1); r.Configuration != 2 || r.Tried != 4 || math.Abs(r.Merit[0].Mean) > 1e-9*p.Objective(best) {
		t.Errorf("tuned: %+v", r)
	}
	if r := race(0); r.Configuration != 0 || r.Tried != 1 || r.Merit[0].Mean != mixpolicy.Must(p.Merit(thetas[0])) {
		t.Errorf("not tuned: %+v", r)
	}
}

// Those who know the costs reach the optimum in a few milliseconds; the checkpoints are
// times. The problem is small enough for any machine.
func TestCompareByTime(t *testing.T) {
	_, p := shortQueue(t)
	c, err := CompareByTime(background, p, Knowing(p, nil), []time.Duration{time.Millisecond, 20 * time.Millisecond}, ComparisonSettings{Trials: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Races[:2] {
		for k, least := range []float64{0.001, 0.02} {
			if r.Seconds[k].Mean < least || r.Queries[k].Mean != 0 {
				t.Errorf("%s: %v s and %v queries at a checkpoint of %v s", r.Name, r.Seconds[k], r.Queries[k], least)
			}
		}
	}
	lp, full := c.Races[2], c.Races[3]
	// The solver's gap, and the errors of a hundred pairs' sums.
	if scale := mixpolicy.Must(p.Optimum()).Objective; lp.Merit[0].Mean > 1e-10*scale || lp.Merit[1] != lp.Merit[0] || lp.Seconds[1] != lp.Seconds[0] {
		t.Errorf("exact LP: %+v", lp)
	}
	best := mixpolicy.Must(mixpolicy.PolicyIteration(background, p.MDP(), mixpolicy.ValuationSettings{})).Cost()
	if got := full.PolicyCost[0].Mean; full.Merit != nil || math.Abs(got-best) > 1e-10*best {
		t.Errorf("policy iteration: %v, want %v", got, best)
	}
}

func TestCompareErrors(t *testing.T) {
	_, p := shortQueue(t)
	some := fixed{theta: []float64{.5, .5}}
	for _, c := range []struct {
		contestants []Contestant
		queries     []int
		set         ComparisonSettings
		says        string
	}{
		{[]Contestant{{"a", "", []mixpolicy.Method{some}}}, []int{10, 10}, ComparisonSettings{Trials: 2}, "checkpoint 1"},
		{[]Contestant{{"a", "", []mixpolicy.Method{some, some}}}, []int{10}, ComparisonSettings{Trials: 2, Configurations: 1}, `"a" brings 2 configurations`},
		{[]Contestant{{"a", "", nil}}, []int{10}, ComparisonSettings{Trials: 2}, "brings 0 configurations"},
		{[]Contestant{{"a", "", []mixpolicy.Method{some}}}, []int{10}, ComparisonSettings{Trials: 1}, "at least 2"},
		{[]Contestant{{"a", "", []mixpolicy.Method{fixed{theta: []float64{.5, .5}, silent: true}}}}, []int{10}, ComparisonSettings{Trials: 2}, "asks no queries"},
		{nil, []int{10}, ComparisonSettings{Trials: 2}, "without contestants"},
	} {
		_, err := CompareByQueries(background, p, c.contestants, c.queries, c.set)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
}

// Without policies' costs none is worked out, and a score is the merit; without a θ̂ there is
// a cost all the same.
func TestCompareSkipsPolicyCosts(t *testing.T) {
	_, p := shortQueue(t)
	told := map[string]int{}
	c, err := CompareByQueries(background, p, []Contestant{
		{"fixed", "", []mixpolicy.Method{fixed{theta: []float64{.5, .5}}}},
		{"certainty equivalence", "", []mixpolicy.Method{CertaintyEquivalence{}}},
	}, []int{5, 10}, ComparisonSettings{Trials: 2, SkipPolicyCost: true, Workers: 1, Progress: func(name string, runs int) { told[name] += runs }})
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Races[0]; r.PolicyCost != nil || len(r.Merit) != 2 || r.Runs[0][1].Score() != r.Merit[1].Mean {
		t.Errorf("%+v", r)
	}
	if r := c.Races[1]; r.Merit != nil || len(r.PolicyCost) != 2 || r.Runs[0][1].Score() != r.Runs[0][1].PolicyCost || r.Runs[0][1].PolicyCost <= 0 {
		t.Errorf("%+v", r)
	}
	if told["fixed"] != 2 || told["certainty equivalence"] != 2 {
		t.Errorf("told of %v runs, want 2 each", told)
	}
}

func TestCompareByTimeErrors(t *testing.T) {
	_, p := shortQueue(t)
	for _, times := range [][]time.Duration{{0}, {-1}, {5, 5}, {5, 4}, nil} {
		if _, err := CompareByTime(background, p, Knowing(p, nil), times, ComparisonSettings{Trials: 2}); err == nil {
			t.Errorf("times %v: no error", times)
		}
	}
	for _, set := range []ComparisonSettings{{Trials: 2, Confidence: 1}, {Trials: 2, Confidence: -1}, {Trials: 2, TuningTrials: -1}} {
		if _, err := CompareByTime(background, p, Knowing(p, nil), []time.Duration{1}, set); err == nil {
			t.Errorf("%+v: no error", set)
		}
	}
}

func TestPowers(t *testing.T) {
	if got := powers(1, 4, 5); !reflect.DeepEqual(got, []float64{1, .25, 4, .0625, 16}) {
		t.Errorf("powers %v", got)
	}
}
