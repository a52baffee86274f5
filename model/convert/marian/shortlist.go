package marian

import (
	"encoding/binary"
	"fmt"
	"path"
	"slices"
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

// findShortlist returns the name of the shortlist in f, "" without one: the one that the settings
// of the decoder list, or the only binary one, lex*.bin.
func findShortlist(f parts.Folder, listed string) (string, error) {
	if listed != "" {
		return strings.TrimSuffix(baseName(listed), ".gz"), nil
	}
	names := firstKind(f, func(name string) bool { return strings.HasPrefix(name, "lex") && path.Ext(name) == ".bin" })
	if len(names) > 1 {
		return "", fmt.Errorf("%s: found %d shortlists, %.200q, expected one, or a %s that names one of them", f.Path, len(names), names[:min(len(names), 3)], decoderFile)
	}
	return strings.Join(names, ""), nil
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

// readShortlist reads the shortlist of a model in f, nil if it has none. listed is the file that
// the settings of the decoder name, or "".
func readShortlist(f parts.Folder, listed string, src, tgt *parts.Vocabulary) (*lexicon, error) {
	name, err := findShortlist(f, listed)
	if name == "" || err != nil {
		return nil, err
	}
	data, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	l, err := parseBinaryShortlist(data, len(src.Tokens), len(tgt.Tokens))
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
	if word(0) != binShortlist {
		return nil, fmt.Errorf("found %.20q at the begin, expected a binary shortlist: 'marian-conv --shortlist' makes one of a shortlist in text", data[:8])
	}
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
