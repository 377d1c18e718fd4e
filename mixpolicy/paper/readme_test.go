package paper_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy/paper"
	"github.com/mixpolicy/lab/plotting"
)

var updateFigures = flag.Bool("update-figures", false, "write the committed figures anew")

// TestReadmeFigure: the picture of the README is what the code makes.
func TestReadmeFigure(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of three methods with their tuning: some seconds")
	}
	figure, err := paper.ReadmeFigure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	committed := filepath.Join("..", "..", "data", "figures", "readme.svg")
	fresh := filepath.Join(t.TempDir(), "readme.svg")
	if *updateFigures {
		if fresh, err = filepath.Abs(committed); err != nil {
			t.Fatal(err)
		}
	}
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
		t.Errorf("data/figures/readme.svg is not what the code makes; go test ./mixpolicy/paper -run ReadmeFigure -update-figures makes it anew")
	}
}
