package browser

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/mixpolicy/lab/notebooks/internal/lab"
	"github.com/mixpolicy/lab/notebooks/internal/site"
)

// playNotebook has cells that import little. The function pages marks the first cell as one that took long.
var playNotebook = append([]cell{prose("# Play\n\nThe lead. See [its page](../build/play.html#Play) and [the start](00-start-here.ipynb).")}, playCells...)

var playCells = []cell{
	declares: code("import \"fmt\"\n\nfunc twice(n int) int { return 2 * n }"),
	uses:     code("%%\nfmt.Println(twice(21))"),
	endless:  code("%%\nfmt.Println(\"on\")\nfor {\n}"),
	floods:   code("%%\nfor i := range 1_000_000 {\n\tfmt.Println(i)\n}"),
	saves:    code("%%\nfmt.Println(os.WriteFile(\"saved.txt\", []byte(\"all of it\"), 0o644))"),
	reads:    code("%%\nsaved, err := os.ReadFile(\"saved.txt\")\nfmt.Println(string(saved), err)"),
	waits:    code("%%\nfmt.Println(\"waiting\")\n<-make(chan int)"),
	panics:   code("%%\ngo func() {\n\tpanic(\"oh\")\n}()\nselect {}"),
	hoards:   code("%%\nfor all := [][]byte{}; ; {\n\tall = append(all, make([]byte, 1<<27))\n}"),
	table:    code("%%\ntable, err := os.ReadFile(\"../data/reference.csv\")\nfmt.Println(\"70\\r8\\n\\x1b[1;31mred\\x1b[0m\", len(table), err)"),
	undrawn: code(`import "syscall/js"

%%
fmt.Println("drawing")
order := js.Global().Get("Object").New()
order.Set("buffer", js.Global().Get("ArrayBuffer").New(8))
said := make(chan string, 1)
js.Global().Call("draw", order, js.FuncOf(func(_ js.Value, args []js.Value) any {
	said <- args[1].String()
	return nil
}))
fmt.Println(<-said)`),
	draws: code(`import "github.com/mixpolicy/lab/plotting"

%%
plotting.Show(plotting.Figure{Title: "Rising", Layers: []plotting.Layer{plotting.Line{X: []float64{0, 1}, Y: []float64{0, 1}}}})`),
	magic: code("%test"),
}

// The indices of playCells.
const (
	declares = iota
	uses
	endless
	floods
	saves
	reads
	waits
	panics
	hoards
	table
	undrawn
	draws
	magic
)

// served is a site with its server.
type served struct {
	address string
	spoil   atomic.Bool  // if set, the server sends a wrong linker
	gone    atomic.Bool  // if set, the server does not answer
	bytes   atomic.Int64 // number of bytes of the engine that were fetched
}

// serve starts a server with the handler's site under the path /some/path.
func serve(t testing.TB, handler http.Handler) *served {
	t.Helper()
	s := new(served)
	server := httptest.NewServer(http.StripPrefix("/some/path", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.spoil.Load() && strings.HasPrefix(r.URL.Path, "/go/link.") {
			w.Write([]byte("not what was published"))
			return
		}
		if s.gone.Load() {
			panic(http.ErrAbortHandler)
		}
		if strings.HasPrefix(r.URL.Path, "/go/") {
			w = counted{w, &s.bytes}
		}
		handler.ServeHTTP(w, r)
	})))
	t.Cleanup(server.Close)
	s.address = server.URL + "/some/path/"
	return s
}

// counted counts the bytes that are written.
type counted struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

// at returns the expression for the code cell with this number on a page.
func at(cell int) string { return fmt.Sprintf("document.querySelectorAll('[data-cell]')[%d]", cell) }

const hasRun = `/( s|failed|stopped)$/.test(%s.querySelector("[role=status]").textContent)`

// press presses the button of the cell and, if wait is true, waits until the cell has run.
func press(t testing.TB, b *browser, cell int, button string, wait bool) {
	t.Helper()
	b.do(t, fmt.Sprintf(`[...%s.querySelectorAll(".run button")].find(b => b.textContent === %q).click()`, at(cell), button))
	if wait {
		b.eventually(t, "the cell has run", fmt.Sprintf(hasRun, at(cell)))
	}
}

// shown returns the output of the cell.
func shown(t testing.TB, b *browser, cell int) string {
	t.Helper()
	return evaluate[string](t, b, at(cell)+".querySelector('.outputs').innerText")
}

