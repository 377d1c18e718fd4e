package plotting

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCurvesOverOneAxisAreThinnedTogether(t *testing.T) {
	const n = 5000
	y := Graph("", numbered(n), func(x float64) float64 { return math.Sin(x / 100) })
	z := Graph("", numbered(n), func(x float64) float64 { return math.Cos(x / 37) })
	layers, _, _ := prepared(Figure{}.With(y, z))
	a, b := layers[0].marks[0].(curve), layers[1].marks[0].(curve)
	if len(a.x) > 2*maxPoints || !slices.Equal(a.x, b.x) {
		t.Errorf("%d and %d points, at the same x: %t", len(a.x), len(b.x), slices.Equal(a.x, b.x))
	}
}

// If a figure can show all points of a curve, each point is within a pixel and a half of the drawn curve: it may share
// a column of pixels with higher and lower points, or be half a pixel off a line.
func TestPointsThatCanBeSeenAreDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(maxPoints+1, dense).Draw(t, "n")
		rough := math.Pow(10, rapid.Float64Range(-6, 0).Draw(t, "log₁₀ of the noise"))
		x, y := numbered(n), make([]float64, n)
		for i := range y {
			y[i] = math.Sin(x[i]/300) + rough*r.NormFloat64()
		}
		y[rapid.IntRange(0, n-1).Draw(t, "spike at")] += 0.01
		layer := rapid.SampledFrom([]Layer{Line{X: x, Y: y}, Path{X: x, Y: y}, Path{X: y, Y: x}}).Draw(t, "layer")
		_, line := layer.(Line)
		f := Figure{X: Axis{Log: line && rapid.Bool().Draw(t, "log")}, Layers: []Layer{layer}}
		all := must(f.lower())[0].marks[0].(curve)
		layers, sx, sy := prepared(f)
		drawn := layers[0].marks[0].(curve)
		px, py := project(all.x, sx), project(all.y, sy)
		qx, qy := project(drawn.x, sx), project(drawn.y, sy)
		for i, k := 0, 0; i < n; i++ {
			if k+1 < len(drawn.x) && all.x[i] == drawn.x[k+1] && all.y[i] == drawn.y[k+1] {
				k++
			}
			nearest := math.Inf(1)
			for j := max(0, k-4); j < min(k+5, len(qx)-1); j++ { // the lines near the point
				dx, dy := qx[j+1]-qx[j], qy[j+1]-qy[j]
				s := min(1, max(0, ((px[i]-qx[j])*dx+(py[i]-qy[j])*dy)/(dx*dx+dy*dy)))
				nearest = min(nearest, math.Hypot(px[i]-qx[j]-s*dx, py[i]-qy[j]-s*dy))
			}
			if nearest > 1.5/pixelColumns {
				t.Fatalf("point %d, (%g, %g), is %.2g pixels away from the %d that are drawn of %d", i, all.x[i], all.y[i], nearest*pixelColumns, len(qx), n)
			}
		}
	})
}

// The display of a million points is small, and each column of pixels reaches as high and as low as the points in it.
func TestAMillionPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("draws a million points")
	}
	const n, columns = 1_000_000, pixelColumns
	r := rand.New(rand.NewPCG(1, 2))
	x, noise := numbered(n), make([]float64, n)
	for i := range noise {
		noise[i] = r.NormFloat64()
	}
	f := Figure{Layers: []Layer{Line{X: x, Y: noise, Lo: noise, Hi: noise}}}
	if kB := len(must(f.display()).html) >> 10; kB > 1500 {
		t.Errorf("%d kB", kB)
	}
	layers, sx, sy := prepared(f)
	outline := func(m curve) (high, low [columns]float64) {
		for i := range m.x {
			k := min(columns-1, max(0, int(sx.unit(m.x[i])*columns)))
			high[k], low[k] = max(high[k], sy.unit(m.y[i])), min(low[k], sy.unit(m.y[i]))
		}
		return high, low
	}
	wantHigh, wantLow := outline(must(f.lower())[0].marks[0].(curve))
	gotHigh, gotLow := outline(layers[0].marks[0].(curve))
	for k := range columns {
		from, to := max(0, k-1), min(columns, k+2) // a point half a pixel away may be in the next column
		high, low := slices.Max(gotHigh[from:to]), slices.Min(gotLow[from:to])
		if high < wantHigh[k]-1.0/columns || low > wantLow[k]+1.0/columns {
			t.Fatalf("column %d reaches from %g to %g, want %g to %g", k, low, high, wantLow[k], wantHigh[k])
		}
	}
}

func TestSimplifyLiftsThePenAtNaN(t *testing.T) {
	nan := math.NaN()
	x := []float64{0, 1, 2, nan, 0, 1, 2}
	y := []float64{0, 0, 0, nan, 1, 1, 1}
	if keep := simplify(0.1, x, y); !slices.Equal(keep, []int{0, 2, 3, 4, 6}) {
		t.Errorf("simplify = %v, want the ends of both pieces and the gap", keep)
	}
}
