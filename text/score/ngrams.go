package score

// ngramMatcher counts the n-grams that hypotheses and references have in common. It is used for one
// segment after another, because most need no allocation. It is not safe for concurrent use.
type ngramMatcher struct {
	slots  []ngramSlot // hash table with open addressing; the length is a power of two
	counts []ngramCount
	table  uint32 // number of the table in slots: slots of others are free
}

// ngramSlot holds the id of an n-gram: an index of counts. The n-gram is an (n-1)-gram and a token.
type ngramSlot struct {
	prefix uint32 // id of the (n-1)-gram in the table of the order n-1
	token  uint32
	id     uint32
	table  uint32
}

type ngramCount struct {
	reference uint32 // the last reference with the n-gram, from 1
	count     uint32 // in this reference
	unmatched uint32 // maximum of the counts in the references, less the matches
}

// absent is the id of n-grams that no reference has.
const absent = 1<<32 - 1

// match returns the number of n-grams of each order in hyp that are also in the references, clipped
// to the maximum of their counts in these.
func (m *ngramMatcher) match(orders int, hyp []uint32, refs ...[]uint32) []int {
	matches := make([]int, orders)
	// Ids of the (n-1)-grams from each position. Those of the order 0 are equal.
	hypIDs, refIDs := make([]uint32, len(hyp)), make([][]uint32, len(refs))
	for r, ref := range refs {
		refIDs[r] = make([]uint32, len(ref))
	}
	for n := range matches {
		m.reset()
		for r, ref := range refs {
			for i := 0; i < len(ref)-n; i++ {
				refIDs[r][i] = m.add(refIDs[r][i], ref[i+n], uint32(r+1))
			}
		}
		if len(m.counts) == 0 {
			break
		}
		for i := 0; i < len(hyp)-n; i++ {
			if hypIDs[i] == absent {
				continue
			}
			s := m.find(hypIDs[i], hyp[i+n])
			if s.table != m.table {
				hypIDs[i] = absent
				continue
			}
			hypIDs[i] = s.id
			if c := &m.counts[s.id]; c.unmatched > 0 {
				c.unmatched--
				matches[n]++
			}
		}
	}
	return matches
}

// reset begins an empty table.
func (m *ngramMatcher) reset() {
	m.counts = m.counts[:0]
	m.table++
	if m.table == 0 { // after 2^32 tables
		clear(m.slots)
		m.table = 1
	}
}

// add counts an n-gram of a reference and returns its id.
func (m *ngramMatcher) add(prefix, token, reference uint32) uint32 {
	if 2*len(m.counts) >= len(m.slots) {
		m.grow()
	}
	s := m.find(prefix, token)
	if s.table != m.table {
		*s = ngramSlot{prefix, token, uint32(len(m.counts)), m.table}
		m.counts = append(m.counts, ngramCount{})
	}
	c := &m.counts[s.id]
	if c.reference != reference {
		c.reference, c.count = reference, 0
	}
	c.count++
	c.unmatched = max(c.unmatched, c.count)
	return s.id
}

// find returns the slot of an n-gram, or the free slot for it.
func (m *ngramMatcher) find(prefix, token uint32) *ngramSlot {
	mask := uint64(len(m.slots) - 1)
	hash := (uint64(prefix)<<32 | uint64(token)) * 0x9e3779b97f4a7c15
	for i := hash >> 32; ; i++ {
		s := &m.slots[i&mask]
		if s.table != m.table || s.prefix == prefix && s.token == token {
			return s
		}
	}
}

func (m *ngramMatcher) grow() {
	old := m.slots
	m.slots = make([]ngramSlot, max(1024, 2*len(old)))
	for _, s := range old {
		if s.table == m.table {
			*m.find(s.prefix, s.token) = s
		}
	}
}

// ngrams returns the number of n-grams of order n in a text of tokens.
func ngrams(tokens, n int) int { return max(tokens-n+1, 0) }

// tokenIDs numbers different tokens.
type tokenIDs map[string]uint32

// ids returns the number of each token.
func (m tokenIDs) ids(tokens []string) []uint32 {
	ids := make([]uint32, len(tokens))
	for i, token := range tokens {
		id, ok := m[token]
		if !ok {
			id = uint32(len(m))
			m[token] = id
		}
		ids[i] = id
	}
	return ids
}
