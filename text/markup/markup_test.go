package markup

import (
	"fmt"
	"html"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tfm/text"
)

// reversed is an artificial translation of a text: its words in reverse order and upper case, with
// the links of the words.
func reversed(s Text) (string, []Link, []Link) {
	var keep []text.Range
	for _, span := range s.Spans {
		if span.Keep {
			keep = append(keep, span.Range)
		}
	}
	var words []text.Range
	for i := 0; i < len(s.Plain); {
		switch k := slices.IndexFunc(keep, func(r text.Range) bool { return r.Start == i }); {
		case k >= 0:
			words = append(words, keep[k])
			i = keep[k].End
			continue
		case s.Plain[i] == ' ' || s.Plain[i] == '\n':
			i++
			continue
		}
		end := i
		for end < len(s.Plain) && s.Plain[end] != ' ' && s.Plain[end] != '\n' && !slices.ContainsFunc(keep, func(r text.Range) bool { return r.Start == end }) {
			end++
		}
		words = append(words, text.Range{Start: i, End: end})
		i = end
	}
	var b strings.Builder
	var links []Link
	kept := make([]Link, len(keep))
	for i := len(words) - 1; i >= 0; i-- {
		r := words[i]
		word := s.Plain[r.Start:r.End]
		k := slices.Index(keep, r)
		if k < 0 {
			word = strings.ToUpper(word)
		}
		to := text.Range{Start: b.Len(), End: b.Len() + len(word)}
		b.WriteString(word)
		if k >= 0 {
			kept[k] = Link{Source: r, Target: to}
		}
		links = append(links, Link{r, to, 1})
		if i > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String(), links, kept
}

// tokens returns the tokens of a document, as its parser sees them.
func tokens(s string, xml bool) (list []token) {
	p := htmlParser{scanner: scanner{s: s, xml: xml}, builder: builder{src: s}}
	for p.scanner.more() {
		p.scanner.foreign = len(p.open) > 0 && p.top().foreign
		isRaw := p.scanner.rawName != ""
		t, _ := p.scanner.next()
		if !xml {
			p.add(t)
		}
		if !isRaw || t.kind != textToken {
			list = append(list, t)
		}
	}
	return list
}

// tags returns the bytes of all tokens but text in sorted order, without the values of attributes
// that may be translated.
func tags(s string, xml bool) (list []string) {
	for _, t := range tokens(s, xml) {
		switch t.kind {
		case textToken, cdataSection: // an element may divide a section
			continue
		}
		out, pos := "", t.Start
		for _, a := range t.attrs {
			if _, ok := textAttributes[a.name]; ok || a.name == "value" || a.name == "content" {
				out += strings.TrimRight(s[pos:a.value.Start], `"`)
				if pos = a.value.End; pos < len(s) && s[pos] == '"' {
					pos++
				}
			}
		}
		list = append(list, out+s[pos:t.End])
	}
	slices.Sort(list)
	return list
}

// characters returns the characters of the text in sorted order and upper case, without white
// space.
func characters(s string, xml bool) string {
	var list []string
	for _, t := range tokens(s, xml) {
		plain := strings.ToValidUTF8(s[t.Start:t.End], "\uFFFD")
		switch t.kind {
		case textToken:
			plain = html.UnescapeString(plain)
		case cdataSection:
			plain = strings.TrimSuffix(strings.TrimPrefix(plain, "<![CDATA["), "]]>")
		default:
			continue
		}
		list = append(list, strings.Split(strings.ToUpper(strings.ReplaceAll(plain, "\x00", "")), "")...)
	}
	slices.Sort(list)
	return strings.Join(strings.Fields(strings.Join(list, "")), "")
}

// checkText reports a text that breaks the promises of its type.
func checkText(t *testing.T, x Text) {
	t.Helper()
	if !utf8.ValidString(x.Plain) || strings.Contains(x.Plain, "  ") {
		t.Errorf("text %q", x.Plain)
	}
	for i, s := range x.Spans {
		if s.Start < 0 || s.End < s.Start || s.End > len(x.Plain) || !isBoundary(x.Plain, s.Start) || !isBoundary(x.Plain, s.End) || s.Keep && s.Start == s.End {
			t.Errorf("%q: span %v", x.Plain, s)
		}
		for _, o := range x.Spans[:i] {
			if o.Start > s.Start || o.End > s.Start && o.End < s.End {
				t.Errorf("%q: span %v after %v", x.Plain, s, o)
			}
		}
	}
}

// checkDocument checks the promises for a document: translated by identity, by reversed, and with
// spans at random places.
func checkDocument(t *testing.T, s string, read func(string) (*Document, error)) {
	t.Helper()
	d, err := read(s)
	if err != nil {
		return
	}
	out, err := d.Append(nil, d.Texts, "")
	if err != nil || string(out) != s {
		t.Fatalf("%q: identity is %q, error %v", s, out, err)
	}
	random := rand.New(rand.NewPCG(1, uint64(len(s))))
	placed, scattered := make([]Text, len(d.Texts)), make([]Text, len(d.Texts))
	for i, x := range d.Texts {
		checkText(t, x)
		translation, links, kept := reversed(x)
		placed[i] = x.Place(translation, Alignment{Links: links, Kept: kept})
		checkText(t, placed[i])
		scattered[i] = Text{Plain: translation, Spans: slices.Clone(placed[i].Spans)}
		k := 0
		for j := range scattered[i].Spans {
			span := &scattered[i].Spans[j]
			if span.Keep {
				if id := span.ID; placed[i].Spans[j].Range != kept[k].Target && len(kept) == 1 {
					t.Fatalf("%q: kept span %d at %v, want %v", s, id, placed[i].Spans[j], kept[k])
				}
				continue
			}
			for ok := false; !ok; ok = isBoundary(translation, span.Start) && isBoundary(translation, span.End) {
				span.Start = random.IntN(len(translation) + 1)
				span.End = span.Start + random.IntN(len(translation)+1-span.Start)
			}
		}
	}
	for _, texts := range [][]Text{placed, scattered} {
		out, err := d.Append(nil, texts, "")
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if got, want := tags(string(out), d.escape.xml), tags(s, d.escape.xml); !slices.Equal(got, want) {
			t.Fatalf("%q becomes %q:\nhas the tags %q,\nwant          %q", s, out, got, want)
		}
		if got, want := characters(string(out), d.escape.xml), characters(s, d.escape.xml); got != want && utf8.ValidString(s) {
			t.Fatalf("%q becomes %q:\nhas the characters %q,\nwant                %q", s, out, got, want)
		}
	}
	if d.escape.xml || slices.ContainsFunc(d.runs, func(r run) bool { return r.ordered }) {
		return // other texts may be beside an element
	}
	out, _ = d.Append(nil, placed, "")
	again, err := read(string(out))
	if err != nil {
		t.Fatalf("%q becomes %q: %v", s, out, err)
	}
	for i := range again.Texts {
		if i >= len(placed) || strings.Join(strings.Fields(again.Texts[i].Plain), "") != strings.Join(strings.Fields(placed[i].Plain), "") {
			t.Fatalf("%q becomes %q with the texts %q, want %q", s, out, plains(again.Texts), plains(placed))
		}
	}
	if len(again.Texts) != len(placed) {
		t.Fatalf("%q becomes %q with the texts %q, want %q", s, out, plains(again.Texts), plains(placed))
	}
}

func plains(texts []Text) (list []string) {
	for _, x := range texts {
		list = append(list, x.Plain)
	}
	return list
}

// parts are what random documents are made of.
var parts = strings.Fields(`<p> </p> <b> </b> <i> </i> <a_href=x> </a> <div> </div> <span> </span> <br> <img_alt="a_dog"> <code> </code> <!--_c_--> <table> <tr> <td> </td>
	</tr> </table> <ul> <li> </ul> <h1> </h1> <svg> </svg> <script> </script> <pre> </pre> <title> </title> <select> <option> </select> <button> </button> <textarea>
	</textarea> <math> <mi> </math> <nobr> <em_translate=no> </em> <input_placeholder=Name> &amp; &lt;b &nbsp; < & <! </ > " one two three. Four 5 été 狗 一只猫 <o:p> </o:p>
	<ruby> <rt> </ruby> <body> </body> <html_lang=en> <form> </form> <foreignObject> <![CDATA[x]]> <?p?> <template> </template> <b/> <div_class="a_notranslate"> <font_color=red> </font>`)

func randomDocument(random *rand.Rand) string {
	var b strings.Builder
	for range 1 + random.IntN(24) {
		b.WriteString(strings.ReplaceAll(parts[random.IntN(len(parts))], "_", " "))
		if random.IntN(2) == 0 {
			b.WriteString([]string{" ", "\n", "  ", "word ", "x"}[random.IntN(5)])
		}
	}
	return b.String()
}

func TestRandomHTML(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		checkDocument(t, randomDocument(random), ReadHTML)
	}
}

