package decode

import (
	"context"
	"sync"

	"tfm/mat"
)

// Engine translates for any number of goroutines at the same time: the sources of all calls share
// decode steps, and enter and leave between any two. A translation depends neither on other calls
// nor on the time of its arrival. An Engine is safe for concurrent use. It has a goroutine while
// calls are in progress.
type Engine struct {
	w    *Weights
	pool *mat.Pool

	mu        sync.Mutex
	arrived   []*request // for run to add
	running   bool       // run has not ended
	scheduler *scheduler // used by run only; nil before its first use
}

// NewEngine returns an Engine with the weights w whose loops run on p.
func NewEngine(w *Weights, p *mat.Pool) *Engine { return &Engine{w: w, pool: p} }

// NBest returns for each source a list of 1 to Options.NBest translations, as Decoder.NBest does.
// Errors and panics are those of Stream.
func (e *Engine) NBest(ctx context.Context, srcs [][]int32, o Options) ([][]Hypothesis, error) {
	lists := make([][]Hypothesis, len(srcs))
	if err := e.Stream(ctx, srcs, o, nil, func(i int, list []Hypothesis) { lists[i] = list }); err != nil {
		return nil, err
	}
	return lists, nil
}

// Stream calls done with the index of each source and its list of translations, as NBest returns
// it, as soon as the source is translated, in any order. It calls done on the calling goroutine; a
// slow done delays no other call. Sources are ids without EOS. The error is that of
// Options.Validate, or that of ctx, which the Engine checks before each step; then sources that are
// not done leave. Stream panics on ids outside the vocabulary and on a source of more than
// Config.MaxLen-1 tokens.
//
// Stream calls token, if it is not nil, with the index of a source and each token of its best
// translation, in order, as soon as it is certain: with greedy search and one sample after its
// step, with beam search when all hypotheses that can win have it. It is called for the last ones
// before done. If the scores of a translation become NaN, or nothing may follow it, the list of
// done does not have these tokens. If token or done panics, the sources leave before the panic
// continues.
func (e *Engine) Stream(ctx context.Context, srcs [][]int32, o Options, token func(i int, token int32), done func(i int, list []Hypothesis)) error {
	if err := checkCall(e.w, srcs, &o); err != nil {
		return err
	}
	c := newCall()
	r := newRequest(ctx, srcs, o, c.done, c.end)
	if token != nil {
		r.token = c.token
	}
	e.submit(r)
	defer c.abandon(r)
	for {
		results, ended, err := c.wait()
		for _, r := range results {
			if r.list == nil {
				token(r.index, r.token)
			} else {
				done(r.index, r.list)
			}
		}
		if ended {
			if p, ok := err.(panicError); ok {
				panic(p.value)
			}
			return err
		}
	}
}

// submit adds a request, and starts the goroutine that runs it unless there is one.
func (e *Engine) submit(r *request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.arrived = append(e.arrived, r)
	if !e.running {
		e.running = true
		go e.run()
	}
}

// run translates until all requests have ended.
func (e *Engine) run() {
	defer e.recover()
	if e.scheduler == nil {
		e.scheduler = newScheduler(e.w, NewState(e.w, e.pool), e.pool)
	}
	for e.receive() {
		e.scheduler.step()
	}
}

// receive adds the requests that have arrived to the scheduler. If it returns false, all requests
// have ended and the goroutine must end.
func (e *Engine) receive() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.arrived {
		e.scheduler.add(r)
	}
	clear(e.arrived)
	e.arrived = e.arrived[:0]
	e.running = !e.scheduler.idle()
	return e.running
}

// recover ends all requests with a panic of run, if any, which their calls repeat.
func (e *Engine) recover() {
	value := recover()
	if value == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	requests := e.arrived
	if e.scheduler != nil {
		requests = append(requests, e.scheduler.requests...)
	}
	e.arrived, e.scheduler, e.running = nil, nil, false // their state is undefined
	for _, r := range requests {
		r.end(panicError{value})
	}
}

// panicError is the error of a request that ended by a panic.
type panicError struct{ value any }

func (panicError) Error() string { return "decode: panic in an Engine" }

// call passes the results of a request to the goroutine of its caller.
type call struct {
	mu      sync.Mutex
	changed sync.Cond // results or ended
	results []result
	ended   bool
	err     error
}

// result is the n-best list of a source, or if that is nil a certain token.
type result struct {
	index int
	token int32
	list  []Hypothesis
}

func newCall() *call {
	c := new(call)
	c.changed.L = &c.mu
	return c
}

// wait waits for something new and returns it.
func (c *call) wait() (results []result, ended bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.results) == 0 && !c.ended {
		c.changed.Wait()
	}
	results, c.results = c.results, nil
	return results, c.ended, c.err
}

// abandon ends r and waits until it has ended, unless it has: after a panic of a function of the
// caller, who may close the weights next.
func (c *call) abandon(r *request) {
	r.abandoned.Store(true)
	for ended := false; !ended; {
		_, ended, _ = c.wait()
	}
}

func (c *call) add(r result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results = append(c.results, r)
	c.changed.Signal()
}

func (c *call) token(i int, token int32)      { c.add(result{index: i, token: token}) }
func (c *call) done(i int, list []Hypothesis) { c.add(result{index: i, list: list}) }

func (c *call) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.err = true, err
	c.changed.Signal()
}
