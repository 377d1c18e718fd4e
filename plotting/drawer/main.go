//go:build js && wasm && drawer

// Command drawer draws, in a web worker, the figures that cells describe. The function globalThis.drawn(order) returns
// the result of plotting.Draw for the order.
package main

import (
	"syscall/js"

	"github.com/mixpolicy/lab/plotting"
)

func main() {
	js.Global().Set("drawn", js.FuncOf(func(_ js.Value, args []js.Value) any {
		order := make([]byte, args[0].Length())
		js.CopyBytesToGo(order, args[0])
		picture := plotting.Draw(order)
		bytes := js.Global().Get("Uint8Array").New(len(picture))
		js.CopyBytesToJS(bytes, picture)
		return bytes
	}))
	select {}
}
