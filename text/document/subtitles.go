package document

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/internal/xmltext"
	"tfm/text/markup"
	"tfm/text/split"
)

// Limits of subtitles.
const (
	lineCells  = 42   // width of a line of text; a character of Chinese or Japanese is two wide
	maxCues    = 6    // over which a sentence may continue
	maxOuter   = 4    // elements around a whole text, which are no spans
	maxPause   = 3000 // milliseconds between cues of a sentence
	cellsPerS  = 20   // speed at which viewers read
	maxDivided = 1000 // bytes of a text that is divided over cues, or into balanced lines
)

// cueTiming matches the line before the text of a cue, in SubRip and WebVTT.
var cueTiming = regexp.MustCompile(`^\s*(?:(\d+):)?(\d\d?):(\d\d?)[.,:](\d{1,3})\s*-->\s*(?:(\d+):)?(\d\d?):(\d\d?)[.,:](\d{1,3})(?:\s|$)`)

// utterance is the lines of a cue, or of one of its speakers if those begin with a dash. Its text
// is without the elements around all of it.
type utterance struct {
	text.Range         // in the source
	from, to       int // milliseconds
	marked             // Plain has no line breaks
	lines, longest int // of the source; the longest in cells
	alone          bool
}

// subtitles are a file of SubRip (srt) or WebVTT (vtt).
type subtitles struct {
	*editor
	vtt bool
	eol string
}

func translateSRT(e *editor) { subtitles{e, false, lineEnding(e.src)}.translate() }
func translateVTT(e *editor) { subtitles{e, true, lineEnding(e.src)}.translate() }

func isVTT(head string) bool { return strings.HasPrefix(head, "WEBVTT") }

// translate translates the sentences of the cues. One that continues in the next cue is one text.
func (s subtitles) translate() {
	var sentence []utterance
	flush := func() {
		if len(sentence) > 0 {
			s.sentence(sentence)
		}
		sentence = nil
	}
	found := false
	s.cues(func(us []utterance) {
		found = true
		for i, u := range us {
			if n := len(sentence); n > 0 && (i > 0 || n == maxCues || !continues(sentence[n-1], u)) {
				flush()
			}
			sentence = append(sentence, u)
		}
	})
	flush()
	if !found && !s.vtt && !text.IsBlank(s.src) {
		s.fail(0, "found no cue, expected a line such as 00:00:01,000 --> 00:00:02,000")
	}
}

// cues calls f with the utterances of each cue that has some.
func (s subtitles) cues(f func([]utterance)) {
	var all []text.Range // lines of the cue
	var timing []string  // of the cue, or nil
	flush := func() {
		if timing == nil || len(all) == 0 {
			return
		}
		from, to := milliseconds(timing[1:5]), milliseconds(timing[5:])
		us := s.utterances(all)
		for i := range us {
			us[i].from, us[i].to, us[i].alone = from, to, len(us) == 1
		}
		f(us)
	}
	for l := range lines(s.src) {
		line := s.src[l.Start:l.End]
		next := cueTiming.FindStringSubmatch(line)
		switch {
		case next != nil: // a number before it, without a blank line, is that of the cue
			if n := len(all); n > 0 && !strings.ContainsFunc(s.src[all[n-1].Start:all[n-1].End], func(r rune) bool { return !unicode.IsDigit(r) }) {
				all = all[:n-1]
			}
			fallthrough
		case text.IsBlank(line):
			flush()
			timing, all = next, nil
		case timing != nil:
			all = append(all, l)
		}
	}
	flush()
}

// milliseconds returns the time of hours, minutes, seconds and their decimals.
func milliseconds(t []string) int {
	h, _ := strconv.Atoi(t[0])
	m, _ := strconv.Atoi(t[1])
	sec, _ := strconv.Atoi(t[2])
	ms, _ := strconv.Atoi((t[3] + "00")[:3])
	return ((min(h, 1e6)*60+m)*60+sec)*1000 + ms
}

// speakerDash matches the begin of a line of another speaker.
var speakerDash = regexp.MustCompile(`^(?:<[^<>]*>|\{[^{}]*\})*[-\x{2013}\x{2014}]\s*[^\s-]`)

// utterances returns those of the lines of a cue.
func (s subtitles) utterances(lines []text.Range) (us []utterance) {
	first := 0
	for i := range lines {
		if i+1 < len(lines) && !speakerDash.MatchString(s.src[lines[i+1].Start:lines[i+1].End]) {
			continue
		}
		if u := s.utterance(lines[first : i+1]); u.Plain != "" {
			us = append(us, u)
		}
		first = i + 1
	}
	return us
}

// utterance returns that of some lines of a cue, without the elements that enclose all of it.
func (s subtitles) utterance(lines []text.Range) utterance {
	u := utterance{Range: text.Range{Start: lines[0].Start, End: lines[len(lines)-1].End}, lines: len(lines)}
	src := s.src[u.Start:u.End]
	if dash := speakerDash.FindString(src); dash != "" { // the dash and the space after it stay
		_, n := utf8.DecodeLastRuneInString(dash)
		u.Start += len(dash) - n
	}
	for _, l := range lines {
		u.longest = max(u.longest, cells(s.src[l.Start:l.End]))
	}
	for depth := 0; ; depth++ {
		src = s.src[u.Start:u.End]
		space := bounds(src)
		u.Range = text.Range{Start: u.Start + space.Start, End: u.Start + space.End}
		u.marked = build(tags(split.Unwrap(s.src[u.Start:u.End]), cueTagPattern, s.unescape), false)
		if len(u.Spans) == 0 || u.Spans[0].Start > 0 || depth == maxOuter {
			return u
		}
		outer, e := u.Spans[0], u.elements[u.Spans[0].ID]
		if outer.End > 0 && outer.End < len(u.Plain) {
			return u
		}
		u.Start += len(e.open)
		u.End -= len(e.close)
	}
}

