//go:build js && wasm

// Command composer makes package cells available to the JavaScript of a web worker. Like a notebook kernel, it also
// receives what programs display. It sets globalThis.cells to an object with these functions:
//
//	open(names)          begins a session; names has the names of the packages, by their import paths, as JSON
//	compose(name, text)  returns the program of a cell, as JSON: {key, source, imports, args, env, said}, or {error}
//	keep()               adds to the session the cell that was last composed without an error
//	listen(show, reply)  returns hear(bytes), which takes the bytes that a program writes to GONB_PIPE, and null at their
//	                     end; hear calls show(id, mime, data, …) for outputs, and reply(bytes) with what the program
//	                     is to read from GONB_PIPE_BACK
package main

import (
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"syscall/js"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/notebooks/internal/cells"
)

func main() {
	var session *cells.Session
	var last *cells.Program
	js.Global().Set("cells", map[string]any{
		"open": js.FuncOf(func(_ js.Value, args []js.Value) any {
			names := map[string]string{}
			if err := json.Unmarshal([]byte(args[0].String()), &names); err != nil {
				panic(err)
			}
			session = cells.New(names)
			return nil
		}),
		"compose": js.FuncOf(func(_ js.Value, args []js.Value) any {
			p, err := session.Compose(args[0].String(), args[1].String())
			made := map[string]any{"error": fmt.Sprint(err)}
			if err == nil {
				last = p
				made = map[string]any{"key": p.Key(), "source": p.Source, "imports": p.Imports, "args": p.Args, "env": p.Env,
					"said": p.Said}
			}
			text, _ := json.Marshal(made) // cannot fail
			return string(text)
		}),
		"keep": js.FuncOf(func(js.Value, []js.Value) any {
			session.Keep(last)
			return nil
		}),
		"listen": js.FuncOf(func(_ js.Value, args []js.Value) any { return listen(args[0], args[1]) }),
	})
	select {}
}

// listen returns the function hear, which decodes the messages that one program writes to the pipe. Called with null,
// hear waits until everything has been shown.
func listen(show, reply js.Value) js.Func {
	pipe, input := io.Pipe()
	done := make(chan bool)
	encoder := gob.NewEncoder(writer{reply})
	go func() {
		defer close(done)
		decoder := gob.NewDecoder(pipe)
		for {
			var d protocol.DisplayData
			if err := decoder.Decode(&d); err != nil {
				pipe.CloseWithError(err) // later output is lost, as it is in GoNB
				return
			}
			answer(encoder, d, show)
		}
	}()
	var hear js.Func
	hear = js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[0].IsNull() {
			input.Close()
			<-done
			hear.Release()
			return nil
		}
		data := make([]byte, args[0].Length())
		js.CopyBytesToGo(data, args[0])
		input.Write(data)
		return nil
	})
	return hear
}

// answer shows an output or, if the program asks for it, confirms that all earlier outputs have been shown.
func answer(encoder *gob.Encoder, d protocol.DisplayData, show js.Value) {
	args := []any{d.DisplayID}
	for mime, data := range d.Data {
		switch data := data.(type) {
		case protocol.CommValue:
			if data.Address == protocol.GonbuiSyncAddress {
				encoder.Encode(protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: data.Value})
			}
			return
		case string:
			args = append(args, string(mime), data)
		case []byte:
			args = append(args, string(mime), base64.StdEncoding.EncodeToString(data))
		}
	}
	if len(args) > 1 {
		show.Invoke(args...)
	}
}

// A writer calls its function with the bytes that are written.
type writer struct{ js.Value }

func (w writer) Write(p []byte) (int, error) {
	bytes := js.Global().Get("Uint8Array").New(len(p))
	js.CopyBytesToJS(bytes, p)
	w.Invoke(bytes)
	return len(p), nil
}
