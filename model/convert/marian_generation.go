package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"tfm/model"
)

// hfGeneration holds the settings of transformers' generate that affect translations. They are in
// generation_config.json, or in config.json of early versions.
type hfGeneration struct {
	NumBeams      int             `json:"num_beams"`
	LengthPenalty *float64        `json:"length_penalty"`
	EarlyStopping json.RawMessage `json:"early_stopping"`
	Renormalize   bool            `json:"renormalize_logits"`
	BadWords      [][]int32       `json:"bad_words_ids"`
	SuppressToks  []int32         `json:"suppress_tokens"`
	Pad           *int32          `json:"pad_token_id"`
	Start         *int32          `json:"decoder_start_token_id"`
	EOS           json.RawMessage `json:"eos_token_id"`

	// Settings that must be off.
	DoSample          bool            `json:"do_sample"`
	MinLength         int             `json:"min_length"`
	MinNewTokens      *int            `json:"min_new_tokens"`
	NoRepeat          int             `json:"no_repeat_ngram_size"`
	EncoderNoRepeat   int             `json:"encoder_no_repeat_ngram_size"`
	RepetitionPenalty *float64        `json:"repetition_penalty"`
	EncoderRepetition *float64        `json:"encoder_repetition_penalty"`
	BeamGroups        *int            `json:"num_beam_groups"`
	Diversity         float64         `json:"diversity_penalty"`
	ForcedBOS         *int32          `json:"forced_bos_token_id"`
	BeginSuppress     []int32         `json:"begin_suppress_tokens"`
	ForceWords        json.RawMessage `json:"force_words_ids"`
	Constraints       json.RawMessage `json:"constraints"`
	SequenceBias      json.RawMessage `json:"sequence_bias"`
	Guidance          *float64        `json:"guidance_scale"`
	DecayPenalty      json.RawMessage `json:"exponential_decay_length_penalty"`

	start      *int32
	eos        int
	search     string
	suppressed []int32
}

// newHFGeneration returns transformers' defaults, which its files omit.
func newHFGeneration() hfGeneration { return hfGeneration{NumBeams: 1} }

// isSet reports whether a setting of any type is neither absent nor null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// validate sets the fields without names in JSON. vocabulary is the number of target pieces.
func (g *hfGeneration) validate(vocabulary int) error {
	not := func(x *float64, off float64) bool { return x != nil && *x != off }
	if err := firstBroken([]rule{
		{g.NumBeams < 1 || g.NumBeams > model.MaxBeam, "num_beams", g.NumBeams, fmt.Sprint("1 to ", model.MaxBeam)},
		{g.DoSample, "do_sample", true, "false: the model file has settings of beam search"},
		{g.MinLength > 0, "min_length", g.MinLength, "0"},
		{g.MinNewTokens != nil && *g.MinNewTokens > 0, "min_new_tokens", g.MinNewTokens, "null"},
		{g.NoRepeat > 0, "no_repeat_ngram_size", g.NoRepeat, "0: it is an option of a translation"},
		{g.EncoderNoRepeat > 0, "encoder_no_repeat_ngram_size", g.EncoderNoRepeat, "0"},
		{not(g.RepetitionPenalty, 1), "repetition_penalty", value(g.RepetitionPenalty), "1: it is an option of a translation"},
		{not(g.EncoderRepetition, 1), "encoder_repetition_penalty", value(g.EncoderRepetition), "1"},
		{g.BeamGroups != nil && *g.BeamGroups > 1, "num_beam_groups", value(g.BeamGroups), "1"},
		{g.Diversity != 0, "diversity_penalty", g.Diversity, "0"},
		{g.ForcedBOS != nil, "forced_bos_token_id", value(g.ForcedBOS), "null"},
		{len(g.BeginSuppress) > 0, "begin_suppress_tokens", g.BeginSuppress, "null"},
		{isSet(g.ForceWords), "force_words_ids", string(g.ForceWords), "null"},
		{isSet(g.Constraints), "constraints", string(g.Constraints), "null"},
		{isSet(g.SequenceBias), "sequence_bias", string(g.SequenceBias), "null"},
		{not(g.Guidance, 1), "guidance_scale", value(g.Guidance), "null"},
		{isSet(g.DecayPenalty), "exponential_decay_length_penalty", string(g.DecayPenalty), "null"},
		{g.LengthPenalty != nil && !(*g.LengthPenalty >= 0 && *g.LengthPenalty <= 10), "length_penalty", value(g.LengthPenalty), "0 to 10"},
	}...); err != nil {
		return err
	}
	if err := g.setSearch(); err != nil {
		return err
	}
	eos, err := oneID(g.EOS)
	if err != nil {
		return fmt.Errorf("eos_token_id: %w", err)
	}
	g.eos = int(eos)
	if g.start = g.Start; g.start == nil {
		if g.start = g.Pad; g.start == nil {
			return fmt.Errorf("decoder_start_token_id: found none, expected the piece that translations begin with")
		}
	}
	for name, id := range map[string]*int32{"decoder_start_token_id": g.start, "pad_token_id": g.Pad} {
		if id != nil && (*id < 0 || int(*id) >= vocabulary) {
			return &model.FieldError{Field: name, Found: *id, Expected: fmt.Sprintf("0 to %d", vocabulary-1)}
		}
	}
	return g.setSuppressed(vocabulary)
}

// value returns what p points to, or "null".
func value[T any](p *T) any {
	if p == nil {
		return "null"
	}
	return *p
}

// oneID decodes an id, or a list of one id. The default is 0.
func oneID(raw json.RawMessage) (int32, error) {
	var id int32
	var list []int32
	switch {
	case !isSet(raw) || json.Unmarshal(raw, &id) == nil:
		return id, nil
	case json.Unmarshal(raw, &list) == nil && len(list) == 1:
		return list[0], nil
	}
	return 0, fmt.Errorf("found %.40q, expected one id", raw)
}

// setSearch sets g.search.
func (g *hfGeneration) setSearch() error {
	switch s := string(g.EarlyStopping); s {
	case "", "null", "false":
		g.search = model.SearchHeuristic
	case "true":
		g.search = model.SearchFinished
	case `"never"`:
		g.search = model.SearchExact
	default:
		return &model.FieldError{Field: "early_stopping", Found: s, Expected: `false, true or "never"`}
	}
	return nil
}

// setSuppressed sets g.suppressed.
func (g *hfGeneration) setSuppressed(vocabulary int) error {
	g.suppressed = slices.Clone(g.SuppressToks)
	for _, word := range g.BadWords {
		if len(word) != 1 {
			return fmt.Errorf("bad_words_ids: found a word of %d pieces, expected 1: tfm suppresses single pieces", len(word))
		}
		g.suppressed = append(g.suppressed, word[0])
	}
	for _, id := range g.suppressed {
		if id < 0 || int(id) >= vocabulary || int(id) == g.eos {
			return fmt.Errorf("bad_words_ids: found id %d, expected 0 to %d without that of EOS", id, vocabulary-1)
		}
	}
	return nil
}

// decoding returns the settings of beam search.
func (g *hfGeneration) decoding() model.Decoding {
	d := model.Decoding{LengthPenalty: model.PenaltyPower, Alpha: 1, Search: g.search, Beam: g.NumBeams}
	if g.LengthPenalty != nil {
		d.Alpha = *g.LengthPenalty
	}
	return d
}
