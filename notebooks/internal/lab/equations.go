package lab

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/data"
	"github.com/mixpolicy/lab/mixpolicy/paper"
)

// An equation is an entry of the index: its statement, meaning and verdict, links from the pages to its code and its
// test, the number of mutants of its code, and how many of them the tests notice.
type equation struct {
	paper.Row
	Stated           paper.Statement
	Score            data.Score
	SymbolAt, TestAt string // empty if not found
}

// equations returns the index of equations and statements.
func (l *Lab) equations() (all []*equation, err error) {
	rows, unread := paper.RecordedIndex()
	statements, unstated := paper.Statements()
	scores, err := data.Rows[data.Score]("mutations.csv")
	if err := errors.Join(unread, unstated, err); err != nil {
		return nil, err
	}
	score := map[string]data.Score{}
	for _, s := range scores {
		score[s.Number] = s
	}
	for i, r := range rows {
		e := &equation{Row: r, Stated: statements[i], Score: score[r.Number]}
		dir, base := path.Split(r.Symbol)
		pack, name, _ := strings.Cut(base, ".")
		e.SymbolAt = l.declaration(dir+pack, name)
		// A test's name has the form folder/TestName/subtest.
		dir, name, _ = strings.Cut(r.Test(), "/Test")
		name, _, _ = strings.Cut(name, "/")
		e.TestAt = l.declaration(dir, "Test"+name)
		all = append(all, e)
	}
	return all, nil
}

// declaration returns a link to the place where the package in this folder of the clone declares the name, which has
// the form Name or Type.Method. If Type.Method is not declared by itself, as a method of an interface or of an embedded
// type, the link is to Type. If declaration finds neither the name nor Type, it returns "".
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

// A choice is a value, such as a verdict or the kind of an erratum, and the number of a page's entries with this value.
type choice struct {
	Value, Text string
	Count       int
}

// Choices returns the choices by which a reader can filter the equations of the page.
func (p *page) Choices() (found []choice) {
	for _, e := range p.Equations {
		found = counted(counted(found, string(e.Verdict)), string(e.Kind()))
	}
	order := []string{"holds", "holds as corrected", "error", "gap", "slip", "ambiguity", "misprint", "fails", "definition"}
	slices.SortFunc(found, func(a, b choice) int { return slices.Index(order, a.Value) - slices.Index(order, b.Value) })
	for i, c := range found {
		if slices.Contains(order[2:7], c.Value) {
			found[i].Text = "as corrected: " + c.Value
		}
	}
	return slices.DeleteFunc(found, func(c choice) bool { return !slices.Contains(order, c.Value) }) // an empty kind is not a choice
}

var (
	listed  = regexp.MustCompile(`^(?:- |\d+\. )`)
	strong  = regexp.MustCompile(`\*\*(.+?)\*\*`)
	ordered = regexp.MustCompile(`^\d`)
)

// inHTML returns the HTML of a statement's Markdown: paragraphs, lists and bold face. TeX stays as it is, for MathJax.
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

// cards returns a script with the card of each equation, by the equation's anchor. A page loads the script before it
// shows the first card.
func cards(equations []*equation) ([]byte, error) {
	all := map[string]string{}
	for _, e := range equations {
		var b strings.Builder
		if err := layout.ExecuteTemplate(&b, "card", e); err != nil {
			return nil, err
		}
		all[e.Anchor()] = b.String()
	}
	return asScript("cards", all)
}

var (
	anchor = regexp.MustCompile(`<a id="([^"]*)"></a>`)

	// citation matches a citation (a number in parentheses, or a named statement) or text that is not prose, to skip it.
	// (A.1) to (A.3) may be equations of the appendix or assumptions of section 2, and are not linked.
	citation = regexp.MustCompile(`(?s)<pre\b.*?</pre>|<code\b.*?</code>|<a\b.*?</a>|<h\d\b.*?</h\d>` +
		`|<summary\b.*?</summary>|<script\b.*?</script>|<style\b.*?</style>|<[^>]*>|\$\$.*?\$\$|\$[^$]*\$` +
		`|\((?:\d\.\d+[a-c]?|A\.(?:[4-9]|1\d))\)|\b(?:Definition|Assumption|Lemma|Proposition|Theorem|Algorithm|Figure) (?:[A\d]\.)?\d+`)
)

// linkEquations replaces the anchors of equations by links to the index, at the beginning of the paragraphs, and turns
// citations of an equation into links to the equation in its notebook. Each link shows the equation's card.
func linkEquations(body string, equations []*equation) string {
	at, of := map[string]*equation{}, map[string]*equation{}
	for _, e := range equations {
		at[e.Anchor()], of[e.Number] = e, e
	}
	body = paragraph.ReplaceAllStringFunc(body, func(p string) string {
		var links strings.Builder
		p = anchor.ReplaceAllStringFunc(p, func(tag string) string {
			id := anchor.FindStringSubmatch(tag)[1]
			e := at[id]
			if e == nil {
				return tag
			}
			number := html.EscapeString(e.Number)
			fmt.Fprintf(&links, `<a id="%s" class="numbered" data-card="%[1]s" href="equations.html#%[1]s" `+
				`aria-label="%s in the index of equations">%[2]s</a>`, id, number)
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
			e = of[number+"a"] // (3.14) means (3.14a) and the parts after it
		}
		if e == nil {
			return text
		}
		return fmt.Sprintf(`<a class="cited" data-card="%[1]s" href="%[2]s.html#%[1]s">%[3]s</a>`, e.Anchor(), e.Notebook, text)
	})
}
