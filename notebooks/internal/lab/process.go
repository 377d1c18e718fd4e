package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long a process may take to end after the signal to do so:
// jupyter_client gives a kernel five seconds to shut down before it kills it.
const patience = 8 * time.Second

// command prepares a process that leads a group of its own, which is told to
// end when ctx is done. Its environment is the lab's.
func (l *Lab) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = l.root
	cmd.Env = l.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd
}

// environment is that of every process the lab starts: our programs first on
// the PATH, everything of Jupyter's in .lab, nothing of the user's touched.
func (l *Lab) environment() []string {
	return append(os.Environ(),
		"PATH="+l.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"TMPDIR="+l.temp,
		"JUPYTER_PATH="+l.path("jupyter"),
		"JUPYTER_CONFIG_DIR="+l.path("jupyter", "config"),
		"JUPYTER_DATA_DIR="+l.path("jupyter"),
		"JUPYTER_RUNTIME_DIR="+filepath.Join(l.temp, "runtime"),
		"JUPYTER_PLATFORM_DIRS=1", // silences a warning; every folder is given here anyway
		"IPYTHONDIR="+l.path("ipython"),
		"PYTHONUTF8=1",
		"GOWORK=", // cells make a workspace of their own
	)
}

// printed runs the process and gives what it printed; its error says what went
// wrong in the process's own words.
func printed(cmd *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	endGroup(cmd)
	if err != nil {
		name, _, _ := strings.Cut(strings.Join(cmd.Args[:min(len(cmd.Args), 4)], " "), "\n")
		return "", fmt.Errorf("%s: %w\n%s", name, err, tail(errs.String()+out.String(), 15))
	}
	return out.String(), nil
}

// tail is the last n lines of the text.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// endGroup ends what the process may have left behind in its group.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// endStrays ends the processes that left their group, as kernels do (Jupyter
// starts each in a session of its own): all that have this run's folder for
// temporary files in their environment. One that is killed takes a moment to go,
// and may just have started another, so it looks until there are none. Where there
// is no /proc to find them in, Jupyter's own shutdown has to do.
func (l *Lab) endStrays() {
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(20 * time.Millisecond) {
		strays := l.strays()
		if len(strays) == 0 {
			return
		}
		for _, pid := range strays {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// strays lists the processes that have this run's folder in their environment.
func (l *Lab) strays() (pids []int) {
	mark := []byte("\x00TMPDIR=" + l.temp + "\x00")
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Close ends every process that the lab started and removes its temporary files.
func (l *Lab) Close() error {
	l.endStrays()
	// A process that was just killed may still have been writing.
	var err error
	for range 5 {
		if err = os.RemoveAll(l.temp); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// StopWithGoRun calls stop when the go command that runs us has ended: on a signal to
// terminate, go run ends without passing it on. It does nothing except under go run, and
// where there is no /proc.
func StopWithGoRun(stop func()) {
	parent := os.Getppid()
	program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", parent))
	if filepath.Base(program) != "go" {
		return
	}
	for os.Getppid() == parent {
		time.Sleep(500 * time.Millisecond)
	}
	stop()
}
