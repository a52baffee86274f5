package document

import (
	"strings"
	"testing"

	"tfm/text/markup"
)

const xliff12 = `<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" datatype="plaintext"><body>
  <trans-unit id="1">
    <source>Press <g id="1" ctype="bold">this &amp; that</g><x id="2"/>, <ph id="3">{0}</ph> or <bpt id="4">&lt;i&gt;</bpt>it<ept id="4">&lt;/i&gt;</ept>.</source>
    <note>A note</note>
  </trans-unit>
  <trans-unit id="2"><source>New</source><target state="new"/><alt-trans><source>x</source><target>y</target></alt-trans></trans-unit>
  <trans-unit id="3"><source>Done</source><target state="translated">Fertig</target></trans-unit>
  <trans-unit id="4" translate="no"><source>Kept</source></trans-unit>
  <trans-unit id="5"><source>A <mrk mtype="protected">word</mrk></source><seg-source><mrk mtype="seg" mid="1">A</mrk></seg-source><target></target></trans-unit>
</body></file></xliff>
`

const xliff2 = `<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en"><file id="f"><unit id="u">
 <originalData><data id="d">x</data></originalData>
 <segment state="initial"><source>One <pc id="1">two</pc> <sc id="2"/>three<ec startRef="2"/><cp hex="0001"/></source></segment>
 <ignorable><source> </source></ignorable>
 <segment state="final"><source>Last</source><target>Letzter</target></segment>
</unit></file></xliff>`

func shout(t markup.Text) markup.Text {
	return markup.Text{Plain: strings.ToUpper(t.Plain), Spans: t.Spans}
}

// checkBilingual tests that a file becomes want, and that its translation is not changed again.
func checkBilingual(t *testing.T, name, src string, o Options, want string, texts ...string) {
	t.Helper()
	got, found, err := translateString(name, src, o, shout)
	if err != nil || got != want {
		t.Errorf("%s: error %v, got\n%s, want\n%s", name, err, got, want)
	}
	if got := strings.Join(describe(found), "\n"); got != strings.Join(texts, "\n") {
		t.Errorf("%s: texts\n%s, want\n%s", name, got, strings.Join(texts, "\n"))
	}
	again, found, err := translateString(name, got, o, shout)
	if err != nil || again != got || len(found) != 0 {
		t.Errorf("%s: error %v, texts %v, a translated file became\n%s", name, err, describe(found), again)
	}
}

func TestXLIFF12(t *testing.T) {
	want := strings.NewReplacer(
		`datatype="plaintext">`, `datatype="plaintext" target-language="de">`,
		"or <bpt id=\"4\">&lt;i&gt;</bpt>it<ept id=\"4\">&lt;/i&gt;</ept>.</source>", "or <bpt id=\"4\">&lt;i&gt;</bpt>it<ept id=\"4\">&lt;/i&gt;</ept>.</source>\n    <target state=\"needs-review-translation\">"+
			`PRESS <g id="1" ctype="bold">THIS &amp; THAT</g><x id="2"/>, <ph id="3">{0}</ph> OR <bpt id="4">&lt;i&gt;</bpt>IT<ept id="4">&lt;/i&gt;</ept>.</target>`,
		`<target state="new"/>`, `<target state="needs-review-translation">NEW</target>`,
		"<target></target>", `<target state="needs-review-translation">A <mrk mtype="protected">word</mrk></target>`,
	).Replace(xliff12)
	checkBilingual(t, "a.xlf", xliff12, Options{To: "de", Review: true}, want, "Press this & that,  or it. [this & that] [] [] [it]", "New", "A word [word]!")
}

func TestXLIFF2(t *testing.T) {
	want := strings.NewReplacer(
		`srcLang="en">`, `srcLang="en" trgLang="de">`, `state="initial"`, `state="translated"`,
		`<cp hex="0001"/></source>`, `<cp hex="0001"/></source><target>ONE <pc id="1">TWO</pc> <sc id="2"/>THREE<ec startRef="2"/><cp hex="0001"/></target>`,
	).Replace(xliff2)
	checkBilingual(t, "a.xlf", xliff2, Options{To: "de"}, want, "One two three [two] [three]")
	twice := `<xliff version="2.0" trgLang="de"><segment><source>A</source><source>B <ph/></source><target/><target/></segment></xliff>`
	checkBilingual(t, "a.xlf", twice, Options{}, strings.Replace(twice, "<target/>", "<target>A</target>", 1), "A")
	fails(t, "a.xlf", xliff2, "a.xlf:1: found no trgLang")
}

func TestXMLErrors(t *testing.T) {
	fails(t, "a.xlf", "<xliff version='1.2'>\n<file>", "a.xlf:2: the file ends in <file>")
	fails(t, "a.xlf", "<xliff version='1.2'>\n<file></body>", "a.xlf:2: found the end of <body>, expected that of another element")
	fails(t, "a.xlf", "<xliff version='1.2'>&boom;</xliff>", "a.xlf:1: invalid character entity &boom;")
	fails(t, "a.xlf", `<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]><xliff version="1.2">&b;&x;</xliff>`, "invalid character entity &b;")
	fails(t, "a.xlf", "<xliff version='1.2'>"+strings.Repeat("<g>", 1e5), "elements nested deeper than 256")
	fails(t, "a.xlf", "<?xml version='1.0' encoding='latin1'?><xliff version='1.2'/>", "encoding latin1, expected UTF-8 or UTF-16")
	fails(t, "a.xlf", "<xliff version='1.2'", "unexpected EOF")
}

func FuzzXLIFF(f *testing.F) {
	f.Add(xliff12)
	f.Add(xliff2)
	f.Fuzz(func(t *testing.T, src string) {
		o := Options{Format: "xliff", To: "de"}
		once, _, err := translateString("a", src, o, shout)
		if err != nil {
			return
		}
		if _, _, err := translateString("a", once, o, shout); err != nil {
			t.Fatalf("error %v in the translation %q", err, once)
		}
	})
}
