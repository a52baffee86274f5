// Package settings holds the settings of a training and of its model: as flags, as lines of files
// and recipes, and resolved from all of these. It reads only settings files and prints nothing. It
// imports the packages whose options it sets (model, model/decode, train, text/score), the recipes,
// cli, and train/corpus for the facts from which settings are chosen.
//
//	run.go      Run: all settings of a training, declared as flags in groups
//	model.go    the flags of a model's configuration
//	search.go   the flags of a search; its length penalty is also a setting of a training
//	resolve.go  Resolve: settings from presets, recipes, files, flags, models and checkpoints
//	choose.go   settings that follow from the corpus and the time
//	rules.go    settings that depend on other settings
//	file.go     settings files
//	errors.go   invalid fields by the names of their flags
package settings
