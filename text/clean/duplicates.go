package clean

import (
	"tfm/internal/hash"
	"tfm/text/internal/words"
)

// repeatRule finds pairs that repeat earlier ones.
type repeatRule struct {
	fault Fault
	key   func(*pair) uint64
	limit int // pairs with a key; those after them have the fault
}

// repeatRules are the rules in use, in the order of their faults.
func (o *Options) repeatRules() (list []repeatRule) {
	add := func(fault Fault, limit int, key func(*pair) uint64) {
		if limit > 0 && !o.Keep[fault] {
			list = append(list, repeatRule{fault, key, limit})
		}
	}
	add(Duplicate, 1, func(p *pair) uint64 { return hash.Pair(p.Source, p.Target) })
	add(NearDuplicate, 1, func(p *pair) uint64 { return hash.Combine(words.Hash(p.src.Words), words.Hash(p.tgt.Words)) })
	add(RepeatedSource, o.PerSource, func(p *pair) uint64 { return hashText(p.Source) })
	add(RepeatedTarget, o.PerTarget, func(p *pair) uint64 { return hashText(p.Target) })
	return list
}

// hashText returns the hash of a sentence.
func hashText(s string) uint64 {
	h, _ := hash.Text(s)
	return h
}

// hashCounts counts occurrences of hashes.
type hashCounts map[uint64]uint32

// add counts an occurrence of h, and returns the number of those before it.
func (c hashCounts) add(h uint64) int {
	before := c[h]
	c[h] = before + min(1, ^before)
	return int(before)
}

// maxHashes is the limit of the hashes of a table: up to 600 MB while it grows.
var maxHashes = 1 << 24

// repeated finds the pairs with faults of repeatRules in bounded memory. Up to maxHashes pairs it
// counts their keys while they are judged. The keys of more pairs are divided into parts by their
// value, and each part is counted in its own reading of the corpus, which leaves one bit for a
// pair.
type repeated struct {
	rules []repeatRule
	parts int
	found []bitmap     // by rule: lines with its fault, for several parts
	seen  []hashCounts // by rule, for one part
}

// bitmap is a set of line numbers.
type bitmap []uint64

func (b *bitmap) add(line int) {
	for line/64 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[line/64] |= 1 << (line % 64)
}

func (b bitmap) has(line int) bool { return line/64 < len(b) && b[line/64]>>(line%64)&1 != 0 }

// newRepeated returns the state before the first pair. Unless the pairs fit into one part, it calls
// forEach for each rule and part, which must call do with each pair that has no other fault.
func newRepeated(rules []repeatRule, pairs int, forEach func(do func(*pair)) error) (*repeated, error) {
	r := &repeated{rules: rules, parts: 1 + pairs/(maxHashes+1), seen: make([]hashCounts, len(rules))}
	for i := range r.seen {
		r.seen[i] = hashCounts{}
	}
	if r.parts == 1 {
		return r, nil
	}
	for i, rule := range rules {
		r.found = append(r.found, nil)
		for part := range r.parts {
			seen := hashCounts{}
			err := forEach(func(p *pair) {
				for _, before := range r.found[:i] {
					if before.has(p.Line) {
						return
					}
				}
				if key := rule.key(p); int(key%uint64(r.parts)) == part && seen.add(key) >= rule.limit {
					r.found[i].add(p.Line)
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// fault returns the fault of a pair, which follows all pairs that fault had before.
func (r *repeated) fault(p *pair) Fault {
	for i, rule := range r.rules {
		if r.parts > 1 && r.found[i].has(p.Line) || r.parts == 1 && r.seen[i].add(rule.key(p)) >= rule.limit {
			return rule.fault
		}
	}
	return None
}
