package lab

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// export makes, in build, a page of every notebook in runs, an index of these pages and of pages from earlier runs, the
// index of the search, and a file of every figure. For the paper's notebooks, it also makes the pages of claims, errata
// and equations, and the map. Jupyter's nbconvert turns the cells into HTML, by our template; this package makes the
// rest of a page.
func (l *Lab) export(ctx context.Context, runs []*run) error {
	for _, r := range runs {
		if err := exportFigures(r, l.build("figures")); err != nil {
			return err
		}
		if err := copyFile(l.build(r.name+".ipynb"), r.file); err != nil {
			return err
		}
	}
	bodies, err := l.convert(ctx, runs)
	if err != nil {
		return err
	}
	scripts, err := l.placeScripts()
	if err != nil {
		return err
	}
	index := &page{Name: "index", Title: template.HTML(template.HTMLEscapeString(filepath.Base(l.folder))), Scripts: scripts}
	var rest []*page
	if !l.own {
		index.Title, index.Paper = "Mixture policies: the executable paper", true
		if index.Index, rest, err = l.findings(); err != nil {
			return err
		}
		cff, missing := os.ReadFile(filepath.Join(l.root, "CITATION.cff"))
		index.Version, index.Date = cited.ReplaceAllString(string(cff), "$1"), cited.ReplaceAllString(string(cff), "$2")
		if index.Found, err = l.found(); errors.Join(err, missing) != nil {
			return errors.Join(err, missing)
		}
	}
	if index.Pages, err = l.earlier(runs); err != nil {
		return err
	}
	for i, r := range runs {
		body, err := lighten(r, bodies[i], l.build("figures"))
		if err != nil {
			return err
		}
		p := newPage(r.name, linkEquations(body, index.Index))
		p.layout, p.Seconds = "notebook", r.elapsed.Seconds()
		p.Passages = p.passages()
		index.Pages = append(index.Pages, p)
	}
	slices.SortStableFunc(index.Pages, func(a, b *page) int { return cmp.Compare(a.Name, b.Name) })
	contents, err := json.Marshal(index.Pages)
	if err != nil {
		return err
	}
	if err := writeFile(l.build(contentsFile), contents); err != nil {
		return err
	}
	var all []passage
	pages := append([]*page{index}, append(index.Pages, rest...)...)
	for i, p := range pages {
		p.Picture = "figures/" + p.Name + "-1.png"
		if _, err := os.Stat(l.build(p.Picture)); err != nil {
			p.Picture = "figures/00-start-here-1.png"
		}
		p.Paper, p.Version, p.Date, p.Scripts = index.Paper, index.Version, index.Date, scripts
		if i > 0 {
			p.Previous = pages[i-1]
		}
		if i+1 < len(pages) {
			p.Next = pages[i+1]
		}
		all = append(all, p.Passages...)
		if p.Body == "" && p.layout == "notebook" {
			continue // an earlier run has made the page
		}
		if err := p.write(l.build(p.File())); err != nil {
			return err
		}
	}
	script, err := asScript("passages", all)
	if err != nil {
		return err
	}
	return writeFile(l.build("search.js"), script)
}

// contentsFile lists, in build, the existing pages of notebooks.
const contentsFile = ".contents.json"

// earlier returns, for the index, the existing pages of earlier runs, except those of notebooks that have run again.
func (l *Lab) earlier(runs []*run) (pages []*page, err error) {
	b, err := os.ReadFile(l.build(contentsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &pages)
	}
	if err != nil {
		return nil, fmt.Errorf("build/%s: %w", contentsFile, err)
	}
	for _, p := range pages {
		p.layout = "notebook"
	}
	return slices.DeleteFunc(pages, func(p *page) bool {
		_, err := os.Stat(l.build(p.File()))
		return err != nil || slices.ContainsFunc(runs, func(r *run) bool { return r.name == p.Name })
	}), nil
}

// findings returns the index of equations, and the pages of claims, errata and equations and of the map. It also writes
// the cards of the equations and the pictures of the claims.
func (l *Lab) findings() (equations []*equation, pages []*page, err error) {
	if equations, err = l.equations(); err != nil {
		return nil, nil, err
	}
	shown, failed := cards(equations)
	drawn, err := newChart(equations)
	claims, missing := newClaims()
	errata, lost := newErrata(equations)
	if err := errors.Join(failed, err, missing, lost); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(writeFile(l.build("cards.js"), shown), draw(claims, l.build("figures"))); err != nil {
		return nil, nil, err
	}
	pages = []*page{
		{Name: "claims", Title: "Claims and verdicts", Claims: claims, Passages: claimPassages(claims)},
		{Name: "errata", Title: "Errata", Errata: errata, Passages: errataPassages(errata)},
		{Name: "equations", Title: "Equations and statements", Equations: equations, Passages: equationPassages(equations)},
		{Name: "map", Title: "The map of the paper", Map: drawn},
	}
	for _, p := range pages {
		p.Index = equations
	}
	return equations, pages, nil
}

