package browser

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/notebooks/internal/lab"
	"github.com/mixpolicy/lab/plotting"
	"github.com/mixpolicy/lab/plotting/echarts"
)

// sampleCells contain everything that a page treats specially.
var sampleCells = []cell{
	prose("# A sample\n\nThe lead."),
	prose("## Formulas\n\nInline $\\theta^\\top\\boldsymbol\\Psi$ and\n\n$$\\min_\\theta c^\\top\\Psi\\theta.\\tag{2.18}$$\n\nSee [the end](sample.ipynb#Exercises-–-and-Ψ)."),
	prose("## Charts"),
	code(`import "github.com/mixpolicy/lab/plotting"
func rising(to float64) plotting.Figure {
	return plotting.Figure{
		Title:  "Rising",
		X:      plotting.Axis{Label: "t"},
		Y:      plotting.Axis{Label: "value"},
		Layers: []plotting.Layer{plotting.Line{Name: "a", X: []float64{0, 1, 2}, Y: []float64{0, 1, to}}},
	}
}
%%
plotting.Show(rising(3), rising(4))`),
	code("%%\nplotting.Show(rising(5))"),
	code(`%%
plotting.Show(plotting.Explorer{
	Controls: []plotting.Control{
		{Label: "tens", Values: []string{"0", "10", "20"}, Start: 1},
		{Label: "units", Values: []string{"one", "two"}, Menu: true},
	},
	Frame: func(at []int) plotting.Panels {
		return plotting.Row(rising(float64(10*at[0]+at[1]+1)), rising(7))
	},
})`),
	prose("## Exercises – and Ψ"),
	prose("Forty-two.", "answer"),
	code("%%\nplotting.Show(rising(42))", "answer"),
}

// pages makes, once, the pages of the paper's notebooks with their committed outputs, of sample, which it executes, and
// of play, which it does not execute. It returns the folder of the pages.
var pages = sync.OnceValues(func() (string, error) {
	ctx, sample, play := context.Background(), filepath.Join(temp, "sample.ipynb"), filepath.Join(temp, "play.ipynb")
	if err := errors.Join(writeNotebook(sample, sampleCells), writeNotebook(play, playNotebook)); err != nil {
		return "", err
	}
	return filepath.Join(temp, "pages"), inLab(
		func(l *lab.Lab) error {
			return l.Run(ctx, io.Discard, []string{sample}, lab.Options{Timeout: 5 * time.Minute})
		},
		func(l *lab.Lab) error { return l.Pages(ctx, []string{play}) },
		func(l *lab.Lab) error { return l.Pages(ctx, nil) },
		func(l *lab.Lab) error { // marks a cell as one that took long
			page := filepath.Join(temp, "pages", "play.html")
			html, err := os.ReadFile(page)
			if err != nil {
				return err
			}
			slow := bytes.Replace(html, []byte(`data-cell="cell-1"`), []byte(`data-cell="cell-1" data-seconds="20"`), 1)
			return os.WriteFile(page, slow, 0o644)
		})
})

// published makes the site of the pages once, while other tests look at the pages, and returns the site's folder.
var published = sync.OnceValues(func() (string, error) {
	folder, err := pages()
	if err == nil {
		err = inLab(func(l *lab.Lab) error { return l.Site(context.Background(), "", "") })
	}
	return filepath.Join(folder, "site"), err
})

// stated lists the statements on the page of equations; statedSet counts their displayed formulas that MathJax has set.
const (
	stated    = `[...document.querySelectorAll(".stated")]`
	statedSet = `document.querySelectorAll(".stated mjx-container[display]").length`
)

