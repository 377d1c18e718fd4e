package paper_test

import (
	"bytes"
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
	want, err := paper.WithSummary(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Error("the counts in the README are not those of data/equations.csv and of the errata; go run ./mixpolicy/study/record readme makes them anew")
	}
	if _, err := paper.WithSummary("no place"); err == nil {
		t.Error("a README without a place for the counts is accepted")
	}
}
