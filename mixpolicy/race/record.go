package race

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/internal/csvrows"
)

// Row is a number of a record, with what vouches for it and what it takes to compute it
// again. What does not apply is empty or 0.
type Row struct {
	Part    string // of the record, which is computed by itself
	Problem string
	Base    string // the set of base policies
	Race    string // what the entrants had as much of as each other, or what the row is instead
	Method  string // or rule, or policy
	Source  string // of the method, its paper

	Quantity      string
	At            float64 // where on the quantity's axis, such as queries, seconds or η₀
	Value, Lo, Hi float64 // a mean or median with its 95 % interval, or an exact number within bounds; ±Inf is possible
	Residual      float64 // L1 flow residual of the measure behind it

	Configuration, Configurations int // the one of the entrant's methods, of how many
	Trials                        int // behind a mean; 0 for an exact number
	Seed                          uint64
	Settings                      string
	Machine                       string // where seconds were taken
}

// Record is a list of them.
type Record []Row

var header = []string{
	"part", "problem", "base", "race", "method", "source", "quantity", "at", "value", "lo", "hi", "residual",
	"configuration", "configurations", "trials", "seed", "settings", "machine",
}

// fields are in the order of the header.
func (r *Row) fields() []any {
	return []any{
		&r.Part, &r.Problem, &r.Base, &r.Race, &r.Method, &r.Source, &r.Quantity, &r.At, &r.Value, &r.Lo, &r.Hi, &r.Residual,
		&r.Configuration, &r.Configurations, &r.Trials, &r.Seed, &r.Settings, &r.Machine,
	}
}

// identity is what no two rows have in common.
func (r Row) identity() Row {
	r.Source, r.Value, r.Lo, r.Hi, r.Residual, r.Trials, r.Seed, r.Machine = "", 0, 0, 0, 0, 0, 0, ""
	return r
}

// Select returns the rows that agree with like in Part, Problem, Base, Race, Method and
// Quantity, in order; what like leaves empty may be anything.
func (r Record) Select(like Row) (rows Record) {
	agree := func(value, want string) bool { return want == "" || value == want }
	for _, row := range r {
		if agree(row.Part, like.Part) && agree(row.Problem, like.Problem) && agree(row.Base, like.Base) &&
			agree(row.Race, like.Race) && agree(row.Method, like.Method) && agree(row.Quantity, like.Quantity) {
			rows = append(rows, row)
		}
	}
	return rows
}

// One is the only row of [Record.Select]; the error says how many there are else.
func (r Record) One(like Row) (Row, error) {
	rows := r.Select(like)
	if len(rows) != 1 {
		return Row{}, fmt.Errorf("race: record: %d rows like %+v, want 1", len(rows), like)
	}
	return rows[0], nil
}

// Methods returns the names in the rows like the given one, each once, in order.
func (r Record) Methods(like Row) (names []string) {
	for _, row := range r.Select(like) {
		if !slices.Contains(names, row.Method) {
			names = append(names, row.Method)
		}
	}
	return names
}

// Differences returns the values in r minus those in s at the same At, such as the stream of a
// run.
func (r Record) Differences(s Record) (x []float64) {
	for _, u := range r {
		for _, v := range s {
			if u.At == v.At {
				x = append(x, u.Value-v.Value)
			}
		}
	}
	return x
}

// Compact returns one row for many that differ in At, 0, 1, …, and Value alone, such as one for each
// run: their values are in its Settings, – where there is none. [Row.Expand] undoes it.
func (r Record) Compact() (row Row) {
	if len(r) == 0 {
		return row
	}
	row = r[0]
	row.At, row.Value, row.Lo, row.Hi, row.Trials = 0, 0, 0, 0, len(r)
	var list []string
	for _, v := range r {
		for len(list) < int(v.At) {
			list = append(list, noValue)
		}
		list = append(list, strconv.FormatFloat(v.Value, 'g', -1, 64))
	}
	row.Settings = strings.Join(list, " ")
	return row
}

// noValue stands for what is missing in a compact row.
const noValue = "–"

