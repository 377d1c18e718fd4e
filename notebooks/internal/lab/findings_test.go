package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/plotting"
)

// Every recorded row is a setting of one claim on the page. A claim with several settings has a figure with an interval
// for each setting.
func TestClaims(t *testing.T) {
	claims := try(newClaims()).or(t)
	p := &page{Name: "claims", Claims: claims, Scripts: map[string]source{"mathjax": {}, "echarts": {}, "minisearch": {}}}
	settings := 0
	for _, c := range p.Verdicts() {
		settings += c.Count
	}
	if rows := try(paper.RecordedClaims()).or(t); settings != len(rows) || len(claims) >= len(rows) {
		t.Errorf("%d claims with %d settings, want fewer with %d", len(claims), settings, len(rows))
	}
	file := filepath.Join(t.TempDir(), "claims.html")
	noError(t, p.write(file))
	text := string(try(os.ReadFile(file)).or(t))
	for _, c := range claims {
		if c.Text == "" || c.Section == "" {
			t.Errorf("%+v", c)
		}
		for _, s := range c.Settings {
			if strings.Count(text, `id="`+s.ID+`"`) != 1 || s.Mark.Color == "" {
				t.Errorf("%s is not on the page exactly once, or has no mark: %+v", s.ID, s)
			}
		}
		if len(c.Settings) == 1 {
			continue
		}
		drawn := c.figure().Layers[1].(plotting.Points)
		for i, s := range c.Settings {
			// A verdict that depends on the interpretation says nothing about the interval under one interpretation.
			below := drawn.Hi[i] < 1
			other := s.Verdict != paper.Depends && below != (s.Verdict == paper.Holds)
			if other || !(drawn.Lo[i] <= drawn.Y[i] && drawn.Y[i] <= drawn.Hi[i]) {
				t.Errorf("%s: %s, drawn at %v in [%v, %v]", s.ID, s.Verdict, drawn.Y[i], drawn.Lo[i], drawn.Hi[i])
			}
		}
	}
}

// Every erratum is on its page once, among the errors or among the others, and has a section. Every index entry that
// names an erratum is listed with one erratum.
func TestErrata(t *testing.T) {
	equations := try((&Lab{root: "../../.."}).equations()).or(t)
	p := &page{Name: "errata", Index: equations, Errata: try(newErrata(equations)).or(t), Scripts: map[string]source{"mathjax": {}, "echarts": {}, "minisearch": {}}}
	if len(p.Grave())+len(p.Other()) != len(p.Errata) || len(p.Grave()) == 0 {
		t.Errorf("%d errors and %d others of %d", len(p.Grave()), len(p.Other()), len(p.Errata))
	}
	entries := 0
	for _, e := range p.Errata {
		entries += len(e.Entries)
		if e.Section == "" || e.Mark.Color == "" || e.Numbers == "" {
			t.Errorf("%s: %+v", e.ID, e)
		}
	}
	for _, q := range equations {
		if q.Errata != "" {
			entries--
		}
	}
	if entries != 0 {
		t.Errorf("%d entries too many", entries)
	}
	for _, counts := range [][]choice{p.Kinds(), p.Sections()} {
		left := len(p.Other())
		for _, c := range counts {
			left -= c.Count
		}
		if left != 0 {
			t.Errorf("%+v: %d errata have no such choice", counts, left)
		}
	}
	file := filepath.Join(t.TempDir(), "errata.html")
	noError(t, p.write(file))
	text := string(try(os.ReadFile(file)).or(t))
	for _, e := range p.Errata {
		if strings.Count(text, `id="erratum-`+e.ID+`"`) != 1 {
			t.Errorf("%s is not on the page exactly once", e.ID)
		}
	}
}

func TestParts(t *testing.T) {
	got := parts("a sum; D(θ₁;θ₂) (no more; here.); the end.")
	if len(got) != 3 || got[0] != "a sum" || got[1] != "D(θ₁;θ₂) (no more; here.)" || got[2] != "the end." {
		t.Errorf("%q", got)
	}
}
