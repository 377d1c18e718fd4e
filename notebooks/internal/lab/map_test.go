package lab

import (
	"strings"
	"testing"

	"github.com/mixpolicy/lab/data"
)

// Every entry of the index is on the map once, in a place of its own. (3.20), which rests on (3.19), is to the right of
// (3.19). Every premise has an edge.
func TestMap(t *testing.T) {
	equations := try((&Lab{root: "../../.."}).equations()).or(t)
	c := try(newChart(equations)).or(t)
	type place struct{ x, y int }
	at, taken := map[string]place{}, map[place]string{}
	for _, n := range c.Nodes {
		p := place{n.X, n.Y}
		if other, ok := taken[p]; ok {
			t.Errorf("%s and %s are both at %v", n.Number, other, p)
		}
		at[n.Number], taken[p] = p, n.Number
		if n.X < 0 || n.Y < 0 || n.X > c.Width || n.Y > c.Height {
			t.Errorf("%s is at %v, outside %d × %d", n.Number, p, c.Width, c.Height)
		}
	}
	if len(at) != len(equations) {
		t.Errorf("%d entries are on the map, want %d", len(at), len(equations))
	}
	if a, b := at["3.19"], at["3.20"]; a.x >= b.x {
		t.Errorf("(3.19) is at %v, and (3.20), which rests on (3.19), at %v; want (3.20) to the right", a, b)
	}
	premises := try(data.Files.ReadFile("premises.csv")).or(t)
	if want := strings.Count(string(premises), "; ") + strings.Count(string(premises), "\n") - 1; len(c.Edges) != want || strings.Count(string(c.Option), `"source"`) != want {
		t.Errorf("%d edges and %d of ECharts, want %d", len(c.Edges), strings.Count(string(c.Option), `"source"`), want)
	}
}
