package clean

import (
	"slices"
	"strings"
	"testing"

	"tfm/text"
)

// usual is a cleaner that has learned a corpus of English and Chinese, whose characters are a third
// of the English ones.
func usual() *cleaner {
	c := &cleaner{Options: DefaultOptions()}
	var p pair
	for i := range 600 {
		n := 1 + i%20
		p.Source, p.Target = strings.Repeat("three ", 2*n), strings.Repeat("好的三个", n)
		p.measure()
		c.learned.src.add(&p.src)
		c.learned.tgt.add(&p.tgt)
		c.learned.ratios.add(&p)
	}
	c.learned.src.learn()
	c.learned.tgt.learn()
	c.learned.ratios.learn()
	return c
}

// Each pair has its first fault, and the pairs without one are kept.
func TestRules(t *testing.T) {
	const zh = "两只狗在公园里玩。"
	c := usual()
	c.Ratio = 12
	for _, test := range []struct {
		want           Fault
		source, target string
	}{
		{None, "Two dogs play in the park.", zh},
		{None, "He said: \"no…\"\tand left.", "他说：“不……”，然后走了。"},
		{Empty, "", zh},
		{Empty, "Two dogs", " \u3000\u00A0"},
		{Replacement, "Two d\uFFFDgs play in the park.", zh},
		{Mojibake, "Two dogs play in the cafÃ©.", zh},
		{Mojibake, "Itâ€™s two dogs in the park.", zh},
		{Mojibake, "It\u00E2\u0080\u0099s two dogs in the park.", zh},
		{Mojibake, "Two dogs play ð\u009F\u0098\u0080 in the park.", zh},
		{Mojibake, "KdyÅ¾ pÅ\u0099ijde pes do parku", zh},
		{Mojibake, "Two dogs play in the park.", "ä¸¤åªç\u008B\u0097"},
		{Mojibake, "Deux chiens jouent Ã\u00A0 Paris.", zh},
		{None, "Two dogs in the “Menü“, „Spaß“, café…”", zh}, // one letter before punctuation
		{None, "Zwei Hunde: ÄÖÜ äöü ß, à «Noël», NÃO", zh},
		{Control, "Two dogs\x01 play in the park.", zh},
		{Control, "Two dogs play in the park.\x00", zh},
		{Control, "Two dogs \u0085 play in the park.", zh},
		{Control, "Two dogs \u2028 play in the park.", zh},
		{Control, "Two dogs \uE000 play in the park.", zh},
		{Control, "Two \uFEFFdogs play in the park.", zh},
		{Control, "Two \uFFFEdogs play in the park.", zh},
		{Markup, "<b>Two dogs</b> play in the park.", zh},
		{Markup, "Two dogs<br/> play in the park.", zh},
		{Markup, "Two dogs <font color=red>play in the park.", zh},
		{Markup, "Two dogs <x:tag/> play in the park.", zh},
		{Markup, "Two dogs <!-- play --> in the park.", zh},
		{Markup, "Two dogs &amp; a cat in the park.", zh},
		{Markup, "Two dogs&#160;play&#xA0;in the park.", zh},
		{Markup, `{\an8}Two dogs play in the park.`, zh},
		{Markup, "Two [[dog]]s play in the park.", zh},
		{Markup, "Two dogs {{play}} in the park.", zh},
		{None, "a < b && c > d; 1 <2> 3; R&D; <FILE> play", zh},
		{Length, "Two dogs play in the park.", "。"},
		{Length, strings.Repeat("dogs ", 201), strings.Repeat("好的三个", 50)},
		{Length, strings.Repeat("dog", 40), strings.Repeat("好的三个", 9)},
		{Copy, "Two dogs play in the park.", "two DOGS play (in the park)"},
		{None, "No. 12", "号 12"},
		{WrongScript, "Two dogs play in the park.", "two dogs are playing"},
		{WrongScript, "Две собаки играют в парке.", zh},
		{None, "Two dogs play in the park.", "两只 dogs 在 park 里玩。"},
		{Repetition, "Two dogs play play play play in the park.", zh},
		{Repetition, "Two dogs, two dogs, two dogs, two dogs!", zh},
		{Repetition, "Two dogs play......................", zh},
		{None, "No, no, no, no!", "不不不不！"},
		{Ratio, "Two dogs.", "公园里有两只狗在玩，它们的主人坐在长椅上看报纸，天气很好，孩子们也在草地上跑来跑去，一直到晚上才回家。"},
		{Numbers, "Two dogs play in 1998.", "两只狗在1997年玩"},
		{Numbers, "Two dogs play in 1998.", "两只狗在玩，很好很好"},
	} {
		p := &pair{RepairedPair: text.RepairedPair{Pair: text.Pair{Source: test.source, Target: test.target}, Columns: 2}}
		if got := c.fault(p, firstAmong); got != test.want {
			t.Errorf("%q, %q: fault %q, want %q", test.source, test.target, got, test.want)
		}
		if test.want == None {
			continue
		}
		c.Keep[test.want] = true
		if got := c.fault(p, firstAmong); got == test.want {
			t.Errorf("%q, %q: fault %q, which is kept", test.source, test.target, got)
		}
		c.Keep[test.want] = false
	}
	for _, p := range []text.RepairedPair{{Invalid: true}, {Columns: 1}, {Columns: 2, Long: true, Pair: text.Pair{Source: "a", Target: "b"}}} {
		want := map[bool]Fault{p.Invalid: InvalidUTF8, p.Columns == 1: Columns, p.Long: Length}[true]
		if got := c.fault(&pair{RepairedPair: p}, firstAmong); got != want {
			t.Errorf("%+v: fault %q, want %q", p, got, want)
		}
	}
}

