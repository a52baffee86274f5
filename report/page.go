package report

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"tfm/internal/format"
	"tfm/train/runlog"
)

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// known formats n, or a NaN as a dash.
func known(format string, n runlog.Number) string {
	if n.IsZero() {
		return "–"
	}
	return fmt.Sprintf(format, float64(n))
}

// Page is the content of a report.
type Page struct {
	Name      string // of the run
	Run       *runlog.Run
	Sentences []Sentence // for the attention maps
	Model     string     // file of the model that translated Sentences
	Note      string     // the reason if there are no Sentences
	Generator string     // the program and its version
}

// view is the data of the page.
type view struct {
	Page
	Data    data
	Facts   []fact
	Results []fact
	Charts  []*chart

	Settings  []fact
	Histories []history
	Maps      []sentenceMaps
}

// data is the data of page.js.
type data struct {
	Charts  []points `json:"charts"`  // in the order of the page
	Elapsed line     `json:"elapsed"` // seconds over steps
}

// fact is a named value.
type fact struct{ Name, Value, Note string }

// sentenceMaps are the attention maps of a sentence.
type sentenceMaps struct {
	Sentence
	Truncated  bool // the maps do not show all tokens
	Attentions []attention
}

// Write writes the page to w. It fails if a Sentence has fewer weights than tokens.
func (p Page) Write(w io.Writer) error {
	v := view{Page: p, Charts: curves(p.Run), Histories: histories(p.Run)}
	v.Facts, v.Results, v.Settings = facts(p.Run), results(p.Run), settings(p.Run)
	for _, s := range p.Sentences {
		maps, err := s.attentions()
		if err != nil {
			return err
		}
		v.Maps = append(v.Maps, sentenceMaps{s, max(len(s.Src), len(s.Out)) > MaxTokens, maps})
	}
	for _, c := range v.Charts {
		v.Data.Charts = append(v.Data.Charts, c.points())
	}
	v.Data.Elapsed = steps(p.Run, func(s runlog.Step) runlog.Number { return s.Elapsed }).sample(buckets)
	out := htmlWriter{w: w}
	out.page(&v)
	return out.err
}

// facts describes the model, the data, the machine and the course of a run.
func facts(r *runlog.Run) []fact {
	var facts []fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{Name: name, Value: value})
		}
	}
	if len(r.Starts) == 0 {
		return nil
	}
	first, last := r.Starts[0], r.Starts[len(r.Starts)-1]
	set := func(name string) string { return first.Settings[name] }
	var size []string
	if set("encoder-layers") != "" && set("decoder-layers") != "" {
		size = append(size, set("encoder-layers")+" + "+set("decoder-layers")+" layers")
	}
	for _, s := range [][2]string{{"d-model", "d_model %s"}, {"d-ff", "d_ff %s"}, {"heads", "%s heads"}, {"dropout", "dropout %s"}, {"preset", "preset %s"}} {
		if v := set(s[0]); v != "" {
			size = append(size, fmt.Sprintf(s[1], v))
		}
	}
	count := func(n int, unit string) string {
		if n == 0 {
			return ""
		}
		return format.Thousands(n) + " " + unit
	}
	join := func(separator string, items ...string) string {
		return strings.Join(slices.DeleteFunc(items, func(s string) bool { return s == "" }), separator)
	}
	add("Model", strings.Join(size, ", "))
	add("Size", join(", ", count(first.Parameters, "parameters"), count(first.Vocabulary, "pieces in the vocabulary")))
	add("Trained on", join(", ", count(first.TrainPairs, "pairs"), join(" and ", set("src"), set("tgt"), set("tsv"))))
	add("Validated on", join(", ", count(first.ValidPairs, "pairs"), join(" and ", set("valid-src"), set("valid-tgt"), set("valid-tsv"))))
	threads := count(last.Threads, "threads")
	if last.Threads == 1 {
		threads = "1 thread"
	}
	add("Kernels", join(", ", last.Kernels, threads))
	date := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format("2 January 2006, 15:04 MST")
	}
	add("Started", date(first.Time))
	if n := len(r.Starts) - 1; n > 0 {
		var at []string
		for _, s := range r.Starts[1:] {
			at = append(at, format.Thousands(s.Step))
		}
		steps := "step "
		if n > 1 {
			steps = "steps "
		}
		add("Resumed", "after "+steps+strings.Join(at, ", "))
	}
	if e := r.End; e != nil {
		add("Ended", join(": ", date(e.Time), e.Reason))
		add("Model file", e.Model)
	} else {
		add("Ended", "no: the run is in progress or was killed")
	}
	add("Version", last.Version)
	return facts
}

// results returns the main figures of a run.
func results(r *runlog.Run) []fact {
	var facts []fact
	add := func(name string, n runlog.Number, value, note string) {
		if !n.IsZero() {
			facts = append(facts, fact{name, value, note})
		}
	}
	at := func(step int) string { return "step " + format.Thousands(step) }
	if b := r.Best(); b != nil {
		add("Best validation BLEU", b.BLEU, known("%.2f", b.BLEU), at(b.Step))
		add("Validation perplexity", b.NLL, figure(math.Exp(float64(b.NLL))), at(b.Step))
	}
	if a := r.Averaged; a != nil {
		add("Averaged BLEU", a.BLEU, known("%.2f", a.BLEU), fmt.Sprintf("mean of the last %d checkpoints", a.Checkpoints))
	}
	epoch := ""
	if n := len(r.Steps); n > 0 {
		s := r.Steps[n-1]
		add("Training loss", s.Loss, figure(float64(s.Loss)), at(s.Step))
		epoch = fmt.Sprintf("in epoch %d", s.Epoch+1)
	}
	facts = append(facts, fact{"Steps", format.Thousands(r.LastStep()), epoch})
	add("Time", r.Elapsed(), duration(float64(r.Elapsed())), "")
	sum, n := 0.0, 0
	for _, s := range r.Steps {
		if !s.SrcPerSec.IsZero() && !s.TgtPerSec.IsZero() {
			sum, n = sum+float64(s.SrcPerSec)+float64(s.TgtPerSec), n+1
		}
	}
	if n > 0 {
		facts = append(facts, fact{"Tokens/s", figure(math.Round(sum / float64(n))), "mean, source + target"})
	}
	return facts
}

// settings returns the settings of the last start, sorted by name.
func settings(r *runlog.Run) []fact {
	if len(r.Starts) == 0 {
		return nil
	}
	last := r.Starts[len(r.Starts)-1]
	var facts []fact
	for _, name := range slices.Sorted(maps.Keys(last.Settings)) {
		facts = append(facts, fact{Name: name, Value: last.Settings[name]})
	}
	return facts
}
