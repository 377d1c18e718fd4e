package lab

import (
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/mixpolicy/study"
	"github.com/mixpolicy/lab/plotting"
)

// found says in two paragraphs what became of the paper's equations, and of its method in the races.
func found() ([]string, error) {
	rows, err := paper.RecordedIndex()
	if err != nil {
		return nil, err
	}
	record, err := study.Recorded()
	if err != nil {
		return nil, err
	}
	families := 0
	duel := func(a, b string) string {
		won, lost, undecided := record.Wins(study.ByQueries, a, b)
		families = won + lost + undecided
		return fmt.Sprintf("%d and is beaten on %d", won, lost)
	}
	penalty, plugIn, plain := duel("Algorithm 1", "penalty"), duel("plug-in", "Algorithm 1"), duel("plug-in", "penalty")
	return []string{
		paper.Summary(rows),
		fmt.Sprintf("Of %d families of random problems, after equally many queries, Algorithm 1 beats the penalty method on %s. "+
			"Plug-in, a plain estimate of the costs with an exact linear program, beats Algorithm 1 on %s, and the penalty method on %s.",
			families, penalty, plugIn, plain),
	}, nil
}

// A claim of the paper, and what each setting in which it was tried says of it.
type claim struct {
	Text     string
	Section  string // of the paper
	Settings []setting
	Picture  string // the file of one of the intervals, if there are several that compare two methods
}

// A setting is a row of data/claims.csv. Its numbers begin with those that decide.
type setting struct {
	Row                   record
	Where, Deciding, More string
	Mark                  mark
}

var (
	sectionOf = map[string]string{
		"0": "Abstract", "1": "Introduction", "2": "Preliminaries", "3": "The algorithm and its guarantees", "4": "Prior work",
		"6": "Experiments", "7": "Conclusion",
	}
	sentence = regexp.MustCompile(`\. |$`)
	clause   = regexp.MustCompile(`^.{15,}?(?:; |\. |$)`)
)

// newClaims reads data/claims.csv. Rows with the same claim are its settings.
func newClaims() (all []*claim, err error) {
	rows, err := records("claims.csv")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		numbers := r["numbers"]
		// The setting ends with the last colon of the first sentence.
		colon := strings.LastIndex(numbers[:sentence.FindStringIndex(numbers)[0]], ": ")
		if colon < 0 {
			return nil, fmt.Errorf("data/claims.csv: %s has no colon between the setting and its numbers: %q", r["id"], numbers)
		}
		s := setting{Row: r, Where: numbers[:colon], Mark: markOf(r)}
		s.Deciding = clause.FindString(numbers[colon+2:])
		s.More = strings.TrimPrefix(numbers[colon+2:], s.Deciding)
		s.Deciding = strings.TrimRight(s.Deciding, ";. ")
		i := slices.IndexFunc(all, func(c *claim) bool { return c.Text == r["claim"] })
		if i < 0 {
			i = len(all)
			all = append(all, &claim{Text: r["claim"], Section: sectionOf[r["id"][:1]]})
		}
		all[i].Settings = append(all[i].Settings, s)
	}
	return all, nil
}

var (
	ratio      = regexp.MustCompile(`ratio .*? ([\d.]+) \[([\d.]+), ([\d.]+)\]`)
	difference = regexp.MustCompile(`true cost of the policies \S+ ± \S+ against (\S+) ± \S+, difference \[(\S+), (\S+)\]`)
)

// figure draws the intervals of the claim's settings, as ratios of Algorithm 1 to the penalty method.
func (c *claim) figure() plotting.Figure {
	what, p := "spread of the answers", plotting.Points{Name: "interval of 95 %"}
	for i, s := range c.Settings {
		var mean, lo, hi float64
		if m := ratio.FindStringSubmatch(s.Row["numbers"]); m != nil {
			fmt.Sscan(strings.Join(m[1:], " "), &mean, &lo, &hi)
		} else if m := difference.FindStringSubmatch(s.Row["numbers"]); m != nil {
			var cost float64
			fmt.Sscan(strings.Join(m[1:], " "), &cost, &lo, &hi)
			what, lo, hi = "true cost of the policy", 1+lo/cost, 1+hi/cost
			mean = (lo + hi) / 2
		} else {
			continue
		}
		p.X, p.Y, p.Lo, p.Hi = append(p.X, float64(i+1)), append(p.Y, mean), append(p.Lo, lo), append(p.Hi, hi)
	}
	return plotting.Figure{
		Title: "Algorithm 1 over the penalty method: below 1 the claim holds", Height: 3,
		X:      plotting.Axis{Label: "setting", Min: 0.5, Max: float64(len(c.Settings)) + 0.5},
		Y:      plotting.Axis{Label: "ratio, " + what, Log: true},
		Layers: []plotting.Layer{plotting.Rule{At: 1, Label: "equal"}, p},
	}
}

