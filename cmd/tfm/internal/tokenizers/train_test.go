package tokenizers

import (
	"strings"
	"testing"
)

func TestSampleNote(t *testing.T) {
	for threshold, want := range map[int64]string{0: "", 1: "", 2048: "exceed 16 MiB: words with fewer than 2,048 occurrences"} {
		if note := SampleNote(threshold); (note == "") != (want == "") || !strings.Contains(note, want) {
			t.Errorf("SampleNote(%d) = %q, want %q", threshold, note, want)
		}
	}
}
