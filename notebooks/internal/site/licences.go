package site

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

var licencePage = template.Must(template.New("").Parse(string(script("js/licences.gohtml"))))

// licences makes the page of the software that the site redistributes: the text of each licence, with the names and
// versions of the software that has this licence.
func (b *builder) licences(ctx context.Context) error {
	list := append([]string{"list", "-deps", "-tags=drawer", "-f={{with .Module}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}"}, b.imports()...)
	listed, err := b.goCommand(ctx, slices.AppendSeq(list, maps.Values(tools))...)
	if err != nil {
		return err
	}
	folders := map[string]string{"Go " + runtime.Version(): b.goroot}
	for line := range strings.Lines(string(listed)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		folders[strings.TrimSpace(name)] = folder // this module has no version
	}
	var fetched struct {
		Packages map[string]struct{ Version string }
	}
	lock, err := os.ReadFile(filepath.Join(b.NPM, "node_modules", ".package-lock.json"))
	if err == nil {
		err = json.Unmarshal(lock, &fetched)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for folder, p := range fetched.Packages {
		folders[strings.TrimPrefix(folder, "node_modules/")+" "+p.Version] = filepath.Join(b.NPM, folder)
	}
	if len(b.Lite) > 0 {
		folders["JupyterLab"] = filepath.Join(b.Lite[0], "../../lib/*/*/jupyterlab-[0-9]*") // JupyterLab is installed next to JupyterLite
	}
	names := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		text := ""
		for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "NOTICE*", "licenses/*", "THIRD_PARTY_LICENSES/*"} {
			files, _ := filepath.Glob(filepath.Join(folders[name], pattern))
			for _, file := range files {
				part, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				text += string(part) + "\n"
			}
		}
		if text == "" && !strings.Contains(name, " ") && name != "JupyterLab" { // a module of the reader's own
			text = "No licence is given.\n"
		}
		if text == "" {
			return fmt.Errorf("no licence text for %s was found in %s", name, folders[name])
		}
		names[text] = append(names[text], name)
	}
	var page bytes.Buffer
	if err := licencePage.Execute(&page, map[string]any{"Lite": len(b.Lite) > 0, "Names": names}); err != nil {
		return err
	}
	return b.write(filepath.Join(b.Out, "licences.html"), page.Bytes())
}
