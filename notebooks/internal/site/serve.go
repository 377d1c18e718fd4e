package site

import (
	"cmp"
	"net/http"
	"path"
	"strings"
)

// Handler serves the site in the folder. It declares the engine's packed files as gzip, so browsers unpack these files,
// and can keep the machine code that they compile from the WebAssembly in these files. The names of the engine's files
// change with the content of the files, so browsers may keep the files forever.
func Handler(folder string) http.Handler {
	files := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		if path.Base(path.Dir(r.URL.Path)) == engineFolder {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		if name, packed := strings.CutSuffix(path.Base(r.URL.Path), ".gz"); packed {
			h.Set("Content-Encoding", "gzip")
			types := map[string]string{".wasm": "application/wasm", ".json": "application/json"}
			h.Set("Content-Type", cmp.Or(types[path.Ext(name)], "application/octet-stream"))
		}
		files.ServeHTTP(w, r)
	})
}
