package serve

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// scheduler decides which texts are translated next. Texts that it lets through join the decode
// steps in progress at once; there is no timer. It lets through a little more than the steps have
// room for, so that the order of the others is its own: callers share equally, whatever they ask
// for, and texts of documents follow all others. The decoder pauses the rows of documents while
// there are others.
type scheduler struct {
	maxWait time.Duration
	maxRun  int // limit of the texts that are translated at the same time

	mu      sync.Mutex
	running int
	callers map[string]*caller // those with texts that wait
	waiting [2]int             // characters, by class
	inside  int                // characters that are being translated

	arrived int     // texts
	speed   float64 // characters a second, smoothed
	since   time.Time
	done    int // characters since then
	virtual float64
}

// class is the class of a text: interactive ones go first.
type class int

const (
	interactive class = iota
	ofDocument
)

// caller is one key, or one address without a key, with its texts that wait.
type caller struct {
	waiting [2][]*ticket // by class
	served  float64      // characters, as if all callers had the same demand since they came
}

// ticket is a text that waits.
type ticket struct {
	caller     string
	class      class
	characters int
	number     int // of arrival
	granted    chan struct{}
}

// minSpeed is the speed in characters a second that is assumed before any text was translated.
const minSpeed = 200

func newScheduler(maxWait time.Duration, maxRun int) *scheduler {
	return &scheduler{maxWait: maxWait, maxRun: maxRun, callers: map[string]*caller{}, speed: minSpeed}
}

// wait returns the expected time until all texts of a class that wait have been translated.
func (s *scheduler) wait(c class) time.Duration {
	n := s.waiting[interactive] + s.inside
	if c == ofDocument {
		n += s.waiting[ofDocument]
	}
	return time.Duration(float64(n) / s.speed * float64(time.Second))
}

// admit refuses the texts of a request if they would wait longer than maxWait. Those of documents
// wait as long as they have to.
func (s *scheduler) admit(c class) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wait(c); c == interactive && w > s.maxWait {
		return &statusError{status: http.StatusServiceUnavailable, message: "Server is overloaded", retryAfter: w - s.maxWait + time.Second}
	}
	return nil
}

// enter waits until a text may be translated. leave must be called after it, unless there is an
// error, which is that of ctx.
func (s *scheduler) enter(ctx context.Context, name string, c class, characters int) (leave func(), err error) {
	t := &ticket{caller: name, class: c, characters: characters, granted: make(chan struct{})}
	s.mu.Lock()
	s.push(t)
	s.grant()
	s.mu.Unlock()
	select {
	case <-t.granted:
		return func() { s.leave(t) }, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-t.granted:
		s.free(t)
	default:
		s.drop(t)
	}
	return nil, ctx.Err()
}

// push adds a text that waits. A caller that comes back has no advantage from its absence.
func (s *scheduler) push(t *ticket) {
	c := s.callers[t.caller]
	if c == nil {
		c = &caller{served: s.virtual}
		s.callers[t.caller] = c
	}
	s.arrived++
	t.number = s.arrived
	c.waiting[t.class] = append(c.waiting[t.class], t)
	s.waiting[t.class] += t.characters
}

// grant lets through the next texts: interactive ones before those of documents, each of the caller
// that was served least, or of several the one whose text has waited longest.
func (s *scheduler) grant() {
	for s.running < s.maxRun {
		t := s.pop(interactive)
		if t == nil {
			t = s.pop(ofDocument)
		}
		if t == nil {
			return
		}
		if s.running == 0 {
			s.since, s.done = time.Now(), 0
		}
		s.running++
		s.inside += t.characters
		close(t.granted)
	}
}

// pop removes the next text of a class, or returns nil.
func (s *scheduler) pop(k class) *ticket {
	var next *caller
	for _, c := range s.callers {
		if len(c.waiting[k]) == 0 {
			continue
		}
		if next == nil || c.served < next.served || c.served == next.served && c.waiting[k][0].number < next.waiting[k][0].number {
			next = c
		}
	}
	if next == nil {
		return nil
	}
	t := next.waiting[k][0]
	s.virtual = max(s.virtual, next.served)
	next.served += float64(t.characters)
	s.drop(t)
	return t
}

// drop removes a text that waits.
func (s *scheduler) drop(t *ticket) {
	c := s.callers[t.caller]
	for i, other := range c.waiting[t.class] {
		if other == t {
			c.waiting[t.class] = append(c.waiting[t.class][:i], c.waiting[t.class][i+1:]...)
			break
		}
	}
	s.waiting[t.class] -= t.characters
	if len(c.waiting[interactive])+len(c.waiting[ofDocument]) == 0 {
		delete(s.callers, t.caller)
	}
}

// leave ends the translation of a text.
func (s *scheduler) leave(t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += t.characters
	if d := time.Since(s.since).Seconds(); d >= speedPeriod.Seconds() || s.running == 1 && d > 0.05 {
		const share = 0.3 // of the newest period
		s.speed += share * (max(float64(s.done)/d, 1) - s.speed)
		s.since, s.done = time.Now(), 0
	}
	s.free(t)
}

// speedPeriod is the time over which the speed is measured.
const speedPeriod = time.Second

// free makes room for the next text.
func (s *scheduler) free(t *ticket) {
	s.running--
	s.inside -= t.characters
	s.grant()
}