// randomXML returns well-formed XML, as the content of an element.
func randomXML(random *rand.Rand, depth int) string {
	var b strings.Builder
	for range random.IntN(5) {
		switch k := random.IntN(8); {
		case k < 3:
			b.WriteString([]string{"one", " two ", "Three\n", "a &lt; b", "&x;", "été ", "一只狗"}[random.IntN(7)])
		case k == 3:
			b.WriteString([]string{"<!-- <c> -->", "<?p x?>", "<![CDATA[a <b> & c]]>", "<x/>", `<ph id="1"/>`}[random.IntN(5)])
		case depth > 0:
			name := []string{"p", "b", "i", "code", "g", "doc", "ph"}[random.IntN(7)]
			fmt.Fprintf(&b, `<%s a="<">%s</%[1]s >`, name, randomXML(random, depth-1))
		}
	}
	return b.String()
}

func TestRandomXML(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		s := randomXML(random, 4)
		if _, err := ReadXML(s); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		checkDocument(t, s, ReadXML)
	}
}

func FuzzReadHTML(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add(randomDocument(random))
	}
	f.Fuzz(func(t *testing.T, s string) { checkDocument(t, s, ReadHTML) })
}

func FuzzReadXML(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add(randomXML(random, 4))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, "]]>") == strings.Count(s, "<![CDATA[") { // others divide a section
			checkDocument(t, s, ReadXML)
		}
	})
}

