package main

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
)

// Each recipe is a file of settings: all those, but for files and threads, of a run that is known to reach a result. Its
// first line says which.
//
//go:embed recipes/*.conf
var recipeFiles embed.FS

const recipeSuffix = ".conf"

// recipeNames lists the recipes.
func recipeNames() (names []string) {
	files, err := recipeFiles.ReadDir("recipes")
	if err != nil {
		panic(err) // they are in the program
	}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), recipeSuffix))
	}
	slices.Sort(names)
	return names
}

// recipeLines returns the lines of a recipe, or none if there is none of that name, and what its errors call it.
func recipeLines(name string) (lines []string, file string) {
	file = path.Join("recipes", name+recipeSuffix)
	data, err := recipeFiles.ReadFile(file)
	if err != nil {
		return nil, file
	}
	return strings.Split(string(data), "\n"), file
}

// presetOrRecipeUsage says what -preset of tfm train and tfm info can be.
func presetOrRecipeUsage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`name` of the configuration to start from: %s;\nor of a recipe, which has every setting of a run:", strings.Join(model.PresetNames(), ", "))
	for _, name := range recipeNames() {
		lines, _ := recipeLines(name)
		fmt.Fprintf(&b, "\n  %-12s %s", name, strings.TrimSpace(strings.TrimPrefix(lines[0], "#")))
	}
	return b.String() + "\n"
}

// layers are where the settings of a run come from: each overrules those before it.
type layers struct{ recipe, file, typed map[string]bool }

// level is higher the more directly a flag was given, and 0 if it was not.
func (l layers) level(name string) int {
	switch {
	case l.typed[name]:
		return 3
	case l.file[name]:
		return 2
	case l.recipe[name]:
		return 1
	}
	return 0
}

// layer sets the flags to the recipe with the file of settings over it, and what was typed over both.
func (s *trainSettings) layer() error {
	typed := cli.Given(s.flags)
	s.typed = map[string]bool{}
	for name := range typed {
		s.typed[name] = true
	}
	var file, recipe []setting
	var err error
	if s.configFile != "" {
		if file, err = readSettings(s.configFile, s.flags); err != nil {
			return err
		}
	}
	if err := s.setLayers(file, typed); err != nil { // for the preset
		return err
	}
	if lines, name := recipeLines(s.preset); lines != nil {
		if recipe, err = parseSettings(name, lines, s.flags); err != nil {
			return err
		}
		if err := set(s.flags, recipe); err != nil {
			return err
		}
		if err := s.setLayers(file, typed); err != nil {
			return err
		}
	}
	s.layers.file, s.layers.recipe = namesIn(file), namesIn(recipe)
	return nil
}

func (s *trainSettings) setLayers(file []setting, typed map[string]string) error {
	if err := set(s.flags, file); err != nil {
		return err
	}
	return cli.SetAgain(s.flags, typed)
}

func namesIn(settings []setting) map[string]bool {
	m := map[string]bool{}
	for _, s := range settings {
		m[s.name] = true
	}
	return m
}
