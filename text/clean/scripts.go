package clean

import (
	"tfm/text/internal/words"
	"tfm/text/script"
)

// scripts are the scripts of one side of a corpus.
type scripts struct {
	lines [script.Count]int // by the script with most letters
	usual [script.Count]bool
}

// Weights of letters. A character of a script that writes syllables or words counts as several
// letters of an alphabet.
const wideLetter = 3

func weight(class script.Script, letters int) int {
	if !class.Spaced() || class == script.Hangul {
		return wideLetter * letters
	}
	return letters
}

// add counts a sentence for the script of most of its letters, if it has letters.
func (s *scripts) add(d *words.Sentence) {
	best, most := 0, 0
	for class, n := range d.Letters {
		if n := weight(script.Script(class), n); n > most {
			best, most = class, n
		}
	}
	if most > 0 {
		s.lines[best]++
	}
}

// minScriptLines is the number of sentences that show the scripts of a side.
const minScriptLines = 20

// learn sets the usual scripts: that of most sentences, and those of a quarter of their number, for
// languages of two scripts. With Japanese kana or Korean, Chinese characters are usual, and with
// Chinese characters kana if they are not rare.
func (s *scripts) learn() {
	most, all := 0, 0
	for _, n := range s.lines {
		most, all = max(most, n), all+n
	}
	for class, n := range s.lines {
		s.usual[class] = all < minScriptLines || 4*n >= most
	}
	if s.usual[script.Kana] || s.usual[script.Hangul] {
		s.usual[script.Han] = true
	}
	if s.usual[script.Han] && 20*s.lines[script.Kana] >= s.lines[script.Han] {
		s.usual[script.Kana] = true
	}
}

// Letters of an unusual script from which a sentence is judged.
const minForeign = 3

// wrongScript reports a side whose letters of unusual scripts are more than twice those of the
// usual ones.
func (c *cleaner) wrongScript(p *pair) bool {
	return c.learned.src.wrong(&p.src) || c.learned.tgt.wrong(&p.tgt)
}

func (s *scripts) wrong(d *words.Sentence) bool {
	usual, foreign := 0, 0
	for class, n := range d.Letters {
		if n := weight(script.Script(class), n); s.usual[class] {
			usual += n
		} else {
			foreign += n
		}
	}
	return foreign >= minForeign && foreign > 2*usual
}