func rangeOf(start, end int) text.Range { return text.Range{Start: start, End: end} }

// Spans are around the words with most of the links, and around all spans within them.
func TestPlace(t *testing.T) {
	// Words of the same letter are linked, and more for each further word.
	for _, test := range []struct{ source, target, want string }{
		{"a {b} c", "c b a", "c {b} a"},
		{"a {b c} d", "d c b a", "d {c b} a"},
		{"{a b} c", "a c b", "{a} c b"},                         // apart: either one
		{"{a b c} d", "a d b c", "a d {b c}"},                   // apart: most words
		{"a {b {c}} d", "c a b d", "{{c}} a b d"},               // the inner one decides
		{"{a} {b} {c}", "c b a", "{c} {b} {a}"},                 //
		{"a {}b c{}", "c b a", "c {}b a{}"},                     // before the next word
		{"a{} b c", "c b a", "c b a{}"},                         // after the word that it is at
		{"a {b.} c", "b. a c", "{b.} a c"},                      // punctuation of the span
		{"a {b}. c", "b. a c", "{b}. a c"},                      //
		{"a {b} c", "狗b猫 a c", "狗{b}猫 a c"},                     //
		{"a {12} c", "a 1,000 12 c", "a 1,000 {12} c"},          // equal words
		{"a {Tom's dog} c", "a Tom's c", "a {Tom's} c"},         //
		{"a [x y] c", "c x y a", "c [x y] a"},                   // kept
		{"{a [x] b} c", "x c a b", "{[x] c a b}"},               //
		{"a {q} b", "b a", "b a{}"},                             // without a translation
		{"", "", ""}, {"{} a", "", "{}"}, {"a {b} c", "", "{}"}, //
	} {
		s := parseBraces(test.source)
		var a Alignment
		for _, u := range units(s.Plain, nil) {
			for _, v := range units(test.target, nil) {
				if s.Plain[u.Start:u.End] == test.target[v.Start:v.End] && u.word {
					a.Links = append(a.Links, Link{u.Range, v.Range, 1})
				}
			}
		}
		for _, span := range s.Spans {
			if word := s.Plain[span.Start:span.End]; span.Keep {
				i := strings.Index(test.target, word)
				a.Kept = append(a.Kept, Link{Source: span.Range, Target: rangeOf(i, i+len(word))})
			}
		}
		if got := inBraces(s.Place(test.target, a)); got != test.want {
			t.Errorf("%s is %s, want %s", test.source, got, test.want)
		}
	}
	// A copied range, which is no span's, is what the span around it encloses.
	link := Text{Plain: "write to x@y.org now", Spans: []Span{{Range: rangeOf(9, 16)}}}
	a := Alignment{Links: []Link{{rangeOf(9, 16), rangeOf(0, 5), 1}}, Kept: []Link{{Source: rangeOf(9, 16), Target: rangeOf(6, 13)}}}
	if got := inBraces(link.Place("jetzt x@y.org", a)); got != "jetzt {x@y.org}" {
		t.Errorf("a link around a copied range is %s", got)
	}
	// No edge is in a token, in which all letters have the same links.
	name := parseBraces("{Tom} runs")
	a = Alignment{Links: []Link{{rangeOf(0, 3), rangeOf(0, 6), 1}, {rangeOf(4, 8), rangeOf(0, 6), 2}, {rangeOf(4, 8), rangeOf(6, 9), 3}}}
	if got := inBraces(name.Place("汤姆跑", a)); got != "{汤姆}跑" {
		t.Errorf("at a token: %s", got)
	}
	// A translation that is equal to the text, also within words.
	if got := inBraces(parseBraces("T{om} {runs}").Place("Tom runs", Alignment{})); got != "T{om} {runs}" {
		t.Errorf("an equal translation: %s", got)
	}
	// The gaps of sentences.
	s := parseBraces("a b.{}\nc d")
	gap := Link{Source: rangeOf(4, 5), Target: rangeOf(4, 5)}
	if got := inBraces(s.Place("B a.\nc d", Alignment{Gaps: []Link{gap}})); got != "B a.{}\nc d" {
		t.Errorf("at a gap: %q", got)
	}
}

