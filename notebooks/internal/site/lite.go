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

// kernelName is the name of the extension that provides JupyterLite's kernel.
const kernelName = "mixpolicy-go"

// lite makes JupyterLite with the notebooks, and with a kernel that uses the engine of the pages. The engine's files
// are not copied.
func (b *builder) lite(ctx context.Context, parts map[string]any, pages []string) error {
	files, err := b.liteFiles(parts, pages)
	if err != nil {
		return err
	}
	folder := filepath.Join(b.Work, "lite")
	stamp := filepath.Join(b.Work, "lite.made")
	described, _ := json.Marshal(files) // names and contents
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
		build := append(b.Lite[1:], "build", "--lite-dir", folder, "--output-dir", out,
			"--contents", filepath.Join(folder, "contents"), "--apps", "lab", "--ignore-sys-prefix", "--no-sourcemaps",
			"--no-unused-shared-packages", "--FederatedExtensionAddon.extra_labextensions_path="+filepath.Join(folder, "extensions"))
		for _, args := range [][]string{{"served.py"}, build} {
			cmd := b.Command(ctx, b.Lite[0], args...)
			cmd.Dir = folder
			if _, err := b.Run(cmd); err != nil {
				return err
			}
		}
		if err := b.Write(stamp, []byte(from)); err != nil {
			return err
		}
	}
	// As in JupyterLab, outputs look for ECharts in the folder static.
	err = b.copy(filepath.Join(b.Out, liteFolder, "static", echarts.File), filepath.Join(b.Pages, echarts.File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fs.WalkDir(os.DirFS(out), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return b.copy(filepath.Join(b.Out, liteFolder, name), filepath.Join(out, name))
	})
}

// liteFiles returns the files from which JupyterLite is made, by their names: the notebooks, the kernel and settings.
func (b *builder) liteFiles(parts map[string]any, pages []string) (map[string][]byte, error) {
	files, notebooks := map[string][]byte{}, []string{}
	for _, name := range pages {
		if path.Ext(name) != ".ipynb" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(b.Pages, name))
		if err != nil {
			return nil, err
		}
		files[path.Join("contents", name)] = data
		notebooks = append(notebooks, name)
	}
	type object = map[string]any
	described, _ := json.Marshal(object{"manifest": parts["manifest"], "name": kernelName, "notebooks": notebooks})
	kernel := starting("kernel.js", described)
	sum := sha256.Sum256(kernel)
	load := path.Join("static", versioned("kernel.js", sum[:]))
	files[path.Join("extensions", kernelName, load)] = kernel
	about, err := json.Marshal(object{
		"name": kernelName, "version": "1.0.0", "license": "Apache-2.0", "description": "Cells of Go, compiled and run in the browser",
		"jupyterlab": object{"extension": true, "_build": object{"load": load, "extension": "./extension", "style": "./style"}},
	})
	files[path.Join("extensions", kernelName, "package.json")] = about
	// The settings turn off JupyterLab's announcements, which would use the network, and JupyterLite's service worker,
	// with which Chromium would not keep the engine's machine code. They also let the first completion wait for the engine.
	for _, name := range []string{"jupyter-lite.json", "overrides.json", "served.py"} {
		files[name] = script("js/" + name)
	}
	return files, err
}
