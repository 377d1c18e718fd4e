package study

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/priorwork"
)

// Race says what contestants had as much of as each other, or what a row is instead.
type Race string

const (
	ByQueries Race = "queries" // a look at a checkpoint of a race by queries
	BySeconds Race = "seconds" // the same by time; depends on the machine
	Tuning    Race = "tuning"  // the score of a configuration at the end of the race by queries
	Reaching  Race = "reach"   // queries until a goal is reached: median, and interval for it
	Given     Race = "given"   // a number of the problem
)

// Quantity says what a row's value is.
type Quantity string

const (
	Merit      Quantity = "merit" // exact-penalty merit of θ̂, in units of cost
	PolicyCost Quantity = "true cost of the policy"

	// Goals of [Reaching], one per cent from an optimum.
	MeritGoal   Quantity = "merit within 1 % of the optimum of (2.18)"
	MixtureGoal Quantity = "policy within 1 % of the optimum of (2.18)"
	PolicyGoal  Quantity = "policy within 1 % of the best policy"

	// Numbers of the problem; At is not used.
	BestBase Quantity = "best base policy"
	Mixture  Quantity = "optimum of (2.18)"
	Best     Quantity = "best policy"
)

// Row is a number of the record.
type Row struct {
	Course   string
	Race     Race
	Method   string
	Source   string // its paper
	Quantity Quantity

	// At is the mean number of queries or of seconds, the configuration, or the goal's cost.
	At            float64
	Value, Lo, Hi float64 // mean and 95 % interval for it, or median; ±Inf is possible

	Configuration, Configurations int // the one chosen, of how many
	Trials                        int
	Seed                          uint64
	Machine                       string // where seconds were taken, else empty
}

// Record is all rows, course by course.
type Record []Row

// Recorded returns data/comparison.csv.
func Recorded() (Record, error) {
	f, err := data.Files.Open("comparison.csv")
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	defer f.Close()
	return Read(f)
}

var header = []string{
	"course", "race", "method", "source", "quantity", "at", "value", "lo", "hi",
	"configuration", "configurations", "trials", "seed", "machine",
}

// Read reads a record as [Record.Write] writes it; errors name the line.
func Read(r io.Reader) (Record, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("study: record: %w", err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], header) {
		return nil, fmt.Errorf("study: record: want the header %v", header)
	}
	var out Record
	for k, f := range rows[1:] {
		row := Row{Course: f[0], Race: Race(f[1]), Method: f[2], Source: f[3], Quantity: Quantity(f[4]), Machine: f[13]}
		for i, to := range []*float64{&row.At, &row.Value, &row.Lo, &row.Hi} {
			if *to, err = strconv.ParseFloat(f[5+i], 64); err != nil || math.IsNaN(*to) {
				return nil, fmt.Errorf("study: record, line %d: %s %q, want a number", k+2, header[5+i], f[5+i])
			}
		}
		for i, to := range []*int{&row.Configuration, &row.Configurations, &row.Trials} {
			if *to, err = strconv.Atoi(f[9+i]); err != nil {
				return nil, fmt.Errorf("study: record, line %d: %s %q, want a whole number", k+2, header[9+i], f[9+i])
			}
		}
		if row.Seed, err = strconv.ParseUint(f[12], 10, 64); err != nil {
			return nil, fmt.Errorf("study: record, line %d: seed %q, want a whole number ≥ 0", k+2, f[12])
		}
		out = append(out, row)
	}
	return out, nil
}

// Write writes the record as CSV with a header, numbers to six digits.
func (r Record) Write(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(header); err != nil {
		return fmt.Errorf("study: record: %w", err)
	}
	for _, row := range r {
		f := []string{row.Course, string(row.Race), row.Method, row.Source, string(row.Quantity)}
		for _, v := range []float64{row.At, row.Value, row.Lo, row.Hi} {
			f = append(f, strconv.FormatFloat(v, 'g', 6, 64))
		}
		for _, v := range []int{row.Configuration, row.Configurations, row.Trials} {
			f = append(f, strconv.Itoa(v))
		}
		if err := c.Write(append(f, strconv.FormatUint(row.Seed, 10), row.Machine)); err != nil {
			return fmt.Errorf("study: record: %w", err)
		}
	}
	c.Flush()
	return c.Error()
}

