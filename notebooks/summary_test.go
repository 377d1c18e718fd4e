package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mixpolicy/lab/notebooks/internal/ipynb"
)

func TestTheSummaryTellsOfRunsAndClaims(t *testing.T) {
	lab := emptyLab(t)
	numbers := strings.Repeat("cᵀΨθ̂ = 2861.6456 ± 0.0001; ", 10)
	csv := "id,claim,numbers,verdict\n6-a,\"the cost is smaller, always\",\"" + numbers + "\",fails\n"
	if err := writeFile(lab.Root+"/data/claims.csv", []byte(csv)); err != nil {
		t.Fatal(err)
	}
	nb := &ipynb.Notebook{Cells: []ipynb.Cell{prose("x"), code("y"), code("z")}}
	var out bytes.Buffer
	runs := []*Run{{Name: "06-experiments", Notebook: nb, Elapsed: 1500 * time.Millisecond, Figures: 3}, {Name: "07-end", Notebook: nb}}
	if err := lab.Summarize(t.Context(), &out, runs, time.Minute); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"06-experiments 2 1.5 3", "2 in all 4 1.5 3", "6-a the cost is smaller, always fails", "took 60 s", lab.build("index.html")} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, &out)
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, " ") && utf8.RuneCountInString(line) > 101 {
			t.Errorf("too long for a terminal: %s", line)
		}
	}
}

func TestMalformedClaimsAreToldWithTheirPlace(t *testing.T) {
	lab := emptyLab(t)
	if err := writeFile(lab.Root+"/data/claims.csv", []byte("id,claim,numbers,verdict\na,b\n")); err != nil {
		t.Fatal(err)
	}
	_, err := lab.claims(t.Context())
	if err == nil || !strings.Contains(err.Error(), "claims.csv") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error: %v", err)
	}
}
