package linprog

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// reference holds testdata/reference.json, made by HiGHS and Clarabel: see
// testdata/reference.py.
type reference struct {
	Mixtures []struct {
		Seed       uint64
		Rows, Cols int
		Shift      float64
		Norm       string
		R          *float64
		Verdict    verdict
		Objective  float64
	}
	Projections []struct {
		Norm     string
		R        float64
		Y, Theta []float64
	}
}

var normNamed = map[string]Norm{"L2": L2, "LInf": LInf, "L1": L1}

func readReference(t *testing.T) (ref reference) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	return ref
}

func splitmix64(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

func TestSolveAgainstOtherSolvers(t *testing.T) {
	for _, c := range readReference(t).Mixtures {
		uniform := func(k int) float64 { return float64(splitmix64(c.Seed<<32+uint64(k))>>11) * 0x1p-53 }
		p := Mixture{Norm: normNamed[c.Norm], R: math.Inf(1)}
		if c.R != nil {
			p.R = *c.R
		}
		psi := make(Columns, c.Cols)
		for j := range psi {
			psi[j] = make([]float64, c.Rows)
			for i := range psi[j] {
				v := uniform(i*c.Cols+j) - c.Shift
				psi[j][i] = v * v * v
			}
			p.B = append(p.B, 10+4*uniform(c.Rows*c.Cols+j))
		}
		p.Psi = psi
		sol, err := p.Solve(background, Settings{})
		if got := classify(err); got != c.Verdict {
			t.Errorf("%+v: %v", c, got)
			continue
		}
		gap, err := check(p, sol, err)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if c.Verdict != isSolved {
			continue
		}
		// The two solvers agree to 1e-7 only; the gap is the sharper test.
		if math.Abs(sol.Objective-c.Objective) > 1e-7*math.Abs(c.Objective) {
			t.Errorf("%+v: objective %v", c, sol.Objective)
		}
		if gap > 1e-10*math.Abs(sol.Objective) {
			t.Errorf("%+v: gap %v", c, gap)
		}
	}
}
