package site

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mixpolicy/lab/plotting/echarts"
)

// liteFolder is the folder of JupyterLite within the site.
const liteFolder = "lite"

// kernelName is the name of JupyterLite's extension that is its kernel.
const kernelName = "mixpolicy-go"

// lite makes JupyterLite with the notebooks, and with a kernel that is the engine of the pages. The engine's files stay where they are.
func (b *builder) lite(ctx context.Context, parts map[string]any, pages []string) error {
	files, err := b.liteFiles(parts, pages)
	if err != nil {
		return err
	}
	folder := filepath.Join(b.Work, "lite")
	stamp := filepath.Join(b.Work, "lite.made")
	described, err := json.Marshal(files) // with their contents
	if err != nil {
		return err
	}
	from := fmt.Sprintf("%x", sha256.Sum256(append(described, strings.Join(b.Lite, " ")...)))
	out := filepath.Join(folder, "out")
	if have, err := os.ReadFile(stamp); err != nil || string(have) != from {
		b.Say("making JupyterLite")
		if err := errors.Join(os.RemoveAll(stamp), os.RemoveAll(folder)); err != nil {
			return err
		}
		for name, data := range files {
			if err := b.Write(filepath.Join(folder, name), data); err != nil {
				return err
			}
		}
		cmd := b.Command(ctx, b.Lite[0], append(b.Lite[1:], "build", "--lite-dir", folder, "--output-dir", out,
			"--contents", filepath.Join(folder, "contents"), "--apps", "lab", "--ignore-sys-prefix", "--no-sourcemaps",
			"--no-unused-shared-packages", "--FederatedExtensionAddon.extra_labextensions_path="+filepath.Join(folder, "extensions"))...)
		cmd.Dir = folder
		if _, err := b.Run(cmd); err != nil {
			return err
		}
		if err := b.Write(stamp, []byte(from)); err != nil {
			return err
		}
	}
	// Outputs look for it there, as in JupyterLab.
	if data, err := os.ReadFile(filepath.Join(b.Pages, echarts.File)); err == nil {
		if err := b.write(filepath.Join(b.Out, liteFolder, "static", echarts.File), data); err != nil {
			return err
		}
	}
	return filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		within, err := filepath.Rel(out, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return b.write(filepath.Join(b.Out, liteFolder, within), data)
	})
}

// liteFiles are what JupyterLite is made from, by their names: the notebooks, the kernel and settings.
func (b *builder) liteFiles(parts map[string]any, pages []string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range pages {
		if path.Ext(name) != ".ipynb" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(b.Pages, name))
		if err != nil {
			return nil, err
		}
		if files[path.Join("contents", name)], err = served(data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	type object = map[string]any
	described, err := json.Marshal(object{"manifest": parts["manifest"], "tools": parts["tools"], "name": kernelName})
	if err != nil {
		return nil, err
	}
	kernel := starting("kernel.js", described)
	sum := sha256.Sum256(kernel)
	load := path.Join("static", versioned("kernel.js", sum[:]))
	files[path.Join("extensions", kernelName, load)] = kernel
	about, err := json.Marshal(object{
		"name": kernelName, "version": "1.0.0", "license": "Apache-2.0", "description": "Cells of Go, compiled and run in the browser",
		"jupyterlab": object{"extension": true, "_build": object{"load": load, "extension": "./extension", "style": "./style"}},
	})
	files[path.Join("extensions", kernelName, "package.json")] = about
	// Of what JupyterLab does by itself, announcements would ask the network, and with its service worker Chromium would
	// not keep the engine's machine code. The first names to complete come with the engine, so they take long.
	for _, name := range []string{"jupyter-lite.json", "overrides.json"} {
		files[name] = script("js/" + name)
	}
	return files, err
}

// served is the notebook as Jupyter's server hands it to JupyterLab: with outputs whose scripts may run, as they are
// ours, and with texts that are whole.
func served(data []byte) ([]byte, error) {
	var notebook map[string]any
	if err := json.Unmarshal(data, &notebook); err != nil {
		return nil, err
	}
	cells, _ := notebook["cells"].([]any)
	for _, c := range cells {
		cell, _ := c.(map[string]any)
		if cell["cell_type"] != "code" {
			continue
		}
		metadata, _ := cell["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
			cell["metadata"] = metadata
		}
		metadata["trusted"] = true
		outputs, _ := cell["outputs"].([]any)
		for _, o := range outputs {
			output, _ := o.(map[string]any)
			forms, _ := output["data"].(map[string]any)
			for mime, form := range forms {
				lines, ok := form.([]any)
				if !ok {
					continue
				}
				var text strings.Builder
				for _, line := range lines {
					fmt.Fprint(&text, line)
				}
				forms[mime] = text.String()
			}
		}
	}
	return json.Marshal(notebook)
}
