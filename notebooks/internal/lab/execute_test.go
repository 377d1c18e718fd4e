package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestNotebooksAreChosenByTheBeginningOfTheirNames(t *testing.T) {
	lab := emptyLab(t)
	for _, name := range []string{"00-start", "01-one", "01-two"} {
		noError(t, copyFile(filepath.Join(lab.root, "notebooks", name+".ipynb"), writeNotebook(t, name)))
	}
	for want, names := range map[string][]string{
		"[00-start 01-one 01-two]": nil,
		"[01-one 01-two]":          {"01"},
		"[00-start 01-two]":        {filepath.Join(lab.root, "notebooks", "01-two.ipynb"), "00", "01-t"},
	} {
		files, err := lab.notebooks(names)
		for i, file := range files {
			files[i] = notebookName(file)
		}
		if got := fmt.Sprint(files); err != nil || got != want {
			t.Errorf("%v: %s, %v; want %s", names, got, err, want)
		}
	}
	// A path selects the file at this path, even if the paper has a notebook of that name.
	mine := writeNotebook(t, "01-two")
	if files, err := lab.notebooks([]string{mine}); err != nil || len(files) != 1 || files[0] != mine {
		t.Errorf("%v, %v; want %s", files, err, mine)
	}
	for want, names := range map[string][]string{
		`no notebook's name begins with "07"; the names are 00-start, 01-one, 01-two`: {"07"},
		"01-two.ipynb: no such file": {"./01-two.ipynb"},
		"are in different folders":   {"01", mine},
		"is not a notebook":          {try(filepath.Abs("lab.go")).or(t)},
		"is a directory":             {lab.root},
	} {
		if _, err := lab.notebooks(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v; want an error with %q", names, err, want)
		}
	}
}

// One call executes all broken notebooks. The error of each says which cell failed, and why.
func TestAFailingCellIsToldWithItsLine(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	var files []string
	want := map[string][]string{}
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"compiler": {"import \"fmt\"\n%%\nfmt.Println(1)\nfmt.Println(missing)", []string{"line 4: undefined: missing", "fmt.Println(missing)"}},
		"syntax":   {"%%\nx := (1", []string{"line 2: "}},
		"bare":     {"fmt.Println(1)", []string{"line 1: ", "expected declaration, found fmt", "below a line with %% alone"}},
		"panic":    {"func third(a []int) int {\n\treturn a[2]\n}\n%%\nthird(nil)", []string{"index out of range [2] with length 0", "main.third"}},
		"magic":    {"%nosuchmagic", []string{"%nosuchmagic"}},
		"shell":    {"!false", []string{"exit status 1"}},
	} {
		files, want[name] = append(files, writeNotebook(t, name, code(c.source))), c.want
	}
	_, err := lab.execute(t.Context(), files, options)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != len(files) {
		t.Fatalf("%v; want %d errors", err, len(files))
	}
	for _, err := range joined.Unwrap() {
		name, _, _ := strings.Cut(err.Error(), ",")
		for _, w := range append(want[name], "cell [1] failed") {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("the error lacks %q:\n%v", w, err)
			}
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("there is no error about %v", want)
	}
}

// The timeout is for each cell. On a busy machine, a short timeout may end before the cell prints its line; then the
// test tries a longer timeout.
func TestACellThatTakesTooLongFails(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	file := writeNotebook(t, "slow", code("import (\n\t\"log\"\n\t\"time\"\n)\n%%\nlog.SetFlags(0)\nlog.Print(\"half way\")\ntime.Sleep(time.Hour)"))
	for seconds := 3; ; seconds *= 3 {
		_, err := lab.execute(t.Context(), []string{file}, Options{Jobs: 1, Timeout: time.Duration(seconds)*time.Second - 1})
		if err == nil {
			t.Fatal("a cell of an hour ended")
		}
		late := fmt.Sprintf("failed: still running after %d s", seconds)
		if err.Error() == "slow, cell [1] "+late+"\n  half way" {
			return
		}
		if !strings.HasSuffix(err.Error(), late) || seconds > 60 {
			t.Fatalf("error: %v, want one that says that cell [1] %s and what it had written, and nothing else", err, late)
		}
	}
}

