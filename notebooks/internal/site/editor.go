package site

import (
	"context"
	"os"
	"path/filepath"
)

// editor is the script of the cells' editor: CodeMirror, from npm at the versions and hashes of our
// package-lock.json, bundled by esbuild, which go.mod pins.
func (b *builder) editor(ctx context.Context) ([]byte, error) {
	folder := filepath.Join(b.Work, "npm")
	lock := script("npm/package-lock.json")
	stamp := filepath.Join(folder, "installed")
	for _, name := range []string{"package.json", "package-lock.json", "editor.js"} {
		if err := b.Write(filepath.Join(folder, name), script("npm/"+name)); err != nil {
			return nil, err
		}
	}
	if have, err := os.ReadFile(stamp); err != nil || string(have) != string(lock) {
		b.Say("fetching CodeMirror, in which cells are edited, from npm")
		cmd := b.Command(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
		cmd.Dir = folder
		if _, err := b.Run(cmd); err != nil {
			return nil, err
		}
		if err := b.Write(stamp, lock); err != nil {
			return nil, err
		}
	}
	bundle := filepath.Join(folder, "bundle.js")
	if _, err := b.Run(b.Command(ctx, "go", "tool", "esbuild", filepath.Join(folder, "editor.js"), "--bundle", "--minify",
		"--format=iife", "--global-name=mixpolicyEditor", "--log-level=warning", "--outfile="+bundle)); err != nil {
		return nil, err
	}
	return os.ReadFile(bundle)
}
