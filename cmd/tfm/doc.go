// Command tfm trains the Transformer of "Attention Is All You Need" to translate, and translates with it.
//
// The map: main.go holds the table of subcommands; every subcommand is one file (train.go, translate.go, ...). What
// several of them share stands beside them under the name of what it is: training.go takes a training from its corpora
// to the model file, resume.go takes it up again, finetune.go begins with a
// trained model, settings.go holds flags that commands share, recipes.go and config_file.go read them from files,
// translator.go is a model with its tokenizers (tokenizers.go), lines.go reads lines as they arrive, runlog.go and board.go
// write a training's log and its events for TensorBoard, through appendfile.go, bench_text.go writes tables of what was
// measured. The machinery of the command line, the terminal, the demo's grammar and the lesson are packages of internal.
//
// Results go to standard output, progress and warnings to standard error. The exit code is 0, or 1 after an
// error, 2 after a wrong command line, 128 + the signal's number after an interrupted training.
package main
