package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mixpolicy/lab/data"
)

//go:embed requirements.txt
var requirements string

//go:embed peers.py
var program string

// python is the interpreter of a virtual environment with the peers installed.
type python struct {
	path    string
	version string
}

// peersIn makes the environment in dir, or reuses the environment of an earlier run.
func peersIn(ctx context.Context, dir string) (*python, error) {
	version, err := output(exec.CommandContext(ctx, "python3", "--version"))
	if err != nil {
		return nil, fmt.Errorf("the peers need python3, version 3.11 or later: %w", err)
	}
	py := &python{path: filepath.Join(dir, "bin", "python"), version: strings.TrimPrefix(version, "Python ")}
	// The stamp is written last, so it shows that the environment is complete. It names the folder, because an
	// environment cannot be moved.
	stamp, made := filepath.Join(dir, "made-from"), version+"\n"+dir+"\n"+requirements
	if have, err := os.ReadFile(stamp); err == nil && string(have) == made {
		return py, nil
	}
	fmt.Fprintln(os.Stderr, "installing the peers at pinned versions from PyPI into", dir)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if _, err := output(exec.CommandContext(ctx, "python3", "-m", "venv", dir)); err != nil {
		return nil, fmt.Errorf("%w\n(Debian: apt install python3-venv)", err)
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirements), 0o644); err != nil {
		return nil, err
	}
	if _, err := output(exec.CommandContext(ctx, py.path, "-m", "pip", "install", "--require-hashes",
		"--quiet", "--disable-pip-version-check", "--no-input", "-r", list)); err != nil {
		return nil, err
	}
	return py, os.WriteFile(stamp, []byte(made), 0o644)
}

// output runs a program and returns its standard output. The error contains the program's standard error.
func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// A process is one method of a peer that has read an instance, is compiled and warm, and waits for a call.
type process struct {
	Package string // the package and its version
	Threads int    // the number of threads that the process may use
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	answer  string // the file to which the process writes its answer
}

// reply is a message of a process after its start, and after each call.
type reply struct {
	Package string  `json:"package"`
	Threads int     `json:"threads"`
	Seconds float64 `json:"seconds"` // wall-clock time of a call
	CPU     float64 `json:"cpu"`     // processor time of a call, in seconds
	Error   string  `json:"error"`
}

// setUp is the time that a peer may take to read an instance, to compile and to warm up.
// mdpsolver takes the longest, because it reads 10⁷ probabilities and 10⁷ indices as lists of lists.
const setUp = 2 * time.Minute

// start begins a process of peers.py for the method.
func (py *python) start(ctx context.Context, folder, work, method string) (*process, error) {
	p := &process{answer: filepath.Join(folder, "answer.f64")}
	p.cmd = exec.CommandContext(ctx, py.path, "-c", program, work, method, folder)
	p.cmd.Stderr = io.Discard
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	r, err := p.reply(setUp)
	if err != nil {
		p.end()
		return nil, fmt.Errorf("setting up: %w", err)
	}
	p.Package, p.Threads = r.Package, r.Threads
	return p, nil
}

// call makes the peer do the work once. If this takes longer than limit, the error has the text of [data.Stopped].
func (p *process) call(limit time.Duration) (reply, []float64, error) {
	if _, err := fmt.Fprintln(p.in); err != nil {
		return reply{}, nil, err
	}
	r, err := p.reply(limit)
	if err != nil {
		return r, nil, err
	}
	raw, err := os.ReadFile(p.answer)
	if err != nil {
		return r, nil, err
	}
	answer := make([]float64, len(raw)/8)
	_, err = binary.Decode(raw, binary.LittleEndian, answer)
	return r, answer, err
}

// reply waits for a line. It kills a process that is late, because nothing else stops these solvers.
func (p *process) reply(limit time.Duration) (r reply, err error) {
	late := time.AfterFunc(limit, func() { p.cmd.Process.Kill() })
	said := p.out.Scan()
	if !late.Stop() {
		return r, errors.New(data.Stopped(limit.Seconds()))
	}
	if !said {
		return r, fmt.Errorf("ended: %v", p.cmd.Wait())
	}
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, errors.New(r.Error)
	}
	return r, nil
}

func (p *process) end() {
	p.in.Close()
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// An instance is a problem in the form in which peers read it: arrays and single numbers. Each array is a file of
// consecutive little-endian numbers, name.f64 for a []float64 and name.i32 for a []int32.
type instance struct {
	Arrays  map[string]any
	Numbers map[string]float64
}

// write writes the instance into a folder.
func (x instance) write(folder string) error {
	for name, v := range x.Arrays {
		raw, err := binary.Append(nil, binary.LittleEndian, v)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), raw, 0o644)
		}
		if err != nil {
			return err
		}
	}
	numbers, err := json.Marshal(x.Numbers)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "numbers.json"), numbers, 0o644)
}
