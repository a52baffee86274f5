package text

import (
	"fmt"
	"maps"
)

// Warning reports an input that was repaired or skipped.
type Warning struct {
	Kind    string // groups warnings; a plural, such as "lines of invalid UTF-8"
	Message string // such as "in.txt:3: invalid UTF-8 at byte 7, replaced by U+FFFD"
}

// maxShown is the number of warnings of each kind that Warnings shows.
const maxShown = 10

// Warnings shows the first ten warnings of each kind and counts the others, so that a damaged
// corpus does not fill the screen. It is not safe for concurrent use.
type Warnings struct {
	Show func(message string)

	kinds  []string // in the order of their first warnings
	counts map[string]int
}

// Add shows or counts w.
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
	case n <= maxShown:
		s.Show(w.Message)
	case n == maxShown+1:
		s.Show("counting further " + w.Kind + " without showing them")
	}
}

// Counts returns the number of warnings of each kind.
func (s *Warnings) Counts() map[string]int { return maps.Clone(s.counts) }

// Summarize shows the total of each kind that has more than ten warnings.
func (s *Warnings) Summarize() {
	for _, kind := range s.kinds {
		if n := s.counts[kind]; n > maxShown {
			s.Show(fmt.Sprintf("%d %s in total", n, kind))
		}
	}
}
