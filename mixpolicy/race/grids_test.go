package race_test

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/race"
)

// Successive grids find a minimum outside the first grid, to within the resolution of the last grid. A fixed axis keeps
// its values, and Ends names the axes on which the best setting has the least or the greatest tried value.
func TestGridsFollowTheBest(t *testing.T) {
	e := race.Entrant{Make: func(at []float64) mixpolicy.Method { return fixed(at[0], at[1]) }}
	grid := e.OnGrid(race.Axis{Name: "η₀", Values: race.Powers(1, 4, 4)}, race.Axis{Name: "p", Values: []float64{0, 1}, Fixed: true})
	const optimum = 3000
	var tried [][]float64
	var best []float64
	for range 9 {
		for k := range grid.Methods {
			tried = append(tried, grid.Numbers(k))
		}
		k, _ := race.Halve(len(grid.Methods), 1, func(setting, _ int) float64 {
			at := grid.Numbers(setting)
			return math.Abs(math.Log(at[0]/optimum)) + at[1]
		})
		best = grid.Numbers(k)
		if len(tried) == 8 && !slices.Equal(race.Ends(grid.Axes, tried, best), []string{"η₀"}) {
			t.Errorf("%v is at an end of the first grid, and Ends does not name η₀", best)
		}
		grid = grid.Around(best)
		if !slices.Equal(grid.Axes[1].Values, []float64{0, 1}) {
			t.Errorf("fixed axis became %v", grid.Axes[1].Values)
		}
	}
	if math.Abs(math.Log(best[0]/optimum)) > math.Log(2)/2 || best[1] != 0 || race.Ends(grid.Axes, tried, best) != nil {
		t.Errorf("best %v, at an end of %v; want η₀ near %v, and no end", best, race.Ends(grid.Axes, tried, best), optimum)
	}
}

// Halving ranks the settings by their scores in all trials so far, ranks NaN last, and finds the best setting. Each
// round after the first has the same number of new trials.
func TestHalve(t *testing.T) {
	var asked atomic.Int64
	best, median := race.Halve(16, 8, func(setting, trial int) float64 {
		asked.Add(1)
		if setting == 3 {
			return math.NaN()
		}
		return math.Abs(float64(setting)-5) + float64(trial%2)/4
	})
	// One trial of each of the 16 settings, then 1 more of each of 8, 2 more of each of 4, and 4 more of each of 2.
	if best != 5 || median != 0 || asked.Load() != 16+8+8+8 {
		t.Errorf("setting %d, median %v, %d trials", best, median, asked.Load())
	}
	if _, median := race.Halve(4, 2, func(int, int) float64 { return math.NaN() }); !math.IsInf(median, 1) {
		t.Errorf("median %v of nothing but NaN, want +Inf", median)
	}
}