// runs runs the cell of play, and checks that its output is want or, if within is true, contains want.
func runs(t testing.TB, b *browser, cell int, want string, within bool) {
	t.Helper()
	press(t, b, cell, "Run", true)
	if got := shown(t, b, cell); got != want && !(within && strings.Contains(got, want)) {
		t.Errorf("the cell shows %.500q, want %q", got, want)
	}
}

// TestSite runs cells as readers do. One reader uses the pages and JupyterLite of the published site. The other reader's
// browser stores nothing, and fetches the site of this reader's own notebook from a plain file server.
func TestSite(t *testing.T) {
	t.Parallel()
	b, _ := open(t)
	folder := must[string](t)(published())
	s := serve(t, site.Handler(folder))
	t.Run("licences", func(t *testing.T) { checkLicences(t, b, s, folder) })
	t.Run("outputs", func(t *testing.T) { checkOutputs(t, b, s) })
	t.Run("a page", func(t *testing.T) { checkPlay(t, b, s) })
	t.Run("from the disk", func(t *testing.T) {
		b.visit(t, "file://"+filepath.Join(folder, "play.html"))
		if got := evaluate[string](t, b, `document.querySelector(".door").textContent`); !strings.Contains(got, "from a server") {
			t.Errorf("the page says %q", got)
		}
		b.calm(t)
	})
	t.Run("JupyterLite", func(t *testing.T) { checkLite(t, b, s.address) }) // last, because JupyterLite asks for confirmation when it is left
	t.Run("a browser that stores nothing, and a plain server", func(t *testing.T) {
		profile := t.TempDir()
		noError(t, os.Mkdir(filepath.Join(profile, "Default"), 0o755))
		noError(t, os.WriteFile(filepath.Join(profile, "Default", "Preferences"), []byte(`{"profile": {"default_content_setting_values": {"cookies": 2}}}`), 0o644))
		own := filepath.Join(temp, "own") // a site of a user's notebook, which imports a package of the user
		noError(t, os.CopyFS(own, fstest.MapFS{"go.mod": {Data: []byte("module example.com/own\n\ngo 1.26\n")}, "wave/wave.go": {Data: []byte("package wave\n\nconst Height = 42\n")}, "heights.csv": {Data: []byte("42\n")}}))
		noError(t, writeNotebook(filepath.Join(own, "play.ipynb"), append(playNotebook[:1+magic:1+magic], code("import \"example.com/own/wave\"\n%%\nheights, err := os.ReadFile(\"heights.csv\")\nfmt.Println(wave.Height, string(heights), err)"))))
		l := must[*lab.Lab](t)(lab.New(io.Discard))
		defer l.Close()
		noError(t, l.Pages(t.Context(), []string{filepath.Join(own, "play.ipynb")}))
		noError(t, os.CopyFS(filepath.Join(own, "build", "site", "go"), os.DirFS(filepath.Join(folder, "go")))) // Site keeps the files that both need
		noError(t, l.Site(t.Context(), own, ""))
		s := serve(t, http.FileServer(http.Dir(filepath.Join(own, "build", "site"))))
		b, _ := open(t, chromedp.UserDataDir(profile))
		b.visit(t, s.address+"play.html")
		if evaluate[bool](t, b, `(() => { try { return !!localStorage; } catch { return false; } })()`) {
			t.Fatal("the browser has a storage")
		}
		edit(t, b)
		b.key(t, kb.End)
		b.key(t, "// ")
		b.calm(t)
		s.spoil.Store(true) // the next download is not what was published
		runs(t, b, uses, "is not what was published", true)
		s.spoil.Store(false)
		runs(t, b, uses, "42\n", false)
		runs(t, b, magic, "42 42\n <nil>\n", false)
		b.calm(t, "integrity", "not what was published", "digest") // the wrong linker may be in the browser's cache
	})
}

