package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/mixpolicy/lab/plotting/echarts"
)

// Serve runs JupyterLab until ctx is done or JupyterLab ends. If the first of args is not a flag, it names the folder
// or notebook that JupyterLab opens. Otherwise, JupyterLab opens the first of the reader's copies of the paper's
// notebooks. All other args are flags for JupyterLab.
func (l *Lab) Serve(ctx context.Context, args []string) error {
	open := filepath.Join(l.root, copies, "00-start-here.ipynb")
	var err error
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		if open, err = filepath.Abs(args[0]); err != nil {
			return err
		}
		args = args[1:]
	} else if err := l.copyPaper(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(open); err != nil {
		return err
	}
	if err := l.workOn(folderOf(open)); err != nil {
		return err
	}
	if err := l.setUp(ctx); err != nil {
		return err
	}
	if err := errors.Join(l.signPaper(ctx), l.configureServer(open)); err != nil {
		return err
	}
	cmd := l.command(ctx, l.python, append([]string{"-m", "jupyterlab"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	endGroup(cmd)
	if exit := (*exec.ExitError)(nil); ctx.Err() != nil && errors.As(err, &exit) {
		return nil // stopped, as requested
	}
	return err
}

// signPaper makes Jupyter trust the paper's notebooks, so that their outputs are live before anything is run. A
// signature depends on the content of a notebook only, so Jupyter also trusts an unchanged copy.
func (l *Lab) signPaper(ctx context.Context) error {
	_, err := printed(l.command(ctx, l.python, append([]string{"-m", "nbformat.sign"}, l.paper()...)...))
	return err
}

// folderOf returns the path if it is the path of a folder, or else the path of the file's folder.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// copies is the folder of the clone with the reader's copies of the paper's notebooks; the reader may change these
// copies. given holds each copy as the reader received it. Neither folder is in .lab, because clean must keep both.
const copies, given = "my-notebooks", "my-notebooks/.given"

// copyPaper gives the reader copies of the paper's notebooks, because JupyterLab saves by itself and running the
// originals would change committed files. A copy that the reader has changed stays, even if the paper's notebook has
// changed since.
func (l *Lab) copyPaper(ctx context.Context) error {
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, file := range l.paper() {
		copied, original := filepath.Join(l.root, copies, filepath.Base(file)), filepath.Join(l.root, given, filepath.Base(file))
		now, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		was, _ := os.ReadFile(original) // empty if there is no such file
		have, err := os.ReadFile(copied)
		switch {
		case errors.Is(err, fs.ErrNotExist), bytes.Equal(have, now), err == nil && bytes.Equal(have, was):
			if err := errors.Join(writeFile(copied, now), writeFile(original, now)); err != nil {
				return err
			}
		case err != nil:
			return err
		case !bytes.Equal(was, now):
			l.say("%s is as you left it, although %s has changed since then; to get the new version, delete your copy", copied, file)
		}
	}
	return nil
}

// configureServer writes the settings of the server: the server listens on loopback, requires a token, opens this file
// or folder, and serves ECharts next to its own files. Flags for the server override these settings.
func (l *Lab) configureServer(open string) error {
	root := l.project
	if within, err := filepath.Rel(root, open); err != nil || !filepath.IsLocal(within) {
		root = folderOf(open) // open is in no module, and outside the clone
	}
	within, err := filepath.Rel(root, open)
	if err != nil {
		return err
	}
	address := "/lab" // JupyterLab does not accept /lab/tree for the root folder
	if within != "." {
		address = (&url.URL{Path: path.Join("/lab/tree", filepath.ToSlash(within))}).EscapedPath()
	}
	type settings map[string]any
	for file, content := range map[string]settings{
		"jupyter_config.json": {
			"MultiKernelManager": settings{"default_kernel_name": "gonb"},
			"ServerApp": settings{
				"ip":                 "127.0.0.1",
				"root_dir":           root,
				"extra_static_paths": []string{l.path("npm", "node_modules", echarts.Package, "dist")},
				"allow_root":         true, // the server is reachable only from this machine, and only with the token
			},
			"LabApp": settings{
				"default_url":       address,
				"extension_manager": "readonly", // makes no network requests
			},
		},
		"labconfig/page_config.json": {
			// No news, and no question whether to fetch news.
			"disabledExtensions": settings{"@jupyterlab/apputils-extension:announcements": true},
		},
		"labconfig/default_setting_overrides.json": {
			// A new kernel answers when gopls has loaded the module. By default, JupyterLab waits only one second.
			"@jupyterlab/completer-extension:manager": settings{"providerTimeout": 30000},
		},
	} {
		data, err := json.Marshal(content)
		if err := errors.Join(err, writeFile(filepath.Join(l.temp, "config", file), data)); err != nil {
			return err
		}
	}
	return nil
}
