package paper

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// TestUpdateNetwork writes data/network.csv with -update: everything at full size, some
// minutes on two cores.
func TestUpdateNetwork(t *testing.T) {
	if !*update {
		t.Skip("writes data/network.csv with -update")
	}
	var all NetworkRecord
	for _, e := range FullNetworks() {
		e.Progress = func(doing string) { t.Log(doing) }
		rows, err := e.Compute(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	var b bytes.Buffer
	if err := all.Write(&b); err != nil {
		t.Fatal(err)
	}
	replaceFile(t, filepath.Join("..", "..", "data", "network.csv"), b.Bytes())
}

// The pipeline at small buffers, where measures come by elimination: every exact cost
// against simulation, and what must hold between the numbers.
func TestSmallNetwork(t *testing.T) {
	e := SmallNetwork(3)
	e.Queries, e.Trials = 1000, 3
	rows, err := e.Compute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := models.IndependentEvents
	for _, b := range e.Base {
		best := rows.Select(d, b.Name, Optimum, "")[0]
		if gap := best.Hi - best.Lo; gap > 1e-9*best.Value || gap < -1e-9*best.Value {
			t.Errorf("%s: optimum %v, certified %v", b.Name, best.Value, best.Lo)
		}
		for _, name := range b.Members {
			if c := rows.Select(d, "", PolicyCost, name)[0]; c.Value < best.Lo-1e-9 {
				t.Errorf("%s: base policy %s costs %v, less than the optimum %v", b.Name, name, c.Value, best.Lo)
			}
		}
		// Ψθ* is a measure, that of its policy.
		if c := rows.Select(d, b.Name, PolicyCost, "optimum of (2.18)")[0]; math.Abs(c.Value-best.Value) > 1e-9*best.Value {
			t.Errorf("%s: the optimum %v is not its policy's cost %v", b.Name, best.Value, c.Value)
		}
	}
	checkSimulated(t, rows)
}

// checkSimulated compares every simulated cost with the exact one. A 95 % interval is two
// standard errors wide on a side; 2½ times that is five of them.
func checkSimulated(t *testing.T, rows NetworkRecord) {
	t.Helper()
	count := 0
	for _, s := range rows {
		if s.What != SimulatedCost {
			continue
		}
		for _, c := range rows {
			if c.What == PolicyCost && c.Of == s.Of && c.Base == s.Base && c.Dynamics == s.Dynamics {
				count++
				if math.Abs(c.Value-s.Value) > 2.5*(s.Hi-s.Lo)/2 {
					t.Errorf("%s, %s, %s: simulated %v [%v, %v], exact %v", s.Dynamics, s.Base, s.Of, s.Value, s.Lo, s.Hi, c.Value)
				}
			}
		}
	}
	if count == 0 {
		t.Error("no simulated cost")
	}
}

// The record agrees with its own simulations and with data/reference.csv, and holds what
// the full-size measure of LBFS, computed anew, says.
func TestRecordedNetwork(t *testing.T) {
	rows, err := RecordedNetwork()
	if err != nil {
		t.Fatal(err)
	}
	checkSimulated(t, rows)
	for _, e := range FullNetworks() {
		for _, b := range e.Base {
			if len(rows.Select(e.Network.Dynamics, b.Name, Optimum, "")) != 1 {
				t.Errorf("%v: no optimum over %s", e.Network.Dynamics, b.Name)
			}
		}
	}
	if testing.Short() {
		t.Skip("the model of 1,028,196 states takes a few seconds")
	}
	w := models.Network{}
	x, err := w.MDP()
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Policy(x, models.LastBuffer)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mixpolicy.Occupation(t.Context(), x, p, mixpolicy.MeasureSettings{})
	if err != nil {
		t.Fatal(err)
	}
	got, want := m.Cost(x.Costs()), rows.Select(w.Dynamics, "", PolicyCost, "LBFS")[0]
	if tol := 126*m.Error + want.Hi - want.Lo + 1e-10; math.Abs(got-want.Value) > tol {
		t.Errorf("LBFS costs %.12g, recorded %.12g", got, want.Value)
	}
}
