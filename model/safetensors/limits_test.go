package safetensors

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// repeat returns n items of a JSON list.
func repeat(n int, item func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	return b.String()
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// The memory that Open allocates, garbage included, is bounded by the actual size of the header,
// for any lengths that the file claims.
func TestOpenMemoryIsBoundedByHeaderSize(t *testing.T) {
	const empty = `{"dtype":"U8","shape":[0],"data_offsets":[0,0]}`
	for _, c := range []struct {
		name    string
		content []byte
		valid   bool
	}{
		{"header length of 100 MB", binary.LittleEndian.AppendUint64(nil, maxHeader), false},
		{"tensor of 4 TB", build(`{"w":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4000000000000]}}`, 8), false},
		{"shape that overflows", build(`{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), false},
		{"many empty tensors", build("{"+repeat(20_000, func(i int) string { return fmt.Sprintf(`"%x":%s`, i, empty) })+"}", 0), true},
		{"many overlapping tensors", build("{"+repeat(20_000, func(i int) string {
			return fmt.Sprintf(`"%x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}`, i)
		})+"}", 1), false},
		{"one tensor many times", build("{"+repeat(20_000, func(int) string { return `"":` + empty })+"}", 0), false},
		{"many keys of metadata", build(`{"__metadata__":{`+repeat(100_000, func(i int) string { return fmt.Sprintf(`"%x":""`, i) })+"}}", 0), true},
		{"many escaped keys", build(`{"__metadata__":{`+repeat(100_000, func(i int) string { return fmt.Sprintf(`"\n%x":"\t"`, i) })+"}}", 0), true},
		{"many dimensions", build(`{"w":{"dtype":"U8","shape":[`+repeat(500_000, func(int) string { return "0" })+`],"data_offsets":[0,0]}}`, 0), true},
		{"many dimensions of many tensors", build("{"+repeat(2000, func(i int) string {
			return fmt.Sprintf(`"%x":{"dtype":"U8","shape":[%s],"data_offsets":[0,0]}`, i, repeat(100, func(int) string { return "0" }))
		})+"}", 0), true},
		{"long name", build(`{"`+strings.Repeat("a", 1<<20)+`":`+empty+"}", 0), true},
		{"long name of escapes", build(`{"`+strings.Repeat(`\ufffd`, 1<<18)+`":`+empty+"}", 0), true},
		{"long number", build(`{"w":{"dtype":"U8","shape":[`+strings.Repeat("1", 1<<20)+`],"data_offsets":[0,0]}}`, 0), false},
		{"spaces", build("{"+strings.Repeat(" ", 1<<20)+`"w":`+empty+"}", 0), true},
		{"nested arrays", build(`{"w":{"shape":`+strings.Repeat("[", 1<<20), 0), false},
		{"nested objects", build(strings.Repeat(`{"w":`, 1<<18), 0), false},
		{"nested arrays in metadata", build(`{"__metadata__":{"k":`+strings.Repeat("[", 1<<20), 0), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.content)
			var f *File
			var err error
			used := allocated(func() { f, err = Open(path) })
			if (err == nil) != c.valid {
				t.Errorf("error %v, want one: %t", err, !c.valid)
			}
			if err == nil {
				f.Close()
			} else if len(err.Error()) > len(path)+500 {
				t.Errorf("error of %d bytes, want at most 500 plus the path", len(err.Error()))
			}
			if limit := 64<<10 + maxAllocRatio*len(c.content); used > limit {
				t.Errorf("allocated %d bytes for a file of %d, want at most %d", used, len(c.content), limit)
			}
		})
	}
}
