package paper

import (
	"context"
	"encoding/json"
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
	// Error means that even in the reading most favourable to the authors, [Erratum.Reading], the statement is false
	// or the algorithm goes wrong.
	Error Kind = "error"
	// Gap means that the paper's argument does not prove the statement, which may still be true.
	Gap Kind = "gap"
	// Slip means that a sign, an index, a constant, a set or a term is wrong, and that the obvious correction restores
	// the conclusions.
	Slip Kind = "slip"
	// Ambiguity means that the statement can be interpreted in two or more ways. It holds in at least one
	// interpretation, but not in all.
	Ambiguity Kind = "ambiguity"
	// Misprint means a mistake that misleads no reader.
	Misprint Kind = "misprint"
)

// Kinds returns all kinds, from the gravest to the least grave.
func Kinds() []Kind { return []Kind{Error, Gap, Slip, Ambiguity, Misprint} }

// Erratum is a fault in the paper. The field Kind is one of the [Kinds]. Each section of data/errata.md describes one
// erratum. One cause is one erratum, however many places it affects. Formulas are TeX between dollar signs.
type Erratum struct {
	ID                      string
	Kind                    Kind
	Where                   []string // the places: numbers of equations and statements, sections, or the abstract
	Printed, Corrected, Why string
	Downstream              string // the consequences in the paper and in this project
	Reading                 string // for an Error: the interpretation most favourable to the authors; the statement fails even in this one
	Examined                string // for an Error: all interpretations that we examined, and the result for each
	Choice                  string // if several corrections are possible: the one that we take, and why
	witness                 check
}

// Witness computes how far the printed form and the corrected form are from being true; see [Finding]. For every
// erratum, the printed form fails, and the corrected form holds. For an [Error], Witness also computes how far the
// statement is from being true in the interpretation [Erratum.Reading].
func (e Erratum) Witness(ctx context.Context) (Finding, error) {
	return e.witness.run(ctx, "erratum "+strconv.Quote(e.ID))
}

// Errata returns all errata of data/errata.md, roughly in the order of the paper.
func Errata() []Erratum { return slices.Clone(errata()) }

var errata = sync.OnceValue(func() []Erratum { return mixpolicy.Must(readErrata("errata.md")) })

// readErrata reads, for each erratum, a section "## ID" with a list of its fields.
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

// setFields reads the list of fields in a section of a file; a field is a line such as "- kind: slip".
func setFields(file, id, section string, fields map[string]*string) error {
	for line := range strings.SplitSeq(section, "\n") {
		name, text, _ := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		if fields[name] == nil || text == "" {
			return fmt.Errorf("paper: data/%s: section %s: line %q, want a known field with text, as in \"- kind: slip\"", file, id, line)
		}
		*fields[name] = text
	}
	return nil
}

// parts lists the parts of the paper, each with a pattern for the places of that part.
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

// Part returns the name of the part of the paper that contains the erratum's first place.
func (e Erratum) Part() string {
	for _, p := range parts {
		if p.places.MatchString(e.Where[0]) {
			return p.name
		}
	}
	return ""
}

// Markdown returns a description of the erratum in Markdown. Its parameter `numbers` states in words what the witness
// found.
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

// WriteErrata runs the witnesses of all errata. It writes the numbers that the witnesses find, as CSV with a header.
func WriteErrata(ctx context.Context, w io.Writer) (err error) {
	defer catch(&err)
	return csvrows.Encode(w, mapped(errata(), func(e Erratum) witnessed { return witnessed{e.ID, must(e.Witness(ctx)).Numbers} }))
}

// RecordedErratum is an erratum with the recorded numbers of its witness.
type RecordedErratum struct {
	Erratum
	Numbers string
}

// RecordedErrata returns the errata with the numbers that [WriteErrata] recorded in data/errata.csv.
func RecordedErrata() (all []RecordedErratum, err error) {
	rows, err := data.Rows[witnessed]("errata.csv")
	for i, e := range errata() {
		if err == nil && (i >= len(rows) || rows[i].ID != e.ID) {
			err = fmt.Errorf("data/errata.csv lacks or misplaces %q; to rewrite it, go run ./mixpolicy/study/record table errata", e.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("paper: %w", err)
		}
		all = append(all, RecordedErratum{e, rows[i].Witness})
	}
	return all, nil
}

// Statement is what an [Entry] states, in Markdown with TeX between dollar signs.
type Statement struct {
	Number    string
	Printed   string // as in the paper
	Corrected string // the corrected form, with the changes in \boxed or in bold type; "" if the entry is right as printed
	Says      string // what the statement means, and what it is for
}

// Statements returns the statements of data/statements.md, one for each entry of [Index], in the same order.
func Statements() (all []Statement, err error) {
	numbers, texts, err := sections("statements.md")
	if err != nil {
		return nil, err
	}
	for _, number := range numbers {
		s := Statement{Number: number}
		var said []string
		for block := range strings.SplitSeq(texts[number], "\n\n") {
			quote, quoted := strings.CutPrefix(block, "> ")
			quote = strings.ReplaceAll(strings.ReplaceAll(quote, "\n>", "\n"), "\n ", "\n")
			switch {
			case !quoted:
				said = append(said, block)
			case s.Printed == "":
				s.Printed = quote
			default:
				s.Corrected += quote
			}
		}
		s.Says = strings.Join(said, "\n\n")
		all = append(all, s)
	}
	return all, nil
}

// sections returns the headings "## …" of a Markdown file of the folder data, and the text below each.
func sections(file string) (names []string, texts map[string]string, err error) {
	page, err := data.Files.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("paper: %w", err)
	}
	texts = map[string]string{}
	for _, section := range strings.Split("\n"+string(page), "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		if _, twice := texts[name]; twice {
			return nil, nil, fmt.Errorf("paper: data/%s has two sections named %s", file, name)
		}
		names, texts[name] = append(names, name), strings.TrimSpace(text)
	}
	return names, texts, nil
}

