package sentencepiece

import "fmt"

// Model is the contents of a .model file. Fields that this package does not know are kept, so that
// UnmarshalModel followed by MarshalBinary returns the same bytes if the file has its fields in the
// order of their numbers, as sentencepiece writes them.
type Model struct {
	Pieces       []Piece // the index is the id in the file
	Trainer      TrainerSpec
	Normalizer   NormalizerSpec
	Denormalizer NormalizerSpec // applied to decoded text

	decoded  bool // from a file, and so written without the specs that explicit lacks
	explicit fieldSet
	unknown  []rawField
}

// Piece is an entry of the vocabulary.
type Piece struct {
	Text  string
	Score float32 // log probability in a unigram model; merges of higher score come first in BPE
	Type  PieceType

	offset   int // in the file, for errors
	explicit fieldSet
	unknown  []rawField
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

// String returns the name of t.
func (t PieceType) String() string {
	if t < Normal || t > Byte {
		return fmt.Sprintf("PieceType(%d)", int32(t))
	}
	return [...]string{"normal", "unknown", "control", "user-defined", "unused", "byte"}[t-1]
}

// ModelType is the method of segmentation.
type ModelType int32

// The types of models. The values are those of the file.
const (
	Unigram ModelType = 1 // the most probable segmentation of a unigram language model
	BPE     ModelType = 2 // byte-pair encoding, of characters
	Word    ModelType = 3 // a piece for each word
	Char    ModelType = 4 // a piece for each character
)

// String returns the name of t as in spm_train -model_type.
func (t ModelType) String() string {
	if t < Unigram || t > Char {
		return fmt.Sprintf("ModelType(%d)", int32(t))
	}
	return [...]string{"unigram", "bpe", "word", "char"}[t-1]
}

// TrainerSpec holds the settings of the training. Some of them also affect encoding and decoding.
// The flags of spm_train have the same names. NewTrainerSpec returns the defaults.
type TrainerSpec struct {
	Input                 []string
	InputFormat           string
	ModelPrefix           string
	ModelType             ModelType
	VocabSize             int32
	AcceptLanguage        []string
	SelfTestSampleSize    int32
	CharacterCoverage     float32
	InputSentenceSize     uint64
	ShuffleInputSentence  bool
	SeedSize              int32 // seed_sentencepiece_size
	ShrinkingFactor       float32
	MaxSentenceLength     int32
	NumThreads            int32
	NumSubIterations      int32
	MaxPieceLength        int32 // max_sentencepiece_length
	SplitByUnicodeScript  bool
	SplitByNumber         bool
	SplitByWhitespace     bool
	SplitDigits           bool
	WhitespaceAsSuffix    bool // treat_whitespace_as_suffix
	WhitespaceOnlyPieces  bool // allow_whitespace_only_pieces
	PretokenizerDelimiter string
	ControlSymbols        []string
	UserDefinedSymbols    []string
	RequiredChars         string
	ByteFallback          bool
	VocabularyOutputScore bool // vocabulary_output_piece_score
	HardVocabLimit        bool
	UseAllVocab           bool
	UnknownID             int32 // id of the unknown piece, unk_id
	BOSID                 int32 // id of the beginning of a sentence, or -1
	EOSID                 int32 // id of the end of a sentence, or -1
	PadID                 int32 // id of padding, or -1
	UnknownPiece          string
	BOSPiece              string
	EOSPiece              string
	PadPiece              string
	UnknownSurface        string // text of the unknown piece in decoded text
	ExtremelyLargeCorpus  bool   // train_extremely_large_corpus
	SeedFile              string // seed_sentencepieces_file

	explicit fieldSet
	unknown  []rawField
}

// NewTrainerSpec returns the default settings.
func NewTrainerSpec() TrainerSpec {
	return TrainerSpec{
		ModelType:             Unigram,
		VocabSize:             8000,
		CharacterCoverage:     0.9995,
		ShuffleInputSentence:  true,
		SeedSize:              1000000,
		ShrinkingFactor:       0.75,
		MaxSentenceLength:     4192,
		NumThreads:            16,
		NumSubIterations:      2,
		MaxPieceLength:        16,
		SplitByUnicodeScript:  true,
		SplitByNumber:         true,
		SplitByWhitespace:     true,
		VocabularyOutputScore: true,
		HardVocabLimit:        true,
		UnknownID:             0,
		BOSID:                 1,
		EOSID:                 2,
		PadID:                 -1,
		UnknownPiece:          "<unk>",
		BOSPiece:              "<s>",
		EOSPiece:              "</s>",
		PadPiece:              "<pad>",
		UnknownSurface:        " ⁇ ",
	}
}

// NormalizerSpec holds the settings of normalization. NewNormalizerSpec returns the defaults.
type NormalizerSpec struct {
	Name                  string // nmt_nfkc, nmt_nfkc_cf, nfkc, nfkc_cf, identity or user_defined
	PrecompiledCharsmap   []byte // a trie of characters with their replacements; empty for identity
	AddDummyPrefix        bool   // begin a text with ▁
	RemoveExtraWhitespace bool   // remove_extra_whitespaces: leading, trailing and repeated spaces
	EscapeWhitespace      bool   // escape_whitespaces: spaces become ▁
	RuleTSV               string // normalization_rule_tsv, the file that the map was compiled from

	explicit fieldSet
	unknown  []rawField
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
