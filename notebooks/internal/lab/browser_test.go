package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/plotting"
	"github.com/mixpolicy/lab/plotting/echarts"
)

// A browser is a Chromium without network access that records the errors of its pages.
type browser struct {
	context.Context

	mu         sync.Mutex
	complaints []string
}

func openBrowser(t testing.TB, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		lacking(t, "no Chromium on the PATH to open the pages in (Debian: apt install chromium)")
	}
	for _, s := range scripts {
		if _, err := os.Stat(shared.path("scripts", s.as)); err != nil {
			lacking(t, "no npm on the PATH to fetch "+s.pack+", without which pages need a network (Debian: apt install npm)")
		}
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1200, 900),
		chromedp.WSURLReadTimeout(time.Minute), // both cores may be busy
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// The network is closed: no name has an address.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)

	b := &browser{Context: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			u, err := url.Parse(e.Request.URL)
			if err != nil || u.Hostname() != "" && u.Hostname() != "127.0.0.1" {
				b.complain("asked for " + e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			details, _ := json.Marshal(e.ExceptionDetails)
			b.complain("exception: " + string(details))
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				said, _ := json.Marshal(e.Args)
				b.complain("console: " + string(said))
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				b.complain(fmt.Sprintf("%s: %s", e.Entry.URL, e.Entry.Text))
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, runtime.Enable, cdp.Empty{})
	// JupyterLab's commands act on what has the focus.
	call(t, b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return b
}

// lacking skips a test that needs something more than Go and Python, but not
// where everything has to be there.
func lacking(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func (b *browser) complain(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, what)
}

// calm fails the test if a page has reported an error since the last call.
func (b *browser) calm(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.complaints {
		t.Error(what)
	}
	b.complaints = nil
}

// call sends a command to the browser.
func call[P any](t testing.TB, b *browser, command cdp.Command[P, cdp.Empty], params P) {
	t.Helper()
	try(chromedp.Call(b, command, params)).or(t)
}

// open goes to the address.
func (b *browser) open(t testing.TB, address string) {
	t.Helper()
	noError(t, chromedp.Do(b, chromedp.Navigate(address)))
}

// evaluate gives the value of a JavaScript expression in the page.
func evaluate[T any](t testing.TB, b *browser, expression string) T {
	t.Helper()
	return try(chromedp.Run(b, chromedp.Evaluate[T](expression))).or(t)
}

// eventually waits for a JavaScript expression to become true: long, as both cores may
// be busy.
func eventually(t testing.TB, b *browser, what, expression string) {
	t.Helper()
	poll := chromedp.Poll[chromedp.Void]("!!("+expression+")", chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(5*time.Minute))
	if err := chromedp.Do(b, poll); err != nil {
		saveScreenshot(t, b, "failed.png")
		t.Fatalf("%s: %v; the page says\n%s", what, err, evaluate[string](t, b, pageState))
	}
}

// pageState is what the page says, in brief: of a notebook in JupyterLab the kernel, which
// cell is active, and the prompt, the state, the count and the text of each.
const pageState = `(() => {
	const brief = text => text.replace(/\s*\n\s*/g, "\n").slice(0, 1000);
	const panel = window.jupyterapp?.shell.currentWidget, cells = panel?.content?.widgets;
	if (!cells) return brief(document.body.innerText);
	const kernel = panel.sessionContext.session?.kernel;
	return [
		"kernel: " + (kernel ? kernel.status + ", " + kernel.connectionStatus : "none"),
		"dialogs: " + [...document.querySelectorAll(".jp-Dialog")].map(d => d.innerText),
		"active: " + panel.content.activeCellIndex,
	].concat(cells.map((c, i) => "cell " + i + ", " + [c.model.type, c.prompt, c.model.executionState, c.model.executionCount].join(", ") + ": " + brief(c.node.innerText))).join("\n");
})()`

// Charts as a page has them: all of them, and those that ECharts draws in the
// place of their still picture.
const (
	allCharts  = `[...document.querySelectorAll(".mixpolicy-chart")]`
	liveCharts = allCharts + `.filter(c => {
		const live = c.querySelector(".mixpolicy-live"), still = c.querySelector(".mixpolicy-static");
		return window.echarts?.getInstanceByDom(live) && live.querySelector("canvas, svg") && live.offsetHeight > 0 && still.offsetHeight === 0;
	})`
	stillCharts = allCharts + `.filter(c => {
		const still = c.querySelector(".mixpolicy-static");
		return still.offsetHeight > 0 && still.naturalWidth > 0 && c.querySelector(".mixpolicy-live").offsetHeight === 0;
	})`
)

// nearing is the expression, evaluated a bit further down the page each time: charts become live as a reader nears them.
func nearing(expression string) string {
	return `(scrollTo(0, scrollY + innerHeight < document.documentElement.scrollHeight - 1 ? scrollY + innerHeight : 0), ` + expression + `)`
}

// sample is a notebook with everything that a page treats in its own way.
func sample(t *testing.T) string {
	const chart = `import "github.com/mixpolicy/lab/plotting"
func rising(to float64) plotting.Figure {
	return plotting.Figure{
		Title:  "Rising",
		X:      plotting.Axis{Label: "t"},
		Y:      plotting.Axis{Label: "value"},
		Layers: []plotting.Layer{plotting.Line{Name: "a", X: []float64{0, 1, 2}, Y: []float64{0, 1, to}}},
	}
}
%%
plotting.Show(rising(3), rising(4))`
	const explorer = `%%
plotting.Show(plotting.Explorer{
	Controls: []plotting.Control{
		{Label: "tens", Values: []string{"0", "10", "20"}, Start: 1},
		{Label: "units", Values: []string{"one", "two"}, Menu: true},
	},
	Frame: func(at []int) plotting.Panels {
		return plotting.Row(rising(float64(10*at[0]+at[1]+1)), rising(7))
	},
})`
	return writeNotebook(t, "sample",
		prose("# A sample\n\nThe lead."),
		prose("## Formulas\n\nInline $\\theta^\\top\\boldsymbol\\Psi$ and\n\n$$\\min_\\theta c^\\top\\Psi\\theta.\\tag{2.18}$$\n\nSee [the end](sample.ipynb#Exercises-–-and-Ψ)."),
		prose("## Charts"),
		code(chart),
		code("%%\nplotting.Show(rising(5))"),
		code(explorer),
		prose("## Exercises – and Ψ"),
		prose("Forty-two.", "answer"),
		code("%%\nplotting.Show(rising(42))", "answer"))
}

// wrongFormulas are the formulas that MathJax cannot set, and where they are: an error, or the name of a
// command that is not defined, in red.
const wrongFormulas = `[...document.querySelectorAll("mjx-merror, [data-mjx-error], [data-mml-node=merror], mjx-container [fill=red], mjx-container [mathcolor=red]")].map(e =>
	e.closest("tbody, section")?.id + ": " + (e.dataset.mjxError || e.closest("mjx-container")?.textContent))`

// axe finds what keeps readers out of a page.
var axe = script{
	name:      "axe",
	why:       "tests whether everybody can read the pages",
	pack:      "axe-core@4.14.1",
	file:      "axe.min.js",
	as:        "axe.js",
	integrity: "sha384-xt1SFg49QaDwsyt0Xfs2XAyBtYPClXl3X2q5OOLeGAUmq9jZTYIMdztpF99WdhiH",
}

// checkAccess has axe judge the open page at a phone's width and a desktop's by the rules of WCAG 2.2,
// levels A and AA, and once more in the dark by those that colours decide, whatever the width.
func checkAccess(t *testing.T, b *browser, rules string) {
	t.Helper()
	// Formulas are empty boxes here: their inside is MathJax's, and thousands of paths take minutes.
	evaluate[int](t, b, `document.querySelectorAll("mjx-container > svg").forEach(e => e.replaceChildren()), document.querySelectorAll("mjx-assistive-mml, #MJX-SVG-global-cache").forEach(e => e.remove()), 0`)
	evaluate[bool](t, b, rules+`; window.axe !== undefined`)
	const all, ofColours = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]`, `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`
	for _, at := range []struct {
		width         int64
		theme, judged string
	}{{360, "light", all}, {1280, "light", all}, {1280, "dark", ofColours}} {
		call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: at.width, Height: 900, DeviceScaleFactor: 1})
		evaluate[int](t, b, fmt.Sprintf(`document.documentElement.dataset.theme = %q, window.violations = null, window.drawn = false, requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = true; })), 0`, at.theme))
		eventually(t, b, "the page has heard of its width", `window.drawn`)
		evaluate[int](t, b, `axe.run({exclude: ["mjx-container"]}, {runOnly: `+at.judged+`, resultTypes: ["violations"]}).then(r => {
			window.violations = r.violations.map(v => v.id + ", " + v.nodes.length + " times: " + v.nodes[0].html.slice(0, 200) + ": " + v.nodes[0].failureSummary);
		}, e => { window.violations = [String(e)]; }), 0`)
		eventually(t, b, "axe is done", `window.violations`)
		for _, violation := range evaluate[[]string](t, b, `window.violations`) {
			t.Errorf("%d pixels, %s: %s", at.width, at.theme, violation)
		}
		if at.width == 360 {
			if wide := evaluate[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
				t.Errorf("the page is %d pixels wide on a phone, by %s", wide, evaluate[string](t, b, `[...document.querySelectorAll("main *, header *")].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 80)).slice(0, 5).join(" | ")`))
			}
		}
	}
	call(t, b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}

// committedRuns are the paper's notebooks with the outputs that they have in the repository.
func committedRuns(t *testing.T, lab *Lab) (runs []*run) {
	t.Helper()
	for _, file := range try(lab.paper()).or(t) {
		runs = append(runs, &run{name: notebookName(file), source: file, file: file, notebook: try(readNotebook(file)).or(t)})
	}
	return runs
}

// checkPages opens each page of the folder: it is small, everything on it works, and everybody can read it. It
// returns their addresses.
func checkPages(t *testing.T, b *browser, folder string) (addresses []string) {
	t.Helper()
	noError(t, shared.once(step{name: axe.name, why: axe.why, made: shared.path("scripts", axe.as), from: axe.pack}, func() error { return shared.fetchScript(t.Context(), axe) }))
	rules := string(try(os.ReadFile(shared.path("scripts", axe.as))).or(t))
	for _, file := range try(named(folder, regexp.MustCompile(`\.html$`))).or(t) {
		name, address := strings.TrimSuffix(filepath.Base(file), ".html"), "file://"+filepath.ToSlash(file)
		addresses = append(addresses, address)
		t.Run(name, func(t *testing.T) {
			defer b.calm(t)
			if size := try(os.Stat(file)).or(t).Size(); size > 400_000 {
				t.Errorf("%d bytes of HTML, want at most 400 kB", size)
			}
			b.open(t, address)
			t.Logf("first paint after %.0f ms", evaluate[float64](t, b, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`))
			evaluate[int](t, b, `document.querySelectorAll("details").forEach(d => d.open = true), 0`)
			eventually(t, b, "every chart is live", nearing(liveCharts+".length === "+allCharts+".length"))
			eventually(t, b, "MathJax is there", `window.MathJax?.startup?.promise`)
			evaluate[int](t, b, `window.MathJax.startup.promise.then(() => window.formulasAreSet = true), 0`)
			eventually(t, b, "every formula is set", `window.formulasAreSet`)
			if left := evaluate[[]string](t, b, wrongFormulas); len(left) > 0 {
				t.Errorf("formulas that MathJax can't set: %q", left)
			}
			if broken := evaluate[[]string](t, b, `[...document.querySelectorAll("a[href^='#']")].map(a => decodeURIComponent(a.hash.slice(1))).filter(id => !document.getElementById(id))`); len(broken) > 0 {
				t.Errorf("links to anchors that aren't there: %q", broken)
			}
			saveScreenshot(t, b, name+".png")
			checkAccess(t, b, rules)
		})
	}
	return addresses
}

