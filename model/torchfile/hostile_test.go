package torchfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readerAt(data []byte) *bytes.Reader { return bytes.NewReader(data) }

// entry is a file of an archive.
type entry struct {
	name, content string
	method        uint16
}

func zipOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archived returns an archive with the body of a pickle, and storages "0" and "1" of 6 numbers.
func archived(t testing.TB, pickle string) []byte {
	t.Helper()
	storage := strings.Repeat("\x00\x00\x80\x3f", 6)
	return zipOf(t, entry{name: "a/data.pkl", content: "\x80\x02" + pickle + "."}, entry{name: "a/data/0", content: storage}, entry{name: "a/data/1", content: storage})
}

func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func number(n int) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func tuple(n ...int) string {
	s := "("
	for _, x := range n {
		s += number(x)
	}
	return s + "t"
}

// storageOf pickles a storage of n float32 elements.
func storageOf(key string, n int) string {
	return "(" + text("storage") + "ctorch\nFloatStorage\n" + text(key) + text("cpu") + number(n) + "tQ"
}

// tensorOf pickles a tensor.
func tensorOf(storage string, offset int, shape, strides string) string {
	return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + shape + strides + "\x89ccollections\nOrderedDict\n)RtR"
}

func TestRefused(t *testing.T) {
	six := storageOf("0", 6)
	good := tensorOf(six, 0, tuple(2, 3), tuple(3, 1))
	nested := func(n int) string { return strings.Repeat("}"+text("a"), n) + good + strings.Repeat("s", n) }
	for name, c := range map[string]struct{ pickle, want string }{
		"function":          {"cos\nsystem\n" + text("ls") + "\x85R", `data.pkl: found the name "os.system", expected only names of tensors; nothing that a pickle names is called`},
		"function by stack": {text("builtins") + text("eval") + "\x93", "found the operation 0x93"},
		"arguments":         {"cargparse\nNamespace\n)\x81", `found the name "argparse.Namespace"`},
		"long name":         {"c" + strings.Repeat("a", 1000) + "\n\n", "expected at most 200 bytes"},
		"object":            {"ccollections\nOrderedDict\n)\x81", "found the operation 0x81"},
		"call of text":      {text("a") + ")R", "found a call of a value that is no function of tensors"},
		"call of a dtype":   {"ctorch\nfloat32\n)R", "found a call"},
		"call without args": {"ccollections\nOrderedDict\nNR", "found a call"},
		"pairs":             {"ccollections\nOrderedDict\n]\x85R", "found arguments of OrderedDict, expected none"},
		"length":            {"X\xff\xff\xff\xff", "found a length of 4294967295 bytes, expected at most the 1 that are left"},
		"end":               {"(", "found too few values, expected 1"},
		"underflow":         {"\x87", "found too few values, expected 3"},
		"mark":              {"K\x01(\x85", "found too few values, expected 1"},
		"no mark":           {"t", "expected its begin before"},
		"memo":              {"h\x07", "found element 7 of the memo"},
		"no dict":           {"]K\x01K\x02s", "found keys and values of a value that is no dict"},
		"half an item":      {"}(K\x01u", "found keys and values"},
		"no list":           {"}K\x01a", "found items of a value that is no list"},
		"attributes":        {"]}b", "found attributes of a value that is no dict"},
		"protocol":          {"\x80\x04", "found protocol 4, expected 2"},
		"depth":             {nested(600), "expected at most 1000 bytes in all"},
		"recursion":         {"}q\x00" + text("") + "h\x00s", "expected at most 1000 bytes in all"},
		"long key":          {"}" + text(strings.Repeat("k", 2000)) + good + "s", "expected at most 1000 bytes in all"},

		"module":         {"(" + text("module") + "ctorch\nFloatStorage\nNNtQ", `found a reference to "module" outside the pickle`},
		"reference":      {"K\x01Q", "outside the pickle, expected a storage"},
		"no storage":     {storageOf("7", 6), `found no "data/7" in the archive`},
		"path":           {storageOf("../0", 6), `found a storage "../0"`},
		"negative size":  {storageOf("0", -1), "expected a known type, a key and a number of elements"},
		"storage size":   {storageOf("0", 7), `storage "0": found 24 bytes, expected 28`},
		"sizes differ":   {six + storageOf("0", 5) + "\x86", `storage "0": found 5 elements of type "F32", expected 6 of "F32" as before`},
		"outside":        {tensorOf(six, 1, tuple(2, 3), tuple(3, 1)), "found a tensor of shape [2 3] and strides [3 1] at 1, expected it in a storage of 6 elements"},
		"begin":          {tensorOf(six, -1, tuple(2), tuple(1)), "at -1, expected it in a storage"},
		"scalar":         {tensorOf(six, 6, tuple(), tuple()), "at 6, expected it in a storage"},
		"large stride":   {tensorOf(six, 0, tuple(2, 2), tuple(1, 1<<31-1)), "expected it in a storage"},
		"negative shape": {tensorOf(six, 0, tuple(-1), tuple(1)), "found arguments of a tensor"},
		"strides":        {tensorOf(six, 0, tuple(2), tuple(1, 1)), "found 1 sizes and 2 strides"},
		"dimensions":     {tensorOf(six, 0, tuple(make([]int, 65)...), tuple(make([]int, 65)...)), "at most 64 dimensions"},
		"few arguments":  {"ctorch._utils\n_rebuild_tensor_v2\n(" + six + "tR", "found 1 arguments of a tensor"},
		"no tensor":      {"ctorch._utils\n_rebuild_parameter\n)R", "found a parameter without its tensor"},
		"no dtype": {tensorOf("("+text("storage")+"ctorch.storage\nUntypedStorage\n"+text("0")+text("cpu")+number(24)+"tQ", 0, tuple(1), tuple(1)),
			"found a tensor of a storage without a type"},

		"many values": {strings.Repeat("N", maxValues+1), "found more than 1048576 values"},
		"many marks":  {strings.Repeat("(", maxValues+1), "found more than 1048576 values"},
		"large memo":  {"N" + strings.Repeat("q\x00", maxValues+1), "found more than 1048576 values"},
		"long pickle": {text(strings.Repeat("a", maxPickle)), "found more than 33554432 bytes"},
	} {
		data := archived(t, c.pickle)
		_, err := Read(readerAt(data), int64(len(data)))
		checkError(t, name, err, c.want)
	}
}

