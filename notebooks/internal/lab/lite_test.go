package lab

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// openLite opens another notebook in JupyterLite.
func openLite(t *testing.T, b *browser, name string) {
	t.Helper()
	evaluate[int](t, b, `window.jupyterapp.commands.execute("docmanager:open", {path: "`+name+`.ipynb"}), 0`)
	liteReady(t, b, name)
}

// liteReady waits until the notebook is open in JupyterLite, and its kernel takes cells.
func liteReady(t *testing.T, b *browser, name string) {
	t.Helper()
	eventually(t, b, "the notebook is shown", `window.jupyterapp?.shell.currentWidget?.context?.path === "`+name+`.ipynb" && document.querySelector(".jp-Notebook .jp-Cell")`)
	kernelReady(t, b)
}

const codeCells = `window.jupyterapp.shell.currentWidget.content.widgets.filter(c => c.model.type === "code")`

// runLite runs the code cell with this number, and waits for the end of it if told.
func runLite(t *testing.T, b *browser, cell int, wait bool) {
	t.Helper()
	evaluate[int](t, b, fmt.Sprintf(`{
		const notebook = window.jupyterapp.shell.currentWidget.content;
		notebook.activeCellIndex = notebook.widgets.indexOf(%s[%d]);
		window.ran = false;
		window.jupyterapp.commands.execute("notebook:run-cell").then(() => window.ran = true);
		0;
	}`, codeCells, cell))
	if wait {
		eventually(t, b, "the cell has run", "window.ran")
	}
}

// liteShows is what the code cell with this number shows, as text, HTML, Markdown or a traceback.
func liteShows(t *testing.T, b *browser, cell int) string {
	t.Helper()
	return evaluate[string](t, b, fmt.Sprintf(`%s[%d].model.outputs.toJSON().map(o =>
		[o.text, o.traceback?.join("\n"), o.data?.["text/html"], o.data?.["text/markdown"]].flat().join("")).join("")`, codeCells, cell))
}

