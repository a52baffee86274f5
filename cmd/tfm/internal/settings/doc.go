// Package settings is the settings of a training and of the model that it makes: as flags, as lines
// of files and recipes, and resolved from all of these. It reads no other files than those of
// settings, and prints nothing. It imports the packages whose options it sets (model, model/decode,
// train, text/score), the recipes, and cli.
//
//	run.go      Run: all settings of a training, declared as flags in groups
//	model.go    the flags of a model's configuration
//	resolve.go  Resolve: which origin decides: a preset, a recipe, a file, the command line, a model
//	            or a checkpoint
//	rules.go    what follows for a setting from another one
//	file.go     settings in files
//	search.go   the flags of a search, which are no settings of a training
//	errors.go   invalid fields by the names of their flags
package settings
