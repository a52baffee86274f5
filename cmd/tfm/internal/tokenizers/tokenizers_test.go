package tokenizers

import (
	"strings"
	"testing"
)

func TestSampleNote(t *testing.T) {
	for threshold, want := range map[int64]string{0: "", 1: "", 2048: "more than 16 MiB: those with fewer than 2,048 occurrences"} {
		if note := SampleNote(threshold); (note == "") != (want == "") || !strings.Contains(note, want) {
			t.Errorf("threshold %d: %q, expected %q", threshold, note, want)
		}
	}
}
