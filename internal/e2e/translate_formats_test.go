package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// With -column the columns are copied and the answer follows.
func TestTranslateTSV(t *testing.T) {
	m := toyModel(t)
	sentences := []string{"the big cat sees the dog", "", "the old dog"}
	plain := strings.Split(mustRun(t, strings.Join(sentences, "\n"), "translate", "-model", m, "-scores").stdout, "\n")
	var input, want, wantScores string
	for i, s := range sentences {
		line := fmt.Sprintf(" id %d\t%s\t", i, s)
		input += line + "\n"
		best, _, _ := strings.Cut(plain[i], "\t")
		want += line + "\t" + best + "\n"
		wantScores += line + "\t" + plain[i] + "\n"
	}
	if got := mustRun(t, input, "translate", "-model", m, "-column", "2").stdout; got != want {
		t.Errorf("-column: %q, want %q", got, want)
	}
	if got := mustRun(t, input, "translate", "-model", m, "-column", "2", "-scores").stdout; got != wantScores {
		t.Errorf("-column -scores: %q, want %q", got, wantScores)
	}
	lists := mustRun(t, strings.Join(sentences, "\n"), "translate", "-model", m, "-nbest", "2").stdout
	var wantLists string
	for _, l := range list(t, lists) {
		var i int
		fmt.Sscan(l[0], &i)
		wantLists += strings.Split(input, "\n")[i] + "\t" + strings.Join(l, "\t") + "\n"
	}
	if got := mustRun(t, input, "translate", "-model", m, "-column", "2", "-nbest", "2").stdout; got != wantLists {
		t.Errorf("-column -nbest: %q, want %q", got, wantLists)
	}
	keyed := mustRun(t, input, "translate", "-model", m, "-column", "2", "-nbest", "1", "-key", "1").stdout
	if !strings.HasPrefix(keyed, " id 0\t"+sentences[0]+"\t\t id 0\t") {
		t.Errorf("-nbest -key: %q, want the key in place of the number", keyed)
	}

	// A line without the column does not stop the others.
	o := runTFM(t, "a\tthe old dog\nno tab\nb\tthe old dog\n", "translate", "-model", m, "-column", "2", "-scores")
	mustFail(t, o, 1, "1 of 3 lines not translated")
	if lines := strings.Split(o.stdout, "\n"); lines[1] != "no tab\t\t" || lines[0][1:] != lines[2][1:] ||
		!strings.Contains(o.stderr, "tfm: standard input:2: found no tab, expected column 2\n") {
		t.Errorf("a line without column 2: %q, %s", o.stdout, o.stderr)
	}
}

// With -json the fields are copied, in their order and spelling, and the answer follows.
func TestTranslateJSON(t *testing.T) {
	m := toyModel(t)
	best := strings.TrimSuffix(mustRun(t, "the old dog\n", "translate", "-model", m).stdout, "\n")
	const object = `{"id": 1.50, "text": "the old\ndog", "x": [{"text": null}], "é": "<\u00e9>" }`
	lines := []string{object, "", `{"text":" "}`, "{", "[1]", `{"title":"the old dog"}`, `{"text":7}`, `{"text":"the old dog","translation":1}`, `{"error":1,"text":null}`, `  {"text":"the old dog"}`}
	o := runTFM(t, strings.Join(lines, "\n"), "translate", "-model", m, "-json")
	mustFail(t, o, 1, "6 of 10 lines not translated")
	want := []string{
		object[:len(object)-1] + `,"translation":"` + best + `"}`,
		"",
		`{"text":" ","translation":""}`,
		`{"error":"standard input:4: malformed JSON: unexpected end of JSON input"}`,
		`{"error":"standard input:5: found an array, expected a JSON object"}`,
		`{"title":"the old dog","error":"standard input:6: found no field \"text\""}`,
		`{"text":7,"error":"standard input:7: field \"text\" is a number, expected a string"}`,
		`{"text":"the old dog","translation":1,"error":"standard input:8: found a field \"translation\", which is the name of a field of the answer"}`,
		`{"text":null,"error":"standard input:9: field \"text\" is null, expected a string"}`,
		`{"text":"the old dog","translation":"` + best + `"}`,
	}
	if got := strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n"); !slices.Equal(got, want) {
		t.Errorf("-json:\n%s\nwant\n%s", o.stdout, strings.Join(want, "\n"))
	}
	if n := strings.Count(o.stderr, "tfm: standard input:"); n != 6 {
		t.Errorf("%d warnings, want 6:\n%s", n, o.stderr)
	}

	// Scores and lists are those of plain text; -as and -column name the fields.
	lists := list(t, mustRun(t, "the old dog\n", "translate", "-model", m, "-nbest", "3").stdout)
	out := mustRun(t, `{"title":"the old dog"}`, "translate", "-model", m, "-json", "-column", "title", "-set", "as=fr", "-nbest", "3").stdout
	mustHave(t, out, `{"title":"the old dog","fr":"`+best+`"`, `"score":`+lists[0][1], `{"fr":"`+lists[1][2]+`","score":`+lists[1][1]+"}", `"score":`+lists[2][1])
	// The output of one model is the input of another.
	pivot := mustRun(t, mustRun(t, `{"text":"the old dog"}`, "translate", "-model", m, "-json").stdout,
		"translate", "-model", m, "-json", "-column", "translation", "-set", "as=pivot").stdout
	if !strings.HasPrefix(pivot, `{"text":"the old dog","translation":"`+best+`","pivot":"`) {
		t.Errorf("pivot: %s", pivot)
	}
}

