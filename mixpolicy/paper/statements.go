package paper

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/data"
)

// Statement is what an [Entry] states, in Markdown with TeX between dollar signs.
type Statement struct {
	Number    string
	Printed   string // as the paper has it
	Corrected string // with what differs in \boxed or in bold face; "" if the entry is right as printed
	Says      string // what it says and what it is for
}

// Statements returns the statements of data/statements.md in the order of [Index]. An entry
// without a statement is an error, and so are two statements of one entry, one of no entry, and
// a corrected form where there is no erratum, or none where there is one.
func Statements() ([]Statement, error) {
	text, err := data.Files.ReadFile("statements.md")
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	all, err := parseStatements(string(text), Index())
	if err != nil {
		return nil, fmt.Errorf("paper: data/statements.md: %w", err)
	}
	return all, nil
}

// parseStatements reads a section "## number" for each entry: one quotation or two, and sentences.
func parseStatements(text string, index []Entry) ([]Statement, error) {
	found := map[string]Statement{}
	for _, section := range strings.Split("\n"+text, "\n## ")[1:] {
		number, body, _ := strings.Cut(section, "\n")
		s := Statement{Number: strings.TrimSpace(number)}
		var quoted, said []string
		for block := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
			if quote, is := strings.CutPrefix(block, "> "); is {
				quote = strings.ReplaceAll(quote, "\n>", "\n")
				quoted = append(quoted, strings.ReplaceAll(quote, "\n ", "\n"))
			} else {
				said = append(said, block)
			}
		}
		s.Says = strings.Join(said, "\n\n")
		if s.Says == "" || len(quoted) < 1 || len(quoted) > 2 {
			return nil, fmt.Errorf("(%s) has %d quotations and the sentences %q, want one or two, and what it says", s.Number, len(quoted), s.Says)
		}
		if !slices.ContainsFunc(index, func(e Entry) bool { return e.Number == s.Number }) {
			return nil, fmt.Errorf("(%s) is not in the index", s.Number)
		}
		if _, twice := found[s.Number]; twice {
			return nil, fmt.Errorf("(%s) has two sections", s.Number)
		}
		s.Printed, s.Corrected = quoted[0], strings.Join(quoted[1:], "")
		found[s.Number] = s
	}
	all := make([]Statement, 0, len(index))
	for _, e := range index {
		s, stated := found[e.Number]
		switch {
		case !stated:
			return nil, fmt.Errorf("(%s) has no section", e.Number)
		case (s.Corrected != "") != (e.Errata != ""):
			return nil, fmt.Errorf("(%s) has the corrected form %q and the erratum %q, want both or neither", e.Number, s.Corrected, e.Errata)
		}
		all = append(all, s)
	}
	return all, nil
}

// stated is a place for statements in the source of a notebook's cell, as Jupyter writes it: a string a line.
var stated = regexp.MustCompile(`(?m)^( *)"<!-- stated: (.*) -->\\n",\n(?:.*\n)*?( *"<!-- end -->)`)

// WithStatements returns the notebook with the statements that it has places for. A place is
//
//	<!-- stated: 3.29; Lemma 3.3 with 3.36 -->
//	<!-- end -->
//
// and what is between is made anew; equations after "with" are part of the statement before them.
// Of an erratum it tells once what it changes. It also returns the numbers that are stated.
func WithStatements(notebook string) (text string, numbers []string, err error) {
	defer catch(&err)
	told := map[string]bool{}
	text = stated.ReplaceAllStringFunc(notebook, func(place string) string {
		m := stated.FindStringSubmatch(place)
		var b strings.Builder
		for list := range strings.SplitSeq(m[2], "; ") {
			number, parts, _ := strings.Cut(list, " with ")
			of := []string{number}
			if parts != "" {
				of = append(of, strings.Split(parts, ", ")...)
			}
			numbers = append(numbers, of...)
			b.WriteString("\n" + must(quotation(of, told)))
		}
		lines := []string{m[1] + jsonOf("<!-- stated: "+m[2]+" -->\n")}
		for line := range strings.Lines(b.String() + "\n") {
			lines = append(lines, m[1]+jsonOf(line))
		}
		return strings.Join(lines, ",\n") + ",\n" + m[3]
	})
	return text, numbers, nil
}

// jsonOf is the string as Jupyter writes it.
func jsonOf(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	noError(encoder.Encode(s))
	return strings.TrimSpace(b.String())
}

// quotation is a statement as a notebook quotes it. Its number is the first one, and the others are
// those of equations that are part of it.
func quotation(numbers []string, told map[string]bool) (string, error) {
	all, err := Statements()
	if err != nil {
		return "", err
	}
	index := Index()
	var s Statement
	for _, number := range numbers {
		i := slices.IndexFunc(index, func(e Entry) bool { return e.Number == number })
		if i < 0 {
			return "", fmt.Errorf("paper: a notebook has a place for (%s), which is not in the index", number)
		}
		if s.Number == "" {
			s = all[i]
		}
	}
	heads := slices.Clone(numbers)
	for i, number := range heads {
		if !strings.Contains(number, " ") {
			heads[i] = "(" + number + ")"
		}
	}
	said := "**" + strings.Join(heads, ", ") + ".** " + s.Says + "\n\n"
	if s.Corrected == "" {
		said += s.Printed
	} else {
		said += "*Printed:*\n\n" + s.Printed + "\n\n*Corrected:*\n\n" + s.Corrected + "\n\n*What changes:*"
		for _, e := range errata {
			if !slices.ContainsFunc(e.Where, func(where string) bool { return slices.Contains(numbers, where) }) {
				continue
			}
			said += fmt.Sprintf(" [%s](07-conclusion-and-errata.ipynb#erratum-%[1]s), %s", e.ID, e.Kind)
			if told[e.ID] {
				said += ", as above."
			} else {
				said += ": " + unmarked.Replace(e.Downstream)
			}
			told[e.ID] = true
		}
	}
	return "> " + strings.ReplaceAll(strings.ReplaceAll(said, "\n", "\n> "), "> \n", ">\n") + "\n", nil
}

// unmarked keeps Markdown from reading signs of mathematics as its own.
var unmarked = strings.NewReplacer("*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;")
