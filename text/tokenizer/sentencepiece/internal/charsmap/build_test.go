package charsmap

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// entry is an entry of the trie of a map: a text with the offset of its replacement.
type entry struct {
	key   string
	value uint32 // less than 1<<31
}

// buildTrie returns the double array of entries with different keys, which it sorts. Equal
// subtrees share their nodes, as in Darts-clone: Unicode's 200,000 sequences of Hangul then need
// 20,000 nodes.
func buildTrie(entries []entry) ([]uint32, error) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return newGraph(entries).doubleArray()
}

// graph is a minimal acyclic automaton.
type graph struct {
	states [][]transition
	root   int32
}

// transition leads by a byte to a state. By byte 0, with which no key continues, it ends a key
// with a value.
type transition struct {
	by byte
	to uint32
}

// newGraph builds the automaton of sorted entries (Daciuk, Mihov, Watson and Watson 2000,
// "Incremental Construction of Minimal Acyclic Finite-State Automata", section 3).
func newGraph(entries []entry) *graph {
	g := new(graph)
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

// doubleArray returns the automaton as the trie of a map.
func (g *graph) doubleArray() ([]uint32, error) {
	// The states with the most transitions come first, because they need the most free nodes.
	order := make([]int32, len(g.states))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return len(g.states[b]) - len(g.states[a]) })
	p := NewPlacer() // in which the root looks like a child of base 0 by byte 0
	bases := make([]uint32, len(g.states))
	var labels []byte
	for _, state := range order {
		labels = labels[:0]
		for _, t := range g.states[state] {
			labels = append(labels, t.by)
		}
		bases[state] = p.Place(labels, math.MaxInt)
	}
	nodes := make([]uint32, p.Len())
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

// markFree makes the free nodes children of a base that no state has, so that no byte leads to
// them. A block with a free node has such a base, because each base has a child.
func (p *Placer) markFree(nodes []uint32) {
	for block := 0; block < len(nodes); block += 256 {
		unused := slices.Index(p.isBase[block:block+256], false)
		for i := range 256 {
			if p.free(uint32(block + i)) {
				nodes[block+i] = uint32(i ^ unused)
			}
		}
	}
}