// With -key a line draws the same in any order and with other lines left out. The number of a line
// as its key draws as without keys.
func TestTranslateKey(t *testing.T) {
	sample := []string{"translate", "-model", toyModel(t), "-sample", "-set", "temperature=3", "-seed", "3"}
	const text = "the big cat sees the dog"
	// Tabs become spaces in columns.
	want := strings.Split(strings.ReplaceAll(mustRun(t, strings.Repeat(text+"\n", 30), sample...).stdout, "\t", " "), "\n")
	if n := len(slices.Compact(slices.Sorted(slices.Values(want)))); n < 10 {
		t.Fatalf("%d different draws, want at least 10", n)
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(30)[:20]
	var tsv, objects string
	for _, i := range order {
		tsv += fmt.Sprintf("%d\t%s\n\t\n", i, text)
		objects += fmt.Sprintf("{\"id\":%d,\"text\":%q}\n\n", i, text)
	}
	columns := strings.Split(mustRun(t, tsv, append(sample, "-column", "2", "-key", "1")...).stdout, "\n")
	lines := strings.Split(mustRun(t, objects, append(sample, "-json", "-key", "id")...).stdout, "\n")
	for at, i := range order {
		var o struct{ Translation string }
		noError(t, json.Unmarshal([]byte(lines[2*at]), &o))
		if _, got, _ := strings.Cut(columns[2*at], text+"\t"); got != want[i] || strings.ReplaceAll(o.Translation, "\t", " ") != want[i] {
			t.Errorf("key %d draws %q as TSV and %q as JSON, want %q", i, got, o.Translation, want[i])
		}
	}
}

// Flags that exclude or need each other are named.
func TestTranslateRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"-key 2 -sample":                      "-key 2 needs -column or -json; -key 1 is the line",
		"-column 0":                           `-column is "0", expected the number of a column, from 1, or -json`,
		"-split -nbest 2":                     "either -split or -nbest",
		"-split -json -set token-scores=true": "either -split or token-scores",
		"-paragraphs":                         "-paragraphs needs -split",
		"-split -paragraphs -column 1":        "either -paragraphs or -column",
		"-stream -json":                       "either -stream or -json",
		"-stream -set batch=1":                "either -stream or batch",
		"-tags html -nbest 2":                 "either -tags or -nbest",
		"-protect -json -set alternatives=2":  "either -protect or alternatives",
		"-memory x -align words":              "either -memory or -align",
		"-column 1 -key 1":                    "-key needs -sample or -nbest",
		"-json -set as=text":                  `as is "text", expected another name than -column and -key`,
		"-json -scores -column score":         "-column score: the answer has a field of this name",
	} {
		mustFail(t, runTFM(t, "", append([]string{"translate"}, strings.Fields(args)...)...), 2, want)
	}
}

// Endless input is answered line by line, and lines that are not answered are bounded.
func TestTranslateEndlessInput(t *testing.T) {
	c := tfm("translate", "-model", toyModel(t), "-beam", "1")
	in, out := startWithPipes(t, c)
	written := make(chan int)
	go func() { // until tfm ends, because nobody reads its output
		n := 0
		for ; n < 1<<20; n++ {
			if _, err := io.WriteString(in, "the old dog\n"); err != nil {
				break
			}
		}
		written <- n
	}()
	answers := make([]byte, 1<<12)
	if _, err := io.ReadFull(out, answers); err != nil {
		t.Error(err)
	}
	out.Close()
	if err := c.Wait(); err == nil {
		t.Error("tfm answered all lines of an endless input that nobody read")
	}
	if n := <-written; n == 1<<20 {
		t.Errorf("tfm read %d lines", n)
	}
}

