// Package recipes holds the recipes of tfm train -preset: settings files with all settings of a run
// except files and threads. The first line of a recipe names the result of the run. The package
// imports the standard library alone.
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

// Names returns the names of the recipes, sorted.
func Names() (names []string) {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are embedded
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	slices.Sort(names)
	return names
}

// Lines returns the lines of a recipe, nil for an unknown name, and the name of its file.
func Lines(name string) (lines []string, file string) {
	data, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, name + suffix
	}
	return strings.Split(string(data), "\n"), path.Join("recipes", name+suffix)
}
