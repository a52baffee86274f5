package lesson

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/train"
)

// Lesson trains a model on three sentences and shows what it does.
type Lesson struct {
	Config  model.Config // its vocabularies are set by Run
	Steps   int          // at most
	Seed    uint64       // of the first weights
	Threads int
}

// Config is the base model as it is first taught: linear maps without biases, embeddings as PyTorch
// begins them, and neither dropout nor label smoothing, which are against learning by heart.
func Config() model.Config {
	return model.Config{DModel: 512, Heads: 8, DFF: 2048, EncoderLayers: 6, DecoderLayers: 6, Tie: model.TieNone, NormEps: 1e-5, MaxLen: 8,
		Biases: model.NoBiases, Unscaled: true, Start: model.PyTorchStart}
}

const (
	rate     = 1e-3
	momentum = 0.99
	endLoss  = 0.1 // at which training may end: with so much momentum the first steps that have all words right lose them again
)

// pairs have spaces between what is a word to the model. Chinese writes none and is taken apart
// into characters, so that 学 and 生 come in two sentences each, and what they mean depends on what
// stands beside them.
var pairs = [][2]string{
	{"我 是 学 生", "I am a student"},
	{"我 喜 欢 学 习", "I like learning"},
	{"我 是 男 生", "I am a boy"},
}

// words is a vocabulary: the place of a word is its id.
type words []string

// vocabulary has the marks, in the order of their ids model.Pad, BOS and EOS, and the words of one
// side of the pairs.
func vocabulary(side int) words {
	list := words{"<pad>", "<s>", "</s>"}
	for _, pair := range pairs {
		for _, word := range strings.Fields(pair[side]) {
			if !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
	}
	return list
}

func (v words) encode(sentence string) []int32 {
	var ids []int32
	for _, word := range strings.Fields(sentence) {
		ids = append(ids, int32(slices.Index(v, word)))
	}
	return ids
}

func (v words) decode(ids []int32) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = v[id]
	}
	return strings.Join(words, " ")
}

// numbered lists the words with their ids.
func (v words) numbered() string {
	var b strings.Builder
	for id, word := range v {
		fmt.Fprintf(&b, "  %d %s", id, word)
	}
	return b.String()
}

// pupil is the model of a lesson in training.
type pupil struct {
	*model.Transformer
	src, tgt words
	weights  *decode.Weights
	decoder  *decode.Decoder // of weights
}

// Run is the whole lesson: what is to be learned, the training, the generation loop of each
// sentence, the translations.
func (l *Lesson) Run(out io.Writer) error {
	p := pupil{src: vocabulary(0), tgt: vocabulary(1)}
	l.Config.SrcVocab, l.Config.TgtVocab = len(p.src), len(p.tgt)
	var err error
	if p.Transformer, err = model.New(l.Config); err != nil {
		return err
	}
	p.AllocForTraining()
	p.Init(l.Seed)
	pool := mat.NewPool(l.Threads)
	defer pool.Close()
	p.weights = decode.NewWeights(p.Transformer, pool)
	p.decoder = decode.New(p.weights, pool)
	w := bufio.NewWriter(out)
	p.introduce(w)
	learned, err := l.train(w, p, pool)
	if err != nil {
		w.Flush()
		return err
	}
	p.weights.Refresh(pool)
	p.generations(w)
	exact := p.translations(w)
	if err := w.Flush(); err != nil {
		return err
	}
	if !learned {
		return fmt.Errorf("not learned in %d steps: %d of %d sentences come out word for word, and the loss has not been below %v with all of them; -steps gives it more",
			l.Steps, exact, len(pairs), endLoss)
	}
	return nil
}

// introduce shows what the model is to learn, in which form, and what it is.
func (p pupil) introduce(w io.Writer) {
	fmt.Fprint(w, "Three sentences to learn:\n\n")
	for _, pair := range pairs {
		fmt.Fprintf(w, "  %s  %s\n", terminal.Pad(written(pair[0]), 12), pair[1])
	}
	fmt.Fprintf(w, `
To the model a sentence is a list of numbers. A character of Chinese and a word of English have one each:

  Chinese %s
  English %s

<s> begins what the decoder is given, </s> ends a sentence, and <pad> would fill sentences up to one length; here they
stand one after another in the batch, so none is needed.

One step of training takes all three sentences. At every place the decoder has the right words up to there, and is
to say the next one:

  %s  %s  it is to say
`, p.src.numbered(), p.tgt.numbered(), terminal.Pad("encoder is given", 20), terminal.Pad("decoder is given", 20))
	for _, pair := range pairs {
		fmt.Fprintf(w, "  %s  %s  %s\n", terminal.Pad(pair[0]+" </s>", 20), terminal.Pad("<s> "+pair[1], 20), pair[1]+" </s>")
	}
	c := p.Config
	fmt.Fprintf(w, `
The model:  %d + %d layers, d_model %d, %d heads, d_ff %d, norms behind the residual connections, no biases;
            %s weights, which begin at random
Training:   gradient descent with momentum %v, learning rate %v

The loss is the mean of -log(probability of the right next word).

`, c.EncoderLayers, c.DecoderLayers, c.DModel, c.Heads, c.DFF, format.Thousands(p.Params.Count()), momentum, rate)
}

