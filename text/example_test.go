package text_test

import (
	"fmt"
	"os"
	"path/filepath"

	"tfm/text"
)

func ExampleFiles_Pairs() {
	path := filepath.Join(os.TempDir(), "pairs.tsv")
	defer os.Remove(path)
	if err := os.WriteFile(path, []byte("ein Hund\ta dog\nzwei Hunde\ttwo dogs\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	for p, err := range (text.Files{Source: path}.Pairs()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: %s = %s\n", p.Line, p.Source, p.Target)
	}
	// Output:
	// 1: ein Hund = a dog
	// 2: zwei Hunde = two dogs
}
