// Package atomicfile writes files whole or not at all. A reader sees all of the old contents or all of the new contents,
// even if the writer is interrupted.
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

// Write replaces the file at path with a new file, whose contents come from the function write. The new file has a
// temporary name in the same folder until it is complete and on disk. If write or another step fails, the new file is
// removed and the old file stays. The new file has the permissions of the old file or, without an old file, 0666 less
// the permissions that the umask removes. If path is a symbolic link, Write replaces the target of the link, or returns
// an error if it cannot find a target.
func Write(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	} else if _, dangling := os.Readlink(path); dangling == nil {
		return fmt.Errorf("%s is a symbolic link whose target was not found: %w", path, err)
	}
	name := fmt.Sprintf(".%s.%d.%d.unfinished", filepath.Base(path), os.Getpid(), rand.Uint64())
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no effect once the file is in place
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

// WriteBytes is [Write] for contents that are already in memory.
func WriteBytes(path string, contents []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(contents)
		return err
	})
}

// Left reports whether path is a temporary file that a killed writer has left behind: the name has the form that Write
// gives to temporary files, and the process whose number is in the name has ended.
func Left(path string) bool {
	m := temporary.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return false
	}
	id, _ := strconv.Atoi(m[1])
	p, err := os.FindProcess(id)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
