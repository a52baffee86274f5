package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A model of many languages translates between those of -from and -to, or of an object or a text,
// and lists them if one is missing or unknown.
func TestTranslateBetweenLanguages(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	model := filepath.Join(dir, "nllb.safetensors")
	code, _, stderr := runHere(t, ctx, "import", "-o", model, "../../model/convert/testdata/m2m-nllb")
	if code != 0 || !strings.Contains(stderr, "ace_Arab") || !strings.Contains(stderr, "and 194 more (-to)") {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if _, stdout, _ := runHere(t, ctx, "info", model); !strings.Contains(stdout, "fra_Latn") || !strings.Contains(stdout, "its language, text, EOS") {
		t.Errorf("info: %s", stdout)
	}
	input := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	translate := func(args ...string) (code int, stdout, stderr string) {
		return runHere(t, ctx, append([]string{"translate", "-beam", "1", "-model", model}, args...)...)
	}
	code, _, stderr = runHere(t, ctx, "import", "-force", "-o", model, "-tgt-lang", "tlh", "../../model/convert/testdata/m2m-nllb")
	if code != 2 || !strings.Contains(stderr, `-tgt-lang is "tlh", expected one of the 202 languages`) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	plain := input("plain", "buna ga ki deni bure roda!\n")
	_, want, _ := translate("-from", "en", "-to", "fr", plain)
	if _, got, _ := translate("-from", "eng_Latn", input("coded", ">>fra<< buna ga ki deni bure roda!\n")); got != want || strings.TrimSpace(want) == "" {
		t.Errorf("%q with the code in the text, want %q", got, want)
	}
	objects := input("json", `{"text": "buna ga ki deni bure roda!", "from": "en", "to": "fr"}
{"text": "buna ga ki deni bure roda!", "from": "en", "to": "klingon"}
{"text": "buna", "from": "en", "to": 7}
{"text": "buna"}
`)
	code, got, stderr := translate("-json", "-to", "de", objects)
	if code != 1 || !strings.Contains(got, `"translation":"`+strings.TrimSpace(want)) || strings.Count(got, "klingon") < 2 || strings.Count(got, "\"error\"") != 3 || strings.Count(got, "\n") != 4 {
		t.Errorf("exit %d, %q, %s, want the translation %q and an error", code, got, stderr, want)
	}
	// A memory is of -from and -to: an object in other languages is translated without it.
	memory := input("memory.tsv", "buna ga ki deni bure roda!\tINMEMORY\n")
	if _, got, stderr := translate("-json", "-from", "en", "-to", "fr", "-memory", memory, input("json2", `{"text": "buna ga ki deni bure roda!"}
{"text": "buna ga ki deni bure roda!", "to": "fra_Latn"}
{"text": "buna ga ki deni bure roda!", "to": "de"}
{"text": "buna ga ki deni bure roda!", "from": "de"}
`)); strings.Count(got, "INMEMORY") != 2 || strings.Count(got, "\n") != 4 {
		t.Errorf("with a memory: %q, %s", got, stderr)
	}
	for _, args := range [][]string{{"-memory", memory, "-from", "en", plain}, {"-to", "fr", plain}, {"-from", "en", plain}, {"-from", "en", "-to", "xx", plain}} {
		code, stdout, stderr := translate(args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, "expected one of the ") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// Models of many languages are trained further in the languages of -src-lang and -tgt-lang, or of
// -tag, which the new model translates without -from and -to. It keeps the others.
func TestTrainManyLanguages(t *testing.T) {
	words := [][3]string{{"buna", "ga", "ki"}, {"deni", "bure", "roda"}, {"kali", "mo", "tesu"}, {"nopo", "lira", "gude"}}
	for _, folder := range []string{"m2m-nllb", "m2m-100"} {
		dir, ctx := t.TempDir(), context.Background()
		path := func(name string) string { return filepath.Join(dir, name) }
		var plain, tagged, swapped, in, french, german strings.Builder
		for range 12 {
			for _, w := range words {
				fmt.Fprintf(&plain, "%s\t%s\n", w[0], w[1])
				fmt.Fprintf(&swapped, "%s\t%s\n", w[1], w[0])
				fmt.Fprintf(&tagged, ">>fr<< %s\t%s\n>>de<< %[1]s\t%[3]s\n", w[0], w[1], w[2])
			}
		}
		for _, w := range words {
			fmt.Fprintln(&in, w[0])
			fmt.Fprintln(&french, w[1])
			fmt.Fprintln(&german, w[2])
		}
		write := func(name, text string) {
			if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		write("plain.tsv", plain.String())
		write("tagged.tsv", tagged.String())
		write("in", in.String())
		write("french", french.String())
		ok := func(args ...string) string {
			code, stdout, stderr := runHere(t, ctx, args...)
			if code != 0 {
				t.Fatalf("%v: exit %d, %s", args, code, stderr)
			}
			return stdout
		}
		ok("import", "-o", path("m"), "../../model/convert/testdata/"+folder)
		train := []string{"train", "-init", path("m"), "-o", path("new"), "-force", "-steps", "200", "-valid-every", "200", "-lr", "0.01", "-dropout", "0", "-set", "attention-dropout=0", "-set", "label-smoothing=0"}
		resume := append(slices.DeleteFunc(slices.Clone(train), func(arg string) bool { return arg == "-force" }), "-resume")
		with := func(pairs string, more ...string) []string {
			return append(slices.Concat(train, []string{"-tsv", path(pairs), "-valid-tsv", path(pairs)}), more...)
		}
		check := func(name, got, want string) {
			if got != want {
				t.Errorf("%s %s: %q, want %q", folder, name, got, want)
			}
		}
		ok(with("plain.tsv", "-src-lang", "en", "-tgt-lang", "fr")...)
		check("one pair", ok("translate", "-model", path("new"), path("in")), french.String())
		ok("translate", "-model", path("new"), "-from", "de", "-to", "es", path("in"))
		ok(with("tagged.tsv", "-src-lang", "en", "-tag", "-trim")...)
		for to, want := range map[string]string{"fr": french.String(), "de": german.String()} {
			check("-to "+to, ok("translate", "-model", path("new"), "-to", to, path("in")), want)
		}
		if folder == "m2m-100" {
			continue // the rest is the same for both
		}
		mix := "datasets:\n  one: plain.tsv\n  two:\n    path: swapped.tsv\n    src-lang: fr\n    tgt-lang: en\n"
		for name, text := range map[string]string{"mix.yml": mix, "swapped.tsv": swapped.String(), "part.yml": mix + "    tag: '>>en<<'\n"} {
			write(name, text)
		}
		ok(append(train, "-steps", "400", "-mix", path("mix.yml"), "-valid-tsv", path("plain.tsv"), "-src-lang", "eng_Latn", "-tgt-lang", "fr")...)
		check("-mix", ok("translate", "-model", path("new"), path("in")), french.String())
		check("the second of -mix", ok("translate", "-model", path("new"), "-from", "fr", "-to", "en", path("french")), in.String())
		if code, _, stderr := runHere(t, ctx, append(train, "-mix", path("part.yml"))...); code != 2 || !strings.Contains(stderr, "the dataset one has no tag") {
			t.Errorf("%s: exit %d, %s, want an error for the dataset without a tag", folder, code, stderr)
		}
		if code, _, stderr := runHere(t, ctx, append(resume, "-mix", path("mix.yml"), "-src-lang", "de", "-tgt-lang", "fr")...); code != 2 || !strings.Contains(stderr, "-src-lang de conflicts") {
			t.Errorf("%s: exit %d, %s, want a conflict of the languages", folder, code, stderr)
		}
		for args, want := range map[string]string{"-tgt-lang fr": "-src-lang is missing, expected one of the", "-src-lang en": "-tgt-lang is missing", "-src-lang en -tgt-lang tlh": `-tgt-lang is "tlh"`} {
			if code, _, stderr := runHere(t, ctx, with("plain.tsv", strings.Fields(args)...)...); code != 2 || !strings.Contains(stderr, want) {
				t.Errorf("%s %s: exit %d, %s, want %s", folder, args, code, stderr, want)
			}
		}
	}
}

// Two directions in one model, by -tag, are translated by -to, as by the code in the text.
func TestTrainTwoDirections(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var pairs strings.Builder
	for range 16 {
		for _, p := range [][3]string{{"one", "un", "eins"}, {"two", "deux", "zwei"}, {"three", "trois", "drei"}} {
			pairs.WriteString(">>fra<< " + p[0] + "\t" + p[1] + "\n>>deu<< " + p[0] + "\t" + p[2] + "\n")
		}
	}
	write("pairs.tsv", pairs.String())
	write("in", "one\nthree\n")
	write("json", `{"text": "two", "to": "de"}`+"\n")
	args := []string{"train", "-tsv", path("pairs.tsv"), "-valid-tsv", path("pairs.tsv"), "-tag", "-o", path("m.safetensors"), "-preset", "demo", "-set", "d-model=32", "-set", "heads=2",
		"-set", "d-ff=64", "-set", "encoder-layers=1", "-set", "decoder-layers=1", "-vocab-size", "280", "-steps", "150", "-valid-every", "150", "-lr", "0.01", "-set", "warmup=10", "-dropout", "0"}
	if code, _, stderr := runHere(t, ctx, args...); code != 0 || !strings.Contains(stderr, "deu fra") || !strings.Contains(stderr, " -to LANGUAGE") {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	translate := func(args ...string) string {
		code, stdout, stderr := runHere(t, ctx, append([]string{"translate", "-model", path("m.safetensors")}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, stderr)
		}
		return stdout
	}
	if got := translate("-to", "fr", path("in")); got != "un\ntrois\n" {
		t.Errorf("to French %q", got)
	}
	if got := translate("-to", "deu", "-split", path("in")); got != "eins\ndrei\n" {
		t.Errorf("to German %q", got)
	}
	if got := translate("-json", path("json")); !strings.Contains(got, "zwei") {
		t.Errorf("to German by JSON %q", got)
	}
	if code, _, stderr := runHere(t, ctx, "translate", "-model", path("m.safetensors"), path("in")); code != 2 || !strings.Contains(stderr, "deu fra") {
		t.Errorf("exit %d, %s, want an error that lists the languages", code, stderr)
	}
	if code, _, stderr := runHere(t, ctx, "export", "-format", "ctranslate2", "-o", path("ct2"), path("m.safetensors")); code != 0 || !strings.Contains(stderr, "the caller puts the token of the target language") {
		t.Errorf("exit %d, %s, want what the caller must do", code, stderr)
	}
}
