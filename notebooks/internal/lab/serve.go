package lab

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
)

// Serve opens JupyterLab on the notebooks, until ctx is done or it ends.
func (l *Lab) Serve(ctx context.Context, args []string) error {
	if err := l.setUp(ctx); err != nil {
		return err
	}
	files, err := l.notebooks(nil)
	if err != nil {
		return err
	}
	cmd, err := l.server(ctx, files, args)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	endGroup(cmd)
	if exit := (*exec.ExitError)(nil); ctx.Err() != nil && errors.As(err, &exit) {
		return nil // told to stop, and did
	}
	return err
}

// server prepares JupyterLab: on loopback, with a token, serving our bundle of
// ECharts beside its own files. The notebooks' outputs are trusted, so that
// their charts are live before anything is run.
func (l *Lab) server(ctx context.Context, files, args []string) (*exec.Cmd, error) {
	if _, err := printed(l.command(ctx, l.python, append([]string{"-m", "nbformat.sign"}, files...)...)); err != nil {
		return nil, err
	}
	if err := l.configureServer(); err != nil {
		return nil, err
	}
	return l.command(ctx, l.python, append([]string{"-m", "jupyterlab"}, args...)...), nil
}

// configureServer writes the settings of the server, where a flag given to it
// still has the last word.
func (l *Lab) configureServer() error {
	type settings map[string]any
	for file, content := range map[string]settings{
		"jupyter_config.json": {
			"MultiKernelManager": settings{"default_kernel_name": "gonb"},
			"ServerApp": settings{
				"ip":                 "127.0.0.1",
				"root_dir":           l.root,
				"extra_static_paths": []string{l.path("scripts")},
				"allow_root":         true, // it is reached from this machine only, and with the token
			},
			"LabApp": settings{
				"default_url":       "/lab/tree/notebooks",
				"extension_manager": "readonly", // asks no network
			},
		},
		"labconfig/page_config.json": {
			// No news, and no question whether to fetch them.
			"disabledExtensions": settings{"@jupyterlab/apputils-extension:announcements": true},
		},
		"labconfig/default_setting_overrides.json": {
			// A kernel younger than 12 seconds answers only when it has them behind it: that
			// long GoNB leaves gopls to start. JupyterLab would drop the answer after one.
			"@jupyterlab/completer-extension:manager": settings{"providerTimeout": 30000},
		},
	} {
		data, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return err
		}
		if err := writeFile(l.path("jupyter", "config", file), data); err != nil {
			return err
		}
	}
	return nil
}
