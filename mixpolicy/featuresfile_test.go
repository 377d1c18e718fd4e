package mixpolicy_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// sameFeatures checks that g is f, base policies and measures included.
func sameFeatures(t *testing.T, g, f *mixpolicy.Features) {
	t.Helper()
	if g.Dim() != f.Dim() || g.IsFactored() != f.IsFactored() || !sameBits(g.Sampling(), f.Sampling()) {
		t.Fatalf("d = %d, factored %v, want %d, %v", g.Dim(), g.IsFactored(), f.Dim(), f.IsFactored())
	}
	for j := range f.Dim() {
		if !sameBits(g.Column(j), f.Column(j)) {
			t.Fatalf("ψ%d differs", j)
		}
		a, b := g.Measure(j), f.Measure(j)
		if (a == nil) != (b == nil) {
			t.Fatalf("measure %d: %v, want %v", j, a != nil, b != nil)
		}
		if a == nil {
			continue
		}
		if !sameBits(a.State, b.State) || a.Residual != b.Residual || a.Error != b.Error || a.Method != b.Method || a.Sweeps != b.Sweeps {
			t.Fatalf("measure %d: %v %v %v %v, want %v %v %v %v", j, a.Residual, a.Error, a.Method, a.Sweeps, b.Residual, b.Error, b.Method, b.Sweeps)
		}
		for s := range f.MDP().States() {
			if !sameBits(g.Policy(j).Row(s), f.Policy(j).Row(s)) {
				t.Fatalf("policy %d differs in state %d", j, s)
			}
		}
	}
}

// Features come back from a binary file with all that they know, stored or in factors.
func TestBinaryFeatures(t *testing.T) {
	x := mixpolicy.Must(models.Garnet{States: 60, Actions: 3, Branches: 4, Ring: true}.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(x, mixedPolicies(x, 5, 1)...))
	columns := mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, f.Column(1), f.Column(4)))
	path := filepath.Join(t.TempDir(), "psi.bin")
	for _, f := range []*mixpolicy.Features{f, f.Factored(), columns} {
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		g, err := mixpolicy.LoadFeatures(x, path)
		if err != nil {
			t.Fatal(err)
		}
		if f.IsFactored() {
			g = g.Factored()
		}
		sameFeatures(t, g, f)
	}
	large := mixpolicy.Must(models.Garnet{States: 40_000, Actions: 3, Branches: 2, Criterion: mixpolicy.Discounted(.5)}.MDP())
	f = mixpolicy.Must(mixpolicy.NewFeaturesContext(t.Context(), large, mixpolicy.MeasureSettings{Method: mixpolicy.PowerIteration}, mixedPolicies(large, 9, 1)...))
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	sameFeatures(t, mixpolicy.Must(mixpolicy.LoadFeatures(large, path)), f)
}

// A file that is not of this MDP, or not whole, is refused.
func TestBinaryFeaturesErrors(t *testing.T) {
	garnet := models.Garnet{States: 20, Actions: 3, Branches: 4, Ring: true}
	x := mixpolicy.Must(garnet.MDP())
	garnet.Seed = 1
	other := mixpolicy.Must(garnet.MDP())
	garnet.States = 21
	larger := mixpolicy.Must(garnet.MDP())
	f := mixpolicy.Must(mixpolicy.NewFeatures(x, mixedPolicies(x, 3, 1)...))
	dir := t.TempDir()
	path := filepath.Join(dir, "psi.bin")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	_, err := mixpolicy.LoadFeatures(other, path)
	wantError(t, err, path+": base policy 0: measure has the flow residual", "not that of this policy in this MDP")
	_, err = mixpolicy.LoadFeatures(larger, path)
	wantError(t, err, path+": is for 20 states and 3 actions, the MDP has 21 and 3")
	_, err = mixpolicy.LoadFeatures(x, filepath.Join(dir, "absent.bin"))
	wantError(t, err, "absent.bin")
	_, err = mixpolicy.LoadFeatures(x, "psi.txt")
	wantError(t, err, "psi.txt: want a name that ends in .bin, .csv or .json")
	wantError(t, f.Save("psi.txt"), "psi.txt: want a name that ends in .bin, .csv or .json")
	good := mixpolicy.Must(os.ReadFile(path))
	for says, text := range map[string][]byte{
		"truncated":            good[:len(good)-9],
		"checksum":             slices.Concat(good[:200], []byte{^good[200]}, good[201:]),
		"another kind of file": []byte("mixpolicy checkpoint 1\n"),
		`version "7"`:          bytes.Replace(good, []byte(" 1\n"), []byte(" 7\n"), 1),
	} {
		write(t, path, text)
		_, err := mixpolicy.LoadFeatures(x, path)
		wantError(t, err, "mixpolicy: "+path+": ", says)
	}
}

