package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// openLite opens another notebook in JupyterLite.
func openLite(t *testing.T, b *browser, name string) {
	t.Helper()
	b.do(t, `window.jupyterapp.commands.execute("docmanager:open", {path: "`+name+`.ipynb"})`)
	liteReady(t, b, name)
}

// liteReady waits until the notebook is open in JupyterLite, and its kernel accepts cells.
func liteReady(t *testing.T, b *browser, name string) {
	t.Helper()
	b.eventually(t, "the notebook is shown", panel+`?.context?.path === "`+name+`.ipynb" && document.querySelector(".jp-Notebook .jp-Cell")`)
	kernelReady(t, b)
}

const (
	codeCells  = panel + `.content.widgets.filter(c => c.model.type === "code")`
	liteKernel = panel + `.sessionContext.session.kernel`
)

// runLite runs the code cell with this number and, if wait is true, waits until the cell has run.
func runLite(t *testing.T, b *browser, cell int, wait bool) {
	t.Helper()
	b.do(t, fmt.Sprintf(`(notebook => {
		notebook.activeCellIndex = notebook.widgets.indexOf(%s[%d]);
		window.ran = false;
		window.jupyterapp.commands.execute("notebook:run-cell").then(() => window.ran = true);
	})(%s.content)`, codeCells, cell, panel))
	if wait {
		b.eventually(t, "the cell has run", "window.ran")
	}
}

// liteShows returns the output of the code cell with this number: text, tracebacks, HTML and Markdown.
func liteShows(t *testing.T, b *browser, cell int) string {
	t.Helper()
	return evaluate[string](t, b, fmt.Sprintf(`%s[%d].model.outputs.toJSON().map(o =>
		[o.text, o.traceback?.join("\n"), o.data?.["text/html"], o.data?.["text/markdown"]].flat().join("")).join("")`, codeCells, cell))
}

