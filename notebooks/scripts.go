package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/mixpolicy/lab/plotting/echarts"
)

// A script is one file of an npm package that our pages need. It isn't ours to
// keep in the repository, so the set-up fetches it.
type script struct {
	name      string // of the step
	why       string
	pack      string // the npm package and its version
	file      string // in the package
	as        string // in .lab/scripts and beside the pages
	integrity string // of the file, as Subresource Integrity has it
	cdn       string // where a page finds it if we don't have it
}

var scripts = []script{
	{
		name:      "echarts",
		why:       "draws the interactive charts",
		pack:      echarts.Package + "@" + echarts.Version,
		file:      "dist/echarts.min.js",
		as:        echarts.File,
		integrity: echarts.Integrity,
		cdn:       echarts.CDN,
	},
	{
		name:      "mathjax",
		why:       "sets the formulas of exported pages",
		pack:      "mathjax@3.2.2",
		file:      "es5/tex-svg-full.js", // fonts and extensions in one file: works without a network or a server
		as:        "mathjax.js",
		integrity: "sha384-4kE/rQ11E8xT9QgrCBTyvenkuPfQo8rXYQvJZuMgxyPOoUfpatjQPlgdv6V5yhUK",
		cdn:       "https://cdn.jsdelivr.net/npm/mathjax@3.2.2/es5/tex-svg-full.js",
	},
}

// fetchScripts puts the scripts into .lab/scripts. One that can't be had is no
// failure: the pages then name its address on a content delivery network.
func (l *Lab) fetchScripts(ctx context.Context) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		for _, s := range scripts {
			l.say("%-8s no npm on the PATH, so the pages take it from %s", s.name, s.cdn)
		}
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range scripts {
		group.Go(func() error {
			err := l.once(step{
				name: s.name,
				why:  fmt.Sprintf("fetching %s from npm: it %s", s.pack, s.why),
				made: l.path("scripts", s.as),
				from: s.pack + s.file + s.integrity,
			}, func() error { return l.fetchScript(ctx, npm, s) })
			if err != nil && ctx.Err() == nil {
				l.say("%-8s not to be had, so the pages take it from %s: %v", s.name, s.cdn, err)
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

func (l *Lab) fetchScript(ctx context.Context, npm string, s script) error {
	dir, err := os.MkdirTemp(l.temp, s.name)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pack := l.command(ctx, npm, "pack", s.pack, "--silent", "--pack-destination", dir,
		"--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000") // it would try for minutes without a network
	if _, err := output(pack); err != nil {
		return err
	}
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return fmt.Errorf("npm pack %s left %d archives", s.pack, len(packed))
	}
	data, err := unpack(packed[0], "package/"+s.file)
	if err != nil {
		return err
	}
	if got := sri(data); got != s.integrity {
		return fmt.Errorf("%s of %s has digest %s; want %s", s.file, s.pack, got, s.integrity)
	}
	return writeFile(l.path("scripts", s.as), data)
}

// unpack reads one file of a .tgz archive.
func unpack(archive, name string) ([]byte, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", name, filepath.Base(archive), err)
		}
		if h.Name == name {
			return io.ReadAll(t)
		}
	}
}

// sri is the digest of data as Subresource Integrity writes it.
func sri(data []byte) string {
	sum := sha512.Sum384(data)
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}
