package translator

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/document"
	"tfm/text/markup"
)

// Documents are the flags of documents.
type Documents struct {
	File      string
	Format    string
	Bilingual bool
	Review    bool
}

// DocumentFlags declares the flags.
func DocumentFlags(f *cli.Flags) *Documents {
	o := new(Documents)
	f.Modes("file")
	f.StringVar(&o.File, "file", "", "`document` to translate, whose text alone changes. FILE after the flags is a further one, and -o their folder")
	f.StringVar(&o.Format, "format", "", "format of the documents (default by content and name): "+strings.Join(document.Formats(), ", "))
	f.BoolVar(&o.Bilingual, "bilingual", false, "with -file, write each text beside its translation: two columns separated by a tab, or XLIFF if the name of -o ends in .xlf")
	f.BoolVar(&o.Review, "review", false, "with -file, mark translations as not reviewed: fuzzy in po, needs-review-translation in XLIFF").Setting()
	return o
}

// Check reports a wrong format.
func (o *Documents) Check() error {
	return cli.UsageIf(o.Format != "" && !slices.Contains(document.Formats(), o.Format), "-format %s: expected one of %s", o.Format, strings.Join(document.Formats(), ", "))
}

// DocumentJob is the translation of documents.
type DocumentJob struct {
	*Documents
	Inputs []string
	Out    string // file, folder of several, or "" for standard output

	From, To  string // BCP 47 tags, or ""
	Translate document.Func
	Progress  string // value of the flag, or ""

	outputs  []string // of Inputs
	size     int64    // bytes of all texts
	progress *filter.Progress
}

// Check chooses the outputs. It reports those that cannot be written or would replace an input or
// each other. others are further inputs.
func (j *DocumentJob) Check(others ...string) error {
	info, err := os.Stat(j.Out)
	isFolder := err == nil && info.IsDir()
	switch {
	case len(j.Inputs) > 1 && !isFolder:
		return cli.Usagef("several documents need a folder that exists as -o, found %q", j.Out)
	case j.Out == "" || cli.IsDevice(j.Out):
		j.outputs = []string{j.Out}
		return nil
	}
	for _, in := range j.Inputs {
		out := j.Out
		if isFolder {
			out = filepath.Join(j.Out, filepath.Base(in))
		}
		if slices.Contains(j.outputs, out) {
			return cli.Usagef("two documents have the name %s", filepath.Base(in))
		}
		if err := cli.CheckOutput(out, slices.Concat(j.Inputs, others)...); err != nil {
			return err
		}
		j.outputs = append(j.outputs, out)
	}
	return nil
}

// Run reads all documents, so that one with a fault is reported before long work, and translates
// them. An output is written beside its place and renamed.
func (j *DocumentJob) Run() error {
	docs := make([]source, len(j.Inputs))
	for i, path := range j.Inputs {
		var err error
		if docs[i], err = open(path); err != nil {
			return err
		}
		defer docs[i].close()
		if err := j.translate(io.Discard, docs[i], j.count); err != nil {
			return err
		}
	}
	var to *os.File
	if j.Out == "" {
		to = os.Stdout
	}
	j.progress = filter.NewProgress("text", j.size, to, j.Progress)
	for i, out := range j.outputs {
		var err error
		switch {
		case out == "":
			err = j.translate(os.Stdout, docs[i], j.next)
		case cli.IsDevice(out):
			err = writeDevice(out, func(w io.Writer) error { return j.translate(w, docs[i], j.next) })
		default:
			err = safetensors.WriteAtomic(out, func(w io.Writer) error { return j.translate(w, docs[i], j.next) })
		}
		if err != nil {
			j.progress.Screen.Clear()
			return err
		}
	}
	j.progress.Screen.Clear()
	j.progress.End()
	return nil
}

// source is an open document.
type source struct {
	name  string
	in    io.ReaderAt
	size  int64
	close func() error
}

// open opens a document, or reads standard input.
func open(path string) (source, error) {
	if path == text.Stdin {
		raw, err := io.ReadAll(io.LimitReader(os.Stdin, document.MaxBytes+1))
		return source{text.InputName(path), bytes.NewReader(raw), int64(len(raw)), func() error { return nil }}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return source{}, err
	}
	return source{path, f, info.Size(), f.Close}, nil
}

func writeDevice(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return cmp.Or(write(f), f.Close())
}

// translate writes the translation of a document by f.
func (j *DocumentJob) translate(w io.Writer, s source, f document.Func) error {
	o := document.Options{Format: j.Format, From: j.From, To: j.To, Review: j.Review}
	if w == io.Discard { // the first pass
		o.Warn = func(s string) { fmt.Fprintf(os.Stderr, "tfm: %s\n", s) }
	}
	if j.Bilingual {
		o.Bilingual = "tsv"
		if e := strings.ToLower(filepath.Ext(j.Out)); e == ".xlf" || e == ".xliff" {
			o.Bilingual = "xliff"
		}
	}
	return document.Translate(w, s.name, s.in, s.size, o, f)
}

// count counts texts.
func (j *DocumentJob) count(texts []markup.Text) ([]markup.Text, error) {
	for _, t := range texts {
		j.size += int64(len(t.Plain)) + 1
	}
	return texts, nil
}

// next translates texts and shows the progress.
func (j *DocumentJob) next(texts []markup.Text) ([]markup.Text, error) {
	translations, err := j.Translate(texts)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		j.progress.Add(t.Plain)
	}
	j.progress.Update()
	return translations, nil
}
