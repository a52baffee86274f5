package main

import (
	"strings"
	"testing"
	"time"
)

func TestProgressWithoutATerminalIsAPlainLineNowAndThen(t *testing.T) {
	var b strings.Builder
	start := time.Now()
	p := &progress{w: &b, every: 10 * time.Second, last: start}
	for s := range 25 {
		p.update(start.Add(time.Duration(s)*time.Second), "at "+string(rune('a'+s)))
	}
	p.line("done after %d", 25)
	if got, want := b.String(), "at k\nat u\ndone after 25\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressLineIsWrittenOver(t *testing.T) {
	var b strings.Builder
	now := time.Now()
	p := &progress{w: &b, width: 10}
	show := func(s string) {
		now = now.Add(time.Second)
		p.update(now, s)
	}
	show("long line")
	show("short")
	show("longer than the terminal")
	p.line("stays")
	show("next")
	want := "\rlong line" + "\rshort    " + "\rlonger th" + "\r         \r" + "stays\n" + "\rnext"
	if got := b.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 60522496: "60,522,496", -1234: "-1,234", -123: "-123"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
