package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// widgetCell is a widget whose picture says where its controls stand.
const widgetCell = `import (
	"context"
	"fmt"

	"github.com/mixpolicy/lab/plotting"
	"github.com/mixpolicy/lab/plotting/widget"
)
%%
widget.Run(context.Background(), func(c *widget.Controls) plotting.View {
	to := c.Slider("to", 0, 10, 3)
	word := c.Select("word", "first", "second")
	return plotting.Figure{
		Title:  fmt.Sprintf("word %d rises to %g", word, to),
		Layers: []plotting.Layer{plotting.Line{X: []float64{0, 1}, Y: []float64{0, to}}},
	}
})`

func TestAWidgetIsSilentWhereNobodyLooks(t *testing.T) {
	lab := readyLab(t)
	silent := func(t *testing.T, nb *notebook) {
		if o := nb.Cells[0].Outputs; len(o) > 0 || nb.Cells[0].ExecutionCount != 1 {
			t.Errorf("outputs: %v; want the cell executed, and none", o)
		}
	}
	t.Run("go run ./notebooks", func(t *testing.T) {
		runs := try(lab.execute(t.Context(), []string{writeNotebook(t, "widget", code(widgetCell))}, options)).or(t)
		silent(t, runs[0].notebook)
	})
	t.Run("nbconvert", func(t *testing.T) {
		file := writeNotebook(t, "widget", code(widgetCell))
		try(printed(lab.command(t.Context(), lab.python, "-m", "nbconvert", "--execute", "--to", "notebook", "--inplace", file))).or(t)
		nb := try(readNotebook(file)).or(t)
		silent(t, nb)
	})
	t.Run("a mistake in it is found", func(t *testing.T) {
		file := writeNotebook(t, "widget", code(strings.Replace(widgetCell, "c.Slider(", "c.LogSlider(", 1)))
		if _, err := lab.execute(t.Context(), []string{file}, options); err == nil || !strings.Contains(err.Error(), `slider "to": lo is 0`) {
			t.Errorf("error: %v", err)
		}
	})
}

