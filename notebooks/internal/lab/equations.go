package lab

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/paper"
)

// A record is a row of a table of data/, by the names in its heading.
type record map[string]string

// records reads a table of data/.
func records(name string) ([]record, error) {
	f, err := data.Files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("data/%s: %w", name, err)
	}
	var all []record
	for _, row := range rows[min(1, len(rows)):] {
		r := record{}
		for i, field := range row {
			r[rows[0][i]] = field
		}
		all = append(all, r)
	}
	return all, nil
}

// equations is the index of equations and statements: what each says, where it
// is in the notebooks and in the code, and what became of it. To data/equations.csv
// it adds symbolAt and testAt, the places of the symbol and of the test, as links
// from the pages; empty if not found. From data/statements.md it adds printed, corrected
// and says.
func (l *Lab) equations() ([]record, error) {
	all, err := records("equations.csv")
	if err != nil {
		return nil, err
	}
	statements, err := paper.Statements()
	if err != nil {
		return nil, err
	}
	stated := map[string]paper.Statement{}
	for _, s := range statements {
		stated[s.Number] = s
	}
	known := map[string]string{}
	find := func(dir, name string) string {
		if _, ok := known[dir+name]; !ok {
			known[dir+name] = l.declaration(dir, name)
		}
		return known[dir+name]
	}
	for _, e := range all {
		dir, base := path.Split(e["symbol"])
		pack, name, _ := strings.Cut(base, ".")
		e["symbolAt"] = find(dir+pack, name)
		// A test is named as go test -run has it: folder/TestName/subtest.
		dir, name, _ = strings.Cut(e["test"], "/Test")
		name, _, _ = strings.Cut(name, "/")
		e["testAt"] = find(dir, "Test"+name)
		s := stated[e["number"]]
		e["printed"], e["corrected"], e["says"] = s.Printed, s.Corrected, s.Says
	}
	return all, nil
}

// declaration finds where the package in this folder of the clone declares Name, or
// Type.Method. A method of an interface, or one that comes with an embedded
// type, is at its type.
func (l *Lab) declaration(dir, name string) string {
	pattern := `(?m)^(?:func|type|var|const) ` + name + `\b`
	of, method, isMethod := strings.Cut(name, ".")
	if isMethod {
		pattern = `(?m)^func \((?:\w+ )?\*?` + of + `(?:\[.*?\])?\) ` + method + `\b`
	}
	declared := regexp.MustCompile(pattern)
	files, _ := filepath.Glob(filepath.Join(l.root, dir, "*.go"))
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if at := declared.FindIndex(source); at != nil {
			return fmt.Sprintf("../%s/%s#L%d", dir, filepath.Base(file), 1+bytes.Count(source[:at[0]], []byte("\n")))
		}
	}
	if isMethod {
		return l.declaration(dir, of)
	}
	return ""
}

// A choice is a verdict, or the kind of an erratum, and how many equations have it.
type choice struct {
	Value, Text string
	Count       int
}

// Choices are those that equations of the page have, by which it is sifted.
func (p *page) Choices() []choice {
	var found []choice
	for _, c := range []choice{
		{Value: "holds"}, {Value: "holds as corrected"},
		{Value: "error"}, {Value: "gap"}, {Value: "slip"}, {Value: "ambiguity"}, {Value: "misprint"},
		{Value: "fails"}, {Value: "definition"},
	} {
		c.Text = c.Value
		for _, e := range p.Equations {
			switch c.Value {
			case e["verdict"]:
				c.Count++
			case e["kind"]:
				c.Text = "as corrected: " + c.Value
				c.Count++
			}
		}
		if c.Count > 0 {
			found = append(found, c)
		}
	}
	return found
}

var (
	listed  = regexp.MustCompile(`^(?:- |\d+\. )`)
	strong  = regexp.MustCompile(`\*\*(.+?)\*\*`)
	ordered = regexp.MustCompile(`^\d`)
)

// inHTML is the HTML of a statement's Markdown: paragraphs, lists and bold face. TeX stays as it is, for
// MathJax.
func inHTML(markdown string) template.HTML {
	var b strings.Builder
	for block := range strings.SplitSeq(html.EscapeString(markdown), "\n\n") {
		if !listed.MatchString(block) {
			fmt.Fprintf(&b, "<p>%s</p>\n", block)
			continue
		}
		kind := "ul"
		if ordered.MatchString(block) {
			kind = "ol"
		}
		fmt.Fprintf(&b, "<%s>", kind)
		for item := range strings.SplitSeq(block, "\n") {
			fmt.Fprintf(&b, "<li>%s</li>", listed.ReplaceAllString(item, ""))
		}
		fmt.Fprintf(&b, "</%s>\n", kind)
	}
	return template.HTML(strong.ReplaceAllString(b.String(), "<strong>$1</strong>"))
}

