package mixpolicy_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mixpolicy/lab/mixpolicy"
	"github.com/mixpolicy/lab/mixpolicy/bregman"
	"github.com/mixpolicy/lab/mixpolicy/models"
)

// interrupted is a recorder that ends the run when it sees an iteration.
type interrupted struct {
	mixpolicy.History
	at   int
	stop context.CancelFunc
}

func (h *interrupted) Record(p *mixpolicy.Problem, s *mixpolicy.Snapshot) error {
	if s.Iteration >= h.at {
		h.stop()
	}
	return h.History.Record(p, s)
}

// sameRun checks that two runs have the same result and the same records.
func sameRun(t failer, got, want *mixpolicy.Result, h, wantH *mixpolicy.History) {
	t.Helper()
	if got.Status != want.Status || got.Iterations != want.Iterations || got.Certificate != want.Certificate ||
		!slices.Equal(got.Theta, want.Theta) || !slices.Equal(got.Last, want.Last) || !slices.Equal(got.Lambda, want.Lambda) {
		t.Fatalf("%v after %d iterations, θ̂ = %v:\n%v\nwant %v after %d, θ̂ = %v:\n%v", got.Status, got.Iterations, got.Theta, &got.Certificate,
			want.Status, want.Iterations, want.Theta, &want.Certificate)
	}
	a, _ := h.MarshalBinary()
	b, _ := wantH.MarshalBinary()
	if !bytes.Equal(a, b) {
		t.Fatalf("recorded %v, want %v", h.Iteration, wantH.Iteration)
	}
}

// resumables are the methods whose states have different parts: λ dense and lazy, in
// and out of its ball, with two features and more.
func resumables() map[string]func() mixpolicy.Method {
	return map[string]func() mixpolicy.Method{
		"dense": func() mixpolicy.Method {
			return &mixpolicy.PrimalDual{Multipliers: mixpolicy.DenseMultipliers, Beta: 3}
		},
		"rows scaled": func() mixpolicy.Method { return &mixpolicy.PrimalDual{RowScaling: true} },
		"printed": func() mixpolicy.Method {
			return &mixpolicy.PrimalDual{Modulus: bregman.Cube(2), CostScale: 1e8, Form: mixpolicy.Printed, StepSize: mixpolicy.Constant(1e-6)}
		},
		"lazy":       func() mixpolicy.Method { return &mixpolicy.PrimalDual{Multipliers: mixpolicy.LazyMultipliers} },
		"lazy, ball": func() mixpolicy.Method { return &mixpolicy.PrimalDual{Multipliers: mixpolicy.LazyMultipliers, Beta: 2} },
		"penalty":    func() mixpolicy.Method { return &mixpolicy.Penalty{Weight: 2} },
		"plug-in":    func() mixpolicy.Method { return &mixpolicy.PlugIn{} },
	}
}

// A run that is interrupted, and goes on, and is interrupted again, gives what one
// without interruptions gives, to the bit.
func TestResume(t *testing.T) {
	for _, d := range []int{2, 4} {
		p := small(t, d, mixpolicy.Ball(2), mixpolicy.AverageCost)
		for name, method := range resumables() {
			var wantH mixpolicy.History
			want, err := mixpolicy.Solve(t.Context(), p, method(), mixpolicy.Settings{Iterations: 6000, Seed: 3, Stream: 4, Recorder: &wantH})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			path := filepath.Join(t.TempDir(), "run")
			for _, at := range []int{1, 1000, 2500, 2600, 5999} {
				ctx, stop := context.WithCancel(t.Context())
				h := &interrupted{at: at, stop: stop}
				r, err := mixpolicy.Solve(ctx, p, method(), mixpolicy.Settings{Iterations: 6000, Seed: 3, Stream: 4, Recorder: h, Checkpoint: path})
				if at < 5000 && (err == nil || r.Status != mixpolicy.Interrupted || r.Iterations < at) {
					t.Fatalf("%s, d = %d: not interrupted at %d: %v, %+v", name, d, at, err, r)
				}
			}
			var h mixpolicy.History
			set := mixpolicy.Settings{Iterations: 6000, Seed: 3, Stream: 4, Recorder: &h, Checkpoint: path}
			r, err := mixpolicy.Solve(t.Context(), p, method(), set)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameRun(t, r, want, &h, &wantH)
			// What is finished is read, and not done again; it may be made longer.
			h = mixpolicy.History{}
			r, err = mixpolicy.Solve(t.Context(), p, method(), set)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameRun(t, r, want, &h, &wantH)
			set.Iterations, set.Checkpoint = 7000, ""
			wantH = mixpolicy.History{}
			set.Recorder = &wantH
			want = mixpolicy.Must(mixpolicy.Solve(t.Context(), p, method(), set))
			h = mixpolicy.History{}
			set.Recorder, set.Checkpoint = &h, path
			r, err = mixpolicy.Solve(t.Context(), p, method(), set)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameRun(t, r, want, &h, &wantH)
		}
	}
}