// The HTML of a page contains the running time of each cell that took at least this long. In a browser, such a cell
// would take several times as long, so the site warns the reader before the cell runs.
const long = 5 * time.Second

// convert makes nbconvert turn the executed notebooks' cells into HTML.
func (l *Lab) convert(ctx context.Context, runs []*run) ([]string, error) {
	out, err := os.MkdirTemp(l.temp, "pages")
	if err != nil {
		return nil, err
	}
	args := []string{"-m", "nbconvert", "--to=html", "--log-level=ERROR", "--output-dir=" + out,
		"--template=cells", "--TemplateExporter.extra_template_basedirs=" + filepath.Join(l.root, "notebooks", "internal", "lab", "pages")}
	for _, r := range runs {
		args = append(args, r.file)
	}
	if _, err := printed(l.command(ctx, l.python, args...)); err != nil {
		return nil, err
	}
	bodies := make([]string, len(runs))
	for i, r := range runs {
		body, err := os.ReadFile(filepath.Join(out, r.name+".html"))
		if err != nil {
			return nil, err
		}
		bodies[i] = string(body)
		for k, took := range r.cells {
			if took < long {
				continue
			}
			cell := fmt.Sprintf(`<div data-cell="%s"`, r.notebook.Cells[k].ID)
			bodies[i] = strings.Replace(bodies[i], cell, fmt.Sprintf(`%s data-seconds="%.0f"`, cell, took.Seconds()), 1)
		}
	}
	return bodies, nil
}

// A page is one of the pages that [Lab.export] writes.
type page struct {
	Name     string // the name of the file, without its extension
	Title    template.HTML
	Lead     template.HTML // the first sentence of the notebook's result or, without a result, the first paragraph
	Minutes  int           // the time to read the prose
	Seconds  float64       // the time to run the notebook
	Passages []passage     // what the search can find on the page

	Body           template.HTML     `json:"-"` // a notebook's cells; empty if an earlier run has made the page
	Contents       []heading         `json:"-"`
	Previous, Next *page             `json:"-"`
	Scripts        map[string]source `json:"-"` // where the page finds its scripts, by the names of their npm packages
	Paper          bool              `json:"-"` // whether the page belongs to the paper's edition, not to the reader's own notebooks
	Picture        string            `json:"-"` // the picture that other sites show with a link to the page

	Version, Date string `json:"-"` // the version and the date of the edition, as in CITATION.cff
	layout        string // the name of the template; "" means the page's Name

	Index []*equation `json:"-"` // the equations whose citations become links

	Pages     []*page            `json:"-"` // the pages of notebooks; set only on the page named index
	Found     [][2]template.HTML `json:"-"` // questions, with our findings
	Claims    []*claim           `json:"-"`
	Errata    []*erratum         `json:"-"`
	Equations []*equation        `json:"-"` // set only on the page of equations
	Map       *chart             `json:"-"` // set only on the page of the map
}

// File returns the name of the page's file in the folder build.
func (p *page) File() string { return p.Name + ".html" }

// published is the address of the paper's pages.
const published = "https://mixpolicy.github.io/lab/"

// Address returns the published address of the page.
func (p *page) Address() string { return strings.TrimSuffix(published+p.File(), "index.html") }

// Summary returns the page's lead without markup or, for a page without a lead, a description of the edition.
func (p *page) Summary() string {
	return cmp.Or(plain(string(p.Lead)), "An executable edition, in Go, of a paper on mixture policies in Markov decision processes")
}

// Card describes the page to search engines, in the terms of schema.org.
func (p *page) Card() map[string]any {
	return map[string]any{
		"@context": "https://schema.org", "@type": "TechArticle", "headline": p.Plain(), "description": p.Summary(), "url": p.Address(),
		"author":   map[string]any{"@type": "Organization", "name": "The authors of the mixture policy lab"},
		"isPartOf": published, "license": "https://www.apache.org/licenses/LICENSE-2.0", "version": p.Version, "dateModified": p.Date,
		"isBasedOn": map[string]any{"@type": "ScholarlyArticle", "@id": "https://arxiv.org/abs/1903.06727"},
	}
}

