// Package atomicfile writes files whole or not at all: whoever reads one sees the old
// contents or the new, never a part, whatever interrupts the writer.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// temporary matches the names of temporary files: .NAME.PROCESS.RANDOM.unfinished.
var temporary = regexp.MustCompile(`^\..+\.([0-9]+)\.[0-9]+\.unfinished$`)

// Write writes the file at path anew. What write writes goes to a temporary file in the same folder, which takes
// the place of path once it is complete and on disk. On an error, which may be that of write, the temporary file is
// removed and path is as it was. A file that is there keeps its permissions, and a new one has those that the umask
// leaves of 0666. A symbolic link stays, and what it leads to is written; one that leads nowhere is an error.
func Write(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if _, dangling := os.Readlink(path); dangling == nil {
		return fmt.Errorf("%s is a symbolic link that leads nowhere: %w", path, err)
	}
	name := fmt.Sprintf(".%s.%d.%d.unfinished", filepath.Base(path), os.Getpid(), rand.Uint64())
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which is gone once it is in place
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		return err
	}
	if was, missing := os.Stat(path); missing == nil {
		err = f.Chmod(was.Mode().Perm())
	}
	if err := errors.Join(err, w.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// WriteBytes is [Write] of contents at hand.
func WriteBytes(path string, contents []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(contents)
		return err
	})
}

// Left reports whether path is a temporary file that its writer, being killed, has left: its name
// has the form that Write gives, and the process named there has ended.
func Left(path string) bool {
	m := temporary.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return false
	}
	id, _ := strconv.Atoi(m[1])
	p, err := os.FindProcess(id)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
