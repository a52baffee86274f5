package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestProgressWithoutATerminalIsAPlainLineNowAndThen(t *testing.T) {
	var b strings.Builder
	start := time.Now()
	p := &Progress{w: &b, start: start, last: start}
	for s := range 25 {
		p.Update(start.Add(time.Duration(s)*time.Second), "at "+string(rune('a'+s)))
	}
	p.Line("done after %d", 25)
	if got, want := b.String(), "at k\nat u\ndone after 25\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Reset()
	for s := 3600; s < 2*3600; s++ {
		p.Update(start.Add(time.Duration(s)*time.Second), "later")
	}
	if got := strings.Count(b.String(), "\n"); got != 60 {
		t.Errorf("%d lines in the second hour, want 60", got)
	}
}

func TestProgressLineIsWrittenOver(t *testing.T) {
	var b strings.Builder
	now := time.Now()
	p := &Progress{w: &b, width: 10}
	show := func(s string) {
		now = now.Add(time.Second)
		p.Update(now, s)
	}
	show("long line")
	show("short")
	show("longer than the terminal")
	p.Line("stays")
	show("next")
	want := "\rlong line" + "\rshort    " + "\rlonger t…" + "\r         \r" + "stays\n" + "\rnext"
	if got := b.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTextIsWrapped(t *testing.T) {
	for width, want := range map[int]string{
		0:  "step 250: validation perplexity 12.50, BLEU 14.67\n",
		32: "step 250: validation\n  perplexity 12.50, BLEU 14.67\n",
	} {
		var b strings.Builder
		p := &Progress{w: &b, width: width}
		p.Text("step %d: validation perplexity 12.50, BLEU %.2f", 250, 14.67)
		if got := b.String(); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}

func TestField(t *testing.T) {
	const text = "inverse-sqrt: warmup to 0.002 at step 800"
	for width, want := range map[int]string{
		0:  "learning rate:    inverse-sqrt: warmup to 0.002 at step 800\n                  next\n",
		40: "learning rate:    inverse-sqrt: warmup\n                  to 0.002 at step 800\n                  next\n",
	} {
		var b strings.Builder
		p := &Progress{w: &b, width: width}
		p.Field("learning rate", "%s", text)
		p.Field("", "next")
		if got := b.String(); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}
