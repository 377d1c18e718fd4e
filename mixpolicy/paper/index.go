// Package paper reproduces the paper. It contains the index of the paper's equations and statements with a computation
// for each, the errata, and the claims with the experiments that decide each claim. It also computes the data of the
// figures.
package paper

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/internal/fault"
)

// Verdict is the result for an equation, a statement or a claim of the paper.
type Verdict string

const (
	// Holds means that the statement is true as printed.
	Holds Verdict = "holds"
	// HoldsAsCorrected means that the corrected form in an [Erratum] is true. The printed form, however, is false (for
	// an [Ambiguity], false in some interpretation), has no content or, for a [Gap], is not proved. The erratum's
	// [Kind] states how grave the fault is.
	//
	// An equation has no content if no outcome could contradict the equation: its two sides are the same, or an
	// undefined constant in the equation can have any size. We do not say that such an equation holds. If the paper
	// means a form with content, we judge this form: for (4.9), the form with one hat removed. If not, the equation
	// asserts nothing and counts as a definition: for example (4.16), because the paper does not define the constant C
	// of (4.16). But if the paper asserts that a universal constant exists, the equation has content: one constant must
	// suffice for every problem.
	HoldsAsCorrected Verdict = "holds as corrected"
	// Fails means that the statement is false, and that no correction saves the statement.
	Fails Verdict = "fails"
	// Defines means that the entry asserts nothing: it is a definition or a notation.
	Defines Verdict = "definition"
	// NotProved means that the paper's argument does not prove the statement, and that no counterexample is known.
	NotProved Verdict = "not proved"
	// Undecided means that the data do not decide: a confidence interval is compatible with both answers.
	Undecided Verdict = "undecided"
	// Depends means that the paper leaves open an interpretation, a setting or an implementation, and that the
	// statement is true for one choice and false for another.
	Depends Verdict = "depends"
	// Missing means that the text that we examined announces something, but does not contain it.
	Missing Verdict = "not in this text"
)

// Finding is the result of a check of an equation or statement. Printed and Corrected are deviations: they state how
// far the printed form and the corrected form are from being true. A deviation is, for example, the relative difference
// between the two sides of an equation, or the relative excess of the left side over the right side of an inequality. A
// form holds if its deviation is at most Tolerance; if the deviation is NaN, the form does not hold.
type Finding struct {
	Printed   float64 // +∞ if the printed form is meaningless or has no content
	Corrected float64 // the same as Printed if there is nothing to correct
	Reading   float64 // for an Error: the deviation in the interpretation Erratum.Reading; else 0
	Tolerance float64 // the greatest deviation with which a form holds, usually a bound on the rounding error
	Numbers   string  // the computed numbers, in words
}

// PrintedHolds reports whether the printed form holds.
func (f Finding) PrintedHolds() bool { return f.Printed <= f.Tolerance }

// CorrectedHolds reports whether the corrected form holds.
func (f Finding) CorrectedHolds() bool { return f.Corrected <= f.Tolerance }

// Verdict returns Holds, HoldsAsCorrected or Fails.
func (f Finding) Verdict() Verdict {
	switch {
	case f.PrintedHolds():
		return Holds
	case f.CorrectedHolds():
		return HoldsAsCorrected
	}
	return Fails
}

// rounding is the default tolerance, for an equality of two computations of a few thousand
// operations each: 10⁴ · 2⁻⁵³, times ten for ill conditioning.
const rounding = 1e-11

// holds returns the finding of a statement that has no corrected form.
func holds(deviation float64, format string, v ...any) Finding {
	return holdsCorrected(deviation, deviation, format, v...)
}

// holdsCorrected returns the finding of a statement that has a corrected form.
func holdsCorrected(printed, corrected float64, format string, v ...any) Finding {
	return Finding{Printed: printed, Corrected: corrected, Tolerance: rounding, Numbers: fmt.Sprintf(format, v...)}
}

// within returns the finding with another tolerance.
func (f Finding) within(tolerance float64) Finding {
	f.Tolerance = tolerance
	return f
}

// read returns the finding with the deviation of the reading most favourable to the authors.
func (f Finding) read(deviation float64, format string, v ...any) Finding {
	f.Reading = deviation
	f.Numbers += "; in the reading most favourable to the authors: " + fmt.Sprintf(format, v...)
	return f
}

