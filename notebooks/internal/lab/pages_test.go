package lab

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A page of the paper describes itself to search engines and citation tools; a page of a reader's own notebook does
// not.
func TestAPageHasItsCard(t *testing.T) {
	p := newPage("01-queue", `<h1 id="A-queue">A <em>small</em> queue<a class="anchor-link" href="#A-queue">¶</a></h1><p>The <em>lead</em>, with (<a href="#b">b</a>) and $\theta$.</p><p>More.</p>`)
	// If there is a result, its first sentence is the lead, because it says more than the first paragraph, which is about
	// what the reader will be able to do.
	if p := newPage("a", "<p><strong>You</strong> can.</p><p><strong>The result</strong> It is 4.5 % <em>less</em>. More.</p>"); p.Lead != "It is 4.5 % <em>less</em>." {
		t.Errorf("lead %q", p.Lead)
	}
	p.layout, p.Paper, p.Picture, p.Scripts = "notebook", true, "figures/a.png", map[string]source{"mathjax": {}, "echarts": {}, "minisearch": {}}
	file := filepath.Join(t.TempDir(), "01-queue.html")
	noError(t, p.write(file))
	text := string(try(os.ReadFile(file)).or(t))
	for _, want := range []string{
		`<link rel="canonical" href="https://mixpolicy.github.io/lab/01-queue.html">`, `<meta property="og:title" content="A small queue">`, `<meta property="og:image" content="https://mixpolicy.github.io/lab/figures/a.png">`,
		`<meta name="citation_title" content="A small queue">`, `<meta name="description" content="The lead, with (b) and $\theta$.">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s:\n%.2000s", want, text)
		}
	}
	_, card, _ := strings.Cut(text, `<script type="application/ld+json">`)
	card, _, _ = strings.Cut(card, "</script>")
	var described struct{ Headline, URL string }
	if err := json.Unmarshal([]byte(card), &described); err != nil || described.Headline != "A small queue" || described.URL != p.Address() {
		t.Errorf("%v, %v in %s", described, err, card)
	}
	p.Paper = false
	noError(t, p.write(file))
	if text := string(try(os.ReadFile(file)).or(t)); strings.Contains(text, "canonical") || strings.Contains(text, "citation_") {
		t.Error("a page of a reader's own notebook is described as the paper's")
	}
}

// The front page has the README's questions and answers. Their links lead to pages instead of notebooks.
func TestFrontPageAnswersTheQuestionsOfTheReadme(t *testing.T) {
	lab := emptyLab(t)
	lab.root = "../../.."
	readme, rows := string(try(os.ReadFile("../../../README.md")).or(t)), try(lab.found()).or(t)
	if len(rows) != strings.Count(readme, "? | ")+strings.Count(readme, "?** ") || len(rows) < 6 {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
	if all := fmt.Sprint(rows); !strings.Contains(all, `<a href="07-conclusion-and-errata.html">`) || strings.ContainsAny(all, "*|") || strings.Contains(all, "](") {
		t.Error(all)
	}
}

func TestFiguresAreTakenFromEveryKindOfOutput(t *testing.T) {
	data := func(mime string, v any) output {
		raw := try(json.Marshal(v)).or(t)
		return output{Data: map[string]json.RawMessage{mime: raw}}
	}
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	both := data("image/svg+xml", []string{"<svg>\n", "both</svg>"})
	both.Data["image/png"] = data("image/png", encode("both")+"\n").Data["image/png"]
	row := data("text/html", `<img class="mixpolicy-static" alt="a" src="data:image/svg+xml;base64,`+encode("left")+`"><img src="data:image/svg+xml;base64,`+encode("right")+`">`)
	row.Data["image/png"] = data("image/png", encode("row")).Data["image/png"]
	r := &run{name: "nb", notebook: &notebook{Cells: []cell{
		{Outputs: []output{both, {Name: "stdout", Text: "no figure"}}},
		{Outputs: []output{row}},
	}}}
	folder := t.TempDir()
	noError(t, writeFile(filepath.Join(folder, "nb-9.svg"), nil))   // left by an earlier run
	noError(t, writeFile(filepath.Join(folder, "nb-1-2.svg"), nil)) // from a notebook named nb-1
	noError(t, exportFigures(r, folder))
	if r.figures != 3 {
		t.Errorf("%d figures; want 3", r.figures)
	}
	want := map[string]string{"nb-1.svg": "<svg>\nboth</svg>", "nb-1.png": "both", "nb-2.svg": "left", "nb-2.png": "row", "nb-3.svg": "right", "nb-1-2.svg": ""}
	if light := try(lighten(r, row.in("text/html"), folder)).or(t); !strings.Contains(light, `>Figure 3</a>`) || strings.Count(light, `href="#figure-`) != 2 {
		t.Errorf("figures without numbers: %s", light)
	}
	files := try(os.ReadDir(folder)).or(t)
	if len(files) != len(want) {
		t.Errorf("files %v; want those of %v", files, want)
	}
	for name, content := range want {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != content {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, content)
		}
	}
}

// The index and the search contain the pages of earlier runs as long as the pages exist.
func TestTheIndexKeepsThePagesOfEarlierRuns(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	lab.own = true
	var runs []*run
	for _, name := range []string{"00-one", "01-two", "02-three", "03-four"} {
		file := writeNotebook(t, name, prose("# "+name+"\n\nThe lead."), prose("## A part\n\nIts text."))
		runs = append(runs, &run{name: name, source: file, file: file, notebook: try(readNotebook(file)).or(t)})
	}
	listed := func() (names []string) {
		index, search := string(try(os.ReadFile(lab.build("index.html"))).or(t)), string(try(os.ReadFile(lab.build("search.js"))).or(t))
		for _, r := range runs {
			link := strings.Count(index, `<li><a href="`+r.name+`.html">`)
			if found := strings.Contains(search, r.name+".html#"); found != (link == 1) || link > 1 {
				t.Errorf("%s is %d times in the index, and in the search: %v", r.name, link, found)
			}
			if link > 0 {
				names = append(names, r.name)
			}
		}
		return names
	}
	noError(t, lab.export(t.Context(), runs[1:]))
	before := try(os.ReadFile(lab.build(runs[2].name + ".html"))).or(t)
	noError(t, os.Remove(lab.build(runs[3].name+".html")))
	noError(t, lab.export(t.Context(), runs[:2]))
	if got := listed(); !slices.Equal(got, []string{runs[0].name, runs[1].name, runs[2].name}) {
		t.Errorf("the index has %q after the page of %s was removed", got, runs[3].name)
	}
	if after := try(os.ReadFile(lab.build(runs[2].name + ".html"))).or(t); !bytes.Equal(after, before) {
		t.Errorf("the page of %s has changed in a run without this notebook", runs[2].name)
	}
}
