package widget

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mixpolicy/lab/plotting"
)

// slow shows where its one control stands, after a time that the position chooses.
type slow struct {
	c     *Controls
	moves *latest
	takes []time.Duration
	heeds bool // comes back when its context ends
	shown []string
	asked int
}

func newSlow(heeds bool, takes ...time.Duration) *slow {
	s := &slow{c: new(Controls), takes: takes, heeds: heeds}
	if _, ok := compute(context.Background(), nil, s.c, nil, s.view); !ok {
		panic("overtaken")
	}
	s.c.declared = true
	s.moves = newLatest(s.c.at, func() {})
	s.asked = 0
	return s
}

func (s *slow) view(c *Controls) plotting.View {
	options := make([]string, len(s.takes))
	for i, d := range s.takes {
		options[i] = d.String()
	}
	s.asked++
	took := time.NewTimer(s.takes[c.Select("takes", options...)])
	if !s.heeds {
		<-took.C
		return plotting.Markdown(c.String())
	}
	select {
	case <-took.C:
	case <-c.Context().Done():
		took.Stop()
		panic(c.Context().Err()) // as Must does
	}
	return plotting.Markdown(c.String())
}

func (s *slow) follow(ctx context.Context) {
	follow(ctx, s.moves, s.c, s.view, func(v plotting.View) { s.shown = append(s.shown, string(v.(plotting.Markdown))) })
}

func (s *slow) move(serial, at int) { s.moves.put(state{Serial: serial, Positions: []int{at}}) }
func (s *slow) done(serial, at int) {
	s.moves.put(state{Serial: serial, Positions: []int{at}, Done: true})
}

func (s *slow) want(t *testing.T, shown ...string) {
	t.Helper()
	if !slices.Equal(s.shown, shown) {
		t.Errorf("shown: %q; want %q", s.shown, shown)
	}
}

func TestEveryMoveIsShownWhenTheReaderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(false, 0, 100*time.Millisecond, 2*time.Second)
		go func() {
			for k, at := range []int{1, 2, 0, 1} {
				s.move(k+1, at)
				time.Sleep(3 * time.Second)
			}
			s.done(5, 1)
		}()
		s.follow(t.Context())
		s.want(t, "takes = 100ms", "takes = 2s", "takes = 0s", "takes = 100ms")
	})
}

func TestTheLatestMoveWins(t *testing.T) {
	for _, heeds := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow(heeds, 0, 100*time.Millisecond, 2*time.Second)
			go func() {
				s.move(1, 2)
				time.Sleep(10 * time.Millisecond)
				s.move(2, 0)
				s.move(3, 2)
				s.move(4, 1)
				time.Sleep(5 * time.Second)
				s.done(5, 1)
			}()
			s.follow(t.Context())
			s.want(t, "takes = 100ms")
			if s.asked != 2 {
				t.Errorf("computed %d times; want once for the overtaken move and once for the latest", s.asked)
			}
		})
	}
}

func TestAQuickPictureFollowsTheSliderWhileItMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(true, 0, 100*time.Millisecond, 101*time.Millisecond)
		go func() {
			for k := range 20 { // a move every 40 ms, so that each picture is overtaken
				s.move(k+1, 1+k%2)
				time.Sleep(40 * time.Millisecond)
			}
			time.Sleep(time.Second)
			s.done(21, 2)
		}()
		s.follow(t.Context())
		if n := len(s.shown); n < 7 || n > 9 {
			t.Errorf("%d pictures in 800 ms, which take 100 ms each; want 7 to 9: %q", n, s.shown)
		}
		if last := s.shown[len(s.shown)-1]; last != "takes = 101ms" {
			t.Errorf("the last shown: %s; want the last move, 101ms", last)
		}
	})
}

func TestPositionsThatAreShownAreNotComputedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(true, 0, time.Minute)
		go func() {
			s.move(1, 1) // and back, before it is there
			time.Sleep(time.Second)
			s.move(2, 0)
			time.Sleep(time.Second)
			s.done(3, 0)
		}()
		s.follow(t.Context())
		s.want(t)
		if s.asked != 1 || s.c.String() != "takes = 0s" {
			t.Errorf("computed %d times, at the end %s; want once, and where it began", s.asked, s.c)
		}
	})
}

func TestMessagesMayOvertakeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(false, 0, 1, 2, 3)
		s.move(7, 3)
		s.move(5, 1)
		s.move(6, 2)
		go func() {
			time.Sleep(time.Second)
			s.move(4, 1)
			time.Sleep(time.Second)
			s.done(8, 0)
			s.move(9, 1)
		}()
		s.follow(t.Context())
		s.want(t, "takes = 3ns")
		if got := s.c.String(); got != "takes = 3ns" {
			t.Errorf("at the end the controls say %s; want what the last picture shows", got)
		}
	})
}

func TestAWidgetEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(s *slow, cancel func())
		after time.Duration
	}{
		"by Done":                      {func(s *slow, cancel func()) { s.done(1, 0) }, 0},
		"when its context ends":        {func(s *slow, cancel func()) { cancel() }, 0},
		"by Done while it computes":    {func(s *slow, cancel func()) { s.move(1, 1); time.Sleep(time.Second); s.done(2, 0) }, time.Second},
		"when ended while it computes": {func(s *slow, cancel func()) { s.move(1, 1); time.Sleep(time.Second); cancel() }, time.Second},
		"when nobody moves anything":   {func(s *slow, cancel func()) {}, Patience},
		"after the last move":          {func(s *slow, cancel func()) { time.Sleep(time.Minute); s.move(1, 0) }, Patience + time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := newSlow(true, 0, time.Hour)
				begin := time.Now()
				go c.end(s, cancel)
				s.follow(ctx)
				if took := time.Since(begin); took != c.after { // time stands still but for sleeps
					t.Errorf("ended after %v; want %v", took, c.after)
				}
			})
		})
	}
}

// A page tells its state again and again; the same state is no move.
func TestAWidgetEndsWhenItsPageFallsSilent(t *testing.T) {
	for _, c := range []struct {
		every, lasts time.Duration
		hidden       bool
		after        time.Duration
	}{
		{0, 0, false, silence}, // never heard
		{300 * time.Millisecond, time.Minute, false, time.Minute + silence},
		{time.Minute, 5 * time.Minute, true, 5*time.Minute + silenceHidden},
		{time.Second, time.Hour, false, Patience},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := newSlow(true, 0, time.Hour)
			s.moves = newLatest(s.c.at, cancel)
			begin := time.Now()
			var page sync.WaitGroup
			page.Go(func() {
				for c.every > 0 && time.Since(begin) <= c.lasts && ctx.Err() == nil {
					s.moves.hear(state{Serial: 1, Positions: []int{0}, Hidden: c.hidden})
					time.Sleep(c.every)
				}
			})
			s.follow(ctx)
			if took := time.Since(begin); took != c.after {
				t.Errorf("told every %v for %v: ended after %v; want %v", c.every, c.lasts, took, c.after)
			}
			s.want(t)
			cancel()
			page.Wait()
		})
	}
}

// A computation goes on while the page tells that nothing has changed.
func TestWhatIsToldAgainOvertakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow(true, 0, 2*time.Second)
		go func() {
			for range 100 {
				s.moves.hear(state{Serial: 1, Positions: []int{1}})
				time.Sleep(100 * time.Millisecond)
			}
			s.done(2, 1)
		}()
		s.follow(t.Context())
		s.want(t, "takes = 2s")
		if s.asked != 1 {
			t.Errorf("computed %d times; want once", s.asked)
		}
	})
}

func TestAMistakeIsNotHidden(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != "a mistake" {
			t.Errorf("panic: %s; want that of the function", got)
		}
	}()
	compute(t.Context(), make(chan struct{}), new(Controls), nil, func(c *Controls) plotting.View { panic("a mistake") })
}

func TestRunComputesOnceWhereNobodyLooks(t *testing.T) {
	calls := 0
	Run(t.Context(), func(c *Controls) plotting.View {
		calls++
		return plotting.Markdown(fmt.Sprint(c.Slider("R", 1, 4, 2)))
	})
	if calls != 1 {
		t.Errorf("%d calls; want one", calls)
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "no columns") {
			t.Errorf("panic: %v; want the view's error", got)
		}
	}()
	Run(t.Context(), func(c *Controls) plotting.View { return plotting.Table{} })
}
