package corpus

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tfm/internal/yaml"
	"tfm/lang"
	"tfm/model"
	"tfm/text"
	"tfm/text/augment"
)

// ReadMix reads a mix from a configuration of OpusTrainer (version 1), in which a dataset may also
// be a mapping:
//
//	datasets:
//	  general: general.tsv.gz       # lines of source, tab, target, or a translation memory
//	  memory: {…}                   # on lines of its own:
//	    src: memory.en              # two files, or path: one
//	    tgt: memory.de
//	    tag: <tm>                   # precedes each source sentence
//	    hold-out: false             # all pairs are for training
//	    src-lang: en                # in a memory or a model of more than two languages
//	    tgt-lang: de
//	stages:
//	  - first
//	first:
//	  - general 0.8
//	  - memory 0.2
//	  - until memory 5              # passes; inf is endless
//	modifiers:
//	  - UpperCase: 0.05             # see package augment
//
// Names of files are relative to the folder of the configuration. Without stages the datasets have
// the shares of their numbers of pairs: one stage that the first source ends. Columns after the
// second, seed and trainer are not used, nor is the modifier Tags with probability 0; otherwise
// Tags must be noise (augment: 1, tag: 0), which is augment.Copy. Other names may have anchors, for
// aliases. Errors name file and line.
func ReadMix(path string) (*Mix, error) {
	var b strings.Builder
	for l, err := range text.Lines(path) {
		if err != nil {
			return nil, err
		}
		if b.WriteString(l + "\n"); b.Len() > text.MaxLine {
			return nil, fmt.Errorf("%s: longer than %d bytes, expected settings", path, text.MaxLine)
		}
	}
	root, err := yaml.Parse(path, b.String())
	if err != nil {
		return nil, err
	}
	m := mixFile{name: path, root: root}
	if err := m.read(); err != nil {
		return nil, err
	}
	return &m.mix, nil
}

// mixFile is the file of a mix.
type mixFile struct {
	name      string
	root      *yaml.Node
	mix       Mix
	modifiers int // that were read
}

func (m *mixFile) read() error {
	datasets, stages := m.root.Find("datasets"), m.root.Find("stages")
	known := []string{"version", "datasets", "stages", "modifiers", "seed", "num_fields", "trainer"}
	if v := m.root.Find("version"); v != nil && v.Scalar != "1" {
		return v.Errorf(m.name, "found version %q, expected 1", v.Scalar)
	}
	if datasets == nil || len(datasets.Entries) == 0 {
		return m.root.Errorf(m.name, "found no datasets, expected lines of names and files under datasets:")
	}
	for _, e := range datasets.Entries {
		if err := m.readSource(e); err != nil {
			return err
		}
	}
	modifiers, err := m.readModifiers(m.root.Find("modifiers"))
	if err != nil {
		return err
	}
	if stages == nil {
		m.mix.Stages = []Stage{{Passes: math.Inf(1), Modifiers: modifiers}}
		stages = &yaml.Node{}
	} else if len(stages.List) == 0 {
		return stages.Errorf(m.name, "found no list under stages, expected their names")
	}
	for _, name := range stages.List {
		node := m.root.Find(name.Scalar)
		if !name.IsScalar() || node == nil {
			return name.Errorf(m.name, "found no mix of the stage %q, expected it as a list under %[1]s:", name.Scalar)
		}
		known = append(known, name.Scalar)
		if err := m.readStage(name.Scalar, node, modifiers); err != nil {
			return err
		}
	}
	for i, s := range m.mix.Stages {
		if i < len(m.mix.Stages)-1 && math.IsInf(s.Passes, 1) {
			return m.root.Find(s.Name).Errorf(m.name, "the stage %s never ends, and %s comes after it: expected a number of passes", s.Name, m.mix.Stages[i+1].Name)
		}
	}
	for _, e := range m.root.Entries {
		if !slices.Contains(known, e.Key) && !e.Value.Anchored && !m.isStage(e.Value) {
			return e.Value.Errorf(m.name, "found %s, expected datasets, stages, their mixes, or modifiers", e.Key)
		}
	}
	return nil
}

