package translate_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"tfm/text"
	"tfm/translate"
)

// Sentences translates sentences with the model file at path.
func Sentences(ctx context.Context, path string, sentences []string) ([]string, error) {
	t, err := translate.Open(path, translate.Options{})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Translate(ctx, sentences)
}

func Example() {
	fmt.Println(Sentences(context.Background(), toyModel(), []string{"the red dog"}))
	// Output: [le chien rouge] <nil>
}

// An n-best list, and the source token with the largest attention weight for each target token.
func ExampleTranslator_Do() {
	t, err := translate.Open(toyModel(), translate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	r := translate.Request{Texts: []string{"the old tree"}, Decode: t.DefaultOptions(), Attention: true}
	r.Decode.NBest = 2
	results, err := t.Do(context.Background(), r)
	if err != nil {
		fmt.Println(err)
		return
	}
	best, source := results[0].Translations[0], results[0]
	for i, j := range best.Alignment() {
		from, to := source.Tokens[j], best.Tokens[i]
		fmt.Printf("%q attends to %q\n", best.Text[to.Start:to.End], r.Texts[0][from.Start:from.End])
	}
	fmt.Println(best.Text, "scores higher than", source.Translations[1].Text)
	// Output:
	// "le" attends to "the"
	// " arbre" attends to " tree"
	// " vieux" attends to " old"
	// le arbre vieux scores higher than le livre vieux
}

// A filter: it writes the translation of each line when the line arrives.
func ExampleTranslator_Lines() {
	t, err := translate.Open(toyModel(), translate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	in := strings.NewReader("the red dog\n\nthe good book\n")
	out := bufio.NewWriter(os.Stdout)
	for batch, err := range t.Lines(context.Background(), text.RepairLines(in, "standard input"), translate.LineOptions{}) {
		for _, l := range batch {
			fmt.Fprintf(out, "%d %q\n", l.Number, l.Best())
		}
		out.Flush()
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// 1 "le chien rouge"
	// 2 ""
	// 3 "le livre bon"
}