// TestWidgetInJupyterLab moves a widget's controls in a browser.
func TestWidgetInJupyterLab(t *testing.T) {
	lab := readyLab(t)
	b := openBrowser(t)
	below := code("import \"fmt\"\n%%\nfmt.Println(\"the cell below\")")
	file := writeNotebook(t, "widget", code(widgetCell), prose("Out of sight:"+strings.Repeat("<br>", 100)), below)
	openLab(t, lab, b, file)
	defer func() {
		// A channel from which it hears nothing for half a second GoNB opens anew, and says so.
		b.mu.Lock()
		b.complaints = slices.DeleteFunc(b.complaints, func(what string) bool { return strings.Contains(what, "gonb_comm already running") })
		b.mu.Unlock()
		b.calm(t)
	}()
	kernelReady(t, b)
	const (
		input  = `document.querySelector(".mixpolicy-widget input")`
		list   = `document.querySelector(".mixpolicy-widget select")`
		button = `document.querySelector(".mixpolicy-widget button")`
		// One is being drawn while the other is taken away.
		title = `(window.echarts?.getInstanceByDom(document.querySelector(".mixpolicy-live"))?.getOption().title[0].text)`
		ended = input + `?.disabled && !` + button + ` && ![...document.querySelectorAll(".jp-InputPrompt")].some(p => p.textContent.includes("*"))`
	)
	const panel = `window.jupyterapp.shell.currentWidget`
	run := func(command string) {
		t.Helper()
		evaluate[int](t, b, `window.jupyterapp.commands.execute("`+command+`"), 0`)
	}
	runCell := func(index int) {
		t.Helper()
		evaluate[int](t, b, fmt.Sprintf(`%s.content.activeCellIndex = %d, window.jupyterapp.commands.execute("notebook:run-cell"), 0`, panel, index))
	}
	live := func() {
		t.Helper()
		evaluate[int](t, b, `window.former = `+input+`, 0`)
		runCell(0)
		eventually(t, b, "the controls are live", input+`?.disabled === false && `+input+` !== window.former`)
	}
	saved := func() {
		t.Helper()
		run("docmanager:save")
		eventually(t, b, "the notebook is saved", `!`+panel+`.context.model.dirty`)
	}
	shows := func(want string) {
		t.Helper()
		// JupyterLab scrolls to what was run last, and a chart out of sight isn't drawn.
		eventually(t, b, want, input+`?.scrollIntoView() || `+title+` === "`+want+`"`)
	}

	// Run All doesn't wait for the reader.
	run("notebook:run-all-cells")
	eventually(t, b, "the cell below is run", `document.body.innerText.includes("the cell below\n")`)
	evaluate[int](t, b, panel+`.content.activeCellIndex = 0, 0`)
	shows("word 0 rises to 3")
	eventually(t, b, "the widget has ended", ended)

	// Alone it is live. Of many moves at once the last one counts.
	evaluate[int](t, b, `(() => {
		const init = window.echarts.init;
		window.charts = [];
		window.echarts.init = (...args) => {
			const chart = init(...args);
			window.charts.push(chart);
			return chart;
		};
		return 0;
	})()`)
	live()
	evaluate[int](t, b, `(() => {
		for (const at of [10, 20, 30, 40]) {
			`+input+`.value = at;
			`+input+`.dispatchEvent(new Event("input"));
		}
		`+list+`.value = 1;
		`+list+`.dispatchEvent(new Event("input"));
		return 0;
	})()`)
	shows("word 1 rises to 8")
	if got := evaluate[string](t, b, input+`.nextElementSibling.textContent`); got != "8" {
		t.Errorf("beside the slider: %q; want 8", got)
	}
	// Keys are the slider's, and not the notebook's, which would go to the next cell.
	evaluate[int](t, b, input+`.focus(), 0`)
	noError(t, chromedp.Do(b, chromedp.KeyEvent(kb.ArrowDown)))
	shows("word 1 rises to 7.8")
	if at := evaluate[int](t, b, panel+`.content.activeCellIndex`); at != 0 {
		t.Errorf("cell %d is active; want the widget's, 0", at)
	}
	saveScreenshot(t, b, "widget-live.png")
	const one = `window.charts.length > 1 && window.charts.filter(c => !c.isDisposed()).length === 1`
	eventually(t, b, "charts that were replaced are gone", one)
	evaluate[int](t, b, button+`.click(), 0`)
	eventually(t, b, "the widget has ended", ended)
	shows("word 1 rises to 7.8")
	saveScreenshot(t, b, "widget-ended.png")

	// Run again it begins anew. An interrupt ends it too.
	live()
	evaluate[int](t, b, input+`.value = 10, `+input+`.dispatchEvent(new Event("input")), 0`)
	shows("word 0 rises to 2")
	live()
	shows("word 0 rises to 3")
	eventually(t, b, "charts of earlier runs are gone", one)
	run("notebook:interrupt-kernel")
	eventually(t, b, "the widget has ended", ended)

	// What is saved is the last picture, and no script that looks for the kernel.
	saved()
	nb := try(readNotebook(file)).or(t)
	var html strings.Builder
	for _, o := range nb.Cells[0].Outputs {
		html.WriteString(o.in("text/html"))
	}
	if !strings.Contains(html.String(), "word 0 rises to 3") || !strings.Contains(html.String(), `type="range"`) || strings.Contains(html.String(), "gonb_comm") {
		t.Errorf("saved: %s", html.String())
	}

	// A page that is left while a widget is live frees the kernel, also if what it says on
	// leaving is lost. What was saved then is not live when it is opened again.
	for _, leave := range []string{`0`, `window.gonb_comm.send = () => {}, 0`} {
		live()
		shows("word 0 rises to 3")
		saved()
		evaluate[int](t, b, leave)
		b.open(t, evaluate[string](t, b, `location.href`))
		eventually(t, b, "the notebook is shown", input)
		kernelReady(t, b)
		if !evaluate[bool](t, b, input+`.disabled && `+button+`.disabled`) {
			t.Error("controls of a widget whose page was left are live")
		}
		const count = panel + `.content.widgets[2].model.executionCount`
		before := evaluate[int](t, b, count)
		runCell(2)
		eventually(t, b, "the cell below is run", fmt.Sprint(count, " > ", before))
	}
}
