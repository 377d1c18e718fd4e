//go:build js && wasm

// Command completer completes names in cells, in the web worker that makes programs from cells. The completer is a
// separate program from the composer, and has its own session, because few readers need completions, and package
// go/types is big. The completer provides these functions of globalThis.names:
//
//	open(names)          begins a session; names has the names of the packages, by their import paths, as JSON
//	keep(name, text)     makes the cell part of the session
//	complete(before, after, archive) returns names that can stand between two parts of a cell: {prefix, found, missing}.
//	                     found is JSON; archive(path) returns a package's archive or null; missing lists the paths for
//	                     which archive returned null
//	inspect(before, after, archive) describes the name where the two parts meet: {text, missing}
package main

import (
	"encoding/json"
	"syscall/js"

	"github.com/mixpolicy/lab/notebooks/internal/cells"
)

func main() {
	var session *cells.Session
	var archive js.Value
	var missing []any
	packages := cells.Importer(func(path string) []byte {
		bytes := archive.Invoke(path)
		if bytes.IsNull() {
			missing = append(missing, path)
			return nil
		}
		data := make([]byte, bytes.Length())
		js.CopyBytesToGo(data, bytes)
		return data
	})
	js.Global().Set("names", map[string]any{
		"open": js.FuncOf(func(_ js.Value, args []js.Value) any {
			names := map[string]string{}
			if err := json.Unmarshal([]byte(args[0].String()), &names); err != nil {
				panic(err)
			}
			session = cells.New(names)
			return nil
		}),
		"keep": js.FuncOf(func(_ js.Value, args []js.Value) any {
			if p, err := session.Compose(args[0].String(), args[1].String()); err == nil {
				session.Keep(p)
			}
			return nil
		}),
		"complete": js.FuncOf(func(_ js.Value, args []js.Value) any {
			archive, missing = args[2], []any{}
			prefix, found := session.Complete(args[0].String(), args[1].String(), packages)
			data, _ := json.Marshal(append([]cells.Completion{}, found...)) // cannot fail; without names, an empty list
			return map[string]any{"prefix": prefix, "found": string(data), "missing": missing}
		}),
		"inspect": js.FuncOf(func(_ js.Value, args []js.Value) any {
			archive, missing = args[2], []any{}
			text := session.Inspect(args[0].String(), args[1].String(), packages)
			return map[string]any{"text": text, "missing": missing}
		}),
	})
	select {}
}
