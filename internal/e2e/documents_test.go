package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// -file translates the texts of documents and copies the rest, in the formats that their content or
// name says.
func TestTranslateDocuments(t *testing.T) {
	m := toyModel(t)
	translation := strings.TrimSpace(mustRun(t, "the big cat\n", "translate", "-model", m).stdout)
	html, json := "<!DOCTYPE html>\n<p class=x>the <b>big</b> cat</p><pre>the big cat</pre>\n", "{\"the\": [\"the big cat\", 1]}\n"
	page := write(t, "page", html)
	o := mustRun(t, "", "translate", "-model", m, "-file", page)
	plain := strings.NewReplacer("<b>", "", "</b>", "").Replace(o.stdout)
	if want := strings.ReplaceAll(strings.ReplaceAll(html, "the <b>big</b> cat", translation), "<b>", ""); plain != want || strings.Count(o.stdout, "<b>") != 1 {
		t.Errorf("answered %q, want %q with <b>", o.stdout, want)
	}
	want := strings.Replace(json, `"the big cat"`, `"`+translation+`"`, 1)
	if got := mustRun(t, json, "translate", "-model", m, "-file", "-", "-format", "json").stdout; got != want {
		t.Errorf("answered %q, want %q", got, want)
	}

	glossary := write(t, "terms.tsv", "cat\tKatze\nbig\tgroß\n")
	for name, document := range map[string]string{"page": html, "strings.json": json} {
		got := mustRun(t, "", "translate", "-model", m, "-glossary", glossary, "-file", write(t, name, document)).stdout
		if strings.Count(got, "Katze") != 1 || strings.Count(got, "groß") != 1 {
			t.Errorf("%s: %q, want both terms once", name, got)
		}
	}

	dir := t.TempDir()
	values := write(t, "strings.json", json)
	mustRun(t, "", "translate", "-model", m, "-file", page, values, "-o", dir)
	if got := read(t, filepath.Join(dir, "strings.json")); got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	for name, want := range map[string]string{"x.tsv": "the big cat\t" + translation + "\n", "x.xlf": "<target state=\"needs-review-translation\">" + translation + "</target>"} {
		out := filepath.Join(dir, name)
		mustRun(t, "", "translate", "-model", m, "-file", values, "-bilingual", "-set", "review=true", "-o", out)
		if got := read(t, out); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A document with a fault leaves the output as it was, and no other file.
func TestTranslateDocumentErrors(t *testing.T) {
	m, dir := toyModel(t), t.TempDir()
	out := filepath.Join(dir, "out.json")
	noError(t, os.WriteFile(out, []byte("old"), 0o666))
	bad, good := write(t, "bad.json", "{\"a\": \"the big cat\",\n\"b\" 1}"), write(t, "good.json", `"the big cat"`)
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-file", bad, "-o", out), 1, "bad.json:2: invalid character '1' after object key")
	if entries, _ := os.ReadDir(dir); len(entries) != 1 || read(t, out) != "old" {
		t.Errorf("the folder of -o has %d files, out.json %q, want old alone", len(entries), read(t, out))
	}
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-file", write(t, "a.unknown", "x")), 1, "a.unknown: unknown format; name one of ")
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-file", good, bad, "-o", out), 2, "several documents need a folder that exists")
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-file", good, good, "-o", dir), 2, "two documents have the name good.json")
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-file", good, "-o", good), 2, "would replace an input")
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-file", dir), 1, "is not a regular file")
	for flag, want := range map[string]string{"-json": "either -file or -json", "-split": "either -file or -split", "-format=pdf": "expected one of"} {
		mustFail(t, runTFM(t, "", "translate", "-model", m, "-file", good, flag), 2, want)
	}
	mustFail(t, runTFM(t, "", "translate", "-model", m, "-set", "review=true"), 2, "review needs -file")
}
