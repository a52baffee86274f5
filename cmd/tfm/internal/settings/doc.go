// Package settings holds the settings of a training and of its model: as flags, as lines of files
// and recipes, and resolved from all of these. It reads only settings files and prints nothing. It
// imports the packages whose options it sets (model, model/decode, train, text/score), the recipes,
// cli, train/corpus for the facts from which settings are chosen, and text/bpe for the least size
// of a vocabulary.
//
//	run.go       Run: all settings of a training, declared as flags in groups
//	model.go     the flags of a model's configuration
//	search.go    the flags of a search; its length penalty is also a setting of a training
//	file.go      settings files and recipes
//	check.go     wrong flags; invalid fields by the names of their flags
//	resolve.go   defaults from a preset, a model or a checkpoint; the rules; validation
//	rules.go     settings that depend on other settings
//	finetune.go  settings that depend on the model to fine-tune
//	conflict.go  settings that must be those of a checkpoint or model
//	choose.go    settings that follow from the corpus and the time
//
// The command line sets fields of a Run. Load then reads the settings of a file and a recipe, Check
// validates flags, Resolve sets the other settings and validates all, and Choose sets those that
// depend on the corpus. Each leaves settings from a higher origin as they are; a rule may replace
// one that contradicts a setting from a still higher origin.
package settings
