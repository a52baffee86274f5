package e2e

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tfm/internal/texttest"
)

// documents returns the files with commands for users, relative to the module's folder.
func documents(root string) []string {
	pages, _ := fs.Glob(os.DirFS(root), "docs/*.md") // fails for a bad pattern only
	return append(pages, "README.md", "README.zh.md", "BENCHMARKS.md", "mat/README.md", "train/runlog/README.md")
}

// notRun are commands, by their beginning, that a test cannot run, with the reason.
var notRun = map[string]string{
	"winget install":              "installs software",
	"brew install":                "installs software",
	"apt-get install":             "installs software",
	"curl -L":                     "needs the network",
	"sudo rm -rf /usr/local/go":   "removes an installed Go",
	"sudo tar -C /usr/local":      "installs software",
	"unzip":                       "the test makes the file that it unpacks",
	"export PATH":                 "changes the shell",
	"cd ":                         "every document has one folder here",
	"curl http://127.0.0.1:5000/": "a server runs alone here; package serve has this request",
	"go get":                      "needs the network; mat.TestVendoring does it offline",
	"go test":                     "would run this test; .ci/run runs it",
	"tfm distill":                 "needs a teacher that translates; TestDistill has one",
	"TFM_PROMISE=":                "takes long; TestPromise runs a part",
	"TFM_ARRIVALS=":               "takes long; TestMixedArrivals runs a part",
	"cp -r mat MODULE/mat":        "mat.TestVendoring does it",
	"rm -r mat/peers":             "mat.TestVendoring does it",
	"go vet ./mat":                "mat.TestVendoring does it",
	"sed -i 's|\"tfm/mat\"|":      "mat.TestVendoring does it",
	"mat/peers/run.sh":            "needs other libraries",
	"taskset -c 1 mat/peers/run.": "needs other libraries",
	"python3 train/peers/":        "needs PyTorch",
	"train/peers/curve.sh":        "needs PyTorch",
	"python3 model/decode/peers/": "needs CTranslate2",
	"scale/parallel/translate.sh": "needs GNU parallel; TestScaleParallel runs it",
	"scale/slurm/":                "needs Slurm; TestScaleSlurm runs it",
	"spark-submit ":               "needs PySpark; TestScaleSpark runs it",
	"snakemake ":                  "needs Snakemake; TestScaleSnakemake runs it",
	"rclone ":                     "needs rclone",
	"tfm import -o zh-en.":        "needs a release of OPUS-MT; model/convert reads a small one",
	"tfm translate -model zh-en.": "likewise",
	"tfm translate -model en-de.safetensors -file letter.docx": "needs a file of Word; text/document has one",
}

// leading are flags that make a command short, before those of the document.
var leading = map[string][]string{
	"translate": {"-set", "max-extra=2"}, // the models are not trained: most translations do not end
	"eval":      {"-set", "max-extra=2"},
}

// shortened are flags that make a command short, appended to those of the document.
var shortened = map[string][]string{
	"demo": {"-steps", "2", "-held-out", "4"},
	"train": {"-steps", "2", "-batch-tokens", "200", "-set", "d-model=64", "-set", "heads=2", "-set", "d-ff=64",
		"-set", "encoder-layers=1", "-set", "decoder-layers=1", "-vocab-size", "300", "-max-len", "64", "-set", "average=0"},
	"plan": {"-batch-tokens", "200", "-set", "d-model=16", "-set", "heads=2", "-set", "d-ff=16", "-set", "encoder-layers=1", "-set", "decoder-layers=1",
		"-vocab-size", "300", "-max-len", "64", "-set", "average=0"},
	"bench":    {"-quick", "-only", "machine"},
	"hold-out": {"-valid", "10", "-test", "10"},
	"serve":    {"-addr", "127.0.0.1:0"},
}

// asShortened is an environment variable that makes the test binary run the tfm that it names with
// the flags of leading and shortened.
const asShortened = "TFM_TEST_SHORTENED"

