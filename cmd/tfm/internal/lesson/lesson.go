package lesson

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"tfm/internal/format"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/train"
)

// Lesson trains a model on three sentences and prints what it does.
type Lesson struct {
	Config  model.Config // Run sets its vocabulary sizes
	Steps   int          // limit of training steps
	Seed    uint64       // of the initial weights
	Threads int
}

// Config returns the paper's base model without biases, with PyTorch's initial embeddings. It has
// neither dropout nor label smoothing, because the model is to memorize the sentences.
func Config() model.Config {
	return model.Config{DModel: 512, Heads: 8, DFF: 2048, EncoderLayers: 6, DecoderLayers: 6, Tie: model.TieNone, NormEps: 1e-5, MaxLen: 8,
		Biases: model.NoBiases, Unscaled: true, Init: model.PyTorchInit}
}

const (
	learningRate = 1e-3
	momentum     = 0.99

	// maxFinalLoss is the loss below which training may end. With this momentum the first steps
	// that translate all sentences correctly are followed by steps that do not.
	maxFinalLoss = 0.1
)

// pairs have spaces between tokens. A Chinese token is a character, so that 学 and 生 are each in
// two sentences and their meaning depends on the characters next to them.
var pairs = [][2]string{
	{"我 是 学 生", "I am a student"},
	{"我 喜 欢 学 习", "I like learning"},
	{"我 是 男 生", "I am a boy"},
}

// learner is the model of a lesson with its vocabularies and decoder.
type learner struct {
	*model.Transformer
	src, tgt vocabulary
	weights  *decode.Weights
	decoder  *decode.Decoder // of weights
}

// Run trains the model and writes the lesson to out. It fails if the model has not learned
// the sentences after Steps steps.
func (l *Lesson) Run(out io.Writer) error {
	m := learner{src: newVocabulary(0), tgt: newVocabulary(1)}
	l.Config.SrcVocab, l.Config.TgtVocab = len(m.src), len(m.tgt)
	var err error
	if m.Transformer, err = model.New(l.Config); err != nil {
		return err
	}
	m.AllocForTraining()
	m.Init(l.Seed)
	pool := mat.NewPool(l.Threads)
	defer pool.Close()
	m.weights = decode.NewWeights(m.Transformer, pool)
	m.decoder = decode.New(m.weights, pool)
	w := bufio.NewWriter(out)
	m.printTask(w)
	learned, err := l.train(w, m, pool)
	if err != nil {
		w.Flush()
		return err
	}
	m.weights.Refresh(pool)
	m.printDecoding(w)
	exact := m.printTranslations(w)
	if err := w.Flush(); err != nil {
		return err
	}
	if !learned {
		return fmt.Errorf("not learned in %s: %d of %d translations are exact, and no step had a loss below %v with all of them; increase -steps",
			format.Count(l.Steps, "step"), exact, len(pairs), maxFinalLoss)
	}
	return nil
}

// train runs training steps until the loss is low and all translations are exact, which it reports,
// or for l.Steps steps.
func (l *Lesson) train(w *bufio.Writer, m learner, pool *mat.Pool) (learned bool, err error) {
	var batch model.Batch
	for _, pair := range pairs {
		batch.Append(m.src.encode(pair[0]), m.tgt.encode(pair[1]))
	}
	pass := model.NewPass(m.Transformer, pool)
	sgd := train.NewSGD(m.Params.Count(), momentum)
	for step := 0; ; step++ {
		total := pass.Train(&batch, 0, 1/float32(len(batch.TgtOut)))
		loss := total.Sum / float64(total.Tokens)
		if loss < maxFinalLoss && total.Correct == total.Tokens {
			m.weights.Refresh(pool)
			learned = m.countExact() == len(pairs)
		}
		last := learned || step == l.Steps
		if step%5 == 0 || last {
			fmt.Fprintf(w, "  after step %3d  loss %.4f  %2d of %d next tokens right\n", step, loss, total.Correct, total.Tokens)
			if err := w.Flush(); err != nil {
				return false, err
			}
		}
		switch {
		case math.IsNaN(loss) || math.IsInf(loss, 0):
			return false, fmt.Errorf("loss %v after step %d: the training has diverged; try another -seed", loss, step)
		case learned:
			fmt.Fprintf(w, "\nTraining ends: the loss is below %v and all three translations are exact.\n", maxFinalLoss)
			return true, nil
		case last:
			fmt.Fprintf(w, "\nTraining ends after its last step.\n")
			return false, nil
		}
		sgd.StepAndClear(pool, m.Params.W, m.Params.G, learningRate, 1)
	}
}
