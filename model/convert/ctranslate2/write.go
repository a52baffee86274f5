package ctranslate2

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"tfm/mat"
	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
)

// Write writes a model in float32 for CTranslate2 to the folder dir, which it creates:
//
//	model.bin                  the weights, in binary version 6
//	config.json                the settings of CTranslate2
//	shared_vocabulary.json, or source_vocabulary.json and target_vocabulary.json
//	sentencepiece.model, or source.spm and target.spm  tokenizers of SentencePiece
//	bpe.model                  codes of subword-nmt
//	tokenizer.json             a byte-level BPE for the Python package tokenizers, or
//	                           source_tokenizer.json and target_tokenizer.json
//
// Its tokens are the printed pieces of the tokenizers. A table holds the positional encodings, so
// that every kind keeps its order. Pad and BOS have an output bias of -Inf. CTranslate2 has no
// place for suppressed pieces, shortlists and the length penalty: these are options of its calls.
// Files of other vocabularies and tokenizers with these names are removed. The error names a
// setting that CTranslate2 does not have.
func Write(dir string, f model.File) error {
	b, files, err := encode(f)
	if err != nil {
		return err
	}
	for _, name := range otherFiles {
		if files.Data[name] != nil {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := files.Write(dir); err != nil {
		return err
	}
	return safetensors.WriteAtomic(filepath.Join(dir, ModelFile), b.write)
}

// otherFiles are the names of the files of Write, besides model.bin.
var otherFiles = []string{
	ConfigFile, "shared_vocabulary.json", "source_vocabulary.json", "target_vocabulary.json", "sentencepiece.model", "source.spm", "target.spm",
	CodesFile, "tokenizer.json", "source_tokenizer.json", "target_tokenizer.json",
}

// encode returns the content of the folder of Write: model.bin and the other
// files.
func encode(f model.File) (*modelFile, *parts.FileSet, error) {
	t, c := f.Model, f.Model.Config
	if err := checkConfig(c); err != nil {
		return nil, nil, err
	}
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return nil, nil, err
	}
	files := &parts.FileSet{Data: map[string][]byte{}}
	options, err := addTokenizers(tokenizers, files)
	if err != nil {
		return nil, nil, err
	}
	start := options.BOS
	options.Start, options.Epsilon = &start, &c.NormEps
	options.SourceBOS, options.SourceEOS = c.Source.HasBOS(), c.Source.HasEOS()
	files.AddJSON(ConfigFile, options)
	w := writer{&modelFile{spec: "TransformerSpec", revision: 7, vars: map[string]variable{}}}
	settings, err := decode.ParseSettings(f.Decoding)
	if err := cmp.Or(files.Err, err, w.attributes(c, settings)); err != nil {
		return nil, nil, err
	}
	w.weights(t)
	slices.Sort(w.order)
	return w.modelFile, files, nil
}

// checkConfig reports the first setting that CTranslate2 does not have.
func checkConfig(c model.Config) error {
	dk, dv := c.HeadSizes()
	return cmp.Or(
		parts.Refuse(c.Norm == model.DeepNorm, "norm", parts.TextOf(c.Norm), "post or pre for CTranslate2"),
		parts.Refuse(!slices.Contains(activations, c.Activation), "activation", parts.TextOf(c.Activation), "one that CTranslate2 has"),
		parts.Refuse(c.Autoreg != model.SelfAttention, "autoreg", parts.TextOf(c.Autoreg), "self-attention for CTranslate2"),
		parts.Refuse(c.SrcLanguages != "" || c.TargetBegins, "source_marks", c.Source.String(), "no language of the source or at the begin of the target for CTranslate2"),
		parts.Refuse(c.NormKind == model.UnbiasedNorm, "norm_kind", parts.TextOf(c.NormKind), "layer or rms for CTranslate2"),
		parts.Refuse(dk != dv, "d_v", dv, fmt.Sprintf("%d, the d_k, for CTranslate2", dk)),
		parts.Refuse(dk*c.Heads != c.DModel, "d_k", dk, fmt.Sprintf("%d/%d, d_model divided by the heads, for CTranslate2", c.DModel, c.Heads)),
		parts.Refuse(c.Heads > math.MaxInt16, "heads", c.Heads, fmt.Sprint("up to ", math.MaxInt16, " for CTranslate2")),
	)
}

// addTokenizers adds the files of the tokenizers and the vocabularies to files, and returns the
// settings that name their tokens.
func addTokenizers(t vocab.Tokenizers, files *parts.FileSet) (options, error) {
	src, tgt, err := parts.NamesOfSides(t)
	if err != nil {
		return options{}, err
	}
	if !slices.Equal(src.Special(), tgt.Special()) {
		return options{}, fmt.Errorf("tokenizers: found special tokens %q and %q, expected the same on both sides for CTranslate2", src.Special(), tgt.Special())
	}
	type sideFiles struct {
		tokenizer        text.Tokenizer
		names            []string
		spm, json, vocab string
	}
	sides := []sideFiles{
		{t.Source, src.Names, "source.spm", "source_tokenizer.json", "source_vocabulary.json"},
		{t.Target, tgt.Names, "target.spm", "target_tokenizer.json", "target_vocabulary.json"},
	}
	if t.Joint() {
		sides = []sideFiles{{t.Source, src.Names, "sentencepiece.model", "tokenizer.json", "shared_vocabulary.json"}}
	}
	for _, side := range sides {
		files.AddJSON(side.vocab, side.names)
		switch x := side.tokenizer.(type) {
		case *sentencepiece.Tokenizer:
			files.Add(side.spm, x.MarshalBinary)
		case *subword.Tokenizer:
			var b bytes.Buffer
			err = x.Codes().Write(&b)
			if old := files.Data[CodesFile]; old != nil && !bytes.Equal(old, b.Bytes()) {
				return options{}, fmt.Errorf("tokenizers: found different codes of subword-nmt, expected the same on both sides for CTranslate2")
			}
			files.Add(CodesFile, func() ([]byte, error) { return b.Bytes(), err })
		case *bpe.Tokenizer:
			files.AddJSON(side.json, parts.TokenizerJSON(x, side.names))
		}
	}
	return options{Unknown: src.Unknown, BOS: src.Names[text.BOS], EOS: src.Names[text.EOS]}, nil
}

const CodesFile = "bpe.model"

// writer builds a model.bin.
type writer struct{ *modelFile }

func (w writer) add(name, dtype string, shape []int, data []byte) {
	w.vars[name], w.order = variable{dtype, shape, data}, append(w.order, name)
}

func (w writer) int8(name string, x int8) { w.add(name, "int8", nil, []byte{byte(x)}) }

func (w writer) int16(name string, x int) {
	w.add(name, "int16", nil, binary.LittleEndian.AppendUint16(nil, uint16(int16(x))))
}

func (w writer) flag(name string, x bool) {
	if x {
		w.int8(name, 1)
	} else {
		w.int8(name, 0)
	}
}

// attributes adds the scalars.
func (w writer) attributes(c model.Config, d decode.Settings) error {
	activation := int8(slices.Index(activations, c.Activation))
	for _, stack := range []string{"encoder", "decoder"} {
		w.int16(stack+"/num_heads", c.Heads)
		w.flag(stack+"/pre_norm", c.Norm == model.PreNorm)
		w.int8(stack+"/activation", activation)
		w.flag(stack+"/scale_embeddings", !c.Unscaled)
	}
	w.int8("encoder/embeddings_merge", 0)
	for _, name := range []string{"alibi", "alibi_use_positive_positions", "scale_alibi", "start_from_zero_embedding"} {
		w.flag("decoder/"+name, false)
	}
	align, err := decode.ParseAlignHeads(d.AlignHeads)
	if err != nil {
		return err
	}
	layer, heads := alignmentOf(align, c)
	w.int16("decoder/alignment_layer", layer)
	w.int16("decoder/alignment_heads", heads)
	return nil
}

// alignmentOf returns the layer, -1 for the last one, and the number of its first heads that align
// selects. It returns those of the last layer for a selection that CTranslate2 does not have.
func alignmentOf(align decode.AlignHeads, c model.Config) (layer, heads int) {
	for i, h := range align.Heads {
		if align.Next || h.Layer != align.Heads[0].Layer || h.Head != i {
			return -1, c.Heads
		}
	}
	if len(align.Heads) == 0 {
		return -1, c.Heads
	}
	return align.Heads[0].Layer, len(align.Heads)
}

// weights adds the parameters of t.
func (w writer) weights(t *model.Transformer) {
	c := t.Config
	list := &parts.TensorList{}
	table := func(name, same string, isSame bool, m mat.Matrix) {
		if isSame {
			w.aliases = append(w.aliases, [2]string{name, same})
		} else {
			list.Add(name, m.Data[:m.Rows*m.Cols], m.Rows, m.Cols)
		}
	}
	const src, tgt, out = "encoder/embeddings_0/weight", "decoder/embeddings/weight", "decoder/projection/weight"
	table(tgt, "", false, t.TgtEmbed.E.Weights())
	table(src, tgt, c.Tie == model.TieAll, t.SrcEmbed.E.Weights())
	table(out, tgt, c.Tie != model.TieNone, t.Output.E.Weights())
	list.Add("decoder/projection/bias", parts.ClosedBias(t), c.TgtVocab)
	const srcPositions, tgtPositions = "encoder/position_encodings/encodings", "decoder/position_encodings/encodings"
	table(tgtPositions, "", false, t.TgtEmbed.Positions)
	table(srcPositions, tgtPositions, c.Positions != model.Learned, t.SrcEmbed.Positions)
	list.Layers(t, &naming)
	for _, x := range list.List {
		w.add(x.Name, "float32", x.Shape, x.Data)
	}
}
