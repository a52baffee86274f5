package sentencepiece

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// testModel is a small unigram model with every type of piece.
func testModel() *Model {
	m := NewModel()
	m.Trainer.VocabSize, m.Trainer.ByteFallback = 300, true
	m.Normalizer.Name = "identity"
	m.Pieces = []Piece{
		{Text: "<unk>", Type: Unknown},
		{Text: "<s>", Type: Control},
		{Text: "</s>", Type: Control},
		{Text: "<pad>", Type: Control},
		{Text: "<sep>", Type: UserDefined},
	}
	for c := range 256 {
		m.Pieces = append(m.Pieces, Piece{Text: byteText(byte(c)), Type: Byte})
	}
	for i, s := range []string{"▁", "a", "b", "ab", "▁a", "▁ab", "ba", "aba"} {
		m.Pieces = append(m.Pieces, Piece{Text: s, Score: -float32(i+2) / 3, Type: Normal})
	}
	m.Pieces = append(m.Pieces, Piece{Text: "abab", Score: -1, Type: Unused})
	return m
}

func marshal(t testing.TB, m *Model) []byte {
	t.Helper()
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestModelRoundTrip(t *testing.T) {
	m := testModel()
	data := marshal(t, m)
	got, err := UnmarshalModel(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := marshal(t, got); !bytes.Equal(again, data) {
		t.Errorf("%d bytes, want the same %d", len(again), len(data))
	}
	// The fields that record what the file holds differ.
	got.message, got.Trainer.message, got.Normalizer.message = message{}, message{}, message{}
	for i := range got.Pieces {
		got.Pieces[i].message = message{}
	}
	if !reflect.DeepEqual(got, m) {
		t.Errorf("got %+v, want %+v", got, m)
	}
}

// Unknown fields, explicit defaults and absent messages remain so.
func TestModelRoundTripUnknown(t *testing.T) {
	for _, data := range []string{
		"",
		"\x0a\x03\x0a\x01a",
		"\x0a\x00",
		"\x0a\x05\x0a\x01a\x18\x01",             // type normal
		"\x0a\x08\x0a\x01a\x15\x00\x00\x00\x00", // score 0
		"\x12\x00\x1a\x00\x2a\x00",              // empty messages
		"\x12\x03\xa8\x01\x01",                  // split_by_unicode_script, which is kept
		// fields 200 of a piece and 4 and 200 of the model
		"\x0a\x07\x0a\x01a\xc2\x0c\x01z\x22\x01x\xc2\x0c\x01y",
	} {
		m, err := UnmarshalModel([]byte(data))
		if err != nil {
			t.Errorf("%q: %v", data, err)
			continue
		}
		if got := marshal(t, m); string(got) != data {
			t.Errorf("got %q, want %q", got, data)
		}
	}
}

func TestUnmarshalModelErrors(t *testing.T) {
	for want, data := range map[string]string{
		"model at offset 0: tag is truncated":                                                         "\x80",
		"model at offset 0: tag exceeds 64 bits":                                                      strings.Repeat("\xff", 20),
		"model at offset 0: found field number 0, expected 1 to 536870911":                            "\x02\x00",
		"model at offset 0: found field 1 with a group, expected a varint":                            "\x0b",
		"model at offset 0: found field 1 of 5 bytes, expected at most the remaining 2":               "\x0a\x05\x0a\x01",
		"model at offset 0: found field 1 of 18446744073709551615 bytes":                              "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"pieces[1] at offset 5: found a varint, expected a message":                                   "\x0a\x03\x0a\x01a\x08\x01",
		"pieces[0].piece at offset 2: found a varint, expected a byte string":                         "\x0a\x02\x08\x01",
		"pieces[0].score at offset 5: found a varint, expected 32 bits":                               "\x0a\x05\x0a\x01a\x10\x01",
		"pieces[0].type at offset 5: found 7, expected 1 to 6":                                        "\x0a\x05\x0a\x01a\x18\x07",
		"trainer_spec.model_type at offset 2: found 0, expected 1 to 4":                               "\x12\x02\x18\x00",
		"trainer_spec.byte_fallback at offset 2: found 2, expected 0 or 1":                            "\x12\x03\x98\x02\x02",
		"trainer_spec.vocab_size at offset 2: found 4294967296, expected 32 bits":                     "\x12\x06\x20\x80\x80\x80\x80\x10",
		"normalizer_spec.precompiled_charsmap at offset 2: found 32 bits, expected a byte string":     "\x1a\x05\x15\x00\x00\x00\x00",
		"denormalizer_spec at offset 2: found field 2 of 100 bytes, expected at most the remaining 0": "\x2a\x02\x12\x64",
		"trainer_spec at offset 5: field 3 is truncated":                                              "\x12\x03\x20\x01\x18",
	} {
		if _, err := UnmarshalModel([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", data, err, want)
		}
	}
}
