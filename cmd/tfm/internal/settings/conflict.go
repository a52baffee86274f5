package settings

import (
	"reflect"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/train"
)

// notCompared are the settings of a resumed run that may differ from the checkpoint's, in addition
// to the fields of train.Options with the tag resume:"free".
var notCompared = []string{
	// A checkpoint does not hold files, sources of settings, and the machine.
	"src", "tgt", "tsv", "mix", "valid-src", "valid-tgt", "valid-tsv", "o", "resume", "force", "preset", "config", "dump-config",
	"vocab", "vocab-size", "trim", "tensorboard", "threads",
	// The weights do not depend on these, except for models with tokens of languages.
	"src-lang", "tgt-lang", "length-penalty", "alpha",
}

// compared reports whether a setting of a resumed run must be the checkpoint's.
func compared(f *cli.Flag) bool {
	free := func(field reflect.StructField) bool {
		return field.Tag.Get("resume") == "free" && flagOf(field.Tag.Get("json")) == f.Name
	}
	fields := reflect.VisibleFields(reflect.TypeFor[train.Options]())
	return !slices.Contains(notCompared, f.Name) && !slices.ContainsFunc(fields, free)
}

// checkSame reports the first of the settings selected by which that differs from its value in was,
// the settings of what with names, in the file path. Given settings are reported before others.
func (r *Run) checkSame(with, path string, was map[string]string, which func(*cli.Flag) bool) error {
	var different []*cli.Flag
	for _, f := range r.flags.All() {
		if which(f) && f.Value.String() != was[f.Name] {
			different = append(different, f)
		}
	}
	if different == nil {
		return nil
	}
	slices.SortFunc(different, func(a, b *cli.Flag) int { return strings.Compare(a.Name, b.Name) })
	first := max(0, slices.IndexFunc(different, func(f *cli.Flag) bool { return r.Origin(f.Name) != Default }))
	f := different[first]
	return conflict(with, f.Name, f.Value.String(), was[f.Name], path)
}

func conflict(with, name, found, expected, path string) error {
	return cli.Usagef("%s %s conflicts with the %s: %[1]s %[4]s in %s", label(name), found, with, expected, path)
}
