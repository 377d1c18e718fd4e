package widget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSliderPositions(t *testing.T) {
	for _, c := range []struct {
		values []float64
		n      int
		some   string
	}{
		{linear(1, 4, 2), 61, "1 1.05 1.1 1.15"},
		{linear(0, 10, 3), 51, "0 0.2 0.4 0.6"},
		{linear(-0.3, 0.3, 1./3*0.3), 61, "−0.3 −0.29 −0.28 −0.27"},
		{linear(0.123, 1, 0.777), 90, "0.123 0.13 0.14 0.15"}, // 88 hundredths, and lo, and start
		{logarithmic(1, 1024, 64), 75, "1 1.1 1.2 1.3 1.5 1.6 1.8 2"},
		{logarithmic(1e-9, 1e-7, 1e-8), 49, "1e−09 1.1e−09"},
	} {
		var texts []string
		for _, v := range c.values {
			texts = append(texts, text(v))
		}
		if all := strings.Join(texts, " "); len(c.values) != c.n || !strings.HasPrefix(all, c.some) {
			t.Errorf("%d positions: %s; want %d: %s …", len(c.values), all, c.n, c.some)
		}
	}
}

// A slider has its few positions where numbers are far apart, or hardly are.
func TestSliderAtTheEndsOfNumbers(t *testing.T) {
	for _, r := range [][2]float64{{1e17, 1e17 + 64}, {1, math.Nextafter(1, 2)}, {0, 5e-324}, {-1e-310, 1e-310}, {0, math.MaxFloat64}, {-1e308, 7e307}} {
		if v := linear(r[0], r[1], r[0]); len(v) < 2 || len(v) > 129 || v[0] != r[0] || v[len(v)-1] != r[1] {
			t.Errorf("%v: %d positions %v", r, len(v), v)
		}
	}
	if v := logarithmic(5e-324, math.MaxFloat64, 1); len(v) > 24*633 || v[0] != 5e-324 {
		t.Errorf("%d positions over all numbers", len(v))
	}
}

// The number beside a slider is the value that is computed with, whatever the range.
func TestSlidersTellTheirValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		hi := lo + math.Pow(10, rapid.Float64Range(-3, 6).Draw(t, "decade"))
		start := lo + rapid.Float64Range(0, 1).Draw(t, "start")*(hi-lo)
		start = min(start, hi)
		positions := map[string]func(c *Controls) float64{
			"linear": func(c *Controls) float64 { return c.Slider("x", lo, hi, start) },
		}
		if lo > 0 {
			positions["logarithmic"] = func(c *Controls) float64 { return c.LogSlider("x", lo, hi, start) }
		}
		for name, ask := range positions {
			c := new(Controls)
			if v := ask(c); v != start {
				t.Fatalf("%s: begins at %g; want %g", name, v, start)
			}
			c.declared = true
			k := c.controls[0]
			if n := len(k.texts); name == "linear" && (n < 50 || n > 129) { // 125 steps have 126 ends; lo, start and hi may be others
				t.Fatalf("%s: %d positions", name, n)
			}
			if k.values[0] != lo || k.values[len(k.values)-1] != hi {
				t.Fatalf("%s: from %g to %g", name, k.values[0], k.values[len(k.values)-1])
			}
			for at, v := range k.values {
				read, err := strconv.ParseFloat(strings.ReplaceAll(k.texts[at], "−", "-"), 64)
				if err != nil || read != v || v < lo || v > hi || at > 0 && v <= k.values[at-1] {
					t.Fatalf("%s: position %d is %q, and has the value %g (%v)", name, at, k.texts[at], v, err)
				}
			}
			at := rapid.IntRange(0, len(k.values)-1).Draw(t, "position")
			c.set(context.Background(), []int{at})
			if v := ask(c); v != k.values[at] {
				t.Fatalf("%s: %g at position %d; want %g", name, v, at, k.values[at])
			}
		}
	})
}

func TestSelectIsAnIndex(t *testing.T) {
	c := new(Controls)
	if i := c.Select("modulus", "ball", "cube"); i != 0 {
		t.Errorf("begins at %d; want 0", i)
	}
	c.declared = true
	c.set(context.Background(), []int{1})
	if i := c.Select("modulus", "ball", "cube"); i != 1 || c.String() != "modulus = cube" {
		t.Errorf("%d, %s; want 1, cube", i, c)
	}
}

