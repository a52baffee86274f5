package lesson

import (
	"fmt"
	"io"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model"
)

// Widths of columns. No line has more than 80 columns.
const (
	chineseWidth = 12
	englishWidth = 16
	inputWidth   = 20 // longest encoder or decoder input
)

// printTask prints the sentences, the vocabularies, the task of one step and the model.
func (m learner) printTask(w io.Writer) {
	fmt.Fprint(w, "Three sentences to learn:\n\n")
	for _, pair := range pairs {
		fmt.Fprintf(w, "  %s  %s\n", terminal.Pad(unspaced(pair[0]), chineseWidth), pair[1])
	}
	fmt.Fprintf(w, `
The model reads and writes tokens, here Chinese characters and English words.
It sees a token as a number, its id in the vocabulary:

  both      %s
  Chinese   %s
  English   %s

<s> begins a sentence and </s> ends it. <pad> would fill sentences to equal
lengths, but this program stores those of a batch one after another.

Each training step processes all three sentences. At each position the decoder
sees the correct tokens before it and predicts the next one:

  %s  %s  to predict
`, specialPieces.numbered(0), m.src.numbered(len(specialPieces)), m.tgt.numbered(len(specialPieces)),
		terminal.Pad("encoder input", inputWidth), terminal.Pad("decoder input", inputWidth))
	for _, pair := range pairs {
		fmt.Fprintf(w, "  %s  %s  %s\n", terminal.Pad(pair[0]+" </s>", inputWidth), terminal.Pad("<s> "+pair[1], inputWidth), pair[1]+" </s>")
	}
	c := m.Config
	fmt.Fprintf(w, `
Model:     %d encoder and %d decoder layers, d_model %d, %d heads, d_ff %d,
           post-norm, no biases; %s parameters, initialized at random
Training:  gradient descent with momentum %v, learning rate %v
Loss:      mean of -log(probability of the correct next token)

`, c.EncoderLayers, c.DecoderLayers, c.DModel, c.Heads, c.DFF, format.Thousands(m.Params.Count()), momentum, learningRate)
}

// printDecoding prints the steps of greedy decoding of each sentence.
func (m learner) printDecoding(w io.Writer) {
	fmt.Fprintf(w, `
The encoder reads the Chinese sentence once. The decoder then runs once for each
token: its input begins as <s>, and the most probable next token is appended to
it, until that is </s>.
`)
	for _, pair := range pairs {
		translation, steps := m.decodeGreedy(m.src.encode(pair[0]))
		fmt.Fprintf(w, "\n  %s\n    %s  most probable     second\n", unspaced(pair[0]), terminal.Pad("decoder input", inputWidth))
		for i, s := range steps {
			input := m.tgt.decode(append([]int32{model.BOS}, translation[:i]...))
			second := s.second()
			fmt.Fprintf(w, "    %s  %s %6.2f%%  %s %5.2f%%\n", terminal.Pad(input, inputWidth),
				terminal.Pad(m.tgt[s.best], 8), 100*s.probabilities[s.best], terminal.Pad(m.tgt[second], 8), 100*s.probabilities[second])
		}
	}
}

// printTranslations prints the translation of each sentence and returns how many are exact.
func (m learner) printTranslations(w io.Writer) int {
	fmt.Fprint(w, "\nTranslations:\n\n")
	for _, pair := range pairs {
		translation, mark := m.translate(pair[0]), "= exact"
		if translation != pair[1] {
			mark = "≠ " + pair[1]
		}
		fmt.Fprintf(w, "  %s  %s  %s\n", terminal.Pad(unspaced(pair[0]), chineseWidth), terminal.Pad(translation, englishWidth), mark)
	}
	exact := m.countExact()
	fmt.Fprintf(w, "\n%d of %d exact\n", exact, len(pairs))
	return exact
}

// unspaced returns a Chinese sentence without the spaces between its tokens.
func unspaced(sentence string) string { return strings.ReplaceAll(sentence, " ", "") }
