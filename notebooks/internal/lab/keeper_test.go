package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mixpolicy/lab/internal/atomicfile"
)

func TestANewRunRemovesWhatOneWithoutAKeeperLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := filepath.Join(os.TempDir(), "mixlab-dead")
	noError(t, writeFile(filepath.Join(dead, "runtime", "kernel.json"), nil))
	stray := exec.Command("sleep", "600")
	stray.Env = []string{"TMPDIR=" + dead}
	noError(t, stray.Start())
	ended := make(chan error, 1)
	go func() { ended <- stray.Wait() }()

	alive := emptyLab(t)
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the process of the dead run still runs")
		stray.Process.Kill()
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the folder of the dead run is still there")
	}
	emptyLab(t)
	if _, err := os.Stat(alive.temp); err != nil {
		t.Errorf("the folder of a run that has not ended: %v", err)
	}
}

func TestOneChangesACloneAtATime(t *testing.T) {
	first, second := emptyLab(t), emptyLab(t)
	second.root, second.Output = first.root, first.Output
	unlock := try(first.lock(t.Context())).or(t)

	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := second.lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v; want %v", err, ctx.Err())
	}
	if want := fmt.Sprintf("(process %d), which is changing", os.Getpid()); strings.Count(second.told(), want) != 1 {
		t.Errorf("said %q; want %q once", second.told(), want)
	}
	unlock()

	// Clean waits while another run uses the set-up. Then it removes .lab with the lock, and the next run makes a new lock.
	noError(t, writeFile(first.path("stamps", "kernel"), nil))
	t.Setenv("PATH", t.TempDir())
	if second.setUp(t.Context()) == nil {
		t.Error("set up without any program")
	}
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := first.Clean(soon)
	if _, gone := os.Stat(first.path("stamps", "kernel")); gone != nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(first.told(), "waiting") {
		t.Errorf("clean while another run uses the set-up: %v, %v; it said %q", err, gone, first.told())
	}
	noError(t, second.Close())
	noError(t, first.Clean(t.Context()))
	if _, err := os.Stat(first.path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("clean leaves .lab: %v", err)
	}
	try(second.lock(t.Context())).or(t)()
}

func TestPartsOfFilesAreRemoved(t *testing.T) {
	lab := emptyLab(t)
	mine := filepath.Join(t.TempDir(), "mine")
	ended := exec.Command("true")
	noError(t, ended.Run())
	part := fmt.Sprintf(".wave.pdf.%d.1.unfinished", ended.Process.Pid)
	parts := []string{
		lab.path(part), lab.path("stamps", part), lab.path("site", "trimmed", "cmd", part), lab.build(part), lab.build("figures", part),
		filepath.Join(lab.folder, part), filepath.Join(lab.root, copies, part), filepath.Join(lab.root, given, part), filepath.Join(mine, part),
	}
	others := []string{
		filepath.Join(lab.folder, fmt.Sprintf(".wave.pdf.%d.1.unfinished", os.Getpid())), // this process is writing it
		filepath.Join(lab.folder, ".wave.pdf-1"), filepath.Join(lab.root, part), filepath.Join(mine, "theirs", part), filepath.Join(mine, "go.mod"),
	}
	noError(t, writeFile(filepath.Join(lab.root, "go.mod"), nil))
	for _, file := range append(parts, others[:4]...) {
		noError(t, writeFile(file, nil))
	}
	noError(t, lab.removeParts())
	t.Setenv("PATH", t.TempDir()) // without programs, the set-up fails
	if err := lab.NewProject(t.Context(), mine); err == nil {
		t.Error("a project was set up without any program")
	}
	for i, file := range append(parts, others...) {
		if _, err := os.Stat(file); (err == nil) != (i >= len(parts)) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// command builds the command, as go run does.
func command(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "notebooks")
	try(printed(exec.Command("go", "build", "-o", program, "../.."))).or(t)
	return program
}

var kills = flag.Int("kills", 1, "how often TestKilledAtAnyMoment kills a run; a set-up is killed a quarter as often, so by default never")

// TestKilledAtAnyMoment kills the command at random moments with SIGKILL. Within ten seconds, all processes that the
// command started end. No earlier file is lost, and no file is incomplete, except files that the next run removes. The
// next run works, even after several kills in a row.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks for processes in /proc")
	}
	lab := readyLab(t)
	program := command(t)
	random := func(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d))) } // differs between runs of the test

	t.Run("run", func(t *testing.T) {
		file := writeNotebook(t, "killed", prose("# Killed"), code(figureCell))
		project := filepath.Dir(file)
		v := &victim{T: t, dir: lab.root, temp: t.TempDir(), command: []string{program, "run", "--update", file}}
		was := string(try(os.ReadFile(file)).or(t))
		took := v.complete()
		now, made := string(try(os.ReadFile(file)).or(t)), fmt.Sprint(whole(t, project))
		for i := range *kills {
			noError(t, os.WriteFile(file, []byte(was), 0o644))
			if i%2 == 0 {
				noError(t, os.RemoveAll(filepath.Join(project, "build")))
			}
			v.kill(random(took), i%3 == 0)
			whole(t, project)
			if is := string(try(os.ReadFile(file)).or(t)); is != was && is != now {
				t.Errorf("the notebook is neither what it was nor what it is to be:\n%s", is)
			}
			if i%5 != 0 && i != *kills-1 {
				continue // the next run is killed too
			}
			took = v.complete()
			if is := fmt.Sprint(whole(t, project)); is != made || string(try(os.ReadFile(file)).or(t)) != now {
				t.Errorf("the next run made %s; want %s, and the same notebook", is, made)
			}
		}
	})

	// This kills the set-up of a separate clone.
	t.Run("set-up", func(t *testing.T) {
		if *kills < 4 {
			t.Skip("takes long")
		}
		root := t.TempDir()
		for _, dir := range []string{"data", "internal", "mixpolicy", "plotting", "notebooks/internal"} {
			noError(t, os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(lab.root, dir))))
		}
		for _, name := range []string{"go.mod", "go.sum"} {
			noError(t, copyFile(filepath.Join(root, name), filepath.Join(lab.root, name)))
		}
		file := filepath.Join(root, "notebooks", "00-killed.ipynb")
		noError(t, copyFile(file, writeNotebook(t, "killed", prose("# Killed"), code(figureCell))))
		v := &victim{T: t, dir: root, temp: t.TempDir(), command: []string{program}}
		took := 30 * time.Second // a guess, until the first complete run
		n := *kills / 4
		for i := range n {
			if i%2 == 0 {
				noError(t, os.RemoveAll(filepath.Join(root, ".lab")))
			}
			v.kill(random(took), i%3 == 0)
			if i%5 == 0 || i == n-1 {
				took = v.complete()
			}
			whole(t, filepath.Join(root, "build"))
		}
	})
}