func TestACellThatWasStoppedIsToldWithItsLastWords(t *testing.T) {
	seventh := cell{ExecutionCount: 7, Outputs: []output{
		{Name: "stdout", Text: "step 1\n"},
		{Name: "stderr", Text: "no progress\nat step 2\n"},
	}}
	for want, e := range map[string]*cellError{
		"03, cell [7] failed: the kernel died\n  no progress\n  at step 2": {notebook: "03", cell: seventh, message: "the kernel died", stopped: true},
		"03, cell [7] failed\n  no progress\n  at step 2":                  {notebook: "03", cell: seventh, message: "exit status 2"},
		"03, cell [0] failed: the kernel died":                             {notebook: "03", message: "the kernel died", stopped: true},
		"03, cell [0] failed: no such magic":                               {notebook: "03", message: "no such magic"},
	} {
		if e.Error() != want {
			t.Errorf("%q; want %q", e, want)
		}
	}
}

func TestUpdatedNotebooksAreTheSameBytesAgain(t *testing.T) {
	t.Parallel()
	lab := readyLab(t)
	file := writeNotebook(t, "same", prose("# Same"), code(`import (
	"fmt"
	"os"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
)
%%
gonbui.DisplayHTML("display")
gonbui.Sync()
time.Sleep(time.Second)
for i := range 50 {
	fmt.Println("out", i)
	fmt.Fprintln(os.Stderr, "err", i)
}`))
	var first []byte
	for i := range 2 {
		runs := try(lab.execute(t.Context(), []string{file}, options)).or(t)
		noError(t, lab.publish(t.Context(), runs, true))
		data := try(os.ReadFile(file)).or(t)
		if i == 0 {
			first = data
		} else if !bytes.Equal(data, first) {
			t.Errorf("the second run wrote\n%s\nafter\n%s", data, first)
		}
	}
	for _, folder := range []string{lab.path(), lab.build()} { // plotting.Save looks for this
		if tag, err := os.ReadFile(filepath.Join(folder, "CACHEDIR.TAG")); !bytes.Contains(tag, []byte("go run ./notebooks clean")) {
			t.Errorf("the mark of what clean removes is %q, %v", tag, err)
		}
	}
	nb := try(readNotebook(file)).or(t)
	outputs := nb.Cells[1].Outputs
	if len(outputs) != 3 || outputs[0].Name != "stdout" || outputs[1].Name != "stderr" || outputs[2].in("text/html") != "display" {
		t.Errorf("want what went to stdout, what went to stderr, and the display:\n%s", first)
	}
}

func TestAnInterruptLeavesNoProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks for processes in /proc")
	}
	lab := readyLab(t)
	// One kernel computes, and one waits in a shell; both have child processes.
	files := []string{
		writeNotebook(t, "works", code("%%\nfor {\n}")),
		writeNotebook(t, "waits", code("!sleep 600")),
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil && !strings.Contains(strings.Join(commands(lab.temp), "\n"), "sleep 600") {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second) // the other cell is being compiled
		cancel()
	}()
	_, err := lab.execute(ctx, files, options)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v; want %v", err, context.Canceled)
	}
	temp := lab.temp
	noError(t, lab.Close())
	if left := commands(temp); len(left) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
	}
	if _, err := os.Stat(temp); err == nil {
		t.Errorf("%s is still there", temp)
	}
}

// commands lists the command lines of the processes that use this folder for temporary files.
func commands(temp string) (lines []string) {
	for _, pid := range processes(temp) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		lines = append(lines, strings.ReplaceAll(string(command), "\x00", " "))
	}
	return lines
}
