package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/notebooks/internal/cells"
)

// An engine runs cells in a page. It consists of the compiler, the linker and other tools, compiled to WebAssembly; the
// archives of the packages that cells may import; the programs of pages; files of data; and the scripts of the workers.
type engine struct {
	Tools    map[string]file    `json:"tools"`   // compile, link, composer, completer and drawer
	Workers  map[string]file    `json:"workers"` // the scripts of the workers: session, build, draw and cell
	Packages map[string]archive `json:"packages"`
	Names    map[string]string  `json:"names"` // the names of the packages that cells may import, by their import paths
	Pages    []page             `json:"pages"`
	Data     map[string]file    `json:"data"` // files that cells can read, by their paths

	// program is the packed size of the largest program of a page. compiled is the packed size of the compiler, the
	// linker and the packages of a page, for the page that needs most. Both sizes are in bytes.
	program, compiled int64
}

// A file describes a file of the engine. The file's name changes with its content, so a browser may keep the file
// forever.
type file struct {
	URL   string `json:"url"` // relative to the engine's folder
	Bytes int64  `json:"bytes"`
	Size  int64  `json:"size"` // the number of bytes after unpacking; 0 for a file that is not packed
	// Integrity is in the format of Subresource Integrity. The browser accepts a file that matches one of the digests.
	// For a packed file, Integrity contains two digests, of the packed and of the unpacked file, because the server
	// determines whether the browser unpacks the file before the check.
	Integrity string `json:"integrity"`
}

// A page is the program that [cells.Session.Page] makes of a notebook's cells. With this program, the cells whose texts
// are in Texts run without the compiler.
type page struct {
	file
	Keys  []string        `json:"keys"`  // the keys of the cells' programs
	Texts map[string]bool `json:"texts"` // by the text of each of these cells: whether its program imports plotting
}

// An archive is the file that the compiler and the linker read for a package.
type archive struct {
	file
	Imports []string `json:"imports,omitempty"`
}

// tools lists the packages of the programs that run in the workers, except the programs of cells, by the programs'
// names in the manifest.
var tools = map[string]string{
	"compile":   "cmd/compile",
	"link":      "cmd/link",
	"composer":  module + "/notebooks/internal/site/composer",
	"completer": module + "/notebooks/internal/site/completer",
	"drawer":    module + "/plotting/drawer",
}

// module is the path of this module.
const module = "github.com/mixpolicy/lab"