// draw makes the pictures of the claims that were tried in several settings, in the folder.
func draw(claims []*claim, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, c := range claims {
		if len(c.Settings) < 2 {
			continue
		}
		name := "claim-" + c.Settings[0].Row["id"] + ".svg"
		if err := plotting.Save(filepath.Join(folder, name), c.figure()); err != nil {
			return err
		}
		c.Picture = filepath.Base(folder) + "/" + name
	}
	return nil
}

// Verdicts counts the settings of the page's claims.
func (p *page) Verdicts() (counts []choice) {
	for _, c := range p.Claims {
		for _, s := range c.Settings {
			i := slices.IndexFunc(counts, func(k choice) bool { return k.Value == s.Row["verdict"] })
			if i < 0 {
				i = len(counts)
				counts = append(counts, choice{Value: s.Row["verdict"]})
			}
			counts[i].Count++
		}
	}
	return counts
}

// An erratum is a row of data/errata.csv with the entries of the index that it is about.
type erratum struct {
	Row            record
	Title, Section string
	Places         []string // numbers in parentheses, and names
	Entries        []record
	Mark           mark
}

// number is one of an equation.
var number = regexp.MustCompile(`^(\d|A)\.\d+[a-c]?$`)

// newErrata reads data/errata.csv.
func newErrata(equations []record) (all []*erratum, err error) {
	rows, err := records("errata.csv")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		e := &erratum{Row: r, Mark: markOf(r)}
		title := strings.ReplaceAll(r["id"], "-", " ")
		e.Title = strings.ToUpper(title[:1]) + title[1:]
		for place := range strings.SplitSeq(r["where"], "; ") {
			if number.MatchString(place) {
				place = "(" + place + ")"
			}
			e.Places = append(e.Places, place)
		}
		if i := slices.IndexFunc(paper.Errata(), func(known paper.Erratum) bool { return known.ID == r["id"] }); i >= 0 {
			e.Section = paper.Errata()[i].Part()
		}
		for _, q := range equations {
			if q["erratum"] == r["id"] {
				e.Entries = append(e.Entries, q)
			}
		}
		all = append(all, e)
	}
	return all, nil
}

// Grave are the page's errors, and Other its other errata.
func (p *page) Grave() []*erratum { return p.errata(true) }

// Other are the errata that are no errors.
func (p *page) Other() []*erratum { return p.errata(false) }

func (p *page) errata(errors bool) (some []*erratum) {
	for _, e := range p.Errata {
		if (e.Row["kind"] == "error") == errors {
			some = append(some, e)
		}
	}
	return some
}

// Kinds are the kinds, and Sections the sections, of the errata that are no errors.
func (p *page) Kinds() []choice {
	kinds := p.count(func(e *erratum) string { return e.Row["kind"] })
	slices.SortFunc(kinds, func(a, b choice) int { return strings.Compare(a.Value, b.Value) })
	return kinds
}

// Sections are those of the errata that are no errors.
func (p *page) Sections() []choice {
	return p.count(func(e *erratum) string { return e.Section })
}

func (p *page) count(of func(*erratum) string) (counts []choice) {
	for _, e := range p.Other() {
		value := of(e)
		i := slices.IndexFunc(counts, func(c choice) bool { return c.Value == value })
		if i < 0 {
			i = len(counts)
			counts = append(counts, choice{Value: value, Text: value})
		}
		counts[i].Count++
	}
	return counts
}

// formula is text with its formulas in TeX, as HTML.
func formula(text string) template.HTML {
	return template.HTML(template.HTMLEscapeString(typeset(text)))
}

// capital is the text with a capital letter first, if it begins with a word.
func capital(text string) string {
	if lower.MatchString(text) {
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}

var lower = regexp.MustCompile(`^(?:a |[a-z]{2})`)

// sentences are the parts of the text between semicolons, in parentheses aside.
func sentences(text string) (all []template.HTML) {
	depth, begin := 0, 0
	for i, r := range text + ";" {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ';' && (depth <= 0 || i == len(text)):
			s := capital(strings.TrimSpace(text[begin:i]))
			if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ".)") {
				s += "."
			}
			all = append(all, formula(s))
			begin = i + 1
		}
	}
	return all
}
