package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// patience is the time that a process may take to end after the signal to end. It is longer than the five seconds after
// which jupyter_client kills a kernel that does not shut down.
const patience = 8 * time.Second

// command prepares a process that has the lab's environment and leads a process group of its own. When ctx is done, the
// group receives a signal to end.
func (l *Lab) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = l.root
	cmd.Env = l.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd
}

// environment returns the environment of the processes that [Lab.command] prepares. Our programs come first on the
// PATH. All files of Jupyter are in .lab, except the files of this run and our export templates, so the user's files do
// not change. The keeper recognises the processes by TMPDIR.
func (l *Lab) environment() []string {
	return append(os.Environ(),
		"PATH="+l.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"TMPDIR="+l.temp,
		"JUPYTER_PATH="+filepath.Join(l.temp, "jupyter")+":"+filepath.Join(l.root, "notebooks", "internal", "lab", "jupyter"),
		"JUPYTER_CONFIG_PATH="+filepath.Join(l.temp, "config"),
		"JUPYTER_CONFIG_DIR="+l.path("jupyter", "config"),
		"JUPYTER_DATA_DIR="+l.path("jupyter"),
		"JUPYTER_RUNTIME_DIR="+filepath.Join(l.temp, "runtime"),
		"JUPYTER_PLATFORM_DIRS=1", // silences a warning; every folder is given here anyway
		"IPYTHONDIR="+l.path("ipython"),
		"PYTHONUTF8=1",
		"GOWORK=", // cells make their own workspace
	)
}

// printed runs the process and returns its output. The error contains the last lines that the process wrote.
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

// noNetwork matches the messages of pip, npm and go about a host that they cannot reach.
var noNetwork = regexp.MustCompile(
	`NewConnectionError|NameResolutionError|ConnectTimeoutError|ProxyError|dial tcp|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|ETIMEDOUT`)

// reached returns err or, if err shows that the host could not be reached, an error of one line.
func reached(host string, err error) error {
	if err != nil && noNetwork.MatchString(err.Error()) {
		return fmt.Errorf("%s can't be reached", host)
	}
	return err
}

// tail returns the last n lines of the text.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// endGroup ends processes that may remain in the group of cmd.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// Close ends every process that the lab started, and removes the lab's temporary files. A second call does nothing.
func (l *Lab) Close() error {
	if l.release == nil {
		return nil
	}
	defer func() { l.release = nil; l.held.Close(); l.used.Close() }()
	return l.release()
}

// StopWithGoRun calls stop when the go command that runs this program has ended. This is necessary because a signal to
// terminate ends go run, but go run does not pass the signal on. Without go run or without /proc, StopWithGoRun does
// nothing.
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
