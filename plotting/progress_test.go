package plotting

import (
	"slices"
	"testing"
	"time"
)

// A bar grows at most ten times a second, and disappears at the end. Quick work shows no bar.
func TestProgress(t *testing.T) {
	for step, want := range map[time.Duration][]string{
		30 * time.Millisecond: {
			`<progress value="4" max="9"></progress> a&lt;b, 4 of 9`,
			`<progress value="7" max="9"></progress> a&lt;b, 7 of 9`,
			"",
			`<progress value="3" max="9"></progress> a&lt;b, 3 of 9`, // of the next computation
		},
		time.Millisecond: nil,
	} {
		var shown []string
		var at time.Time
		tell := progress(func(bar string) { shown = append(shown, bar) }, func() time.Time { at = at.Add(step); return at })
		for _, done := range []int{1, 2, 3, 4, 3, 5, 6, 7, 9, 8, 1, 2, 3} {
			tell("a<b", done, 9)
		}
		if !slices.Equal(shown, want) {
			t.Errorf("shown %q, want %q", shown, want)
		}
	}
	Progress()("nobody looks", 1, 2)
}