// checkLicences opens the page of licences by a link from another page, and checks that it names the modules of all
// packages that cells may import, and other third-party software on the site.
func checkLicences(t *testing.T, b *browser, s *served, folder string) {
	b.visit(t, s.address+"play.html")
	b.visit(t, evaluate[string](t, b, `document.querySelector("main > p:last-child > a").href`))
	named := evaluate[[]string](t, b, `[...document.querySelectorAll("h2")].flatMap(h => h.textContent.split(", ").map(name => name.split(" ")[0]))`)
	if own := evaluate[string](t, b, `document.querySelector("a[href$='.json']").getAttribute("href")`); !strings.Contains(string(must[[]byte](t)(os.ReadFile(filepath.Join(folder, own)))), `"@jupyterlite/application"`) {
		t.Errorf("%s does not list JupyterLite's packages", own)
	}
	var engine struct {
		Packages map[string]any
		Pages    []struct{ Keys []string }
	}
	manifest := must[[]string](t)(filepath.Glob(filepath.Join(folder, "go", "engine.*.json.gz")))
	packed := must[*gzip.Reader](t)(gzip.NewReader(bytes.NewReader(must[[]byte](t)(os.ReadFile(manifest[0])))))
	noError(t, json.NewDecoder(packed).Decode(&engine))
	// The program of every page is built, and at least 240 cells are in these programs.
	cells, notebooks := 0, must[[]string](t)(filepath.Glob(filepath.Join(folder, "*.ipynb")))
	for _, p := range engine.Pages {
		cells += len(p.Keys)
	}
	if len(engine.Pages) != len(notebooks) || cells < 240 {
		t.Errorf("%d cells in the programs of %d pages, of %d notebooks", cells, len(engine.Pages), len(notebooks))
	}
	wanted := []string{"Go", "zrender", "mathjax", "minisearch", "@codemirror/view", "github.com/golang/freetype"}
	for path := range engine.Packages {
		if domain, _, _ := strings.Cut(path, "/"); strings.Contains(domain, ".") { // not a standard package
			wanted = append(wanted, path)
		}
	}
	for _, path := range wanted {
		if !slices.ContainsFunc(named, func(name string) bool { return strings.HasPrefix(path+"/", name+"/") }) {
			t.Errorf("the page has no licence of %s", path)
		}
	}
}

