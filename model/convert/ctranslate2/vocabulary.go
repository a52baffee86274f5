package ctranslate2

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/text/tokenizer/moses"
)

// readTokens returns the tokens of a file of the vocabulary, without its ending, and the name of
// the file.
func (r *reader) readTokens(name string) (tokens []string, path string, err error) {
	list, text := name+".json", name+".txt"
	switch {
	case r.folder.Has(list):
		err = r.folder.ReadJSON(list, false, &tokens)
		return tokens, r.folder.Name(list), err
	case !r.folder.Has(text):
		return nil, "", fmt.Errorf("%s: found none of %q", r.folder.Path, []string{list, text})
	}
	data, err := r.folder.Read(text)
	return parts.TokenLines(string(data)), r.folder.Name(text), err
}

// readVocabulary returns the vocabulary in a file. rows is the number of its embeddings.
func (r *reader) readVocabulary(name string, rows int) (*parts.Vocabulary, error) {
	tokens, path, err := r.readTokens(name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(tokens, r.options.Unknown) {
		tokens = append(tokens, r.options.Unknown)
	}
	if len(tokens) != rows {
		return nil, fmt.Errorf("%s: found %d tokens, expected %d, the rows of the embeddings in %s", path, len(tokens), rows, ModelFile)
	}
	v, err := parts.NewVocabulary(path, tokens)
	if err != nil {
		return nil, err
	}
	v.Unknown, v.EOS = v.Row(r.options.Unknown), v.Row(r.options.EOS)
	for _, token := range []string{r.options.BOS, "<pad>", "<blank>"} {
		if row := v.Row(token); row >= 0 {
			v.Controls[row] = true
		}
	}
	if v.EOS == v.Unknown {
		return nil, fmt.Errorf("%s: found %.40q as the end of a sentence and as the unknown token", path, r.options.EOS)
	}
	return v, nil
}

func (r *reader) sourceEmbedding() string {
	if name := "encoder/embeddings_0/weight"; r.Has(name) {
		return name
	}
	return "encoder/embeddings/weight"
}

// readVocabularies sets the vocabularies, and their rows with a meaning.
func (r *reader) readVocabularies() error {
	srcShape, tgtShape := r.Shape(r.sourceEmbedding(), 2), r.Shape("decoder/embeddings/weight", 2)
	r.config = model.Config{DModel: tgtShape[1]}
	const shared = "shared_vocabulary"
	r.joint = r.folder.Has(shared+".json") || r.folder.Has(shared+".txt")
	if r.joint && srcShape[0] != tgtShape[0] {
		r.Fail(r.sourceEmbedding(), "found %d rows, expected %d as in the decoder, with a shared vocabulary", srcShape[0], tgtShape[0])
	}
	if r.Err != nil {
		return r.Err
	}
	var err error
	if r.joint {
		r.tgt, err = r.readVocabulary(shared, tgtShape[0])
		r.src = r.tgt
	} else {
		if r.src, err = r.readVocabulary("source_vocabulary", srcShape[0]); err == nil {
			r.tgt, err = r.readVocabulary("target_vocabulary", tgtShape[0])
		}
	}
	if err != nil {
		return err
	}
	if r.Has("decoder/projection/bias") {
		r.bias = r.Values("decoder/projection/bias", tgtShape[0])
	}
	return r.setSpecialRows()
}

// setSpecialRows sets r.zero, r.start, and the rows of Pad and BOS.
func (r *reader) setSpecialRows() error {
	r.zero = r.isOn("decoder/start_from_zero_embedding")
	// CTranslate2's converter of MarianMTModel leaves EOS to the tokenizer of transformers. No
	// other converter begins with a zero embedding in the place of EOS.
	if r.zero && *r.options.Start == r.options.EOS && !r.options.SourceBOS {
		r.options.SourceEOS = true
	}
	if r.start = r.tgt.Row(*r.options.Start); r.start < 0 {
		r.start = r.tgt.Unknown
	}
	switch {
	case r.Err != nil:
		return r.Err
	case r.tgt.EOS < 0:
		return fmt.Errorf("%s: found no token %.40q, the end of a sentence", r.tgt.Path, r.options.EOS)
	case r.src.EOS < 0 && r.options.SourceEOS:
		return fmt.Errorf("%s: found no token %.40q, the end of a source", r.src.Path, r.options.EOS)
	case r.start < 0 && !r.zero:
		return fmt.Errorf("%s: found no token %.40q, which the decoder starts with", r.tgt.Path, *r.options.Start)
	}
	// A token that the decoder can predict needs an id besides Pad and BOS, which no search
	// selects.
	impossible := func(row int) bool {
		return row >= 0 && row != r.tgt.EOS && row != r.tgt.Unknown && r.bias != nil && math.IsInf(float64(r.bias[row]), -1)
	}
	if !r.zero && impossible(r.start) {
		r.tgt.BOS = r.start
	}
	for row := range r.bias {
		if r.tgt.Pad < 0 && row != r.tgt.BOS && impossible(row) {
			r.tgt.Pad = row
		}
	}
	bos := r.src.Row(r.options.BOS)
	if !r.joint && bos != r.src.EOS && bos != r.src.Unknown {
		r.src.BOS = bos
	}
	names := []string{"<pad>", "<blank>"}
	if r.tgt.Pad >= 0 {
		names = []string{r.tgt.Tokens[r.tgt.Pad]}
	}
	for _, token := range names {
		row := r.src.Row(token)
		if !r.joint && r.src.Pad < 0 && row != r.src.BOS && row != r.src.EOS && row != r.src.Unknown {
			r.src.Pad = row
		}
	}
	if r.options.SourceBOS && bos < 0 {
		return fmt.Errorf("%s: found no token %.40q, the begin of a source", r.src.Path, r.options.BOS)
	}
	r.findLanguages()
	return r.Err
}

// findLanguages sets r.isM2M. The tokens of languages and those without a meaning become controls.
func (r *reader) findLanguages() {
	o := &r.options
	isCode := func(token string) bool { return parts.M2MCode(token) != "" }
	first := slices.IndexFunc(r.tgt.Tokens, isCode)
	if !r.joint || r.zero || *o.Start != o.EOS || o.SourceBOS || o.SourceEOS || first < 0 || !slices.ContainsFunc(r.tgt.Tokens[first+1:], isCode) {
		return
	}
	r.isM2M = true
	for row, token := range r.tgt.Tokens {
		if isCode(token) || token == "<mask>" || strings.HasPrefix(token, "madeupword") {
			r.tgt.Controls[row] = true
		}
	}
}

// readLanguages sets the languages of M2M-100, of NLLB-200 and of a prefix. The caller of
// CTranslate2 gives the tokens around a text, as the tokenizer of transformers writes them.
func (r *reader) readLanguages() error {
	c := &r.config
	switch {
	case r.isM2M:
		var tokenizer struct {
			Legacy bool `json:"legacy_behaviour"`
		}
		if err := r.tokenizers.ReadJSON(parts.TokenizerConfigFile, true, &tokenizer); err != nil {
			return err
		}
		c.Source, c.SrcLanguages, c.TargetBegins = model.FromFirst, model.FormatLanguages(r.source.Languages(r.src, parts.M2MCode)), true
		if c.TgtLanguages = c.SrcLanguages; tokenizer.Legacy {
			c.Source = model.FromLast
		}
	case r.pkg != nil && r.pkg.Prefix != "":
		id := slices.Index(r.target.Rows, r.tgt.Row(r.pkg.Prefix))
		if id <= model.EOS {
			return fmt.Errorf("%s: found no token %.40q, expected the one that translations begin with", r.tgt.Path, r.pkg.Prefix)
		}
		c.TargetBegins, c.TgtLanguages = true, model.FormatLanguages([]model.Language{{Code: r.pkg.To, IDs: []int32{int32(id)}}})
	}
	return nil
}

// readSides sets the tokenizers.
func (r *reader) readSides() (err error) {
	f := r.tokenizers
	for _, n := range [][2]string{{"source.spm", "target.spm"}, {"sentencepiece.model", "sentencepiece.model"}, {"spm.model", "spm.model"}, {parts.M2MPiecesFile, parts.M2MPiecesFile}} {
		if f.Has(n[0]) && f.Has(n[1]) {
			return r.readPieces(f, n[0], n[1])
		}
	}
	if f.Has("source.spm") || f.Has("target.spm") {
		return fmt.Errorf("%s: found one of source.spm and target.spm, expected both", f.Path)
	}
	if f.Has(CodesFile) {
		return r.readSegments()
	}
	for _, space := range []string{"▁", "Ġ"} {
		n := 0
		for _, token := range r.tgt.Tokens {
			if strings.HasPrefix(token, space) {
				n++
			}
		}
		if n > len(r.tgt.Tokens)/10 {
			return fmt.Errorf("%s: found %d pieces that begin with %s, expected the tokenizer of SentencePiece beside them: source.spm and target.spm, sentencepiece.model, or %s", r.tgt.Path, n, space, parts.M2MPiecesFile)
		}
	}
	r.source, r.target, err = parts.SidesOf(r.src, r.tgt, r.joint, (*parts.Vocabulary).Words)
	return err
}

// readPieces sets the tokenizers to those of SentencePiece in two files of f.
func (r *reader) readPieces(f parts.Folder, srcName, tgtName string) (err error) {
	src, tgt := *r.src, *r.tgt
	if src.Tokenizer, err = parts.ReadSentencePiece(f, srcName); err != nil {
		return err
	}
	if tgt.Tokenizer, err = parts.ReadSentencePiece(f, tgtName); err != nil {
		return err
	}
	if r.source, r.target, err = parts.PieceSides(&src, &tgt, r.joint); err == nil {
		r.source.AddTargets(&r.config, r.src)
	}
	return err
}

// readSegments sets the tokenizers to those of a file of codes.
func (r *reader) readSegments() error {
	data, err := r.tokenizers.Read(CodesFile)
	if err != nil {
		return err
	}
	src, tgt := *r.src, *r.tgt
	src.Codes = &parts.Codes{Path: r.tokenizers.Name(CodesFile), Data: data}
	tgt.Codes = &parts.Codes{Path: src.Codes.Path, Data: data}
	if r.pkg != nil {
		src.Codes.Moses, tgt.Codes.Moses = moses.NewChain(r.pkg.From), moses.NewChain(r.pkg.To)
	}
	r.source, r.target, err = parts.PieceSides(&src, &tgt, r.joint)
	return err
}