// TestPages opens every page, of the committed notebooks and of what else there is, in Chromium.
func TestPages(t *testing.T) {
	t.Parallel() // with TestNotebooks: a page is drawn by one core
	lab := readyLab(t)
	b := openBrowser(t)
	runs := append(try(lab.execute(t.Context(), []string{sample(t)}, options)).or(t), committedRuns(t, lab)...)
	noError(t, lab.export(t.Context(), runs))
	address := func(name string) string { return "file://" + filepath.ToSlash(lab.build(name+".html")) }

	addresses := checkPages(t, b, lab.build())

	t.Run("links between pages", func(t *testing.T) {
		defer b.calm(t)
		checkLinks(t, b, addresses)
	})

	t.Run("the search", func(t *testing.T) {
		defer b.calm(t)
		b.open(t, address("01-introduction"))
		noError(t, chromedp.Do(b, chromedp.KeyEvent("/")))
		eventually(t, b, "the search is there", `window.MiniSearch && window.passages`)
		noError(t, chromedp.Do(b, chromedp.KeyEvent("closed form of z")))
		eventually(t, b, "it finds (3.22)", `[...document.querySelectorAll("#search a")].some(a => a.textContent.startsWith("3.22"))`)
		noError(t, chromedp.Do(b, chromedp.KeyEvent(kb.ArrowDown)))
		saveScreenshot(t, b, "search.png")
		want := evaluate[string](t, b, `document.activeElement.href`)
		noError(t, chromedp.Do(b, chromedp.KeyEvent(kb.Enter)))
		at := ""
		for range 600 { // a page that is left answers nothing
			if at, _ = chromedp.Run(b, chromedp.Evaluate[string](`location.href`)); at == want {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if at != want {
			t.Errorf("Enter leads to %s, want %s", at, want)
		}
	})

	t.Run("what the tags do", func(t *testing.T) {
		defer b.calm(t)
		b.open(t, address("sample"))
		if n := evaluate[int](t, b, allCharts+".length"); n != 6 {
			t.Errorf("%d charts; want 6", n)
		}
		if n := evaluate[int](t, b, `document.querySelectorAll("details.answer:not([open])").length`); n != 1 {
			t.Errorf("%d closed answers; want one, of two cells", n)
		}
		if got := evaluate[[]string](t, b, `[...document.querySelectorAll(".contents a")].map(a => a.textContent)`); strings.Join(got, "|") != "Formulas|Charts|Exercises – and Ψ" {
			t.Errorf("table of contents: %q", got)
		}
		evaluate[int](t, b, `document.getElementById("theme").click(), 0`)
		first := evaluate[string](t, b, `document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor`)
		evaluate[int](t, b, `document.getElementById("theme").click(), 0`)
		if second := evaluate[string](t, b, `document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor`); first == second {
			t.Errorf("the page is %s in light and dark", first)
		}
	})

	t.Run("what the controls do", func(t *testing.T) {
		defer b.calm(t)
		b.open(t, address("sample"))
		eventually(t, b, "the charts are live", nearing(liveCharts+".length >= 5"))
		checkControls(t, b)
	})

	t.Run("on paper", func(t *testing.T) {
		defer b.calm(t)
		b.open(t, address("sample"))
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		evaluate[int](t, b, `document.querySelectorAll("details").forEach(d => d.open = true), dispatchEvent(new Event("beforeprint")), 0`)
		eventually(t, b, "still pictures", stillCharts+".length === 6")
		call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	})

	t.Run("without scripts", func(t *testing.T) {
		defer b.calm(t)
		call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		for _, r := range runs {
			b.open(t, address(r.name))
			evaluate[int](t, b, `document.querySelectorAll("details").forEach(d => d.open = true), 0`)
			charts, still := evaluate[int](t, b, allCharts+".length"), evaluate[int](t, b, stillCharts+".length")
			if charts != still || r.name == "sample" && still != 6 {
				t.Errorf("%s: %d of %d charts show their still picture", r.name, still, charts)
			}
		}
		call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	})
}

// TestEquationsInBrowser: every formula of the index of equations is set, and a number on a page shows
// the card of its equation.
func TestEquationsInBrowser(t *testing.T) {
	lab := readyLab(t)
	checkEquations(t, lab, openBrowser(t))
}

func checkEquations(t *testing.T, lab *Lab, b *browser) {
	t.Helper()
	defer b.calm(t)
	equations := try(lab.equations()).or(t)
	try(mutations(equations)).or(t)
	scripts := try(lab.placeScripts()).or(t)
	index := &page{Name: "equations", Equations: equations, Scripts: scripts}
	noError(t, index.write(lab.build("equations.html")))
	noError(t, writeFile(lab.build("cards.js"), try(cards(equations)).or(t)))
	citing := newPage("citing", linkEquations(`<p><a id="eq-3-22"></a>By (3.22), <a href="#eq-3-22">above</a>.</p>`, equations))
	citing.Scripts, citing.layout = scripts, "notebook"
	noError(t, citing.write(lab.build("citing.html")))
	address := func(name string) string { return "file://" + filepath.ToSlash(lab.build(name+".html")) }
	set := func() {
		t.Helper()
		eventually(t, b, "MathJax is there", `window.MathJax?.startup?.promise`)
		evaluate[int](t, b, `window.MathJax.startup.promise.then(() => window.formulasAreSet = true), 0`)
		eventually(t, b, "every formula is set", `window.formulasAreSet`)
	}

	b.open(t, address("equations"))
	displays := 0
	for _, e := range equations {
		displays += strings.Count(e["printed"]+e["corrected"], "$$") / 2
	}
	set()
	if got := evaluate[int](t, b, `document.querySelectorAll(".stated mjx-container[display]").length`); got != displays {
		t.Errorf("%d displays are set, want %d", got, displays)
	}
	if wrong := evaluate[[]string](t, b, wrongFormulas); len(wrong) > 0 {
		t.Errorf("formulas that MathJax can't set: %q", wrong)
	}
	if left := evaluate[[]string](t, b, `[...document.querySelectorAll("[data-verdict]")].filter(e => { const c = e.cloneNode(true); c.querySelectorAll("mjx-container, code").forEach(m => m.remove()); return /[$\\]/.test(c.textContent); }).map(e => e.id)`); len(left) > 0 {
		t.Errorf("TeX is left in %q", left)
	}
	saveScreenshot(t, b, "equations.png")

	b.open(t, address("citing"))
	set()
	const shown = `(document.querySelector(".card:popover-open")?.innerText ?? "")`
	says := func(what string) {
		t.Helper()
		eventually(t, b, what+" shows the card", shown+`.includes("closed form of z") && document.querySelector(".card mjx-container[display] svg")`)
		if got := evaluate[string](t, b, shown); !strings.Contains(got, "printed") || !strings.Contains(got, "holds as corrected, slip") || !strings.Contains(got, "mixpolicy/bregman.Ball.Shift") {
			t.Errorf("%s: the card says %q", what, got)
		}
	}
	for range 20 { // the header's links come first
		noError(t, chromedp.Do(b, chromedp.KeyEvent(kb.Tab)))
		if evaluate[bool](t, b, `document.activeElement.matches("[data-card]")`) {
			break
		}
	}
	says("the focus")
	saveScreenshot(t, b, "card.png")
	noError(t, chromedp.Do(b, chromedp.KeyEvent(kb.Tab)))
	if !evaluate[bool](t, b, `document.activeElement.closest(".card") !== null`) {
		t.Error("Tab does not lead into the card")
	}
	noError(t, chromedp.Do(b, chromedp.KeyEvent(kb.Escape)))
	eventually(t, b, "Escape hides it", shown+` === ""`)
	for _, kind := range []string{"mouse", "touch"} {
		before := evaluate[string](t, b, `location.href`)
		evaluate[int](t, b, `document.activeElement.blur(), 0`)
		if kind == "mouse" {
			evaluate[int](t, b, `document.querySelector(".numbered").dispatchEvent(new PointerEvent("pointerover", {bubbles: true, pointerType: "mouse"})), 0`)
		} else {
			evaluate[int](t, b, `(a => { a.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true, pointerType: "touch"})); a.click(); })(document.querySelector(".cited")), 0`)
		}
		says(kind)
		if after := evaluate[string](t, b, `location.href`); after != before {
			t.Errorf("%s leads to %s", kind, after)
		}
		evaluate[int](t, b, `document.querySelector(".card").hidePopover(), 0`)
	}
}

// The labels of a chart's ticks are told apart, however short its axes or far from 0, and zooming keeps them so.
func TestTicksOfChartsAreToldApart(t *testing.T) {
	lab := readyLab(t)
	b := openBrowser(t)
	var page strings.Builder
	fmt.Fprintf(&page, "<script src=%q></script>\n", lab.path("scripts", echarts.File))
	all := [][]float64{{1, 1e20}, {1e-20, 1}, {1, math.Nextafter(1, 2)}, {1e17, 1e17 + 64}, {2861.6456, 2861.6457}, {1e6, 1e6 + 1}, {-3, 0.5}, {0, 5e-324}, {0.7 * math.MaxFloat64, math.MaxFloat64}}
	for _, ends := range append(all, []float64{-math.MaxFloat64, math.MaxFloat64}) {
		f := plotting.Figure{X: plotting.Axis{Log: ends[0] > 0}, Layers: []plotting.Layer{plotting.Line{X: ends, Y: ends}}}
		page.WriteString("<div style='width:600px'>" + fmt.Sprint(try(plotting.DisplayData(f)).or(t).Data[protocol.MIMETextHTML]) + "</div>\n")
	}
	file := filepath.Join(t.TempDir(), "axes.html")
	noError(t, os.WriteFile(file, []byte(page.String()), 0o644))
	b.open(t, "file://"+file)
	eventually(t, b, "the charts are live", nearing(fmt.Sprintf("%s.length === %d", liveCharts, len(all))))
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
	evaluate[int](t, b, charts+`.forEach(c => [0, 1].forEach(k => c.dispatchAction({type: "dataZoom", dataZoomIndex: k, start: 40, end: 41}))), 0`)
	look("zoomed")
	if shown := evaluate[[]bool](t, b, `[...document.querySelectorAll(".mixpolicy-static")].map(e => !e.hidden)`); slices.Index(shown, true) != len(all) {
		t.Errorf("pictures are shown: %v; want that of the last figure, whose axes are too long for a chart", shown)
	}
}

// checkControls moves the slider and the menu of the sample as a reader without a
// mouse does, and looks at what the charts then show.
func checkControls(t *testing.T, b *browser) {
	t.Helper()
	const last = `[...document.querySelector(".mixpolicy-controls").parentElement.querySelectorAll(".mixpolicy-chart")].map(c =>
		window.echarts.getInstanceByDom(c.querySelector(".mixpolicy-live")).getOption().dataset[0].source.at(-1)[1]).join(" ")`
	const told = `(() => {
		const [range, menu] = document.querySelector(".mixpolicy-controls").querySelectorAll("input, select");
		return [range.labels[0].querySelector("span").textContent, range.getAttribute("aria-valuetext"), menu.selectedOptions[0].text].join(" ");
	})()`
	check := func(what, shown, says string) {
		t.Helper()
		eventually(t, b, what, fmt.Sprintf("%s === %q", last, shown))
		if got := evaluate[string](t, b, told); got != says {
			t.Errorf("%s: the controls say %q, want %q", what, got, says)
		}
	}
	press := func(selector, key string) {
		t.Helper()
		evaluate[int](t, b, fmt.Sprintf(`document.querySelector(".mixpolicy-controls %s").focus(), 0`, selector))
		noError(t, chromedp.Do(b, chromedp.KeyEvent(key)))
	}
	check("at the start", "11 7", "10 10 one")
	press("input", kb.ArrowRight)
	check("the slider moved", "21 7", "20 20 one")
	press("select", kb.ArrowDown)
	check("the menu too", "22 7", "20 20 two")
	press("input", kb.Home)
	check("all the way back", "2 7", "0 0 two")
}

// checkLinks finds links between the pages that lead nowhere.
func checkLinks(t *testing.T, b *browser, addresses []string) {
	t.Helper()
	ids := map[string][]string{}
	var all []string
	for _, address := range addresses {
		b.open(t, address)
		ids[address] = evaluate[[]string](t, b, `[...document.querySelectorAll("[id], a[name]")].map(e => e.id || e.name)`)
		all = append(all, evaluate[[]string](t, b, `[...document.querySelectorAll("a[href]")].map(a => new URL(a.getAttribute("href"), location).href)`)...)
	}
	for _, link := range all {
		page, anchor, _ := strings.Cut(link, "#")
		if !strings.HasPrefix(page, "file://") || strings.HasSuffix(page, ".go") { // which is beside build, in a clone
			continue
		}
		if _, err := os.Stat(strings.TrimPrefix(page, "file://")); err != nil {
			t.Errorf("a link to %s: %v", link, err)
		}
		if have, ours := ids[page]; ours && anchor != "" {
			id, err := url.PathUnescape(anchor)
			if err != nil || !slices.Contains(have, id) {
				t.Errorf("a link to %s: the page has no such anchor", link)
			}
		}
	}
}

// TestJupyterLab opens a notebook in JupyterLab as go run ./notebooks lab
// serves it: the committed outputs are live before anything is run, and those
// of a cell that is run there.
func TestJupyterLab(t *testing.T) {
	lab := readyLab(t)
	b := openBrowser(t)
	file := sample(t)
	runs := try(lab.execute(t.Context(), []string{file}, options)).or(t)
	noError(t, copyFile(file, runs[0].file))
	openLab(t, lab, b, file)
	defer b.calm(t)
	eventually(t, b, "committed charts are live", scrolling(liveCharts+".length >= 2"))
	saveScreenshot(t, b, "jupyterlab-opened.png")

	kernelReady(t, b)
	evaluate[int](t, b, `window.jupyterapp.commands.execute("notebook:clear-all-cell-outputs"), 0`)
	eventually(t, b, "all outputs are gone", allCharts+".length === 0")
	evaluate[int](t, b, `window.jupyterapp.commands.execute("notebook:run-all-cells"), 0`)
	eventually(t, b, "fresh charts are live", scrolling(liveCharts+".length >= 2"))
	saveScreenshot(t, b, "jupyterlab-run.png")

	eventually(t, b, "the controls are shown", scrolling(`(() => {
		const controls = document.querySelector(".mixpolicy-controls");
		return controls?.offsetHeight > 0 && [...controls.parentElement.querySelectorAll(".mixpolicy-live")].every(e => window.echarts.getInstanceByDom(e));
	})()`))
	checkControls(t, b)
	saveScreenshot(t, b, "jupyterlab-controls.png")
}

// openLab opens the notebook in JupyterLab, as go run ./notebooks lab serves it.
func openLab(t *testing.T, lab *Lab, b *browser, file string) {
	t.Helper()
	cmd := try(lab.server(t.Context(), file, []string{file}, []string{"--no-browser", "--LabApp.expose_app_in_browser=True", "--LabApp.workspaces_dir=" + t.TempDir()})).or(t)
	said := try(os.Create(filepath.Join(t.TempDir(), "server.log"))).or(t)
	defer said.Close()
	cmd.Stderr = said
	noError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Cancel()
		cmd.Wait()
		if text, err := os.ReadFile(said.Name()); err == nil && t.Failed() {
			t.Logf("the server said\n%s", tail(string(text), 60))
		}
	})
	server := waitForServer(t, lab)
	if server.Hostname != "127.0.0.1" || server.Token == "" {
		t.Errorf("the server listens on %s with token %q; want loopback, and a token", server.Hostname, server.Token)
	}
	b.open(t, server.URL+"lab/tree/"+filepath.Base(file)+"?token="+server.Token)
	eventually(t, b, "the notebook is shown", `document.querySelector(".jp-Notebook .jp-Cell")`)
}