// checkError checks that err is one short line with want in it.
func checkError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
		t.Errorf("%s: error %v, want %q", name, err, want)
	}
}

// legacy returns a file of the legacy layout.
func legacy(version int, littleEndian, object, keys, storages string) []byte {
	return []byte(string(legacyMagic) + "\x80\x02" + number(version) + ".\x80\x02}" + text("little_endian") + littleEndian + "s.\x80\x02" + object + ".\x80\x02" + keys + "." + storages)
}

func TestFilesRefused(t *testing.T) {
	const one = "\x00\x00\x80\x3f"
	named := func(name, value string) string { return text(name) + value }
	pickle := "\x80\x02" + tensorOf(storageOf("0", 1), 0, tuple(1), tuple(1)) + "."
	archiveOf := func(more ...entry) []byte {
		return zipOf(t, append([]entry{{name: "a/data.pkl", content: pickle}}, more...)...)
	}
	two := "\x80\x02}(" + named("a", tensorOf(storageOf("0", 2), 0, tuple(2), tuple(1))) + named("b", tensorOf(storageOf("1", 2), 0, tuple(2), tuple(1))) + "u."
	overlapping := zipOf(t, entry{name: "a/data.pkl", content: two}, entry{name: "a/data/0", content: one + one}, entry{name: "a/data/1", content: one + one})
	// The directory sends both names to the first file.
	at := bytes.LastIndex(overlapping, []byte("a/data/1")) - 4
	copy(overlapping[at:], overlapping[bytes.LastIndex(overlapping, []byte("a/data/0"))-4:][:4])
	outside := archiveOf(entry{name: "a/data/0", content: one})
	directory := bytes.LastIndex(outside, []byte("PK\x01\x02"))
	for _, offset := range []int{20, 24} { // both sizes
		binary.LittleEndian.PutUint32(outside[directory+offset:], 1<<30)
	}
	manyEntries := make([]entry, 260)
	for i := range manyEntries {
		manyEntries[i].name = fmt.Sprint("a/", i, strings.Repeat("x", 65000))
	}
	// A dict that has itself twice in each of 30 levels does not take 2^30 steps.
	levels := "}q\x00"
	for i := range 30 {
		levels += fmt.Sprintf("}q%c(%sh%c%sh%cu", i+1, text("a"), i, text("b"), i)
	}
	const yes, no = "\x88", "\x89"
	object, keys := "}"+named("a", tensorOf(storageOf("0", 1), 0, tuple(1), tuple(1)))+"s", "]("+text("0")+"e"
	elements := "\x01" + strings.Repeat("\x00", 7) + one
	good := legacy(1001, yes, object, keys, elements)
	if tensors, err := Read(readerAt(good), int64(len(good))); err != nil || len(tensors) != 1 {
		t.Fatalf("found %d tensors, error %v, want 1", len(tensors), err)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":         {nil, "found no file of torch.save, or a truncated one: zip: not a valid zip file"},
		"text":          {[]byte("some text"), "found no file of torch.save"},
		"other zip":     {zipOf(t, entry{name: "a.txt"}), "an archive without NAME/data.pkl"},
		"other folder":  {archiveOf(entry{name: "../b"}), `found "../b" in the archive, expected each file once in "a/"`},
		"twice":         {archiveOf(entry{name: "a/data.pkl", content: pickle}), `found "a/data.pkl" in the archive, expected each file once`},
		"compressed":    {zipOf(t, entry{"a/data.pkl", pickle, zip.Deflate}), `found "data.pkl" compressed or encrypted, expected it stored`},
		"bomb":          {archiveOf(entry{"a/data/0", strings.Repeat("\x00", 1<<20), zip.Deflate}), `found "data/0" compressed`},
		"big-endian":    {archiveOf(entry{name: "a/byteorder", content: "big"}), `found the byte order "big", expected little`},
		"no pickle":     {zipOf(t, entry{name: "a/data.pkl"}), "data.pkl: found the end of the file"},
		"overlapping":   {overlapping, "found an overlap with storage"},
		"outside":       {outside, `found 1073741824 bytes of "data/0" at offset`},
		"directory":     {zipOf(t, manyEntries...), "found a directory of more than 16777216 bytes"},
		"many places":   {archived(t, levels), "found more than 1048576 values"},
		"version":       {legacy(1000, yes, object, keys, elements), "found version 1000 of the legacy layout, expected 1001"},
		"other machine": {legacy(1001, no, object, keys, elements), "found a system that is not little-endian"},
		"name":          {legacy(1001, yes, "cposix\nsystem\n", keys, elements), `pickle with the object: found the name "posix.system"`},
		"no list":       {legacy(1001, yes, object, "]", elements), "found another list of storages than that of the 1 in the object"},
		"other key":     {legacy(1001, yes, object, "]"+text("1")+"a", elements), `found storage "1" unknown or twice`},
		"no storages":   {legacy(1001, yes, object, keys, ""), `storage "0": EOF`},
		"half storage":  {legacy(1001, yes, object, keys, elements[:10]), `storage "0": found 4 bytes at offset`},
		"count":         {legacy(1001, yes, object, keys, "\x02"+elements[1:]), `storage "0": found 2 elements, expected 1`},
		"magic only":    {[]byte(string(legacyMagic)), "pickle with the version: found the end of the file"},
	} {
		_, err := Read(readerAt(c.data), int64(len(c.data)))
		checkError(t, name, err, c.want)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.pt")
	if err := os.WriteFile(bad, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Open(bad)
	checkError(t, "text", err, "bad.pt: found no file of torch.save")
	_, err = Open(dir)
	checkError(t, "folder", err, "expected a regular file")
	if _, err := Open(bad); !errors.Is(err, ErrFormat) {
		t.Errorf("error %v is not ErrFormat", err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !os.IsNotExist(err) {
		t.Errorf("absent file: error %v", err)
	}
}

// FuzzRead reads files. A tensor of one must be readable.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.pt"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(archived(f, "}"+text("a")+tensorOf(storageOf("0", 6), 0, tuple(2, 3), tuple(1, 2))+"s"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, err := Read(readerAt(data), int64(len(data)))
		if err != nil {
			if s := err.Error(); strings.Contains(s, "\n") || len(s) > 1000 {
				t.Errorf("error %q", s)
			}
			return
		}
		for _, x := range tensors {
			n := 1
			for _, dim := range x.Shape {
				if n *= dim; n > 8*len(data) {
					break
				}
			}
			if n > 8*len(data) {
				continue // in another order, or empty
			}
			if err := x.Float32s(make([]float32, n)); err != nil && !strings.Contains(err.Error(), "found dtype") && !strings.Contains(err.Error(), "expected rows") {
				t.Errorf("%s %v: %v", x.DType, x.Shape, err)
			}
		}
	})
}
