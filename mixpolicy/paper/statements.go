package paper

import (
	"fmt"
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
