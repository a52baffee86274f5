// Package translate translates text with a model file. Go programs import it to translate.
//
//	t, err := translate.Open("en-de.safetensors", translate.Options{})
//	…
//	out, err := t.Translate(ctx, []string{"A red dog runs."})
//
// A Translator is safe for concurrent use. Do takes options for each request and returns more than
// Translate: n-best lists with scores, tokens with their byte ranges in the text, attention, and
// which texts were truncated. Lines filters a stream: it translates line by line as lines arrive.
// Translator.DefaultOptions are the options of requests that have none; their length penalty is
// that of the model file. A translation depends only on the model, the text and the options, not on
// the other texts, the number of threads or the processor.
//
// The package imports model, model/decode, text and text/vocab, and neither training nor scoring.
//
// The way of a sentence: Translator.Do → text.Tokenizer encodes the sentence → decode.Decoder
// searches for its translations → Translator.translation decodes them into text. For a stream,
// Lines reads ahead and calls Do with the lines that have arrived.
//
// The files: translator.go (Open, Translate), request.go (Do and its results), lines.go (streams),
// pairs.go (scores of given translations), heads.go (the heads that align best), stream.go (parts
// of translations that cannot change).
//
// # Terms
//
//   - text: a sentence or line to translate, without its line ending
//   - blank text: a text without a word; it is not translated
//   - request: the texts of one call of Do and its options
//   - result: the translations of one text
//   - source limit: number of tokens to which a longer text is truncated
//   - alignment: for each target token, the source token with the largest attention weight
//   - n-best list: the translations of one text with the highest scores
package translate
