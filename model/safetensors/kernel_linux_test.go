package safetensors

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The operating system fails a write over its file size limit, as on a full disk:
// once within the data and once when the buffer is flushed. The limit is that of a
// process of its own, because it holds for the files of package testing too.
func TestFileSizeLimit(t *testing.T) {
	if os.Getenv("TFM_TEST_LIMIT") == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		limited := exec.Command(self, "-test.run=^TestFileSizeLimit$", "-test.v")
		limited.Env = append(os.Environ(), "TFM_TEST_LIMIT=1")
		out, err := limited.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("emulation: cannot start programs of its architecture")
		} else if err != nil || !strings.Contains(string(out), "--- PASS: TestFileSizeLimit") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := WriteAtomic(path, writeString("old")); err != nil {
		t.Fatal(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip("needs a limit of file sizes: ", err)
	}
	for _, n := range []int{1 << 20, 1 << 12} {
		limit := old
		limit.Cur = uint64(n) / 2
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Skip("needs a limit of file sizes: ", err)
		}
		err := Write(path, nil, []Tensor{Float32Tensor("w", []int{n / 4}, make([]float32, n/4))})
		if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); e != nil {
			t.Fatal(e)
		}
		if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "writing "+path) {
			t.Errorf("%d bytes: error %v, want EFBIG", n, err)
		}
		wantOnly(t, path, "old")
	}
}

// Access to a mapped file that was truncated faults. Verify, which accesses every
// page, and Float32s return the fault as an error.
func TestTruncatedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Write(path, nil, []Tensor{Float32Tensor("w", []int{1 << 16}, make([]float32, 1<<16))}); err != nil {
		t.Fatal(err)
	}
	f, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ Addr() uintptr }); ok {
				panic(r)
			}
			// qemu-user for arm64: the fault looks like one of a nil pointer.
			t.Skip("emulation: fault reported without its address: ", r)
		}
	}()
	if err := f.Verify(); err == nil || !strings.Contains(err.Error(), path+": reading the mapped file failed") {
		t.Errorf("Verify: error %v, want a fault of the mapped file", err)
	}
	if err := f.Tensors()[0].Float32s(make([]float32, 1<<16)); err == nil || !strings.Contains(err.Error(), `tensor "w": reading the mapped file failed`) {
		t.Errorf("Float32s: error %v, want a fault of the mapped file", err)
	}
}

// A sparse file can be larger than the address space. Map returns the error of mapping it and does
// not try to read it.
func TestFileThatCannotBeMapped(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "tfm")
	if err != nil {
		t.Skip("needs a file system with large sparse files: ", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "m.safetensors")
	if err := os.WriteFile(path, build("{}", 0), 0o666); err != nil {
		t.Fatal(err)
	}
	const size int64 = 1 << 60
	if err := os.Truncate(path, size); err != nil {
		t.Skip("needs a file system with large sparse files: ", err)
	}
	if _, err := Map(path); !errors.Is(err, syscall.ENOMEM) || !strings.Contains(err.Error(), fmt.Sprintf("%s: mapping %d bytes", path, size)) {
		t.Errorf("error %v, want ENOMEM for mapping %d bytes of %s", err, size, path)
	}
}

// A mapped File keeps the old content when WriteAtomic replaces the file.
func TestReplacedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Write(path, nil, sample()); err != nil {
		t.Fatal(err)
	}
	f, err := Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(path, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
	equalTensors(t, f.Tensors(), sample())
}

// Open and WriteAtomic do not block on a named pipe.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skip("needs named pipes: ", err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "expected a regular file") {
		t.Errorf("Open: error %v, want \"expected a regular file\"", err)
	}
	if err := WriteAtomic(path, writeString("x")); err == nil || !strings.Contains(err.Error(), "expected a regular file") {
		t.Errorf("WriteAtomic: error %v, want \"expected a regular file\"", err)
	}
}