// Wherever a run ends by its number of iterations, a longer one goes on from there.
func TestResumeAnywhere(t *testing.T) {
	p := small(t, 3, mixpolicy.Ball(2), mixpolicy.Discounted(.9))
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		first, second := rapid.IntRange(1, 400).Draw(t, "first"), rapid.IntRange(0, 400).Draw(t, "more")
		schedule := mixpolicy.Every(rapid.IntRange(1, 50).Draw(t, "every"))
		path := filepath.Join(dir, "run")
		defer os.Remove(path)
		run := func(iterations int, path string) (*mixpolicy.Result, *mixpolicy.History) {
			h := new(mixpolicy.History)
			r, err := mixpolicy.Solve(context.Background(), p, &mixpolicy.PrimalDual{Beta: 12, Multipliers: mixpolicy.LazyMultipliers},
				mixpolicy.Settings{Iterations: iterations, Recorder: h, Schedule: schedule, Checkpoint: path})
			if err != nil {
				t.Fatal(err)
			}
			return r, h
		}
		run(first, path)
		r, h := run(first+second, path)
		want, wantH := run(first+second, "")
		sameRun(t, r, want, h, wantH)
	})
}

// A file that isn't of this run is refused, with what is wrong, and left alone.
func TestResumeRefuses(t *testing.T) {
	p := small(t, 2, mixpolicy.Ball(2), mixpolicy.AverageCost)
	path := filepath.Join(t.TempDir(), "run")
	type run struct {
		p   *mixpolicy.Problem
		m   mixpolicy.Method
		set mixpolicy.Settings
	}
	base := func() run {
		return run{p, &mixpolicy.PrimalDual{}, mixpolicy.Settings{Iterations: 100, Recorder: &mixpolicy.History{}, Checkpoint: path}}
	}
	solve := func(r run) error {
		_, err := mixpolicy.Solve(t.Context(), r.p, r.m, r.set)
		return err
	}
	if err := solve(base()); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(r *run)
		want   string
	}{
		{func(r *run) { r.p = small(t, 3, mixpolicy.Ball(2), mixpolicy.AverageCost) }, "d = 3"},
		{func(r *run) { r.p = small(t, 2, mixpolicy.Ball(3), mixpolicy.AverageCost) }, "≤ 3"},
		{func(r *run) {
			x := p.MDP()
			cost := slices.Clone(x.Costs())
			cost[len(cost)-1]++
			x = mixpolicy.Must(x.WithCosts(cost))
			r.p = mixpolicy.Must(mixpolicy.NewProblem(mixpolicy.Must(mixpolicy.FeaturesFromColumns(x, p.Features().Column(0), p.Features().Column(1))), p.Class()))
		}, "other costs or features"},
		{func(r *run) { r.m = &mixpolicy.Penalty{} }, "method"},
		{func(r *run) { r.m = &mixpolicy.PrimalDual{Beta: 7} }, "G = 7"},
		{func(r *run) { r.m = &mixpolicy.PrimalDual{Start: []float64{.4, .6}} }, "first 16 iterations"},
		{func(r *run) {
			r.m = &mixpolicy.PrimalDual{StepSize: func(t int) float64 { return mixpolicy.InverseSqrt(1)(min(t, 9)) }}
		}, "first 16 iterations"},
		{func(r *run) { r.set.Seed = 1 }, "seed 0"},
		{func(r *run) { r.set.Stream = 1 }, "stream 0"},
		{func(r *run) { r.set.Iterations = 99 }, "iteration 100"},
		{func(r *run) { r.set.Recorder = nil }, "Settings.Recorder"},
		{func(r *run) { r.set.Recorder = recorder(nil) }, "can't be saved"},
		{func(r *run) { r.m = struct{ mixpolicy.Method }{r.m} }, "can't be saved"},
		{func(*run) { write(t, path, good[:len(good)-1]) }, "truncated"},
		{func(*run) { write(t, path, good[:5]) }, "truncated to 5 bytes"},
		{func(*run) { write(t, path, nil) }, "truncated to 0 bytes"},
		{func(*run) { write(t, path, good[:25]) }, "truncated to 25 bytes"},
		{func(*run) { write(t, path, append(slices.Clone(good), 0)) }, "1 bytes too many"},
		{func(*run) { b := slices.Clone(good); b[len(b)/2] ^= 1; write(t, path, b) }, "checksum"},
		{func(*run) { write(t, path, []byte("s,a,s',p,c\n")) }, "another kind of file"},
		{func(*run) { write(t, path, bytes.Replace(good, []byte(" 1\n"), []byte(" 2\n"), 1)) }, `version "2", want "1"`},
		{func(*run) { os.Remove(path); os.Mkdir(path, 0o755) }, "run"},
	} {
		write(t, path, good)
		r := base()
		c.change(&r)
		before, _ := os.ReadFile(path)
		wantError(t, solve(r), "mixpolicy: ", c.want)
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: the file was touched", c.want)
		}
	}
	r := base()
	r.set.Checkpoint = filepath.Join(path, "missing", "run")
	if err := solve(r); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a folder that is missing: %v", err)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// What the parser of checkpoints makes of any bytes is an error, or a state that comes