// -progress prints the total, and elsewhere than on a terminal nothing is printed without it.
func TestTranslateProgress(t *testing.T) {
	m := toyModel(t)
	file := filepath.Join(t.TempDir(), "in")
	noError(t, os.WriteFile(file, []byte("the old dog\nthe cat\n"), 0o666))
	if o := mustRun(t, "", "translate", "-model", m, file); o.stderr != "" {
		t.Errorf("standard error %q, want nothing", o.stderr)
	}
	for _, args := range [][]string{{file}, {}} {
		o := mustRun(t, "the old dog\nthe cat\n", append([]string{"translate", "-model", m, "-progress"}, args...)...)
		if !strings.HasPrefix(o.stderr, "2 lines in ") || !strings.HasSuffix(o.stderr, " a second\n") {
			t.Errorf("-progress: standard error %q", o.stderr)
		}
	}
}

// Lines of a memory get its translation, also of TMX with regions, but not of another language, and
// an output is made again after the memory has changed.
func TestTranslateWithMemory(t *testing.T) {
	m, dir := toyModel(t), t.TempDir()
	memory, out := filepath.Join(dir, "memory.tmx"), filepath.Join(dir, "out")
	write := func(lang, target string) {
		t.Helper()
		content := "<tmx version='1.4'><header srclang='en-US'/><body><tu><tuv xml:lang='en-US'><seg>the red dog</seg></tuv><tuv xml:lang='" + lang + "'><seg>" + target + "</seg></tuv></tu></body></tmx>"
		noError(t, os.WriteFile(memory, []byte(content), 0o666))
	}
	write("fr-CA", "LE CHIEN")
	const in = "the red dog\nthe red dog sees the cat\n"
	plain := strings.SplitAfter(mustRun(t, in, "translate", "-model", m).stdout, "\n")
	if got, want := mustRun(t, in, "translate", "-model", m, "-memory", memory).stdout, "LE CHIEN\n"+plain[1]; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	object := mustRun(t, `{"text":"the red dog"}`+"\n", "translate", "-model", m, "-memory", memory, "-json").stdout
	if want := `{"text":"the red dog","translation":"LE CHIEN","memory":true}` + "\n"; object != want {
		t.Errorf("%s, want %s", object, want)
	}
	src := filepath.Join(dir, "in")
	noError(t, os.WriteFile(src, []byte(in), 0o666))
	for _, target := range []string{"LE CHIEN", "LE LOUP"} {
		write("fr", target)
		mustRun(t, "", "translate", "-model", m, "-memory", memory, "-o", out, src)
		if got := read(t, out); !strings.HasPrefix(got, target+"\n") {
			t.Errorf("%q, want %s at its begin", got, target)
		}
	}
	write("de", "DER HUND")
	mustFail(t, runTFM(t, in, "translate", "-model", m, "-memory", memory), 1, "found no unit in two languages, expected en and fr")
	mustFail(t, runTFM(t, in, "translate", "-model", m, "-memory", filepath.Join(dir, "none")), 1, "none: no such file")
}

// With adapt lines that resemble one of the memory are translated by a model that is tuned to it,
// whose similarity JSON has; all others as without.
func TestTranslateAdapt(t *testing.T) {
	m := toyModel(t)
	memory := write(t, "memory.tsv", "the red dog sees the cat\tle chat rouge\nthe big house\tLA MAISON\n")
	const in = "the red dog sees the dog\nthe big house\nthe dog\n"
	args := []string{"translate", "-model", m, "-memory", memory}
	plain := strings.Split(mustRun(t, in, args...).stdout, "\n")
	adapted := strings.Split(mustRun(t, in, append(args, "-set", "adapt=0.8")...).stdout, "\n")
	if adapted[0] == plain[0] || adapted[1] != "LA MAISON" || adapted[2] != plain[2] {
		t.Errorf("%q, without -adapt %q", adapted, plain)
	}
	object := mustRun(t, `{"text":"the red dog sees the dog"}`+"\n"+`{"text":"the dog"}`+"\n", append(args, "-set", "adapt=0.8", "-json")...).stdout
	if lines := strings.Split(object, "\n"); !strings.Contains(lines[0], `,"similarity":0.8333`) || strings.Contains(lines[1], "similarity") {
		t.Errorf("objects %s", object)
	}
	small := filepath.Join(t.TempDir(), "small.safetensors")
	mustRun(t, "", "quantize", "-o", small, m)
	mustFail(t, runTFM(t, in, "translate", "-model", small, "-memory", memory, "-set", "adapt=0.5"), 1, small)
	mustFail(t, runTFM(t, in, "translate", "-model", m, "-set", "adapt=0.5"), 2, "adapt needs -memory")
}