// isStage reports whether a node looks like the mix of a stage that is not used.
func (m *mixFile) isStage(n *yaml.Node) bool {
	if mix := n.Find("mix"); mix != nil {
		n = mix
	}
	return slices.ContainsFunc(n.List, func(l *yaml.Node) bool { return strings.HasPrefix(l.Scalar, "until ") })
}

// readSource adds a dataset.
func (m *mixFile) readSource(e yaml.Entry) error {
	s := Dataset{Name: e.Key, Files: text.Files{ExtraColumns: true, OneSided: new(int)}}
	if e.Value.IsScalar() {
		s.Files.Source = e.Value.Scalar
	}
	holdOut := "true"
	for _, of := range e.Value.Entries {
		fields := map[string]*string{"path": &s.Files.Source, "src": &s.Files.Source, "tgt": &s.Files.Target, "tag": &s.Tag, "src-lang": &s.SrcLang, "tgt-lang": &s.TgtLang, "hold-out": &holdOut}
		field, ok := fields[of.Key]
		switch {
		case !ok || !of.Value.IsScalar():
			return of.Value.Errorf(m.name, "found %s of the dataset %s, expected path, or src and tgt, and tag, hold-out, src-lang and tgt-lang", of.Key, s.Name)
		case of.Key == "src" && e.Value.Find("tgt") == nil, of.Key == "tgt" && e.Value.Find("src") == nil:
			return of.Value.Errorf(m.name, "found only %s of the dataset %s, expected src and tgt", of.Key, s.Name)
		case of.Key == "path" && e.Value.Find("src") != nil:
			return of.Value.Errorf(m.name, "found both path and src of the dataset %s", s.Name)
		}
		*field = of.Value.Scalar
	}
	if s.TrainOnly = holdOut == "false"; !s.TrainOnly && holdOut != "true" {
		return e.Value.Errorf(m.name, "found hold-out %q of the dataset %s, expected true or false", holdOut, s.Name)
	}
	if s.Files.Source == "" || strings.ContainsAny(s.Name, " \t") {
		return e.Value.Errorf(m.name, "found the dataset %q without a file, expected NAME: FILE", e.Key)
	}
	var err error
	if s.SrcLang, s.TgtLang, err = model.NamedLanguages(s.SrcLang, s.TgtLang); err != nil {
		return e.Value.Errorf(m.name, "%s", strings.Replace(err.Error(), "_lang", "-lang", 1))
	}
	if code, _, ok := lang.CutCode(s.Tag); ok && lang.Differ(code, s.TgtLang) {
		return e.Value.Errorf(m.name, "found tag %s and tgt-lang %s of the dataset %s, expected one language", s.Tag, s.TgtLang, s.Name)
	}
	s.Files.SrcLang, s.Files.TgtLang = s.SrcLang, s.TgtLang
	for _, path := range []*string{&s.Files.Source, &s.Files.Target} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(filepath.Dir(m.name), *path)
		}
	}
	m.mix.Datasets = append(m.mix.Datasets, s)
	return nil
}

// source returns the index of the dataset of a name, or -1.
func (m *mixFile) source(name string) int {
	return slices.IndexFunc(m.mix.Datasets, func(s Dataset) bool { return s.Name == name })
}

