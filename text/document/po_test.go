package document

import (
	"strconv"
	"strings"
	"testing"

	"tfm/text/markup"
)

const poFileText = `# A comment
#, fuzzy
msgid ""
msgstr ""
"Language: \n"
"Content-Type: text/plain; charset=CHARSET\n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\n"

#: a.c:1
#, c-format
msgid "%d <b>file</b>\n"
msgid_plural "%d <b>files</b>\n"
msgstr[0] ""
msgstr[1] ""

#| msgid "old"
#, fuzzy, c-format
msgctxt "menu"
msgid ""
"Say \"%s\"\n"
"and more"
msgstr "alt"

msgid "done"
msgstr "fertig"

#, fuzzy
#~ msgid "obsolete"
#~ msgstr ""

msgid "42"
msgstr ""
`

func TestPO(t *testing.T) {
	upper := func(t markup.Text) markup.Text {
		words := strings.NewReplacer("file", "FILE", "Say", "SAY", "and more", "AND MORE")
		return markup.Text{Plain: words.Replace(t.Plain), Spans: t.Spans}
	}
	got, texts, err := translateString("a.po", poFileText, Options{To: "pl"}, upper)
	want := strings.NewReplacer(
		"#, fuzzy\nmsgid \"\"\n", "msgid \"\"\n", "Language: ", "Language: pl", "CHARSET", "UTF-8",
		"nplurals=INTEGER; plural=EXPRESSION;", "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
		"msgstr[0] \"\"\nmsgstr[1] \"\"", `msgstr[0] "%d <b>FILE</b>\n"`+"\n"+`msgstr[1] "%d <b>FILEs</b>\n"`+"\n"+`msgstr[2] "%d <b>FILEs</b>\n"`,
		"#| msgid \"old\"\n#, fuzzy, c-format", "#, c-format", `msgstr "alt"`, "msgstr \"\"\n"+`"SAY \"%s\"\n"`+"\n"+`"AND MORE"`,
		"\"42\"\nmsgstr \"\"", "\"42\"\nmsgstr \"42\"",
	).Replace(poFileText)
	if err != nil || got != want {
		t.Errorf("error %v, got %s\nwant %s", err, got, want)
	}
	if got, want := strings.Join(describe(texts), "|"), `%d file [file]|%d files [files]|Say "%s"|and more`; got != want {
		t.Errorf("texts %s, want %s", got, want)
	}
	again, texts, err := translateString("a.po", got, Options{To: "pl", Review: true}, upper)
	if err != nil || again != got || len(texts) != 0 {
		t.Errorf("error %v, a translated file became %s", err, again)
	}
}

// A translation whose arguments differ, and each one with Review, is fuzzy.
func TestPOFuzzy(t *testing.T) {
	lose := func(t markup.Text) markup.Text { return markup.Text{Plain: "lost"} }
	got, _, err := translateString("a.po", "#, c-format\r\nmsgid \"%d a\"\r\nmsgstr \"\"\r\n\r\nmsgid \"b\"\r\nmsgstr \"\"", Options{}, lose)
	if want := "#, fuzzy, c-format\r\nmsgid \"%d a\"\r\nmsgstr \"lost\"\r\n\r\nmsgid \"b\"\r\nmsgstr \"lost\""; err != nil || got != want {
		t.Errorf("error %v, got %q, want %q", err, got, want)
	}
	got, _, err = translateString("a.po", "msgid \"b\"\nmsgstr \"\"", Options{Review: true}, lose)
	if want := "#, fuzzy\nmsgid \"b\"\nmsgstr \"lost\""; err != nil || got != want {
		t.Errorf("error %v, got %q, want %q", err, got, want)
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"%d of %s", "%d von %s", true}, {"%d of %s", "%s von %d", false}, {"%1$d of %2$s", "%2$s von %1$d", true}, {"%(a)s {b}", "{b} %(a)s", true}, {"50%%", "50 %", false}, {"a: %s", "a %: %s", false}, {"a: %s", "a: %s %", false},
	} {
		if got := sameArguments(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: %t, want %t", c.a, c.b, got, c.same)
		}
	}
}

func TestPOHeader(t *testing.T) {
	got, _, err := translateString("a.po", "msgid \"\"\nmsgstr \"\"\n\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"\"\n", Options{To: "ja"}, nil)
	if want := "\nmsgstr \"\"\n\"Plural-Forms: nplurals=1; plural=(0);\\n\"\n\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"b\"\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("error %v, got %q, want %q", err, got, want)
	}
}

func TestPOErrors(t *testing.T) {
	fails(t, "a.po", "msgid \"a\"\nmsgtsr \"b\"", `a.po:2: found "msgtsr \"b\"", expected msgid`)
	fails(t, "a.po", "msgid \"a", `a.po:1: found "\"a", expected a string in quotation marks`)
	fails(t, "a.po", `msgid "a"b"`, `found '"' within a string`)
	fails(t, "a.po", `msgid "\q"`, `found the escape "\\q"`)
	fails(t, "a.po", `"a"`, "expected msgid")
	fails(t, "a.po", "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=2; plural=n%0;\\n\"", `found plural="n%0"`)
	fails(t, "a.po", "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=99; plural=0;\\n\"", "nplurals=99, expected 1 to 10")
	fails(t, "a.po", "msgid \"\"\nmsgstr \"Plural-Forms: nplurals=2; plural="+strings.Repeat("(", 1e5)+";\\n\"", "expected an expression of C")
}

func TestPluralForms(t *testing.T) {
	for _, r := range pluralRules {
		if got, err := parsePluralForms(strconv.Itoa(r.count), r.rule); err != nil || got != r.pluralForms {
			t.Errorf("%s: read %+v, error %v", r.languages, got, err)
		}
	}
	for language, want := range map[string]pluralForms{"de": {2, "n != 1", 0}, "fr-CA": {2, "n > 1", 0}, "zh-CN": {1, "0", 0}} {
		if got := pluralFormsOf(language); got != want {
			t.Errorf("%s: forms %v, want %v", language, got, want)
		}
	}
	for rule, want := range map[string]int{
		"n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0": 1, "(n == 1 || n == 11) ? 2 : 0": 2, "n==11 ? 2 : 1": 0, "(n==0 ? 0 : n==1 ? 1 : 2)": 1,
		"n==1 || n%10==1 ? 0 : 1": 0, "(n==2) ? 0 : (n==1) ? 3 : 2": 3, "n%10==1 && n%100!=11 ? 1 : 0": 1,
	} {
		if got, err := parsePluralForms("4", rule); err != nil || got.one != want {
			t.Errorf("%s: form %d of 1, error %v, want %d", rule, got.one, err, want)
		}
	}
}

func FuzzPO(f *testing.F) {
	f.Add(poFileText)
	f.Fuzz(func(t *testing.T, src string) {
		once, _, err := translateString("a", src, Options{Format: "po", To: "de"}, nil)
		if err != nil {
			return
		}
		twice, texts, err := translateString("a", once, Options{Format: "po", To: "de"}, nil)
		if err != nil || twice != once && len(texts) == 0 {
			t.Fatalf("error %v, translated once %q, twice %q", err, once, twice)
		}
	})
}
