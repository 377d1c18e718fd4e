package paper

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/internal/csvrows"
	"github.com/mixpolicy/lab/mixpolicy"
)

// Kind says how grave an [Erratum] is.
type Kind string

const (
	// Error means that the statement is false, or that the algorithm goes wrong, also under the
	// interpretation most in the authors' favour, see [Erratum.Reading].
	Error Kind = "error"
	// Gap means that the argument does not carry the statement, which may be true.
	Gap Kind = "gap"
	// Slip means a sign, an index or a constant that changes a formula, but no conclusion.
	Slip Kind = "slip"
	// Ambiguity means that there are two interpretations, and one holds.
	Ambiguity Kind = "ambiguity"
	// Misprint means that no reader is misled.
	Misprint Kind = "misprint"
)

// Kinds returns all kinds, the gravest first.
func Kinds() []Kind { return []Kind{Error, Gap, Slip, Ambiguity, Misprint} }

// Erratum is a section of data/errata.md: something false or meaningless in the paper. One cause is
// one erratum, wherever it shows. Formulas are TeX between dollar signs.
type Erratum struct {
	ID                      string
	Kind                    Kind
	Where                   []string // equation and statement numbers, sections, or the abstract
	Printed, Corrected, Why string
	Downstream              string // what it changes in the paper and in this project
	Reading                 string // of an Error: the interpretation most in the authors' favour, which fails too
	Examined                string // of an Error: the interpretations that were examined, and what became of each
	Choice                  string // of several corrections: which we take, and why
	witness                 check
}

// Witness computes how far the printed and the corrected form are from being true, see
// [Finding]: the printed form does not hold, and the corrected one does. Of an [Error] it also
// computes how far the Reading is.
func (e Erratum) Witness(ctx context.Context) (Finding, error) {
	return e.witness.run(ctx, "erratum "+strconv.Quote(e.ID))
}

// Errata returns all errata of data/errata.md, in the order of the paper.
func Errata() []Erratum { return slices.Clone(errata()) }

var errata = sync.OnceValue(func() []Erratum { return mixpolicy.Must(readErrata("errata.md")) })

// readErrata reads a section "## ID" for each erratum, with a list of its fields.
func readErrata(file string) (all []Erratum, err error) {
	ids, texts, err := sections(file)
	for _, id := range ids {
		e := Erratum{ID: id, witness: witnesses[id]}
		var kind, where string
		fields := map[string]*string{"kind": &kind, "where": &where, "printed": &e.Printed, "corrected": &e.Corrected,
			"why": &e.Why, "changes": &e.Downstream, "in the authors' favour": &e.Reading, "examined": &e.Examined, "choice": &e.Choice}
		if err := setFields(file, id, texts[id], fields); err != nil {
			return nil, err
		}
		e.Kind, e.Where = Kind(kind), strings.Split(where, "; ")
		all = append(all, e)
	}
	return all, err
}

// setFields reads a list of fields, as in - kind: slip, of a section of a file.
func setFields(file, id, section string, fields map[string]*string) error {
	for line := range strings.SplitSeq(section, "\n") {
		name, text, _ := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		if fields[name] == nil || text == "" {
			return fmt.Errorf("paper: data/%s: %s: line %q, want a known field and its text, as in - kind: slip", file, id, line)
		}
		*fields[name] = text
	}
	return nil
}

// parts of the paper, and how the names of the places in them begin.
var parts = []struct {
	name   string
	places *regexp.Regexp
}{
	{"Section 2", regexp.MustCompile(`^(2\.|§2|Definition 2|Assumption)`)},
	{"Section 3", regexp.MustCompile(`^(3\.|§3|Lemma 3|Proposition 3|Theorem 3|Algorithm)`)},
	{"Section 4", regexp.MustCompile(`^(4\.|§4)`)}, {"Section 5", regexp.MustCompile(`^(5\.|§5|Lemma 5|Proposition 5)`)},
	{"Appendix", regexp.MustCompile(`^(A\.|Lemma A|§A)`)},
	{"Section 6, abstract and conclusion", regexp.MustCompile(`^(6\.|§6|§7|abstract|Figure)`)},
}

// Part is the part of the paper that the erratum is about: the part of its first place.
func (e Erratum) Part() string {
	for _, p := range parts {
		if p.places.MatchString(e.Where[0]) {
			return p.name
		}
	}
	return ""
}

// Markdown tells of the erratum, with the numbers of its witness.
func (e Erratum) Markdown(numbers string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** &nbsp; *%s* &nbsp; %s\n\n", strings.Join(e.Where, ", "), e.ID, e.Kind)
	for _, line := range [][2]string{
		{"printed: ", e.Printed}, {"corrected: ", e.Corrected}, {"", e.Why}, {"numerical check: ", unmarked.Replace(numbers)},
		{"changes: ", e.Downstream}, {"most favourable reading: ", e.Reading},
		{"examined: ", e.Examined}, {"choice: ", e.Choice},
	} {
		if line[1] != "" {
			b.WriteString("- " + line[0] + line[1] + "\n")
		}
	}
	return b.String()
}

// witnessed is a row of data/errata.csv.
type witnessed struct {
	ID      string `csv:"id"`
	Witness string `csv:"witness"`
}

// WriteErrata writes what the witnesses of all errata find as CSV with a header.
func WriteErrata(ctx context.Context, w io.Writer) (err error) {
	defer catch(&err)
	return csvrows.Encode(w, mapped(errata(), func(e Erratum) witnessed { return witnessed{e.ID, must(e.Witness(ctx)).Numbers} }))
}

// RecordedErratum is an erratum with the numbers of its witness.
type RecordedErratum struct {
	Erratum
	Numbers string
}

// RecordedErrata returns the errata with the numbers of their witnesses, which [WriteErrata] computed.
func RecordedErrata() (all []RecordedErratum, err error) {
	rows, err := data.Rows[witnessed]("errata.csv")
	for i, e := range errata() {
		if err == nil && (i >= len(rows) || rows[i].ID != e.ID) {
			err = fmt.Errorf("data/errata.csv has no row for %q; go run ./mixpolicy/study/record table errata makes it again", e.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
		all = append(all, RecordedErratum{e, rows[i].Witness})
	}
	return all, nil
}
