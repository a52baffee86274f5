package safetensors

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestWidenF16(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got := widenF16(h)
		// The definition in float64, where each step is exact.
		exp, frac := int(h>>10)&31, float64(h&1023)
		var want float64
		switch exp {
		case 0:
			want = math.Ldexp(frac, -24)
		case 31:
			want = math.Inf(1)
			if frac != 0 {
				want = math.NaN()
			}
		default:
			want = math.Ldexp(1024+frac, exp-25)
		}
		want = math.Copysign(want, 1-2*float64(h>>15))
		if math.IsNaN(want) {
			if got == got || math.Float32bits(got)>>13&1023 != uint32(h&1023) || math.Signbit(float64(got)) != (h>>15 == 1) {
				t.Fatalf("%#04x: got %#08x, want a NaN with its sign and payload", h, math.Float32bits(got))
			}
		} else if math.Float32bits(got) != math.Float32bits(float32(want)) {
			t.Fatalf("%#04x: got %v, want %v", h, got, want)
		}
	}
}

func TestFloat32s(t *testing.T) {
	bits := []uint32{0, 0x80000000, 0x3f800000, 0x7f800000, 0xffc12345, 1, 0x7f7fffff}
	want := make([]float32, len(bits))
	for i, b := range bits {
		want[i] = math.Float32frombits(b)
	}
	for offset := range 4 { // every alignment
		data := append(make([]byte, offset, offset+4*len(want)), encode(want)...)[offset:]
		tensor := Tensor{Name: "w", DType: "F32", Shape: []int{len(want)}, Data: data}
		got, portable := make([]float32, len(want)), make([]float32, len(want))
		if err := tensor.Float32s(got); err != nil {
			t.Fatal(err)
		}
		decodeF32(portable, data)
		for i, b := range bits {
			if math.Float32bits(got[i]) != b || math.Float32bits(portable[i]) != b {
				t.Errorf("offset %d, element %d: copied %#x, portable %#x, want %#x", offset, i, math.Float32bits(got[i]), math.Float32bits(portable[i]), b)
			}
		}
	}

	var b16 []byte
	for _, b := range bits {
		b16 = binary.LittleEndian.AppendUint16(b16, uint16(b>>16))
	}
	got := make([]float32, len(bits))
	if err := (Tensor{Name: "w", DType: "BF16", Shape: []int{len(bits)}, Data: b16}).Float32s(got); err != nil {
		t.Fatal(err)
	}
	for i, b := range bits {
		if math.Float32bits(got[i]) != b&0xffff0000 {
			t.Errorf("BF16 element %d: %#x, want %#x", i, math.Float32bits(got[i]), b&0xffff0000)
		}
	}
	half := Tensor{Name: "w", DType: "F16", Shape: []int{2, 1}, Data: []byte{0x00, 0x3c, 0x01, 0x80}}
	if err := half.Float32s(got[:2]); err != nil || got[0] != 1 || got[1] != -0x1p-24 {
		t.Errorf("F16: %v, %v, want [1 -2^-24]", got[:2], err)
	}
}

func TestFloat32sOfF64(t *testing.T) {
	// The last one is rounded to even.
	want := []float32{1, -0x1p-149, float32(math.Inf(1)), 1 + 0x1p-22}
	var data []byte
	for _, x := range []float64{1, -0x1p-149, 1e300, 1 + 0x1p-22 + 0x1p-24} {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
	}
	got := make([]float32, len(want))
	if err := (Tensor{Name: "w", DType: "F64", Shape: []int{4}, Data: data}).Float32s(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("F64: %v, %v, want %v", got, err, want)
	}
}

func TestFloat32sErrors(t *testing.T) {
	for _, c := range []struct {
		tensor Tensor
		n      int
		want   string
	}{
		{Tensor{Name: "w", DType: "I32", Shape: []int{1}, Data: make([]byte, 4)}, 1, `tensor "w": found dtype "I32", expected F32, F16, BF16 or F64`},
		{Tensor{Name: "w", DType: "F32", Shape: []int{2}, Data: make([]byte, 8)}, 3, `tensor "w": found 2 elements in shape [2], expected 3`},
		{Tensor{Name: "w", DType: "F32", Shape: []int{2}, Data: make([]byte, 7)}, 2, `tensor "w": found 7 bytes, expected 8 for F32 of shape [2]`},
		{Tensor{Name: "w", DType: "F16", Shape: []int{-2}, Data: nil}, 0, `tensor "w": found dimension -2`},
	} {
		if err := c.tensor.Float32s(make([]float32, c.n)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.tensor, err, c.want)
		}
	}
}

func TestFloat32TensorAliasesItsData(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6}
	shape := []int{2, 3}
	tensor := Float32Tensor("w", shape, x)
	shape[0] = 9
	if !slices.Equal(tensor.Shape, []int{2, 3}) || !slices.Equal(tensor.Data, encode(x)) {
		t.Errorf("Float32Tensor = %+v, want shape [2 3] and data %v", tensor, x)
	}
	if !littleEndian {
		return
	}
	x[5] = 7
	if !slices.Equal(tensor.Data, encode(x)) {
		t.Error("Data does not alias the slice")
	}
	if n := testing.AllocsPerRun(10, func() { Float32Tensor("w", shape, x) }); n > 1 {
		t.Errorf("%v allocations, want 1 for the shape", n)
	}
	empty := Float32Tensor("w", []int{0}, nil)
	if len(empty.Data) != 0 {
		t.Errorf("empty tensor: %d bytes, want 0", len(empty.Data))
	}
}

func TestBytes(t *testing.T) {
	tensor := Tensor{Name: "t", DType: "U8", Shape: []int{3}, Data: []byte("abc")}
	got, err := tensor.Bytes()
	if err != nil || string(got) != "abc" {
		t.Fatalf("Bytes = %q, %v, want abc", got, err)
	}
	tensor.Data[0] = 'x'
	if string(got) != "abc" {
		t.Errorf("Bytes aliases Data: %q after a change", got)
	}
}