// train steps until the loss is low and all sentences come out word for word, which it reports, or
// the steps run out.
func (l *Lesson) train(w *bufio.Writer, p pupil, pool *mat.Pool) (learned bool, err error) {
	var batch model.Batch
	for _, pair := range pairs {
		batch.Append(p.src.encode(pair[0]), p.tgt.encode(pair[1]))
	}
	pass := model.NewPass(p.Transformer, pool)
	sgd := train.NewSGD(p.Params.Count(), momentum, false)
	for step := 0; ; step++ {
		total := pass.Train(&batch, 0, 1/float32(len(batch.TgtOut)))
		loss := total.Sum / float64(total.Tokens)
		if loss < endLoss && total.Correct == total.Tokens {
			p.weights.Refresh(pool)
			learned = p.exact() == len(pairs)
		}
		end := learned || step == l.Steps
		if step%5 == 0 || end {
			fmt.Fprintf(w, "  after step %3d  loss %.4f  %2d of %d next words right\n", step, loss, total.Correct, total.Tokens)
			if err := w.Flush(); err != nil {
				return false, err
			}
		}
		switch {
		case math.IsNaN(loss) || math.IsInf(loss, 0):
			return false, fmt.Errorf("the loss after step %d is %v: the training has diverged; another -seed begins elsewhere", step, loss)
		case learned:
			fmt.Fprintf(w, "\nTraining ends: the loss is below %v, and all three sentences come out word for word when the model translates by itself.\n", endLoss)
			return true, nil
		case end:
			fmt.Fprintf(w, "\nTraining ends: these were all its steps.\n")
			return false, nil
		}
		sgd.Step(pool, p.Params.W, p.Params.G, rate, 1)
	}
}

// turn is one of the generation loop: the probabilities of all words to be the next one, and the
// word that has most.
type turn struct {
	probabilities []float32
	said          int32
}

// generate is the generation loop: the decoder is given what it has said so far and says the most
// probable next word, until that is the end mark. What does not end is cut off at the length that
// the model takes.
func (p pupil) generate(src []int32) (translation []int32, turns []turn) {
	for len(translation) < p.Config.MaxLen {
		next := p.decoder.Next(src, translation)
		said := int32(slices.Index(next, slices.Max(next)))
		turns = append(turns, turn{next, said})
		if said == model.EOS {
			break
		}
		translation = append(translation, said)
	}
	return translation, turns
}

// translate is what the model makes of a sentence.
func (p pupil) translate(sentence string) string {
	translation, _ := p.generate(p.src.encode(sentence))
	return p.tgt.decode(translation)
}

// exact is how many sentences come out word for word.
func (p pupil) exact() int {
	n := 0
	for _, pair := range pairs {
		if p.translate(pair[0]) == pair[1] {
			n++
		}
	}
	return n
}

// generations shows every turn of the generation loop, sentence by sentence.
func (p pupil) generations(w io.Writer) {
	fmt.Fprint(w, `
Translation is a loop. The encoder reads the Chinese sentence once. The decoder is given <s> and says the most probable
next word; it is given that too and says the next, until it says </s>:
`)
	for _, pair := range pairs {
		translation, turns := p.generate(p.src.encode(pair[0]))
		fmt.Fprintf(w, "\n  %s\n", written(pair[0]))
		width := terminal.Columns(p.tgt.decode(append([]int32{model.BOS}, translation...)))
		for i, t := range turns {
			given := p.tgt.decode(append([]int32{model.BOS}, translation[:i]...))
			second := p.second(t)
			fmt.Fprintf(w, "    given %s  says %s %6.2f%%   (then %s %.2f%%)\n", terminal.Pad(given, width), terminal.Pad(p.tgt[t.said], 8),
				100*t.probabilities[t.said], p.tgt[second], 100*t.probabilities[second])
		}
	}
}

// second is the word that would have been said without the one that was.
func (p pupil) second(t turn) int32 {
	others := slices.Clone(t.probabilities)
	others[t.said] = -1
	return int32(slices.Index(others, slices.Max(others)))
}

// translations shows what has come of each sentence, and returns how many are exact.
func (p pupil) translations(w io.Writer) int {
	fmt.Fprint(w, "\nThe translations:\n\n")
	exact := 0
	for _, pair := range pairs {
		got, mark := p.translate(pair[0]), "= exact"
		if got == pair[1] {
			exact++
		} else {
			mark = "≠ " + pair[1]
		}
		fmt.Fprintf(w, "  %s  %s  %s\n", terminal.Pad(written(pair[0]), 12), terminal.Pad(got, 16), mark)
	}
	fmt.Fprintf(w, "\n%d of %d word for word\n", exact, len(pairs))
	return exact
}

// written is a Chinese sentence as people write it.
func written(characters string) string { return strings.ReplaceAll(characters, " ", "") }
