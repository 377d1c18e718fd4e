package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file has all of its new contents, or its old ones, and nothing else is left in its folder.
func TestWholeOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.txt")
	see := func(want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		all, err := os.ReadDir(folder)
		if err != nil || len(all) != 1 {
			t.Errorf("the folder holds %v, %v; want the file alone", all, err)
		}
	}
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	see("old")

	tired := errors.New("tired")
	large := make([]byte, 3<<20) // more than any buffer: a part is on disk when the writer gives up
	err := Write(path, func(w io.Writer) error {
		_, err := w.Write(large)
		return errors.Join(err, tired)
	})
	if !errors.Is(err, tired) {
		t.Errorf("%v, want the writer's own error", err)
	}
	see("old")

	during := func(w io.Writer) error {
		got, err := os.ReadFile(path) // who reads meanwhile
		if err != nil || string(got) != "old" {
			t.Errorf("%q, %v while the new contents are written, want the old ones", got, err)
		}
		_, err = io.WriteString(w, "new")
		return err
	}
	if err := Write(path, during); err != nil {
		t.Fatal(err)
	}
	see("new")
}

// A new file has the permissions that the umask leaves, an old one keeps its own, and a symbolic link stays one.
func TestPermissionsAndLinks(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "a.txt"), filepath.Join(folder, "link.txt")
	defer syscall.Umask(syscall.Umask(0o027))
	see := func(want fs.FileMode) {
		t.Helper()
		if err := WriteBytes(path, nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("mode %v, %v, want %v", info.Mode(), err, want)
		}
	}
	see(0o640)
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	see(0o664)
	if err := errors.Join(os.Symlink("a.txt", link), WriteBytes(link, []byte("through"))); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if to, linked := os.Readlink(link); to != "a.txt" || string(got) != "through" {
		t.Errorf("the link leads to %q, %v; the file has %q, %v", to, linked, got, err)
	}
	err = errors.Join(os.Remove(path), WriteBytes(link, nil))
	if err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("through a link to nothing: %v", err)
	}
}

// What a writer that was killed leaves is told from what is being written, and from files of others.
func TestLeft(t *testing.T) {
	const target = "ATOMICFILE_TEST_TARGET"
	if path := os.Getenv(target); path != "" { // the writer
		Write(path, func(io.Writer) error {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		})
	}
	see := func(path string, want bool) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if err != nil || len(files) != 1 || Left(files[0]) != want {
			t.Errorf("there is %v, %v; want one file, left: %v", files, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "a.pdf")
	killed := exec.Command(os.Args[0], "-test.run=^TestLeft$")
	killed.Env = append(os.Environ(), target+"="+path)
	if err := killed.Run(); err == nil {
		t.Fatal("the writer was not killed")
	}
	see(path, true)
	now := filepath.Join(t.TempDir(), "a.pdf")
	if err := Write(now, func(io.Writer) error { see(now, false); return nil }); err != nil {
		t.Error(err)
	}
	for _, form := range []string{"a.pdf.%d.1.unfinished", ".a.pdf.%d.unfinished", ".a.pdf.%d.1.unfinished.pdf", ".a.pdf-%d", ".a.pdf.%d.1"} {
		if name := fmt.Sprintf(form, killed.Process.Pid); Left(name) {
			t.Errorf("%s: taken for one that was left", name)
		}
	}
}

// Where nothing can be written the error names the place, and nothing is left.
func TestNowhere(t *testing.T) {
	var where *os.PathError
	if err := WriteBytes(filepath.Join(t.TempDir(), "missing", "a.txt"), nil); !errors.As(err, &where) {
		t.Errorf("%v, want an error with a path", err)
	}
	folder := filepath.Join(t.TempDir(), "a") // it cannot be replaced by a file
	if err := errors.Join(os.Mkdir(folder, 0o755), WriteBytes(folder, []byte("x"))); err == nil {
		t.Error("a file took the place of a folder")
	}
	if all, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(all) != 1 {
		t.Errorf("%v, %v are left, want the folder alone", all, err)
	}
}
