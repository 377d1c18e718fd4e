package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// jupyterSource is where Jupyter comes from.
type jupyterSource int

const (
	anySource    jupyterSource = iota // the first that works, in the order below
	fromPyPI                          // requirements.txt, in a virtual environment in .lab
	fromPath                          // what is on the PATH, if recent enough
	fromDebian                        // Debian's packages, as root
	sourcesCount                      // how many
)

var sourceNames = [sourcesCount]string{"auto", "pypi", "path", "debian"}

func (s jupyterSource) String() string { return sourceNames[s] }

// UnmarshalText reads a source from the command line.
func (s *jupyterSource) UnmarshalText(text []byte) error {
	for i, name := range sourceNames {
		if name == string(text) {
			*s = jupyterSource(i)
			return nil
		}
	}
	return fmt.Errorf("no such source of Jupyter: %s (there are %s)", text, strings.Join(sourceNames[:], ", "))
}

//go:embed requirements.txt
var requirements string

// A jupyter is an installation of Jupyter: the Python interpreter that has it,
// and whether JupyterLab is part of it.
type jupyter struct {
	python string
	lab    bool
}

// setUpJupyter finds or installs Jupyter and describes our kernel to it.
func (l *Lab) setUpJupyter(ctx context.Context) (jupyter, error) {
	ways := map[jupyterSource]func(context.Context) (jupyter, error){
		fromPyPI: l.jupyterFromPyPI, fromPath: l.jupyterFromPath, fromDebian: l.jupyterFromDebian,
	}
	order := []jupyterSource{l.jupyterFrom}
	if l.jupyterFrom == anySource {
		order = []jupyterSource{fromPyPI, fromPath, fromDebian}
		// What worked before needn't be looked for again.
		var before jupyterSource
		if name, err := os.ReadFile(l.path("stamps", "source")); err == nil && before.UnmarshalText(name) == nil {
			order = slices.Insert(order, 0, before)
		}
	}
	var failures []error
	for i, source := range order {
		found, err := ways[source](ctx)
		if err == nil {
			return found, errors.Join(
				l.writeKernelspec(),
				writeFile(l.path("stamps", "source"), []byte(source.String())))
		}
		if ctx.Err() != nil {
			return jupyter{}, ctx.Err()
		}
		failures = append(failures, fmt.Errorf("%v: %w", source, err))
		if errors.Is(err, errNoPython) {
			break
		}
		if i+1 < len(order) {
			l.say("%-8s not from %v: %v", "jupyter", source, err)
		}
	}
	return jupyter{}, fmt.Errorf("no Jupyter to be had:\n%w", errors.Join(failures...))
}

var errNoPython = errors.New("no python3 on the PATH; Jupyter needs Python 3.10 or later (Debian: apt install python3 python3-venv)")

// python3 is the interpreter on the PATH.
func python3() (string, error) {
	path, err := exec.LookPath("python3")
	if err != nil {
		return "", errNoPython
	}
	return path, nil
}

