// Package report writes a web page about a training run: curves, validations, sample translations
// and attention maps. The page is one self-contained file with style, script and images inside. Its
// Content-Security-Policy forbids all network requests.
//
// The package imports the standard library, internal/format, and train/runlog for the log of the
// run. It is not safe for concurrent use.
//
//	page.go       Page, its facts and results
//	html.go       the elements of the page, with page.css and page.js
//	curves.go     the charts of a run; chart.go lays out one chart, thin.go reduces its points
//	samples.go    sample translations in the course of a run
//	attention.go  attention maps
//
// # Terms
//
//   - chart: one or more series over the steps of a run
//   - series: a named line of a chart
//   - tick: a labelled position on an axis
//   - mark: a step of special interest in a chart: a resume
//   - attention map: an image of attention weights; a row for each query, a column for each key
//   - sample: the translation of a validation sentence in the log
package report
