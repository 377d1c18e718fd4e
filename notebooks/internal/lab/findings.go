package lab

import (
	"errors"
	"html"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/plotting"
)

var (
	question = regexp.MustCompile(`(?m)^(?:\| |\*\*)(.+\?)(?: \||\*\*) (.+?)(?: \|)?$`)
	marking  = regexp.MustCompile(`<!--.*?-->`)
	emphasis = regexp.MustCompile(`\*(.+?)\*`)
	linked   = regexp.MustCompile(`\[(.+?)\]\(notebooks/(.+?)\)`)
)

// found returns the questions of the README, with our findings. It also copies the README's picture into the folder of
// the figures.
func (l *Lab) found() (rows [][2]template.HTML, err error) {
	readme, err := os.ReadFile(filepath.Join(l.root, "README.md"))
	for _, m := range question.FindAllStringSubmatch(string(readme), -1) {
		answer := emphasis.ReplaceAllString(html.EscapeString(marking.ReplaceAllString(m[2], "")), "<em>$1</em>")
		answer = links.ReplaceAllString(linked.ReplaceAllString(answer, `<a href="$2">$1</a>`), pageLink)
		rows = append(rows, [2]template.HTML{template.HTML(html.EscapeString(m[1])), template.HTML(answer)})
	}
	return rows, errors.Join(err, copyFile(l.build("figures", "readme.svg"), filepath.Join(l.root, "data", "figures", "readme.svg")))
}

// A claim is a statement of the paper, with the settings in which it was tested.
type claim struct {
	Text     string
	Section  string // our title of a section of the paper
	Settings []setting
	Picture  string // the file of a picture that shows the settings' intervals; empty for a single setting
}

// A setting is the record of one test of a claim. Deciding contains the first two sentences about the numbers; More
// contains the other sentences and the note.
type setting struct {
	paper.Claim
	Deciding string
	More     []string
	Mark     mark
}

var sectionOf = map[string]string{
	"0": "Abstract", "1": "Introduction", "2": "Preliminaries", "3": "The algorithm and its guarantees", "4": "Prior work",
	"6": "Experiments", "7": "Conclusion",
}

// newClaims returns the recorded claims. Records whose claims have the same text become settings of one claim.
func newClaims() (all []*claim, err error) {
	rows, err := paper.RecordedClaims()
	for _, r := range rows {
		s := setting{Claim: r, More: r.Sentences(), Mark: markOf(r.Verdict, "")}
		deciding := min(2, len(s.More))
		s.Deciding, s.More = strings.Join(s.More[:deciding], " "), s.More[deciding:]
		if r.Note != "" {
			s.More = append(s.More, r.Note)
		}
		i := slices.IndexFunc(all, func(c *claim) bool { return c.Text == r.Claim })
		if i < 0 {
			i = len(all)
			all = append(all, &claim{Text: r.Claim, Section: sectionOf[r.ID[:1]]})
		}
		all[i].Settings = append(all[i].Settings, s)
	}
	return all, err
}

// figure draws the first comparison of each setting that has one, as the ratio of Algorithm 1's result to the penalty
// method's result. A difference Δ becomes the ratio 1 + Δ/cost, where cost is the penalty method's mean, the result
// before the difference.
func (c *claim) figure() plotting.Figure {
	what, p := "", plotting.Points{Name: "95 % interval (for means: of the difference)"}
	for i, s := range c.Settings {
		k := slices.IndexFunc(s.Results, func(r paper.Result) bool { return r.Compared != "" })
		if k < 0 {
			continue
		}
		r := s.Results[k]
		if r.Compared == "difference" {
			cost := s.Results[k-1].Value
			r.Value, r.Lo, r.Hi = 1+r.Value/cost, 1+r.Lo/cost, 1+r.Hi/cost
		}
		what, _, _ = strings.Cut(r.Quantity, ",")
		p.X, p.Y, p.Lo, p.Hi = append(p.X, float64(i+1)), append(p.Y, r.Value), append(p.Lo, r.Lo), append(p.Hi, r.Hi)
	}
	return plotting.Figure{
		Title: "Ratio of Algorithm 1 to the penalty method: a value below 1 supports the claim", Height: 3,
		X:      plotting.Axis{Label: "setting, in the page's order (first comparison)", Min: 0.5, Max: float64(len(c.Settings)) + 0.5},
		Y:      plotting.Axis{Label: "ratio, " + what, Log: true},
		Layers: []plotting.Layer{plotting.Rule{At: 1, Label: "equal"}, p},
	}
}

