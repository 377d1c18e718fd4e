package lab

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
)

// A passage is what the search finds: a section of a notebook, an equation, a claim or an erratum.
type passage struct {
	Page  string `json:"page"`
	Title string `json:"title"`
	Text  string `json:"text"`
	URL   string `json:"id"`
}

var unread = regexp.MustCompile(`(?s)<(script|style|pre)\b.*?</(script|style|pre)>|<a class="anchor-link".*?</a>|<[^>]*>`)

// plain is a page's HTML without its tags, its code and what that prints.
func plain(body string) string {
	return strings.Join(strings.Fields(html.UnescapeString(unread.ReplaceAllString(body, " "))), " ")
}

// passages are the sections of a notebook's page.
func (p *page) passages() (all []passage) {
	body, title, at := string(p.Body), plain(string(p.Title)), p.File()
	found := headings.FindAllStringSubmatchIndex(body, -1)
	for i, m := range found {
		end := len(body)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		all = append(all, passage{title, plain(body[m[6]:m[7]]), plain(body[m[1]:end]), at + "#" + html.UnescapeString(body[m[4]:m[5]])})
	}
	return all
}

func claimPassages(claims []*claim) (all []passage) {
	for _, c := range claims {
		for _, s := range c.Settings {
			all = append(all, passage{"Claims", c.Text, strings.Join([]string{s.Row["verdict"], s.Row["on"], s.Row["numbers"]}, " "), "claims.html#" + s.Row["id"]})
		}
	}
	return all
}

func errataPassages(errata []*erratum) (all []passage) {
	for _, e := range errata {
		r := e.Row
		all = append(all, passage{"Errata", e.Title, strings.Join([]string{r["where"], r["kind"], r["why"], r["printed"], r["corrected"], r["downstream"]}, " "), "errata.html#erratum-" + r["id"]})
	}
	return all
}

func equationPassages(equations []record) (all []passage) {
	for _, e := range equations {
		all = append(all, passage{"Equations and statements", e["number"] + " " + e["what"], strings.Join([]string{e["says"], e["symbol"], e["verdict"], e["found"]}, " "), "equations.html#" + e["anchor"]})
	}
	return all
}

// asScript is a script that sets a variable of the window. A script is had from disk too, where a
// browser lets no page read a file.
func asScript(name string, value any) ([]byte, error) {
	var script bytes.Buffer
	script.WriteString("window." + name + " = ")
	encoder := json.NewEncoder(&script)
	encoder.SetEscapeHTML(false) // it is a file of its own
	err := encoder.Encode(value)
	return script.Bytes(), err
}
