package settings

import (
	"reflect"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/train"
)

// compared reports whether a setting of a resumed run must be the checkpoint's.
func compared(f *cli.Flag) bool {
	tagged := func(field reflect.StructField) bool {
		return field.Tag.Get("resume") == "free" && flagOf(field.Tag.Get("json")) == f.Name
	}
	fields := reflect.VisibleFields(reflect.TypeFor[train.Options]())
	return !f.IsAction() && !f.Has(free) && !slices.ContainsFunc(fields, tagged)
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
	return conflict(with, f.Label(), f.Value.String(), was[f.Name], path)
}

func conflict(with, label, found, expected, path string) error {
	return cli.Usagef("%s %s conflicts with the %s: %[1]s %[4]s in %s", label, found, with, expected, path)
}
