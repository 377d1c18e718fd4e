package browser

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mixpolicy/lab/notebooks/internal/lab"
)

// TestJupyterLab opens a trusted notebook in JupyterLab, started as by go run ./notebooks lab. The charts are live before
// any cell runs, and again after all cells have run.
func TestJupyterLab(t *testing.T) {
	t.Parallel()
	b, folder := open(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "sample.ipynb")
	noError(t, os.WriteFile(file, must[[]byte](t)(os.ReadFile(filepath.Join(folder, "sample.ipynb"))), 0o644))
	sign := exec.Command(filepath.Join(root, ".lab", "venv", "bin", "python"), "-m", "nbformat.sign", file)
	sign.Env = append(os.Environ(), "JUPYTER_DATA_DIR="+filepath.Join(root, ".lab", "jupyter"))
	if said, err := sign.CombinedOutput(); err != nil {
		t.Skipf("Jupyter is not in .lab: %v, %s", err, said)
	}

	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	host := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(host)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- inLab(func(l *lab.Lab) error {
			return l.Serve(ctx, []string{dir, "--no-browser", "--ServerApp.port=" + port, "--IdentityProvider.token=mine", "--LabApp.expose_app_in_browser=True", "--LabApp.workspaces_dir=" + t.TempDir()})
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			noError(t, err)
		}
	})
	for i := 0; ; i++ {
		if c, err := net.Dial("tcp", host); err == nil {
			c.Close()
			break
		}
		if i > 9000 { // another test may be setting up .lab or making the site
			t.Fatal("the server doesn't start")
		}
		time.Sleep(100 * time.Millisecond)
	}
	defer b.calm(t)
	b.visit(t, "http://"+host+"/?token=mine")
	b.eventually(t, "the folder is shown", `document.querySelector("[title^='Name: sample.ipynb']")`)
	if got := evaluate[[]string](t, b, `[...document.querySelectorAll(".jp-Dialog")].map(d => d.innerText)`); len(got) > 0 {
		t.Errorf("JupyterLab opens with the dialogs %q", got)
	}
	b.visit(t, "http://"+host+"/lab/tree/sample.ipynb")
	b.eventually(t, "the notebook is shown", `document.querySelector(".jp-Notebook .jp-Cell")`)
	b.eventually(t, "saved charts are live", scrolling(liveCharts+".length >= 2"))
	b.keep(t, "jupyterlab-opened.png")
	kernelReady(t, b)
	b.command(t, "notebook:clear-all-cell-outputs")
	b.eventually(t, "all outputs are gone", allCharts+".length === 0")
	b.command(t, "notebook:run-all-cells")
	b.eventually(t, "fresh charts are live", scrolling(liveCharts+".length >= 2"))
	b.eventually(t, "the controls are shown", scrolling(`(() => {
		const controls = document.querySelector(".mixpolicy-controls");
		return controls?.offsetHeight > 0 && [...controls.parentElement.querySelectorAll(".mixpolicy-live")].every(e => window.echarts.getInstanceByDom(e));
	})()`))
	checkControls(t, b)
	b.keep(t, "jupyterlab-controls.png")
}
