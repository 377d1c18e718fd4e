package lab

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var (
	//go:embed requirements.txt
	requirements string
	//go:embed requirements-lite.txt
	requirementsLite string
	//go:embed lacks.py
	lacksProgram string
)

// oldest is the oldest minor version of Python 3 that requirements.txt supports.
const oldest = 10

// setUpJupyter installs Jupyter from PyPI into .lab/venv or, if this fails, uses the Jupyter of python3 on the PATH.
func (l *Lab) setUpJupyter(ctx context.Context) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("no python3 on the PATH; Jupyter needs Python 3.%d or later (Debian: apt install python3 python3-venv)", oldest)
	}
	own, err := l.installJupyter(ctx, python)
	if err == nil {
		l.python = own
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	lacks, broken := printed(l.command(ctx, python, "-c", lacksProgram))
	if broken != nil {
		return fmt.Errorf("there is no Jupyter: %w", err)
	}
	if lacks != "" {
		return fmt.Errorf("there is no Jupyter: %w; and %s, which is on the PATH, lacks %s", err, python, strings.TrimSpace(lacks))
	}
	l.say("%-8s using the Jupyter of %s, which is on the PATH: %v", "jupyter", python, err)
	l.python = python
	return nil
}

// installJupyter installs the packages of requirements.txt into the virtual environment .lab/venv, and returns the
// interpreter of this environment.
func (l *Lab) installJupyter(ctx context.Context, python string) (own string, err error) {
	version, err := printed(l.command(ctx, python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"))
	if err != nil {
		return "", err
	}
	version = strings.TrimSpace(version)
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil || major != 3 || minor < oldest {
		return "", fmt.Errorf("%s is Python %s, want 3.%d or later", python, version, oldest)
	}
	venv := l.path("venv")
	own = filepath.Join(venv, "bin", "python")
	err = l.once(step{
		name: "jupyter",
		why:  "installing JupyterLab, nbconvert and nbclient at pinned versions from PyPI into .lab/venv",
		made: filepath.Join(venv, "bin", "jupyter-lab"),
		from: requirements + version + venv, // a virtual environment cannot be moved
	}, func() error {
		if err := l.makeVenv(ctx, python, venv); err != nil {
			return err
		}
		return l.install(ctx, own, requirements)
	})
	return own, err
}

// install makes the interpreter's pip install the requirements.
func (l *Lab) install(ctx context.Context, python, requirements string) error {
	file := filepath.Join(l.temp, "requirements.txt")
	if err := writeFile(file, []byte(requirements)); err != nil {
		return err
	}
	_, err := printed(l.command(ctx, python, "-m", "pip", "install", "--require-hashes", "--only-binary=:all:", "--quiet",
		"--disable-pip-version-check", "--no-input", "--retries=2", "-r", file))
	return reached("PyPI", err)
}

// setUpLite installs JupyterLite's builder into .lab/venv, and returns its command.
func (l *Lab) setUpLite(ctx context.Context) (command []string, err error) {
	if err := l.setUpJupyter(ctx); err != nil {
		return nil, err
	}
	own := l.path("venv", "bin", "python")
	if l.python != own {
		return nil, fmt.Errorf("JupyterLite's builder must be installed next to Jupyter in %s, which has no Jupyter", l.path("venv"))
	}
	err = l.once(step{
		name: "lite",
		why:  "installing jupyterlite-core at its pinned version from PyPI into .lab/venv, for the JupyterLite of the site",
		made: l.path("venv", "bin", "jupyter-lite"),
		from: requirementsLite + requirements,
	}, func() error { return l.install(ctx, own, requirementsLite) })
	return []string{own, "-m", "jupyterlite_core"}, err
}

// makeVenv makes a virtual environment. Debian keeps the necessary modules in a separate package, which makeVenv
// installs if the reader has allowed it.
func (l *Lab) makeVenv(ctx context.Context, python, venv string) error {
	makeIt := func() error {
		_, err := printed(l.command(ctx, python, "-m", "venv", "--clear", venv))
		return err
	}
	err := makeIt()
	if err == nil || !strings.Contains(err.Error(), "ensurepip") {
		return err
	}
	if !l.Debian {
		return fmt.Errorf("%s can't make virtual environments: it lacks Debian's package python3-venv, "+
			"which go run ./notebooks --debian installs, as root", python)
	}
	l.say("%-8s installing Debian's python3-venv, which Python needs to make virtual environments", "jupyter")
	cmd := l.command(ctx, "sh", "-c", "apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv")
	// This environment lacks the mark of our processes, so the keeper does not kill dpkg.
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if _, err := printed(cmd); err != nil {
		return err
	}
	return makeIt()
}
