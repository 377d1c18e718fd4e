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

// A file holds all of its new contents or all of its old contents, and its folder holds no other file.
func TestWholeOrNotAtAll(t *testing.T) {
	folder, old, tired := t.TempDir(), "", errors.New("tired")
	path := filepath.Join(folder, "a.txt")
	for _, c := range []struct {
		text string
		err  error // returned by the writer after it has written the text
	}{{"old", nil}, {strings.Repeat("more than any buffer", 1<<18), tired}, {"new", nil}} {
		err := Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, c.text)
			if got, _ := os.ReadFile(path); string(got) != old {
				t.Errorf("%q can be read while the file is written, want %q", got, old)
			}
			return errors.Join(err, c.err)
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%v, want %v", err, c.err)
		}
		if c.err == nil {
			old = c.text
		}
		got, err := os.ReadFile(path)
		if all, _ := os.ReadDir(folder); err != nil || string(got) != old || len(all) != 1 {
			t.Errorf("%.20q, %v, with %v in the folder; want %q in the file alone", got, err, all, old)
		}
	}
}

// A new file gets the permissions that the umask leaves, an existing file keeps its permissions, and a symbolic link
// stays a link. A link without a target is an error.
func TestPermissionsAndLinks(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "a.txt"), filepath.Join(folder, "link.txt")
	defer syscall.Umask(syscall.Umask(0o027))
	for _, want := range []fs.FileMode{0o640, 0o664} {
		if err := WriteBytes(path, nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("mode %v, %v, want %v", info.Mode(), err, want)
		}
		if err := os.Chmod(path, 0o664); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("a.txt", link), WriteBytes(link, []byte("through"))); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if to, linked := os.Readlink(link); to != "a.txt" || string(got) != "through" {
		t.Errorf("the link leads to %q, %v; the file has %q, %v", to, linked, got, err)
	}
	err = errors.Join(os.Remove(path), WriteBytes(link, nil))
	if err == nil || !strings.Contains(err.Error(), "target was not found") {
		t.Errorf("through a link to nothing: %v", err)
	}
}

// Left recognises the file that a killed writer leaves, but not a file that is still being written, nor files with
// similar names.
func TestLeft(t *testing.T) {
	const target = "ATOMICFILE_TEST_TARGET"
	if path := os.Getenv(target); path != "" { // this process is the writer
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
			t.Errorf("%s: taken for a file that a killed writer left", name)
		}
	}
}

// If a file cannot be written, Write returns an error and leaves no other file behind. If the folder does not exist,
// the error contains the path.
func TestNowhere(t *testing.T) {
	var where *os.PathError
	if err := WriteBytes(filepath.Join(t.TempDir(), "missing", "a.txt"), nil); !errors.As(err, &where) {
		t.Errorf("%v, want an error with a path", err)
	}
	folder := filepath.Join(t.TempDir(), "a") // a file cannot replace a folder
	if err := errors.Join(os.Mkdir(folder, 0o755), WriteBytes(folder, []byte("x"))); err == nil {
		t.Error("a file took the place of a folder")
	}
	if all, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(all) != 1 {
		t.Errorf("%v, %v are left, want the folder alone", all, err)
	}
}