// draw writes a picture of each claim with several settings into the folder.
func draw(claims []*claim, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, c := range claims {
		if len(c.Settings) < 2 {
			continue
		}
		name := "claim-" + c.Settings[0].ID + ".svg"
		if err := plotting.Save(filepath.Join(folder, name), c.figure()); err != nil {
			return err
		}
		c.Picture = filepath.Base(folder) + "/" + name
	}
	return nil
}

// Verdicts returns the verdicts on the page's claims, each with the number of settings that have this verdict.
func (p *page) Verdicts() (counts []choice) {
	for _, c := range p.Claims {
		for _, s := range c.Settings {
			counts = counted(counts, string(s.Verdict))
		}
	}
	return counts
}

// An erratum adds to a recorded erratum what the page of errata also shows.
type erratum struct {
	paper.RecordedErratum
	Title, Section string
	Places         []string    // the places of the erratum: equation numbers in parentheses, other places by name
	Entries        []*equation // the entries of the index that name the erratum
	Mark           mark
}

// number matches the number of an equation.
var number = regexp.MustCompile(`^(\d|A)\.\d+[a-c]?$`)

// newErrata returns all errata.
func newErrata(equations []*equation) (all []*erratum, err error) {
	rows, err := paper.RecordedErrata()
	for _, r := range rows {
		title := strings.ReplaceAll(r.ID, "-", " ")
		e := &erratum{RecordedErratum: r, Title: strings.ToUpper(title[:1]) + title[1:], Section: r.Part(), Mark: markOf("", r.Kind)}
		for _, place := range r.Where {
			e.Places = append(e.Places, number.ReplaceAllString(place, "($0)"))
		}
		for _, q := range equations {
			if q.Errata == r.ID {
				e.Entries = append(e.Entries, q)
			}
		}
		all = append(all, e)
	}
	return all, err
}

// Grave returns the page's errata of the kind [paper.Error].
func (p *page) Grave() []*erratum { return p.errata(true) }

// Other returns the page's errata of all kinds except [paper.Error].
func (p *page) Other() []*erratum { return p.errata(false) }

func (p *page) errata(errors bool) []*erratum {
	return slices.DeleteFunc(slices.Clone(p.Errata), func(e *erratum) bool { return (e.Kind == paper.Error) != errors })
}

// Kinds returns the kinds of the errata that [page.Other] returns, each with the number of errata of this kind.
func (p *page) Kinds() []choice {
	kinds := p.count(func(e *erratum) string { return string(e.Kind) })
	slices.SortFunc(kinds, func(a, b choice) int { return strings.Compare(a.Value, b.Value) })
	return kinds
}

// Sections returns the sections of the paper that contain errata of [page.Other], each with the number of such errata
// in the section.
func (p *page) Sections() []choice {
	return p.count(func(e *erratum) string { return e.Section })
}

func (p *page) count(of func(*erratum) string) (counts []choice) {
	for _, e := range p.Other() {
		counts = counted(counts, of(e))
	}
	return counts
}

// counted adds one to the count of the value, and returns the counts.
func counted(counts []choice, value string) []choice {
	i := slices.IndexFunc(counts, func(c choice) bool { return c.Value == value })
	if i < 0 {
		i = len(counts)
		counts = append(counts, choice{Value: value, Text: value})
	}
	counts[i].Count++
	return counts
}

// parts splits the text at its semicolons, except at semicolons in brackets.
func parts(text string) (all []string) {
	depth, begin := 0, 0
	for i, r := range text + ";" {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ';' && (depth <= 0 || i == len(text)):
			all = append(all, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	return all
}