// TestPages opens every page. Each page is small and accessible, its charts and formulas work, and its links are valid.
func TestPages(t *testing.T) {
	t.Parallel()
	b, folder := open(t)
	rules := axe(t)
	ids, links := map[string][]string{}, map[string]bool{}
	files := must[[]string](t)(filepath.Glob(filepath.Join(folder, "*.html")))
	for i, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".html"), func(t *testing.T) {
			defer b.calm(t)
			if info, err := os.Stat(file); err != nil || info.Size() > 400_000 {
				t.Errorf("%d bytes of HTML, want at most 400 kB", info.Size())
			}
			call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 5000, DeviceScaleFactor: 1}) // little to scroll
			b.visit(t, "file://"+file)
			displays := evaluate[int](t, b, stated+`.map(e => e.textContent.split("$$").length - 1).reduce((a, b) => a + b, 0) / 2`+" + "+statedSet)
			b.do(t, `document.querySelectorAll("details").forEach(d => d.open = true)`)
			b.eventually(t, "every chart is live", nearing(liveCharts+".length === "+allCharts+".length"))
			b.formulas(t)
			if got := evaluate[int](t, b, statedSet); got != displays || filepath.Base(file) == "equations.html" && got < 150 {
				t.Errorf("%d displays of statements are set, want %d", got, displays)
			}
			if left := evaluate[[]string](t, b, `[...document.querySelectorAll("[data-verdict]")].filter(e => { const c = e.cloneNode(true); c.querySelectorAll("mjx-container, code").forEach(m => m.remove()); return /[$\\]/.test(c.textContent); }).map(e => e.id).concat(
				[...document.querySelectorAll("p")].map(p => p.textContent.trim()).filter(text => text.startsWith("| ")))`); len(left) > 0 {
				t.Errorf("TeX or Markdown is left in %q", left)
			}
			ids[file] = evaluate[[]string](t, b, `[...document.querySelectorAll("[id], a[name]")].map(e => e.id || e.name)`)
			for _, link := range evaluate[[]string](t, b, `[...document.querySelectorAll("a[href]")].map(a => new URL(a.getAttribute("href"), location).href).concat(
				[...document.querySelectorAll("meta[property='og:image']")].map(m => new URL(m.content.replace("https://mixpolicy.github.io/lab/", ""), location).href))`) {
				links[link] = true
			}
			b.keep(t, filepath.Base(file)+".png")
			views := []view{{360, "light"}, {1280, "light"}, {1280, "dark"}}
			if !*long {
				views = views[i%3 : i%3+1]
			}
			checkAccess(t, b, rules, views)
		})
	}
	for link := range links {
		page, anchor, _ := strings.Cut(strings.TrimPrefix(link, "file://"), "#")
		if strings.Contains(page, ":") || strings.HasSuffix(page, ".go") { // a page on the web, or a source file of the clone
			continue
		}
		if _, err := os.Stat(page); err != nil {
			t.Errorf("a link to %s: %v", link, err)
		}
		id, err := url.PathUnescape(anchor)
		if have, ours := ids[page]; ours && anchor != "" && (err != nil || !slices.Contains(have, id)) {
			t.Errorf("a link to %s: the page has no such anchor", link)
		}
	}
}

// nearing returns an expression that scrolls further down the page and then evaluates the given expression. Charts become
// live when they are near the visible part of the page.
func nearing(expression string) string {
	return `(scrollTo(0, scrollY + innerHeight < document.documentElement.scrollHeight - 1 ? scrollY + innerHeight : 0), ` + expression + `)`
}

// formulas waits until MathJax has set the formulas of the page, and reports the formulas that MathJax can't set: they
// show an error, or the name of an undefined command in red.
func (b *browser) formulas(t *testing.T) {
	t.Helper()
	b.eventually(t, "MathJax is there", `window.MathJax?.startup?.promise`)
	b.do(t, `window.MathJax.startup.promise.then(() => window.formulasAreSet = true)`)
	b.eventually(t, "every formula is set", `window.formulasAreSet`)
	if wrong := evaluate[[]string](t, b, `[...document.querySelectorAll("mjx-merror, [data-mjx-error], [data-mml-node=merror], mjx-container [fill=red], mjx-container [mathcolor=red]")].map(e =>
		e.closest("tbody, section")?.id + ": " + (e.dataset.mjxError || e.closest("mjx-container")?.textContent))`); len(wrong) > 0 {
		t.Errorf("formulas that MathJax can't set: %q", wrong)
	}
}

