package sentencepiece

import (
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"tfm/text/tokenizer/internal/rewrite"
	"tfm/text/tokenizer/sentencepiece/internal/charsmap"
)

const (
	space       = "▁" // U+2581, a space in normalized text
	replacement = "\uFFFD"
)

// Normalizer normalizes text as a NormalizerSpec says. It is safe for concurrent use.
type Normalizer struct {
	rewrites    rewrite.Rules
	chars       charsmap.Map
	symbols     trie // user-defined symbols, which are copied unchanged
	dummyPrefix bool
	dummySuffix bool // the dummy prefix comes at the end
	trim        bool // remove leading, trailing and repeated spaces
	space       string
	validUTF8   bool // all texts are normalized to valid UTF-8

	// plain are the ASCII characters that are copied unchanged before another ASCII character
	// or at the end of the text.
	plain [256]bool
}

// NewNormalizer returns the normalizer of a spec. Untrusted data is safe.
func NewNormalizer(spec *NormalizerSpec) (*Normalizer, error) {
	return newNormalizer(spec, false, nil)
}

// Append appends the normalized form of s to dst.
func (n *Normalizer) Append(dst []byte, s string) []byte { return n.normalize(dst, nil, s) }

// newNormalizer returns the normalizer of a spec. asSuffix is trainer_spec's
// treat_whitespace_as_suffix.
func newNormalizer(spec *NormalizerSpec, asSuffix bool, userDefined []string) (*Normalizer, error) {
	n := &Normalizer{
		dummyPrefix: spec.AddDummyPrefix && !asSuffix,
		dummySuffix: spec.AddDummyPrefix && asSuffix,
		trim:        spec.RemoveExtraWhitespace,
		space:       " ",
		validUTF8:   true,
	}
	if spec.EscapeWhitespace {
		n.space = space
	}
	var err error
	if n.chars, err = charsmap.Unmarshal(spec.PrecompiledCharsmap); err != nil {
		return nil, fmt.Errorf("precompiled_charsmap: %w", err)
	}
	if n.rewrites, err = rewrite.Parse(spec.Rewrites); err != nil {
		return nil, fmt.Errorf("rewrites: %w", err)
	}
	n.validUTF8 = utf8.ValidString(n.chars.Texts())
	var entries []entry
	for i, s := range userDefined {
		entries = append(entries, entry{text: s, id: int32(i)})
		n.validUTF8 = n.validUTF8 && utf8.ValidString(s)
	}
	if n.symbols, err = newTrie(entries); err != nil {
		return nil, err
	}
	for c := range byte(utf8.RuneSelf) {
		n.plain[c] = n.chars.Plain(c) && n.symbols.child(&n.symbols.nodes[0], c) == nil
	}
	return n, nil
}

// prefix returns the normalized form of the first characters of s, which is not empty, and their
// length.
func (n *Normalizer) prefix(s string) (normal string, length int) {
	if length, _ := n.symbols.longest(unsafe.Slice(unsafe.StringData(s), len(s))); length > 0 {
		return s[:length], length
	}
	if normal, length := n.chars.Longest(s); length > 0 {
		return normal, length
	}
	if r, size := utf8.DecodeRuneInString(s); r != utf8.RuneError || size > 1 {
		return s[:size], size
	}
	return replacement, 1
}

// normalize appends the normalized form of s to dst. If offsets is not nil, it appends for each
// byte that it appends the offset in s of the characters that the byte is from, and at the end the
// offset of the white space that it removes there, or len(s).
func (n *Normalizer) normalize(dst []byte, offsets *[]int, s string) []byte {
	if len(n.rewrites) == 0 {
		return n.replaceChars(dst, offsets, s)
	}
	t, origin := n.rewrites.Apply(s, offsets != nil)
	if offsets == nil {
		return n.replaceChars(dst, nil, t)
	}
	start := len(*offsets)
	dst = n.replaceChars(dst, offsets, t)
	for i := start; i < len(*offsets); i++ {
		(*offsets)[i] = origin[(*offsets)[i]]
	}
	return dst
}

// replaceChars is normalize without Rewrites.
func (n *Normalizer) replaceChars(dst []byte, offsets *[]int, s string) []byte {
	i := 0 // offset in s of the characters that are not yet normalized
	if n.trim {
		for i < len(s) {
			normal, length := n.prefix(s[i:])
			if normal != " " {
				break
			}
			i += length
		}
	}
	if i == len(s) {
		return dst
	}
	start := len(dst)
	add := func(normal string) {
		dst = append(dst, normal...)
		if offsets != nil {
			for range len(normal) {
				*offsets = append(*offsets, i)
			}
		}
	}
	if n.dummyPrefix {
		add(n.space)
	}
	afterSpace := n.trim
	for i < len(s) {
		run := i
		for run < len(s) && n.plain[s[run]] && s[run] != ' ' {
			run++
		}
		if run < len(s) && s[run] >= utf8.RuneSelf && run > i {
			run-- // may combine with the next character
		}
		if run > i {
			afterSpace = false
			dst = append(dst, s[i:run]...)
			for ; offsets != nil && i < run; i++ {
				*offsets = append(*offsets, i)
			}
			i = run
			continue
		}
		if c := s[i]; c == ' ' && n.plain[c] && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			if !afterSpace {
				add(n.space)
				afterSpace = n.trim
			}
			i++
			continue
		}
		normal, length := n.prefix(s[i:])
		if afterSpace {
			normal = strings.TrimLeft(normal, " ")
		}
		if normal != "" {
			afterSpace = n.trim && normal[len(normal)-1] == ' '
		}
		for normal != "" {
			end := strings.IndexByte(normal, ' ')
			if end < 0 {
				add(normal)
				break
			}
			add(normal[:end])
			add(n.space)
			normal = normal[end+1:]
		}
		i += length
	}
	if n.trim {
		for len(dst)-start >= len(n.space) && string(dst[len(dst)-len(n.space):]) == n.space {
			dst = dst[:len(dst)-len(n.space)]
			if offsets != nil {
				end := len(*offsets) - len(n.space)
				i = (*offsets)[end]
				*offsets = (*offsets)[:end]
			}
		}
	}
	if n.dummySuffix {
		add(n.space)
	}
	if offsets != nil {
		*offsets = append(*offsets, i)
	}
	return dst
}