// checkLite runs cells in the site's JupyterLite.
func checkLite(t *testing.T, b *browser, address string) {
	name, cells := committedCells(t, "00")
	shows := func(cell int, want string) {
		t.Helper()
		if got := liteShows(t, b, cell); !strings.Contains(got, want) {
			t.Errorf("cell %d shows %.2000q, want %q", cell, got, want)
		}
	}

	b.visit(t, address+name+".html")
	press(t, b, 1, "Edit", false)
	b.key(t, "// mine\n")
	b.do(t, `window.open = (url) => { window.opened = url; }`)
	press(t, b, 1, "Open in JupyterLite", false)
	b.visit(t, evaluate[string](t, b, `[...document.querySelectorAll("nav a")].find(a => opened === a.getAttribute("href") + "#mine").href + "#mine"`))
	liteReady(t, b, name)
	b.eventually(t, "the notebook has the text that was changed on the page, and no output of the old text", codeCells+`[1].model.sharedModel.getSource().startsWith("// mine\n") && `+codeCells+`[1].model.outputs.length === 0`)
	// Two kinds of request may fail: for an icon, which the site lacks, and for what JupyterLab takes for files in the
	// traces of panics.
	defer b.calm(t, "/favicon.ico", "/api/resolvePath", "/api/contents/js")
	t.Run("no question is asked, and nothing of the engine comes before a cell is run", func(t *testing.T) {
		if got := evaluate[[]string](t, b, `[...document.querySelectorAll(".jp-Dialog")].map(d => d.innerText)`); len(got) > 0 {
			t.Errorf("asked: %q", got)
		}
		if got := evaluate[[]string](t, b, `performance.getEntriesByType("resource").map(e => e.name).filter(n => /\/go\/[^\/]*$/.test(n))`); len(got) > 0 {
			t.Errorf("fetched %q", got)
		}
	})
	t.Run("outputs are the committed ones", func(t *testing.T) {
		runLite(t, b, 0, true) // imports
		runLite(t, b, 1, true)
		text, _ := cells[1].shows()
		shows(1, text)
	})

	openLite(t, b, "play")
	t.Run("a cell has what others have declared", func(t *testing.T) {
		runLite(t, b, uses, true)
		shows(uses, "error: line 2: undefined: twice\n  line 2: fmt.Println(twice(21))")
		runLite(t, b, declares, true)
		runLite(t, b, uses, true)
		shows(uses, "42\n")
	})
	t.Run("an interrupted cell", func(t *testing.T) {
		runLite(t, b, endless, false)
		b.eventually(t, "it prints before it ends", codeCells+fmt.Sprintf(`[%d].model.outputs.toJSON()[0]?.text === "on\n"`, endless))
		b.command(t, "notebook:interrupt-kernel")
		b.eventually(t, "the cell has ended", "window.ran")
		shows(endless, "on\ninterrupted: the cell was stopped")
		// The next cell does not show the output of a cell that was interrupted while it was compiled.
		runLite(t, b, endless, false)
		b.eventually(t, "the kernel has the cell", liteKernel+`.status === "busy"`)
		b.command(t, "notebook:interrupt-kernel")
		b.eventually(t, "a cell that has not begun has ended", "window.ran")
		runLite(t, b, uses, true)
		shows(uses, "42\n")
	})
	t.Run("cells that fail, and what is printed before the drawing program is fetched", func(t *testing.T) {
		for cell, want := range map[int]string{
			waits:   "all goroutines are asleep - deadlock!",
			panics:  "exit status 2: panic: oh\n  line 3: panic(\"oh\")",
			magic:   "line 1: %test does not work in a page",
			undrawn: "drawing\n",
		} {
			runLite(t, b, cell, true)
			shows(cell, want)
		}
	})
	t.Run("a chart is live", func(t *testing.T) {
		runLite(t, b, draws, true)
		b.eventually(t, "the chart is live", scrolling(liveCharts+".length >= 1"))
		b.keep(t, "lite.png")
	})
	t.Run("a saved file", func(t *testing.T) {
		runLite(t, b, saves, true)
		runLite(t, b, reads, true)
		shows(reads, "all of it <nil>\n")
		b.eventually(t, "it is in the list of files", `(window.jupyterapp.serviceManager.contents.get("saved.txt", {content: true}).then(f => window.saved = f.content, () => 0), window.saved === "all of it")`)
		b.do(t, `window.jupyterapp.serviceManager.contents.save("saved.txt", {type: "file", format: "text", content: "all of mine"}).then(() => window.put = true)`)
		b.eventually(t, "a file of the reader's is put there", "window.put")
		runLite(t, b, reads, true)
		shows(reads, "all of mine <nil>\n")
	})
	t.Run("scripts of a notebook that says it is trusted", func(t *testing.T) {
		b.do(t, `window.jupyterapp.serviceManager.contents.save("theirs.ipynb", {type: "notebook", format: "json", content: {nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [
			{cell_type: "code", id: "a", metadata: {trusted: true}, execution_count: 1, source: "", outputs: [{output_type: "display_data", metadata: {}, data: {
				"text/html": "<p class='theirs'>shown</p><img src='data:,' onerror='window.ranTheirs = 1'>"}}]}]}}).then(() =>
			window.jupyterapp.commands.execute("docmanager:open", {path: "theirs.ipynb", kernel: {name: "gonb"}}))`)
		b.eventually(t, "their cell is shown", `document.querySelector(".theirs")`)
		time.Sleep(time.Second) // time for the scripts to run
		b.eventually(t, "their scripts don't run", "!window.ranTheirs")
		openLite(t, b, "play")
	})
	complete := func(text string) []string {
		t.Helper()
		b.do(t, fmt.Sprintf(`window.matches = null, %s.requestComplete({code: %q, cursor_pos: [...%[2]q].length}).then(r => window.matches = r.content.matches)`, liteKernel, text))
		b.eventually(t, "names are found", "window.matches")
		return evaluate[[]string](t, b, "window.matches")
	}
	t.Run("names are completed", func(t *testing.T) {
		if got := complete("import \"github.com/mixpolicy/lab/mixpolicy\"\n%%\n_ = \"Ψ𝕏\"; mixpolicy."); !slices.Contains(got, "AverageCost") || slices.Contains(got, "len") {
			t.Errorf("of mixpolicy: %q", got)
		}
		if got := complete("%%\ntwi"); !slices.Equal(got, []string{"twice"}) {
			t.Errorf("of the notebook: %q", got)
		}
		b.do(t, fmt.Sprintf(`%s.requestInspect({code: "%%%%\ntwice(1)", cursor_pos: 5, detail_level: 0}).then(r => window.inspected = r.content.data["text/plain"])`, liteKernel))
		b.eventually(t, "it says what a name is", `window.inspected === "func twice(n int) int"`)
	})
	t.Run("a restart forgets", func(t *testing.T) {
		b.do(t, liteKernel+`.restart().then(() => window.restarted = true)`)
		b.eventually(t, "the kernel is restarted", "window.restarted")
		kernelReady(t, b)
		runLite(t, b, uses, true)
		shows(uses, "undefined: twice")
	})
	t.Run("links lead to pages of the site, and to notebooks, which have sessions of their own", func(t *testing.T) {
		link := func(text string) string {
			return fmt.Sprintf(`[...document.querySelectorAll(".jp-RenderedMarkdown a")].find(a => a.textContent === %q)`, text)
		}
		b.eventually(t, "the link is there", scrolling(link("its page")+`?.href.startsWith("http")`))
		b.do(t, `window.opened = [], window.open = url => { opened.push(url.href); }, `+link("its page")+`.click()`)
		if got := evaluate[[]string](t, b, "opened"); !slices.Equal(got, []string{address + "play.html#Play"}) {
			t.Errorf("opened is %q", got)
		}
		b.do(t, link("the start")+".click()")
		liteReady(t, b, name)
		if got := complete("%%\ntwi"); len(got) > 0 {
			t.Errorf("it knows %q", got)
		}
		b.do(t, codeCells+`[1].model.sharedModel.setSource("// mine"), [...document.querySelectorAll(".jp-NotebookPanel-toolbar *")].find(e => e.textContent === "Show on the page" && !e.childElementCount).click()`)
		b.eventually(t, "the page is opened", "opened[1]")
		back := evaluate[string](t, b, "opened[1]")
		b.command(t, "docmanager:save-all") // otherwise, JupyterLite asks for confirmation when it is left
		b.eventually(t, "all is saved", `[...window.jupyterapp.shell.widgets("main")].every(w => !w.context?.model.dirty)`)
		b.visit(t, back)
		b.eventually(t, "the page shows the difference, and runs nothing", at(1)+`.querySelector(".diff ins")?.textContent === "+ // mine\n" && `+at(1)+`.querySelector("[role=status]").textContent.endsWith("not run yet")`)
	})
}
