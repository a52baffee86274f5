// Package translate is a model file as a translator of text: what a Go program imports to
// translate.
//
//	t, err := translate.Open("en-de.safetensors", translate.Options{})
//	…
//	out, err := t.Translate(ctx, []string{"A red dog runs."})
//
// A Translator is safe for concurrent use. Do takes options for each request and returns what
// Translate leaves out: lists of translations with scores, tokens with their places in the text,
// attention. Lines is a filter: it translates a stream, line by line, as fast as lines come. A
// translation depends on the model, the text and the options alone: not on what else is
// translated, nor on threads or processor.
//
// It imports model, model/decode, text and text/vocab, and neither training nor scores.
//
// The way of a sentence: Translator.Do → text.Tokenizer encodes it → decode.Decoder searches for
// its translations → Translator.translation decodes and cleans them. In a stream Lines stands
// before Do: it reads ahead and gives Do the lines that are there.
//
// The files: translator.go (Open, Translate), request.go (Do and what it returns), lines.go
// (streams).
package translate
