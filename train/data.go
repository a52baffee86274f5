package train

import "errors"

// Data is the training and validation data of a run. Either Train or Stream is set.
type Data struct {
	// Pairs have the tokens of their languages, if the model has some: see model.Config.Affixes.
	Train  *Pairs // training pairs in memory
	Stream Stream // training pairs that are read in windows

	// StreamFingerprint identifies what the first epoch of a Stream does not show. A resumed run
	// must have the same.
	StreamFingerprint string

	Valid *Pairs // validation pairs; nil: no validation

	// For the validation's BLEU: the reference of each pair of Valid, and a function that
	// returns the text of target ids. Both can be nil; then the loss alone chooses the best
	// step.
	References []string
	Detokenize func(ids []int32) string

	// ValidParts divides Valid, part after part, for Event.Parts. It can be nil.
	ValidParts []ValidPart

	// ByLoss lets the loss alone choose the best step: the maximum BLEU of several validations
	// on few pairs is mostly chance.
	ByLoss bool

	// TargetPiece returns the text of a target id, see text.Tokenizer.Bytes. With it the
	// validation's translations are valid UTF-8, as those of package translate are. It can be
	// nil.
	TargetPiece func(id int32) string

	// DetokenizeSource returns the text of source ids, for Event.Samples. With nil the samples
	// have no sources.
	DetokenizeSource func(ids []int32) string

	// Tokenizers are written into every checkpoint, as into a model file. They can be nil.
	Tokenizers map[string][]byte

	// The languages are written into every checkpoint, as into a model file. With "", a resumed
	// run uses the checkpoint's.
	SrcLang, TgtLang string
}

// ErrOtherPairs is wrapped in the error of Run if the checkpoint to resume belongs to other
// training pairs.
var ErrOtherPairs = errors.New("the checkpoint belongs to other training pairs")

// ErrOtherValidation is wrapped in the error of Run if the checkpoint to resume belongs to other
// validation pairs, whose scores cannot be compared.
var ErrOtherValidation = errors.New("the checkpoint belongs to other validation pairs")

// ValidPart is a part of the validation pairs, such as those of one domain.
type ValidPart struct {
	Name  string
	Pairs int
	BLEU  float64 // 0 to 100, of the last validation
}

// partsLen returns the number of pairs of parts.
func partsLen(parts []ValidPart) (n int) {
	for _, p := range parts {
		n += p.Pairs
	}
	return n
}
