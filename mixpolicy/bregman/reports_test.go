package bregman

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

var update = flag.Bool("update", false, "rewrite what Check says, in testdata")

// A book holds what Check says, as committed: the findings, and how much of what is allowed each examination takes. The
// points are drawn from a seed, so that whatever is drawn, computed or compared in another way shows here, where the
// verdict shows only whether it matters.
type book struct {
	reports map[string]string // by its first line
	written strings.Builder
}

// openBook reads a book, or writes it anew when the test ends.
func openBook(t *testing.T, file string) *book {
	t.Helper()
	b := &book{reports: map[string]string{}}
	if *update {
		t.Cleanup(func() {
			if err := atomicfile.WriteBytes(file, []byte(b.written.String())); err != nil {
				t.Error(err)
			}
		})
		return b
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for report := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n") {
		title, rest, _ := strings.Cut(report, "\n")
		b.reports[title] = strings.TrimSpace(rest)
	}
	return b
}

// compare sees that a report is as committed.
func (b *book) compare(t *testing.T, title string, r *Report) {
	t.Helper()
	var w strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&w, "%v; guilty: %s\n", f, f.Method)
		for _, curve := range [][]Point{f.MeasuredCurve, f.ClaimedCurve} {
			if n := len(curve); n > 0 {
				fmt.Fprintf(&w, "%d points from %.4g to %.4g\n", n, curve[0], curve[n-1])
			}
		}
	}
	for _, e := range r.Examinations {
		if e.Limit == 0 {
			w.WriteString(" −") // nothing was examined
		} else {
			fmt.Fprintf(&w, " %.3g", e.Worst/e.Limit)
		}
	}
	b.see(t, title, w.String())
}

// examined sees that an examination came out as committed, and that it left the same to the diagnosis.
func (b *book) examined(t *testing.T, title string, c *checker, e Examination) {
	t.Helper()
	var w strings.Builder
	fmt.Fprintf(&w, "%.3g of %.3g: %s; %s\n", e.Worst, e.Limit, e.Where, e.Note)
	for _, f := range c.report.Findings {
		fmt.Fprintln(&w, f)
	}
	if n := len(c.suspects); n > 0 {
		fmt.Fprintf(&w, "%d suspects from %.4g to %.4g\n", n, c.suspects[0], c.suspects[n-1])
	}
	for _, p := range []struct {
		what string
		x    []float64
	}{{"bad", c.bad}, {"beyond", c.beyond}, {"from", c.segment[0]}, {"to", c.segment[1]}, {"edge", c.edge[0]}, {"along", c.edge[1]}, {"ray", c.ray.e}} {
		if p.x != nil {
			fmt.Fprintf(&w, "%s %.4g\n", p.what, p.x)
		}
	}
	if c.ray.e != nil {
		fmt.Fprintf(&w, "entry %d between %.4g and %.4g\n", c.ray.entry, c.ray.from, c.ray.to)
	}
	if d := c.dip; d != (dip{}) {
		fmt.Fprintf(&w, "entry %d falls from %.4g to %.4g, between %.4g and %.4g\n", d.i, d.before, d.after, d.from, d.to)
	}
	if c.leastAt != "" {
		fmt.Fprintf(&w, "least %.4g at %s\n", c.least, c.leastAt)
	}
	b.see(t, title, w.String())
}

// see sees that what is said is as committed.
func (b *book) see(t *testing.T, title, said string) {
	t.Helper()
	said = strings.TrimSpace(said)
	fmt.Fprintf(&b.written, "%s\n%s\n\n", title, said)
	// Errors are counted in ulps, and processors that multiply and add in one go have others.
	if want, ok := b.reports[title]; !*update && runtime.GOARCH == "amd64" && (!ok || said != want) {
		t.Errorf("%s: this comes out\n%s\nwhere this is committed:\n%s", title, said, want)
	}
}
