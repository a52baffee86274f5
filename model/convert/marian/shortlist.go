package marian

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"tfm/model"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
)

// lexicon are a lexical shortlist by rows of Marian's vocabularies: the first rows of the
// target, and for each row of the source further rows.
type lexicon struct {
	first int
	lists [][]uint32
}

// findShortlist returns the name of the shortlist in f, "" without one: the one that the
// settings of the decoder list, or the only binary one, lex*.bin, or the only other one, lex*.s2t.
func findShortlist(f parts.Folder, listed []string) (string, error) {
	if len(listed) > 0 {
		return strings.TrimSuffix(baseName(listed[0]), ".gz"), nil
	}
	lex := func(end string) func(string) bool {
		return func(name string) bool { return strings.HasPrefix(name, "lex") && path.Ext(name) == end }
	}
	names := firstKind(f, lex(".bin"), lex(".s2t"))
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("%s: found %d shortlists, %.200q, expected one, or a %s that names one of them", f.Path, len(names), names[:min(len(names), 3)], decoderFile)
}

// firstKind returns the files in f of the first of kinds that f has files of.
func firstKind(f parts.Folder, kinds ...func(name string) bool) (names []string) {
	for _, isOf := range kinds {
		for name := range f.Files {
			if isOf(name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			break
		}
	}
	slices.Sort(names)
	return names
}

// readShortlist reads the shortlist of a model in f, nil if it has none. listed is what the
// settings of the decoder name: a file and, for text, the numbers of rows in every list and of a
// source token.
func readShortlist(f parts.Folder, listed []string, src, tgt *parts.Vocabulary) (*lexicon, error) {
	name, err := findShortlist(f, listed)
	if name == "" || err != nil {
		return nil, err
	}
	data, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	var l *lexicon
	if len(data) >= 8 && binary.LittleEndian.Uint64(data) == binShortlist {
		l, err = parseBinaryShortlist(data, len(src.Tokens), len(tgt.Tokens))
	} else {
		sizes := [2]int{50, 50}
		for i, text := range listed[min(1, len(listed)):min(3, len(listed))] {
			if n, err := strconv.ParseUint(text, 10, 31); err == nil { // or "false"
				sizes[i] = int(n)
			}
		}
		l, err = parseLexicon(data, src, tgt, sizes[0], sizes[1])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(name), err)
	}
	return l, nil
}

