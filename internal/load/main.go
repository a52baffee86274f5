// Command load measures a server that speaks LibreTranslate's interface, and checks each answer.
//
//	load -url http://127.0.0.1:5000 -source en -target de -src lines.en -want lines.de -clients 16
//
// Each client sends one request after another, of lines of -src that follow each other, joined by
// line breaks, and waits as long as a refusal asks; with -rate requests are sent at random times,
// whether or not others are answered. It prints requests a second, times of answers
// and the number of answers of each status; answers that differ from the same lines of -want make
// it fail.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// loader has the flags and the counts of a run.
type loader struct {
	url, source, target string
	src, want           []string // by line
	minWords, maxWords  int      // of a request
	canceled, slow      float64  // shares of requests whose client leaves, and reads slowly
	rate                float64  // requests a second of all clients; 0 for as many as are answered

	client *http.Client
	next   atomic.Int64 // line
	sent   atomic.Int64

	mu       sync.Mutex
	answered int
	wrong    int
	statuses map[int]int
	errors   map[string]int
	times    []time.Duration // of answers with status 200
	refusals []time.Duration // of answers with another one
	lines    int             // of answers with status 200
}

func main() {
	l := &loader{statuses: map[int]int{}, errors: map[string]int{}}
	flag.StringVar(&l.url, "url", "http://127.0.0.1:5000", "address of the server")
	flag.StringVar(&l.source, "source", "en", "source language")
	flag.StringVar(&l.target, "target", "de", "target language")
	src := flag.String("src", "", "file of lines to translate")
	want := flag.String("want", "", "file of their translations; without it answers are not checked")
	clients := flag.Int("clients", 1, "number of clients")
	requests := flag.Int64("requests", 0, "number of requests; 0 is no limit")
	duration := flag.Duration("time", 0, "time to send requests; 0 is no limit")
	flag.IntVar(&l.minWords, "min-words", 1, "least words of a request: lines are added until it has them")
	flag.IntVar(&l.maxWords, "max-words", 1, "most of these; drawn for each request")
	flag.Float64Var(&l.canceled, "cancel", 0, "share of requests that the client gives up within a second")
	flag.Float64Var(&l.slow, "slow", 0, "share of answers that are read a byte a millisecond")
	flag.Float64Var(&l.rate, "rate", 0, "requests a second, whether or not others are answered, instead of -clients")
	flag.Parse()
	l.src = readLines(*src)
	if *want != "" {
		if l.want = readLines(*want); len(l.want) != len(l.src) {
			exit(fmt.Errorf("%s has %d lines, and %s %d", *src, len(l.src), *want, len(l.want)))
		}
	}
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *clients, DialContext: (&net.Dialer{}).DialContext}}
	ctx := context.Background()
	if *duration > 0 {
		var stop func()
		ctx, stop = context.WithTimeout(ctx, *duration)
		defer stop()
	}
	start := time.Now()
	var running sync.WaitGroup
	more := func() bool {
		return ctx.Err() == nil && (*requests == 0 || l.sent.Add(1) <= *requests)
	}
	pause := func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	if l.rate > 0 { // at random times, as independent clients send them; late ones are caught up
		r, at := rand.New(rand.NewPCG(2, 0)), 0.0
		for n := uint64(0); more(); n++ {
			running.Go(func() { l.request(rand.New(rand.NewPCG(1, n))) })
			at += r.ExpFloat64() / l.rate
			pause(time.Until(start.Add(time.Duration(at * float64(time.Second)))))
		}
	} else {
		for i := range *clients {
			running.Go(func() {
				for r := rand.New(rand.NewPCG(1, uint64(i))); more(); {
					if retryAfter := l.request(r); retryAfter > 0 {
						pause(retryAfter)
					}
				}
			})
		}
	}
	running.Wait()
	l.print(time.Since(start))
}

func exit(err error) {
	fmt.Fprintln(os.Stderr, "load:", err)
	os.Exit(1)
}

