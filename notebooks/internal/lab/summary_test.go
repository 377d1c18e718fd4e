package lab

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTheSummaryTellsOfRunsAndClaims(t *testing.T) {
	lab := emptyLab(t)
	nb := &notebook{Cells: []cell{{Type: "markdown"}, {Type: "code"}, {Type: "code"}}}
	var out bytes.Buffer
	runs := []*run{{name: "06-experiments", notebook: nb, elapsed: 1500 * time.Millisecond, figures: 3}, {name: "07-end", notebook: nb}}
	noError(t, lab.summarize(&out, runs, time.Minute))
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"06-experiments 2 1.5 3", "2 in all 4 1.5 3", "claims, one verdict for each setting number ", " holds ", " not proved ", "equations and statements ", "as corrected: misprint", "took 60 s", lab.build("index.html")} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, &out)
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, " ") && utf8.RuneCountInString(line) > 113 {
			t.Errorf("too long for a terminal: %s", line)
		}
	}
}
