package sentencepiece

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rule is a replacement of a normalization.
type rule struct{ from, to string }

// CompileRules returns the precompiled_charsmap of normalization rules in the format of spm_train
// -normalization_rule_tsv: a line has the characters to replace, a tab and their replacement, each
// as hexadecimal numbers separated by spaces. A second tab begins a comment. A text is normalized
// from left to right by the longest rule that matches. Errors begin with name and the line.
func CompileRules(r io.Reader, name string) ([]byte, error) {
	var rules []rule
	lines := map[string]int{} // by rule.from
	scanner := bufio.NewScanner(r)
	n := 1 // line
	for ; scanner.Scan(); n++ {
		fields := strings.Split(strings.TrimSuffix(scanner.Text(), "\r"), "\t")
		if len(fields) == 1 && strings.TrimSpace(fields[0]) == "" {
			continue
		}
		var parsed [2]string
		for i, field := range fields[:min(2, len(fields))] {
			var err error
			if parsed[i], err = parseCharacters(field); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if parsed[0] == "" {
			return nil, fmt.Errorf("%s:%d: found no characters to replace", name, n)
		}
		if len(parsed[1]) > maxReplacement {
			return nil, fmt.Errorf("%s:%d: found a replacement of %d bytes, expected at most %d", name, n, len(parsed[1]), maxReplacement)
		}
		if first, ok := lines[parsed[0]]; ok {
			return nil, fmt.Errorf("%s:%d: found a second rule for %q, the first is in line %d", name, n, parsed[0], first)
		}
		lines[parsed[0]] = n
		rules = append(rules, rule{parsed[0], parsed[1]})
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: found a line of more than %d bytes", name, n, bufio.MaxScanTokenSize)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, n, err)
	}
	data, err := compileRules(rules)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// parseCharacters parses characters in hexadecimal, each with or without U+.
func parseCharacters(field string) (string, error) {
	var s strings.Builder
	for _, hex := range strings.Fields(field) {
		c, err := strconv.ParseUint(strings.TrimPrefix(hex, "U+"), 16, 32)
		if err != nil || c == 0 || !utf8.ValidRune(rune(c)) {
			return "", fmt.Errorf("found %q, expected a hexadecimal character from 1 to 10FFFF without surrogates", hex)
		}
		s.WriteRune(rune(c))
	}
	return s.String(), nil
}

// compileRules returns the charsmap of rules.
func compileRules(rules []rule) ([]byte, error) {
	if len(rules) == 0 {
		return nil, errors.New("no rules")
	}
	var texts strings.Builder
	offsets := map[string]uint32{}
	entries := make([]charsEntry, len(rules))
	for i, r := range rules {
		at, ok := offsets[r.to]
		if !ok {
			at = uint32(texts.Len())
			offsets[r.to] = at
			texts.WriteString(r.to + "\x00")
		}
		entries[i] = charsEntry{r.from, at}
	}
	nodes, err := buildCharsTrie(entries)
	if err != nil {
		return nil, err
	}
	return encodeCharsmap(nodes, texts.String()), nil
}

// encodeCharsmap is the inverse of newCharsmap.
func encodeCharsmap(nodes []uint32, texts string) []byte {
	data := binary.LittleEndian.AppendUint32(nil, uint32(4*len(nodes)))
	for _, node := range nodes {
		data = binary.LittleEndian.AppendUint32(data, node)
	}
	return append(data, texts...)
}

// charsEntry is an entry of the trie of a charsmap.
type charsEntry struct {
	key   string
	value uint32 // less than valueBit
}

// buildCharsTrie returns the double array of entries with different keys, which it sorts. Equal
// subtrees share their nodes, as in Darts-clone: Unicode's 200,000 sequences of Hangul then need
// 20,000 nodes.
func buildCharsTrie(entries []charsEntry) ([]uint32, error) {
	slices.SortFunc(entries, func(a, b charsEntry) int { return cmp.Compare(a.key, b.key) })
	return newCharsGraph(entries).doubleArray()
}

// charsGraph is a minimal acyclic automaton.
type charsGraph struct {
	states [][]transition
	root   int32
}

// transition leads by a byte to a state. By byte 0, with which no key continues, it ends a key
// with a value.
type transition struct {
	by byte
	to uint32
}

// newCharsGraph builds the automaton of sorted entries (Daciuk, Mihov, Watson and Watson 2000,
// "Incremental Construction of Minimal Acyclic Finite-State Automata", section 3).
func newCharsGraph(entries []charsEntry) *charsGraph {
	g := new(charsGraph)
	index := map[string]int32{}
	path := [][]transition{nil} // the states of the last key's prefixes, which may get transitions
	var id []byte
	closeTo := func(depth int) {
		for len(path) > depth+1 {
			last := path[len(path)-1]
			path = path[:len(path)-1]
			id = id[:0]
			for _, t := range last {
				id = binary.LittleEndian.AppendUint32(append(id, t.by), t.to)
			}
			state, ok := index[string(id)]
			if !ok {
				state = int32(len(g.states))
				g.states = append(g.states, slices.Clone(last))
				index[string(id)] = state
			}
			parent := path[len(path)-1]
			parent[len(parent)-1].to = uint32(state)
		}
	}
	last := ""
	for _, e := range entries {
		common := 0
		for common < len(last) && common < len(e.key) && last[common] == e.key[common] {
			common++
		}
		closeTo(common)
		for _, c := range []byte(e.key[common:]) {
			path[len(path)-1] = append(path[len(path)-1], transition{by: c})
			path = append(path, nil)
		}
		path[len(path)-1] = append(path[len(path)-1], transition{0, e.value})
		last = e.key
	}
	closeTo(0)
	g.root = int32(len(g.states))
	g.states = append(g.states, path[0])
	return g
}

// doubleArray returns the automaton as the trie of a charsmap.
func (g *charsGraph) doubleArray() ([]uint32, error) {
	// The states with the most transitions come first, because they need the most free nodes.
	order := make([]int32, len(g.states))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return len(g.states[b]) - len(g.states[a]) })
	p := charsPlacer{}
	p.grow()
	p.used[0], p.isBase[0] = true, true // the root, which looks like a child of base 0 by byte 0
	bases := make([]uint32, len(g.states))
	for _, state := range order {
		bases[state] = p.place(g.states[state])
	}
	nodes := make([]uint32, len(p.used))
	link := func(i uint32, state int32) error {
		switch offset := i ^ bases[state]; {
		case offset < 1<<21:
			nodes[i] |= offset << 10
		case offset < 1<<29 && offset&0xFF == 0:
			nodes[i] |= offset<<2 | 1<<9
		default:
			return fmt.Errorf("rules need a trie of more than %d nodes", 1<<21)
		}
		if g.states[state][0].by == 0 {
			nodes[i] |= 1 << 8
		}
		return nil
	}
	if err := link(0, g.root); err != nil {
		return nil, err
	}
	for state, transitions := range g.states {
		for _, t := range transitions {
			i := bases[state] ^ uint32(t.by)
			if t.by == 0 {
				nodes[i] = valueBit | t.to
				continue
			}
			nodes[i] = uint32(t.by)
			if err := link(i, int32(t.to)); err != nil {
				return nil, err
			}
		}
	}
	p.markFree(nodes)
	return nodes, nil
}

