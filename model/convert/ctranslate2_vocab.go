package convert

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/moses"
	"tfm/text/tokenizer/vocab"
)

// readTokens returns the tokens of a file of the vocabulary, without its ending, and the name of
// the file.
func (r *ct2Reader) readTokens(name string) (tokens []string, path string, err error) {
	list, text := name+".json", name+".txt"
	switch {
	case r.folder.has(list):
		err = r.folder.readJSON(list, false, &tokens)
		return tokens, r.folder.name(list), err
	case !r.folder.has(text):
		return nil, "", fmt.Errorf("%s: found none of %q", r.folder.path, []string{list, text})
	}
	data, err := r.folder.read(text)
	return tokenLines(string(data)), r.folder.name(text), err
}

// readVocabulary returns the vocabulary in a file. rows is the number of its embeddings.
func (r *ct2Reader) readVocabulary(name string, rows int) (*vocabulary, error) {
	tokens, path, err := r.readTokens(name)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(tokens, r.options.Unknown) {
		tokens = append(tokens, r.options.Unknown)
	}
	if len(tokens) != rows {
		return nil, fmt.Errorf("%s: found %d tokens, expected %d, the rows of the embeddings in %s", path, len(tokens), rows, ct2File)
	}
	v, err := newVocabulary(path, tokens)
	if err != nil {
		return nil, err
	}
	v.unknown, v.eos = v.row(r.options.Unknown), v.row(r.options.EOS)
	if r.hasOwnTokenizers() {
		v.unknown = -1
	}
	for _, token := range []string{r.options.BOS, "<pad>", "<blank>"} {
		if row := v.row(token); row >= 0 {
			v.controls[row] = true
		}
	}
	if v.eos == v.unknown {
		return nil, fmt.Errorf("%s: found %.40q as the end of a sentence and as the unknown token", path, r.options.EOS)
	}
	return v, nil
}

func (r *ct2Reader) sourceEmbedding() string {
	if name := "encoder/embeddings_0/weight"; r.has(name) {
		return name
	}
	return "encoder/embeddings/weight"
}

