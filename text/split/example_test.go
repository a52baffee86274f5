package split_test

import (
	"fmt"
	"strings"

	"tfm/text/split"
)

// The sentences of a text, and the text between them.
func ExampleSentences() {
	const s = "Dr. Smith paid $3.50.  “Too much!” he said.\n\nHe left."
	at := 0
	for _, r := range split.Sentences(s, split.Options{Language: "en"}) {
		fmt.Printf("%q %q\n", s[at:r.Start], s[r.Start:r.End])
		at = r.End
	}
	// Output:
	// "" "Dr. Smith paid $3.50."
	// "  " "“Too much!” he said."
	// "\n\n" "He left."
}

// A stream of any length needs bounded memory.
func ExampleRead() {
	r := strings.NewReader("他回家了。“好。”她说。\n第二段\n")
	for s, err := range split.Read(r, split.Options{Lines: true}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q %q\n", s.Gap, s.Text)
	}
	// Output:
	// "" "他回家了。"
	// "" "“好。”她说。"
	// "\n" "第二段"
	// "\n" ""
}
