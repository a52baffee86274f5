package decode

import (
	"slices"
	"time"

	"tfm/mat"
)

// The limits of a scheduler. One source may exceed them alone.
const (
	maxCellRows    = 16      // the same for each thread with SSRUs, see newScheduler
	maxPositions   = 1 << 15 // positions of all rows: bounds memory for long sentences
	maxAddedTokens = 1 << 10 // tokens that are encoded between two steps: bounds their delay
	minFreeRows    = 16      // least rows to add sources for: enough tokens for fast products
	maxSkips       = 64      // skips of a request without sources in the search

	// foregroundShare is the least ratio of the time of steps without the background to those
	// with it, while there are both.
	foregroundShare = 7

	// The limits of the background in a step while there is a foreground, and for a second
	// after it, because the next of its requests waits for the step in progress: few rows more
	// than those of a sentence, fewer tokens than those of its steps.
	foregroundStays                = time.Second
	maxBesideRows, maxBesideTokens = 32, 128
)

// scheduler translates the sources of requests. Between two steps, sources that are done or whose
// request is cancelled leave and waiting ones are added, so that a step has many rows and a long
// sentence holds up no other. A translation depends neither on other sources nor on the time of its
// arrival.
//
// Requests take turns: each adds one source, the longest that waits, until the limits are reached.
// So a small request does not wait for all of a large one, and the last sources of a request are
// short. A request whose source exceeds the limits is skipped. If it has no other source in the
// search, then after maxSkips skips it blocks others until it fits.
//
// While a request in progress is not in the background, those in the background are paused in most
// steps: their sources have no rows in a step, and none are added. They take part in an eighth of
// the time, so that they advance, the first ones with few rows, so that steps are short. Paused
// hypotheses keep their memory, so the limits apply to the foreground and to the background
// separately.
type scheduler struct {
	pool     *mat.Pool
	model    stepper
	maxLen   int
	maxRows  int // of a step
	minFree  int // least rows to add sources for
	searches searches

	requests []*request // that have not ended
	next     int        // index in requests of the one that adds the next source

	foreground, background load
	backgroundTokens       int // that are encoded before the next step

	// Time of the steps without and with the background since there are both.
	withoutBackground, withBackground time.Duration
	foregroundUntil                   time.Time // foregroundStays after its last step
	now                               func() time.Time

	added    []waitingSource // workspace of addSources
	sources  [][]int32
	handles  []int32
	list     []int32 // workspace of restrict
	required []int32
	set      []uint64
}

func newScheduler(w *Weights, m stepper, p *mat.Pool) *scheduler {
	s := &scheduler{pool: p, model: m, maxLen: w.model.Config.MaxLen, maxRows: maxRows, minFree: minFreeRows, now: time.Now}
	if w.recurrent() {
		// The step of a student reads less of weights than of the keys, values and lists of
		// its sources. More of these than fit in the cache make it slower, and need memory.
		s.maxRows = maxCellRows * p.Threads()
		s.minFree = s.maxRows / 2
	}
	return s
}

// load is the sum of the limits of sources in the search.
type load struct{ sources, rows, positions int }

// loadOf returns the load that the sources of r belong to.
func (s *scheduler) loadOf(r *request) *load {
	if r.options.Background {
		return &s.background
	}
	return &s.foreground
}

// add adds a source that may have the given numbers of rows and positions.
func (l *load) add(rows, positions int) {
	*l = load{l.sources + 1, l.rows + rows, l.positions + positions}
}

func (l *load) remove(rows, positions int) {
	*l = load{l.sources - 1, l.rows - rows, l.positions - positions}
}

// waitingSource is a source to add.
type waitingSource struct {
	request *request
	index   int
}

func (s *scheduler) add(r *request) { s.requests = append(s.requests, r) }

// idle reports whether all requests have ended.
func (s *scheduler) idle() bool { return len(s.requests) == 0 }

// step runs one decode step of all sources that the limits allow.
func (s *scheduler) step() {
	s.endRequests()
	start := s.now()
	spent := s.share(start)
	s.addSources()
	if len(s.searches.list) > 0 {
		s.searches.step(s.pool, s.model, func(q *search, list []Hypothesis) {
			s.remove(q)
			q.request.active--
			q.request.done(q.index, list)
		})
		s.endRequests()
	}
	*spent += s.now().Sub(start)
}

