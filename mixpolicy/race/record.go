package race

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/mixpolicy/lab/internal/atomicfile"
	"github.com/mixpolicy/lab/internal/csvrows"
)

// Row is one quantity of a record. A row with Values stores one value for each run or setting, and [Record.Derive]
// computes a statistic of the values, with an interval. A row without Values stores Value, Lo and Hi instead: an exact
// number, or a statistic of runs whose values are not stored. Fields that do not apply are empty or 0.
type Row struct {
	Part    string `csv:"part"` // the part of the record to which the row belongs; parts are computed separately
	Problem string `csv:"problem"`
	Base    string `csv:"base"`   // the set of base policies; in a fair race of package study, one of study.Drawings
	Race    string `csv:"race"`   // the resource that was equal for all entrants, or else what the row contains
	Method  string `csv:"method"` // the method, rule or policy
	Source  string `csv:"source"` // the paper that describes the method

	Quantity string  `csv:"quantity"`
	At       float64 `csv:"at,%.12g"`    // the position on the horizontal axis: queries, seconds, η₀, …
	Value    float64 `csv:"value,%.12g"` // a mean or median with the 95 % interval [Lo, Hi], or an exact number with bounds Lo and Hi
	Lo       float64 `csv:"lo,%.12g"`
	Hi       float64 `csv:"hi,%.12g"`
	Residual float64 `csv:"residual,%.12g"` // ℓ₁ flow residual of the measure behind Value, or the Violation of a solved linear program

	Configuration  int       `csv:"configuration"`  // the index of the setting; [Entrant.Configuration] decodes the index
	Configurations int       `csv:"configurations"` // the number of settings tried
	Setting        []float64 `csv:"setting,%g,–"`   // the parameters of the setting, such as η₀ and ω
	Trials         int       `csv:"trials"`         // the number of trials from which Value comes; 0 for an exact number
	Seed           uint64    `csv:"seed"`
	Settings       string    `csv:"settings"`
	Machine        string    `csv:"machine"`        // the machine on which times were measured
	Values         []float64 `csv:"values,%.12g,–"` // one value for each stream, NaN for a failed run; or one value for each setting
}

// Record is a list of rows.
type Record []Row

// identity returns the fields that identify a row: no two rows may agree in all these fields.
func (r Row) identity() string {
	r.Source, r.Value, r.Lo, r.Hi, r.Residual, r.Trials, r.Seed, r.Machine, r.Values = "", 0, 0, 0, 0, 0, 0, "", nil
	return fmt.Sprintf("%#v", r)
}

// Observed returns the Values other than NaN. A failed run has the value NaN.
func (r Row) Observed() []float64 { return slices.DeleteFunc(slices.Clone(r.Values), math.IsNaN) }

// Derive returns a copy of the record. In the copy, each row with Values gets a new Value, Lo, Hi and Trials, which the
// function statistic computes from the row's values other than NaN. If all values are NaN, these four fields do not
// change. For rows with Values, [Record.Write] does not store the four fields.
func (r Record) Derive(statistic func(x []float64) Interval) Record {
	r = slices.Clone(r)
	for k, row := range r {
		if x := row.Observed(); len(x) > 0 {
			r[k] = statistic(x).Row(row)
		}
	}
	return r
}

// Select returns, in order, the rows that have the same Part, Problem, Base, Race, Method and Quantity as the given
// row. If one of these fields is empty in the given row, any value of this field matches.
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

// One returns the only row that [Record.Select] selects. If there is not exactly one row, the
// error states the number of rows.
func (r Record) One(like Row) (Row, error) {
	rows := r.Select(like)
	if len(rows) != 1 {
		return Row{}, fmt.Errorf("race: record: %d rows like %+v, want 1", len(rows), like)
	}
	return rows[0], nil
}

// Methods returns the names of the methods in the rows that [Record.Select] selects: each name once, in the order of
// the rows.
func (r Record) Methods(like Row) (names []string) {
	for _, row := range r.Select(like) {
		if !slices.Contains(names, row.Method) {
			names = append(names, row.Method)
		}
	}
	return names
}