// jupyterFromPyPI installs requirements.txt into .lab/venv.
func (l *Lab) jupyterFromPyPI(ctx context.Context) (jupyter, error) {
	python, err := python3()
	if err != nil {
		return jupyter{}, err
	}
	version, err := output(l.command(ctx, python, "--version"))
	if err != nil {
		return jupyter{}, err
	}
	venv := l.path("venv")
	mine := filepath.Join(venv, "bin", "python")
	err = l.once(step{
		name: "jupyter",
		why:  "installing JupyterLab, nbconvert and nbclient at pinned versions from PyPI into .lab/venv, to run, export and edit the notebooks",
		made: filepath.Join(venv, "bin", "jupyter-lab"),
		from: requirements + version + venv, // a virtual environment can't be moved
	}, func() error {
		if err := os.RemoveAll(venv); err != nil {
			return err
		}
		if err := l.makeVenv(ctx, python, venv); err != nil {
			return err
		}
		file := filepath.Join(l.temp, "requirements.txt")
		if err := writeFile(file, []byte(requirements)); err != nil {
			return err
		}
		_, err := output(l.command(ctx, mine, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries=2", "-r", file))
		if err != nil {
			return fmt.Errorf("%w\nIs PyPI within reach? Jupyter may also be on the PATH already (--jupyter=path) or come from Debian (--jupyter=debian)", err)
		}
		return nil
	})
	return jupyter{python: mine, lab: true}, err
}

// makeVenv makes a virtual environment, if need be with the package that
// Debian keeps the means for that in.
func (l *Lab) makeVenv(ctx context.Context, python, venv string) error {
	_, err := output(l.command(ctx, python, "-m", "venv", venv))
	if err == nil || !strings.Contains(err.Error(), "ensurepip") {
		return err
	}
	if !debianRoot() {
		return fmt.Errorf("this Python can't make virtual environments; on Debian and Ubuntu: sudo apt install python3-venv\n%w", err)
	}
	l.say("%-8s installing Debian's python3-venv, which Python needs to make virtual environments", "jupyter")
	if err := l.aptInstall(ctx, "python3-venv"); err != nil {
		return err
	}
	_, err = output(l.command(ctx, python, "-m", "venv", "--clear", venv))
	return err
}

// jupyterFromPath takes the Jupyter that belongs to python3 or to jupyter on the PATH.
func (l *Lab) jupyterFromPath(ctx context.Context) (jupyter, error) {
	python, err := python3()
	if err != nil {
		return jupyter{}, err
	}
	candidates := []string{python}
	if program, err := exec.LookPath("jupyter"); err == nil {
		if own, ok := interpreterOf(program); ok {
			candidates = append(candidates, own)
		}
	}
	var failures []error
	for _, python := range candidates {
		have, err := l.jupyterVersions(ctx, python)
		if err != nil {
			return jupyter{}, err
		}
		if err := have.recentEnough(7, 8); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", python, err))
			continue
		}
		l.say("%-8s using the Jupyter of %s (nbconvert %s, nbclient %s), which is on the PATH", "jupyter", python, have["nbconvert"], have["nbclient"])
		return have.at(python), nil
	}
	return jupyter{}, errors.Join(failures...)
}

// jupyterFromDebian takes Jupyter from Debian's packages, and installs them if
// they aren't there.
func (l *Lab) jupyterFromDebian(ctx context.Context) (jupyter, error) {
	if !debianRoot() {
		return jupyter{}, errors.New("this needs Debian or Ubuntu, and root")
	}
	const python = "/usr/bin/python3"
	// Debian 12 has nbconvert 6.5 and nbclient 0.7, and no JupyterLab.
	have, err := l.jupyterVersions(ctx, python)
	if err != nil || have.recentEnough(6, 7) != nil {
		l.say("%-8s installing nbconvert, nbclient and Jupyter's notebook from Debian's packages", "jupyter")
		if err := l.aptInstall(ctx, "python3", "python3-nbconvert", "python3-nbclient", "python3-notebook", "python3-ipykernel"); err != nil {
			return jupyter{}, err
		}
		if have, err = l.jupyterVersions(ctx, python); err != nil {
			return jupyter{}, err
		}
	}
	if err := have.recentEnough(6, 7); err != nil {
		return jupyter{}, err
	}
	l.say("%-8s using Debian's nbconvert %s and nbclient %s", "jupyter", have["nbconvert"], have["nbclient"])
	return have.at(python), nil
}

// versions are those of Python packages, by name.
type versions map[string]string

// jupyterVersions asks an interpreter which parts of Jupyter it has.
func (l *Lab) jupyterVersions(ctx context.Context, python string) (versions, error) {
	const ask = `import json
from importlib.metadata import version, PackageNotFoundError
have = {}
for name in ("jupyterlab", "notebook", "nbconvert", "nbclient"):
    try: have[name] = version(name)
    except PackageNotFoundError: pass
print(json.dumps(have))`
	out, err := output(l.command(ctx, python, "-c", ask))
	if err != nil {
		return nil, err
	}
	have := versions{}
	return have, json.Unmarshal([]byte(out), &have)
}

// at is the installation that these packages make up.
func (v versions) at(python string) jupyter {
	_, lab := v["jupyterlab"]
	return jupyter{python, lab}
}

// recentEnough asks for nbconvert ≥ nbconvert.0 and nbclient ≥ 0.nbclient.
func (v versions) recentEnough(nbconvert, nbclient int) error {
	var missing []string
	if part(v["nbconvert"], 0) < nbconvert {
		missing = append(missing, fmt.Sprintf("nbconvert ≥ %d (there is %s)", nbconvert, orNone(v["nbconvert"])))
	}
	if part(v["nbclient"], 0) < 1 && part(v["nbclient"], 1) < nbclient {
		missing = append(missing, fmt.Sprintf("nbclient ≥ 0.%d (there is %s)", nbclient, orNone(v["nbclient"])))
	}
	if len(missing) > 0 {
		return fmt.Errorf("lacks %s", strings.Join(missing, " and "))
	}
	return nil
}

func orNone(version string) string {
	if version == "" {
		return "none"
	}
	return version
}

// part is the i-th number of a version, −1 if there is none.
func part(version string, i int) int {
	parts := strings.Split(version, ".")
	if i >= len(parts) {
		return -1
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return -1
	}
	return n
}

var shebang = regexp.MustCompile(`^#!\s*(/\S+)\n`)

// interpreterOf is the program that a script's first line names.
func interpreterOf(script string) (string, bool) {
	data, err := os.ReadFile(script)
	if err != nil {
		return "", false
	}
	m := shebang.FindSubmatch(data)
	if m == nil {
		return "", false
	}
	return string(m[1]), true
}

// debianRoot tells whether we may install Debian's packages.
func debianRoot() bool {
	_, err := exec.LookPath("apt-get")
	return err == nil && os.Geteuid() == 0
}

// aptInstall installs Debian's packages.
func (l *Lab) aptInstall(ctx context.Context, packages ...string) error {
	install := append([]string{"install", "-y", "-qq", "--no-install-recommends"}, packages...)
	for _, args := range [][]string{{"update", "-qq"}, install} {
		cmd := l.command(ctx, "apt-get", args...)
		cmd.Env = append(cmd.Env, "DEBIAN_FRONTEND=noninteractive")
		if _, err := output(cmd); err != nil {
			return err
		}
	}
	return nil
}

// A kernelspec tells Jupyter how to start a kernel.
type kernelspec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
}

