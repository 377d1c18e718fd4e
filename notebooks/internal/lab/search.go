package lab

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"

	"github.com/mixpolicy/lab/plotting"
)

// A passage is what the search can find: a section of a notebook, an entry of the index of equations, a claim in one of
// its settings, or an erratum.
type passage struct {
	Page  string `json:"page"`
	Title string `json:"title"`
	Text  string `json:"text"`
	URL   string `json:"id"`
}

var unread = regexp.MustCompile(`(?s)<(script|style|pre)\b.*?</(script|style|pre)>|<a class="anchor-link".*?</a>|<[^>]*>`)

// gaps matches spaces that tags leave before punctuation marks or just inside parentheses.
var gaps = regexp.MustCompile(` ([.,;:)])|(\() `)

// plain returns the text of HTML, without scripts, styles, preformatted text and the links of headings to themselves.
func plain(body string) string {
	return gaps.ReplaceAllString(strings.Join(strings.Fields(html.UnescapeString(unread.ReplaceAllString(body, " "))), " "), "$1$2")
}

// passages returns the sections of a notebook's page.
func (p *page) passages() (all []passage) {
	body, title, at := string(p.Body), plain(string(p.Title)), p.File()
	found := append(headings.FindAllStringSubmatchIndex(body, -1), []int{len(body)}) // the end of the last section
	for i, m := range found[:len(found)-1] {
		text := plain(body[m[1]:found[i+1][0]])
		all = append(all, passage{title, plain(body[m[6]:m[7]]), text, at + "#" + html.UnescapeString(body[m[4]:m[5]])})
	}
	return all
}

func claimPassages(claims []*claim) (all []passage) {
	for _, c := range claims {
		for _, s := range c.Settings {
			all = append(all, passage{"Claims", plotting.Unicode(c.Text),
				plotting.Unicode(string(s.Verdict)+" "+s.On+" "+s.Setting) + " " + s.Numbers(), "claims.html#" + s.ID})
		}
	}
	return all
}

func errataPassages(errata []*erratum) (all []passage) {
	for _, e := range errata {
		text := strings.Join([]string{strings.Join(e.Where, ", "), string(e.Kind), e.Why, e.Printed, e.Corrected, e.Downstream}, " ")
		all = append(all, passage{"Errata", e.Title, text, "errata.html#erratum-" + e.ID})
	}
	return all
}

func equationPassages(equations []*equation) (all []passage) {
	for _, e := range equations {
		text := strings.Join([]string{e.Stated.Says, e.Symbol, string(e.Verdict), e.Finding.Numbers}, " ")
		all = append(all, passage{"Equations and statements", e.Number + " " + e.What, text, "equations.html#" + e.Anchor()})
	}
	return all
}

// asScript returns a script that sets a variable of the window. A page that is opened from disk can load a script,
// although the browser does not let it read files.
func asScript(name string, value any) ([]byte, error) {
	var script bytes.Buffer
	script.WriteString("window." + name + " = ")
	encoder := json.NewEncoder(&script)
	encoder.SetEscapeHTML(false) // the script is a separate file
	err := encoder.Encode(value)
	return script.Bytes(), err
}