// stated matches a place for statements in the source of a notebook's cell, where Jupyter writes one string for each
// line.
var stated = regexp.MustCompile(`(?m)^( *)"<!-- stated: (.*) -->\\n",\n(?:.*\n)*?( *"<!-- end -->)`)

// WithStatements returns the notebook with its places for statements filled in. A place is a pair of marks, such as
//
//	<!-- stated: 3.29; Lemma 3.3 with 3.36 -->
//	<!-- end -->
//
// WithStatements replaces the text between the marks. Equations after "with" are parts of the statement before "with".
// The consequences of an erratum are stated only at the notebook's first statement that the erratum affects.
// WithStatements also returns the paper's numbers of the statements that it filled in, such as "3.22".
func WithStatements(notebook string) (text string, numbers []string, err error) {
	defer catch(&err)
	told := map[string]bool{}
	text = stated.ReplaceAllStringFunc(notebook, func(place string) string {
		m := stated.FindStringSubmatch(place)
		var b strings.Builder
		for list := range strings.SplitSeq(m[2], "; ") {
			of := strings.Split(strings.Replace(list, " with ", ", ", 1), ", ")
			numbers = append(numbers, of...)
			b.WriteString("\n" + quotation(of, told))
		}
		lines := []string{m[1] + jsonOf("<!-- stated: "+m[2]+" -->\n")}
		for line := range strings.Lines(b.String() + "\n") {
			lines = append(lines, m[1]+jsonOf(line))
		}
		return strings.Join(lines, ",\n") + ",\n" + m[3]
	})
	return text, numbers, nil
}

// jsonOf returns the string as Jupyter writes it.
func jsonOf(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	noError(encoder.Encode(s))
	return strings.TrimSpace(b.String())
}

// quotation returns a statement as a notebook quotes it. The first number is the number of the statement, and the
// others are the numbers of equations that are part of it. The keys of told are the IDs of the errata whose
// consequences the notebook has already stated; quotation adds to them.
func quotation(numbers []string, told map[string]bool) string {
	all, s, heads := must(Statements()), Statement{}, []string{}
	for _, number := range numbers {
		i := slices.IndexFunc(all, func(s Statement) bool { return s.Number == number })
		if i < 0 {
			noError(fmt.Errorf("paper: a notebook has a place for (%s), which is not in data/statements.md", number))
		}
		if s.Number == "" {
			s = all[i]
		}
		if !strings.Contains(number, " ") {
			number = "(" + number + ")"
		}
		heads = append(heads, number)
	}
	said := "**" + strings.Join(heads, ", ") + ".** " + s.Says + "\n\n"
	if s.Corrected == "" {
		said += s.Printed
	} else {
		said += "*Corrected:*\n\n" + s.Corrected + "\n\n<details><summary>As printed</summary>\n\n" + s.Printed +
			"\n\n</details>\n\n"
		for _, e := range errata() {
			if !slices.ContainsFunc(e.Where, func(where string) bool { return slices.Contains(numbers, where) }) {
				continue
			}
			said += fmt.Sprintf("*Erratum* [%s](07-conclusion-and-errata.ipynb#erratum-%[1]s) (%s)", e.ID, e.Kind)
			if told[e.ID] {
				said += ", as above. "
			} else {
				said += ". *What changes:* " + e.Downstream + " "
			}
			told[e.ID] = true
		}
	}
	return "> " + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(said), "\n", "\n> "), "> \n", ">\n") + "\n"
}

// unmarked escapes three characters that Markdown would interpret in the text of a finding.
var unmarked = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;")

// Premises returns a map whose keys are numbers of index entries, and whose values are the numbers of their premises,
// as listed in data/premises.csv. The premises of an entry are the entries that the paper cites when it proves or
// derives this entry. The map has no cycle; an entry without premises is not in the map.
func Premises() (map[string][]string, error) {
	rows, err := data.Rows[struct {
		Number   string `csv:"number"`
		Premises string `csv:"premises"`
	}]("premises.csv")
	of := map[string][]string{}
	for _, row := range rows {
		of[row.Number] = strings.Split(row.Premises, "; ")
	}
	return of, err
}