// axe returns the script axe-core, which finds barriers to accessibility in a page. The script is cached in .lab.
func axe(t *testing.T) string {
	t.Helper()
	const integrity = "xt1SFg49QaDwsyt0Xfs2XAyBtYPClXl3X2q5OOLeGAUmq9jZTYIMdztpF99WdhiH"
	file := filepath.Join(root, ".lab", "axe-4.14.1.js")
	script, err := os.ReadFile(file)
	if err != nil {
		dir := t.TempDir()
		must[[]byte](t)(exec.Command("npm", "pack", "axe-core@4.14.1", "--silent", "--pack-destination", dir).Output())
		script = must[[]byte](t)(exec.Command("tar", "-xzOf", filepath.Join(dir, "axe-core-4.14.1.tgz"), "package/axe.min.js").Output())
		noError(t, os.WriteFile(file, script, 0o644))
	}
	if sum := sha512.Sum384(script); base64.StdEncoding.EncodeToString(sum[:]) != integrity {
		t.Fatalf("%s has the wrong digest", file)
	}
	return string(script)
}

type view struct {
	width int64
	theme string
}

// checkAccess makes axe judge the open page by WCAG 2.2, levels A and AA, in each view. It also checks that the page is
// no wider than a phone.
func checkAccess(t *testing.T, b *browser, rules string, views []view) {
	t.Helper()
	// To save minutes, this empties the formulas, which have thousands of paths, and keeps one word of code per colour.
	b.do(t, `(seen => document.querySelectorAll("pre span[class]").forEach(e => { const colour = e.closest("div").className + ": " + e.className; seen.has(colour) ? e.replaceWith(e.textContent) : seen.add(colour); }))(new Set()), document.querySelectorAll("mjx-container > svg").forEach(e => e.replaceChildren()), document.querySelectorAll("mjx-assistive-mml, #MJX-SVG-global-cache").forEach(e => e.remove())`)
	evaluate[bool](t, b, rules+`; window.axe !== undefined`)
	see := func(at view) {
		call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: at.width, Height: 900, DeviceScaleFactor: 1})
		b.do(t, fmt.Sprintf(`document.documentElement.dataset.theme = %q, window.violations = null, window.heights = []`, at.theme))
		b.eventually(t, "the page, and with it its charts, has its new width", `(heights.push(document.documentElement.scrollHeight), heights.length > 4 && new Set(heights.slice(-4)).size === 1)`)
	}
	for _, at := range views {
		see(at)
		b.do(t, `axe.run({exclude: ["mjx-container"]}, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"]}).then(r => {
			window.violations = r.violations.map(v => v.id + ", " + v.nodes.length + " times: " + v.nodes[0].html.slice(0, 200) + ": " + v.nodes[0].failureSummary);
		}, e => { window.violations = [String(e)]; })`)
		b.eventually(t, "axe is done", `window.violations`)
		for _, violation := range evaluate[[]string](t, b, `window.violations`) {
			t.Errorf("%d pixels, %s: %s", at.width, at.theme, violation)
		}
	}
	see(view{360, "light"})
	if wide := evaluate[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d pixels wide on a phone, by %s", wide, evaluate[string](t, b, `[...document.querySelectorAll("main *, header *")].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 80)).slice(0, 5).join(" | ")`))
	}
	call(t, b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}

