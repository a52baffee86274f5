// Package recipes holds the recipes of `tfm train -preset`: files of settings, each with all those
// of a run that is known to reach a result, except files and threads. The first line of a recipe
// says which result. It imports the standard library alone.
package recipes

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed *.conf
var files embed.FS

const suffix = ".conf"

// Names lists the recipes.
func Names() (names []string) {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // they are in the program
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	slices.Sort(names)
	return names
}

// Lines returns the lines of a recipe, nil if there is none of that name, and the name of its file,
// for errors.
func Lines(name string) (lines []string, file string) {
	data, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, name + suffix
	}
	return strings.Split(string(data), "\n"), path.Join("recipes", name+suffix)
}
