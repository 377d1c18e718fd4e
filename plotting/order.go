//go:build js && !drawer

package plotting

import (
	"errors"
	"syscall/js"
)

// output returns the display of frames of panels; the controls choose the frame to show. The page draws the frames.
func output(frames []Panels, still Panels, controls []Control) (display, error) {
	return order{Frames: frames, Still: still, Controls: controls}.send()
}

// encode returns the drawing as a file of the format, drawn by the page.
func encode(format string, d Drawing) ([]byte, error) {
	p, err := d.panels()
	if err != nil {
		return nil, err
	}
	file, err := order{Format: format, Still: p}.send()
	return file.png, err
}

// send gives the order to the page and waits for the result.
func (o order) send() (display, error) {
	draw := js.Global().Get("draw")
	if !draw.Truthy() {
		return display{}, errors.New("figures are drawn by the page that runs the program, and this page has no function draw")
	}
	data := o.encode()
	answer := make(chan []byte, 1)
	var failure error
	back := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[0].IsNull() {
			failure = errors.New(args[1].String())
			close(answer)
			return nil
		}
		data := make([]byte, args[0].Length())
		js.CopyBytesToGo(data, args[0])
		answer <- data
		return nil
	})
	defer back.Release()
	bytes := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(bytes, data)
	draw.Invoke(bytes, back)
	data = <-answer
	if failure != nil {
		return display{}, failure
	}
	d, err := decode[drawn](data)
	if err != nil {
		return display{}, err
	}
	return d.result()
}
