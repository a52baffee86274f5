package tensorboard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sort"
	"testing"
	"time"
)

var (
	moment = time.Unix(1_700_000_000, 250_000_000)
	bumps  = Histogram{Min: 0.1, Max: 2.5, Sum: 9.25, SumSquares: 15.5, Limits: []float64{0.5, 1, 1.5, 2, math.MaxFloat64}, Counts: []float64{3, 0, 1, 2, 1}}
)

// sample returns a file with every kind of event.
func sample(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, moment)
	if err := errors.Join(err, w.Start(moment, 7),
		w.Scalars(moment, 7, Scalar{"train/loss", 1.5}, Scalar{"train/Größe", -2e-3}),
		w.Scalars(moment, 300, Scalar{"train/loss", math.Inf(1)}),
		w.Histogram(moment, 300, "entropy", bumps),
		w.Scalars(moment, 1<<40)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// message is a protocol buffer message: the values of each field, uint64 (varint and fixed) or
// []byte.
type message map[uint64][]any

// parse decodes the wire format.
func parse(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	number := func() uint64 {
		var x uint64
		for shift := 0; ; shift += 7 {
			c := b[0]
			b = b[1:]
			if x |= uint64(c&0x7f) << shift; c < 0x80 {
				return x
			}
		}
	}
	for len(b) > 0 {
		key := number()
		var value any
		switch key & 7 {
		case 0:
			value = number()
		case 1:
			value, b = binary.LittleEndian.Uint64(b), b[8:]
		case 2:
			n := number()
			value, b = b[:n], b[n:]
		case 5:
			value, b = uint64(binary.LittleEndian.Uint32(b)), b[4:]
		default:
			t.Fatalf("wire type %d", key&7)
		}
		m[key>>3] = append(m[key>>3], value)
	}
	return m
}

func (m message) double(field uint64) float64 { return math.Float64frombits(m[field][0].(uint64)) }
func (m message) bytes(field uint64) []byte   { return m[field][0].([]byte) }
func (m message) doubles(field uint64) (x []float64) {
	for b := m.bytes(field); len(b) > 0; b = b[8:] {
		x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return x
}

// crc returns the masked CRC-32C of b, computed bit by bit.
func crc(b []byte) uint32 {
	c := ^uint32(0)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			c = c>>1 ^ 0x82f63b78*(c&1)
		}
	}
	c = ^c
	return (c>>15 | c<<17) + 0xa282ead8
}

// events decodes the records of a file and verifies their checksums.
func events(t *testing.T, b []byte) (list []message) {
	t.Helper()
	for len(b) > 0 {
		n := binary.LittleEndian.Uint64(b)
		if got, want := binary.LittleEndian.Uint32(b[8:]), crc(b[:8]); got != want {
			t.Fatalf("checksum %08x of a length, want %08x", got, want)
		}
		data := b[12 : 12+n]
		if got, want := binary.LittleEndian.Uint32(b[12+n:]), crc(data); got != want {
			t.Fatalf("checksum %08x of an event, want %08x", got, want)
		}
		list = append(list, parse(t, data))
		b = b[16+n:]
	}
	return list
}

func TestEvents(t *testing.T) {
	list := events(t, sample(t))
	if len(list) != 6 {
		t.Fatalf("%d events, want 6", len(list))
	}
	for i, step := range []uint64{0, 7, 7, 300, 300, 1 << 40} {
		if e := list[i]; e.double(1) != 1_700_000_000.25 || e[2][0].(uint64) != step {
			t.Errorf("event %d has step %v and time %v, want step %d", i, e[2], e.double(1), step)
		}
	}
	if v := string(list[0].bytes(3)); v != "brain.Event:2" {
		t.Errorf("version %q, want brain.Event:2", v)
	}
	if s := parse(t, list[1].bytes(7)); s[1][0].(uint64) != 1 {
		t.Errorf("session log %v, want status 1", s)
	}
	var scalars []string
	for _, e := range list[2:4] {
		for _, v := range parse(t, e.bytes(5))[1] {
			v := parse(t, v.([]byte))
			scalars = append(scalars, fmt.Sprint(string(v.bytes(1)), " ", math.Float32frombits(uint32(v[2][0].(uint64)))))
		}
	}
	if want := []string{"train/loss 1.5", "train/Größe -0.002", "train/loss +Inf"}; !reflect.DeepEqual(scalars, want) {
		t.Errorf("scalars %q, want %q", scalars, want)
	}
	v := parse(t, parse(t, list[4].bytes(5)).bytes(1))
	h := parse(t, v.bytes(5))
	got := Histogram{h.double(1), h.double(2), h.double(4), h.double(5), h.doubles(6), h.doubles(7)}
	if string(v.bytes(1)) != "entropy" || h.double(3) != 7 || !reflect.DeepEqual(got, bumps) {
		t.Errorf("histogram %q of %v values: %+v, want entropy of 7 values: %+v", v.bytes(1), h.double(3), got, bumps)
	}
}

func TestScalarsAllocateNothing(t *testing.T) {
	w, err := NewWriter(nothing{}, moment)
	if err != nil {
		t.Fatal(err)
	}
	step := func() { w.Scalars(moment, 1, Scalar{"train/loss", 1}, Scalar{"train/rate", 2}) }
	step()
	if n := testing.AllocsPerRun(50, step); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

func TestFileNamesAscend(t *testing.T) {
	var names []string
	for _, d := range []time.Duration{0, 1, time.Millisecond, time.Second, 20 * time.Second, 100 * 24 * time.Hour} {
		names = append(names, FileName(moment.Add(d)))
	}
	if !sort.StringsAreSorted(names) {
		t.Errorf("names %q are not in ascending order", names)
	}
}

// reader is a Python program that prints the events of a folder with TensorBoard's own reader.
const reader = `
import math, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator, HISTOGRAMS, SCALARS
a = EventAccumulator(sys.argv[1], size_guidance={HISTOGRAMS: 0, SCALARS: 0})
a.Reload()
for tag in sorted(a.Tags()["scalars"]):
    for e in a.Scalars(tag):
        print(tag, e.step, e.wall_time, "%.6g" % e.value)
for tag in a.Tags()["histograms"]:
    for e in a.Histograms(tag):
        h = e.histogram_value
        print(tag, e.step, h.min, h.max, h.num, h.sum, h.sum_squares, h.bucket_limit[:4], h.bucket_limit[4] == sys.float_info.max, h.bucket)
`

// TensorBoard reads the files and drops the events that a resumed run repeats.
func TestTensorBoardReadsIt(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import tensorboard").Run()
	}
	if err != nil {
		t.Skip("needs python3 with TensorBoard: python3 -m pip install tensorboard")
	}
	var old, resumed bytes.Buffer
	old.Write(sample(t)[:len(sample(t))-3]) // the last event is truncated
	w, err := NewWriter(&resumed, moment)
	if err := errors.Join(err, w.Start(moment, 300), w.Scalars(moment, 300, Scalar{"train/loss", 0.25}), w.Histogram(moment, 301, "entropy", bumps)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, b := range [][]byte{old.Bytes(), resumed.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, FileName(moment.Add(time.Duration(i)))), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, "-X", "utf8", "-c", reader, dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := `train/Größe 7 1700000000.25 -0.002
train/loss 7 1700000000.25 1.5
train/loss 300 1700000000.25 0.25
entropy 301 0.1 2.5 7.0 9.25 15.5 [0.5, 1.0, 1.5, 2.0] True [3.0, 0.0, 1.0, 2.0, 1.0]
`
	if string(out) != want {
		t.Errorf("TensorBoard reads:\n%swant:\n%s", out, want)
	}
}