// Plain returns the title without markup.
func (p *page) Plain() string { return plain(string(p.Title)) }

// A heading is an entry of a page's table of contents.
type heading struct {
	Level int
	ID    string
	Text  template.HTML
}

var (
	headingID = regexp.MustCompile(`(<h[1-6] id=")([^"]*)(")`)
	headings  = regexp.MustCompile(`(?s)<h([1-6]) id="([^"]*)">(.*?)<a class="anchor-link"[^>]*>.*?</a>\s*</h[1-6]>`)
	paragraph = regexp.MustCompile(`(?s)<p>(.*?)</p>`)
	result    = regexp.MustCompile(`(?s)<p><strong>The result</strong>\s(.*?[.!?])(?:\s+[(<]?\p{Lu}|\s*</p>)`)
	markdown  = regexp.MustCompile(`(?s)<section class="markdown">(.*?)</section>`)
	links     = regexp.MustCompile(`href="(?:([^":/#?]+)\.ipynb|\.\./build/([^":/#?]+)\.html)(#[^"]*)?"`)
	tags      = regexp.MustCompile(`<[^>]*>`)
	cited     = regexp.MustCompile(`(?s).*\nversion: "([^"]*)"\ndate-released: "([^"]*)".*`)
	// The end of one answer's fold and the beginning of the next fold, with nothing between the folds.
	betweenAnswers = regexp.MustCompile(
		`(?s)</details>\s*</section>\s*<section[^>]*>\s*<details class="answer">\s*<summary>[^<]*</summary>`)
)

// pageLink is what replaces a match of links.
const pageLink = `href="$1$2.html$3"`

// plainIDs gives headings the same anchors as in JupyterLab, which does not percent-encode a dash or a Greek letter.
func plainIDs(body string) string {
	return headingID.ReplaceAllStringFunc(body, func(tag string) string {
		m := headingID.FindStringSubmatch(tag)
		id, err := url.PathUnescape(html.UnescapeString(m[2]))
		if err != nil {
			return tag // the author wrote a percent sign
		}
		return m[1] + html.EscapeString(id) + m[3]
	})
}

// newPage makes the page around a notebook's converted cells.
func newPage(name, body string) *page {
	body = plainIDs(body)
	body = betweenAnswers.ReplaceAllString(body, "")
	body = strings.ReplaceAll(body, "07-conclusion-and-errata.ipynb#erratum-", "errata.ipynb#erratum-") // errata have a page
	body = links.ReplaceAllString(body, pageLink)                                                       // to pages instead of notebooks
	p := &page{Name: name, Title: template.HTML(template.HTMLEscapeString(name)), Body: template.HTML(body)}
	for _, m := range headings.FindAllStringSubmatch(body, -1) {
		h := heading{int(m[1][0] - '0'), html.UnescapeString(m[2]), template.HTML(strings.TrimSpace(tags.ReplaceAllString(m[3], "")))}
		switch {
		case h.Level == 1 && len(p.Contents) == 0:
			p.Title = h.Text
		case h.Level <= 3:
			p.Contents = append(p.Contents, h)
		}
	}
	if m := append(result.FindStringSubmatch(body), paragraph.FindStringSubmatch(body)...); m != nil {
		p.Lead = template.HTML(m[1])
	}
	words := 0
	for _, m := range markdown.FindAllStringSubmatch(body, -1) {
		words += len(strings.Fields(tags.ReplaceAllString(m[1], " ")))
	}
	p.Minutes = max(1, words/200)
	return p
}

//go:embed pages/page.gohtml
var pageLayout string

//go:embed pages/page.css
var pageStyle string

//go:embed pages/page.js
var pageScript string

var layout = template.Must(template.New("page").Option("missingkey=error").Funcs(template.FuncMap{
	"style":  func() template.CSS { return template.CSS(pageStyle) },
	"script": func() template.JS { return template.JS(pageScript) },
	"inHTML": inHTML, "parts": parts, "split": strings.Split,
}).Parse(pageLayout))

// write writes the page to the file, using the template of its layout.
func (p *page) write(file string) error {
	var b strings.Builder
	if err := layout.ExecuteTemplate(&b, cmp.Or(p.layout, p.Name), p); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	text := b.String()
	if p.Index != nil {
		text = linkEquations(text, p.Index)
	}
	return writeFile(file, []byte(text))
}
