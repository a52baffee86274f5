package safetensors

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// list returns the names in dir, including hidden ones.
func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// wantOnly checks the content of path, and that its folder has no other file.
func wantOnly(t *testing.T, path, content string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("%s holds %.80q (%v), want %.80q", filepath.Base(path), got, err, content)
	}
	if names := list(t, filepath.Dir(path)); !slices.Equal(names, []string{filepath.Base(path)}) {
		t.Errorf("folder holds %q, want only %q", names, filepath.Base(path))
	}
}

func writeString(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

var errFull = errors.New("no space left on device")

// fullDisk writes free bytes and then fails after a partial write, as a full disk does.
type fullDisk struct {
	w    io.Writer
	free int
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) <= f.free {
		f.free -= len(p)
		return f.w.Write(p)
	}
	n, _ := f.w.Write(p[:f.free])
	f.free -= n
	return n, errFull
}

func TestFullDiskKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := WriteAtomic(path, writeString("the last good one")); err != nil {
		t.Fatal(err)
	}
	tensors := sample()
	whole := encoded(t, sampleMeta, tensors)
	prefix := whole[:len(whole)-dataLen(tensors)]
	for free := range whole {
		err := WriteAtomic(path, func(w io.Writer) error {
			return writeTo(&fullDisk{w, free}, prefix, tensors)
		})
		if !errors.Is(err, errFull) || !strings.Contains(err.Error(), path) {
			t.Fatalf("disk with %d free bytes for a file of %d: error %v", free, len(whole), err)
		}
		wantOnly(t, path, "the last good one")
	}
	if err := WriteAtomic(path, func(w io.Writer) error {
		return writeTo(&fullDisk{w, len(whole)}, prefix, tensors)
	}); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, path, string(whole))
}

func dataLen(tensors []Tensor) (n int) {
	for _, t := range tensors {
		n += len(t.Data)
	}
	return n
}

func TestWriteAtomicPanicKeepsTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := WriteAtomic(path, writeString("old")); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v, want boom", r)
			}
		}()
		WriteAtomic(path, func(w io.Writer) error {
			writeString("half")(w)
			panic("boom")
		})
	}()
	wantOnly(t, path, "old")
}

func TestWriteAtomicErrors(t *testing.T) {
	dir := t.TempDir()
	if err := WriteAtomic(filepath.Join(dir, "absent", "f"), writeString("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent folder: error %v, want %v", err, os.ErrNotExist)
	}
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(sub, writeString("x")); err == nil || !strings.Contains(err.Error(), "found a directory, expected a regular file or none") {
		t.Errorf("folder as target: error %v, want \"found a directory\"", err)
	}
	if names := list(t, dir); !slices.Equal(names, []string{"sub"}) {
		t.Errorf("folder holds %q, want only sub", names)
	}
}

func TestWriteAtomicKeepsModeAndLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits, and links need privileges")
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(link, writeString("new")); err != nil {
		t.Fatal(err)
	}
	wantOnly(t, path, "new")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want the old file's 0600", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("link has mode %v (%v), want a symbolic link", info.Mode(), err)
	}
}

func TestWriteAtomicConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			content := strings.Repeat(fmt.Sprint(i), 3*writeBuffer)
			// On Windows concurrent renames may fail.
			if err := WriteAtomic(path, writeString(content)); err != nil && runtime.GOOS != "windows" {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 3*writeBuffer || strings.Trim(string(got), string(got[:1])) != "" {
		t.Errorf("%d bytes (%v), want the content of one writer", len(got), err)
	}
	wantOnly(t, path, string(got))
}

func TestRemoveStaleKeepsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	const digits = "0123456789abcdef"
	ours := []string{".m." + digits + ".tfm-tmp", ".m.fedcba9876543210.tfm-tmp"}
	others := []string{
		"m", ".m", ".m.tfm-tmp", "m." + digits + ".tfm-tmp", ".m." + digits, ".m." + digits + ".tmp",
		".m." + digits[1:] + ".tfm-tmp", ".m.0" + digits + ".tfm-tmp", ".m." + digits[:15] + "g.tfm-tmp", ".m." + strings.ToUpper(digits) + ".tfm-tmp",
		".m.x." + digits + ".tfm-tmp", ".n." + digits + ".tfm-tmp", ".mm." + digits + ".tfm-tmp", ".." + digits + ".tfm-tmp",
		".m." + digits + "." + digits + ".tfm-tmp", // for a target named m.0123456789abcdef
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		// File names are not case-sensitive.
		others = slices.DeleteFunc(others, func(s string) bool { return strings.Contains(s, "ABC") })
	}
	for _, name := range slices.Concat(ours, others) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	folder := ".m.00000000000000ff.tfm-tmp"
	if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
		t.Fatal(err)
	}
	removed, err := RemoveStale(filepath.Join(dir, "m"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range removed {
		removed[i] = filepath.Base(removed[i])
	}
	slices.Sort(ours)
	if slices.Sort(removed); !slices.Equal(removed, ours) {
		t.Errorf("removed %q, want %q", removed, ours)
	}
	want := append(others, folder)
	slices.Sort(want)
	if left := list(t, dir); !slices.Equal(left, want) {
		t.Errorf("left %q, want %q", left, want)
	}
	if _, err := RemoveStale(filepath.Join(dir, "absent", "m")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent folder: error %v, want %v", err, os.ErrNotExist)
	}
}

// A process killed during a write leaves the old file and a temporary file, which
// is not stale while the process runs.
func TestKilledProcess(t *testing.T) {
	if path := os.Getenv("SAFETENSORS_TEST_WRITE"); path != "" {
		WriteAtomic(path, func(w io.Writer) error {
			w.Write(make([]byte, 2*writeBuffer))
			fmt.Println("writing")
			_, err := io.Copy(io.Discard, os.Stdin) // until killed; select {} would end the process as a deadlock
			return err
		})
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := WriteAtomic(path, writeString("old")); err != nil {
		t.Fatal(err)
	}
	writer := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	writer.Env = append(os.Environ(), "SAFETENSORS_TEST_WRITE="+path)
	stdin, err := writer.StdinPipe() // not the input of the test
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Skip("emulation: cannot run the test binary: ", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "writing\n" {
		writer.Process.Kill()
		writer.Wait()
		t.Fatalf("writing process: output %q (%v), want \"writing\"", line, err)
	}
	if removed, _ := RemoveStale(path); len(removed) != 0 {
		t.Errorf("removed %q of a running process", removed)
	}
	writer.Process.Kill()
	writer.Wait()
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("target holds %q (%v), want old", got, err)
	}
	if names := list(t, filepath.Dir(path)); len(names) != 2 {
		t.Errorf("folder holds %q, want the target and a temporary file", names)
	}
	if removed, err := RemoveStale(path); len(removed) != 1 || err != nil {
		t.Errorf("RemoveStale = %q, %v, want one file", removed, err)
	}
	wantOnly(t, path, "old")
}

// A file is written while others remove what killed processes left.
func TestWriteAtomicBesideRemoveStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	var removers sync.WaitGroup
	done := make(chan struct{})
	removers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				RemoveStale(path)
			}
		}
	})
	for range 500 {
		if err := WriteAtomic(path, func(w io.Writer) error { _, err := w.Write([]byte("a")); return err }); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	removers.Wait()
}