// parseBinaryShortlist decodes a binary shortlist: its magic number, checksum, first, best, the
// number of offsets and of ids, which are u64 as the offsets, and the ids, u32. The list of row i
// of the source has ids offsets[i] to offsets[i+1].
func parseBinaryShortlist(data []byte, srcRows, tgtRows int) (*lexicon, error) {
	const header = 48
	if len(data) < header {
		return nil, fmt.Errorf("found %d bytes, expected a header of %d", len(data), header)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
	first, offsets, ids := word(2), word(4), word(5)
	rest := uint64(len(data) - header)
	if offsets > rest/8 || ids > rest/4 || 8*offsets+4*ids != rest {
		return nil, fmt.Errorf("found %d bytes for %d offsets and %d ids, expected 8 and 4 bytes each", rest, offsets, ids)
	}
	if offsets != uint64(srcRows)+1 {
		return nil, fmt.Errorf("found lists of %d source pieces, expected %d as in the vocabulary", int64(offsets)-1, srcRows)
	}
	if sum := binSum(data[16:]); sum != word(1) {
		return nil, fmt.Errorf("found checksum %#x, expected %#x: the file is damaged", word(1), sum)
	}
	l := &lexicon{first: int(min(first, uint64(tgtRows))), lists: make([][]uint32, srcRows)}
	all := make([]uint32, ids)
	for i := range all {
		all[i] = binary.LittleEndian.Uint32(data[header+8*int(offsets)+4*i:])
		if all[i] >= uint32(tgtRows) {
			return nil, fmt.Errorf("found id %d at index %d, expected below %d, the target pieces", all[i], i, tgtRows)
		}
	}
	for i := range l.lists {
		from, to := word(header/8+i), word(header/8+i+1)
		if from > to || to > ids || i == 0 && from != 0 || i == srcRows-1 && to != ids {
			return nil, fmt.Errorf("found offsets %d and %d of source piece %d, expected ascending offsets from 0 to %d", from, to, i, ids)
		}
		l.lists[i] = all[from:to]
	}
	return l, nil
}

// binSum returns the checksum of the whole words of data.
func binSum(data []byte) (h uint64) {
	for ; len(data) >= 8; data = data[8:] {
		h ^= binary.LittleEndian.Uint64(data) + 0x9e3779b9 + h<<6 + h>>2
	}
	return h
}

// parseLexicon decodes a shortlist in text, lines of a target token, a source token and a
// probability. Of a source token it keeps the best targets, of equal ones those of higher rows.
func parseLexicon(data []byte, src, tgt *parts.Vocabulary, first, best int) (*lexicon, error) {
	type entry struct {
		row uint32
		p   float32
	}
	entries := make([][]entry, len(src.Tokens))
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		fields := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' })
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d: found %.80q, expected a target token, a source token and a probability", number, strings.TrimSpace(line))
		}
		p, err := strconv.ParseFloat(fields[2], 32)
		if err != nil || math.IsNaN(p) {
			return nil, fmt.Errorf("line %d: found %.40q, expected a probability", number, fields[2])
		}
		if fields[0] == "NULL" || fields[1] == "NULL" {
			continue
		}
		row := func(v *parts.Vocabulary, token string) int {
			if row := v.Row(token); row >= 0 {
				return row
			}
			return v.Unknown
		}
		s, e := row(src, fields[1]), entry{uint32(row(tgt, fields[0])), float32(p)}
		entries[s] = append(entries[s], e)
	}
	l := &lexicon{first: min(first, len(tgt.Tokens)), lists: make([][]uint32, len(src.Tokens))}
	for s, list := range entries {
		// The last line of a pair counts.
		slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.row, b.row) })
		slices.Reverse(list)
		list = slices.CompactFunc(list, func(a, b entry) bool { return a.row == b.row })
		slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(b.p, a.p) })
		for _, e := range list[:min(best, len(list))] {
			l.lists[s] = append(l.lists[s], e.row)
		}
	}
	return l, nil
}

// shortlist returns the lists by ids of the sides, nil without lists. Those of a joint vocabulary
// have the source's own tokens, and all have those of EOS, the last token of each source. Marian
// fills them until their length is a multiple of 8.
func (l *lexicon) shortlist(src, tgt parts.Side, eos int, joint bool) *decode.Shortlist {
	if l == nil {
		return nil
	}
	idOf := tgt.IDsOfRows()
	sorted := func(ids []int32) []int32 {
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	ids := func(rows []uint32) (list []int32) {
		for _, row := range rows {
			if id, ok := idOf[int(row)]; ok && id >= model.EOS {
				list = append(list, id)
			}
		}
		return list
	}
	s := &decode.Shortlist{Starts: []int32{0}, Fill: decode.ShortlistFill{Multiple: 8, Limit: int32(len(tgt.Rows))}}
	s.Always = append(ids(l.lists[eos]), model.EOS)
	for row := range l.first {
		s.Always = append(s.Always, ids([]uint32{uint32(row)})...)
	}
	s.Always = sorted(s.Always)
	for _, row := range src.Rows {
		var list []int32
		if row >= 0 && row < len(l.lists) {
			list = ids(l.lists[row])
		}
		if joint && row >= 0 {
			list = append(list, ids([]uint32{uint32(row)})...)
		}
		list = slices.DeleteFunc(sorted(list), func(id int32) bool {
			_, found := slices.BinarySearch(s.Always, id)
			return found
		})
		s.Pieces = append(s.Pieces, list...)
		s.Starts = append(s.Starts, int32(len(s.Pieces)))
	}
	return s
}
