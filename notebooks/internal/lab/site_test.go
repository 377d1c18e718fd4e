package lab

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/mixpolicy/lab/notebooks/internal/site"
)

// play is a notebook of cells that need little of Go.
func play(t *testing.T) string {
	return writeNotebook(t, "play",
		prose("# Play\n\nThe lead."),
		code("import \"fmt\"\n\nfunc twice(n int) int { return 2 * n }"),
		code("%%\nfmt.Println(twice(21))"),
		code("%%\nfmt.Println(\"on\")\nfor {\n}"),
		code("%%\nfor i := range 1_000_000 {\n\tfmt.Println(i)\n}"),
		code("%%\nfmt.Println(os.WriteFile(\"saved.txt\", []byte(\"all of it\"), 0o644))"),
		code("%%\nsaved, err := os.ReadFile(\"saved.txt\")\nfmt.Println(string(saved), err)"),
		code("%%\nfmt.Println(\"waiting\")\n<-make(chan int)"),
		code("%%\ngo func() {\n\tpanic(\"oh\")\n}()\nselect {}"),
		code("%%\nfmt.Println(len(make([]byte, 1<<32)))"),
		code("%test"))
}

// siteOf makes the site of notebooks with the outputs that they have, and serves it. From when spoil is set, what
// it serves of the linker is not what was published.
func siteOf(t *testing.T, lab *Lab, files ...string) (address string, spoil *atomic.Bool) {
	t.Helper()
	var runs []*run
	for _, file := range files {
		runs = append(runs, &run{name: notebookName(file), source: file, file: file, notebook: try(readNotebook(file)).or(t)})
	}
	noError(t, lab.export(t.Context(), runs))
	noError(t, lab.makeSite(t.Context()))
	spoil = new(atomic.Bool)
	handler := site.Handler(lab.build("site"))
	server := httptest.NewServer(http.StripPrefix("/some/path", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if spoil.Load() && strings.HasPrefix(r.URL.Path, "/go/link.") {
			w.Write([]byte("not what was published"))
			return
		}
		handler.ServeHTTP(w, r)
	})))
	t.Cleanup(server.Close)
	return server.URL + "/some/path/", spoil
}

// press presses the button of the cell with this number, and waits for the end of it if told. A widget it tells
// that the reader is done.
func press(t *testing.T, b *browser, cell int, button string, wait bool) {
	t.Helper()
	at := fmt.Sprintf("document.querySelectorAll('[data-cell]')[%d]", cell)
	evaluate[int](t, b, fmt.Sprintf(`[...%s.querySelectorAll(".run button")].find(b => b.textContent === %q).click(), 0`, at, button))
	if wait {
		eventually(t, b, "the cell has run", fmt.Sprintf(`%[1]s.querySelector(".mixpolicy-widget button:enabled")?.click(), /( s|failed|stopped)$/.test(%[1]s.querySelector("[role=status]").textContent)`, at))
	}
}

// shown is what the cell with this number shows.
func shown(t *testing.T, b *browser, cell int) string {
	t.Helper()
	return evaluate[string](t, b, fmt.Sprintf("document.querySelectorAll('[data-cell]')[%d].querySelector('.outputs').innerText", cell))
}