// writeKernelspec describes our kernel: found by the PATH, its workspace found
// from where this very file lies, so that the clone may be moved. The compiler's
// words come as text, where nbclient looks for them.
func (l *Lab) writeKernelspec() error {
	spec, err := json.MarshalIndent(kernelspec{
		Argv:          []string{"gonb", "--kernel", "{connection_file}", "-raw_error", "-go_work={resource_dir}/../../../.."},
		DisplayName:   "Go (gonb)",
		Language:      "go",
		InterruptMode: "message",
		Env:           map[string]string{},
	}, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(l.path("jupyter", "kernels", "gonb", "kernel.json"), append(spec, '\n'))
}

// Serve opens JupyterLab on the notebooks, until ctx is done or it ends.
func (l *Lab) Serve(ctx context.Context, args []string) error {
	files, err := l.Notebooks(nil)
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
	if len(files) > 0 {
		if _, err := output(l.command(ctx, l.jupyter.python, append([]string{"-m", "nbformat.sign"}, files...)...)); err != nil {
			return nil, err
		}
	}
	if err := l.configureServer(); err != nil {
		return nil, err
	}
	app := "jupyterlab"
	if !l.jupyter.lab {
		l.say("%-8s this Jupyter has no JupyterLab; opening the classic notebook", "lab")
		app = "notebook"
	}
	return l.command(ctx, l.jupyter.python, append([]string{"-m", app}, args...)...), nil
}

// configureServer writes the settings of the server, where a flag given to it
// still has the last word.
func (l *Lab) configureServer() error {
	type settings map[string]any
	all := map[string]settings{
		"MultiKernelManager": {"default_kernel_name": "gonb"},
		"ServerApp": {
			"ip":                 "127.0.0.1",
			"root_dir":           l.Root,
			"extra_static_paths": []string{l.path("scripts")},
			"allow_root":         true, // it is reached from this machine only, and with the token
		},
		"LabApp": { // asks no network
			"default_url":             "/lab/tree/notebooks",
			"check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
			"news_url":                nil,
			"extension_manager":       "readonly",
		},
	}
	if !l.jupyter.lab {
		classic := all["ServerApp"]
		classic["notebook_dir"], classic["default_url"] = l.Root, "/tree/notebooks"
		delete(classic, "root_dir")
		all = map[string]settings{"NotebookApp": classic}
	}
	config, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(l.path("jupyter", "config", "jupyter_config.json"), config); err != nil {
		return err
	}
	// No question whether to fetch news, either.
	const quiet = `{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}`
	if err := writeFile(l.path("jupyter", "config", "labconfig", "page_config.json"), []byte(quiet)); err != nil {
		return err
	}
	// A kernel younger than 12 seconds answers only when it has them behind it: that
	// long GoNB leaves gopls to start. JupyterLab would drop the answer after one.
	const completion = `{"@jupyterlab/completer-extension:manager": {"providerTimeout": 30000}}`
	return writeFile(l.path("jupyter", "config", "labconfig", "default_setting_overrides.json"), []byte(completion))
}