// saysNothing returns the deviation of a form, given the number of conceivable outcomes that contradict it: +∞ if none
// does, else 0. See [HoldsAsCorrected] for the verdict on a form without content.
func saysNothing(contradictions int) float64 {
	if contradictions == 0 {
		return math.Inf(1)
	}
	return 0
}

// relativeError is |a − b|/max(|a|, |b|): 0 if a = b, else +∞ if a or b is infinite.
func relativeError(a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return math.Inf(1)
	}
	return math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
}

// relativeVectorError is ‖x − y‖_∞/max(‖x‖_∞, ‖y‖_∞) for vectors of finite numbers, and 0 if x = y. If an entry is
// infinite or NaN, the result is NaN.
func relativeVectorError(x, y []float64) float64 {
	var difference, size float64
	for i, a := range x {
		difference, size = max(difference, math.Abs(a-y[i])), max(size, math.Abs(a), math.Abs(y[i]))
	}
	if difference == 0 {
		return 0
	}
	return difference / size
}

// excess is 0 if lhs ≤ rhs, else +∞ if lhs is +∞, and else (lhs − rhs)/max(|lhs|, |rhs|).
func excess(lhs, rhs float64) float64 {
	switch {
	case lhs <= rhs:
		return 0
	case math.IsInf(lhs, 1):
		return math.Inf(1)
	}
	return (lhs - rhs) / max(math.Abs(lhs), math.Abs(rhs))
}

// A check computes a finding. A check passes every error to [must] or [noError], which end the check, and [check.run]
// returns the error. So a check contains no error handling.
type check func(ctx context.Context) Finding

func (c check) run(ctx context.Context, place string) (f Finding, err error) {
	defer at(place, &err)
	defer catch(&err)
	return c(ctx), nil
}

// failure is the value with which [must] and [noError] panic.
type failure struct{ err error }

// must returns v. If err is not nil, it panics with a failure, which [catch] turns into the error of the function that
// defers catch.
func must[T any](v T, err error) T {
	noError(err)
	return v
}

// noError is like must, for a call that returns only an error.
func noError(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// at, deferred before [catch], adds the place to an error.
func at(place string, err *error) {
	if *err != nil {
		*err = fault.At("paper", place, *err)
	}
}

// catch, deferred, stores the error of a failure in err. Other panics continue.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.err
	default:
		panic(r)
	}
}

// Entry is an equation or statement of the paper, with the computation that decides whether it holds. Each row of
// data/index.csv is an entry.
type Entry struct {
	Number   string `csv:"number"` // as in the paper: "3.22", "Lemma 3.2", "Assumption A.1"
	What     string `csv:"what"`
	Symbol   string `csv:"symbol"`   // the entry's name in the code: "folder.Name" or "folder.Type.Method"
	Errata   string `csv:"errata"`   // the ID of the gravest erratum that affects the entry, or ""
	Defines  bool   `csv:"defines"`  // whether the entry is a definition: if a definition is right as printed, its verdict is Defines
	Notebook string `csv:"notebook"` // the notebook that shows the entry, such as "03-primal-dual"

	check check
}

// Check runs the computation that decides the entry.
func (e Entry) Check(ctx context.Context) (Finding, error) { return e.check.run(ctx, "("+e.Number+")") }

// Kind returns the kind of the entry's gravest erratum, or "" if the entry has no erratum.
func (e Entry) Kind() Kind {
	for _, x := range errata() {
		if x.ID == e.Errata {
			return x.Kind
		}
	}
	return ""
}

// Verdict derives the verdict on the entry from the finding.
func (e Entry) Verdict(f Finding) Verdict {
	if v := f.Verdict(); v != Holds || !e.Defines {
		return v
	}
	return Defines
}

// kinds abbreviates the kinds of statements at the start of anchors.
var kinds = strings.NewReplacer("definition", "def", "proposition", "prop", "theorem", "thm", "algorithm", "alg", "figure", "fig")

// Anchor returns the anchor of the entry in its notebook, such as "eq-3-22" or "lemma-3-2".
func (e Entry) Anchor() string {
	kind, number, named := strings.Cut(strings.ToLower(e.Number), " ")
	if !named {
		kind, number = "eq", kind
	}
	return kinds.Replace(kind) + "-" + strings.ReplaceAll(number, ".", "-")
}

// Test returns the folder and the name of the test that checks the entry, as in "mixpolicy/paper/TestIndex/3.22".
func (e Entry) Test() string {
	return "mixpolicy/paper/TestIndex/" + strings.ReplaceAll(e.Number, " ", "_")
}

