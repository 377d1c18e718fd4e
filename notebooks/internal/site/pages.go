package site

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mixpolicy/lab/notebooks/internal/cells"
)

// A page is the program of the cells of a page, built when the site is made. So a published cell runs without the
// compiler.
type page struct {
	file
	Keys  []string            `json:"keys"`  // of the programs of cells that it has
	Texts map[uint32][]string `json:"texts"` // the tools that these cells need, by hashes of their texts
}

// makePages builds the program of each page.
func (b *builder) makePages(ctx context.Context, e *engine) error {
	b.Say("building the programs of the pages")
	for _, name := range slices.Sorted(maps.Keys(b.Cells)) {
		session, texts, programs := cells.New(e.Names), []uint32{}, []*cells.Program{}
		for _, c := range b.Cells[name] {
			text := strings.TrimRight(c.Text, "\n")                  // as the page has it
			if p, err := session.Compose(c.Name, text); err == nil { // otherwise, the page will report the mistake
				session.Keep(p)
				hash := fnv.New32a()
				hash.Write([]byte(text))
				texts, programs = append(texts, hash.Sum32()), append(programs, p)
			}
		}
		whole, keys, err := session.Page(programs)
		if err != nil {
			return err
		}
		made := page{Keys: keys, Texts: map[uint32][]string{}}
		for i, p := range programs {
			if slices.Contains(keys, p.Key()) {
				made.Texts[texts[i]] = []string{"composer"}
				if slices.Contains(p.Imports, module+"/plotting") {
					made.Texts[texts[i]] = []string{"composer", "drawer"}
				}
			}
		}
		e.compiles = max(e.compiles, e.compiling(whole.Imports))
		source := filepath.Join(b.Work, "pages", strings.TrimSuffix(filepath.Base(name), ".ipynb"), "main.go")
		program := filepath.Join(filepath.Dir(source), "page.wasm")
		if err := b.Write(source, []byte(whole.Source)); err != nil {
			return err
		}
		_, err = b.goCommand(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, source)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // a mistake in one cell is enough
			b.Say("all cells of %s will be compiled in the browser: %v", filepath.Base(name), err)
			continue
		}
		if made.file, err = b.packFile("page.wasm", program); err != nil {
			return err
		}
		e.Pages = append(e.Pages, made)
	}
	return nil
}

// imports returns the packages that cells import, and the package that reads readers' files.
func (b *builder) imports() []string {
	paths := []string{module + "/mixpolicy/files"}
	for _, page := range b.Cells {
		for _, c := range page {
			more, _ := cells.Imports(c.Text) // if the cell has a mistake, the page will report it
			paths = append(paths, more...)
		}
	}
	return paths
}

// compiling returns the bytes that a page fetches for a cell with these imports that must be compiled.
func (e *engine) compiling(imports []string) int64 {
	bytes, found := e.Tools["compile"].Bytes+e.Tools["link"].Bytes, append([]string{"runtime"}, imports...)
	for i := 0; i < len(found); i++ {
		if a := e.Packages[found[i]]; !slices.Contains(found[:i], found[i]) {
			bytes += a.Bytes
			found = append(found, a.Imports...)
		}
	}
	return bytes
}

// fetches states what the cells of a page fetch at most.
func (e *engine) fetches() string {
	first := e.Tools["composer"].Bytes
	if len(e.Pages) > 0 {
		first += slices.MaxFunc(e.Pages, func(a, b page) int { return cmp.Compare(a.Bytes, b.Bytes) }).Bytes
	}
	mega := func(bytes int64) int64 { return bytes/1e6 + 1 } // with the scripts
	return fmt.Sprintf("up to %d MB, or %d MB with a picture; the first cell that you change, up to %d MB more",
		mega(first), mega(first+e.Tools["drawer"].Bytes), mega(e.compiles))
}