// An interrupted measure goes on from where it was, and features take it.
func TestFeaturesFromMeasures(t *testing.T) {
	x := mixpolicy.Must(models.Queue{Buffer: 1600, Criterion: mixpolicy.Discounted(.99)}.MDP())
	policies := mixedPolicies(x, 3, 1)
	want := mixpolicy.Must(mixpolicy.NewFeatures(x, policies...))
	set := mixpolicy.MeasureSettings{Method: mixpolicy.GaussSeidel}
	measures := make([]*mixpolicy.Measure, len(policies))
	for j, p := range policies {
		ctx, stop := context.WithCancel(t.Context())
		first := set
		first.Progress = func(int, float64) { stop() }
		q, err := mixpolicy.Occupation(ctx, x, p, first)
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		second := set
		second.Start = q.State
		if measures[j], err = mixpolicy.Occupation(t.Context(), x, p, second); err != nil {
			t.Fatal(err)
		}
	}
	f := mixpolicy.Must(mixpolicy.FeaturesFromMeasures(x, policies, measures, 1e-12))
	for j := range policies {
		// ‖(I − γP)⁻¹‖ = 100 on either residual of 1e-12.
		if off := close1(f.Column(j), want.Column(j)); off > 2e-10 {
			t.Errorf("ψ%d is off by %v", j, off)
		}
	}
	measures[0], measures[1] = measures[1], measures[0]
	_, err := mixpolicy.FeaturesFromMeasures(x, policies, measures, 1e-12)
	wantError(t, err, "mixpolicy: base policy 0: measure has the flow residual")
	_, err = mixpolicy.FeaturesFromMeasures(x, policies, measures[:2], 1e-12)
	wantError(t, err, "3 base policies and 2 measures")
	_, err = mixpolicy.FeaturesFromMeasures(x, policies[:1], []*mixpolicy.Measure{nil}, 1e-12)
	wantError(t, err, "base policy 0: measure is nil")
	_, err = mixpolicy.FeaturesFromMeasures(x, policies[:1], []*mixpolicy.Measure{{State: []float64{1}}}, 1e-12)
	wantError(t, err, "base policy 0: measure: 1 probabilities, want 1600")
}

// What the parser takes are features that come out again as they went in.
func FuzzBinaryFeatures(f *testing.F) {
	x := mixpolicy.Must(models.Garnet{States: 4, Actions: 2, Branches: 2, Ring: true}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(x, mixedPolicies(x, 3, 1)...))
	for _, psi := range []*mixpolicy.Features{psi, mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, psi.Column(0)))} {
		var b bytes.Buffer
		if err := psi.WriteBinary(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(mixpolicy.Must(mixpolicy.UnsealFeatures(b.Bytes())), true)
		f.Add(b.Bytes(), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, frame bool) {
		text := body
		if frame {
			text = mixpolicy.Seal(mixpolicy.FeaturesMagic, body)
		}
		psi, err := mixpolicy.ParseFeatures(x, text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := psi.WriteBinary(&b); err != nil || !bytes.Equal(b.Bytes(), text) {
			t.Fatalf("%d bytes come back as %d others, %v", len(text), b.Len(), err)
		}
	})
}
