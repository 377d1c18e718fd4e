package paper_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/plotting"
)

// TestReadmeFigure: the picture of the README is what the code makes.
func TestReadmeFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of three methods with their tuning: some seconds")
	}
	figure, err := paper.ReadmeFigure(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	committed := filepath.Join("..", "..", "data", "figures", "readme.svg")
	fresh := filepath.Join(t.TempDir(), "readme.svg")
	if err := plotting.Save(fresh, figure); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("data/figures/readme.svg is not what the code makes; go run ./mixpolicy/study/record readme makes it anew")
	}
}

// TestReadmeCounts: what the README says of the index and of the errata is what they hold.
func TestReadmeCounts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := paper.RecordedIndex()
	if err != nil {
		t.Fatal(err)
	}
	count := map[paper.Verdict]int{}
	for _, r := range rows {
		count[r.Verdict]++
	}
	want := fmt.Sprintf("Of the %d equations and statements, %d hold as printed, %d when corrected, and %d are definitions; each is decided by a computation, and each of %d errata",
		len(rows), count[paper.Holds], count[paper.HoldsAsCorrected], count[paper.Defines], len(paper.Errata()))
	if !bytes.Contains(text, []byte(want)) {
		t.Errorf("the README does not have %q", want)
	}
}
