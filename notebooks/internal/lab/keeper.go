package lab

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// keeping names the environment variable that makes a process a keeper. The variable's value is the lab's folder of
// temporary files.
const keeping = "MIXPOLICY_KEEPER"

// startKeeper starts the keeper of the lab whose temporary files are in temp. release lets the keeper do its work, and
// waits until the keeper has ended.
//
// A keeper is a process that outlives the lab, however the lab ends. It then ends every process that the lab started,
// directly or not, and removes the lab's temporary files. Its standard input is a pipe whose other end only the lab
// has; the end of this input tells the keeper that the lab has ended. The keeper is this same program, started again
// in a separate session, so a signal to the lab's group does not reach the keeper.
//
// On Linux, a signal at a parent's death (PR_SET_PDEATHSIG) would end the lab's own children, but not the children of
// these, such as kernels, which run in separate sessions.
func startKeeper(temp string) (release func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Args = []string{"mixpolicy-keeper", temp} // the name that lists of processes show
	cmd.Env = append(os.Environ(), keeping+"="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return func() error { pipe.Close(); return cmd.Wait() }, cmd.Start()
}

// Keep returns at once, unless this process was started as the keeper of a lab. A keeper waits until the lab has ended,
// ends the lab's remaining processes, removes the lab's temporary files, and exits. A program that calls [New] must
// call Keep first.
func Keep() {
	temp := os.Getenv(keeping)
	if temp == "" {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	os.WriteFile("/proc/self/comm", []byte("mixpolicy-keep"), 0) // so that the program can be killed by name without its keeper
	io.Copy(io.Discard, os.Stdin)
	if err := clear(temp); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// clear ends the processes whose folder for temporary files is temp, and removes this folder. A killed process takes a
// moment to end, and may just have started another process. A process that the lab was just starting gets its
// environment only a moment after its start. So clear searches until two searches in a row find no process, for at most
// [patience].
func clear(temp string) (err error) {
	for begin, none := time.Now(), 0; none < 2 && time.Since(begin) < patience; time.Sleep(50 * time.Millisecond) {
		none++
		for _, pid := range processes(temp) {
			syscall.Kill(pid, syscall.SIGKILL)
			none = 0
		}
	}
	for range 5 { // a process may have added a file during the removal
		if err = os.RemoveAll(temp); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// processes lists the processes that have TMPDIR=temp in their environment: all processes that the lab started, except
// processes whose TMPDIR was changed. Without /proc, as on macOS, ps shows the environment.
func processes(temp string) (pids []int) {
	mark := "TMPDIR=" + temp
	if runtime.GOOS != "linux" {
		listed, _ := exec.Command("ps", "-axEww", "-o", "pid=,command=").Output()
		for line := range strings.Lines(string(listed)) {
			fields := strings.Fields(line)
			if pid, err := strconv.Atoi(fields[0]); err == nil && strings.Contains(line+" ", " "+mark+" ") {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// makeTemp makes a folder for temporary files. The folder is locked until held is closed or this process ends. It is
// not in .lab, because the path of the language server's socket must be short. makeTemp also removes the folders that
// earlier processes made and no longer lock.
func makeTemp() (temp string, held *os.File, err error) {
	for _, dir := range named(os.TempDir(), "^mixlab-") {
		f, err := os.Open(dir)
		if err != nil {
			continue // the folder of another user
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			clear(dir)
		}
		f.Close()
	}
	for range 100 {
		if temp, err = os.MkdirTemp("", "mixlab-"); err != nil {
			return "", nil, err
		}
		if held, err = os.Open(temp); err != nil {
			continue // another run has just removed it, because it was not yet locked
		}
		if err = lockFile(held, temp, syscall.LOCK_EX); err == nil {
			return temp, held, nil
		}
		held.Close()
	}
	return "", nil, err
}

// lockFile locks the open file f, and fails unless f is still the file called name.
func lockFile(f *os.File, name string, how int) error {
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(name); err != nil || !os.SameFile(mine, there) {
		return fmt.Errorf("%s was replaced: %w", name, fs.ErrNotExist)
	}
	return nil
}