// runShortened runs tfm with args and the flags that make the command short. It returns the exit
// code.
func runShortened(tfm string, args []string) int {
	if len(args) > 0 {
		more := shortened[args[0]]
		switch {
		case slices.Contains(args, "-plan"):
			more = nil // the settings are those of the plan
		case slices.Contains(args, "-init"):
			// The sizes are the model's.
			more = []string{"-steps", "2", "-batch-tokens", "200", "-max-len", "64"}
		}
		args = slices.Concat(args[:1], leading[args[0]], args[1:], more)
		if i := slices.Index(args, "-vocab-size"); args[0] == "vocab" && i > 0 && i+1 < len(args) {
			args[i+1] = "44" // the texts of inputs have few pieces
		}
	}
	c := exec.Command(tfm, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	run := c.Run
	if len(args) > 0 && args[0] == "serve" && !slices.Contains(args, "-new-key") {
		run = func() error { return runUntilReady(c) }
	}
	if err := run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return c.ProcessState.ExitCode()
}

// runUntilReady runs a server until it has written a line, and interrupts it.
func runUntilReady(c *exec.Cmd) error {
	c.Stdout = nil
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	return cmp.Or(c.Process.Signal(os.Interrupt), c.Wait(), err)
}

// Every command in the documents runs, on small files of the names that it uses, and writes the
// files that it names.
func TestCommandsOfTheDocuments(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh: ", err)
	}
	self, err := os.Executable() // see asShortened
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	used, ran := map[string]bool{}, map[string]bool{}
	for _, document := range documents(root) {
		commands := commandsOf(t, filepath.Join(root, document))
		dir := t.TempDir()
		if err := os.Symlink(self, filepath.Join(dir, "tfm")); err != nil {
			t.Skip("needs symbolic links: ", err)
		}
		for _, command := range commands {
			if prefix := notRunPrefix(command); prefix != "" {
				used[prefix] = true
				for _, file := range regexp.MustCompile(`\b(mat|train|model/decode)/peers/\w+\.\w+`).FindAllString(command, -1) {
					if _, err := os.Stat(filepath.Join(root, file)); err != nil {
						t.Errorf("%s: %s: %v", document, command, err)
					}
				}
				continue
			}
			// The folder has a tfm, so that none need be installed.
			if dir, ok := strings.CutPrefix(command, "go install "); ok {
				if _, err := os.Stat(filepath.Join(root, dir)); err != nil {
					t.Errorf("%s: %s: %v", document, command, err)
				}
				continue
			}
			// A command of tfm that names no file, such as the demo, runs once for all
			// documents.
			_, arguments, isTFM := strings.Cut(command, "tfm ")
			if isTFM && !strings.Contains(arguments, ".") && ran[arguments] {
				continue
			}
			ran[arguments] = true
			runCommand(t, document, dir, command)
		}
	}
	for prefix := range notRun {
		if !used[prefix] {
			t.Errorf("no document has a command that begins with %q", prefix)
		}
	}
}

// known are the first words of the commands that runCommand runs.
var known = []string{"tfm", "awk", "mkdir"}

// runCommand runs a command of a document in dir, shortened.
func runCommand(t *testing.T, document, dir, command string) {
	t.Helper()
	run := strings.Replace(command, "go run ./cmd/tfm", "tfm", 1)
	words := strings.Fields(run)
	if !slices.Contains(known, words[0]) {
		t.Errorf("%s: unknown command %s; add it to known or notRun", document, command)
		return
	}
	for _, word := range words {
		for name := range strings.SplitSeq(word, ",") {
			makeInput(t, dir, name)
		}
	}
	c := exec.Command("sh", "-ec", run)
	c.Dir = dir
	c.Env = append(os.Environ(), asShortened+"="+program(), "GORACE=atexit_sleep_ms=0", "HOME="+dir,
		"PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %s: %v\n%s", document, command, err, out)
		return
	}
	for _, name := range outputs(words) {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %s: did not write %s: %v", document, command, name, err)
		}
	}
}

var fileName = regexp.MustCompile(`^[\w.-]+$`)

// outputs returns the files that a command names as its output.
func outputs(words []string) (names []string) {
	for i, word := range words[:len(words)-1] {
		if (word == "-o" || word == ">") && fileName.MatchString(words[i+1]) {
			names = append(names, words[i+1])
		}
		if word == "-plan" {
			return []string{filepath.Join(words[i+1], "model.safetensors")}
		}
	}
	if len(words) > 1 && words[1] == "train" && !slices.Contains(words, "-o") && !slices.Contains(words, "-dump-config") {
		names = append(names, "model.safetensors")
	}
	return names
}

