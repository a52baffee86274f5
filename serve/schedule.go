package serve

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// scheduler decides which texts are translated next, and refuses requests that would wait too long.
// A text that it lets through joins the decode steps in progress at once; there is no timer. It
// lets through a little more than the steps have room for, so that callers share equally, whatever
// they ask for. Texts of documents have room of their own, which the decoder gives an eighth of the
// time while there are others.
//
// The unit of work is a byte of text, which in any script is about a quarter of a token, times the
// models that translate it.
type scheduler struct {
	maxWait     time.Duration
	maxRun      int // limit of the texts of a class that are translated at the same time
	maxRequests int // limit of the requests in progress
	maxDocs     int // limit of the documents among them

	mu       sync.Mutex
	running  [2]int // texts, by class
	requests int    // in progress
	docs     int    // of these
	callers  map[string]*caller
	arrived  int        // requests
	virtual  [2]float64 // work that a caller with texts all the time was served, by class
	meter    meter
}

// class is the class of a text.
type class int

const (
	interactive class = iota
	ofDocument
)

// caller is one key, or one address without a key.
type caller struct {
	requests int          // in progress
	pending  int          // work of interactive requests in progress
	waiting  [2][]*ticket // in the order of their requests
	served   [2]float64   // work, as if all callers had had texts all the time
}

// queued is a request in progress.
type queued struct {
	*scheduler
	name   string
	class  class
	number int // of arrival
	left   int // work
}

// ticket is a text that waits.
type ticket struct {
	*queued
	work    int
	granted chan struct{}
}

func newScheduler(maxWait time.Duration, maxRun, maxRequests, maxDocs int) *scheduler {
	return &scheduler{maxWait: maxWait, maxRun: maxRun, maxRequests: maxRequests, maxDocs: maxDocs, callers: map[string]*caller{}}
}

// admit accepts a request of a caller, or refuses it if its texts would wait longer than maxWait or
// too many requests wait. Documents wait as long as they have to, but their number is limited. The
// request must end.
func (s *scheduler) admit(name string, k class, work int) (*queued, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k == ofDocument && s.docs >= s.maxDocs {
		return nil, &statusError{status: http.StatusServiceUnavailable, message: "Too many documents are being translated", retryAfter: s.maxWait}
	}
	if w := s.wait(name, work); s.requests >= s.maxRequests || k == interactive && w > s.maxWait {
		return nil, &statusError{status: http.StatusServiceUnavailable, message: "Server is overloaded", retryAfter: max(w-s.maxWait, 0) + time.Second}
	}
	c := s.callers[name]
	if c == nil {
		c = &caller{served: s.virtual}
		s.callers[name] = c
	}
	c.requests++
	s.requests++
	if k == interactive {
		c.pending += work
	} else {
		s.docs++
	}
	s.arrived++
	return &queued{s, name, k, s.arrived, work}, nil
}

// wait returns the expected time until new work of a caller is begun: of each other caller as much
// goes first as of this one.
func (s *scheduler) wait(name string, work int) time.Duration {
	own := 0
	if c := s.callers[name]; c != nil {
		own = c.pending
	}
	ahead := own
	for other, c := range s.callers {
		if other != name {
			ahead += min(c.pending, own+work)
		}
	}
	return s.meter.expected(ahead)
}

// end must be called when no text of the request waits or is translated.
func (q *queued) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests--
	c := q.callers[q.name]
	if c.requests--; c.requests == 0 {
		delete(q.callers, q.name)
	}
	if q.class == interactive {
		c.pending -= q.left
	} else {
		q.docs--
	}
}

// enter waits until a text of the request may be translated. leave must be called after it, unless
// there is an error, which is that of ctx.
func (q *queued) enter(ctx context.Context, work int) (leave func(), err error) {
	s := q.scheduler
	t := &ticket{queued: q, work: work, granted: make(chan struct{})}
	s.mu.Lock()
	c := s.callers[q.name]
	if len(c.waiting[q.class]) == 0 {
		// A caller that comes back has no advantage from its absence.
		c.served[q.class] = max(c.served[q.class], s.virtual[q.class])
	}
	at, _ := slices.BinarySearchFunc(c.waiting[q.class], q.number+1, func(t *ticket, number int) int { return t.number - number })
	c.waiting[q.class] = slices.Insert(c.waiting[q.class], at, t)
	s.grant(q.class)
	s.mu.Unlock()
	select {
	case <-t.granted:
		return t.leave, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(c.waiting[q.class], t); i >= 0 {
		c.waiting[q.class] = slices.Delete(c.waiting[q.class], i, i+1)
	} else {
		s.free(t)
	}
	return nil, context.Cause(ctx)
}

// leave ends the translation of a text.
func (t *ticket) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left -= t.work; t.class == interactive {
		t.callers[t.name].pending -= t.work
		t.meter.add(t.work, time.Now(), t.running[interactive] == t.maxRun, t.running[interactive] == 1)
	}
	t.free(t)
}

// free makes room for the next text.
func (s *scheduler) free(t *ticket) {
	s.running[t.class]--
	s.grant(t.class)
}

// grant lets through the next texts of a class.
func (s *scheduler) grant(k class) {
	for s.running[k] < s.maxRun {
		c := s.next(k)
		if c == nil {
			return
		}
		t := c.waiting[k][0]
		c.waiting[k] = slices.Delete(c.waiting[k], 0, 1)
		s.virtual[k] = max(s.virtual[k], c.served[k])
		c.served[k] += float64(t.work)
		if s.running[k]++; k == interactive && s.running[k] == 1 {
			s.meter.begin(time.Now())
		}
		close(t.granted)
	}
}

// next returns the caller whose text is next: the one that was served least, or of several the one
// whose request came first. It is nil if no text waits.
func (s *scheduler) next(k class) (next *caller) {
	for _, c := range s.callers {
		if len(c.waiting[k]) == 0 {
			continue
		}
		if next == nil || cmp.Or(cmp.Compare(c.served[k], next.served[k]), c.waiting[k][0].number-next.waiting[k][0].number) < 0 {
			next = c
		}
	}
	return next
}

// meter measures the work a second of a decoder with as many texts as it has room for.
type meter struct {
	speed   float64 // 0 before it is known
	since   time.Time
	done    int  // work since then
	allFull bool // there was no room since then
}

const (
	meterPeriod      = 4 * time.Second // long beside the time of a text that two periods share
	firstMeterPeriod = time.Second
	meterShare       = 0.4 // of the newest period in the speed
)

// expected returns the time that work takes, 0 if the speed is not known.
func (m *meter) expected(work int) time.Duration {
	if m.speed == 0 {
		return 0
	}
	return time.Duration(float64(work) / m.speed * float64(time.Second))
}

// begin begins a period.
func (m *meter) begin(now time.Time) { m.since, m.done, m.allFull = now, 0, true }

// add adds the work of a text that ends. isFull says that there was no room for another one, and
// isLast that no other text is being translated. A decoder with few texts is slower than one with
// many, so that periods with room only raise the speed.
func (m *meter) add(work int, now time.Time, isFull, isLast bool) {
	m.done += work
	m.allFull = m.allFull && isFull
	d := now.Sub(m.since)
	if !isLast && d < meterPeriod && (m.speed > 0 || d < firstMeterPeriod) {
		return
	}
	speed := float64(m.done) / max(d, time.Millisecond).Seconds()
	switch {
	case m.speed == 0:
		m.speed = speed
	case m.allFull:
		m.speed += float64(meterShare * (speed - m.speed))
	default:
		m.speed = max(m.speed, speed)
	}
	m.begin(now)
}
