package ipynb

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// testdata/nbformat.ipynb was written by Jupyter's nbformat 5.11 (make.py).
const theirs = "testdata/nbformat.ipynb"

func TestAFileWrittenByJupyterIsTheSameBytesAgain(t *testing.T) {
	nb, err := Read(theirs)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(theirs)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "nb.ipynb")
	if err := nb.Write(file); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, wrote\n%s\nfor\n%s", err, got, want)
	}
}

func TestWhatIsNoNotebookIsRefusedByName(t *testing.T) {
	for content, want := range map[string]string{
		`{"cells": [`: "is not a notebook",
		`{"cells": [], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}`: "has nbformat 3; want 4",
	} {
		file := filepath.Join(t.TempDir(), "bad.ipynb")
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(file)
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("bad.ipynb "+want)) {
			t.Errorf("error %v; want that %q", err, want)
		}
	}
}

// TestRunsThatShowTheSameAreTheSameBytes normalizes two records of one run:
// streams in other pieces and other places, other counts, versions and times.
func TestRunsThatShowTheSameAreTheSameBytes(t *testing.T) {
	figure := func(name string) Output {
		return Output{Type: Display, Data: map[string]json.RawMessage{"text/plain": json.RawMessage(`"` + name + `"`)}}
	}
	out := func(text Text) Output { return Output{Type: Stream, Name: "stdout", Text: text} }
	errs := func(text Text) Output { return Output{Type: Stream, Name: "stderr", Text: text} }
	record := func(version string, count int, outputs ...Output) *Notebook {
		return &Notebook{
			Metadata: map[string]any{"language_info": map[string]any{"name": "go", "version": version}},
			Cells: []Cell{
				{Type: Markdown, Source: "# Title"},
				{Type: Code, Source: "%goflags", Metadata: map[string]any{"tags": []any{"setup"}}, ExecutionCount: &count, Outputs: []Output{out(Text(version))}},
				{Type: Code, Source: "run()", Metadata: map[string]any{"execution": version, "scrolled": true}, ExecutionCount: ptr(count + 2), Outputs: outputs},
			},
		}
	}
	a := record("go1.26.0", 1, out("a\n"), figure("one"), out("b\n"), errs("c"), figure("two"))
	b := record("go1.26.8", 5, errs("c"), figure("one"), figure("two"), out("a\nb\n"))
	a.Normalize()
	b.Normalize()
	if x, y := mustBytes(t, a), mustBytes(t, b); !bytes.Equal(x, y) {
		t.Errorf("they differ:\n%s\nand\n%s", x, y)
	}
	want := []Output{out("a\nb\n"), errs("c"), figure("one"), figure("two")}
	got := a.Cells[2].Outputs
	for i := range want {
		if i >= len(got) || got[i].Type != want[i].Type || got[i].Name != want[i].Name || got[i].Text != want[i].Text || string(got[i].Data["text/plain"]) != string(want[i].Data["text/plain"]) {
			t.Fatalf("outputs are %v; want %v", got, want)
		}
	}
	if n := *a.Cells[2].ExecutionCount; n != 2 {
		t.Errorf("the second code cell has count %d", n)
	}
	if len(a.Cells[1].Outputs) != 0 {
		t.Error("the remarks of the set-up are still there")
	}
	if a.Cells[0].ID == "" || a.Cells[0].ID == a.Cells[1].ID {
		t.Errorf("ids %q and %q", a.Cells[0].ID, a.Cells[1].ID)
	}
}

func mustBytes(t *testing.T, nb *Notebook) []byte {
	t.Helper()
	data, err := nb.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// FuzzRead: what can be read can be written, and is the same when read again.
func FuzzRead(f *testing.F) {
	seed, err := os.ReadFile(theirs)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"cells": [{"cell_type": "code", "outputs": [{"output_type": "stream", "text": "x"}], "source": null}], "nbformat": 4}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := parse(data)
		if err != nil {
			t.Skip()
		}
		nb.Normalize()
		first, err := nb.Bytes()
		if err != nil {
			t.Fatalf("read but can't be written: %v", err)
		}
		again, err := parse(first)
		if err != nil {
			t.Fatalf("written but can't be read: %v\n%s", err, first)
		}
		again.Normalize()
		if second := mustBytes(t, again); !bytes.Equal(first, second) {
			t.Fatalf("first\n%s\nthen\n%s", first, second)
		}
	})
}
