// Package report makes one web page of a training run: its curves, its validations with sample
// translations, and what attention looked at. The page needs nothing beside it: style, script and
// pictures are inside, and it says to the browser that nothing may be fetched (a
// Content-Security-Policy).
//
// It imports the standard library, internal/format, and train/runlog, which reads the log of the
// run. Nothing in it is for concurrent use.
//
//	page.go       Page and its figures; page.html, page.css and page.js are embedded in it
//	curves.go     which curves a page shows; chart.go draws one, thin.go reduces its points
//	compare.go    a run beside another one
//	samples.go    sample translations through a run
//	attention.go  the maps of attention
package report
