// Command tfm trains the Transformer of "Attention Is All You Need" to translate, and translates with it.
//
// The map: command.go holds the table of subcommands and the way a command line takes through it; every
// subcommand is one file (train.go, translate.go, ...). What several of them share stands beside them under
// the name of what it is: training.go takes a training from its corpora to the model file, resume.go takes it
// up again, finetune.go begins with a trained model, recipes.go and config_file.go read settings from files,
// translator.go is a model with its tokenizers, lines.go reads lines as they arrive, progress.go writes the line
// that shows how far training is, terminal.go knows whether somebody is watching, interrupt.go turns Ctrl-C into
// the end of a context, attention_map.go draws what looks at what.
//
// Results go to standard output, progress and warnings to standard error. The exit code is 0, or 1 after an
// error, 2 after a wrong command line, 128 + the signal's number after an interrupted training.
package main