// TestSite runs cells as a reader of the published site does.
func TestSite(t *testing.T) {
	lab := readyLab(t)
	b := openBrowser(t)
	address, spoil := siteOf(t, lab, play(t))
	b.open(t, address+"play.html")

	t.Run("nothing of the engine comes before a cell is run", func(t *testing.T) {
		if got := evaluate[[]string](t, b, `performance.getEntriesByType("resource").map(e => e.name).filter(n => /\/go\/.*\.gz$/.test(n))`); len(got) > 0 {
			t.Errorf("fetched %q", got)
		}
	})
	b.calm(t)
	t.Run("a download that is not what was published", func(t *testing.T) {
		spoil.Store(true)
		press(t, b, 1, "Run", true)
		if got := shown(t, b, 1); !strings.Contains(got, "is not what was published") {
			t.Errorf("the cell shows %q", got)
		}
		spoil.Store(false)
		b.complaints = nil // Chromium's own about the hash
	})
	t.Run("a cell has what those above declare", func(t *testing.T) {
		press(t, b, 1, "Run", true)
		if got := shown(t, b, 1); got != "42\n" {
			t.Errorf("the cell shows %q", got)
		}
	})
	t.Run("a stopped cell", func(t *testing.T) {
		press(t, b, 2, "Run", false)
		eventually(t, b, "it prints before it ends", `document.querySelectorAll("[data-cell]")[2].querySelector(".outputs").innerText === "on\n"`)
		begin := time.Now()
		press(t, b, 2, "Stop", true)
		press(t, b, 1, "Run", true)
		t.Logf("from stop to the next cell's end %v", time.Since(begin))
		if got := shown(t, b, 1); got != "42\n" {
			t.Errorf("the next cell shows %q", got)
		}
	})
	t.Run("a cell that floods the page", func(t *testing.T) {
		press(t, b, 3, "Run", false)
		eventually(t, b, "what is too much is counted", `document.querySelectorAll("[data-cell]")[3].querySelector(".lost")`)
		press(t, b, 3, "Stop", true)
		if n := evaluate[int](t, b, `document.querySelectorAll("[data-cell]")[3].querySelector(".outputs").innerText.length`); n > 300_000 {
			t.Errorf("the page holds %d characters of it", n)
		}
	})
	for cell, want := range map[int]string{
		4: "<nil>",
		6: "all goroutines are asleep - deadlock!",
		7: "line 3 +0x",
		8: "out of memory",
		9: "line 1: %test does not work in a page",
	} {
		t.Run(want, func(t *testing.T) {
			press(t, b, cell, "Run", true)
			if got := shown(t, b, cell); !strings.Contains(got, want) {
				t.Errorf("cell %d shows %q", cell, got[:min(len(got), 500)])
			}
		})
	}
	t.Run("a saved file", func(t *testing.T) {
		press(t, b, 5, "Run", true)
		if got := shown(t, b, 5); got != "all of it <nil>\n" {
			t.Errorf("the next cell reads %q", got)
		}
		if got := evaluate[string](t, b, `document.querySelector("a.file").download`); got != "saved.txt" {
			t.Errorf("%q is offered", got)
		}
	})

	t.Run("an edited cell", func(t *testing.T) {
		evaluate[int](t, b, `document.querySelectorAll("[data-cell]")[1].querySelector(".highlight").click(), 0`)
		eventually(t, b, "the editor is there", `document.activeElement?.classList.contains("cm-content")`)
		key := func(keys string, modifiers ...chromedp.Modifier) {
			noError(t, chromedp.Do(b, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))))
		}
		key(kb.End, chromedp.ModifierCtrl)
		key("; fmt.Println(y)")
		press(t, b, 1, "Run", true)
		if got := shown(t, b, 1); got != "line 2: undefined: y\n" {
			t.Errorf("the error is %q", got)
		}
		if got := evaluate[string](t, b, `document.querySelector(".cm-line.wrong")?.textContent`); got != "fmt.Println(twice(21)); fmt.Println(y)" {
			t.Errorf("marked is %q", got)
		}
		evaluate[int](t, b, `document.querySelector(".cm-content").focus(), 0`)
		key(kb.Home, chromedp.ModifierShift)
		key("fmt.Println(twice(4))")
		key(kb.Enter, chromedp.ModifierShift)
		eventually(t, b, "it runs by Shift+Enter", `document.querySelectorAll("[data-cell]")[1].querySelector(".outputs").innerText === "8\n"`)

		key("\nfmt.Sprin")
		eventually(t, b, "names are completed", `[...document.querySelectorAll(".cm-tooltip-autocomplete .cm-completionLabel")].some(e => e.textContent === "Sprintf")`)
		saveScreenshot(t, b, "site-completion.png")
		key(kb.Escape)

		b.open(t, address+"play.html")
		eventually(t, b, "the text is kept", `document.querySelector(".cm-content")?.textContent.includes("twice(4)")`)
		if got := shown(t, b, 1); got != "" {
			t.Errorf("a cell ran by itself: %q", got)
		}
		press(t, b, 1, "Reset", false)
		if got := evaluate[string](t, b, `document.querySelectorAll("[data-cell]")[1].innerText`); !strings.Contains(got, "twice(21)") {
			t.Errorf("after the reset: %q", got)
		}
	})
	b.calm(t)

	t.Run("a server that knows nothing of the files", func(t *testing.T) {
		server := httptest.NewServer(http.FileServer(http.Dir(lab.build("site"))))
		t.Cleanup(server.Close)
		b.open(t, server.URL+"/play.html")
		press(t, b, 1, "Run", true)
		if got := shown(t, b, 1); got != "42\n" {
			t.Errorf("the cell shows %q", got)
		}
		b.calm(t)
	})

	t.Run("from the disk", func(t *testing.T) {
		b.open(t, "file://"+lab.build("site", "play.html"))
		if got := evaluate[string](t, b, `document.querySelector(".bar small").textContent`); !strings.Contains(got, "from a server") {
			t.Errorf("the page says %q", got)
		}
		b.calm(t)
	})
}

// TestSiteOutputs runs every cell of some of the paper's notebooks: they show what is committed.
func TestSiteOutputs(t *testing.T) {
	lab := readyLab(t)
	b := openBrowser(t)
	files := try(lab.notebooks([]string{"00", "03"})).or(t)
	address, _ := siteOf(t, lab, files...)
	for _, file := range files {
		t.Run(notebookName(file), func(t *testing.T) {
			b.open(t, address+notebookName(file)+".html")
			evaluate[int](t, b, recordWorkers)
			for i, c := range try(readNotebook(file)).or(t).code() {
				press(t, b, i, "Run", true)
				got := evaluate[string](t, b, "recorded()")
				if strings.Contains(string(c.Source), "widget.Run") {
					continue // what it shows is live here
				}
				var want []string
				for _, o := range c.Outputs {
					want = append(want, string(o.Text)+o.in("text/html")+o.in("text/markdown"))
				}
				if want := strings.Join(want, ""); got != want {
					t.Errorf("cell %d shows\n%.2000s\nwant\n%.2000s", i, got, want)
				}
			}
			b.calm(t)
		})
	}
}

// recordWorkers keeps what the workers that are started from now on tell of outputs.
const recordWorkers = `{
	let all = "";
	const Real = Worker;
	window.Worker = class extends Real {
		constructor(...args) {
			super(...args);
			this.addEventListener("message", ({ data }) => {
				all += data.text?.text ?? "";
				const forms = data.display?.data || [];
				for (let i = 0; i < forms.length; i += 2) if (/html|markdown/.test(forms[i])) all += forms[i + 1];
			});
		}
	};
	window.recorded = () => { const was = all; all = ""; return was; };
	0;
}`
