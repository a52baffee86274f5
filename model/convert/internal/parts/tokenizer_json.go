package parts

import (
	"tfm/text"
	"tfm/text/tokenizer/bpe"
)

// The files of a tokenizer for the Python packages tokenizers and transformers.
const (
	TokenizerFile       = "tokenizer.json"
	TokenizerConfigFile = "tokenizer_config.json"
)

type object = map[string]any

// TokenizerJSON returns TokenizerFile for t, whose ids have names: the same ids for every text of
// valid UTF-8, then EOS, and the same text for ids.
func TokenizerJSON(t *bpe.Tokenizer, names []string) object {
	var added []object
	for id, name := range names[:bpeSpecials] {
		added = append(added, object{
			"id": id, "content": name, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true,
		})
	}
	merges := [][2]string{} // null is no list
	for _, m := range t.Merges() {
		merges = append(merges, [2]string{names[m[0]], names[m[1]]})
	}
	eos := object{"SpecialToken": object{"id": names[text.EOS], "type_id": 0}}
	sequence := func(id string) object { return object{"Sequence": object{"id": id, "type_id": 0}} }
	return object{
		"version": "1.0", "truncation": nil, "padding": nil,
		"added_tokens": added,
		"normalizer":   object{"type": "Prepend", "prepend": " "}, // not before an empty text
		"pre_tokenizer": object{"type": "Sequence", "pretokenizers": []object{
			{"type": "Split", "pattern": object{"Regex": bpe.WordPattern()}, "behavior": "Isolated", "invert": false},
			{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
		}},
		"model": object{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
			"fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": IDsOf(names), "merges": merges,
		},
		"post_processor": object{
			"type": "TemplateProcessing", "single": []object{sequence("A"), eos}, "pair": []object{sequence("A"), eos, sequence("B"), eos},
			"special_tokens": object{names[text.EOS]: object{"id": names[text.EOS], "ids": []int32{text.EOS}, "tokens": []string{names[text.EOS]}}},
		},
		"decoder": object{"type": "Sequence", "decoders": []object{
			{"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
			{"type": "Strip", "content": " ", "start": 1, "stop": 0},
		}},
	}
}

// TokenizerConfigJSON returns TokenizerConfigFile for ids with names and texts of at most maxLen
// tokens.
func TokenizerConfigJSON(names []string, maxLen int) object {
	return object{
		"tokenizer_class": "PreTrainedTokenizerFast",
		"pad_token":       names[text.Pad], "bos_token": names[text.BOS], "eos_token": names[text.EOS],
		"split_special_tokens":         true, // "</s>" in a text is text
		"clean_up_tokenization_spaces": false,
		"model_input_names":            []string{"input_ids", "attention_mask"},
		"model_max_length":             maxLen,
	}
}
