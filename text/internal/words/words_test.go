package words

import "testing"

func TestMeasure(t *testing.T) {
	var d Sentence
	d.Measure("Don't e\u0301tudier 12 ab12 我用Go。  –")
	var same Sentence
	same.Measure("don t ÉTUDIER ...")
	if d.Chars != 31 || d.Digits != 4 || d.Spaced != 5 || d.Length() != 7 || len(d.Words) != 9 {
		t.Errorf("measures %+v", d)
	}
	if d.Words[0] != same.Words[0] || d.Words[1] != same.Words[1] || d.Words[2] == same.Words[2] {
		t.Errorf("words %v and %v: want the same first two", d.Words, same.Words)
	}
	for r, want := range map[rune]int{'7': 7, '７': 7, '٧': 7, '७': 7, '𝟘': 0, '𝟙': 1, '𝟡': 9} {
		if got := DigitValue(r); got != want {
			t.Errorf("DigitValue(%q) = %d, want %d", r, got, want)
		}
	}
}
