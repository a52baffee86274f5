// Package settings holds the settings of a training and of its model: as flags, as lines of files
// and recipes, and resolved from all of these. It reads only settings files and prints nothing. It
// imports the packages whose options it sets (model, model/decode, train, text/score), the recipes,
// cli, train/corpus for the facts from which settings are chosen, and text/tokenizer/bpe for the
// least size of a vocabulary.
//
//	run.go       Run: all settings of a training, declared as flags in groups
//	model.go     the flags of a model's configuration
//	search.go    the flags of a search; its length penalty is also a setting of a training
//	file.go      settings files and recipes
//	check.go     wrong flags; invalid fields by the names of their flags
//	resolve.go   defaults from a preset, a model or a checkpoint; the rules; validation
//	rules.go     settings that depend on other settings
//	finetune.go  settings that depend on the model to fine-tune
//	rounds.go    those of a training in rounds
//	conflict.go  settings that must be those of a checkpoint or model
//	choose.go    settings that follow from the corpus and the time
//
// The command line sets fields of a Run. Load then reads the settings of a file and a recipe, Check
// validates flags, Resolve sets the other settings and validates all, and Choose sets those that
// depend on the corpus. Each leaves settings from a higher origin as they are; a rule may replace
// one that contradicts a setting from a still higher origin.
//
// A new flag of "train" is a field of Run, model.Config or train.Options and a line in run.go or
// model.go; help, completion, settings files and -resume use that line. In addition:
//
//   - Options.Validate or Config.Validate checks its value; flagNames lists a flag whose name
//     differs from that of its field in JSON.
//   - The traits of the flag follow its declaration: Setting (only -set and lines of files give
//     it), Action (it is no setting), With(free) (it may differ in a resumed run; fields of
//     train.Options have the tag resume:"free" instead), With(notInPlan) (a training in rounds has
//     none) and With(local) (no recipe has it).
package settings
