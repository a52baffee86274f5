package detect

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"tfm/lang"
	"tfm/text/detect/profile"
)

// Unknown is the language of a text without letters, in a script without candidates, or without
// evidence of any candidate: "und", undetermined, in BCP 47.
const Unknown = "und"

// maxText is the limit of the bytes of a text that are read.
const maxText = 1 << 14

// Candidate is a possible language of a text.
type Candidate struct {
	Lang string // tag of BCP 47, or the spelling that Among was given

	// Confidence is the estimated probability of the language, if all candidates are equally
	// frequent.
	Confidence float64
}

// Detector detects the language of texts. It is immutable and safe for concurrent use.
type Detector struct {
	model   *profile.Model
	scripts [profile.Count][]language // candidates by script
}

// language is a candidate. Profile is nil if no other language has its script.
type language struct {
	tag     string
	profile *profile.Language
}

// Languages returns the tags of the candidates, sorted.
func (d *Detector) Languages() (tags []string) {
	for _, list := range d.scripts {
		for _, l := range list {
			tags = append(tags, l.tag)
		}
	}
	slices.Sort(tags)
	return tags
}

// Among returns a detector that only considers the given languages, such as the sources of a model,
// and answers with their given spellings. The tags can be more specific than those of Languages:
// pt-BR is the candidate pt. Unknown has the tags that name no language of d.
func (d *Detector) Among(tags ...string) (among *Detector, unknown []string) {
	among = &Detector{model: d.model}
	for _, tag := range tags {
		own := d.Find(tag)
		if own == "" {
			unknown = append(unknown, tag)
		}
		for s, list := range d.scripts {
			for _, l := range list {
				if l.tag == own && !slices.ContainsFunc(among.scripts[s], func(x language) bool { return x.profile == l.profile }) {
					among.scripts[s] = append(among.scripts[s], language{tag, l.profile})
				}
			}
		}
	}
	return among, unknown
}

// Find returns the candidate that best answers for a tag, such as pt for pt-BR or zh-Hant for
// zh-TW. It returns "" if d has none.
func (d *Detector) Find(tag string) string {
	languages := d.Languages()
	found := lang.Best(cmp.Or(written[lang.Primary(tag)], tag), languages)
	if len(found) == 0 {
		return ""
	}
	return languages[found[0]]
}

// Detect returns the most probable language of a text and its confidence, or Unknown and 0. It
// reads the first 16 KB of the text and allocates nothing.
func (d *Detector) Detect(text string) (lang string, confidence float64) {
	var buffer [profile.MaxLanguages]Candidate
	candidates := d.rank(buffer[:0], text)
	if len(candidates) == 0 {
		return Unknown, 0
	}
	best := candidates[0]
	for _, c := range candidates[1:] {
		if c.Confidence > best.Confidence {
			best = c
		}
	}
	return best.Lang, best.Confidence
}

// Candidates returns the candidates in the order of their confidence, none if the language is
// unknown.
func (d *Detector) Candidates(text string) []Candidate {
	candidates := d.rank(nil, text)
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return candidates
}

// rank appends the candidates of the script with most letters.
func (d *Detector) rank(candidates []Candidate, text string) []Candidate {
	text = truncate(text)
	script, letters, share := scriptOf(text)
	if script == profile.None {
		return candidates
	}
	list := d.scripts[script]
	if len(list) == 0 {
		return candidates
	}
	if script >= profile.Shared {
		squared := float64(letters * letters) // one letter, such as π, is no evidence
		return append(candidates, Candidate{list[0].tag, share * squared / (squared + 1)})
	}
	sum, n := d.model.Sum(text, script)
	if n == 0 {
		return candidates
	}
	best := 0.0
	for i, l := range list {
		score := d.model.Score(l.profile, &sum, n)
		candidates = append(candidates, Candidate{l.tag, score})
		if i == 0 || score > best {
			best = score
		}
	}
	total := 0.0
	for i := range candidates {
		c := &candidates[i]
		c.Confidence = exp(c.Confidence - best)
		total += c.Confidence
	}
	for i := range candidates {
		c := &candidates[i]
		c.Confidence = c.Confidence / total * share
	}
	return candidates
}

// truncate returns the first maxText bytes of a text, without a part of a character.
func truncate(text string) string {
	if len(text) <= maxText {
		return text
	}
	n := maxText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Letters of scripts that write syllables or words count as several of an alphabet.
const wideLetter = 3

// scriptOf returns the script with most letters, their number and share. It returns profile.None
// for a text without letters.
func scriptOf(text string) (most profile.Script, n int, share float64) {
	var letters [profile.Count + 1]int
	for _, r := range text {
		letters[profile.ScriptOf(r)]++
	}
	letters[profile.Han] *= wideLetter
	letters[profile.Hangul] *= wideLetter
	all := 0
	most = profile.None
	for s, n := range letters[:profile.Count] {
		all += n
		if n > 0 && (most == profile.None || n > letters[most]) {
			most = profile.Script(s)
		}
	}
	if all == 0 {
		return profile.None, 0, 0
	}
	return most, letters[most], float64(letters[most]) / float64(all)
}

// exp returns e to the power of x, which is not positive, by (1+x/2¹⁰) to the power of 2¹⁰. Unlike
// math.Exp it is the same on every machine.
func exp(x float64) float64 {
	const squarings = 10
	y := max(0, 1+float64(x/(1<<squarings)))
	for range squarings {
		y *= y
	}
	return y
}

// written are languages that are written as another one in the profiles.
var written = map[string]string{"sh": "sr-Latn", "yue": "zh-Hant"}