// checkPlay runs the cells of play on its page.
func checkPlay(t *testing.T, b *browser, s *served) {
	address := s.address + "play.html"
	b.visit(t, address)
	if width := evaluate[float64](t, b, `document.querySelector("main").clientWidth / innerWidth`); width < 0.7 {
		t.Errorf("a page without sections uses %.0f %% of the window", 100*width)
	}
	if got := evaluate[[]string](t, b, `performance.getEntriesByType("resource").map(e => e.name).filter(n => /\/go\/.*\.gz$/.test(n))`); len(got) > 0 {
		t.Errorf("fetched before a cell is run: %q", got)
	}
	b.calm(t)
	t.Run("a cell has what those above declare", func(t *testing.T) { runs(t, b, uses, "42\n", false) })
	t.Run("a cell that takes long", func(t *testing.T) {
		press(t, b, declares, "Run", false)
		b.eventually(t, "it says so", at(declares)+`.querySelector("[role=status]").textContent === "takes about 80 seconds in a browser: press Run again if you want to wait"`)
		press(t, b, declares, "Run", true)
	})
	t.Run("a stopped cell", func(t *testing.T) {
		press(t, b, endless, "Run", false)
		b.eventually(t, "it prints before it ends", at(endless)+`.querySelector(".outputs").innerText === "on\n"`)
		press(t, b, endless, "Stop", true)
		runs(t, b, uses, "42\n", false)
	})
	t.Run("a cell that floods the page", func(t *testing.T) {
		press(t, b, floods, "Run", false)
		b.eventually(t, "the lines that are too many are counted", at(floods)+`.querySelector(".lost")`)
		press(t, b, floods, "Stop", true)
		if n := len(shown(t, b, floods)); n > 300_000 {
			t.Errorf("the page holds %d characters of the output", n)
		}
	})
	for cell, want := range map[int]string{
		saves:  "<nil>",
		waits:  "all goroutines are asleep - deadlock!",
		panics: "line 3 +0x",
		hoards: "The program was stopped: it needs more than",
		magic:  "line 1: %test does not work in a page",
	} {
		t.Run(want, func(t *testing.T) { runs(t, b, cell, want, true) })
	}
	t.Run("a saved file", func(t *testing.T) {
		runs(t, b, reads, "all of it <nil>\n", false)
		b.eventually(t, "it is offered", `document.querySelector(".file").textContent === "Download saved.txt"`)
		b.do(t, `HTMLInputElement.prototype.click = function () {
			const some = new DataTransfer();
			some.items.add(new File(["all of mine"], "saved.txt"));
			Object.assign(this, {files: some.files}).dispatchEvent(new Event("change"));
		}, [...document.querySelectorAll(".bar button")].find(b => b.textContent === "Add a file").click()`)
		b.eventually(t, "it is added", `document.querySelector(".bar small").textContent.includes("saved.txt")`)
		runs(t, b, reads, "all of mine <nil>\n", false)
	})
	t.Run("a picture after one that could not be drawn", func(t *testing.T) {
		runs(t, b, undrawn, "expected src to be a Uint8Array", true) // the drawing program panics
		press(t, b, draws, "Run", true)
		if n := evaluate[int](t, b, at(draws)+`.querySelectorAll(".mixpolicy-chart").length`); n != 1 {
			t.Errorf("%d charts, and %q", n, shown(t, b, draws))
		}
	})
	t.Run("a table of data", func(t *testing.T) {
		size := must[os.FileInfo](t)(os.Stat(filepath.Join(root, "data", "reference.csv"))).Size()
		runs(t, b, table, fmt.Sprintf("80\nred %d <nil>\n", size), false) // as a terminal shows it
	})
	t.Run("an edited cell", func(t *testing.T) {
		const compiler = `performance.getEntriesByType("resource").some(e => /\/go\/(compile|link)\./.test(e.name))`
		if evaluate[bool](t, b, compiler) {
			t.Error("the compiler was fetched for published cells")
		}
		edit(t, b)
		b.key(t, kb.End, chromedp.ModifierCtrl)
		b.key(t, "; fmt.Println(y)")
		runs(t, b, uses, "line 2: undefined: y\n", false)
		b.eventually(t, "the compiler was fetched", compiler)
		b.eventually(t, "the line is marked", `document.querySelector(".cm-line.wrong")?.textContent === "fmt.Println(twice(21)); fmt.Println(y)"`)
		b.do(t, `document.querySelector(".cm-content").focus()`)
		b.key(t, kb.Home, chromedp.ModifierShift)
		b.key(t, "fmt.Println(twice(4))")
		// As on a real keyboard, a key that the page handles is not followed by a character.
		call(t, b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "rawKeyDown", Key: "Enter", WindowsVirtualKeyCode: 13, Modifiers: 8})
		b.eventually(t, "it runs by Shift+Enter", at(uses)+`.querySelector(".outputs").innerText === "8\n"`)
		press(t, b, declares, "Edit", false)
		b.key(t, kb.End, chromedp.ModifierCtrl)
		b.key(t, kb.Backspace)
		b.key(t, "+ 1 }")
		const whose = `.querySelector(".whose:not([hidden])")?.textContent`
		b.eventually(t, "the page says that an output is older than a change", at(uses)+whose+` === "Output from before the change of cell 1"`)
		press(t, b, declares, "Run what uses it", false)
		b.eventually(t, "it runs", at(uses)+`.querySelector(".outputs").innerText === "9\n" && !`+at(uses)+whose)
		b.do(t, `navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
		press(t, b, declares, "Link to the change", false)
		b.eventually(t, "it is copied", "window.copied")
		link := evaluate[string](t, b, "window.copied")
		b.do(t, at(uses)+`.querySelector(".cm-content").focus()`)
		b.key(t, "\nfmt.Sprin")
		b.eventually(t, "the page says to which text an output belongs", at(uses)+whose+`?.startsWith("Output of an earlier text")`)
		b.eventually(t, "names are completed", `[...document.querySelectorAll(".cm-tooltip-autocomplete .cm-completionLabel")].some(e => e.textContent === "Sprintf")`)
		b.key(t, kb.Escape)

		b.visit(t, address)
		b.eventually(t, "the text is kept", at(uses)+`.querySelector(".cm-content")?.textContent.includes("twice(4)")`)
		b.do(t, "localStorage.clear()")
		b.visit(t, s.address+"index.html")
		if got := evaluate[string](t, b, `document.body.innerText`); strings.Contains(got, "go run") || !strings.Contains(got, promise) {
			t.Errorf("the index of the site says %.1000q", got)
		}
		b.visit(t, link)
		b.eventually(t, "the link shows a change", at(declares)+`.querySelector(".diff ins")?.textContent === "+ func twice(n int) int { return 2 * n + 1 }\n"`)
		checkAccess(t, b, axe(t), []view{{360, "light"}, {1280, "dark"}})
		b.do(t, "window.fetch = null") // as if there were no network
		press(t, b, declares, "Reset", false)
		b.eventually(t, "the change is gone", `!`+at(declares)+`.innerText.includes("+ 1")`)
		press(t, b, declares, "Undo", false)
		b.eventually(t, "the change is back", at(declares)+`.innerText.includes("+ 1")`)
		if got := shown(t, b, declares) + shown(t, b, uses); got != "" {
			t.Errorf("cells ran by themselves: %q", got)
		}
		b.do(t, "localStorage.clear()")
	})
	b.calm(t)
	t.Run("a cell that is stopped while it is compiled", func(t *testing.T) {
		b.do(t, `localStorage.setItem("cell play " + `+at(waits)+`.dataset.cell,
			"%%\nx := len(os.Args)\n" + "if x&3 == 1 { x += x*x ^ 3 }\n".repeat(5_000) + "fmt.Println(x)")`) // takes long to compile
		b.visit(t, address)
		press(t, b, waits, "Run", false)
		b.eventually(t, "it is being compiled", at(waits)+`.querySelector("[role=status]").textContent === "compiling"`)
		press(t, b, waits, "Stop", false)
		b.eventually(t, "the cell is stopped before it ends", at(waits)+`.querySelector("[role=status]").textContent.endsWith("stopped")`)
		runs(t, b, uses, "42\n", false)
		b.do(t, "localStorage.clear()")
	})
	t.Run("a second visit, without a network", func(t *testing.T) {
		b.do(t, `Promise.all([caches.open("mixpolicy " + new URL(".", location)).then(c => c.put("go/page.old.js", new Response(""))), navigator.serviceWorker.getRegistration().then(r => r.unregister())]).then(() => { window.left = true; })`)
		b.eventually(t, "another version has left something", "window.left")
		b.visit(t, address)
		b.eventually(t, "the page is kept, and the other version's file is gone", `(Promise.all([location.href, "mathjax.js", "go/page.old.js"].map(u => caches.match(u))).then(([page, script, old]) => { window.kept = page && script && !old; }), window.kept)`)
		s.gone.Store(true)
		defer s.gone.Store(false)
		b.visit(t, address)
		runs(t, b, uses, "42\n", false)
	})
	b.calm(t, "ERR_EMPTY_RESPONSE")
}

// edit double-clicks a name in a cell of play, and checks that the editor opens with the name selected, and that
// nothing on the page jumps.
func edit(t *testing.T, b *browser) {
	t.Helper()
	const height = `document.documentElement.scrollHeight`
	place := evaluate[[]float64](t, b, `(word => {
		word.scrollIntoView({block: "center"});
		const {x, y} = word.getBoundingClientRect();
		return [x + 9, y + 3, `+height+`];
	})([...`+at(uses)+`.querySelectorAll(".highlight span")].find(e => e.textContent === "twice"))`)
	for n := range 2 {
		noError(t, chromedp.Do(b, chromedp.MouseClickXY(place[0], place[1], chromedp.ClickCount(n+1))))
	}
	b.eventually(t, "the editor is there, with the name selected, and nothing has jumped",
		fmt.Sprintf(`document.activeElement?.classList.contains("cm-content") && getSelection() + "" === "twice" && %s === %v`, height, place[2]))
}

// The most that the first Run may fetch, without and with a picture, in MB. The README and the pages state these
// numbers.
const firstRun, firstPicture = 6, 12

var promise = fmt.Sprintf("up to %d MB, or up to %d MB if the cell draws a picture. The first compilation, for example of a cell that you change, fetches up to 27 MB more", firstRun, firstPicture)

// rounded lists, by notebook and id, the cells whose digits in a page differ from the committed digits, and the assembly
// code that causes the difference: without this code, a native run shows the digits of the page.
var rounded = map[string]string{
	"04 daca980b": "math.Exp",                                        // the weights of the randomised LP
	"06 279cea2e": "gonum's kernels, which the tag noasm leaves out", // a β that is too small amplifies rounding
	"10 18292bdf": "math.Exp",                                        // the cube's ∇φ* is a tanh
	"10 1f47a984": "math.Exp",
	"10 d8c88627": "math.Exp and gonum's kernels", // 240 frames of learning
	"10 b12db23a": "math.Exp",                     // a rounding error: 3e-15 instead of 4e-15
	"12 1a9b0003": "math.Exp",                     // the softmax of the offline method
}

// A committed holds the parts of a committed cell that the tests read.
type committed struct {
	ID       string
	Type     string `json:"cell_type"`
	Metadata struct{ Tags []string }
	Outputs  []struct {
		Text lines
		Data map[string]any
	}
}

// lines is a text that nbformat stores as a list of lines.
type lines []string

func (l lines) String() string { return strings.Join(l, "") }

// committedCells returns the name and the code cells of the paper's notebook whose name has this beginning.
func committedCells(t testing.TB, begins string) (name string, cells []committed) {
	t.Helper()
	files := must[[]string](t)(filepath.Glob(filepath.Join(root, "notebooks", begins+"*.ipynb")))
	if len(files) != 1 {
		t.Fatalf("%d notebooks %s", len(files), begins)
	}
	var notebook struct{ Cells []committed }
	noError(t, json.Unmarshal(must[[]byte](t)(os.ReadFile(files[0])), &notebook))
	return strings.TrimSuffix(filepath.Base(files[0]), ".ipynb"), slices.DeleteFunc(notebook.Cells, func(c committed) bool { return c.Type != "code" })
}

// shows returns the text and the HTML or Markdown of the cell's committed outputs.
func (c *committed) shows() (text, shown string) {
	for _, o := range c.Outputs {
		text += o.Text.String()
		for _, mime := range []string{"text/html", "text/markdown"} {
			if all, ok := o.Data[mime].([]any); ok {
				for _, line := range all {
					shown += fmt.Sprint(line)
				}
			}
		}
	}
	return text, shown
}

// checkOutputs runs the first five cells of notebook 00 or, with -long, all cells of all notebooks. Their outputs must
// equal the committed outputs, except in cells tagged timing; the outputs of the cells in rounded must differ.
func checkOutputs(t *testing.T, b *browser, s *served) {
	if !strings.Contains(string(must[[]byte](t)(os.ReadFile(filepath.Join(root, "README.md")))), promise) {
		t.Errorf("README does not say %q", promise)
	}
	numbers := map[bool]string{false: "00", true: "00 01 02 03 04 05 06 07 08 09 10 11 12"}[*long]
	for _, number := range strings.Fields(numbers) {
		t.Run(number, func(t *testing.T) {
			name, cells := committedCells(t, number)
			b.visit(t, s.address+name+".html")
			evaluate[int](t, b, recordWorkers)
			b.do(t, `window.told = [], new MutationObserver(() => document.querySelectorAll(".run progress").forEach(p => told.push(p.max))).observe(document.body, {childList: true, subtree: true})`)
			for i, c := range cells[:map[bool]int{false: 5, true: len(cells)}[*long]] {
				press(t, b, i, "Run", true)
				if told := evaluate[[]float64](t, b, `told`); i == 0 && number == "00" && (len(told) == 0 || slices.Min(told) < 0.99*slices.Max(told)) {
					t.Errorf("the size of the download, told before its end, changes: %v", told)
				}
				got := evaluate[struct{ Text, Shown string }](t, b, "recorded()")
				if slices.Contains(c.Metadata.Tags, "timing") {
					continue
				}
				text, shown := c.shows()
				same := got.Text == text && got.Shown == shown
				if reason, accounted := rounded[number+" "+c.ID]; same == accounted {
					t.Errorf("cell %d, %s, shows\n%.2000s\nwhere\n%.2000s\nis committed; in rounded: %v %s", i, c.ID, got.Text+got.Shown, text+shown, accounted, reason)
				}
				most := int64(firstPicture)
				if i == 0 {
					most = firstRun
				}
				if n := s.bytes.Load(); number == "00" && n > most*1e6 {
					t.Errorf("%d bytes of the engine were fetched up to cell %d, want at most %d MB", n, i, most)
				}
			}
			b.calm(t)
		})
	}
}

// recordWorkers is a script that records the outputs of workers that start after the script.
const recordWorkers = `{
	let text = "", shown = new Map(); // by id: an output may be replaced
	const Real = Worker;
	window.Worker = class extends Real {
		constructor(...args) {
			super(...args);
			this.addEventListener("message", ({ data }) => {
				const [what, value] = Array.isArray(data) ? data : [];
				if (what === "text") text += value.text;
				const { id, data: forms = [] } = what === "display" ? value : {};
				for (let i = 0; i < forms.length; i += 2) if (/html|markdown/.test(forms[i])) shown.set(id || Symbol(), forms[i + 1]);
			});
		}
	};
	window.recorded = () => {
		const was = { Text: text, Shown: [...shown.values()].join("") };
		text = "";
		shown.clear();
		return was;
	};
	0;
}`