// inputs are the files that the documents' commands read and no command of them writes, by their
// names without .gz: lines of text, one that depends on the number of the line.
var inputs = map[string]func(i int) string{
	"train.en": english, "val.en": english, "test.en": english, "some.en": english,
	"train.de": german, "val.de": german, "test.de": german,
	"more.de": german,
	"hyp.de":  german, "baseline.de": german, "new.de": english, "other.de": english,
	"keys.txt":                        func(i int) string { return fmt.Sprintf("%064x key%d", i, i) },
	"all.en":                          func(i int) string { return allEnglish[i] },
	"all.de":                          func(i int) string { return allGerman[i] },
	"pairs.tsv":                       func(i int) string { return english(i) + "\t" + german(i) },
	"some.tsv":                        func(i int) string { return fmt.Sprint(i) + "\t" + english(i) },
	"some.html":                       func(i int) string { return "<p>" + strings.Replace(english(i), " ", " <b>", 1) + "</b>" },
	"terms.tsv":                       func(i int) string { return fmt.Sprintf("dog%d|dogs%[1]d\tWolf|Wölfe", i) },
	"some.jsonl":                      func(i int) string { return fmt.Sprintf(`{"id":%d,"text":%q}`, i, english(i)) },
	"test_2016_flickr.en":             english,
	"test_2016_flickr.de":             german,
	"train.lc.norm.tok.en":            english,
	"train.lc.norm.tok.de":            german,
	"val.lc.norm.tok.en":              english,
	"val.lc.norm.tok.de":              german,
	"test_2016_flickr.lc.norm.tok.en": english,
	"test_2016_flickr.lc.norm.tok.de": german,
	"page.html":                       func(i int) string { return "<p>" + english(i) + "</p>" },
	"film.srt":                        subtitles,
	"codes":                           codes,
	"vocabulary":                      func(i int) string { return fmt.Sprintf("%s%d 99", string(rune('a'+i%26)), i) },
	"memory.tmx":                      memory,
	"mix.yml":                         mix,
	"cmn.txt":                         func(i int) string { return manythings(i, "%d只狗跑向%d只猫。") },
	"deu.txt":                         func(i int) string { return manythings(i, "%d Hunde laufen zu %d Katzen.") },
}

// allEnglish and allGerman are lines that do not resemble each other.
var allEnglish, allGerman = texttest.Pairs(exampleLines)

// subtitles is a line of a file with a cue in each four lines.
func subtitles(i int) string {
	return []string{fmt.Sprint(i/4 + 1), fmt.Sprintf("00:%02d:00,000 --> 00:%02d:02,000", i/4, i/4), english(i), ""}[i%4]
}

// codes is a line of a file of subword-nmt.
func codes(i int) string {
	if i == 0 {
		return "#version: 0.2"
	}
	return fmt.Sprintf("t h%d", i)
}

