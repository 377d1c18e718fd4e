package paper

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/mixpolicy/lab/data"
)

// Entry is an equation or statement of the paper in the index: what it says in our words,
// where it is in the code and in the notebooks, and the computation that decides it.
type Entry struct {
	Number  string // as the paper has it: "3.22", "Lemma 3.2", "Assumption A.1"
	What    string
	Symbol  string // Go symbol, "package.Name" or "package.Type.Method" below the module's root
	Defines bool   // asserts nothing if it is right as printed
	Errata  string // ID of the erratum, if it is not
	check   check
}

// Check runs the computation that decides the entry.
func (e Entry) Check(ctx context.Context) (Finding, error) {
	f, err := e.check(ctx)
	if err != nil {
		err = fmt.Errorf("paper: (%s): %w", e.Number, err)
	}
	return f, err
}

// Verdict of a finding about the entry.
func (e Entry) Verdict(f Finding) Verdict {
	if v := f.Verdict(); v != Holds || !e.Defines {
		return v
	}
	return Defines
}

// Notebook returns the notebook that shows the entry.
func (e Entry) Notebook() string {
	switch number := e.Number[strings.LastIndexByte(e.Number, ' ')+1:]; {
	case strings.HasPrefix(e.Number, "Figure"), number[0] == '6':
		return "06-numerical-experiments"
	case strings.HasPrefix(e.Number, "Assumption"), number[0] == '2':
		return "02-preliminaries"
	case e.Number == "Algorithm 1", number[0] == '3':
		return "03-primal-dual"
	case number[0] == '4':
		return "04-prior-work"
	}
	return "05-proofs"
}

// Anchor returns the anchor of the entry in its notebook: "eq-3-22", "lemma-3-2".
func (e Entry) Anchor() string {
	kind, number, named := strings.Cut(strings.ToLower(e.Number), " ")
	if !named {
		kind, number = "eq", kind
	}
	for long, short := range map[string]string{"definition": "def", "proposition": "prop", "theorem": "thm", "algorithm": "alg", "figure": "fig"} {
		if kind == long {
			kind = short
		}
	}
	return kind + "-" + strings.ReplaceAll(number, ".", "-")
}

// Test returns the name of the test that checks the entry, as go test -run has it.
func (e Entry) Test() string {
	return "mixpolicy/paper/TestIndex/" + strings.ReplaceAll(e.Number, " ", "_")
}

// Index returns all entries in the order of the paper's sections, equations before
// statements.
func Index() []Entry {
	var all []Entry
	for _, s := range [][]Entry{section2, section3, section4, section5, section6, appendix} {
		all = append(all, s...)
	}
	return all
}

// Row is an entry with what its check found.
type Row struct {
	Entry
	Finding Finding
	Verdict Verdict
}

// Decide runs the checks of the entries.
func Decide(ctx context.Context, entries []Entry) ([]Row, error) {
	rows := make([]Row, 0, len(entries))
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return rows, err
		}
		f, err := e.Check(ctx)
		if err != nil {
			return rows, err
		}
		rows = append(rows, Row{e, f, e.Verdict(f)})
	}
	return rows, nil
}

// WriteIndex writes rows as CSV with a header.
func WriteIndex(w io.Writer, rows []Row) error {
	table := [][]string{{"number", "what", "symbol", "notebook", "anchor", "test", "verdict", "erratum", "found"}}
	for _, r := range rows {
		table = append(table, []string{r.Number, r.What, r.Symbol, r.Notebook(), r.Anchor(), r.Test(), string(r.Verdict), r.Errata, r.Finding.Numbers})
	}
	if err := csv.NewWriter(w).WriteAll(table); err != nil {
		return fmt.Errorf("paper: index: %w", err)
	}
	return nil
}

// RecordedIndex returns the entries with the verdicts and findings that data/equations.csv
// has, which [Decide] computed; of a finding only Numbers is recorded.
func RecordedIndex() ([]Row, error) {
	table, err := recorded("equations.csv")
	if err != nil {
		return nil, err
	}
	verdicts := map[string][]string{}
	for _, r := range table {
		verdicts[r[0]] = r
	}
	var rows []Row
	for _, e := range Index() {
		r, ok := verdicts[e.Number]
		if !ok {
			return rows, fmt.Errorf("paper: data/equations.csv has no row for (%s); go run ./mixpolicy/study/record equations makes it anew", e.Number)
		}
		rows = append(rows, Row{e, Finding{Numbers: r[8]}, Verdict(r[6])})
	}
	return rows, nil
}

// recorded reads a table of the folder data, without its header.
func recorded(name string) ([][]string, error) {
	f, err := data.Files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("paper: data/%s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("paper: data/%s is empty, want a header at least", name)
	}
	return rows[1:], nil
}
