// Package browser tests pages, sites and JupyterLab as their readers see them: in browsers without a network.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
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
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/mixpolicy/lab/notebooks/internal/lab"
)

var long = flag.Bool("long", false, "do what takes long: all cells of all notebooks, axe in all views, and JupyterLite in Firefox")

// root is the folder of the clone; temp is the folder for files of the tests.
var root, temp string

func TestMain(m *testing.M) {
	lab.Keep()
	flag.Set("test.parallel", "5") // pages wait most of the time
	flag.Parse()
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err == nil {
		temp, err = os.MkdirTemp("", "browser-")
	}
	if err != nil {
		panic(err)
	}
	root = filepath.Dir(string(mod))
	code := m.Run()
	os.RemoveAll(temp)
	os.Exit(code)
}

// inLab calls each function with a new lab, whose pages go into temp/pages.
func inLab(do ...func(*lab.Lab) error) error {
	for _, do := range do {
		l, err := lab.New(io.Discard)
		if err == nil {
			l.Output = filepath.Join(temp, "pages")
			err = do(l)
			l.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type cell struct {
	kind, source string
	tags         []string
}

func prose(source string, tags ...string) cell { return cell{"markdown", source, tags} }
func code(source string, tags ...string) cell  { return cell{"code", source, tags} }

func writeNotebook(file string, cells []cell) error {
	all := make([]map[string]any, len(cells))
	for i, c := range cells {
		all[i] = map[string]any{"cell_type": c.kind, "id": fmt.Sprint("cell-", i), "source": c.source, "metadata": map[string]any{"tags": append([]string{}, c.tags...)}}
		if c.kind == "code" {
			all[i]["execution_count"], all[i]["outputs"] = nil, []any{}
		}
	}
	data, err := json.Marshal(map[string]any{
		"cells": all, "metadata": map[string]any{"kernelspec": map[string]any{"display_name": "Go (gonb)", "language": "go", "name": "gonb"}},
		"nbformat": 4, "nbformat_minor": 5,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// must returns a function that returns its value, or ends the test if there is an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		noError(t, err)
		return value
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lacking skips a test that needs more than Go and Python. If the environment variable CI is set, the test fails.
func lacking(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// program returns the path of the first of the named programs that is installed. If none is, it calls lacking.
func program(t testing.TB, debian string, names ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("opens a browser")
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	lacking(t, "no "+names[0]+" on the PATH (Debian: apt install "+debian+")")
	return ""
}

// A browser is a Chromium without network access that records the errors of its pages.
type browser struct {
	context.Context

	mu         sync.Mutex
	complaints []string
}

// open makes the pages, starts a browser, and returns the browser and the folder of the pages.
func open(t testing.TB, more ...chromedp.ExecAllocatorOption) (b *browser, folder string) {
	t.Helper()
	chromium := program(t, "chromium", "chromium", "chromium-browser", "google-chrome", "chrome")
	folder = must[string](t)(pages())
	if _, err := os.Stat(filepath.Join(folder, "mathjax.js")); err != nil {
		lacking(t, "no npm on the PATH to fetch scripts, without which pages need a network (Debian: apt install npm)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.WindowSize(1280, 900),
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
	b = &browser{Context: ctx}
	noError(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.complain(outside(e.Request.URL))
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
				b.complain(e.Entry.URL + ": " + e.Entry.Text)
			}
		}
	}))
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, runtime.Enable, cdp.Empty{})
	// JupyterLab's commands act on the widget that has the focus.
	call(t, b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return b, folder
}

// outside returns a complaint if the address is not on this machine, and "" otherwise.
func outside(address string) string {
	if u, err := url.Parse(address); err != nil || u.Hostname() != "" && u.Hostname() != "127.0.0.1" {
		return "asked for " + address
	}
	return ""
}

func (b *browser) complain(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if what != "" {
		b.complaints = append(b.complaints, what)
	}
}

// calm fails the test if there are complaints since the last call of calm, unless they contain one of the given
// texts.
func (b *browser) calm(t *testing.T, but ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.complaints {
		if !slices.ContainsFunc(but, func(text string) bool { return strings.Contains(what, text) }) {
			t.Error(what)
		}
	}
	b.complaints = nil
}

// call sends a command to the browser.
func call[P any](t testing.TB, b *browser, command cdp.Command[P, cdp.Empty], params P) {
	t.Helper()
	must[cdp.Empty](t)(chromedp.Call(b, command, params))
}

// visit goes to the address.
func (b *browser) visit(t testing.TB, address string) {
	t.Helper()
	noError(t, chromedp.Do(b, chromedp.Navigate(address)))
}

// key types the keys, with the modifiers held down.
func (b *browser) key(t testing.TB, keys string, modifiers ...chromedp.Modifier) {
	t.Helper()
	noError(t, chromedp.Do(b, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))))
}

// evaluate returns the value of a JavaScript expression in the page.
func evaluate[T any](t testing.TB, b *browser, expression string) T {
	t.Helper()
	return must[T](t)(chromedp.Run(b, chromedp.Evaluate[T](expression)))
}

// do evaluates a JavaScript expression for its effects.
func (b *browser) do(t testing.TB, expression string) {
	t.Helper()
	evaluate[int](t, b, expression+", 0")
}

// eventually waits until a JavaScript expression is true, for up to five minutes, because both cores may be busy.
func (b *browser) eventually(t testing.TB, what, expression string) {
	t.Helper()
	poll := chromedp.Poll[chromedp.Void]("!!("+expression+")", chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(5*time.Minute))
	if err := chromedp.Do(b, poll); err != nil {
		b.keep(t, "failed.png")
		t.Fatalf("%s: %v; the page says\n%s", what, err, evaluate[string](t, b, pageState))
	}
}

// keep saves a picture of the page, for a human to look at, in the folder that the environment variable
// MIXPOLICY_SCREENSHOTS names. Without this variable, keep does nothing.
func (b *browser) keep(t testing.TB, name string) {
	t.Helper()
	if dir := os.Getenv("MIXPOLICY_SCREENSHOTS"); dir != "" {
		picture := must[[]byte](t)(chromedp.Run(b, chromedp.CaptureScreenshot()))
		noError(t, os.WriteFile(filepath.Join(dir, name), picture, 0o644))
	}
}

// pageState is an expression for the text of the page, in brief. For a notebook in JupyterLab, its value lists the
// kernel, the dialogs, the active cell, and the type, prompt, state, count and text of each cell.
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

// Expressions for charts of a page: all charts, the charts that ECharts draws, and the charts that show their still
// picture.
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

// scrolling returns an expression that scrolls the notebook a little and then evaluates the given expression.
// JupyterLab renders only the cells in view.
func scrolling(expression string) string {
	return `(() => {
		const pane = document.querySelector(".jp-WindowedPanel-outer") || document.querySelector(".jp-Notebook");
		pane.scrollTop = pane.scrollTop + pane.clientHeight < pane.scrollHeight - 1 ? pane.scrollTop + 100 : 0;
		return ` + expression + `;
	})()`
}

const panel = `window.jupyterapp?.shell.currentWidget`

// command runs a command of JupyterLab.
func (b *browser) command(t *testing.T, name string) {
	t.Helper()
	b.do(t, `window.jupyterapp.commands.execute("`+name+`")`)
}

// kernelReady waits until the notebook's kernel accepts cells.
func kernelReady(t *testing.T, b *browser) {
	t.Helper()
	// GoNB reports no status before the first cell, so "connected" must be enough.
	b.eventually(t, "the kernel is ready", `(() => {
		const context = `+panel+`?.sessionContext;
		return context?.isReady && context.session?.kernel?.connectionStatus === "connected";
	})()`)
}
