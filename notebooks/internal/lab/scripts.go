package lab

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mixpolicy/lab/plotting/echarts"
)

// A script is one file of an npm package that our pages need. It isn't ours to
// keep in the repository, so the set-up fetches it.
type script struct {
	pack      string // the npm package and its version
	file      string // in the package
	as        string // in .lab/scripts and beside the pages
	integrity string // of the file, as Subresource Integrity has it
	why       string
}

var scripts = []script{
	{echarts.Package + "@" + echarts.Version, "dist/echarts.min.js", echarts.File, echarts.Integrity, "draws the interactive charts"},
	{"mathjax@3.2.2", "es5/tex-svg-full.js", "mathjax.js", // fonts and extensions in one file: works without a network or a server
		"sha384-4kE/rQ11E8xT9QgrCBTyvenkuPfQo8rXYQvJZuMgxyPOoUfpatjQPlgdv6V5yhUK", "sets the formulas of exported pages"},
	{"minisearch@7.2.0", "dist/umd/index.js", "minisearch.js",
		"sha384-KuHy7eg9MqWBVrMXJC0WN6q4d3+KBquZ3Htgex79A4REptrDvGOXfAgZ0VOJ1Mdx", "searches the pages"},
}

func (s script) name() string {
	name, _, _ := strings.Cut(s.pack, "@")
	return name
}

// address is where a page finds the script if we don't have it.
func (s script) address() string { return "https://cdn.jsdelivr.net/npm/" + s.pack + "/" + s.file }

// fetchScripts puts the scripts into .lab/scripts. One that can't be had is no
// failure: the pages then name its address on a content delivery network.
func (l *Lab) fetchScripts(ctx context.Context) error {
	for _, s := range scripts {
		err := l.once(step{
			name: s.name(),
			why:  fmt.Sprintf("fetching %s from npm: it %s", s.pack, s.why),
			made: l.path("scripts", s.as),
			from: s.pack + s.file + s.integrity,
		}, func() error { return l.fetchScript(ctx, s) })
		if err != nil && ctx.Err() == nil {
			l.say("%-8s not to be had, so the pages take it from %s: %v", s.name(), s.address(), err)
		}
	}
	return ctx.Err()
}

func (l *Lab) fetchScript(ctx context.Context, s script) error {
	dir, err := os.MkdirTemp(l.temp, s.name())
	if err != nil {
		return err
	}
	name, err := printed(l.command(ctx, "npm", "pack", s.pack, "--silent", "--pack-destination", dir,
		"--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000")) // it would try for minutes without a network
	if err != nil {
		return reached("npm's registry", err)
	}
	content, err := printed(l.command(ctx, "tar", "-xzOf", filepath.Join(dir, strings.TrimSpace(name)), "package/"+s.file))
	if err != nil {
		return err
	}
	sum := sha512.Sum384([]byte(content))
	if got := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); got != s.integrity {
		return fmt.Errorf("%s of %s has digest %s; want %s", s.file, s.pack, got, s.integrity)
	}
	return writeFile(l.path("scripts", s.as), []byte(content))
}

// A source says where a page finds a script: beside it, or at an address.
type source struct {
	URL       string
	Integrity string // empty for a file beside the page, which was checked when it was fetched
}

// placeScripts puts the scripts we have beside the pages, and says where each is.
func (l *Lab) placeScripts() (map[string]source, error) {
	found := map[string]source{}
	for _, s := range scripts {
		switch err := copyFile(l.build(s.as), l.path("scripts", s.as)); {
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
