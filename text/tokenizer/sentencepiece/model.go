package sentencepiece

import "fmt"

// Model is the contents of a .model file. Fields that this package does not know are kept, so that
// UnmarshalModel followed by MarshalBinary returns the same bytes if the file has its fields in the
// order of their numbers, as sentencepiece writes them.
type Model struct {
	Pieces       []Piece        `pb:"1,pieces"` // the index is the id in the file
	Trainer      TrainerSpec    `pb:"2,trainer_spec,required"`
	Normalizer   NormalizerSpec `pb:"3,normalizer_spec,required"`
	Denormalizer NormalizerSpec `pb:"5,denormalizer_spec"` // of decoded text; without a map

	message
}

// Piece is an entry of the vocabulary.
type Piece struct {
	Text  string    `pb:"1,piece"`
	Score float32   `pb:"2,score,required"` // log probability, or in BPE higher for earlier merges
	Type  PieceType `pb:"3,type"`

	message
}

// PieceType is the role of a piece.
type PieceType int32

// The types of pieces. The values are those of the file.
const (
	Normal      PieceType = 1 // matched in text
	Unknown     PieceType = 2 // the id of text without a piece; a model has one
	Control     PieceType = 3 // has no text: padding, beginning or end of a sentence
	UserDefined PieceType = 4 // always one piece wherever it occurs in the text
	Unused      PieceType = 5 // not produced by Encode
	Byte        PieceType = 6 // a byte of text without a piece, "<0x00>" to "<0xFF>"
)

// ModelType is the method of segmentation.
type ModelType int32

// The types of models. The values are those of the file.
const (
	Unigram ModelType = 1 // the most probable segmentation of a unigram language model
	BPE     ModelType = 2 // byte-pair encoding, of characters
	Word    ModelType = 3 // a piece for each word
	Char    ModelType = 4 // a piece for each character
)

// TrainerSpec holds the settings of the training that affect encoding and decoding, and those that
// package train uses. The flags of spm_train have the names of the tags. NewTrainerSpec returns the
// defaults.
type TrainerSpec struct {
	ModelType          ModelType `pb:"3,model_type"`
	VocabSize          int32     `pb:"4,vocab_size"`
	CharacterCoverage  float32   `pb:"10,character_coverage"`
	WhitespaceAsSuffix bool      `pb:"24,treat_whitespace_as_suffix"`
	ByteFallback       bool      `pb:"35,byte_fallback"`
	UnknownID          int32     `pb:"40,unk_id"`      // id of the unknown piece
	BOSID              int32     `pb:"41,bos_id"`      // id of the beginning of a sentence, or -1
	EOSID              int32     `pb:"42,eos_id"`      // id of the end of a sentence, or -1
	PadID              int32     `pb:"43,pad_id"`      // id of padding, or -1
	UnknownSurface     string    `pb:"44,unk_surface"` // decoded text of the unknown piece
	UnknownPiece       string    `pb:"45,unk_piece"`
	BOSPiece           string    `pb:"46,bos_piece"`
	EOSPiece           string    `pb:"47,eos_piece"`
	PadPiece           string    `pb:"48,pad_piece"`

	// NameUnknown gives unknown text that is the text of an unused piece the id of that piece,
	// as in programs that look up the pieces of SentencePiece in a vocabulary of their own. It
	// is an extension: SentencePiece ignores it.
	NameUnknown bool `pb:"200,name_unknown"`

	// CountUnknown keeps adjacent unknown pieces apart. It is an extension too.
	CountUnknown bool `pb:"201,count_unknown"`

	message
}

// NewTrainerSpec returns the default settings.
func NewTrainerSpec() TrainerSpec {
	return TrainerSpec{
		ModelType:         Unigram,
		VocabSize:         8000,
		CharacterCoverage: 0.9995,
		UnknownID:         0,
		BOSID:             1,
		EOSID:             2,
		PadID:             -1,
		UnknownSurface:    " ⁇ ",
		UnknownPiece:      "<unk>",
		BOSPiece:          "<s>",
		EOSPiece:          "</s>",
		PadPiece:          "<pad>",
	}
}

// NormalizerSpec holds the settings of normalization. NewNormalizerSpec returns the defaults.
type NormalizerSpec struct {
	// Name is nmt_nfkc, nmt_nfkc_cf, nfkc, nfkc_cf, identity or user_defined.
	Name string `pb:"1,name"`
	// PrecompiledCharsmap is a trie of characters with their replacements, empty for identity.
	PrecompiledCharsmap []byte `pb:"2,precompiled_charsmap"`

	AddDummyPrefix        bool `pb:"3,add_dummy_prefix"`         // begin a text with ▁
	RemoveExtraWhitespace bool `pb:"4,remove_extra_whitespaces"` // leading, trailing, repeated
	EscapeWhitespace      bool `pb:"5,escape_whitespaces"`       // spaces become ▁

	// Rewrites are applied in turn before all else, everywhere in a text: a regular expression
	// of package regexp that matches no empty text, a tab, and its replacement, in which $1 to
	// $9 are groups and $$ is $. They are an extension: SentencePiece keeps but ignores them.
	Rewrites []string `pb:"200,rewrites"`

	message
}

// NewNormalizerSpec returns the default settings, with the identity as the map.
func NewNormalizerSpec() NormalizerSpec {
	return NormalizerSpec{AddDummyPrefix: true, RemoveExtraWhitespace: true, EscapeWhitespace: true}
}

// NewModel returns a model with the default settings and without pieces.
func NewModel() *Model {
	return &Model{Trainer: NewTrainerSpec(), Normalizer: NewNormalizerSpec(), Denormalizer: NewNormalizerSpec()}
}

// byteText returns the text of the piece of a byte.
func byteText(c byte) string { return fmt.Sprintf("<0x%02X>", c) }
