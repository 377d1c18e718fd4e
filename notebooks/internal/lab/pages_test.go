package lab

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// converted is what nbconvert makes of a notebook's cells, shortened.
const converted = `<section class="markdown"><h1 id="A-&lt;small&gt;-queue">A <em>small</em> queue<a class="anchor-link" href="#A">¶</a></h1>
<p>The lead, with $\theta$.</p><p>More.</p></section>
<section class="markdown"><h2 id="The-primal%E2%80%93dual-problem-&amp;-%22more%22">The problem<a class="anchor-link" href="#The-primal%E2%80%93dual-problem-&amp;-%22more%22">¶</a></h2>
<p>See <a href="06-numerical-experiments.ipynb#eq-2.18">section 6</a>, <a href="07.ipynb">7</a>, <a href="https://example.org/a.ipynb">elsewhere</a>.</p>
<h3 id="Detail">Detail<a class="anchor-link" href="#Detail">¶</a></h3><h4 id="Fine">Fine<a class="anchor-link" href="#Fine">¶</a></h4></section>
<section class="markdown"><details class="answer"><summary>Answer</summary><p>Because.</p></details></section>
<section class="code"><details class="answer"><summary>Answer</summary><pre>x</pre></details></section>
`

func TestAPageHasATitleALeadAndATableOfContents(t *testing.T) {
	p := newPage("01-queue", converted)
	if p.Title != "A small queue" {
		t.Errorf("title %q", p.Title)
	}
	if p.Lead != `The lead, with $\theta$.` {
		t.Errorf("lead %q", p.Lead)
	}
	want := []heading{{2, `The-primal–dual-problem-&-"more"`, "The problem"}, {3, "Detail", "Detail"}}
	if len(p.Contents) != 2 || p.Contents[0] != want[0] || p.Contents[1] != want[1] {
		t.Errorf("contents %v; want %v", p.Contents, want)
	}
	if id := `id="The-primal–dual-problem-&amp;-&#34;more&#34;"`; !strings.Contains(string(p.Body), id) {
		t.Errorf("no heading has the anchor %s that it has in JupyterLab:\n%s", id, p.Body)
	}
}

func TestLinksBetweenNotebooksBecomeLinksBetweenPages(t *testing.T) {
	body := string(newPage("01-queue", converted).Body)
	for _, want := range []string{`href="06-numerical-experiments.html#eq-2.18"`, `href="07.html"`, `href="https://example.org/a.ipynb"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestNeighbouringAnswerCellsAreOneFold(t *testing.T) {
	body := string(newPage("01-queue", converted).Body)
	if n := strings.Count(body, "<details"); n != 1 {
		t.Errorf("%d folds; want 1:\n%s", n, body)
	}
	if strings.Count(body, "<section") != strings.Count(body, "</section>") || strings.Count(body, "</details>") != 1 {
		t.Errorf("tags don't match:\n%s", body)
	}
}

func TestFiguresAreTakenFromEveryKindOfOutput(t *testing.T) {
	data := func(mime string, v any) output {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return output{Data: map[string]json.RawMessage{mime: raw}}
	}
	encode := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	both := data("image/svg+xml", []string{"<svg>\n", "both</svg>"})
	both.Data["image/png"] = data("image/png", encode("both")+"\n").Data["image/png"]
	r := &run{name: "nb", notebook: &notebook{Cells: []cell{
		{Outputs: []output{both, {Name: "stdout", Text: "no figure"}}},
		{Outputs: []output{data("text/html", `<img class="mixpolicy-static" alt="a" src="data:image/svg+xml;base64,`+encode("left")+`"><img src="data:image/svg+xml;base64,`+encode("right")+`">`)}},
	}}}
	folder := t.TempDir()
	if err := writeFile(filepath.Join(folder, "nb-9.svg"), nil); err != nil { // of a former run
		t.Fatal(err)
	}
	if err := exportFigures(r, folder); err != nil {
		t.Fatal(err)
	}
	if r.figures != 3 {
		t.Errorf("%d figures; want 3", r.figures)
	}
	want := map[string]string{"nb-1.svg": "<svg>\nboth</svg>", "nb-1.png": "both", "nb-2.svg": "left", "nb-3.svg": "right"}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(want) {
		t.Errorf("files %v; want those of %v", files, want)
	}
	for name, content := range want {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != content {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, content)
		}
	}
}