// mix is a line of the settings of a training with sources.
func mix(i int) string {
	lines := []string{"datasets:", "  general:", "    src: val.en", "    tgt: val.de"}
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// memory is a line of a translation memory: a unit, with the begin or the end of the file.
func memory(i int) string {
	unit := fmt.Sprintf("<tu><tuv xml:lang='en'><seg>%s</seg></tuv><tuv xml:lang='de'><seg>%s</seg></tuv></tu>", allEnglish[i], allGerman[i])
	switch i {
	case 0:
		return "<tmx version='1.4'><header srclang='en'/><body>\n" + unit
	case exampleLines - 1:
		return unit + "\n</body></tmx>"
	}
	return unit
}

func english(i int) string { return fmt.Sprintf("%d dogs run to %d cats .", i, i%7) }
func german(i int) string  { return fmt.Sprintf("%d Hunde laufen zu %d Katzen .", i, i%7) }

// manythings is a line of the files of manythings.org, which begin with a byte order mark. Lines i
// and i+exampleLines/2 have the same English sentence; format is that of its translation.
func manythings(i int, format string) string {
	mark := ""
	if i == 0 {
		mark = "\uFEFF"
	}
	return mark + english(i%(exampleLines/2)) + fmt.Sprintf("\t"+format+"\tCC-BY 2.0 (France)", i, i%7)
}

// The splits of the examples keep all translations of an English sentence in one part, in any order
// of the lines, and the two sides of a part line by line.
func TestSplitsOfTheExamples(t *testing.T) {
	if _, err := exec.LookPath("awk"); err != nil {
		t.Skip("needs awk: ", err)
	}
	for document, corpus := range map[string]struct{ file, side string }{
		"README.md": {"deu.txt", ".de"}, "README.zh.md": {"cmn.txt", ".zh"},
	} {
		dir, found := t.TempDir(), false
		for _, command := range commandsOf(t, filepath.Join("../..", document)) {
			if strings.HasPrefix(command, "awk ") {
				found = true
				runCommand(t, document, dir, command)
			}
		}
		if !found {
			t.Errorf("%s has no awk command", document)
			continue
		}
		partOf, pairs := map[string]string{}, map[string]bool{}
		for _, part := range []string{"train", "valid", "test"} {
			sides := [2][]string{}
			for i, side := range []string{".en", corpus.side} {
				text := strings.ReplaceAll(read(t, filepath.Join(dir, part+side)), "\uFEFF", "")
				sides[i] = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			}
			if len(sides[0]) != len(sides[1]) {
				t.Fatalf("%s: %s has %d English lines, %d of the other side", document, part, len(sides[0]), len(sides[1]))
			}
			for i, english := range sides[0] {
				if other, ok := partOf[english]; ok && other != part {
					t.Errorf("%s: %q is in %s and %s", document, english, other, part)
				}
				partOf[english] = part
				pairs[english+"\t"+sides[1][i]] = true
			}
		}
		if len(pairs) != exampleLines {
			t.Errorf("%s: the parts have %d different pairs, want %d", document, len(pairs), exampleLines)
		}
		for i := range exampleLines {
			pair := strings.TrimPrefix(inputs[corpus.file](i), "\uFEFF")
			if pair = pair[:strings.LastIndex(pair, "\t")]; !pairs[pair] {
				t.Errorf("%s: no part has the pair %q", document, pair)
			}
		}
	}
}

// exampleLines is the number of lines of a file of inputs.
const exampleLines = 240

// exports are the models of other systems that the documents' commands read, with their formats.
var exports = map[string]string{"opus-mt-en-de": "marian-hf", "opus-mt-en-zh": "marian-hf", "translate-en_de-1_0.argosmodel": "ctranslate2", "firefox-en-de": "marian"}

// folders are the folders of models that the documents' commands read, with those that take their
// place.
var folders = map[string]string{"nllb-200-distilled-600M": "../../model/convert/testdata/m2m-nllb"}

// makeInput makes a file of inputs, or a model of exports or folders, unless it exists.
func makeInput(t *testing.T, dir, name string) {
	t.Helper()
	if format, ok := exports[name]; ok {
		m := piecesModel
		if format == "marian" {
			m = studentModel
		}
		out := filepath.Join(dir, name)
		if path.Ext(name) != ".argosmodel" {
			mustRun(t, "", "export", "-force", "-format", format, "-o", out, m(t))
			return
		}
		folder := filepath.Join(t.TempDir(), "model")
		mustRun(t, "", "export", "-format", format, "-o", folder, m(t))
		packArgos(t, folder, out)
		return
	}
	if from, ok := folders[name]; ok {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if name == "mix.yml" { // its sources
		makeInput(t, dir, "val.en")
		makeInput(t, dir, "val.de")
	}
	line, ok := inputs[strings.TrimSuffix(name, ".gz")]
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); !ok || err == nil {
		return
	}
	var text, packed bytes.Buffer
	for i := range exampleLines {
		fmt.Fprintln(&text, line(i))
	}
	if strings.HasSuffix(name, ".gz") {
		w := gzip.NewWriter(&packed)
		w.Write(text.Bytes())
		w.Close()
		text = packed
	}
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// packArgos writes the model of CTranslate2 in a folder as a package of Argos Translate.
func packArgos(t *testing.T, folder, out string) {
	t.Helper()
	files := map[string]string{"metadata.json": `{"from_code": "en", "to_code": "fr"}`}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := "model/" + e.Name()
		if e.Name() == "sentencepiece.model" {
			name = e.Name()
		}
		files[name] = read(t, filepath.Join(folder, e.Name()))
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range files {
		w, err := z.Create("translate/" + name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// notRunPrefix returns the key of notRun with which a command begins, "" without one.
func notRunPrefix(command string) string {
	for prefix := range notRun {
		if strings.HasPrefix(command, prefix) {
			return prefix
		}
	}
	return ""
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// commandsOf returns the commands in the sh and powershell blocks of a document.
func commandsOf(t *testing.T, path string) (commands []string) {
	t.Helper()
	for _, block := range fence.FindAllStringSubmatch(read(t, path), -1) {
		switch language := block[1]; language {
		case "sh", "powershell":
			commands = append(commands, splitCommands(block[2])...)
		case "go", "text", "json", "yaml":
		default:
			t.Errorf("%s: a block of language %q, want sh, powershell, go, text, json or yaml:\n%s", path, language, block[2])
		}
	}
	return commands
}

// splitCommands splits a script at newlines, && and ;, except inside quotes, and removes comments
// and the newlines that a backslash precedes.
func splitCommands(script string) (commands []string) {
	var b strings.Builder
	end := func() {
		if s := strings.TrimSpace(b.String()); s != "" {
			commands = append(commands, s)
		}
		b.Reset()
	}
	quote := byte(0)
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
			b.WriteByte(c)
		case c == '\\' && i+1 < len(script) && script[i+1] == '\n':
			b.WriteByte(' ')
			i++
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n", script[i-1]) >= 0):
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
		case c == '&' && strings.HasPrefix(script[i:], "&&"):
			end()
			i++
		case c == '\n' || c == ';':
			end()
		default:
			b.WriteByte(c)
		}
	}
	end()
	return commands
}

func TestSplitCommands(t *testing.T) {
	got := splitCommands("# a\ncd x && tfm a \\\n  -b 'c; #d\ne' > f # g\na; b|c\n")
	want := []string{"cd x", "tfm a    -b 'c; #d\ne' > f", "a", "b|c"}
	if !slices.Equal(got, want) {
		t.Errorf("splitCommands = %q, want %q", got, want)
	}
}