// charsPlacer assigns the nodes of a double array, in blocks of 256.
type charsPlacer struct {
	used      []bool
	isBase    []bool
	firstFree int // all nodes before it are used
}

// grow adds a block.
func (p *charsPlacer) grow() {
	p.used = append(p.used, make([]bool, 256)...)
	p.isBase = append(p.isBase, make([]bool, 256)...)
}

// place returns the base of a state and marks its nodes as used.
func (p *charsPlacer) place(transitions []transition) uint32 {
	for ; p.firstFree < len(p.used) && p.used[p.firstFree]; p.firstFree++ {
	}
	fits := func(base uint32) bool {
		if p.isBase[base] {
			return false
		}
		for _, t := range transitions {
			if p.used[base^uint32(t.by)] {
				return false
			}
		}
		return true
	}
	base := uint32(len(p.used))
	for i := p.firstFree; i < len(p.used); i++ {
		if b := uint32(i) ^ uint32(transitions[0].by); !p.used[i] && fits(b) {
			base = b
			break
		}
	}
	if int(base) == len(p.used) {
		p.grow()
	}
	p.isBase[base] = true
	for _, t := range transitions {
		p.used[base^uint32(t.by)] = true
	}
	return base
}

// markFree makes the free nodes children of a base that no state has, so that no byte leads to
// them. A block with a free node has such a base, because each base has a child.
func (p *charsPlacer) markFree(nodes []uint32) {
	for block := 0; block < len(nodes); block += 256 {
		unused := slices.Index(p.isBase[block:block+256], false)
		for i := range 256 {
			if !p.used[block+i] {
				nodes[block+i] = uint32(i ^ unused)
			}
		}
	}
}