// kernelReady waits until the notebook's kernel takes cells.
func kernelReady(t *testing.T, b *browser) {
	t.Helper()
	// GoNB tells its status with the first cell, not before: "connected" is all there is.
	eventually(t, b, "the kernel is ready", `(() => {
		const context = window.jupyterapp.shell.currentWidget?.sessionContext;
		return context?.isReady && context.session?.kernel?.connectionStatus === "connected";
	})()`)
}

// scrolling is the expression, evaluated a bit further down each time:
// JupyterLab renders what is in view.
func scrolling(expression string) string {
	return `(() => {
		const pane = document.querySelector(".jp-WindowedPanel-outer") || document.querySelector(".jp-Notebook");
		pane.scrollTop = pane.scrollTop + pane.clientHeight < pane.scrollHeight - 1 ? pane.scrollTop + 100 : 0;
		return ` + expression + `;
	})()`
}

// A serverInfo is what a Jupyter server says about itself.
type serverInfo struct{ Hostname, URL, Token string }

func waitForServer(t *testing.T, lab *Lab) (info serverInfo) {
	t.Helper()
	for range 1200 {
		files, _ := filepath.Glob(filepath.Join(lab.temp, "runtime", "jpserver-*.json"))
		if len(files) > 0 {
			data, err := os.ReadFile(files[0])
			if err == nil && json.Unmarshal(data, &info) == nil && listening(info.URL) {
				return info // it writes the file first, and listens later
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server doesn't start")
	return
}

func listening(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	conn, err := net.Dial("tcp", u.Host)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// saveScreenshot keeps a picture of the page where MIXPOLICY_SCREENSHOTS says,
// for a human to look at.
func saveScreenshot(t testing.TB, b *browser, name string) {
	t.Helper()
	dir := os.Getenv("MIXPOLICY_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture := try(chromedp.Run(b, chromedp.CaptureScreenshot())).or(t)
	noError(t, writeFile(filepath.Join(dir, name), picture))
}
