package safetensors

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script opens a file from Write with the official library, compares it, and writes another one.
const script = `
import json, struct, sys
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
ours, theirs = sys.argv[1:]
with safe_open(ours, "np") as f:
    meta = f.metadata()
    assert meta["config"] == '{"d_model":512,"note":"<&>\u2028\0\n"}', meta
    assert meta["中"] == "" and meta[""] == "empty key", meta
    w = f.get_tensor("encoder.0.weight")
    assert w.dtype == np.float32 and w.tolist() == np.array([[1, -2, 3.5], [0, 1e-38, -1e38]], np.float32).tolist(), w
    assert f.get_tensor("scalar").shape == () and f.get_tensor("scalar") == 42
    assert f.get_tensor("empty").shape == (4, 0, 2)
    assert bytes(f.get_tensor('tokenizer "中" \t\\')) == b"abc"
    assert len(f.keys()) == 6, f.keys()

# The checksum by its definition.
raw = open(ours, "rb").read()
start = 8 + struct.unpack("<Q", raw[:8])[0]
stated = json.loads(raw[8:start])["__metadata__"]["checksum"]
crc = 0xffffffff
for b in raw[start:] + raw[:start].replace(stated.encode(), b"crc32c:00000000"):
    crc ^= b
    for _ in range(8):
        crc = crc >> 1 ^ 0x82f63b78 * (crc & 1)
assert stated == "crc32c:%08X" % (crc ^ 0xffffffff), stated

save_file({"b": np.array([[1, 2], [3, -4]], np.float32), "h": np.array([0.5, -65504, 6e-8], np.float16),
    "中": np.arange(5, dtype=np.uint8), "e": np.zeros((0, 3), np.int64)}, theirs, {"k": "ü\"\n"})
`

func TestOfficialLibrary(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import safetensors, numpy").Run()
	}
	if err != nil {
		t.Skip("needs python3 with the official library: python3 -m pip install safetensors numpy")
	}
	dir := t.TempDir()
	ours, theirs := filepath.Join(dir, "ours.safetensors"), filepath.Join(dir, "theirs.safetensors")
	if err := Write(ours, sampleMeta, sample()); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-X", "utf8", "-c", script, ours, theirs).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := Map(theirs)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(); !errors.Is(err, ErrNoChecksum) {
		t.Errorf("Verify: %v, want no checksum", err)
	}
	if got := f.Metadata()["k"]; got != "ü\"\n" {
		t.Errorf("metadata %q", got)
	}
	// In F16 6e-8 rounds to 2^-24.
	for name, want := range map[string][]float32{"b": {1, 2, 3, -4}, "h": {0.5, -65504, 0x1p-24}} {
		tensor, _ := f.Tensor(name)
		got := make([]float32, len(want))
		if err := tensor.Float32s(got); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s[%d] = %v, want %v", name, i, got[i], want[i])
			}
		}
	}
	if u8, _ := f.Tensor("中"); string(u8.Data) != "\x00\x01\x02\x03\x04" {
		t.Errorf("U8 tensor %+v", u8)
	}
	if e, ok := f.Tensor("e"); !ok || len(e.Data) != 0 || strings.Join([]string{e.DType, shapeText(e.Shape)}, "") != "I64[0 3]" {
		t.Errorf("empty tensor %+v", e)
	}
}
