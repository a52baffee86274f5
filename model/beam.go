package model

import (
	"math"
	"math/rand/v2"
	"slices"

	"tfm/mat"
)

// searchRoom is the memory of beam search and sampling.
type searchRoom struct {
	sentences []sentenceBeam
	numbers   []uint64    // of the batch's sources, see Search.First
	trace     []token     // all tokens of all hypotheses of the batch
	candidate []candidate // 2·beam of each row
	found     []int       // how many of them there are
	merged    []candidate // of one sentence
	next      []alive

	ids, slots, sources []int32 // of each row of a step

	// Of sampling, for each row.
	probability []float32     // [rows × V]
	likely      [][]candidate // what TopK and TopP choose from; logP is a probability
	random      []rand.ChaCha8
}

// token is the end of a hypothesis; the tokens before it are found through back.
type token struct{ id, back int32 }

// alive is a hypothesis that goes on.
type alive struct {
	logP float64
	end  int32 // in searchRoom.trace, -1 before the first token
	slot int32 // in the caches
}

// candidate is a hypothesis and a token that could follow it.
type candidate struct {
	logP   float64 // with the token
	id     int32
	parent int32 // among the sentence's hypotheses
}

// sentenceBeam is the search for the translations of one source.
type sentenceBeam struct {
	source   int32
	most     int // tokens, EOS counted
	alive    []alive
	finished int
	ended    []ending // the best of what is finished, in order; as many as are listed
}

// ending is a hypothesis that is finished.
type ending struct {
	score     float64
	end       int32 // in searchRoom.trace, the last token before EOS
	truncated bool
}

// end keeps e if it is among the best; of equal ones the first is the better.
func (sb *sentenceBeam) end(s Search, e ending) {
	if !(e.score > math.Inf(-1)) {
		return
	}
	i := len(sb.ended)
	for ; i > 0 && sb.ended[i-1].score < e.score; i-- {
	}
	if len(sb.ended) == s.listed() {
		if i == len(sb.ended) {
			return
		}
		sb.ended = sb.ended[:len(sb.ended)-1]
	}
	sb.ended = slices.Insert(sb.ended, i, e)
}

// decode finds the translations of the batch that begin prepared, and gives those of each source to done with its
// number in the batch. places are where the sources stand among all of a call.
//
// Each step of a beam search keeps the Beam best continuations of a sentence's hypotheses. One that ends in EOS
// is finished if it is among the Beam best of all continuations. A sentence is done when Beam hypotheses are
// finished, or when none that goes on can still come to a score that would be listed, or at its length limit.
// So how many are listed changes nothing of the first of them.
//
// Equal scores are ordered by hypothesis and token id, so that the result is one and the same everywhere.
func (d *Decoder) decode(b *Batch, s Search, places []int, done func(int, []Hypothesis)) {
	r := &d.search
	r.start(b, s, d.Config.MaxLen)
	if s.Sample {
		r.startSample(s, places, d.Config.TgtVocab)
	}
	for t := 0; len(r.sentences) > 0; t++ {
		r.gather()
		logits := d.step(r.ids, r.slots, r.sources, t)
		if s.Sample {
			mat.Each(d.pool, logits.Rows, 4, drawnTokens{logits, s, t, r})
		} else {
			r.size(logits.Rows, 2*s.Beam)
			mat.Each(d.pool, logits.Rows, 4, bestTokens{logits, 2 * s.Beam, r})
		}

		row, kept := 0, 0
		for i := range r.sentences {
			sb := &r.sentences[i]
			rows := len(sb.alive)
			if s.Sample {
				r.follow(sb, row, s, t)
			} else {
				r.merge(sb, row, 2*s.Beam)
				d.advance(sb, s, t)
			}
			row += rows
			if sb.isDone(s, t) {
				done(int(sb.source), r.results(sb, s, t))
			} else {
				r.sentences[kept], r.sentences[i] = r.sentences[i], r.sentences[kept]
				kept++
			}
		}
		r.sentences = r.sentences[:kept]
	}
}

