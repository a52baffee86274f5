package markup

import "strings"

// class is what the parsing rules of the HTML standard and its style sheet say about the elements
// of a name.
type class uint32

const (
	block      class = 1 << iota // its tags separate texts
	void                         // has no end tag
	raw                          // its text has no tags
	hidden                       // a reader does not see its text
	kept                         // its text is copied
	formatting                   // continues when an element around it ends, until its own end tag
	special                      // an end tag of another name does not end it
	scope                        // end tags within it end no elements around it
	implied                      // has an optional end tag
	closesP                      // its start tag ends a paragraph
	ends                         // its end tag ends all elements within it
	breakout                     // its start tag ends SVG and MathML
	marker                       // formatting elements around it do not continue within it
	tablePart                    // counts only within a table
)

// classes are those of all elements that are not ordinary inline ones.
var classes = func() map[string]class {
	m := map[string]class{}
	for names, c := range map[string]class{
		"address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form header hgroup main menu nav ol search section summary ul": block | special | closesP | ends,
		"h1 h2 h3 h4 h5 h6":                    block | special | closesP,
		"p":                                    block | special | closesP | implied,
		"li dd dt":                             block | special | closesP | implied,
		"pre listing":                          block | special | closesP | ends | kept,
		"xmp":                                  block | special | closesP | raw | kept,
		"plaintext":                            block | special | closesP | raw | kept,
		"hr":                                   block | special | closesP | void,
		"table":                                block | special | scope,
		"caption td th":                        block | special | scope | tablePart | marker,
		"tr tbody thead tfoot":                 block | special | tablePart,
		"colgroup":                             block | special | tablePart,
		"col":                                  block | special | tablePart | void,
		"html body head":                       special,
		"frameset":                             block | special,
		"frame":                                block | special | void,
		"title":                                block | special | raw,
		"textarea":                             block | special | raw | kept,
		"style script noembed noframes iframe": special | raw | hidden | kept,
		"template":                             block | special | scope | marker,
		"noscript":                             block | special,
		"base basefont bgsound link meta":      special | void,
		"area br embed img keygen wbr input":   special | void,
		"param source track":                   special | void,
		"applet marquee object":                block | special | scope | marker | ends,
		"button":                               special | ends,
		"select":                               block | special | ends,
		"option optgroup":                      block | implied,
		"rb":                                   implied,
		"rp rt rtc":                            implied | hidden | kept, // readings of characters
		"a b big code em font i nobr s small strike strong tt u": formatting,
		"kbd samp var": kept,
		"svg":          hidden | kept,
		"math":         kept,
	} {
		for _, name := range strings.Fields(names) {
			m[name] |= c
		}
	}
	m["html"] |= scope
	m["code"] |= kept
	m["tt"] |= kept
	for _, name := range strings.Fields("b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var") {
		m[name] |= breakout
	}
	return m
}()

// textAttributes are the attributes that a reader sees or hears, of any element or of one.
var textAttributes = map[string]string{
	"alt": "", "title": "", "placeholder": "", "aria-label": "", "aria-description": "", "aria-placeholder": "",
	"aria-roledescription": "", "aria-valuetext": "", "summary": "table", "abbr": "th", "label": "option optgroup track",
}

// seenMeta are the names of the meta elements whose content a reader sees.
var seenMeta = []string{"description", "keywords", "og:title", "og:description", "og:image:alt", "twitter:title", "twitter:description", "twitter:image:alt"}
