// Package site makes a web site of three parts: the exported pages, JupyterLite with the notebooks, and the engine,
// which compiles and runs cells in the reader's browser. The browser must support WebAssembly, and be from 2024 or
// later. The site is a folder of static files, which any web server can serve, under any path.
//
// The engine contains Go's own compiler and linker, built from the GOROOT on the machine that makes the site. Package
// cells makes a program from a cell. The compiler, the linker and the program then run one after another in web
// workers, on file systems in memory. The page fetches each part of the engine, and each package, when a cell first
// needs it.
//
// A published cell usually needs no compiler: for each page, [Build] compiles one program, which contains the programs
// of the page's cells (see [cells.Session.Page]). The program of a changed cell is not in the page's program, so the
// engine compiles a changed cell.
package site

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/notebooks/internal/cells"
)

//go:embed js
var scripts embed.FS

// Settings state where and how [Build] makes a site.
type Settings struct {
	Pages   string            // the folder of the exported pages and their notebooks
	Out     string            // the folder of the site
	Work    string            // the folder for files that the next [Build] can reuse
	NPM     string            // the folder where npm has put CodeMirror and the packages that pages need
	Cells   map[string][]Cell // the code cells, by the files of their notebooks
	Data    []string          // files that cells can read; cells name a file by its path relative to Folder
	Folder  string            // the folder of the notebooks
	Lite    []string          // the command of jupyterlite-core; empty for a site without JupyterLite
	Env     []string          // environment variables for the go command, as name=value
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
	Run     func(*exec.Cmd) (string, error) // runs the command and returns its output
	Write   func(name string, data []byte) error
	Say     func(format string, args ...any)
}

// A Cell is a code cell of a notebook.
type Cell struct{ Name, Text string }

// imports returns the paths of the packages that cells import, and of the package that reads readers' files.
func (s *Settings) imports() []string {
	paths := []string{module + "/mixpolicy/files"}
	for _, page := range s.Cells {
		for _, c := range page {
			more, _ := cells.Imports(c.Text) // if the cell has a mistake, the page will report it
			paths = append(paths, more...)
		}
	}
	return paths
}

type builder struct {
	Settings
	made   map[string]bool // the files that this build has made or kept
	goroot string
}

// engineFolder is the engine's folder within the site.
const engineFolder = "go"

// Build makes the site, and removes all other files from the site's folder.
func Build(ctx context.Context, s Settings) error {
	b := &builder{Settings: s, made: map[string]bool{}}
	files, err := b.pages()
	if err != nil {
		return err
	}
	root, err := b.goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	b.goroot = strings.TrimSpace(string(root))
	e, err := b.makeEngine(ctx)
	if err != nil {
		return err
	}
	head, err := b.scripts(ctx, e, files)
	if err != nil {
		return err
	}
	// Each page gets the scripts, a note on its cells, and a link to the licences.
	door := strings.Replace(string(script("js/door.html")), "SIZE", e.fetches(), 1)
	page := strings.NewReplacer("</head>", head+"</head>", "</header>", "</header>\n"+door,
		"</main>", `<p class="paper"><a href="licences.html">Licences</a></p></main>`)
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(b.Pages, name))
		if err != nil {
			return err
		}
		if path.Ext(name) == ".html" {
			data = []byte(page.Replace(string(data)))
		}
		if err := b.write(filepath.Join(b.Out, name), data); err != nil {
			return err
		}
	}
	if err := b.licences(ctx); err != nil {
		return err
	}
	return errors.Join(b.worker(), b.clean())
}

// worker writes the service worker, with the names of the files that this worker may keep.
func (b *builder) worker() error {
	var names []string
	for file := range b.made {
		if name, _ := filepath.Rel(b.Out, file); !strings.HasPrefix(name, liteFolder+"/") && path.Ext(name) != ".gz" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	listed, err := json.Marshal(names)
	return errors.Join(err, b.write(filepath.Join(b.Out, "sw.js"), bytes.Replace(script("js/sw.js"), []byte("FILES"), listed, 1)))
}

// pages returns the names of the files in b.Pages, relative to b.Pages. It skips the site, hidden files and hidden
// folders.
func (b *builder) pages() (files []string, err error) {
	if _, err := os.Stat(filepath.Join(b.Pages, "index.html")); err != nil {
		return nil, fmt.Errorf("there are no pages in %s yet: go run ./notebooks run [your notebooks] makes them", b.Pages)
	}
	err = filepath.WalkDir(b.Pages, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == b.Out || d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		}
		name, err := filepath.Rel(b.Pages, path)
		files = append(files, name)
		return err
	})
	return files, err
}

// scripts puts the scripts into the engine's folder, makes JupyterLite from them and from the notebooks among the
// files, and returns the part of a page's head that lets the page run cells.
func (b *builder) scripts(ctx context.Context, e *engine, files []string) (string, error) {
	glue, err := os.ReadFile(filepath.Join(b.goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return "", err
	}
	for _, name := range []string{"session", "build", "draw", "cell"} {
		// Our file system comes first, because Go's own script otherwise defines a file system that does nothing.
		parts := [][]byte{script("js/fs.js"), glue, script("js/program.js"), script("js/" + name + ".js"), nil}
		if e.Workers[name], err = b.pack(name+".js", bytes.Join(parts, []byte("\n"))); err != nil {
			return "", err
		}
	}
	described, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	manifest, err := b.pack("engine.json", described)
	if err != nil {
		return "", err
	}
	parts := map[string]any{"manifest": manifest}
	editor, err := b.editor(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		b.Say("cells get a plain editor, because CodeMirror is not available: %v", err)
	} else if parts["editor"], err = b.put("editor.js", editor); err != nil {
		return "", err
	}
	if len(b.Lite) > 0 {
		if err := b.lite(ctx, parts, files); err != nil {
			return "", err
		}
		parts["lite"] = liteFolder + "/lab/index.html?path="
	}
	start, err := json.Marshal(parts)
	if err != nil {
		return "", err
	}
	page, err := b.put("page.js", starting("page.js", start))
	if err != nil {
		return "", err
	}
	style, err := b.put("page.css", script("js/page.css"))
	return fmt.Sprintf("<link rel=\"stylesheet\" href=\"%s\">\n<script src=\"%s\"></script>\n",
		path.Join(engineFolder, style.URL), path.Join(engineFolder, page.URL)), err
}

// script returns the text of one of the embedded files.
func script(name string) []byte {
	text, err := scripts.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}

// starting returns a script that starts the engine. The script contains the given description of the engine.
func starting(name string, engine []byte) []byte {
	return append(script("js/engine.js"), bytes.Replace(script("js/"+name), []byte("ENGINE"), engine, 1)...)
}

// goCommand runs the go command for js/wasm, and returns its output.
func (b *builder) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := b.Command(ctx, "go", args...)
	cmd.Env = append(append(cmd.Env, "GOOS=js", "GOARCH=wasm", "GOFLAGS="), b.Env...)
	out, err := b.Run(cmd)
	return []byte(out), err
}

// engine returns the path of a file in the engine's folder.
func (b *builder) engine(name string) string { return filepath.Join(b.Out, engineFolder, name) }

func (b *builder) write(path string, data []byte) error {
	b.made[path] = true
	return b.Write(path, data)
}

func (b *builder) copy(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return b.write(to, data)
}

// clean removes from the site's folder all files that this build has neither made nor kept.
func (b *builder) clean() error {
	return filepath.WalkDir(b.Out, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !b.made[path] {
			err = os.Remove(path)
		}
		return err
	})
}
