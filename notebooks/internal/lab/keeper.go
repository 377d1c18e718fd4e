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

// keeping is the environment variable that makes a process a keeper: of this folder.
const keeping = "MIXPOLICY_KEEPER"

// startKeeper starts the keeper of a lab with this folder for temporary files, and gives what releases it: it does its
// work then, which is waited for.
//
// A keeper is a process that outlives the lab, however that ends, and then ends every process
// that the lab started, directly or not, and removes its temporary files. It knows that the lab has
// ended by the end of its standard input, a pipe whose other end only the lab has. It is this
// very program, started anew in a session of its own, so that a signal to the lab's group spares it.
//
// On Linux a signal at a parent's death (PR_SET_PDEATHSIG) would do for the lab's own children, but
// not for theirs, as kernels are: these have sessions of their own.
func startKeeper(temp string) (release func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program)
	cmd.Args = []string{"mixpolicy-keeper", temp} // for those who look at a list of processes
	cmd.Env = append(os.Environ(), keeping+"="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return func() error { pipe.Close(); return cmd.Wait() }, cmd.Start()
}

// Keep is the work of a keeper, if this process was started as one, and does not return then.
// A program that calls [New] calls it first.
func Keep() {
	temp := os.Getenv(keeping)
	if temp == "" {
		return
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	os.WriteFile("/proc/self/comm", []byte("mixpolicy-keep"), 0) // to kill a program by its name spares it
	io.Copy(io.Discard, os.Stdin)
	if err := clear(temp); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// clear ends the processes whose folder for temporary files this is, and removes it. A process that
// was killed takes a moment to go and may just have started another, and one that the lab
// was just starting has its environment a moment later: so it looks until it has found none twice.
func clear(temp string) (err error) {
	for begin, none := time.Now(), 0; none < 2 && time.Since(begin) < patience; time.Sleep(50 * time.Millisecond) {
		none++
		for _, pid := range processes(temp) {
			syscall.Kill(pid, syscall.SIGKILL)
			none = 0
		}
	}
	for range 5 { // they may still have been writing
		if err = os.RemoveAll(temp); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// processes lists those that have this folder for temporary files in their environment: all that a lab
// started, but those that changed it. Where there is no /proc, as on macOS, ps shows the environment.
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

// makeTemp makes a folder for temporary files, which is locked for as long as this process lives, and removes those
// whose processes and keepers have ended without. It isn't in .lab: the language server's socket must have a
// short name.
func makeTemp() (temp string, held *os.File, err error) {
	for _, dir := range named(os.TempDir(), "^mixlab-") {
		f, err := os.Open(dir)
		if err != nil {
			continue // of another user's
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
			continue // another run has just removed it, as it wasn't locked yet
		}
		if err = lockFile(held, temp, syscall.LOCK_EX); err == nil {
			return temp, held, nil
		}
		held.Close()
	}
	return "", nil, err
}

// lockFile locks an open file, which must still be the one with this name then.
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