const figureCell = `import "github.com/mixpolicy/lab/plotting"

%%
plotting.Show(plotting.Figure{Title: "Rising", Layers: []plotting.Layer{plotting.Line{X: []float64{0, 1}, Y: []float64{0, 1}}}})`

// A victim is a command that a test kills again and again.
type victim struct {
	*testing.T
	dir     string        // the folder in which the command runs
	temp    string        // the folder for the command's temporary files
	command []string      // the program and its arguments
	slowest time.Duration // the longest time until all processes and temporary files were gone
}

// start starts the command in a process group of its own.
func (v *victim) start() (cmd *exec.Cmd, said *bytes.Buffer) {
	said = new(bytes.Buffer)
	cmd = exec.Command(v.command[0], v.command[1:]...)
	cmd.Dir = v.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+v.temp, v.mark())
	cmd.Stdout, cmd.Stderr = said, said
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	noError(v, cmd.Start())
	return cmd, said
}

// mark is in the environment of the command and of every process that it starts, directly or not.
func (v *victim) mark() string { return "MIXPOLICY_VICTIM=" + v.temp }

// complete runs the command to its end, and returns how long that took.
func (v *victim) complete() time.Duration {
	v.Helper()
	begin := time.Now()
	cmd, said := v.start()
	if err := cmd.Wait(); err != nil {
		v.Fatalf("%v\n%s", err, said)
	}
	v.gone("after a run")
	return time.Since(begin)
}

// kill starts the command and kills it after the given time, alone or with its process group.
func (v *victim) kill(after time.Duration, group bool) {
	v.Helper()
	cmd, said := v.start()
	time.Sleep(after)
	pid := cmd.Process.Pid
	if group {
		pid = -pid
	}
	syscall.Kill(pid, syscall.SIGKILL)
	cmd.Wait()
	v.gone(fmt.Sprintf("killed after %v, having said\n%s", after, said))
	v.Logf("killed after %v: all gone %v later at most", after.Round(time.Millisecond), v.slowest.Round(time.Millisecond))
}

// gone checks that within ten seconds, all processes and temporary files of the command are gone.
func (v *victim) gone(when string) {
	v.Helper()
	begin := time.Now()
	for {
		var alive []string
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			if environ, err := os.ReadFile(file); err == nil && bytes.Contains(environ, []byte(v.mark()+"\x00")) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
				alive = append(alive, strings.ReplaceAll(string(command), "\x00", " "))
			}
		}
		left, _ := filepath.Glob(filepath.Join(v.temp, "*"))
		if len(alive)+len(left) == 0 {
			v.slowest = max(v.slowest, time.Since(begin))
			return
		}
		if time.Since(begin) > 10*time.Second {
			v.Fatalf("%s\nstill there ten seconds later:\n%s\n%s", when, strings.Join(alive, "\n"), strings.Join(left, "\n"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// whole checks that every file in the folder ends as a complete file does, and returns the names of the files.
func whole(t *testing.T, folder string) (names []string) {
	t.Helper()
	noError(t, filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		names = append(names, strings.TrimPrefix(file, folder))
		if atomicfile.Left(file) {
			return nil // the file is incomplete, and the next run removes it
		}
		end := map[string]string{".html": "</html>\n", ".svg": "</svg>", ".png": "IEND\xaeB`\x82", ".ipynb": "}"}[filepath.Ext(file)]
		if !bytes.HasSuffix(bytes.TrimSpace(data), []byte(strings.TrimSpace(end))) || filepath.Ext(file) == ".ipynb" && !json.Valid(data) {
			t.Errorf("%s is incomplete: it has %d bytes", file, len(data))
		}
		return nil
	}))
	return names
}