// Record runs all races on the course: minutes.
func (c Course) Record(ctx context.Context) (Record, error) {
	marks, err := c.Marks(ctx)
	if err != nil {
		return nil, err
	}
	out := c.given(marks)
	q, err := c.ByQueries(ctx)
	if err != nil {
		return out, err
	}
	out = append(out, c.rows(ByQueries, q, c.Learners())...)
	out = append(out, c.tuning(q)...)
	out = append(out, c.reach(q, marks)...)
	t, err := c.ByTime(ctx)
	if err != nil {
		return out, err
	}
	return append(out, c.rows(BySeconds, t, append(c.Learners(), priorwork.Knowing(c.Problem, c.Basis)...))...), nil
}

// Reached returns how many queries a method needed to come to a goal of [Reaching] and stay
// there ([priorwork.Race.Reach]), or false if that is not recorded: without θ̂ there is no
// merit.
func (r Record) Reached(course, method string, goal Quantity) (Row, bool) {
	rows := r.where(course, Reaching, method).of(goal)
	if len(rows) != 1 {
		return Row{}, false
	}
	return rows[0], true
}

// Budget returns the number of queries at the end of the race by queries.
func (r Record) Budget(course string) float64 {
	var most float64
	for _, row := range r {
		if row.Course == course && row.Race == ByQueries {
			most = max(most, row.At)
		}
	}
	return most
}

// without returns the rows of all other courses.
func (r Record) without(course string) (out Record) {
	for _, row := range r {
		if row.Course != course {
			out = append(out, row)
		}
	}
	return out
}

func (c Course) given(m Marks) (out Record) {
	for _, v := range []struct {
		what Quantity
		cost float64
	}{{BestBase, m.BestBase}, {Mixture, m.Mixture}, {Best, m.Best}} {
		out = append(out, Row{Course: c.Name, Race: Given, Quantity: v.what, Value: v.cost, Lo: v.cost, Hi: v.cost})
	}
	return out
}

// machine is what there is to say of one without asking the operating system.
func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

func (c Course) rows(race Race, cmp *priorwork.Comparison, contestants []priorwork.Contestant) (out Record) {
	for i, r := range cmp.Races {
		row := Row{
			Course: c.Name, Race: race, Method: r.Name, Source: contestants[i].Source,
			Configuration: r.Configuration, Configurations: len(contestants[i].Configurations),
			Trials: len(r.Runs), Seed: cmp.Seed,
		}
		at := r.Queries
		if race == BySeconds {
			at, row.Machine = r.Seconds, machine()
		}
		for k := range at {
			if k > 0 && at[k] == at[k-1] {
				continue // a solver, whose checkpoints are one
			}
			row.At = at[k].Mean
			if r.Merit != nil {
				row.Quantity, row.Value, row.Lo, row.Hi = Merit, r.Merit[k].Mean, r.Merit[k].Lo, r.Merit[k].Hi
				out = append(out, row)
			}
			row.Quantity, row.Value, row.Lo, row.Hi = PolicyCost, r.PolicyCost[k].Mean, r.PolicyCost[k].Lo, r.PolicyCost[k].Hi
			out = append(out, row)
		}
	}
	return out
}

func (c Course) tuning(cmp *priorwork.Comparison) (out Record) {
	for _, r := range cmp.Races {
		row := Row{
			Course: c.Name, Race: Tuning, Method: r.Name, Quantity: PolicyCost,
			Configuration: r.Configuration, Configurations: len(r.Tuning), Trials: settings().TuningTrials, Seed: cmp.Seed + 1,
		}
		if r.Merit != nil {
			row.Quantity = Merit
		}
		for k, v := range r.Tuning {
			row.At, row.Value, row.Lo, row.Hi = float64(k), v, v, v
			out = append(out, row)
		}
	}
	return out
}

func (c Course) reach(cmp *priorwork.Comparison, m Marks) (out Record) {
	cost := func(l priorwork.Look) float64 { return l.PolicyCost }
	for _, r := range cmp.Races {
		add := func(what Quantity, score func(priorwork.Look) float64, goal float64) {
			v := r.Reach(score, goal, 0.95)
			out = append(out, Row{
				Course: c.Name, Race: Reaching, Method: r.Name, Quantity: what, At: goal, Value: v.Median, Lo: v.Lo, Hi: v.Hi,
				Configuration: r.Configuration, Configurations: r.Tried, Trials: v.Runs, Seed: cmp.Seed,
			})
		}
		if r.Merit != nil {
			add(MeritGoal, priorwork.Look.Score, 0.01*m.Mixture)
		}
		add(MixtureGoal, cost, 1.01*m.Mixture)
		add(PolicyGoal, cost, 1.01*m.Best)
	}
	return out
}