// Expand returns the rows of a compact one.
func (r Row) Expand() (rows Record, err error) {
	like := r
	like.Settings, like.Trials = "", 0
	for k, text := range strings.Fields(r.Settings) {
		if text == noValue {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("race: record: value %d of %q of %q: %w", k, r.Quantity, r.Method, err)
		}
		like.At, like.Value, like.Lo, like.Hi = float64(k), v, v, v
		rows = append(rows, like)
	}
	return rows, nil
}

// Columns returns at, values and intervals, for a curve.
func (r Record) Columns() (at, value, lo, hi []float64) {
	for _, row := range r {
		at, value, lo, hi = append(at, row.At), append(value, row.Value), append(lo, row.Lo), append(hi, row.Hi)
	}
	return at, value, lo, hi
}

// Row returns a row of the interval; the other fields are those of like.
func (v Interval) Row(like Row) Row {
	like.Value, like.Lo, like.Hi, like.Trials = v.Mean, v.Lo, v.Hi, v.N
	return like
}

// Rows returns a row for each entry of the band; the other fields are those of like.
func (b Band) Rows(like Row) (rows Record) {
	for k, v := range b.Intervals {
		like.At = b.At[k]
		rows = append(rows, v.Row(like))
	}
	return rows
}

// Failure is the quantity of rows about runs that failed: Value is after how many steps the
// first of them stopped, Trials how many there are, and Settings why.
const Failure = "failed"

// Failures returns a row about the trials that failed, or none; the other fields are those of
// like.
func (r *Runs) Failures(like Row) Record {
	failed := r.Failed()
	if len(failed) == 0 {
		return nil
	}
	v := float64(failed[0].Steps)
	like.Quantity, like.Value, like.Lo, like.Hi = Failure, v, v, v
	like.Trials, like.Settings = len(failed), failed[0].Err.Error()
	return Record{like}
}

// Failures returns a row about what failed, or none.
func (o Outcome) Failures(like Row) Record {
	if o.Runs != nil {
		return o.Runs.Failures(like)
	}
	like.Quantity, like.Settings = Failure, o.Err.Error()
	return Record{like}
}

// Round returns the record with at, values and intervals to the given number of digits.
func (r Record) Round(digits int) Record {
	r = slices.Clone(r)
	for k := range r {
		for _, v := range []*float64{&r[k].At, &r[k].Value, &r[k].Lo, &r[k].Hi} {
			*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v, 'g', digits, 64), 64)
		}
	}
	return r
}

// Write writes the record as CSV with a header, numbers to twelve digits.
func (r Record) Write(w io.Writer) error {
	if err := csvrows.Write(w, header, r, (*Row).fields, 12); err != nil {
		return fmt.Errorf("race: record: %w", err)
	}
	return nil
}

// Read reads a record as [Record.Write] writes it; errors name the line and the field. Rows
// that agree in all but value, interval, residual, trials, seed, source and machine are refused.
func Read(r io.Reader) (Record, error) {
	seen := map[Row]int{} // the line of a row
	all, err := csvrows.Read(r, header, (*Row).fields, func(row *Row) error {
		if first, twice := seen[row.identity()]; twice {
			return fmt.Errorf("%q of %q at %v is in line %d already", row.Quantity, row.Method, row.At, first)
		}
		seen[row.identity()] = len(seen) + 2
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("race: record: %w", err)
	}
	return all, nil
}

// ReadFile is [Read] of a file.
func ReadFile(path string) (Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("race: record: %w", err)
	}
	defer f.Close()
	return Read(f)
}

// Update replaces those rows of the record at path for which old is true by others, and
// sorts all rows by order, which leaves rows as they are that it does not tell apart. It reads
// the file just before it writes it, whole or not at all; two processes must not update one
// file at the same moment.
func Update(path string, old func(Row) bool, rows Record, order func(a, b Row) int) error {
	all, err := ReadFile(path)
	if err != nil {
		return err
	}
	all = append(slices.DeleteFunc(all, old), rows...)
	slices.SortStableFunc(all, order)
	var text bytes.Buffer
	if err := all.Write(&text); err != nil {
		return err
	}
	if _, err := Read(bytes.NewReader(text.Bytes())); err != nil { // what can't be read is not written
		return err
	}
	if err := atomicfile.WriteBytes(path, text.Bytes()); err != nil {
		return fmt.Errorf("race: record: %w", err)
	}
	return nil
}
