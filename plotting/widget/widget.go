// Package widget makes cells whose picture is computed anew while the reader moves
// sliders. It needs a kernel and a page that shows the notebook; where there is
// none, nothing is shown.
//
//	widget.Run(ctx, func(c *widget.Controls) plotting.View {
//		eta := c.LogSlider("η₀", 1, 1024, 64)
//		radius := c.Slider("R", 1, 4, 2)
//		// … a computation, which may stop when c.Context() ends …
//		return plotting.Figure{…}
//	})
//
// For sliders that work on an exported page, where no kernel is, see
// [plotting.Explorer], whose pictures are computed beforehand.
package widget

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/mixpolicy/lab/plotting"
)

// Patience is how long a widget waits for the next move before it ends: long
// enough to think about a picture, short enough that a kernel whose page was
// closed is free again soon.
const Patience = 10 * time.Minute

// grace is how long a computation goes on after the reader has moved on. A picture
// that takes less follows a slider while it is dragged, one that takes more comes
// when the slider is released. People accept a delay of about a quarter of a second.
const grace = 250 * time.Millisecond

// silence is how long a widget waits for the next message of its page, which sends the
// positions of the controls several times a second, before it takes the page to be closed:
// longer than a busy machine delays a message. A page that is closed sends a last message,
// but that may be lost. A hidden page is waited for longer, as browsers let it send only
// once a minute.
const (
	silence       = 15 * time.Second
	silenceHidden = 2 * time.Minute
)

// Run shows the controls that f asks for, and below them the view that it returns,
// which is computed anew for every move: for the latest, if there were several in
// the meantime.
//
// A kernel runs one cell at a time, so the others wait while a widget is live. It
// ends when the reader presses Done, runs another cell or this one again (a widget
// never holds up Run All), closes or reloads the page, interrupts the kernel, when
// ctx ends, when nothing is heard of the page for fifteen seconds (two minutes if it
// was out of sight), or after [Patience]. The last picture stays and is saved with the
// notebook; the controls are then disabled.
//
// Outside of a notebook and where no page shows it (nbconvert, nbclient, a kernel
// started with [plotting.Headless]), f is called once, with the values that the
// controls begin with, so that a mistake in it is found, and nothing is shown. The
// same where a server runs the kernel but no page answers within fifteen seconds, but
// then GoNB's attempt to reach one stays in the notebook, as an output with nothing
// to be seen. GoNB's channel goes to the root of the server, without TLS: behind a
// proxy such as JupyterHub no page can answer.
//
// What f panics with, and a view that can't be shown, are mistakes in the cell:
// Run panics.
func Run(ctx context.Context, f func(c *Controls) plotting.View) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	c := new(Controls)
	view, ok := compute(ctx, nil, c, nil, f)
	if !ok {
		return
	}
	c.declared = true
	picture := display(view)
	if !reachable() {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	moves := newLatest(c.at, cancel)
	page, ok := connect(ctx, c, moves)
	if !ok {
		return
	}
	defer page.close(c)
	page.open(c)
	page.show(picture)
	follow(ctx, moves, c, f, func(v plotting.View) { page.show(display(v)) })
}

// display is the view as an output.
func display(v plotting.View) *protocol.DisplayData {
	data, err := plotting.DisplayData(v)
	if err != nil {
		panic(err)
	}
	return data
}

// follow shows the view that f computes for each move, until no more are to come.
func follow(ctx context.Context, moves *latest, c *Controls, f func(c *Controls) plotting.View, show func(plotting.View)) {
	shown := c.at
	for {
		now, moved := moves.get()
		if now.Done {
			return
		}
		if !slices.Equal(now.Positions, shown) {
			if view, ok := compute(ctx, moved, c, now.Positions, f); ok {
				show(view)
				shown = now.Positions
			}
			c.at = shown
		}
		patience := time.NewTimer(Patience)
		select {
		case <-moved:
			patience.Stop()
		case <-ctx.Done():
			return
		case <-patience.C:
			return
		}
	}
}

// compute calls f with the controls at these positions. It is not ok if f was
// overtaken: if moved was closed more than the grace before f came back.
func compute(ctx context.Context, moved <-chan struct{}, c *Controls, at []int, f func(c *Controls) plotting.View) (view plotting.View, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	begin := time.Now()
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-moved:
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(begin.Add(grace))):
			cancel()
		}
	})
	defer func() {
		if overtaken := ctx.Err() != nil; overtaken {
			recover() // Must of a result that came with the context's error, for one
			view, ok = nil, false
		}
		cancel()
		watch.Wait()
	}()
	c.set(ctx, at)
	return f(c), true
}

// A state of the controls, as the page sends it.
type state struct {
	Serial    int   `json:"serial"`    // counts the states
	Positions []int `json:"positions"` // of each control
	Done      bool  `json:"done"`      // no more is to come
	Hidden    bool  `json:"hidden"`    // the page is out of sight
}

// latest holds the latest state. Messages may arrive out of order, several times, or
// never.
type latest struct {
	mu    sync.Mutex
	state state
	moved chan struct{} // closed when there is a later state
	gone  *time.Timer   // runs out when the page is silent
}

// newLatest is the state before a page is heard; gone is called when none is heard for
// the time of silence.
func newLatest(at []int, gone func()) *latest {
	return &latest{state: state{Positions: at}, moved: make(chan struct{}), gone: time.AfterFunc(silence, gone)}
}

// hear takes a state that the page has sent.
func (l *latest) hear(s state) {
	if s.Hidden {
		l.gone.Reset(silenceHidden)
	} else {
		l.gone.Reset(silence)
	}
	l.put(s)
}

// get returns the latest state, and a channel that is closed when there is a later one.
func (l *latest) get() (state, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, l.moved
}

func (l *latest) put(s state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Serial <= l.state.Serial || l.state.Done {
		return
	}
	l.state = s
	close(l.moved)
	l.moved = make(chan struct{})
}
