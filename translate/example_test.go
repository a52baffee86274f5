package translate_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"tfm/text"
	"tfm/text/split"
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

// A server calls one Translator from many goroutines, each with the context of its request. The
// texts of all calls share decode steps, and each call gets the words that it would get alone.
func ExampleTranslator_Translate() {
	t, err := translate.Open(toyModel(), translate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	sentences := []string{"the red dog", "the old tree", "the good book"}
	translations := make([]string, len(sentences))
	var requests sync.WaitGroup
	for i, s := range sentences {
		requests.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel() // a cancelled call leaves before the next decode step
			if out, err := t.Translate(ctx, []string{s}); err != nil {
				translations[i] = err.Error()
			} else {
				translations[i] = out[0]
			}
		})
	}
	requests.Wait()
	fmt.Println(strings.Join(translations, "\n"))
	// Output:
	// le chien rouge
	// le arbre vieux
	// le livre bon
}

// The log-probability of given translations, for example to filter a corpus.
func ExampleTranslator_ScorePairs() {
	t, err := translate.Open(toyModel(), translate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	scores, err := t.ScorePairs(context.Background(), []text.Pair{
		{Source: "the red dog", Target: "le chien rouge"},
		{Source: "the red dog", Target: "le chat noir"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range scores {
		fmt.Println(s.Perplexity() < 2, len(s.LogProbs) == len(s.Tokens)+1)
	}
	// Output:
	// true true
	// false true
}

// A translation that begins with given text, which may end within a word.
func ExampleRequest_prefix() {
	t, err := translate.Open(toyModel(), translate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	r := translate.Request{Texts: []string{"the red dog", "the red dog"}, Prefixes: []string{"le ch", "le chat"}}
	results, err := t.Do(context.Background(), r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(results[0].Best())
	fmt.Println(results[1].Best())
	// Output:
	// le chien rouge
	// le chat rouge
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

// Running text: the sentences are translated, and the text between them remains.
func ExampleRequest_split() {
	t, err := translate.Open(toyModel(), translate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	const s = "the red dog\n\nthe old tree\n"
	results, err := t.Do(context.Background(), translate.Request{Texts: []string{s}, Split: &split.Options{Lines: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	translation := results[0].Best()
	fmt.Printf("%q\n", translation)
	for _, x := range results[0].Sentences {
		fmt.Printf("%s = %s\n", s[x.Source.Start:x.Source.End], translation[x.Target.Start:x.Target.End])
	}
	// Output:
	// "le chien rouge\n\nle arbre vieux\n"
	// the red dog = le chien rouge
	// the old tree = le arbre vieux
}
