package torchfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
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
		"function by stack": {text("builtins") + text("eval") + "\x93", `found the name "builtins.eval"`},
		"arguments":         {"cargparse\nNamespace\n)\x81", `found the name "argparse.Namespace"`},
		"long name":         {"c" + strings.Repeat("a", 1000) + "\n\n", "expected at most 200 bytes"},
		"object":            {"ccollections\nOrderedDict\n)\x81", "found the operation 0x81"},
		"call of text":      {text("a") + ")R", "found a call of a value that is no function of tensors"},
		"call of a dtype":   {"ctorch\nfloat32\n)R", "found a call"},
		"call without args": {"ccollections\nOrderedDict\nNR", "found a call"},
		"pairs":             {"ccollections\nOrderedDict\nN\x85R", "found other arguments of OrderedDict than a list"},
		"items":             {"ccollections\nOrderedDict\n]K\x01a\x85R", "found other items of OrderedDict than pairs"},
		"length":            {"X\xff\xff\xff\xff", "found a length of 4294967295 bytes, expected at most the 1 that are left"},
		"length of 8 bytes": {"\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "found a length of 18446744073709551615 bytes"},
		"end":               {"(", "found too few values, expected 1"},
		"underflow":         {"\x87", "found too few values, expected 3"},
		"mark":              {"K\x01(\x85", "found too few values, expected 1"},
		"no mark":           {"t", "expected its begin before"},
		"memo":              {"h\x07", "found element 7 of the memo"},
		"no dict":           {"]K\x01K\x02s", "found keys and values of a value that is no dict"},
		"half an item":      {"}(K\x01u", "found keys and values"},
		"no list":           {"}K\x01a", "found items of a value that is no list"},
		"attributes":        {"]}b", "found attributes of a value that is no dict"},
		"protocol":          {"\x80\x06", "found protocol 6, expected 2 to 5"},
		"depth":             {nested(100), "expected at most 32"},
		"recursion":         {"}q\x00" + text("a") + "h\x00s", "expected at most 32"},
		"recursive list":    {"]q\x00h\x00a", "expected at most 32"},
		"key":               {"})" + good + "s", "found a key in \"\" that is neither text nor an integer"},
		"long key":          {"}" + text(strings.Repeat("k", 2000)) + good + "s", "expected at most 1000 bytes in all"},
		"twice":             {"}(" + text("a") + good + text("a") + good + "u", `tensor "a": found twice`},

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
		"stride 0":       {tensorOf(six, 0, tuple(1<<30, 2), tuple(0, 1)), "expected elements that do not overlap"},
		"overlap":        {tensorOf(six, 0, tuple(2, 3), tuple(1, 1)), "expected elements that do not overlap"},
		"negative shape": {tensorOf(six, 0, tuple(-1), tuple(1)), "found arguments of a tensor"},
		"strides":        {tensorOf(six, 0, tuple(2), tuple(1, 1)), "found 1 sizes and 2 strides"},
		"dimensions":     {tensorOf(six, 0, tuple(make([]int, 65)...), tuple(make([]int, 65)...)), "at most 64 dimensions"},
		"few arguments":  {"ctorch._utils\n_rebuild_tensor_v2\n(" + six + "tR", "found 1 arguments of a tensor"},
		"no tensor":      {"ctorch._utils\n_rebuild_parameter\n)R", "found a parameter without its tensor"},
		"no dtype": {tensorOf("("+text("storage")+"ctorch.storage\nUntypedStorage\n"+text("0")+text("cpu")+number(24)+"tQ", 0, tuple(1), tuple(1)),
			"found a tensor of a storage without a type"},

		"many values": {strings.Repeat("N", maxValues+1), "found more than 1048576 values"},
		"many marks":  {strings.Repeat("(", maxValues+1), "found more than 1048576 values"},
		"large memo":  {"N" + strings.Repeat("\x94", maxValues+1), "found more than 1048576 values"},
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

// Tensors that share elements may have 8 times the size of the file and 1 MB.
func TestSharedElements(t *testing.T) {
	const n = 1 << 18
	pickle := "}(" + text("0") + tensorOf(storageOf("0", n), 0, tuple(n), tuple(1)) + "q\x01"
	for i := 1; i < 10; i++ {
		pickle += text(fmt.Sprint(i)) + "h\x01"
	}
	data := zipOf(t, entry{name: "a/data.pkl", content: "\x80\x02" + pickle + "u."}, entry{name: "a/data/0", content: strings.Repeat("\x00", 4*n)})
	_, err := Read(readerAt(data), int64(len(data)))
	checkError(t, "shared", err, "tensor \"9\": found tensors that share their elements, in all more than 8 times the size of the file")
}

// A dict that has itself twice in each of 30 levels does not take 2^30 steps.
func TestValuesInManyPlaces(t *testing.T) {
	pickle := "}q\x00"
	for i := range 30 {
		pickle += fmt.Sprintf("}q%c(%sh%c%sh%cu", i+1, text("a"), i, text("b"), i)
	}
	data := archived(t, pickle)
	_, err := Read(readerAt(data), int64(len(data)))
	checkError(t, "dicts", err, "found more than 1048576 values")
}

func TestArchiveRefused(t *testing.T) {
	const one = "\x00\x00\x80\x3f"
	pickle := "\x80\x02" + tensorOf(storageOf("0", 1), 0, tuple(1), tuple(1)) + "."
	two := "\x80\x02}(" + text("a") + tensorOf(storageOf("0", 2), 0, tuple(2), tuple(1)) + text("b") + tensorOf(storageOf("1", 2), 0, tuple(2), tuple(1)) + "u."
	overlapping := zipOf(t, entry{name: "a/data.pkl", content: two}, entry{name: "a/data/0", content: one + one}, entry{name: "a/data/1", content: one + one})
	// The directory sends both names to the first file.
	at := bytes.LastIndex(overlapping, []byte("a/data/1")) - 4
	copy(overlapping[at:], overlapping[bytes.LastIndex(overlapping, []byte("a/data/0"))-4:][:4])
	outside := bytes.Clone(zipOf(t, entry{name: "a/data.pkl", content: pickle}, entry{name: "a/data/0", content: one}))
	directory := bytes.LastIndex(outside, []byte("PK\x01\x02"))
	for _, offset := range []int{20, 24} { // both sizes
		binary.LittleEndian.PutUint32(outside[directory+offset:], 1<<30)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":        {nil, "found no file of torch.save, or a truncated one: zip: not a valid zip file"},
		"text":         {[]byte("some text"), "found no file of torch.save"},
		"other zip":    {zipOf(t, entry{name: "a.txt"}), "found an archive without NAME/data.pkl"},
		"other folder": {zipOf(t, entry{name: "a/data.pkl", content: pickle}, entry{name: "../b"}), `found "../b" in the archive, expected each file once in "a/"`},
		"twice":        {zipOf(t, entry{name: "a/data.pkl", content: pickle}, entry{name: "a/data.pkl", content: pickle}), `found "a/data.pkl" in the archive, expected each file once`},
		"compressed":   {zipOf(t, entry{"a/data.pkl", pickle, zip.Deflate}), `found "data.pkl" compressed or encrypted, expected it stored`},
		"bomb":         {zipOf(t, entry{name: "a/data.pkl", content: pickle}, entry{"a/data/0", strings.Repeat("\x00", 1<<20), zip.Deflate}), `found "data/0" compressed`},
		"big-endian":   {zipOf(t, entry{name: "a/data.pkl", content: pickle}, entry{name: "a/byteorder", content: "big"}), `found the byte order "big", expected little`},
		"no pickle":    {zipOf(t, entry{name: "a/data.pkl"}), "data.pkl: found the end of the file"},
		"overlapping":  {overlapping, `storage "1": found an overlap with storage "0"`},
		"outside":      {outside, `found 1073741824 bytes of "data/0" at offset`},
	} {
		_, err := Read(readerAt(c.data), int64(len(c.data)))
		if name == "overlapping" && err != nil && strings.Contains(err.Error(), `storage "0": found an overlap with storage "1"`) {
			continue // sorted the other way
		}
		checkError(t, name, err, c.want)
	}
}

// legacy returns a file of the legacy layout.
func legacy(version int, littleEndian, object, keys, storages string) []byte {
	return []byte("\x80\x02" + string(legacyMagic) + "\x80\x02" + number(version) + ".\x80\x02}" + text("little_endian") + littleEndian + "s.\x80\x02" + object + ".\x80\x02" + keys + "." + storages)
}

func TestLegacyRefused(t *testing.T) {
	const yes, no = "\x88", "\x89"
	object := tensorOf(storageOf("0", 1), 0, tuple(1), tuple(1))
	keys := "](" + text("0") + "e"
	one := "\x01" + strings.Repeat("\x00", 7) + "\x00\x00\x80\x3f"
	data := legacy(1001, yes, object, keys, one)
	if tensors, err := Read(readerAt(data), int64(len(data))); err != nil || len(tensors) != 1 {
		t.Fatalf("found %d tensors, error %v, want 1", len(tensors), err)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"version":      {legacy(1000, yes, object, keys, one), "found version 1000 of the legacy layout, expected 1001"},
		"big-endian":   {legacy(1001, no, object, keys, one), "found a system that is not little-endian"},
		"name":         {legacy(1001, yes, "cposix\nsystem\n", keys, one), `pickle with the object: found the name "posix.system"`},
		"no list":      {legacy(1001, yes, object, "]", one), "found another list of storages than that of the 1 in the object"},
		"other key":    {legacy(1001, yes, object, "]"+text("1")+"a", one), `found storage "1" unknown or twice`},
		"no storages":  {legacy(1001, yes, object, keys, ""), `storage "0": unexpected EOF`},
		"half storage": {legacy(1001, yes, object, keys, one[:10]), `storage "0": found 4 bytes at offset`},
		"count":        {legacy(1001, yes, object, keys, "\x02"+one[1:]), `storage "0": found 2 elements, expected 1`},
		"magic only":   {[]byte("\x80\x02" + string(legacyMagic)), "pickle with the version: found the end of the file"},
	} {
		_, err := Read(readerAt(c.data), int64(len(c.data)))
		checkError(t, name, err, c.want)
	}
}

// A directory larger than maxDirectory is not read.
func TestLargeDirectory(t *testing.T) {
	entries := make([]entry, 260)
	for i := range entries {
		entries[i].name = fmt.Sprint("a/", i, strings.Repeat("x", 65000))
	}
	data := zipOf(t, entries...)
	_, err := Read(readerAt(data), int64(len(data)))
	checkError(t, "directory", err, "found a directory of more than 16777216 bytes")
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
	for _, path := range []string{bad, dir, filepath.Join(dir, "absent")} {
		if Detect(path) {
			t.Errorf("%s was detected", path)
		}
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
	f.Add(archived(f, tensorOf(storageOf("0", 6), 0, tuple(2, 3), tuple(1, 2))))
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, err := Read(readerAt(data), int64(len(data)))
		if err != nil {
			if s := err.Error(); strings.Contains(s, "\n") || len(s) > 1000 {
				t.Errorf("error %q", s)
			}
			return
		}
		elements := 0
		for _, x := range tensors {
			n := 1
			for _, dim := range x.Shape {
				n *= dim
			}
			if elements += n; elements > maxShared*len(data)+minBytes {
				t.Fatalf("found %d elements in %d bytes", elements, len(data))
			}
			if err := x.Float32s(make([]float32, n)); err != nil && !strings.Contains(err.Error(), "found dtype") {
				t.Errorf("%s %v: %v", x.DType, x.Shape, err)
			}
		}
	})
}
