// Package translate translates text with a model file. Go programs import it to translate.
//
//	t, err := translate.Open("en-de.safetensors", translate.Options{})
//	…
//	out, err := t.Translate(ctx, []string{"A red dog runs."})
//
// A Translator is safe for concurrent use, and translates the texts of all calls in progress
// together: many calls of one text are as fast as one call of many. A call whose context ends
// leaves before the next decode step. Do takes options for each request and returns more than
// Translate: n-best lists with scores, tokens with their byte ranges in the text, attention, and
// which texts were truncated. With Request.Split it translates running text, sentence by sentence.
// Lines filters a stream: it translates line by line as lines arrive. ScorePairs returns the
// log-probabilities of given translations.
//
// Translator.DefaultOptions are the options of requests that have none; their length penalty is
// that of the model file. A translation depends only on the model, the text and the options, not on
// the other texts, other calls, the number of threads or the processor.
//
// Open converts a model file as it reads it, or maps one that 'tfm quantize' wrote: a process then
// shares the weights with others. Options.Int8 rounds them to 8 bits.
//
// The package imports model, model/decode, text, text/align, text/markup, text/split and
// text/tokenizer/vocab, and neither training nor the scores of test sets.
//
// The way of a sentence: Translator.Do → text.Tokenizer encodes the sentence → decode.Engine
// searches for its translations, together with those of other calls → Translator.translation
// decodes them into text. For a stream, Lines does this for each line when it has been read.
//
// The files: translator.go (Open, Translate), request.go (Do and its results), sentences.go (texts
// of several sentences), lines.go (streams), languages.go (the tokens of languages), marked.go
// (texts with inline elements), keep.go (ranges that stay unchanged), glossary.go
// (terms), memory.go (translations of whole texts), closest.go (texts like those) and adapt.go
// (tuning to them), pairs.go (scores of given translations), heads.go (the heads that align best),
// arithmetic.go (its number), shortlist.go (the pieces that may translate a source), stream.go
// (parts of translations that cannot change).
//
// # Terms
//
//   - text: a sentence or line to translate, without its line ending; with Request.Split running
//     text
//   - blank text: a text without a word; it is not translated
//   - request: the texts of one call of Do and its options
//   - result: the translations of one text
//   - source limit: number of tokens to which a longer text is truncated
//   - alignment: for each target token, the source token with the largest attention weight; of
//     words, likewise with the sums of their tokens' weights
//   - align heads: the heads of the cross-attention whose mean weights make alignments
//   - list: the target pieces that may translate a source, see decode.Shortlist
//   - kept range: a part of a text that its translations contain unchanged
//   - stand-in: the word that the model translates in the place of a kept range
//   - n-best list: the translations of one text with the highest scores
package translate
