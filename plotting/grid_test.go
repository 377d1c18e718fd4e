package plotting

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// interpolate interpolates g at (x, y) bilinearly.
func interpolate(g Grid, x, y float64) float64 {
	i, j := locate(g.X, x), locate(g.Y, y)
	u, v := (x-g.X[i])/(g.X[i+1]-g.X[i]), (y-g.Y[j])/(g.Y[j+1]-g.Y[j])
	return (1-u)*((1-v)*g.Z[i][j]+v*g.Z[i][j+1]) + u*((1-v)*g.Z[i+1][j]+v*g.Z[i+1][j+1])
}

// At every vertex of a level set, the interpolant equals the level. Each edge of the grid that crosses
// the level gives one vertex. Every piece is closed or ends at the border.
func TestLevelSetsInterpolate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nx, ny := rapid.IntRange(2, 8).Draw(t, "nx"), rapid.IntRange(2, 8).Draw(t, "ny")
		g := Grid{X: numbered(nx), Y: numbered(ny), Z: make([][]float64, nx)}
		for i := range g.Z {
			g.Z[i] = rapid.SliceOfN(rapid.Float64Range(-1, 1), ny, ny).Draw(t, "z")
		}
		level := rapid.Float64Range(-1, 1).Draw(t, "level")
		crossings, found := 0, 0
		crosses := func(a, b float64) {
			if (a >= level) != (b >= level) {
				crossings++
			}
		}
		for i := range nx {
			for j := range ny {
				if i+1 < nx {
					crosses(g.Z[i][j], g.Z[i+1][j])
				}
				if j+1 < ny {
					crosses(g.Z[i][j], g.Z[i][j+1])
				}
			}
		}
		for _, l := range g.levelSet(level) {
			last := len(l.x) - 1
			found += len(l.x)
			for i := range l.x {
				// Interpolation makes three rounding errors, in values up to 2.
				if z := interpolate(g, l.x[i], l.y[i]); math.Abs(z-level) > 1e-13 {
					t.Fatalf("z(%g, %g) = %g on the level set of %g", l.x[i], l.y[i], z, level)
				}
			}
			border := func(i int) bool {
				return l.x[i] == 1 || l.x[i] == float64(nx) || l.y[i] == 1 || l.y[i] == float64(ny)
			}
			if !l.closed && !(border(0) && border(last)) {
				t.Fatalf("a piece ends inside the grid: %v %v", l.x, l.y)
			}
		}
		if found != crossings {
			t.Fatalf("%d vertices for %d edges that cross the level", found, crossings)
		}
	})
}

// Contours reach the end of the domain to within a third of a cell.
func TestLevelSetsReachTheEndOfTheDomain(t *testing.T) {
	inf := math.Inf(1)
	disc := Sample(func(x, y float64) float64 {
		if x*x+y*y > 1 {
			return inf
		}
		return x
	}, -1.2, 1.2, -1.2, 1.2, 61)
	reach := 0.0
	for _, l := range disc.levelSet(0.33) {
		reach = max(reach, slices.Max(l.y))
		for i, x := range l.x {
			if !(math.Abs(x-0.33) < 1e-12) {
				t.Fatalf("(%g, %g) is not where x is 0.33", x, l.y[i])
			}
		}
	}
	if want := math.Sqrt(1 - 0.33*0.33); reach > want || reach < want-0.04/3 {
		t.Errorf("the level set ends at y = %g, want %g", reach, want)
	}
}

// Labels of levels do not cross the frame and do not overlap.
func TestLabelsOfLevelsKeepApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0.1, 10).Draw(t, "a"), rapid.Float64Range(-3, 3).Draw(t, "b")
		g := Sample(func(x, y float64) float64 { return a*x*x + y*y + b*x*y }, -1, 1, -1, 1, 31)
		for _, m := range (Contour{Grid: g}).marks() {
			labels, ok := m.(texts)
			if !ok {
				continue
			}
			for i := range labels.x {
				if math.Abs(labels.x[i]) > 1-0.09 || math.Abs(labels.y[i]) > 1-0.06 {
					t.Fatalf("%q crosses the frame", labels.text[i])
				}
				for j := range i {
					if math.Abs(labels.x[i]-labels.x[j]) < 2*0.09 && math.Abs(labels.y[i]-labels.y[j]) < 2*0.06 {
						t.Fatalf("%q and %q collide", labels.text[i], labels.text[j])
					}
				}
			}
		}
	})
}

// Each pixel has the shade of the nearest grid point, from dark to light, even on a logarithmic axis. A pixel whose value
// is infinite is transparent.
func TestHeatmapShades(t *testing.T) {
	for _, c := range []struct {
		Grid
		x, y scale
	}{
		{Sample(func(x, _ float64) float64 { return x }, 1, 100, 1, 2, 100), scale{1, 100, true}, scale{1, 2, false}},
		{Grid{X: []float64{0, 1, 2, 3}, Y: []float64{5, 6}, Z: [][]float64{{0, 1}, {1, math.Inf(1)}, {0, 0}, {1, 1}}}, scale{-0.5, 3.5, false}, scale{4.5, 6.5, false}},
	} {
		b, img, r := plane{c.Grid}.bounds(), plane{c.Grid}.image(c.x, c.y), c.values()
		if c.Z[0][0] == 0 && (b.x != interval{-0.5, 3.5} || b.y != interval{4.5, 6.5}) {
			t.Errorf("bounds %v", b)
		}
		side := img.Bounds().Dx()
		for k := range side * side {
			px, py := k%side, k/side // rows go downwards
			u, v := c.x.value((float64(px)+0.5)/float64(side)), c.y.value(1-(float64(py)+0.5)/float64(side))
			want := (c.Z[floats.NearestIdx(c.X, u)][floats.NearestIdx(c.Y, v)] - r.lo) / (r.hi - r.lo) * float64(len(shades)-2)
			if math.IsInf(want, 1) {
				want = float64(len(shades) - 1)
			}
			if got := float64(img.ColorIndexAt(px, py)); math.Abs(got-want) > 0.5 {
				t.Fatalf("pixel (%d, %d) has shade %v, want %v", px, py, got, want)
			}
		}
	}
}