// TestReading searches, opens cards, changes the theme, moves controls, prints, and reads without scripts.
func TestReading(t *testing.T) {
	t.Parallel()
	b, folder := open(t)
	address := func(name string) string { return "file://" + filepath.Join(folder, name+".html") }

	t.Run("the search", func(t *testing.T) {
		defer b.calm(t)
		b.visit(t, address("01-introduction"))
		b.key(t, "/")
		b.eventually(t, "the search is there", `window.MiniSearch && window.passages`)
		b.key(t, "closed form of z")
		b.eventually(t, "it finds (3.22)", `[...document.querySelectorAll("#search a")].some(a => a.textContent.startsWith("3.22"))`)
		b.key(t, kb.ArrowDown)
		want, at := evaluate[string](t, b, `document.activeElement.href`), ""
		b.key(t, kb.Enter)
		for range 600 { // during navigation, the old page does not answer
			if at, _ = chromedp.Run(b, chromedp.Evaluate[string](`location.href`)); at == want {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if at != want {
			t.Errorf("Enter leads to %s, want %s", at, want)
		}
	})
	t.Run("the card of an equation", func(t *testing.T) {
		defer b.calm(t)
		b.visit(t, address("03-primal-dual"))
		b.formulas(t)
		const shown = `(document.querySelector(".card:popover-open")?.innerText ?? "")`
		const number, cited = `document.querySelector(".numbered[data-card='eq-3-22']")`, `document.querySelector(".cited[data-card='eq-3-22']")`
		for what, do := range map[string]string{
			"Tab":       `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Tab", bubbles: true})), ` + number + `.focus()`,
			"the mouse": number + `.dispatchEvent(new PointerEvent("pointerover", {bubbles: true, pointerType: "mouse"}))`,
			"a touch":   `(a => { a.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true, pointerType: "touch"})); a.click(); })(` + cited + `)`,
		} {
			before := evaluate[string](t, b, `location.href`)
			b.do(t, do)
			b.eventually(t, what+" shows the card", shown+`.includes("closed form of z") && document.querySelector(".card mjx-container[display] svg")`)
			if got := evaluate[string](t, b, shown); !strings.Contains(got, "printed") || !strings.Contains(got, "holds as corrected, slip") || !strings.Contains(got, "mixpolicy/bregman.Ball.Shift") {
				t.Errorf("%s: the card says %q", what, got)
			}
			if after := evaluate[string](t, b, `location.href`); after != before {
				t.Errorf("%s leads to %s", what, after)
			}
			if what == "Tab" {
				b.key(t, kb.Tab)
				if !evaluate[bool](t, b, `document.activeElement.closest(".card") !== null`) {
					t.Error("Tab does not lead into the card")
				}
			}
			b.key(t, kb.Escape)
			b.eventually(t, "Escape hides it", shown+` === ""`)
			b.do(t, `document.activeElement.blur()`)
		}
	})
	t.Run("tags and the theme", func(t *testing.T) {
		defer b.calm(t)
		b.visit(t, address("sample"))
		if n := evaluate[int](t, b, allCharts+".length"); n != 6 {
			t.Errorf("%d charts; want 6", n)
		}
		if n := evaluate[int](t, b, `document.querySelectorAll("details.answer:not([open])").length`); n != 1 {
			t.Errorf("%d closed answers; want one, of two cells", n)
		}
		if got := evaluate[[]string](t, b, `[...document.querySelectorAll(".contents a")].map(a => a.textContent)`); strings.Join(got, "|") != "Formulas|Charts|Exercises – and Ψ" {
			t.Errorf("table of contents: %q", got)
		}
		theme := func() string {
			return evaluate[string](t, b, `(document.getElementById("theme").click(), document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor)`)
		}
		if first, second := theme(), theme(); first == second {
			t.Errorf("the page is %s in light and dark", first)
		}
	})
	t.Run("controls", func(t *testing.T) {
		defer b.calm(t)
		b.visit(t, address("sample"))
		b.eventually(t, "the charts are live", nearing(liveCharts+".length >= 5"))
		checkControls(t, b)
	})
	t.Run("on paper", func(t *testing.T) {
		defer b.calm(t)
		b.visit(t, address("sample"))
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		b.do(t, `document.querySelectorAll("details").forEach(d => d.open = true), dispatchEvent(new Event("beforeprint"))`)
		b.eventually(t, "still pictures", stillCharts+".length === 6")
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	})
	t.Run("without scripts", func(t *testing.T) {
		defer b.calm(t)
		call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		these := map[bool]string{false: "[0s][0a]*.ipynb", true: "*.ipynb"}[*long] // notebook 00 and sample, or all
		for _, file := range must[[]string](t)(filepath.Glob(filepath.Join(folder, these))) {
			name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
			b.visit(t, address(name))
			b.do(t, `document.querySelectorAll("details").forEach(d => d.open = true)`)
			if charts, still := evaluate[int](t, b, allCharts+".length"), evaluate[int](t, b, stillCharts+".length"); charts != still || name == "sample" && still != 6 {
				t.Errorf("%s: %d of %d charts show their still picture", name, still, charts)
			}
		}
		call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	})
}

// The tick labels of an axis differ from one another, before and after zooming, even on a short axis far from 0.
func TestTicksOfChartsAreToldApart(t *testing.T) {
	t.Parallel()
	b, folder := open(t)
	var page strings.Builder
	fmt.Fprintf(&page, "<script src=%q></script>\n", filepath.Join(folder, echarts.File))
	all := [][]float64{{1, 1e20}, {1e-20, 1}, {1, math.Nextafter(1, 2)}, {1e17, 1e17 + 64}, {2861.6456, 2861.6457}, {1e6, 1e6 + 1}, {-3, 0.5}, {0, 5e-324}, {-1e100, 1e100}}
	for _, ends := range all {
		f := plotting.Figure{X: plotting.Axis{Log: ends[0] > 0}, Layers: []plotting.Layer{plotting.Line{X: ends, Y: ends}}}
		drawn, err := plotting.DisplayData(f)
		noError(t, err)
		page.WriteString("<div style='width:600px'>" + fmt.Sprint(drawn.Data[protocol.MIMETextHTML]) + "</div>\n")
	}
	file := filepath.Join(t.TempDir(), "axes.html")
	noError(t, os.WriteFile(file, []byte(page.String()), 0o644))
	b.visit(t, "file://"+file)
	b.eventually(t, "the charts are live", nearing(fmt.Sprintf("%s.length === %d", liveCharts, len(all))))
	const charts = `[...document.querySelectorAll(".mixpolicy-live")].map(e => window.echarts.getInstanceByDom(e)).filter(Boolean)`
	look := func(when string) {
		for i, axes := range evaluate[[][][]string](t, b, charts+`.map(c => ["xAxis", "yAxis"].map(name =>
			c.getModel().getComponent(name, 0).axis.getViewLabels().map(l => l.formattedLabel)))`) {
			for k, labels := range axes {
				if n := len(labels); n < 2 || n > 20 || len(slices.Compact(slices.Sorted(slices.Values(labels)))) < n {
					t.Errorf("%s: on axis %d, the numbers from %v to %v are labelled %q", when, k, all[i][0], all[i][1], labels)
				}
			}
		}
	}
	look("at first")
	b.do(t, charts+`.forEach(c => [0, 1].forEach(k => c.dispatchAction({type: "dataZoom", dataZoomIndex: k, start: 40, end: 41})))`)
	look("zoomed")
	if shown := evaluate[[]bool](t, b, `[...document.querySelectorAll(".mixpolicy-static")].map(e => !e.hidden)`); slices.Contains(shown, true) {
		t.Errorf("pictures are shown: %v; want charts in their places", shown)
	}
}

// checkControls moves the slider and the menu of the sample by keyboard, and checks what
// the charts then show and what data they save.
func checkControls(t *testing.T, b *browser) {
	t.Helper()
	const last = `[...document.querySelector(".mixpolicy-controls").parentElement.querySelectorAll(".mixpolicy-chart")].map(c =>
		window.echarts.getInstanceByDom(c.querySelector(".mixpolicy-live")).getOption().dataset[0].source.at(-1)[1]).join(" ")`
	const told = `(() => {
		const [range, menu] = document.querySelector(".mixpolicy-controls").querySelectorAll("input, select");
		return [range.labels[0].querySelector("span").textContent, range.getAttribute("aria-valuetext"), menu.selectedOptions[0].text].join(" ");
	})()`
	for _, step := range []struct{ selector, key, shows, says string }{
		{"input", "", "11 7", "10 10 one"},
		{"input", kb.ArrowRight, "21 7", "20 20 one"},
		{"select", kb.ArrowDown, "22 7", "20 20 two"},
		{"input", kb.Home, "2 7", "0 0 two"},
	} {
		b.do(t, fmt.Sprintf(`document.querySelector(".mixpolicy-controls %s").focus()`, step.selector))
		if step.key != "" {
			b.key(t, step.key)
		}
		b.eventually(t, "the charts show "+step.shows, fmt.Sprintf("%s === %q", last, step.shows))
		if got := evaluate[string](t, b, told); got != step.says {
			t.Errorf("the controls say %q, want %q", got, step.says)
		}
	}
	const saved = `(() => {
		const click = HTMLAnchorElement.prototype.click;
		let file;
		HTMLAnchorElement.prototype.click = function () { file = this.download + ": " + decodeURIComponent(this.href); };
		const live = document.querySelector(".mixpolicy-controls").parentElement.querySelector(".mixpolicy-live");
		window.echarts.getInstanceByDom(live).getOption().toolbox[0].feature.myData.onclick();
		HTMLAnchorElement.prototype.click = click;
		return file;
	})()`
	if got := evaluate[string](t, b, saved); got != "Rising.csv: data:text/csv;charset=utf-8,series,x,y,lo,hi\n\"a\",0,0\n\"a\",1,1\n\"a\",2,2\n" {
		t.Errorf("the data of the frame that is shown: %q", got)
	}
}
