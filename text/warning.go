package text

import "fmt"

// Warning says that something was mended or left out.
type Warning struct {
	Kind    string // the same for all of a kind, in the plural: "lines of invalid UTF-8"
	Message string // with the place: "in.txt:3: invalid UTF-8 at byte 7, replaced by U+FFFD"
}

// warningsShown is the number of warnings of a kind that are shown.
const warningsShown = 10

// Warnings shows the first ten warnings of each kind and counts the others, so that a damaged
// corpus does not fill the screen. It is not for concurrent use.
type Warnings struct {
	Show func(message string)

	kinds  []string // in the order of their first
	counts map[string]int
}

// Add shows w, or counts it.
func (s *Warnings) Add(w Warning) {
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	n := s.counts[w.Kind] + 1
	s.counts[w.Kind] = n
	if n == 1 {
		s.kinds = append(s.kinds, w.Kind)
	}
	switch {
	case n <= warningsShown:
		s.Show(w.Message)
	case n == warningsShown+1:
		s.Show("further " + w.Kind + " are only counted")
	}
}

// Summarize shows the number of warnings of each kind that had more than were shown.
func (s *Warnings) Summarize() {
	for _, kind := range s.kinds {
		if n := s.counts[kind]; n > warningsShown {
			s.Show(fmt.Sprintf("%d %s in all", n, kind))
		}
	}
}
