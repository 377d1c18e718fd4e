package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

//go:embed first.ipynb
var firstNotebook string

var moduleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// NewProject makes a folder for the reader's own project: a Go module and a first notebook. The module shares a
// workspace with the clone, so building needs no network. If one of the project's files exists already, with different
// contents, NewProject returns an error and writes nothing.
func (l *Lab) NewProject(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name := filepath.Base(dir)
	if !moduleName.MatchString(name) {
		return fmt.Errorf("the folder's name, %q, can't be the name of a Go module: want letters, digits, - and _, not - or _ first", name)
	}
	mod, err := os.ReadFile(filepath.Join(l.root, "go.mod"))
	if err != nil {
		return err
	}
	version := regexp.MustCompile(`(?m)^go .*$`).FindString(string(mod))
	clone := strconv.Quote(l.root)
	files := []struct{ name, content string }{
		{"go.mod", fmt.Sprintf("module example.com/%s\n\n%s\n\nrequire %s v0.0.0\n\nreplace %[3]s => %s\n", name, version, module, clone)},
		{"go.work", fmt.Sprintf("%s\n\nuse (\n\t.\n\t%s\n)\n", version, clone)},
		{"first.ipynb", firstNotebook},
	}
	for _, f := range files {
		switch have, err := os.ReadFile(filepath.Join(dir, f.name)); {
		case err == nil && string(have) != f.content:
			return fmt.Errorf("%s exists, and differs from a new project's; to open its folder: go run ./notebooks lab %s",
				filepath.Join(dir, f.name), dir)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, f.name), []byte(f.content)); err != nil {
			return err
		}
	}
	if err := l.workOn(dir); err != nil {
		return err
	}
	if err := l.setUp(ctx); err != nil {
		return err
	}
	l.say("made %s with first.ipynb\nto work with it: go run ./notebooks lab %[1]s\n"+
		"to run it and make a page of it: go run ./notebooks run %s", dir, filepath.Join(dir, files[2].name))
	return nil
}

// workOn makes the lab work on the notebooks in this folder. Their cells may import the packages of the Go module
// around the folder, in addition to the clone's. Unless Output is set, the results of runs then go into the folder
// build in this folder. If the folder is the paper's own, workOn changes nothing.
func (l *Lab) workOn(folder string) error {
	this, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if paper, err := os.Stat(l.folder); err == nil && os.SameFile(this, paper) {
		return nil
	}
	l.own, l.folder = true, folder
	for dir := folder; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			l.project = dir
			break
		}
	}
	return nil
}
