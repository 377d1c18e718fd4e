package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/mixpolicy/lab/notebooks/internal/site"
)

// A firefox is a Firefox without network access, with one page. Tests control it through WebDriver BiDi.
type firefox struct {
	context.Context
	socket *websocket.Conn
	last   int    // the last command's number
	page   string // BiDi's name of the page

	complaints []string // errors of the page, and its requests to other machines
}

// closedNetwork are settings with which Firefox reaches only this machine: all other requests go to a proxy that does not exist.
const closedNetwork = `user_pref("network.proxy.type", 1); user_pref("network.proxy.no_proxies_on", "127.0.0.1");
user_pref("network.proxy.http", "127.0.0.1"); user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1"); user_pref("network.proxy.ssl_port", 9);
`

func openFirefox(t *testing.T) *firefox {
	t.Helper()
	firefoxProgram := program(t, "firefox-esr", "firefox-esr", "firefox")
	profile := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(profile, "user.js"), []byte(closedNetwork), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, firefoxProgram, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 8 * time.Second
	said, err := cmd.StderrPipe()
	noError(t, err)
	noError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
	})
	f := &firefox{Context: ctx}
	lines := bufio.NewScanner(said)
	for f.socket == nil && lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "BiDi listening on "); ok {
			f.socket, _, err = websocket.Dial(ctx, address+"/session", nil)
			noError(t, err)
		}
	}
	if f.socket == nil {
		t.Fatal("Firefox does not start")
	}
	go io.Copy(io.Discard, said) // Firefox would stop at a full pipe
	f.socket.SetReadLimit(-1)
	f.call(t, "session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	f.call(t, "session.subscribe", map[string]any{"events": []string{"log.entryAdded", "network.beforeRequestSent"}}, nil)
	var tree struct {
		Contexts []struct{ Context string }
	}
	f.call(t, "browsingContext.getTree", map[string]any{}, &tree)
	f.page = tree.Contexts[0].Context
	return f
}

// call sends a command and waits for its result.
func (f *firefox) call(t *testing.T, method string, params map[string]any, result any) {
	t.Helper()
	f.last++
	noError(t, wsjson.Write(f, f.socket, map[string]any{"id": f.last, "method": method, "params": params}))
	for {
		var answer struct {
			ID                    int
			Type, Method, Message string
			Result                json.RawMessage
			Params                struct {
				Level, Text string
				Request     struct{ URL string }
			}
		}
		noError(t, wsjson.Read(f, f.socket, &answer))
		switch {
		case answer.Method == "log.entryAdded" && answer.Params.Level == "error":
			f.complaints = append(f.complaints, answer.Params.Text)
		case answer.Method == "network.beforeRequestSent":
			if what := outside(answer.Params.Request.URL); what != "" {
				f.complaints = append(f.complaints, what)
			}
		case answer.ID == f.last && answer.Type == "error":
			t.Fatalf("%s: %s", method, answer.Message)
		case answer.ID == f.last:
			if result != nil {
				noError(t, json.Unmarshal(answer.Result, result))
			}
			return
		}
	}
}

func (f *firefox) open(t *testing.T, address string) {
	t.Helper()
	f.call(t, "browsingContext.navigate", map[string]any{"context": f.page, "url": address, "wait": "complete"}, nil)
}

// text returns the value of a JavaScript expression in the page, as text.
func (f *firefox) text(t *testing.T, expression string) string {
	t.Helper()
	var answer struct {
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	f.call(t, "script.evaluate", map[string]any{"expression": "String(" + expression + ")", "awaitPromise": false, "target": map[string]any{"context": f.page}}, &answer)
	if answer.ExceptionDetails.Text != "" {
		t.Fatalf("%s: %s", expression, answer.ExceptionDetails.Text)
	}
	return answer.Result.Value
}

// eventually waits for a JavaScript expression to become true.
func (f *firefox) eventually(t *testing.T, what, expression string) {
	t.Helper()
	for until := time.Now().Add(5 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if f.text(t, "!!("+expression+")") == "true" {
			return
		}
	}
	t.Fatalf("%s: not in time; the page says %q, and reports %q", what, f.text(t, "document.body.innerText.slice(0, 2000)"), f.complaints)
}

// TestFirefox runs the second code cell of notebook 00 on its page and, with -long, the first two in JupyterLite.
func TestFirefox(t *testing.T) {
	t.Parallel()
	f := openFirefox(t)
	address := serve(t, site.Handler(must[string](t)(published()))).address
	name, cells := committedCells(t, "00")
	want, _ := cells[1].shows()

	f.open(t, address+name+".html")
	f.text(t, `[...`+at(1)+`.querySelectorAll(".run button")].find(b => b.textContent === "Run").click()`)
	f.eventually(t, "the cell has run", fmt.Sprintf(hasRun, at(1)))
	if got := f.text(t, at(1)+`.querySelector(".outputs").innerText`); got != want {
		t.Errorf("the cell shows %q, want %q", got, want)
	}

	if *long {
		f.open(t, address+"lite/lab/index.html?path="+name+".ipynb")
		f.eventually(t, "the kernel is ready", `(window.panel = [...window.jupyterapp?.shell.widgets("main") ?? []].find(w => w.context))?.sessionContext.session?.kernel?.connectionStatus === "connected"`)
		// JupyterLab's commands need the focus, which no window of a headless Firefox has.
		f.text(t, `panel.node.dispatchEvent(new FocusEvent("focus"))`)
		for i := range 2 {
			f.text(t, fmt.Sprintf(`(ran = false, panel.content.activeCellIndex = panel.content.widgets.indexOf(%s[%d]), jupyterapp.commands.execute("notebook:run-cell").then(() => ran = true))`, codeCells, i))
			f.eventually(t, "the cell has run", "ran")
		}
		if got := f.text(t, codeCells+`[1].model.outputs.toJSON().map(o => o.text).join("")`); got != want {
			t.Errorf("in JupyterLite the cell shows %q, want %q", got, want)
		}
	}
	for _, what := range f.complaints {
		if !strings.Contains(what, "/favicon.ico") { // a file of the server, not of the site
			t.Error(what)
		}
	}
}
