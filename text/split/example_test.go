package split_test

import (
	"fmt"

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