// unescape returns the characters of text in WebVTT, where they may be entities.
func (s subtitles) unescape(text string) string {
	if !s.vtt {
		return text
	}
	return html.UnescapeString(text)
}

// continues reports whether the sentence of u continues in next, the utterance after it.
func continues(u, next utterance) bool {
	if !u.alone || !next.alone || next.from-u.to > maxPause || next.from < u.from {
		return false
	}
	end := strings.TrimRight(u.Plain, "\"'\u201D\u2019\u00BB ")
	last, _ := utf8.DecodeLastRuneInString(end)
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(next.Plain, "\"'\u201C\u2018\u00AB "))
	switch {
	case strings.HasSuffix(end, "...") || last == '\u2026':
		return unicode.IsLower(first) || first == '.' || first == '\u2026'
	case last == ',' || last == ';' || last == '\u3001' || last == '\uFF0C':
		return true
	case unicode.IsLetter(last) || unicode.IsDigit(last):
		return unicode.IsLetter(first) || unicode.IsDigit(first)
	}
	return false
}

// sentence makes the edit of a sentence in one or more cues.
func (s subtitles) sentence(us []utterance) {
	m := us[0].marked
	for _, u := range us[1:] {
		m.Plain += split.Gap(" ", m.Plain, u.Plain)
		for _, span := range u.Spans {
			span.Start += len(m.Plain)
			span.End += len(m.Plain)
			span.ID += len(m.elements)
			m.Spans = append(m.Spans, span)
		}
		m.Plain += u.Plain
		m.elements = append(m.elements, u.elements...)
	}
	first, last := us[0], us[len(us)-1]
	s.edit(edit{start: first.Start, end: last.End, texts: []markup.Text{m.Text}, write: func(ts []markup.Text) string {
		var b strings.Builder
		parts := divideText(ts[0], us)
		for i, u := range us {
			if i > 0 {
				b.WriteString(s.src[us[i-1].End:u.Start])
			}
			b.WriteString(m.elements.render(breakLines(parts[i], u), s.escape))
		}
		return b.String()
	}})
}

// escape returns the bytes of text.
func (s subtitles) escape(text string) string {
	if s.vtt {
		text = xmltext.Escape(text)
	}
	return strings.ReplaceAll(text, "\n", s.eol)
}

// divideText returns the part of t for each utterance: of a length as its own and that can be read
// in its time. One without words has those before it.
func divideText(t markup.Text, us []utterance) []markup.Text {
	if len(us) == 1 {
		return []markup.Text{t}
	}
	targets := make([]target, len(us))
	for i, u := range us {
		targets[i] = target{share: cells(u.Plain), limit: (u.to - u.from) * cellsPerS / 1000}
	}
	var parts []markup.Text
	for _, r := range divide(t.Plain, targets) {
		if part := cut(t, r); len(parts) > 0 && text.IsBlank(part.Plain) {
			parts = append(parts, parts[len(parts)-1])
		} else {
			parts = append(parts, part)
		}
	}
	return parts
}

// cut returns the part r of t. An element that continues in another part is in each of them.
func cut(t markup.Text, r text.Range) markup.Text {
	part := markup.Text{Plain: t.Plain[r.Start:r.End]}
	for _, s := range t.Spans {
		inside := s.Start < r.End && s.End > r.Start
		if s.Start == s.End { // an empty element is in the part that begins with it, or the last
			inside = s.Start >= r.Start && s.Start < r.End || s.Start >= r.End && r.End == len(t.Plain)
		}
		if inside {
			s.Start = max(s.Start, r.Start) - r.Start
			s.End = min(s.End, r.End) - r.Start
			part.Spans = append(part.Spans, s)
		}
	}
	return part
}

// breakLines returns t in lines: as many as it needs with lines as wide as those of u.
func breakLines(t markup.Text, u utterance) markup.Text {
	width := max(lineCells, u.longest)
	n := (cells(t.Plain) + width - 1) / width
	if n <= 1 || len(t.Plain) > maxDivided {
		return t
	}
	targets := make([]target, n)
	for i := range targets {
		targets[i] = target{share: 1, limit: width}
	}
	ranges := divide(t.Plain, targets)
	for i := len(ranges) - 1; i > 0; i-- {
		t = breakAt(t, ranges[i-1].End, ranges[i].Start)
	}
	return t
}

// breakAt returns t with a line break in the place of the bytes from start to end.
func breakAt(t markup.Text, start, end int) markup.Text {
	moved := func(at int) int {
		if at <= start {
			return at
		}
		return max(at, end) + 1 - (end - start)
	}
	out := markup.Text{Plain: t.Plain[:start] + "\n" + t.Plain[end:]}
	for _, s := range t.Spans {
		s.Start, s.End = moved(s.Start), moved(s.End)
		out.Spans = append(out.Spans, s)
	}
	return out
}
