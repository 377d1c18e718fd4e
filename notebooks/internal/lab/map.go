package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"

	"github.com/mixpolicy/lab/mixpolicy/paper"
)

// A chart shows which entries of the index rest on which. It is drawn twice: as ECharts' graph, and as a still picture
// whose nodes are links, for readers without scripts and for printing.
type chart struct {
	Width, Height int
	Bands         []band
	Nodes         []node
	Edges         []edge
	Option        template.JS // ECharts' option
	Kinds         []mark
}

// A band is a section of the paper. The bands are below one another.
type band struct {
	Title  string
	Y      int
	deep   int         // the number of rows of nodes
	places map[int]int // the number of nodes in each column
}

// A node is an entry of the index, in a column to the right of the entry's premises in the same section.
type node struct {
	Number, Label, What, Link string
	X, Y                      int
	mark
}

// An edge is a curve from a premise to an entry that rests on it.
type edge struct{ X1, Y1, XM, YM, X2, Y2 int }

// A mark is the symbol of a verdict: a shape and a colour. On the map, the colour is enough to recognise the verdict.
// So is the shape, except for the circle, which marks both definitions and entries that hold as printed.
type mark struct{ Verdict, class, symbol, Color string }

var marks = []mark{
	{"holds as printed", "holds", "circle", "#2a7f62"},
	{"holds once a slip, an ambiguity or a misprint is corrected", "slip", "diamond", "#b07d12"},
	{"holds once a gap in the argument is closed", "gap", "rect", "#8a4fa3"},
	{"holds once an error is corrected", "error", "triangle", "#b3341c"},
	{"definition", "definition", "circle", "#98a0a9"},
}

// classes maps each verdict or kind that is not itself a class of marks to the class whose mark it uses.
var classes = map[string]string{
	"ambiguity": "slip", "misprint": "slip", "depends": "slip", "not proved": "gap", "fails": "error",
	"undecided": "definition", "not in this text": "definition",
}

// markOf returns the mark of an equation, an erratum or a claim: by the kind of erratum, or by the verdict if the kind
// is empty.
func markOf(v paper.Verdict, k paper.Kind) mark {
	word := cmp.Or(string(k), string(v))
	class := cmp.Or(classes[word], word)
	for _, m := range marks {
		if m.class == class {
			return m
		}
	}
	return mark{class, class, "triangle", "#b3341c"}
}

var short = strings.NewReplacer("Definition", "Def.", "Proposition", "Prop.",
	"Assumption", "Ass.", "Algorithm", "Alg.", "Theorem", "Thm.", "Lemma", "Lem.")

const across, down, margin = 82, 25, 40 // in pixels: distances between columns and between rows, and the place of the first column

// newChart places the entries, in a band for each section. An entry's column is the length of its longest chain of
// premises within the section.
func newChart(equations []*equation) (*chart, error) {
	premises, err := paper.Premises()
	if err != nil {
		return nil, err
	}
	section, column := map[string]string{}, map[string]int{}
	for _, e := range equations {
		section[e.Number] = e.Notebook[:2]
		if strings.Contains(e.Number, "A.") && e.Notebook[:2] == "05" {
			section[e.Number] = "05A"
		}
	}
	var columnOf func(string) int
	columnOf = func(n string) int {
		if c, ok := column[n]; ok {
			return c
		}
		c := 0
		for _, p := range premises[n] {
			if section[p] == section[n] {
				c = max(c, 1+columnOf(p))
			}
		}
		column[n] = c
		return c
	}
	c := &chart{Kinds: marks}
	at := map[string]int{}
	for _, s := range []struct{ key, title string }{
		{"02", "2 Preliminaries"}, {"03", "3 The algorithm and its guarantees"}, {"04", "4 Prior work"},
		{"05A", "Appendix"}, {"05", "5 Proofs"}, {"06", "6 Experiments"},
	} {
		c.Height += 2 * down
		b := band{Title: s.title, Y: c.Height - down, places: map[int]int{}}
		for _, e := range equations {
			n := e.Number
			if section[n] != s.key {
				continue
			}
			k := columnOf(n)
			at[n] = len(c.Nodes)
			c.Nodes = append(c.Nodes, node{
				Number: n, Label: short.Replace(n), What: e.What, Link: "equations.html#" + e.Anchor(),
				X: margin + k*across, Y: c.Height + b.places[k]*down, mark: markOf(e.Verdict, e.Kind()),
			})
			b.places[k]++
			b.deep = max(b.deep, b.places[k])
			c.Width = max(c.Width, 2*margin+k*across)
		}
		c.Height += b.deep * down
		c.Bands = append(c.Bands, b)
	}
	for _, e := range equations {
		for _, p := range premises[e.Number] {
			a, b := c.Nodes[at[p]], c.Nodes[at[e.Number]]
			c.Edges = append(c.Edges, edge{a.X, a.Y, (a.X + b.X) / 2, (a.Y + b.Y) / 2, b.X, b.Y})
		}
	}
	return c, c.live(premises)
}

// Outline returns the SVG path of the mark, centred at (x, y).
func (m mark) Outline(x, y int) string {
	format := "M%d %dm-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0"
	switch m.symbol {
	case "diamond":
		format = "M%d %dm0 -7l7 7l-7 7l-7 -7z"
	case "rect":
		format = "M%d %dm-6 -6h12v12h-12z"
	case "triangle":
		format = "M%d %dm0 -7l7 12h-14z"
	}
	return fmt.Sprintf(format, x, y)
}

// live sets Option, from which ECharts draws the graph.
func (c *chart) live(premises map[string][]string) error {
	var nodes []opts.GraphNode
	var links []opts.GraphLink
	var kinds []*opts.GraphCategory
	for _, m := range c.Kinds {
		kinds = append(kinds, &opts.GraphCategory{Name: m.Verdict})
	}
	for _, b := range c.Bands {
		nodes = append(nodes, opts.GraphNode{Name: b.Title, X: margin, Y: float32(b.Y), SymbolSize: 0})
	}
	for _, n := range c.Nodes {
		v := opts.GraphNode{Name: n.Label, X: float32(n.X), Y: float32(n.Y), Symbol: n.symbol, SymbolSize: 12, Category: n.Verdict,
			ItemStyle: &opts.ItemStyle{Color: n.Color},
			Tooltip:   &opts.Tooltip{Show: opts.Bool(true), Formatter: types.FuncStr("({b}) " + html.EscapeString(n.What))}}
		nodes = append(nodes, v)
		for _, p := range premises[n.Number] {
			links = append(links, opts.GraphLink{Source: short.Replace(p), Target: n.Label})
		}
	}
	g := charts.NewGraph()
	g.SetGlobalOptions(charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}))
	g.AddSeries("what rests on what", nodes, links, charts.WithGraphChartOpts(opts.GraphChart{
		Layout: "none", Categories: kinds, EdgeSymbol: []string{"none", "arrow"}, EdgeSymbolSize: []int{0, 5},
	}), charts.WithEmphasisOpts(opts.Emphasis{Focus: "adjacency"}),
		charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "right", Formatter: "{b}"}),
		charts.WithLineStyleOpts(opts.LineStyle{Curveness: 0.15, Opacity: opts.Float(0.15)}))
	g.Validate()
	b, err := json.Marshal(g.JSON())
	c.Option = template.JS(b)
	return err
}
