package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mixpolicy/lab/mixpolicy"
)

// clone makes a folder with copies of two records.
func clone(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := os.Mkdir(filepath.Join(folder, "data"), 0o755)
	for _, name := range []string{"comparison.csv", "adversaries.csv"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, "data", name), []byte(contents(t, "../../..", name)), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func contents(t *testing.T, folder, name string) string {
	t.Helper()
	return string(mixpolicy.Must(os.ReadFile(filepath.Join(folder, "data", name))))
}

// says runs the command, and returns its output.
func says(t *testing.T, ctx context.Context, args ...string) (string, error) {
	t.Helper()
	out := mixpolicy.Must(os.Create(filepath.Join(t.TempDir(), "out")))
	defer out.Close()
	err := run(ctx, args, out)
	text, _ := os.ReadFile(out.Name())
	return string(text), err
}

// Errors quote the unknown name, and neither errors nor interruptions change the records.
func TestComparison(t *testing.T) {
	folder := clone(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx        context.Context
		args, says string
	}{
		{t.Context(), "comparison -p nowhere", `no problem "nowhere"`},
		{t.Context(), "comparison -p queue -m nobody", `no method "nobody" on queue`},
		{t.Context(), "table nothing", "nothing"},
		{ended, "comparison -p queue -m plug-in", context.Canceled.Error()},
		{t.Context(), "network -p nothing", `no part "nothing"`},
		{ended, "scale", context.Canceled.Error()},
		{t.Context(), "adversaries -s nowhere", `no space "nowhere"`},
		{ended, "adversaries --instances 60", context.Canceled.Error()},
		{t.Context(), "list --root " + t.TempDir(), "not in a clone"},
	} {
		_, err := says(t, c.ctx, append([]string{"--root", folder}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.args, err, c.says)
		}
	}
	for _, name := range []string{"comparison.csv", "adversaries.csv"} {
		if contents(t, folder, name) != contents(t, "../../..", name) {
			t.Errorf("%s has changed", name)
		}
	}
}

// The list contains commands of every kind.
func TestList(t *testing.T) {
	text, err := says(t, t.Context(), "list")
	for _, line := range []string{`comparison -p "grid world" -m "randomised LP"`, `network -p "two rules"`, "table claims", "adversaries", "scale"} {
		if err != nil || !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s\n%v", line, text, err)
		}
	}
}

// A search of one space replaces the records of this space, and leaves all other records.
func TestAdversaries(t *testing.T) {
	folder := clone(t)
	const space = "numbers of iterations"
	was := strings.Split(contents(t, folder, "adversaries.csv"), "\n")
	mixpolicy.Must(says(t, t.Context(), "--root", folder, "adversaries", "--instances", "60", "-s", space))
	for i, line := range strings.Split(contents(t, folder, "adversaries.csv"), "\n") {
		if strings.Contains(line, space) != (line != was[i]) || strings.Contains(line, space) && !strings.Contains(line, ",60,") {
			t.Errorf("line %d was %q, and is %q", i+1, was[i], line)
		}
	}
}