func TestMisuseOfControls(t *testing.T) {
	declared := func() *Controls {
		c := new(Controls)
		c.Slider("R", 1, 4, 2)
		c.declared = true
		c.set(context.Background(), []int{3})
		return c
	}
	for want, f := range map[string]func(){
		`slider "R": [4, 1] is not a range`:                 func() { new(Controls).Slider("R", 4, 1, 2) },
		`slider "R": [0, +Inf] is not a range`:              func() { new(Controls).Slider("R", 0, math.Inf(1), 2) },
		`slider "R": [NaN, 1] is not a range`:               func() { new(Controls).Slider("R", math.NaN(), 1, 1) },
		`slider "R": start is 5, outside of [1, 4]`:         func() { new(Controls).Slider("R", 1, 4, 5) },
		`slider "η": lo is 0: a logarithmic`:                func() { new(Controls).LogSlider("η", 0, 4, 2) },
		`list "modulus" has no options`:                     func() { new(Controls).Select("modulus") },
		`control 0 is "η": every call must ask`:             func() { declared().Slider("η", 1, 4, 2) },
		`control 0 is "R": every call must ask`:             func() { declared().Slider("R", 1, 5, 2) },
		`control 1 is "β": every call must ask for the con`: func() { c := declared(); c.Slider("R", 1, 4, 2); c.Slider("β", 1, 4, 2) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "widget: "+want) {
					t.Errorf("panic: %s; want widget: %s", got, want)
				}
			}()
			f()
		}()
	}
}

func sample() *Controls {
	c := new(Controls)
	c.Slider("R", 1, 4, 2)
	c.Select("a < b", "no", `"yes" & </script>`)
	c.declared = true
	return c
}

func TestWhatThePageTells(t *testing.T) {
	c := sample()
	s, err := c.parse(`{"serial":5,"positions":[60,1],"done":true}`)
	if err != nil || s.Serial != 5 || fmt.Sprint(s.Positions) != "[60 1]" || !s.Done {
		t.Errorf("%+v, %v", s, err)
	}
	for message, want := range map[string]string{
		`{"serial":5,"positions":[61,1]}`:  `position 61 of "R", want 0 to 60`,
		`{"serial":5,"positions":[0,-1]}`:  `position -1 of "a < b", want 0 to 1`,
		`{"serial":5,"positions":[0]}`:     "1 positions, want 2",
		`{"serial":5,"positions":[0.5,1]}`: "cannot unmarshal",
		`nonsense`:                         `message "nonsense"`,
	} {
		if _, err := c.parse(message); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error with %s", message, err, want)
		}
	}
}

// Whatever a page sends, it is an error of one line, or positions that the controls have.
func FuzzParse(f *testing.F) {
	f.Add(`{"serial":5,"positions":[60,1],"done":true}`)
	f.Add(`{"positions":[1e9,-1]}`)
	f.Fuzz(func(t *testing.T, message string) {
		c := sample()
		s, err := c.parse(message)
		if err != nil {
			if strings.Count(err.Error(), "widget: ") != 1+strings.Count(message, "widget: ") || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("%q", err)
			}
			return
		}
		c.set(t.Context(), s.Positions)
		if v := c.Slider("R", 1, 4, 2); v < 1 || v > 4 {
			t.Fatalf("%q puts R at %g", message, v)
		}
		if again, err := c.parse(string(literal(s))); err != nil || again.Serial != s.Serial || again.Done != s.Done || !slices.Equal(again.Positions, s.Positions) {
			t.Fatalf("%+v is read again as %+v, %v", s, again, err)
		}
		_ = c.html("id", c.String())
	})
}

func TestTheControlsAreHTML(t *testing.T) {
	got := sample().html("id", "<i>foot</i>")
	for _, want := range []string{
		`<div id="id"`, `aria-label="R" min="0" max="60" value="20" disabled><output>2</output>`,
		`<span>a &lt; b</span>`, `<option value="0" selected>no</option><option value="1">&#34;yes&#34; &amp; &lt;/script&gt;</option>`, `<i>foot</i>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %s:\n%s", want, got)
		}
	}
	if js := string(literal(`</script> "x"`)); js != `"\u003c/script\u003e \"x\""` {
		t.Errorf("literal: %s", js)
	}
}
