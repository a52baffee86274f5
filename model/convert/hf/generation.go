package hf

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
)

// generation holds the settings of transformers' generate that affect translations: the content
// of generation_config.json. Early versions have them in config.json.
type generation struct {
	Pad           *int32    `json:"pad_token_id"`
	EOS           oneID     `json:"eos_token_id"`
	Start         *int32    `json:"decoder_start_token_id"` // default: Pad
	MaxLength     int       `json:"max_length"`             // of Start and the translation
	MaxNewTokens  int       `json:"max_new_tokens,omitempty"`
	ForcedBOS     *int32    `json:"forced_bos_token_id,omitempty"` // first of every target
	ForcedEOS     *oneID    `json:"forced_eos_token_id,omitempty"` // last of a truncated one
	NumBeams      int       `json:"num_beams"`
	LengthPenalty float64   `json:"length_penalty"`
	EarlyStopping any       `json:"early_stopping"`
	BadWords      [][]int32 `json:"bad_words_ids,omitempty"`
	SuppressToks  []int32   `json:"suppress_tokens,omitempty"`
	Renormalize   bool      `json:"renormalize_logits,omitempty"`

	search     string
	suppressed []int32
}

// oneID is an id, or a list of one id.
type oneID int32

func (id *oneID) UnmarshalJSON(data []byte) error {
	var list []int32
	if json.Unmarshal(data, (*int32)(id)) == nil { // also null, which keeps the default
		return nil
	}
	if json.Unmarshal(data, &list) != nil || len(list) != 1 {
		return fmt.Errorf("eos_token_id: found %.40q, expected one id", data)
	}
	*id = oneID(list[0])
	return nil
}

// offSetting is a setting of another program that must be null or one of some values.
type offSetting struct {
	name     string
	off      []any
	expected string
}

// generationOff are settings of transformers' generate that tfm does not have.
var generationOff = []offSetting{
	{"do_sample", []any{false}, "false: the model file has settings of beam search"},
	{"min_length", []any{0.0}, "0"},
	{"min_new_tokens", []any{0.0}, "null"},
	{"no_repeat_ngram_size", []any{0.0}, "0: it is an option of a translation"},
	{"encoder_no_repeat_ngram_size", []any{0.0}, "0"},
	{"repetition_penalty", []any{1.0}, "1: it is an option of a translation"},
	{"encoder_repetition_penalty", []any{1.0}, "1"},
	{"num_beam_groups", []any{0.0, 1.0}, "1"},
	{"diversity_penalty", []any{0.0}, "0"},
	{"begin_suppress_tokens", []any{}, "null"},
	{"force_words_ids", nil, "null"},
	{"constraints", nil, "null"},
	{"sequence_bias", nil, "null"},
	{"guidance_scale", []any{1.0}, "null"},
	{"exponential_decay_length_penalty", nil, "null"},
}

// refuseSettings reports the first of list that is not off in settings, decoded JSON.
func refuseSettings(settings map[string]any, list []offSetting) error {
	for _, s := range list {
		found := settings[s.name]
		values, isList := found.([]any)
		isEmpty := isList && len(values) == 0 && s.off != nil
		isOff := func(off any) bool { return found == off }
		if found != nil && !isEmpty && !slices.ContainsFunc(s.off, isOff) {
			return &model.FieldError{Field: s.name, Found: found, Expected: s.expected}
		}
	}
	return nil
}

// validate sets the defaults and the fields without names in JSON. vocabulary is the number of
// target pieces.
func (g *generation) validate(vocabulary int) error {
	if err := cmp.Or(
		parts.Refuse(g.NumBeams < 1 || g.NumBeams > decode.MaxBeam, "num_beams", g.NumBeams, fmt.Sprint("1 to ", decode.MaxBeam)),
		parts.Refuse(g.MaxLength != 0 && g.MaxLength < 3, "max_length", g.MaxLength, "3 or more"),
		parts.Refuse(g.MaxNewTokens != 0 && g.MaxNewTokens < 2, "max_new_tokens", g.MaxNewTokens, "2 or more"),
		parts.Refuse(!(g.LengthPenalty >= 0 && g.LengthPenalty <= 10), "length_penalty", g.LengthPenalty, "0 to 10"),
	); err != nil {
		return err
	}
	if g.ForcedEOS != nil && *g.ForcedEOS != g.EOS {
		return &model.FieldError{Field: "forced_eos_token_id", Found: int32(*g.ForcedEOS), Expected: fmt.Sprintf("%d as eos_token_id", g.EOS)}
	}
	switch g.EarlyStopping {
	case nil, false:
		g.search = decode.SearchHeuristic
	case true:
		g.search = decode.SearchFinished
	case "never":
		g.search = decode.SearchExact
	default:
		return &model.FieldError{Field: "early_stopping", Found: g.EarlyStopping, Expected: `false, true or "never"`}
	}
	if g.Start = cmp.Or(g.Start, g.Pad); g.Start == nil {
		return fmt.Errorf("decoder_start_token_id: found none, expected the piece that translations begin with")
	}
	for name, id := range map[string]*int32{"decoder_start_token_id": g.Start, "pad_token_id": g.Pad} {
		if id != nil && (*id < 0 || int(*id) >= vocabulary) {
			return &model.FieldError{Field: name, Found: *id, Expected: fmt.Sprintf("0 to %d", vocabulary-1)}
		}
	}
	for _, word := range g.BadWords {
		if len(word) != 1 {
			return &model.FieldError{Field: "bad_words_ids", Found: word, Expected: "words of 1 piece: tfm suppresses single pieces"}
		}
		g.suppressed = append(g.suppressed, word[0])
	}
	for name, ids := range map[string][]int32{"bad_words_ids": g.suppressed, "suppress_tokens": g.SuppressToks} {
		for _, id := range ids {
			if id < 0 || int(id) >= vocabulary || id == int32(g.EOS) {
				return &model.FieldError{Field: name, Found: id, Expected: fmt.Sprintf("ids of 0 to %d without that of EOS", vocabulary-1)}
			}
		}
	}
	g.suppressed = append(slices.Clone(g.SuppressToks), g.suppressed...)
	return nil
}

// decoding returns the settings of beam search.
func (g *generation) decoding() decode.Settings {
	most := max(0, g.MaxLength-2)
	if g.MaxNewTokens > 0 {
		most = g.MaxNewTokens - 1
	}
	return decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: g.LengthPenalty, Search: g.search, Beam: g.NumBeams, MaxTokens: most}
}