// readStage adds a stage, a list of shares, or a mapping with such a list, mix, and modifiers of
// its own.
func (m *mixFile) readStage(name string, n *yaml.Node, modifiers []augment.Modifier) (err error) {
	stage := Stage{Name: name, Shares: make([]float64, len(m.mix.Datasets)), Until: -1, Modifiers: modifiers}
	lines := n
	if n.Entries != nil {
		for _, e := range n.Entries {
			if e.Key != "mix" && e.Key != "modifiers" {
				return e.Value.Errorf(m.name, "found %s in the stage %s, expected mix and modifiers", e.Key, name)
			}
		}
		if lines = n.Find("mix"); lines == nil {
			return n.Errorf(m.name, "found no mix in the stage %s", name)
		}
		if own := n.Find("modifiers"); own != nil {
			if stage.Modifiers, err = m.readModifiers(own); err != nil {
				return err
			}
		}
	}
	for _, l := range lines.List {
		if !l.IsScalar() {
			return l.Errorf(m.name, "found a list or a mapping, expected a dataset and its share, such as: general 0.8")
		}
		words := strings.Fields(l.Scalar)
		until := len(words) == 3 && words[0] == "until"
		if until {
			words = words[1:]
		}
		if len(words) != 2 {
			return l.Errorf(m.name, "found %q, expected a dataset and its share, or: until DATASET PASSES", l.Scalar)
		}
		source := m.source(words[0])
		number, err := strconv.ParseFloat(words[1], 64)
		switch {
		case source < 0:
			return l.Errorf(m.name, "found the dataset %q, expected one of those under datasets", words[0])
		case until && (err != nil || !(number > 0)):
			return l.Errorf(m.name, "found %q, expected a number of passes above 0, or inf", words[1])
		case !until && (err != nil || number != 0 && !(number >= 1e-6 && number <= 1e6)):
			return l.Errorf(m.name, "found the share %q, expected 0 or a number from 1e-6 to 1e6", words[1])
		case until && stage.Until >= 0, !until && stage.Shares[source] > 0:
			return l.Errorf(m.name, "found %q a second time in the stage %s", l.Scalar, name)
		case until:
			stage.Until, stage.Passes = source, number
		default:
			stage.Shares[source] = number
		}
	}
	if stage.Until < 0 || stage.Shares[stage.Until] == 0 {
		return lines.Errorf(m.name, "the stage %s has no end, expected as its last line: until DATASET PASSES, of a dataset with a share", name)
	}
	m.mix.Stages = append(m.mix.Stages, stage)
	return nil
}

// maxModifiers bounds lists that aliases repeat.
const maxModifiers = 1000

// readModifiers reads a list of modifiers and of such lists.
func (m *mixFile) readModifiers(n *yaml.Node) (list []augment.Modifier, err error) {
	if n == nil {
		return nil, nil
	}
	if n.Entries != nil || n.Scalar != "" {
		return nil, n.Errorf(m.name, "found modifiers that are no list, expected lines such as: - UpperCase: 0.05")
	}
	for _, item := range n.List {
		if m.modifiers++; m.modifiers > maxModifiers {
			return nil, item.Errorf(m.name, "found more than %d modifiers", maxModifiers)
		}
		if item.List != nil {
			inner, err := m.readModifiers(item)
			if err != nil {
				return nil, err
			}
			list = append(list, inner...)
			continue
		}
		if len(item.Entries) == 0 {
			return nil, item.Errorf(m.name, "found the modifier %q, expected a colon and a probability after it", item.Scalar)
		}
		first, settings := item.Entries[0], map[string]string{}
		if !first.Value.IsScalar() || first.Value.Scalar == "" {
			return nil, item.Errorf(m.name, "found %s without a probability, expected one after its colon", first.Key)
		}
		for _, e := range item.Entries[1:] {
			settings[e.Key] = e.Value.Scalar
		}
		probability, err := strconv.ParseFloat(first.Value.Scalar, 64)
		if err != nil {
			return nil, item.Errorf(m.name, "found the probability %q of %s, expected a number from 0 to 1", first.Value.Scalar, first.Key)
		}
		name := first.Key
		if name == "Tags" {
			if probability == 0 {
				continue
			}
			is := func(setting string, want float64) bool {
				x, err := strconv.ParseFloat(cmp.Or(settings[setting], "0"), 64)
				return err == nil && x == want
			}
			if !is("augment", 1) || !is("tag", 0) {
				return nil, item.Errorf(m.name, "found Tags for terminology, expected noise to copy, augment: 1: a glossary ('tfm translate -glossary') needs no training")
			}
			name, settings = "Copy", nil
		}
		modifier, err := augment.New(name, probability, settings)
		if err != nil {
			return nil, item.Errorf(m.name, "%w", err)
		}
		list = append(list, modifier)
	}
	return list, nil
}