// Each fault has names, and those of single pairs have a rule.
func TestFaults(t *testing.T) {
	for f := None + 1; f < numFaults; f++ {
		if (faults[f].finds != nil) != (f < firstAmong) {
			t.Errorf("%q has a rule for single pairs: %v", f, faults[f].finds != nil)
		}
		if f.String() == "" || f.Text() == "" {
			t.Errorf("fault %d has the names %q and %q", f, f, f.Text())
		}
	}
}

func TestNumbers(t *testing.T) {
	c := &cleaner{Options: DefaultOptions()}
	for _, test := range []struct {
		source, target string
		want           bool
	}{
		{"no numbers", "keine", false},
		{"It costs 1,234.50.", "Es kostet 1.234,50.", false},
		{"It costs 1,234.50.", "Es kostet 1 234,5.", false},
		{"12 500 people", "12'500 Leute, 12.500", false},
		{"1.5 million people", "1 500 000 Menschen", false},
		{"1.5 million people", "150万人", false},
		{"10,000 people", "一万人", false},
		{"in 1998", "一九九八年", false},
		{"thirty people", "30人", false},
		{"2010-05-12", "12.05.2010", false},
		{"5/12/2010", "12. Mai 2010", false},
		{"on the 1st of May, 2010", "am 1. Mai 2010", false},
		{"at 3 p.m.", "um 15 Uhr", false},
		{"in the 1960s", "in den 60ern", false},
		{"٣٤٥ و ٧", "345 und 7", false},
		{"１２３", "123", false},
		{"12 dogs", "zwölf Hunde", false},
		{"1000 dogs", "tausend Hunde", false},
		{"365 days", "ein Jahr", true},
		{"12 dogs", "13 Hunde", true},
		{"2 and 2 is 4", "2 und 4 ist 4", false}, // both sides have all
		{"in 1998 and 1999", "1998 und 1989", true},
		{"3.14", "3,41", true},
		{"7", "0", true},
		{"007", "7", false},
	} {
		p := &pair{RepairedPair: text.RepairedPair{Pair: text.Pair{Source: test.source, Target: test.target}}}
		p.measure()
		q := &pair{RepairedPair: text.RepairedPair{Pair: text.Pair{Source: test.target, Target: test.source}}}
		q.measure()
		if got, reversed := c.numbers(p), c.numbers(q); got != test.want || reversed != got {
			t.Errorf("numbers of %q and %q differ: %v, reversed %v, want %v", test.source, test.target, got, reversed, test.want)
		}
	}
	for s, want := range map[string][]string{"三十": {"3"}, "一九九八年五月": {"1998", "5"}, "两千零五": {"2005"}, "十一": {"11"}, "三亿五千万": {"35"}, "一百二十": {"12"}, "": nil, "万": {"1"}} {
		if got := chineseNumbers(s); !slices.Equal(got, want) {
			t.Errorf("chineseNumbers(%q) = %q, want %q", s, got, want)
		}
	}
}
