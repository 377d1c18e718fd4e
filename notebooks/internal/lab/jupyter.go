package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed requirements.txt
var requirements string

// setUpJupyter installs Jupyter from PyPI into .lab/venv. If that fails, the
// Jupyter of python3 on the PATH has to do.
func (l *Lab) setUpJupyter(ctx context.Context) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return errors.New("no python3 on the PATH; Jupyter needs Python 3.10 or later (Debian: apt install python3 python3-venv)")
	}
	own, err := l.installJupyter(ctx, python)
	if err == nil {
		l.python = own
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if found := l.checkJupyter(ctx, python); found != nil {
		return fmt.Errorf("no Jupyter to be had:\n%w\nnor from %s, which is on the PATH: %w", err, python, found)
	}
	l.say("%-8s using the one of %s, which is on the PATH: %v", "jupyter", python, err)
	l.python = python
	return nil
}

// installJupyter installs requirements.txt into .lab/venv and gives the
// interpreter there.
func (l *Lab) installJupyter(ctx context.Context, python string) (own string, err error) {
	version, err := printed(l.command(ctx, python, "--version"))
	if err != nil {
		return "", err
	}
	venv := l.path("venv")
	own = filepath.Join(venv, "bin", "python")
	err = l.once(step{
		name: "jupyter",
		why:  "installing JupyterLab, nbconvert and nbclient at pinned versions from PyPI into .lab/venv, to run, export and edit the notebooks",
		made: filepath.Join(venv, "bin", "jupyter-lab"),
		from: requirements + version + venv, // a virtual environment can't be moved
	}, func() error {
		if err := l.makeVenv(ctx, python, venv); err != nil {
			return err
		}
		file := filepath.Join(l.temp, "requirements.txt")
		if err := writeFile(file, []byte(requirements)); err != nil {
			return err
		}
		if _, err := printed(l.command(ctx, own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--retries=2", "-r", file)); err != nil {
			return fmt.Errorf("not from PyPI: %w", err)
		}
		return nil
	})
	return own, err
}

// makeVenv makes a virtual environment. Debian keeps the means for that in a
// package, which root may install; other users get Python's own message.
func (l *Lab) makeVenv(ctx context.Context, python, venv string) error {
	_, err := printed(l.command(ctx, python, "-m", "venv", "--clear", venv))
	if err == nil || !strings.Contains(err.Error(), "ensurepip") || os.Geteuid() != 0 {
		return err
	}
	l.say("%-8s installing Debian's python3-venv, which Python needs to make virtual environments", "jupyter")
	const install = "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv"
	if _, err := printed(l.command(ctx, "sh", "-c", install)); err != nil {
		return err
	}
	_, err = printed(l.command(ctx, python, "-m", "venv", "--clear", venv))
	return err
}

// checkJupyter says which parts of Jupyter an interpreter lacks.
func (l *Lab) checkJupyter(ctx context.Context, python string) error {
	const check = `import sys
from importlib.metadata import version, PackageNotFoundError
lacks = []
for name, least in ("jupyterlab", (4, 0)), ("nbconvert", (7, 0)), ("nbclient", (0, 10)):
    try:
        have = version(name)
    except PackageNotFoundError:
        have = "0.0"
    if tuple(int(part) for part in have.split(".")[:2]) < least:
        lacks.append("{} ≥ {}.{} (there is {})".format(name, *least, "none" if have == "0.0" else have))
if lacks:
    sys.exit("it lacks " + " and ".join(lacks))`
	_, err := printed(l.command(ctx, python, "-c", check))
	return err
}
