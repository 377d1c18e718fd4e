package widget

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"log"
	"os"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/plotting"
)

// GoNB's own widgets (package gonbui/widgets) have integers, no labels, and send each
// value by itself, in messages that may arrive out of order. Here the page sends the
// positions of all controls, with a serial number, over GoNB's channel gonb_comm.

//go:embed widget.js
var script string

// A page shows a widget as two outputs of the cell, controls and picture, each
// updated in its place.
type page struct {
	address           string
	controls, picture string // the outputs' display ids
	subscription      comms.SubscriptionId
}

// reachable tells whether a page may show the notebook. GoNB's channel goes through
// Jupyter's server, which gives the kernel a name; nbclient, and so nbconvert, runs
// kernels without a server and without a name.
func reachable() bool {
	return gonbui.IsNotebook && os.Getenv(plotting.Headless) == "" && os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) != ""
}

// connect opens the channel from the page, which then puts its moves into moves. It
// is not ok if ctx ends before a page answers.
func connect(ctx context.Context, c *Controls, moves *latest) (p *page, ok bool) {
	id := gonbui.UniqueId()
	p = &page{address: "/mixpolicy/widget/" + id, controls: "mixpolicy-controls-" + id, picture: "mixpolicy-picture-" + id}
	p.update(c, "<small>Waiting for the page to answer.</small>", nil)
	_, answered := moves.get()
	p.subscription = comms.Subscribe(p.address, func(_ string, message string) {
		s, err := c.parse(message)
		if err != nil {
			log.Print(err)
			return
		}
		moves.hear(s)
	})
	select {
	case <-answered:
		return p, true
	case <-ctx.Done():
		comms.Unsubscribe(p.subscription)
		gonbui.UpdateHTML(p.controls, "")
		gonbui.Sync()
		return p, false
	}
}

// parse reads a message of the page.
func (c *Controls) parse(message string) (s state, err error) {
	if err := json.Unmarshal([]byte(message), &s); err != nil {
		return s, fmt.Errorf("widget: message %q of the page: %w", message, err)
	}
	if len(s.Positions) != len(c.controls) {
		return s, fmt.Errorf("widget: message of the page with %d positions, want %d, one a control", len(s.Positions), len(c.controls))
	}
	for i, k := range c.controls {
		if at := s.Positions[i]; at < 0 || at >= len(k.texts) {
			return s, fmt.Errorf("widget: message of the page with position %d of %q, want 0 to %d", at, k.label, len(k.texts)-1)
		}
	}
	return s, nil
}

// show displays the picture, in the place of the last one.
func (p *page) show(picture *protocol.DisplayData) {
	picture.DisplayID = p.picture
	gonbui.SendData(picture)
}

// open shows the controls and makes them live.
func (p *page) open(c *Controls) {
	texts := make([][]string, len(c.controls))
	for i, k := range c.controls {
		texts[i] = k.texts
	}
	p.update(c, fmt.Sprintf(`<button type="button" data-lm-suppress-shortcuts="true" disabled>Done</button> `+
		`<small>Live until you press Done, run another cell, or let it rest for %.0f minutes.</small>`, Patience.Minutes()), texts)
}

// close shows where the controls stood for the picture that stays.
func (p *page) close(c *Controls) {
	// GoNB crashes on a message that comes for a program that is just ending.
	comms.Unsubscribe(p.subscription)
	p.display(c, "<small>To move the controls, run the cell.</small>", "")
	gonbui.Sync()
}

// update shows the controls, which tell where they stand; with texts they are live.
func (p *page) update(c *Controls, foot string, texts [][]string) {
	p.display(c, foot, fmt.Sprintf("<script>(%s)(%s, %s, %d, %s)</script>",
		script, literal(p.controls), literal(p.address), silence.Milliseconds(), literal(texts)))
}

func (p *page) display(c *Controls, foot, script string) {
	gonbui.SendData(&protocol.DisplayData{DisplayID: p.controls, Data: map[protocol.MIMEType]any{
		protocol.MIMETextPlain: c.String(),
		protocol.MIMETextHTML:  c.html(p.controls, foot) + script,
	}})
}

// html is the controls, disabled: the script that makes them live does nothing when a
// notebook that was saved meanwhile is opened again. Keys are theirs, and not shortcuts
// of JupyterLab.
func (c *Controls) html(id, foot string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="%s" class="mixpolicy-widget" style="display:grid;grid-template-columns:max-content minmax(100px,360px) 1fr;gap:4px 12px;align-items:center">`+"\n", id)
	for i, k := range c.controls {
		label := html.EscapeString(k.label)
		fmt.Fprintf(&b, "<span>%s</span>", label)
		if k.values != nil {
			fmt.Fprintf(&b, `<input type="range" data-lm-suppress-shortcuts="true" aria-label="%s" min="0" max="%d" value="%d" disabled><output>%s</output>`+"\n",
				label, len(k.texts)-1, c.at[i], k.texts[c.at[i]])
			continue
		}
		fmt.Fprintf(&b, `<select data-lm-suppress-shortcuts="true" aria-label="%s" style="justify-self:start" disabled>`, label)
		for j, option := range k.texts {
			chosen := ""
			if j == c.at[i] {
				chosen = " selected"
			}
			fmt.Fprintf(&b, `<option value="%d"%s>%s</option>`, j, chosen, html.EscapeString(option))
		}
		b.WriteString("</select><span></span>\n")
	}
	fmt.Fprintf(&b, `<div style="grid-column:1/-1">%s</div>`+"\n</div>\n", foot)
	return b.String()
}

// literal is the value in JavaScript. No text in it can end a script element.
func literal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return b
}