func readLines(path string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		exit(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// text returns lines with at least a number of words, and their translations.
func (l *loader) text(words int) (text, want string) {
	var src, tgt []string
	for n := 0; n < words; {
		i := int(l.next.Add(1)-1) % len(l.src)
		src = append(src, l.src[i])
		if l.want != nil {
			tgt = append(tgt, l.want[i])
		}
		n += max(len(strings.Fields(l.src[i])), 1)
	}
	return strings.Join(src, "\n"), strings.Join(tgt, "\n")
}

// request sends a request and counts its answer. It returns Retry-After.
func (l *loader) request(r *rand.Rand) (retryAfter time.Duration) {
	text, want := l.text(l.minWords + r.IntN(l.maxWords-l.minWords+1))
	ctx := context.Background()
	isCanceled := r.Float64() < l.canceled
	if isCanceled {
		var stop func()
		ctx, stop = context.WithTimeout(ctx, time.Duration(r.Float64()*float64(time.Second)))
		defer stop()
	}
	body, err := json.Marshal(map[string]string{"q": text, "source": l.source, "target": l.target})
	if err != nil {
		exit(err)
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/translate", bytes.NewReader(body))
	if err != nil {
		exit(err)
	}
	q.Header.Set("Content-Type", "application/json")
	start := time.Now()
	status, retryAfter, answer, err := l.send(q, r.Float64() < l.slow)
	d := time.Since(start)
	l.mu.Lock()
	defer l.mu.Unlock()
	if isCanceled && errors.Is(err, context.DeadlineExceeded) {
		l.statuses[0]++
		return 0
	}
	if err != nil {
		l.errors[err.Error()]++
		return 0
	}
	l.answered++
	if l.statuses[status]++; status != http.StatusOK {
		l.refusals = append(l.refusals, d)
		return retryAfter
	}
	l.times = append(l.times, d)
	l.lines += strings.Count(text, "\n") + 1
	if l.want != nil && answer != want {
		if l.wrong++; l.wrong <= 3 {
			fmt.Fprintf(os.Stderr, "load: of %q got %q, want %q\n", text, answer, want)
		}
	}
	return 0
}

// send returns the status, Retry-After and the translation of an answer.
func (l *loader) send(q *http.Request, slowly bool) (status int, retryAfter time.Duration, translation string, err error) {
	response, err := l.client.Do(q)
	if err != nil {
		return 0, 0, "", err
	}
	defer response.Body.Close()
	var body io.Reader = response.Body
	if slowly {
		body = &slowReader{body}
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return 0, 0, "", err
	}
	var answer struct{ TranslatedText string }
	if response.StatusCode == http.StatusOK {
		err = json.Unmarshal(data, &answer)
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 without it
	return response.StatusCode, time.Duration(seconds) * time.Second, answer.TranslatedText, err
}

// slowReader reads a byte a millisecond.
type slowReader struct{ io.Reader }

func (r *slowReader) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return r.Reader.Read(p[:min(len(p), 1)])
}

// print prints the counts of a run, and ends the program with 1 if an answer was wrong.
func (l *loader) print(d time.Duration) {
	quantile := func(times []time.Duration, p float64) float64 {
		if len(times) == 0 {
			return 0
		}
		slices.Sort(times)
		return float64(times[int(p*float64(len(times)-1))]) / float64(time.Millisecond)
	}
	n := float64(len(l.times))
	fmt.Printf("%.1f requests/s, %.1f lines/s; ms: median %.1f, p95 %.1f, max %.1f\n", n/d.Seconds(), float64(l.lines)/d.Seconds(),
		quantile(l.times, 0.5), quantile(l.times, 0.95), quantile(l.times, 1))
	if len(l.refusals) > 0 {
		fmt.Printf("refusals, ms: median %.1f, p95 %.1f, max %.1f\n", quantile(l.refusals, 0.5), quantile(l.refusals, 0.95), quantile(l.refusals, 1))
	}
	for _, status := range slices.Sorted(maps.Keys(l.statuses)) {
		name := fmt.Sprintf("status %d", status)
		if status == 0 {
			name = "given up"
		}
		fmt.Printf("%s: %d\n", name, l.statuses[status])
	}
	for _, message := range slices.Sorted(maps.Keys(l.errors)) {
		fmt.Printf("%d times: %s\n", l.errors[message], message)
	}
	fmt.Printf("wrong: %d of %d\n", l.wrong, len(l.times))
	if l.wrong > 0 || len(l.errors) > 0 {
		os.Exit(1)
	}
}