func (r *searchRoom) start(b *Batch, s Search, maxLen int) {
	r.sentences, r.trace = r.sentences[:0], r.trace[:0]
	for i := range b.Sentences() {
		if len(r.sentences) < cap(r.sentences) {
			r.sentences = r.sentences[:i+1] // its slice of hypotheses is used again
		} else {
			r.sentences = append(r.sentences, sentenceBeam{})
		}
		sb := &r.sentences[i]
		length := int(b.SrcStarts[i+1]-b.SrcStarts[i]) - 1
		*sb = sentenceBeam{source: int32(i), most: s.most(length, maxLen), alive: sb.alive[:0], ended: sb.ended[:0]}
		sb.alive = append(sb.alive, alive{0, -1, int32(i * s.width())})
	}
}

// gather lists what the next step is given.
func (r *searchRoom) gather() {
	r.ids, r.slots, r.sources = r.ids[:0], r.slots[:0], r.sources[:0]
	for i := range r.sentences {
		for _, a := range r.sentences[i].alive {
			id := int32(BOS)
			if a.end >= 0 {
				id = r.trace[a.end].id
			}
			r.ids, r.slots, r.sources = append(r.ids, id), append(r.slots, a.slot), append(r.sources, r.sentences[i].source)
		}
	}
}

func (r *searchRoom) size(rows, each int) {
	for len(r.candidate) < rows*each {
		r.candidate = append(r.candidate, candidate{})
	}
	for len(r.found) < rows {
		r.found = append(r.found, 0)
	}
}

// bestTokens finds the most probable tokens of each row of logits.
type bestTokens struct {
	logits mat.Matrix
	each   int
	r      *searchRoom
}

func (t *bestTokens) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := t.logits.Row(i)
		best := t.r.candidate[i*t.each:][:0:t.each]
		row[Pad], row[BOS] = float32(math.Inf(-1)), float32(math.Inf(-1)) // never said
		top := mat.Max(row)
		best = topK(best, row)
		total := mat.ExpSum(row, row, top)
		logZ := float64(top) + mat.Log(float64(total))
		for j := range best {
			best[j].logP -= logZ
		}
		t.r.found[i] = len(best)
	}
}

// topK fills best to its capacity with the largest numbers of row, in descending order and equal ones by
// index; logP is the number. -Inf is left out. Runs of the row that have nothing to offer are skipped.
func topK(best []candidate, row []float32) []candidate {
	const run = 256
	for lo := 0; lo < len(row); lo += run {
		part := row[lo:min(lo+run, len(row))]
		if full := len(best) == cap(best); full && !(float64(mat.Max(part)) > best[len(best)-1].logP) {
			continue
		}
		for j, v := range part {
			x := float64(v)
			if len(best) < cap(best) && x > math.Inf(-1) || len(best) > 0 && x > best[len(best)-1].logP {
				best = insert(best, candidate{logP: x, id: int32(lo + j)})
			}
		}
	}
	return best
}

// insert puts c into best behind all that are not smaller, and drops the last if best is full.
func insert(best []candidate, c candidate) []candidate {
	if len(best) < cap(best) {
		best = append(best, c)
	}
	i := len(best) - 1
	for ; i > 0 && best[i-1].logP < c.logP; i-- {
		best[i] = best[i-1]
	}
	best[i] = c
	return best
}

// merge leaves in r.merged the best continuations of all hypotheses of a sentence, whose first row is row.
func (r *searchRoom) merge(sb *sentenceBeam, row, each int) {
	if cap(r.merged) < each {
		r.merged = make([]candidate, 0, each)
	}
	r.merged = r.merged[:0:each]
	for parent, a := range sb.alive {
		i := row + parent
		for _, c := range r.candidate[i*each:][:r.found[i]] {
			c.logP, c.parent = c.logP+a.logP, int32(parent)
			if len(r.merged) == each && !(c.logP > r.merged[each-1].logP) {
				break
			}
			r.merged = insert(r.merged, c)
		}
	}
}