// Differences returns x[k] − y[k] for each stream k. It omits differences that are NaN because a run failed, or because
// both numbers are +Inf.
func Differences(x, y []float64) (d []float64) {
	for k := range min(len(x), len(y)) {
		if v := x[k] - y[k]; !math.IsNaN(v) {
			d = append(d, v)
		}
	}
	return d
}

// Columns returns the fields At and Value of all rows, for a curve. If Trials is at least 2 in the first row, Columns
// also returns the fields Lo and Hi of all rows.
func (r Record) Columns() (at, value, lo, hi []float64) {
	for _, row := range r {
		if at, value = append(at, row.At), append(value, row.Value); r[0].Trials > 1 {
			lo, hi = append(lo, row.Lo), append(hi, row.Hi)
		}
	}
	return at, value, lo, hi
}

// Row returns a copy of the given row; the copy takes Value, Lo, Hi and Trials from the interval.
func (v Interval) Row(like Row) Row {
	like.Value, like.Lo, like.Hi, like.Trials = v.Mean, v.Lo, v.Hi, v.N
	return like
}

// Rows returns a copy of the given row for each entry of the band; the copy takes At, Value, Lo, Hi and Trials from
// this entry.
func (b Band) Rows(like Row) (rows Record) {
	for k, v := range b.Intervals {
		like.At = b.At[k]
		rows = append(rows, v.Row(like))
	}
	return rows
}

// Failure is the Quantity of a row that counts failed runs. In such a row, Trials is the number of failed runs. Value
// and Settings are about the failed run with the lowest stream number: Value is the number of steps after which this
// run stopped, and Settings states why.
const Failure = "failed"

// Round returns a copy of the record with At, Value, Lo, Hi and Values rounded to the given number of significant
// digits.
func (r Record) Round(digits int) Record {
	r = slices.Clone(r)
	rounded := func(v float64) float64 {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
		return v
	}
	for k := range r {
		row := &r[k]
		row.At, row.Value, row.Lo, row.Hi = rounded(row.At), rounded(row.Value), rounded(row.Lo), rounded(row.Hi)
		row.Values = slices.Clone(row.Values)
		for i, v := range row.Values {
			row.Values[i] = rounded(v)
		}
	}
	return r
}

// Write writes the record as CSV with a header. Write rounds all numbers to twelve significant digits, except integers
// and the numbers in Setting. In rows with Values, Write writes 0 for the fields that [Record.Derive] computes.
func (r Record) Write(w io.Writer) error {
	r = slices.Clone(r)
	for k := range r {
		if row := &r[k]; row.Values != nil {
			row.Value, row.Lo, row.Hi, row.Trials = 0, 0, 0, 0
		}
	}
	if err := csvrows.Encode(w, r); err != nil {
		return fmt.Errorf("race: record: %w", err)
	}
	return nil
}

// Read reads a record that [Record.Write] wrote. If a cell is not valid, Read returns an error that names the line and
// the field. Read also returns an error, which names both lines, if two rows agree in all fields other than Value,
// Values, Lo, Hi, Residual, Trials, Seed, Source and Machine.
func Read(r io.Reader) (Record, error) {
	seen := map[string]int{} // the line of each row, by the row's identity
	all, err := csvrows.Decode(r, func(row *Row) error {
		id := row.identity()
		if first, twice := seen[id]; twice {
			return fmt.Errorf("%q of %q at %v is already in line %d", row.Quantity, row.Method, row.At, first)
		}
		seen[id] = len(seen) + 2
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("race: record: %w", err)
	}
	return all, nil
}

// ReadFile reads the record in a file, as [Read] does.
func ReadFile(path string) (Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("race: record: %w", err)
	}
	defer f.Close()
	return Read(f)
}

// Update changes the record in the file at path: it deletes the rows for which the function old returns true, adds the
// given rows, and sorts all rows stably by the function order. Update reads the file just before writing it, and writes
// either the whole file or nothing. Two processes must not update the same file at the same time.
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
	if _, err := Read(bytes.NewReader(text.Bytes())); err != nil { // a record that cannot be read back is not written
		return err
	}
	if err := atomicfile.WriteBytes(path, text.Bytes()); err != nil {
		return fmt.Errorf("race: record: %w", err)
	}
	return nil
}
