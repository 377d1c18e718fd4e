package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clone is a folder with a copy of data/comparison.csv.
func clone(t *testing.T) (folder, path string, contents []byte) {
	t.Helper()
	folder = t.TempDir()
	path = filepath.Join(folder, "data", "comparison.csv")
	contents, err := os.ReadFile(filepath.Join("..", "..", "..", "data", "comparison.csv"))
	if err == nil {
		err = errors.Join(os.Mkdir(filepath.Dir(path), 0o755), os.WriteFile(path, contents, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder, path, contents
}

// Who is not known is named, and an interruption leaves the record as it was.
func TestComparison(t *testing.T) {
	folder, path, before := clone(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		ctx  context.Context
		args string
		says string
	}{
		{t.Context(), "comparison -p nowhere", `no problem "nowhere"`},
		{t.Context(), "comparison -p queue -m nobody", `no method "nobody" on queue`},
		{t.Context(), "table nothing", "nothing"},
		{ended, "comparison -p queue -m plug-in", context.Canceled.Error()},
		{t.Context(), "network -p nothing", `no part "nothing"`},
		{ended, "scale", context.Canceled.Error()},
	} {
		err := run(c.ctx, append([]string{"--root", folder}, strings.Fields(c.args)...), null)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.args, err, c.says)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the record has changed (%v)", err)
	}
	if err := run(t.Context(), []string{"--root", t.TempDir(), "list"}, null); err == nil || !strings.Contains(err.Error(), "not in a clone") {
		t.Errorf("error %v", err)
	}
}

// Every entrant of every problem is in the list, and every part.
func TestList(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := run(t.Context(), []string{"list"}, out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`comparison -p "grid world" -m "randomised LP"`, `network -p "two rules"`, "table claims", "adversaries", "scale"} {
		if !strings.Contains(string(text), line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

// A search of one space replaces its records and leaves the others; an unknown space is named, and an
// interruption leaves the record as it was.
func TestAdversaries(t *testing.T) {
	folder, _, _ := clone(t)
	before, err := os.ReadFile(filepath.Join("..", "..", "..", "data", "adversaries.csv"))
	path := filepath.Join(folder, "data", "adversaries.csv")
	if err := errors.Join(err, os.WriteFile(path, before, 0o644)); err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	const space = "numbers of iterations"
	search := func(ctx context.Context, space string) (string, error) {
		err := run(ctx, []string{"--root", folder, "adversaries", "--instances", "60", "-s", space}, null)
		after, _ := os.ReadFile(path)
		return string(after), err
	}
	if _, err := search(t.Context(), "nowhere"); err == nil || !strings.Contains(err.Error(), `no space "nowhere"`) {
		t.Errorf("error %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if after, err := search(ended, space); !errors.Is(err, context.Canceled) || after != string(before) {
		t.Errorf("cancelled: error %v, the record has changed: %v", err, after != string(before))
	}
	after, err := search(t.Context(), space)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(string(before), "\n")
	for i, line := range strings.Split(after, "\n") {
		if strings.Contains(line, space) != (line != was[i]) || strings.Contains(line, space) && !strings.Contains(line, ",60,") {
			t.Errorf("line %d was %q, and is %q", i+1, was[i], line)
		}
	}
}
