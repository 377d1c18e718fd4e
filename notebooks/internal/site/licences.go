package site

import (
	"bytes"
	"cmp"
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

// licences makes the page of what the site redistributes: the names and versions of all with the same licence, and this.
func (b *builder) licences(ctx context.Context) error {
	list := append([]string{"list", "-deps", "-tags=drawer", "-f={{with .Module}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}"}, b.Imports...)
	listed, err := b.goCommand(ctx, slices.AppendSeq(list, maps.Values(tools))...)
	if err != nil {
		return err
	}
	folders := map[string]string{"Go " + runtime.Version(): b.goroot}
	for line := range strings.Lines(string(listed)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		folders[name] = folder
	}
	var fetched struct {
		Packages map[string]struct{ Version string }
	}
	if err := read(&fetched, b.NPM, "node_modules", ".package-lock.json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for folder, p := range fetched.Packages {
		folders[strings.TrimPrefix(folder, "node_modules/")+" "+p.Version] = filepath.Join(b.NPM, folder)
	}
	names := map[string][]string{}
	for name, folder := range folders {
		text, err := licence(os.DirFS(folder))
		if err != nil {
			return fmt.Errorf("%s, in %s: %w", name, folder, err)
		}
		names[text] = append(names[text], name)
	}
	var bundled struct {
		Packages []struct{ Name, VersionInfo, LicenseID, ExtractedText string }
	}
	if len(b.Lite) > 0 {
		if err := read(&bundled, b.Out, liteFolder, "build", "third-party-licenses.json"); err != nil {
			return err
		}
	}
	for _, p := range bundled.Packages {
		text := cmp.Or(p.ExtractedText, fmt.Sprintf("%s: spdx.org/licenses/%[1]s.html", p.LicenseID))
		names[text] = append(names[text], p.Name+" "+p.VersionInfo)
	}
	for _, n := range names {
		slices.Sort(n)
	}
	var page bytes.Buffer
	if err := licencePage.Execute(&page, names); err != nil {
		return err
	}
	return b.write(filepath.Join(b.Out, "licences.html"), page.Bytes())
}

// read reads a file of JSON.
func read(v any, elem ...string) error {
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// licence is what the files in the folder say on its licence, and ask to be passed on.
func licence(folder fs.FS) (string, error) {
	var text strings.Builder
	for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "licenses/*", "THIRD_PARTY_LICENSES/*", "NOTICE*", "*Notice*", "PATENTS"} {
		files, err := fs.Glob(folder, pattern)
		if pattern == "NOTICE*" && text.Len() == 0 {
			err = errors.New("no file has its licence")
		}
		if err != nil {
			return "", err
		}
		for _, name := range files {
			data, err := fs.ReadFile(folder, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&text, "%s\n\n", bytes.TrimSpace(data))
		}
	}
	return text.String(), nil
}