// share limits the background in the next step. It returns the sum that the time of the step
// belongs to.
func (s *scheduler) share(now time.Time) *time.Duration {
	isForeground := func(r *request) bool { return !r.options.Background }
	isBackground := func(r *request) bool { return r.options.Background }
	hasForeground := slices.ContainsFunc(s.requests, isForeground)
	if hasForeground {
		s.foregroundUntil = now.Add(foregroundStays)
	}
	s.searches.backgroundRows, s.backgroundTokens = s.maxRows, maxAddedTokens
	if now.Before(s.foregroundUntil) {
		s.searches.backgroundRows, s.backgroundTokens = maxBesideRows, maxBesideTokens
	}
	if !hasForeground || !slices.ContainsFunc(s.requests, isBackground) {
		s.withoutBackground, s.withBackground = 0, 0
		return &s.withBackground
	}
	if s.withoutBackground <= foregroundShare*s.withBackground {
		s.searches.backgroundRows, s.backgroundTokens = 0, 0
		return &s.withoutBackground
	}
	return &s.withBackground
}

// endRequests ends the requests whose sources are all done or whose context has ended. It removes
// the sources of the latter.
func (s *scheduler) endRequests() {
	for i := 0; i < len(s.requests); {
		r := s.requests[i]
		err := r.err()
		switch {
		case r.active == 0:
			err = nil
		case err == nil:
			i++
			continue
		}
		s.searches.removeIf(func(q *search) bool {
			if q.request == r {
				s.remove(q)
			}
			return q.request == r
		})
		if s.requests = slices.Delete(s.requests, i, i+1); i < s.next {
			s.next--
		}
		r.end(err)
	}
}

// remove frees a source that leaves the search.
func (s *scheduler) remove(q *search) {
	s.model.Remove(q.handle)
	q.request.inSearch--
	s.loadOf(q.request).remove(q.request.selection.width, q.request.positions(q.index, s.maxLen))
}

// isFull reports whether the sources of l leave too little room to add others now.
func (s *scheduler) isFull(l *load) bool { return l.rows > s.maxRows-s.minFree && l.sources > 0 }

// addSources adds waiting sources up to the limits, as one batch.
func (s *scheduler) addSources() {
	foregroundFull, backgroundFull := s.isFull(&s.foreground), s.backgroundTokens == 0 || s.isFull(&s.background)
	if foregroundFull && backgroundFull {
		return
	}
	s.added, s.sources = s.added[:0], s.sources[:0]
	tokens, backgroundTokens := 0, 0
	for skipped := 0; skipped < len(s.requests); s.next++ {
		if s.next >= len(s.requests) {
			s.next = 0
		}
		r := s.requests[s.next]
		last, full := len(r.waiting)-1, foregroundFull
		if r.options.Background {
			full = backgroundFull
		}
		if last < 0 || full {
			skipped++
			continue
		}
		i, l := r.waiting[last], s.loadOf(r)
		rows, positions, n := r.selection.width, r.positions(i, s.maxLen), len(r.sources[i])+1
		if tokens > 0 && tokens+n > maxAddedTokens {
			break
		}
		if r.options.Background && backgroundTokens > 0 && backgroundTokens+n > s.backgroundTokens {
			skipped++
			continue
		}
		if l.sources > 0 && (l.rows+rows > s.maxRows || l.positions+positions > maxPositions) {
			if r.inSearch == 0 {
				if r.skips >= maxSkips {
					break
				}
				r.skips++
			}
			skipped++
			continue
		}
		skipped = 0
		r.waiting = r.waiting[:last]
		r.inSearch, r.skips = r.inSearch+1, 0
		l.add(rows, positions)
		if tokens += n; r.options.Background {
			backgroundTokens += n
		}
		s.added, s.sources = append(s.added, waitingSource{r, i}), append(s.sources, r.sources[i])
	}
	if len(s.added) == 0 {
		return
	}
	s.handles = s.model.Add(s.handles[:0], s.sources...)
	for k, a := range s.added {
		maxTokens := a.request.maxTokens(a.index, s.maxLen)
		if a.request.options.Shortlist != nil {
			s.restrict(a, s.handles[k])
		}
		q := s.searches.add(a.request, a.index, s.handles[k], maxTokens)
		q.start(s.model.hypotheses(q.handle))
	}
	clear(s.added)
	clear(s.sources)
}

// restrict restricts the logits of a source to its list.
func (s *scheduler) restrict(a waitingSource, handle int32) {
	r := a.request
	s.required = s.required[:0]
	if r.constraint != nil {
		s.required = r.constraint.required(s.required, a.index)
	}
	s.list = r.options.Shortlist.List(s.list[:0], r.sources[a.index], s.required, &s.set)
	s.model.Restrict(handle, s.list)
}
