// Package report makes one web page of a training run: its curves, its validations with sample translations, and what
// attention looked at. The page needs nothing beside it: style, script and pictures are inside, and it says to the
// browser that nothing may be fetched (a Content-Security-Policy).
//
// The files: log.go reads the log of a run, page.go is the page and page.html, page.css and page.js what it is made from,
// curves.go says which curves there are, chart.go draws one, thin.go makes thousands of steps few, compare.go sets a run
// beside another, samples.go follows sample translations through the run, attention.go draws the maps of attention.
//
// It imports only the standard library and no other package of this module. Nothing in it is for concurrent use.
package report