// parseBraces is the inverse of inBraces.
func parseBraces(s string) (x Text) {
	var open []int
	for _, r := range s {
		switch r {
		case '{', '[':
			open = append(open, len(x.Spans))
			x.Spans = append(x.Spans, Span{Range: rangeOf(len(x.Plain), 0), ID: len(x.Spans), Keep: r == '['})
		case '}', ']':
			x.Spans[open[len(open)-1]].End = len(x.Plain)
			open = open[:len(open)-1]
		default:
			x.Plain += string(r)
		}
	}
	return x
}

// FuzzPlace places the spans of random texts by random links.
func FuzzPlace(f *testing.F) {
	f.Add("a <b>b</b> c", "c b a", []byte{0, 1, 2, 3, 4})
	f.Add("1,5 <code>x</code><br>狗 <i>l'a", "猫x é\u0301 1,5", []byte{3, 2, 200, 1, 9, 9, 0})
	f.Fuzz(func(t *testing.T, s, target string, links []byte) {
		d, err := ReadHTML(s)
		if err != nil || !utf8.ValidString(target) || strings.Contains(target, "  ") {
			return
		}
		for _, x := range d.Texts {
			var a Alignment
			for i := 0; i+4 < len(links); i += 5 {
				at := func(k, n int) text.Range {
					start := int(links[i+k]) % (n + 1)
					return rangeOf(start, start+int(links[i+k+1])%(n+1-start))
				}
				a.Links = append(a.Links, Link{at(0, len(x.Plain)), at(2, len(target)), int(links[i+4])})
			}
			for _, span := range x.Spans {
				if n := len(target) / len(x.Spans); span.Keep && n > 0 && len(a.Kept)*n+n <= len(target) {
					r := rangeOf(len(a.Kept)*n, len(a.Kept)*n+n)
					if isBoundary(target, r.Start) && isBoundary(target, r.End) {
						a.Kept = append(a.Kept, Link{Source: span.Range, Target: r})
					}
				}
			}
			placed := x.Place(target, a)
			for i := range placed.Spans {
				placed.Spans[i].Keep = false // without a range
			}
			checkText(t, placed)
			if len(placed.Spans) != len(x.Spans) || placed.Plain != target {
				t.Errorf("%q: %v", target, placed.Spans)
			}
		}
	})
}
