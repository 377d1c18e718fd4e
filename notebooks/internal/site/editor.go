package site

import (
	"context"
	"os"
	"path/filepath"
)

// editor returns the script of the cells' editor: CodeMirror, bundled by esbuild, which go.mod pins.
func (b *builder) editor(ctx context.Context) ([]byte, error) {
	source, bundle := filepath.Join(b.NPM, "editor.js"), filepath.Join(b.Work, "editor.js")
	if err := b.Write(source, script("js/editor.js")); err != nil {
		return nil, err
	}
	if _, err := b.Run(b.Command(ctx, "go", "tool", "esbuild", source, "--bundle", "--minify",
		"--format=iife", "--global-name=mixpolicyEditor", "--log-level=warning", "--outfile="+bundle)); err != nil {
		return nil, err
	}
	return os.ReadFile(bundle)
}