// readVocabularies sets the vocabularies, and their rows with a meaning.
func (r *ct2Reader) readVocabularies() error {
	srcShape, tgtShape := r.shape(r.sourceEmbedding(), 2), r.shape("decoder/embeddings/weight", 2)
	r.config = model.Config{DModel: tgtShape[1]}
	const shared = "shared_vocabulary"
	r.joint = r.folder.has(shared+".json") || r.folder.has(shared+".txt")
	if r.joint && srcShape[0] != tgtShape[0] {
		r.fail(r.sourceEmbedding(), "found %d rows, expected %d as in the decoder, with a shared vocabulary", srcShape[0], tgtShape[0])
	}
	if r.err != nil {
		return r.err
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
	if r.has("decoder/projection/bias") {
		r.bias = r.values("decoder/projection/bias", tgtShape[0])
	}
	return r.setSpecialRows()
}

// setSpecialRows sets r.zero, r.start, and the rows of Pad and BOS.
func (r *ct2Reader) setSpecialRows() error {
	r.zero = r.isOn("decoder/start_from_zero_embedding")
	// CTranslate2's converter of MarianMTModel leaves EOS to the tokenizer of transformers. No
	// other converter begins with a zero embedding in the place of EOS.
	if r.zero && *r.options.Start == r.options.EOS && !r.options.SourceBOS {
		r.options.SourceEOS = true
	}
	if r.start = r.tgt.row(*r.options.Start); r.start < 0 {
		r.start = r.tgt.unknown
	}
	switch {
	case r.err != nil:
		return r.err
	case r.tgt.eos < 0:
		return fmt.Errorf("%s: found no token %.40q, the end of a sentence", r.tgt.path, r.options.EOS)
	case r.src.eos < 0 && r.options.SourceEOS:
		return fmt.Errorf("%s: found no token %.40q, the end of a source", r.src.path, r.options.EOS)
	case r.start < 0 && !r.zero:
		return fmt.Errorf("%s: found no token %.40q, which the decoder starts with", r.tgt.path, *r.options.Start)
	}
	// A token that the decoder can predict needs an id besides Pad and BOS, which no search
	// selects.
	impossible := func(row int) bool {
		return row >= 0 && row != r.tgt.eos && row != r.tgt.unknown && r.bias != nil && math.IsInf(float64(r.bias[row]), -1)
	}
	if !r.zero && impossible(r.start) {
		r.tgt.bos = r.start
	}
	for row := range r.bias {
		if r.tgt.pad < 0 && row != r.tgt.bos && impossible(row) {
			r.tgt.pad = row
		}
	}
	bos := r.src.row(r.options.BOS)
	if !r.joint && bos != r.src.eos && bos != r.src.unknown {
		r.src.bos = bos
	}
	names := []string{"<pad>", "<blank>"}
	if r.tgt.pad >= 0 {
		names = []string{r.tgt.tokens[r.tgt.pad]}
	}
	for _, token := range names {
		row := r.src.row(token)
		if !r.joint && r.src.pad < 0 && row != r.src.bos && row != r.src.eos && row != r.src.unknown {
			r.src.pad = row
		}
	}
	if r.options.SourceBOS && bos < 0 {
		return fmt.Errorf("%s: found no token %.40q, the begin of a source", r.src.path, r.options.BOS)
	}
	r.findLanguages()
	return r.err
}

// findLanguages sets r.isM2M. The tokens of languages and those without a meaning become controls.
func (r *ct2Reader) findLanguages() {
	o := &r.options
	isCode := func(token string) bool { return m2mCode(token) != "" }
	first := slices.IndexFunc(r.tgt.tokens, isCode)
	if !r.joint || r.zero || *o.Start != o.EOS || o.SourceBOS || o.SourceEOS || first < 0 || !slices.ContainsFunc(r.tgt.tokens[first+1:], isCode) {
		return
	}
	r.isM2M = true
	for row, token := range r.tgt.tokens {
		if isCode(token) || token == "<mask>" || strings.HasPrefix(token, "madeupword") {
			r.tgt.controls[row] = true
		}
	}
}

// readLanguages sets the languages of M2M-100, of NLLB-200 and of a prefix. The caller of
// CTranslate2 gives the tokens around a text, as the tokenizer of transformers writes them.
func (r *ct2Reader) readLanguages() error {
	c := &r.config
	switch {
	case r.isM2M:
		var tokenizer m2mTokenizerConfig
		if err := r.tokenizers.readJSON(tokenizerConfigFile, true, &tokenizer); err != nil {
			return err
		}
		c.Source, c.SrcLanguages, c.TargetBegins = model.FromFirst, model.FormatLanguages(r.source.languages(r.src, m2mCode)), true
		if c.TgtLanguages = c.SrcLanguages; tokenizer.Legacy {
			c.Source = model.FromLast
		}
	case r.pkg != nil && r.pkg.prefix != "":
		id := slices.Index(r.target.rows, r.tgt.row(r.pkg.prefix))
		if id <= model.EOS {
			return fmt.Errorf("%s: found no token %.40q, expected the one that translations begin with", r.tgt.path, r.pkg.prefix)
		}
		c.TargetBegins, c.TgtLanguages = true, model.FormatLanguages([]model.Language{{Code: r.pkg.to, IDs: []int32{int32(id)}}})
	}
	return nil
}

// hasOwnTokenizers reports whether the folder has tokenizers that only tfm reads.
func (r *ct2Reader) hasOwnTokenizers() bool {
	return r.folder.has(ct2Tokenizer+"joint") || r.folder.has(ct2Tokenizer+"source")
}

// readOwnSides sets the tokenizers to those that only tfm reads. The tokens of the vocabularies
// have their order.
func (r *ct2Reader) readOwnSides() error {
	encoded := map[string][]byte{}
	for _, key := range []string{"joint", "source", "target"} {
		if r.folder.has(ct2Tokenizer + key) {
			data, err := r.folder.read(ct2Tokenizer + key)
			if err != nil {
				return err
			}
			encoded[key] = data
		}
	}
	t, err := vocab.UnmarshalTokenizers(encoded)
	if err != nil {
		return fmt.Errorf("%s: %w", r.folder.path, err)
	}
	for _, s := range []struct {
		side      *side
		v         *vocabulary
		tokenizer text.Tokenizer
	}{{&r.source, r.src, t.Source}, {&r.target, r.tgt, t.Target}} {
		if n := s.tokenizer.Size(); n != len(s.v.tokens) || s.v.pad != model.Pad || s.v.bos != model.BOS || s.v.eos != model.EOS {
			return fmt.Errorf("%s: found %d tokens, with special ones %d, %d and %d, expected %d, as in the tokenizer beside it, with special ones 0, 1 and 2",
				s.v.path, len(s.v.tokens), s.v.pad, s.v.bos, s.v.eos, n)
		}
		s.side.tokenizer = s.tokenizer
		for i := range s.v.tokens {
			s.side.rows = append(s.side.rows, i)
		}
	}
	return nil
}

// readSides sets the tokenizers.
func (r *ct2Reader) readSides() (err error) {
	f := r.tokenizers
	if r.hasOwnTokenizers() {
		return r.readOwnSides()
	}
	for _, n := range [][2]string{{"source.spm", "target.spm"}, {"sentencepiece.model", "sentencepiece.model"}, {"spm.model", "spm.model"}, {m2mPiecesFile, m2mPiecesFile}} {
		if f.has(n[0]) && f.has(n[1]) {
			return r.readPieces(f, n[0], n[1])
		}
	}
	if f.has("source.spm") || f.has("target.spm") {
		return fmt.Errorf("%s: found one of source.spm and target.spm, expected both", f.path)
	}
	if f.has(ct2Codes) {
		return r.readSegments()
	}
	n := 0
	for _, token := range r.tgt.tokens {
		if strings.HasPrefix(token, "▁") {
			n++
		}
	}
	if n > len(r.tgt.tokens)/10 {
		return fmt.Errorf("%s: found %d pieces that begin with ▁, expected the tokenizer of SentencePiece beside them: source.spm and target.spm, sentencepiece.model, or %s", r.tgt.path, n, m2mPiecesFile)
	}
	r.source, r.target, err = sidesOf(r.src, r.tgt, r.joint, (*vocabulary).words)
	return err
}

// readPieces sets the tokenizers to those of SentencePiece in two files of f.
func (r *ct2Reader) readPieces(f folder, srcName, tgtName string) (err error) {
	src, tgt := *r.src, *r.tgt
	if src.tokenizer, err = readSentencePiece(f, srcName); err != nil {
		return err
	}
	if tgt.tokenizer, err = readSentencePiece(f, tgtName); err != nil {
		return err
	}
	if r.source, r.target, err = pieceSides(&src, &tgt, r.joint); err == nil {
		r.source.addTargets(&r.config, r.src)
	}
	return err
}

// readSegments sets the tokenizers to those of a file of codes.
func (r *ct2Reader) readSegments() error {
	data, err := r.tokenizers.read(ct2Codes)
	if err != nil {
		return err
	}
	src, tgt := *r.src, *r.tgt
	src.codes = &codes{path: r.tokenizers.name(ct2Codes), data: data}
	tgt.codes = &codes{path: src.codes.path, data: data}
	if r.pkg != nil {
		src.codes.moses, tgt.codes.moses = moses.NewChain(r.pkg.from), moses.NewChain(r.pkg.to)
	}
	r.source, r.target, err = pieceSides(&src, &tgt, r.joint)
	return err
}
