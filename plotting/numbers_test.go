package plotting_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mixpolicy/lab/plotting"
)

// Save writes the data of all layers to CSV, with all digits, and makes the folder.
func TestSaveNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "x.csv")
	grid := plotting.Grid{X: []float64{0, 1}, Y: []float64{2, 3}, Z: [][]float64{{4, 5}, {6, math.Inf(1)}}}
	err := plotting.Save(path, plotting.Row(
		plotting.Figure{Title: "Gap, in all", Layers: []plotting.Layer{
			plotting.Line{Name: `$\hat\theta_t$`, X: []float64{1, 2}, Y: []float64{0.1, 1.0 / 3}, Lo: []float64{0, 0.25}, Hi: []float64{1, 2}},
			plotting.Rule{Label: "optimum", At: 5e-324}, plotting.Span{From: 1, To: 2, Vertical: true},
		}},
		plotting.Figure{Layers: []plotting.Layer{
			plotting.Heatmap{Name: "D", Grid: grid}, plotting.Bars{X: []float64{1}, Height: []float64{7}},
			plotting.Path{X: []float64{0, 1}, Y: []float64{1, 2}}, plotting.Arrow{Label: "here", X: 1, Y: 2, FromX: 3, FromY: 4},
		}}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `panel,title,kind,layer,x,y,lo,hi,z
1,"Gap, in all",line,θ̂ₜ,1,0.1,0,1,
1,"Gap, in all",line,θ̂ₜ,2,0.3333333333333333,0.25,2,
1,"Gap, in all",rule,optimum,,5e-324,,,
1,"Gap, in all",span,,1,,,,
1,"Gap, in all",span,,2,,,,
2,,heatmap,D from 4 to 6,0,2,,,4
2,,heatmap,D from 4 to 6,0,3,,,5
2,,heatmap,D from 4 to 6,1,2,,,6
2,,heatmap,D from 4 to 6,1,3,,,+Inf
2,,bars,,1,7,,,
2,,path,,0,1,,,
2,,path,,1,2,,,
2,,arrow,here,1,2,,,
`
	if string(got) != want {
		t.Errorf("the file holds\n%s\nwant\n%s", got, want)
	}
}