// TestLite runs cells in JupyterLite as a reader of the published site does.
func TestLite(t *testing.T) {
	lab := readyLab(t)
	b := openBrowser(t)
	start := try(lab.notebooks([]string{"00"})).or(t)[0]
	name := notebookName(start)
	address := siteOf(t, lab, 0, play(t), start).address

	b.open(t, address+name+".html")
	b.open(t, evaluate[string](t, b, `[...document.querySelectorAll("nav a")].find(a => a.textContent === "JupyterLite").href`))
	liteReady(t, b, name)
	defer func() {
		// An icon of the server, which is not the site's, and what may be files in the traces of panics.
		idle := regexp.MustCompile(`/favicon\.ico|/api/(resolvePath|contents/js)\b`)
		b.mu.Lock()
		b.complaints = slices.DeleteFunc(b.complaints, idle.MatchString)
		b.mu.Unlock()
		b.calm(t)
	}()
	t.Run("no question is asked, and nothing of the engine comes before a cell is run", func(t *testing.T) {
		if got := evaluate[[]string](t, b, `[...document.querySelectorAll(".jp-Dialog")].map(d => d.innerText)`); len(got) > 0 {
			t.Errorf("asked: %q", got)
		}
		if got := evaluate[[]string](t, b, `performance.getEntriesByType("resource").map(e => e.name).filter(n => /\/go\/[^\/]*$/.test(n))`); len(got) > 0 {
			t.Errorf("fetched %q", got)
		}
	})
	t.Run("outputs are the committed ones", func(t *testing.T) {
		for i, c := range try(readNotebook(start)).or(t).code()[:4] {
			begin := time.Now()
			runLite(t, b, i, true)
			t.Logf("cell %d took %v", i, time.Since(begin))
			var want strings.Builder
			for _, o := range c.Outputs {
				want.WriteString(string(o.Text) + o.in("text/html") + o.in("text/markdown"))
			}
			if got := liteShows(t, b, i); got != want.String() {
				t.Errorf("cell %d shows\n%.2000s\nwant\n%.2000s", i, got, want.String())
			}
		}
		saveScreenshot(t, b, "lite.png")
	})
	t.Run("committed charts are live", func(t *testing.T) {
		eventually(t, b, "they are", scrolling(liveCharts+".length >= 1"))
		saveScreenshot(t, b, "lite-charts.png")
	})

	const kernel = `window.jupyterapp.shell.currentWidget.sessionContext.session.kernel`
	openLite(t, b, "play")
	t.Run("a cell has what others have declared", func(t *testing.T) {
		runLite(t, b, 1, true)
		if got := liteShows(t, b, 1); !strings.Contains(got, "error: line 2: undefined: twice\n  line 2: fmt.Println(twice(21))") {
			t.Errorf("before they have, it shows %q", got)
		}
		runLite(t, b, 0, true)
		runLite(t, b, 1, true)
		if got := liteShows(t, b, 1); got != "42\n" {
			t.Errorf("the cell shows %q", got)
		}
	})
	t.Run("an interrupted cell", func(t *testing.T) {
		runLite(t, b, 2, false)
		eventually(t, b, "it prints before it ends", codeCells+`[2].model.outputs.toJSON()[0]?.text === "on\n"`)
		begin := time.Now()
		evaluate[int](t, b, `window.jupyterapp.commands.execute("notebook:interrupt-kernel"), 0`)
		eventually(t, b, "the cell has ended", "window.ran")
		took := time.Since(begin)
		t.Logf("it ended after %v", took)
		if got := liteShows(t, b, 2); got != "on\ninterrupted: the cell was stopped" {
			t.Errorf("the cell shows %q", got)
		}
		// What is still in the compiler is not what the next cell shows.
		runLite(t, b, 2, false)
		eventually(t, b, "the kernel has it", kernel+`.status === "busy"`)
		evaluate[int](t, b, `window.jupyterapp.commands.execute("notebook:interrupt-kernel"), 0`)
		eventually(t, b, "a cell that has not begun has ended", "window.ran")
		runLite(t, b, 1, true)
		if got := liteShows(t, b, 1); got != "42\n" {
			t.Errorf("the next cell shows %q", got)
		}
	})
	for cell, want := range map[int]string{
		6:  "all goroutines are asleep - deadlock!",
		7:  "exit status 2: panic: oh\n  line 3: panic(\"oh\")",
		14: "line 1: %test does not work in a page",
	} {
		t.Run(want, func(t *testing.T) {
			runLite(t, b, cell, true)
			if got := liteShows(t, b, cell); !strings.Contains(got, want) {
				t.Errorf("cell %d shows %q", cell, got[:min(len(got), 500)])
			}
		})
	}
	t.Run("what is printed before the drawing program is fetched", func(t *testing.T) {
		runLite(t, b, 11, true)
		if got := liteShows(t, b, 11); !strings.HasPrefix(got, "drawing\n") {
			t.Errorf("the cell shows %q", got[:min(len(got), 500)])
		}
	})
	t.Run("a saved file", func(t *testing.T) {
		runLite(t, b, 4, true)
		runLite(t, b, 5, true)
		if got := liteShows(t, b, 5); got != "all of it <nil>\n" {
			t.Errorf("the next cell reads %q", got)
		}
		eventually(t, b, "it is in the list of files", `(window.jupyterapp.serviceManager.contents.get("saved.txt", {content: true}).then(f => window.saved = f.content, () => 0), window.saved === "all of it")`)
	})

	complete := func(text string) []string {
		t.Helper()
		evaluate[int](t, b, fmt.Sprintf(`window.matches = null, %s.requestComplete({code: %q, cursor_pos: [...%[2]q].length}).then(r => window.matches = r.content.matches), 0`, kernel, text))
		eventually(t, b, "names are found", "window.matches")
		return evaluate[[]string](t, b, "window.matches")
	}
	t.Run("names are completed", func(t *testing.T) {
		if got := complete("import \"github.com/mixpolicy/lab/mixpolicy\"\n%%\n_ = \"Ψ𝕏\"; mixpolicy."); !slices.Contains(got, "AverageCost") || slices.Contains(got, "len") {
			t.Errorf("of mixpolicy: %q", got)
		}
		if got := complete("%%\ntwi"); !slices.Equal(got, []string{"twice"}) {
			t.Errorf("of the notebook: %q", got)
		}
		evaluate[int](t, b, fmt.Sprintf(`%s.requestInspect({code: "%%%%\ntwice(1)", cursor_pos: 5, detail_level: 0}).then(r => window.inspected = r.content.data["text/plain"]), 0`, kernel))
		eventually(t, b, "it says what a name is", `window.inspected === "func twice(n int) int"`)
	})
	t.Run("links lead to pages of the site, and to notebooks", func(t *testing.T) {
		link := func(text string) string {
			return fmt.Sprintf(`[...document.querySelectorAll(".jp-RenderedMarkdown a")].find(a => a.textContent === %q)`, text)
		}
		eventually(t, b, "the link is there", link("its page")+`?.href.startsWith("http")`)
		evaluate[int](t, b, `window.opened = [], window.open = url => { opened.push(url.href); }, `+link("its page")+`.click(), 0`)
		if got := evaluate[[]string](t, b, "opened"); !slices.Equal(got, []string{address + "play.html#Play"}) {
			t.Errorf("opened is %q", got)
		}
		evaluate[int](t, b, link("the start")+".click(), 0")
		liteReady(t, b, name)
		openLite(t, b, "play")
	})
	t.Run("another notebook has a session of its own", func(t *testing.T) {
		openLite(t, b, name)
		if got := complete("%%\ntwi"); len(got) > 0 {
			t.Errorf("it knows %q", got)
		}
		openLite(t, b, "play")
	})
	t.Run("a restart forgets", func(t *testing.T) {
		runLite(t, b, 2, false)
		eventually(t, b, "a cell is running", codeCells+`[2].model.outputs.toJSON()[0]?.text === "on\n"`)
		evaluate[int](t, b, kernel+`.restart().then(() => window.restarted = true), 0`)
		eventually(t, b, "the kernel is restarted", "window.restarted")
		kernelReady(t, b)
		runLite(t, b, 1, true)
		if got := liteShows(t, b, 1); !strings.Contains(got, "undefined: twice") {
			t.Errorf("the cell shows %q", got)
		}
	})
}