// advance takes the candidates of step t: some finish, the best others go on.
func (d *Decoder) advance(sb *sentenceBeam, s Search, t int) {
	r := &d.search
	r.next = r.next[:0]
	for rank, c := range r.merged {
		parent := sb.alive[c.parent]
		if c.id != EOS {
			r.trace = append(r.trace, token{c.id, parent.end})
			r.next = append(r.next, alive{c.logP, int32(len(r.trace) - 1), c.parent}) // slot: for now the parent's index
			if len(r.next) == s.Beam {
				break
			}
		} else if rank < s.Beam {
			sb.finished++
			sb.end(s, ending{s.score(c.logP, t+1), parent.end, false})
		}
	}
	d.assignSlots(sb, s, t)
	sb.alive = append(sb.alive[:0], r.next...)
}

// assignSlots gives each hypothesis of r.next a slot: the first child of a parent goes on in its slot, the
// others get copies in slots that no child took.
func (d *Decoder) assignSlots(sb *sentenceBeam, s Search, t int) {
	next := d.search.next
	first := sb.source * int32(s.Beam)
	var taken uint64 // slots of the sentence
	heir := func(i int) bool {
		for _, other := range next[:i] {
			if other.slot == next[i].slot {
				return false
			}
		}
		return true
	}
	for i := range next {
		if heir(i) {
			taken |= 1 << (sb.alive[next[i].slot].slot - first)
		}
	}
	var slots [maxBeam]int32
	for i := range next {
		from := sb.alive[next[i].slot].slot
		slots[i] = from
		if !heir(i) {
			free := int32(0)
			for taken>>free&1 == 1 {
				free++
			}
			taken |= 1 << free
			slots[i] = first + free
			for l := range d.caches {
				d.caches[l].Copy(int(slots[i]), int(from), t+1)
			}
		}
	}
	for i := range next {
		next[i].slot = slots[i]
	}
}

func (sb *sentenceBeam) isDone(s Search, t int) bool {
	if t+1 >= sb.most || len(sb.alive) == 0 {
		return true
	}
	if s.Sample {
		return false
	}
	// log P only falls from here, so this is the best score that any hypothesis can still come to.
	best := s.score(sb.alive[0].logP, sb.most)
	return sb.finished >= s.Beam || len(sb.ended) == s.listed() && sb.ended[len(sb.ended)-1].score >= best
}

// results are the best finished hypotheses, or, if there are none, the best unfinished ones. In sampling all count.
func (r *searchRoom) results(sb *sentenceBeam, s Search, t int) []Hypothesis {
	if s.Sample || len(sb.ended) == 0 {
		for i, a := range sb.alive {
			// Hypotheses that differ in the last token only are one when that is cut off.
			same := func(b alive) bool { return r.trace[b.end].back == r.trace[a.end].back }
			if s.Sample || !slices.ContainsFunc(sb.alive[:i], same) {
				sb.end(s, ending{s.score(a.logP, t+1), a.end, true})
			}
		}
	}
	list := make([]Hypothesis, 0, max(1, len(sb.ended)))
	for _, e := range sb.ended {
		h := Hypothesis{Score: e.score, Truncated: e.truncated}
		for i := e.end; i >= 0; i = r.trace[i].back {
			h.Tokens = append(h.Tokens, r.trace[i].id)
		}
		slices.Reverse(h.Tokens)
		h.Tokens = h.Tokens[:min(len(h.Tokens), sb.most-1)]
		list = append(list, h)
	}
	if len(list) == 0 { // the model's weights are not numbers
		list = append(list, Hypothesis{Score: math.Inf(-1)})
	}
	return list
}