// makeEngine puts the engine's tools, archives, data and pages' programs into the engine's folder, and returns the
// engine without the workers. It keeps files that already exist. The tools are built in another folder.
func (b *builder) makeEngine(ctx context.Context) (e *engine, err error) {
	e = &engine{Tools: map[string]file{}, Workers: map[string]file{}, Packages: map[string]archive{}, Data: map[string]file{},
		Names: map[string]string{"unsafe": "unsafe"}}
	for _, path := range b.Data {
		name, _ := filepath.Rel(b.Folder, path)
		if e.Data[name], err = b.packFile(filepath.Base(path), path); err != nil {
			return nil, err
		}
	}
	b.Say("building Go's compiler and linker for WebAssembly; the first time takes minutes")
	overlay, err := b.trimmed(b.goroot)
	if err != nil {
		return nil, err
	}
	for name, path := range tools {
		out := filepath.Join(b.Work, name)
		build := []string{"build", "-pgo=off", "-trimpath", "-buildvcs=false", "-tags=drawer", "-ldflags=-s -w", "-o", out, path}
		_, err := b.goCommand(ctx, slices.Insert(build, 1, "-overlay="+overlay)...)
		if err != nil && ctx.Err() == nil { // another version of Go may have other sources
			b.Say("%s is built without trimming: %v", path, err)
			_, err = b.goCommand(ctx, build...)
		}
		if err != nil {
			return nil, err
		}
		if e.Tools[name], err = b.packFile(name+".wasm", out); err != nil {
			return nil, err
		}
	}
	b.Say("compiling the packages that cells may import")
	form := "-f={{.ImportPath}}\t{{.Name}}\t{{.Export}}\t{{join .Imports ` `}}"
	listed, err := b.goCommand(ctx, append([]string{"list", "-trimpath", "-export", "-deps", form, "std"}, b.imports()...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(listed)) {
		p := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if p[2] == "" { // unsafe, and packages that only contain tests
			continue
		}
		packed, err := b.packFile(strings.ReplaceAll(p[0], "/", "-")+".a", p[2])
		if err != nil {
			return nil, err
		}
		e.Packages[p[0]] = archive{packed, strings.Fields(p[3])}
		if path := "/" + p[0] + "/"; !strings.Contains(path, "/internal/") && !strings.HasPrefix(path, "/vendor/") {
			e.Names[p[0]] = p[1]
		}
	}
	b.Say("building the programs of the pages")
	for _, file := range slices.Sorted(maps.Keys(b.Cells)) {
		if err := b.makePage(ctx, e, file); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// makePage builds the program of a notebook's page. If the program does not compile, the browser will compile the cells
// of the page.
func (b *builder) makePage(ctx context.Context, e *engine, notebook string) error {
	session, programs := cells.New(e.Names), []*cells.Program{}
	for _, c := range b.Cells[notebook] {
		p, err := session.Compose(c.Name, strings.TrimRight(c.Text, "\n")) // the page has the text in this form
		if err == nil {                                                    // otherwise, the page will report the mistake
			session.Keep(p)
			programs = append(programs, p)
		}
	}
	whole, programs, err := session.Page(programs)
	source, out := filepath.Join(b.Work, "page", "main.go"), filepath.Join(b.Work, "page", filepath.Base(notebook)+".wasm")
	defer os.Remove(source) // gofmt -l . would list it
	if err := errors.Join(err, b.Write(source, []byte(whole.Source))); err != nil {
		return err
	}
	made := page{Keys: []string{}, Texts: map[string]bool{}}
	for _, p := range programs {
		made.Keys, made.Texts[p.Text] = append(made.Keys, p.Key()), slices.Contains(p.Imports, module+"/plotting")
	}
	listed, err := b.goCommand(ctx, "list", "-deps", source)
	compiled := e.Tools["compile"].Bytes + e.Tools["link"].Bytes
	for path := range strings.Lines(string(listed)) {
		compiled += e.Packages[strings.TrimSpace(path)].Bytes
	}
	e.compiled = max(e.compiled, compiled)
	if err == nil {
		_, err = b.goCommand(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, source)
	}
	if err != nil && ctx.Err() == nil {
		b.Say("the cells of %s will be compiled in the browser: %v", filepath.Base(notebook), err)
		return nil
	}
	if err == nil {
		made.file, err = b.packFile("page.wasm", out)
	}
	e.Pages, e.program = append(e.Pages, made), max(e.program, made.Bytes)
	return err
}

// fetches returns, in words, how much the cells of a page fetch at most.
func (e *engine) fetches() string {
	first := e.program + e.Tools["composer"].Bytes
	mega := func(bytes int64) int64 { return (bytes+2e5)/1e6 + 1 } // with the manifest and the scripts
	return fmt.Sprintf("up to %d MB, or up to %d MB if the cell draws a picture. The first compilation, for example of a cell that "+
		"you change, fetches up to %d MB more", mega(first), mega(first+e.Tools["drawer"].Bytes), mega(e.compiled))
}

// packFile packs the content of the file at the path.
func (b *builder) packFile(name, path string) (file, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	return b.pack(name, data)
}

// pack puts the data, compressed, into the engine's folder.
func (b *builder) pack(name string, data []byte) (file, error) {
	plain := sha256.Sum256(data)
	f := file{URL: versioned(name, plain[:]) + ".gz", Size: int64(len(data))}
	path := b.engine(f.URL)
	packed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(data)
		w.Close()
		packed = out.Bytes()
		err = b.write(path, packed)
	}
	b.made[path] = true
	sum := sha256.Sum256(packed)
	f.Bytes, f.Integrity = int64(len(packed)), integrity(plain[:])+" "+integrity(sum[:])
	return f, err
}

// put puts the data, unchanged, into the engine's folder.
func (b *builder) put(name string, data []byte) (file, error) {
	sum := sha256.Sum256(data)
	f := file{URL: versioned(name, sum[:]), Bytes: int64(len(data)), Integrity: integrity(sum[:])}
	return f, b.write(b.engine(f.URL), data)
}

// versioned returns the name with a part of the hash put before the extension.
func versioned(name string, sum []byte) string {
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s.%x%s", strings.TrimSuffix(name, ext), sum[:6], ext)
}

func integrity(sum []byte) string { return "sha256-" + base64.StdEncoding.EncodeToString(sum) }
