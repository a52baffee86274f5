package split

import "testing"

func TestUnwrap(t *testing.T) {
	for s, want := range map[string]string{
		"":                 "",
		"a  b":             "a  b",
		"a\nb \r\n\t c":    "a b c",
		"他很\n累，\n走了":       "他很累，走了",
		"Node\n很快":         "Node 很快",
		"inter-\nnational": "inter-national",
		"1990 -\nnow":      "1990 - now",
		"Smith-\nJones":    "Smith- Jones",
		"\xff\n\xff":       "\xff \xff",
		"a\u2028b\u00a0c":  "a b\u00a0c",
		"one\n":            "one ",
	} {
		if got := Unwrap(s); got != want {
			t.Errorf("Unwrap(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestGap(t *testing.T) {
	for _, c := range []struct{ gap, before, after, want string }{
		{" ", "He left.", "She stayed.", " "},
		{"", "He left.", "She stayed.", " "}, // from Chinese
		{"\u3000", "He left.", "She stayed.", " "},
		{" ", "他走了。", "她留下了。", ""}, // to Chinese
		{"", "他走了。", "她留下了。", ""},
		{" ", "他走了。", "OK!", " "},
		{"  ", "他走了。", "她留下了。", "  "},
		{"\n", "他走了。", "她留下了。", "\n"},
		{"\n\n", "A.", "B.", "\n\n"},
		{"", "", "B.", ""},
		{" ", "", "", " "},
		{" ", "그는 갔다.", "그녀는 남았다.", " "}, // Korean has spaces
		{"", "他走了。”", "“好。”", ""},
	} {
		if got := Gap(c.gap, c.before, c.after); got != c.want {
			t.Errorf("Gap(%q, %q, %q) = %q, want %q", c.gap, c.before, c.after, got, c.want)
		}
	}
}