// cards is a script with a card for each equation, by its anchor. A page asks for it when the first
// card is to be shown.
func cards(equations []record) ([]byte, error) {
	all := map[string]string{}
	for _, e := range equations {
		var b strings.Builder
		if err := layout.ExecuteTemplate(&b, "card", e); err != nil {
			return nil, err
		}
		all[e["anchor"]] = b.String()
	}
	return asScript("cards", all)
}

var (
	anchor = regexp.MustCompile(`<a id="([^"]*)"></a>`)

	// What is no prose, or a citation: a number in parentheses, or a named statement. (A.1) to
	// (A.3) may be equations of the appendix or assumptions of section 2, and are not linked.
	citation = regexp.MustCompile(`(?s)<pre\b.*?</pre>|<code\b.*?</code>|<a\b.*?</a>|<h\d\b.*?</h\d>|<summary\b.*?</summary>|<script\b.*?</script>|<style\b.*?</style>|<[^>]*>|\$\$.*?\$\$|\$[^$]*\$` +
		`|\((?:\d\.\d+[a-c]?|A\.(?:[4-9]|1\d))\)|\b(?:Definition|Assumption|Lemma|Proposition|Theorem|Algorithm|Figure) (?:[A\d]\.)?\d+`)
)

// linkEquations turns the anchors of equations in a paragraph into links to the index, before it, and
// what cites an equation into links to where it is stated. Each link shows the equation's card.
func linkEquations(body string, equations []record) string {
	at, of := map[string]record{}, map[string]record{}
	for _, e := range equations {
		at[e["anchor"]], of[e["number"]] = e, e
	}
	body = paragraph.ReplaceAllStringFunc(body, func(p string) string {
		var links strings.Builder
		p = anchor.ReplaceAllStringFunc(p, func(tag string) string {
			id := anchor.FindStringSubmatch(tag)[1]
			e := at[id]
			if e == nil {
				return tag
			}
			number := html.EscapeString(e["number"])
			fmt.Fprintf(&links, `<a id="%s" class="numbered" data-card="%[1]s" href="equations.html#%[1]s" aria-label="%s in the index of equations">%[2]s</a>`, id, number)
			return ""
		})
		if links.Len() == 0 {
			return p
		}
		return `<p><span class="numbers">` + links.String() + `</span>` + strings.TrimPrefix(p, "<p>")
	})
	return citation.ReplaceAllStringFunc(body, func(text string) string {
		number := strings.Trim(text, "()")
		e := of[number]
		if e == nil {
			e = of[number+"a"] // (3.14) is (3.14a) and what follows
		}
		if e == nil {
			return text
		}
		return fmt.Sprintf(`<a class="cited" data-card="%[1]s" href="%[2]s.html#%[1]s">%[3]s</a>`, e["anchor"], e["notebook"], text)
	})
}

// scored is what became of the mutants of an equation's code, or of a package's.
type scored struct {
	Score     record
	Survivors []record
}

// mutations is data/mutations.csv with its survivors, and adds to the equations how many
// mutants their code has and how many their tests kill.
func mutations(equations []record) ([]scored, error) {
	scores, err := records("mutations.csv")
	if err != nil {
		return nil, err
	}
	survivors, err := records("survivors.csv")
	if err != nil {
		return nil, err
	}
	of := map[string][]record{}
	for _, s := range survivors {
		of[s["scope"]] = append(of[s["scope"]], s)
	}
	at := map[string]record{}
	for _, e := range equations {
		at[e["number"]] = e
	}
	var all []scored
	for _, s := range scores {
		if e := at[s["scope"]]; e != nil {
			e["mutants"], e["killed"], s["anchor"] = s["mutants"], s["killed"], e["anchor"]
		} else if s["symbol"], s["anchor"] = path.Base(s["symbol"]), ""; len(all) > 0 && all[len(all)-1].Score["scope"] == s["scope"] { // another file of a package
			total := all[len(all)-1].Score
			total["symbol"] += ", " + s["symbol"]
			for _, column := range []string{"mutants", "killed", "equivalent"} {
				a, err := strconv.Atoi(total[column])
				b, err2 := strconv.Atoi(s[column])
				if err := errors.Join(err, err2); err != nil {
					return nil, fmt.Errorf("data/mutations.csv: %s: %w", column, err)
				}
				total[column] = strconv.Itoa(a + b)
			}
			continue
		}
		all = append(all, scored{s, of[s["scope"]]})
	}
	return all, nil
}
