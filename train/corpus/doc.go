// Package corpus reads files of sentence pairs as training data, in two stages. Inspect reads the
// pairs once: it validates and counts them, counts words for the tokenizers, draws pairs to hold
// out, and collects facts that show wrong data and guide the choice of settings. Survey.Read learns
// the tokenizers, holds pairs out for validation, and encodes the others: in memory, or as a stream
// of windows. A caller can choose its settings between the two; Read is both in
// one call. The package imports train and the text packages.
//
// The example trains for two steps; it imports context, tfm/mat, tfm/model, tfm/train and
// tfm/train/corpus.
//
//	func Train(ctx context.Context, src, tgt, path string) error {
//		o := train.OptionsFor("demo")
//		o.Steps, o.BatchTokens, o.Dir = 2, 300, path+".ckpt"
//		pairs := corpus.Options{Train: corpus.Files(src, tgt), VocabSize: 300, Joint: true}
//		c, err := corpus.Read(ctx, pairs, o)
//		if err != nil {
//			return err
//		}
//		defer c.Close()
//		config, err := model.Preset("demo")
//		if err != nil {
//			return err
//		}
//		config.SrcVocab, config.TgtVocab = c.Vocab.Source.Size(), c.Vocab.Target.Size()
//		m, err := model.New(config)
//		if err != nil {
//			return err
//		}
//		m.AllocForTraining()
//		m.Init(o.Seed)
//		pool := mat.NewPool(2)
//		defer pool.Close()
//		if _, err := train.Run(ctx, m, pool, c.Data, o, nil); err != nil {
//			return err
//		}
//		f := model.File{Model: m, Tokenizers: c.Tokenizers, Decoding: o.Search.Saved().String()}
//		return f.Save(path)
//	}
//
// The files:
//
//	text.go       Text: sentence pairs in two files, in one TSV, or in memory
//	survey.go     Inspect: a Survey of a Text
//	facts.go      Facts: counts, lengths and repetitions of pairs
//	side.go       Side: characters and scripts of one side
//	pairing.go    whether the lines of both sides belong together, by their lengths
//	distinct.go   counts distinct pairs in bounded memory
//	overlap.go    validation pairs that are in the training pairs
//	languages.go  the languages that tagged sources begin with
//	trim.go       tokenizers without the pieces that a corpus does not use
//	read.go       Read: a Corpus from a Text or from a Survey
//	holdout.go    how many pairs are held out
//	mix.go        Mix: several datasets, and the schedule by which they are drawn
//	mixfile.go    ReadMix: a Mix from a file in OpusTrainer's form
//	dataset.go    one dataset, which is read from its files again and again
//	stream.go     a corpus that is read from its files in every epoch
//
// # Terms
//
//   - pair: a source sentence and its translation, line n of two files or one line of a TSV
//   - survey: the result of the first reading of a corpus
//   - facts: counts and measures of the text of a corpus
//   - held out: used for validation instead of training; see holdout.ValidationSet
//   - reference: target sentence of a validation pair, for BLEU
//   - window: consecutive pairs that are shuffled together, in memory; see train.Stream
//   - stream: a corpus that is read window by window in every epoch
package corpus