// Index returns all entries of data/index.csv, in the order of the paper's sections. In each section, equations
// come before statements.
func Index() []Entry { return slices.Clone(index()) }

var index = sync.OnceValue(func() []Entry {
	all := mixpolicy.Must(data.Rows[Entry]("index.csv"))
	for i := range all {
		n := all[i].Number
		if all[i].check = checks[n]; all[i].check == nil {
			all[i].check = checkAlongRuns(n)
		}
	}
	return all
})

// Row is an entry with the finding of its check, and with the verdict.
type Row struct {
	Entry
	Finding Finding
	Verdict Verdict
}

// Decide runs the checks of the given entries, and returns a row for each entry.
func Decide(ctx context.Context, entries []Entry) (rows []Row, err error) {
	defer catch(&err)
	for _, e := range entries {
		noError(ctx.Err())
		f := must(e.Check(ctx))
		rows = append(rows, Row{e, f, e.Verdict(f)})
	}
	return rows, nil
}

// Summary returns a text that counts the given rows of the index: the rows that hold as printed, the rows that are
// definitions, and the rows that hold as corrected (for each kind of erratum). The text also counts the errata of each
// kind.
func Summary(rows []Row) string {
	verdicts, kinds, all := map[Verdict]int{}, map[Kind]int{}, map[Kind]int{}
	for _, r := range rows {
		verdicts[r.Verdict]++
		if r.Verdict == HoldsAsCorrected {
			kinds[r.Kind()]++
		}
	}
	for _, e := range errata() {
		all[e.Kind]++
	}
	return fmt.Sprintf("Of the %d equations, statements and figures, %d hold as printed and %d are definitions. Once corrected, %d "+
		"more hold: %d had an error, %d a gap in the argument, %d a slip (such as a wrong sign, index or constant), "+
		"%d several meanings, %d a misprint. The %d errata by kind: error %d, gap %d, slip %d, ambiguity %d, misprint %d.",
		len(rows), verdicts[Holds], verdicts[Defines], verdicts[HoldsAsCorrected], kinds[Error], kinds[Gap], kinds[Slip], kinds[Ambiguity],
		kinds[Misprint], len(errata()), all[Error], all[Gap], all[Slip], all[Ambiguity], all[Misprint])
}

const (
	summaryBegin = "<!-- from data/equations.csv and data/errata.csv, by go run ./mixpolicy/study/record readme -->\n" + "**What holds?** "
	summaryEnd   = "\n<!-- end of data/errata.csv -->\n"
)

// WithSummary returns the README with the [Summary] of the recorded index filled in.
func WithSummary(readme string) (string, error) {
	rows, err := RecordedIndex()
	if err != nil {
		return "", err
	}
	before, rest, begins := strings.Cut(readme, summaryBegin)
	_, after, ends := strings.Cut(rest, summaryEnd)
	if !begins || !ends {
		return "", fmt.Errorf("paper: README.md has no place for the counts, want the marks %q and %q", summaryBegin, summaryEnd)
	}
	return before + summaryBegin + Summary(rows) + summaryEnd + after, nil
}

// recordedRow is a row of data/equations.csv.
type recordedRow struct {
	Number  string  `csv:"number"`
	Verdict Verdict `csv:"verdict"`
	Found   string  `csv:"found"`
}

// WriteIndex writes the verdicts of the rows, and the numbers in their findings, as CSV with a header.
func WriteIndex(w io.Writer, rows []Row) error {
	return csvrows.Encode(w, mapped(rows, func(r Row) recordedRow { return recordedRow{r.Number, r.Verdict, r.Finding.Numbers} }))
}

// RecordedIndex returns the entries with the verdicts and the numbers that [WriteIndex] recorded in data/equations.csv.
// In each Finding, only Numbers is set.
func RecordedIndex() (all []Row, err error) {
	rows, err := data.Rows[recordedRow]("equations.csv")
	for i, e := range index() {
		if err == nil && (i >= len(rows) || rows[i].Number != e.Number) {
			err = fmt.Errorf("data/equations.csv lacks or misplaces (%s); "+
				"to rewrite it, go run ./mixpolicy/study/record table equations", e.Number)
		}
		if err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
		all = append(all, Row{e, Finding{Numbers: rows[i].Found}, rows[i].Verdict})
	}
	return all, nil
}
