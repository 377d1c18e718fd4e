package lab

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"strings"

	"github.com/mixpolicy/lab/plotting/echarts"
)

var (
	//go:embed npm/package.json
	packages string
	//go:embed npm/package-lock.json
	lock string
)

// A script is one file of an npm package that our pages need. It does not belong in our repository, so the set-up
// fetches it, at the version that package-lock.json pins.
type script struct {
	pack      string // the npm package and its version
	file      string // the script's path in the package
	as        string // the script's name next to the pages
	integrity string // the script's digest, in the form of Subresource Integrity
}

var scripts = []script{
	{echarts.Package + "@" + echarts.Version, "dist/echarts.min.js", echarts.File, echarts.Integrity},
	{"mathjax@3.2.2", "es5/tex-svg-full.js", "mathjax.js", // fonts and extensions in one file, so it works without a network or a server
		"sha384-4kE/rQ11E8xT9QgrCBTyvenkuPfQo8rXYQvJZuMgxyPOoUfpatjQPlgdv6V5yhUK"},
	{"minisearch@7.2.0", "dist/umd/index.js", "minisearch.js",
		"sha384-KuHy7eg9MqWBVrMXJC0WN6q4d3+KBquZ3Htgex79A4REptrDvGOXfAgZ0VOJ1Mdx"},
}

func (s script) name() string {
	name, _, _ := strings.Cut(s.pack, "@")
	return name
}

// address returns the address from which a page loads the script if we do not have the file.
func (s script) address() string { return delivery + s.pack + "/" + s.file }

// delivery is the address of a content delivery network with npm's packages.
const delivery = "https://cdn.jsdelivr.net/npm/"

// script returns the path of the fetched script.
func (l *Lab) script(s script) string { return l.path("npm", "node_modules", s.name(), s.file) }

// fetchScripts makes npm put the packages that pages and the site need into .lab/npm, with the versions and hashes in
// our package-lock.json. A failure of npm is not an error: readers' browsers then load the scripts of pages from a
// content delivery network.
func (l *Lab) fetchScripts(ctx context.Context) error {
	err := l.once(step{
		name: "npm",
		why:  "fetching ECharts, MathJax, MiniSearch and CodeMirror from npm, for charts, formulas, search and editing in pages",
		made: l.path("npm", "node_modules"),
		from: lock,
	}, func() error {
		for name, content := range map[string]string{"package.json": packages, "package-lock.json": lock} {
			if err := writeFile(l.path("npm", name), []byte(content)); err != nil {
				return err
			}
		}
		cmd := l.command(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent",
			"--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000") // without a network, npm gives up soon
		cmd.Dir = l.path("npm")
		_, err := printed(cmd)
		return reached("npm's registry", err)
	})
	if err != nil && ctx.Err() == nil {
		l.say("%-8s not available, so pages load scripts from %s: %v", "npm", delivery, err)
	}
	return ctx.Err()
}

// A source says where a page finds a script: next to the page, or at an address.
type source struct {
	URL       string
	Integrity string // empty for a file next to the page; such a file was checked when it was fetched
}

// placeScripts puts our scripts next to the pages, and returns the source of each script, by its npm package.
func (l *Lab) placeScripts() (map[string]source, error) {
	found := map[string]source{}
	for _, s := range scripts {
		switch err := copyFile(l.build(s.as), l.script(s)); {
		case err == nil:
			found[s.name()] = source{URL: s.as}
		case errors.Is(err, fs.ErrNotExist):
			found[s.name()] = source{URL: s.address(), Integrity: s.integrity}
		default:
			return nil, err
		}
	}
	return found, nil
}
