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

// Statements returns the statements of data/statements.md, one for each entry of [Index] and in its order.
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
			return nil, nil, fmt.Errorf("paper: data/%s: %s has two sections", file, name)
		}
		names, texts[name] = append(names, name), strings.TrimSpace(text)
	}
	return names, texts, nil
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
func quotation(numbers []string, told map[string]bool) string {
	all := must(Statements())
	var s Statement
	var heads []string
	for _, number := range numbers {
		i := slices.IndexFunc(all, func(s Statement) bool { return s.Number == number })
		if i < 0 {
			noError(fmt.Errorf("paper: a notebook has a place for (%s), which is not in the index", number))
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
		said += "*Printed:*\n\n" + s.Printed + "\n\n*Corrected:*\n\n" + s.Corrected + "\n\n*What changes:*"
		for _, e := range errata() {
			if !slices.ContainsFunc(e.Where, func(where string) bool { return slices.Contains(numbers, where) }) {
				continue
			}
			said += fmt.Sprintf(" [%s](07-conclusion-and-errata.ipynb#erratum-%[1]s), %s", e.ID, e.Kind)
			if told[e.ID] {
				said += ", as above."
			} else {
				said += ": " + e.Downstream
			}
			told[e.ID] = true
		}
	}
	return "> " + strings.ReplaceAll(strings.ReplaceAll(said, "\n", "\n> "), "> \n", ">\n") + "\n"
}

// unmarked keeps Markdown from reading signs of computed numbers as its own.
var unmarked = strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;")

// Premises says of each entry of the index on which others it rests: those that its proof or
// derivation in the paper cites, by data/premises.csv. The map from numbers to numbers has no
// cycle; an entry without premises is not in it.
func Premises() (map[string][]string, error) {
	rows, err := data.Rows[struct {
		Number   string `csv:"number"`
		Premises string `csv:"premises"`
	}]("premises.csv")
	if err != nil {
		return nil, err
	}
	of := map[string][]string{}
	for _, row := range rows {
		of[row.Number] = strings.Split(row.Premises, "; ")
	}
	return of, nil
}