// out again as it went in. Their frame is put right first, or else the checksum would
// refuse nearly all.
func FuzzCheckpoint(f *testing.F) {
	p := small(f, 3, mixpolicy.Ball(2), mixpolicy.AverageCost)
	dir := f.TempDir()
	for name, method := range resumables() {
		path := filepath.Join(dir, "run")
		os.Remove(path)
		mixpolicy.Must(mixpolicy.Solve(f.Context(), p, method(), mixpolicy.Settings{Iterations: 100, Recorder: &mixpolicy.History{}, Checkpoint: path}))
		text := mixpolicy.Must(os.ReadFile(path))
		f.Add(name, mixpolicy.Must(mixpolicy.Unseal(text)), true)
		f.Add(name, text, false)
	}
	f.Fuzz(func(t *testing.T, name string, body []byte, frame bool) {
		method := resumables()[name]
		if method == nil {
			return
		}
		text := body
		if frame {
			text = mixpolicy.Seal(mixpolicy.CheckpointMagic, body)
		}
		again, err := mixpolicy.ParseCheckpoint(p, method(), mixpolicy.Settings{Iterations: 100, Recorder: &mixpolicy.History{}}, text)
		if err == nil && !bytes.Equal(again, text) {
			t.Fatalf("%d bytes come back as %d others", len(text), len(again))
		}
	})
}

// A body that ends early anywhere, or has something more, is refused; another number
// somewhere does no harm.
func TestCheckpointCut(t *testing.T) {
	for _, d := range []int{2, 3} {
		p := small(t, d, mixpolicy.Ball(2), mixpolicy.AverageCost)
		for name, method := range resumables() {
			path := filepath.Join(t.TempDir(), "run")
			set := mixpolicy.Settings{Iterations: 40, Recorder: &mixpolicy.History{}, Schedule: mixpolicy.Every(20), Checkpoint: path}
			mixpolicy.Must(mixpolicy.Solve(t.Context(), p, method(), set))
			body := mixpolicy.Must(mixpolicy.Unseal(mixpolicy.Must(os.ReadFile(path))))
			parse := func(body []byte) error {
				set.Recorder = &mixpolicy.History{}
				_, err := mixpolicy.ParseCheckpoint(p, method(), set, mixpolicy.Seal(mixpolicy.CheckpointMagic, body))
				return err
			}
			if err := parse(body); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for k := 0; k < len(body); k += 11 {
				if parse(body[:k]) == nil {
					t.Fatalf("%s: %d of %d bytes are enough", name, k, len(body))
				}
			}
			if parse(append(slices.Clone(body), 0)) == nil {
				t.Fatalf("%s: a byte too many is taken", name)
			}
			for k := 0; k+8 <= len(body); k += 8 {
				other := slices.Clone(body)
				other[k] ^= 1
				parse(other) // does not panic
			}
		}
	}
}

// A run that is stopped goes on where it was when it is begun again.
func ExampleSettings() {
	x := mixpolicy.Must(models.Queue{}.MDP())
	psi := mixpolicy.Must(mixpolicy.NewFeatures(x, mixpolicy.Must(models.Queue{}.Policies(x))...))
	p := mixpolicy.Must(mixpolicy.NewProblem(psi, mixpolicy.Ball(2)))
	dir := mixpolicy.Must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)

	ctx, stop := context.WithCancel(context.Background())
	set := mixpolicy.Settings{Iterations: 100_000, Checkpoint: filepath.Join(dir, "run")}
	set.Progress = func(done, _ int) {
		if done > 50_000 {
			stop() // as Ctrl-C would
		}
	}
	first, err := mixpolicy.Solve(ctx, p, &mixpolicy.PrimalDual{CostScale: cMax}, set)
	fmt.Println(first.Status, first.Iterations, err)

	set.Progress = nil
	second, err := mixpolicy.Solve(context.Background(), p, &mixpolicy.PrimalDual{CostScale: cMax}, set)
	fmt.Println(second.Status, second.Iterations, err)
	// Output:
	// interrupted 51200 mixpolicy: stopped after 51200 of 100000 iterations: context canceled
	// completed 100000 <nil>
}
