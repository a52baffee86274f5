// Command tfm trains the Transformer of "Attention Is All You Need" to translate, and translates
// with it.
//
// The map: main.go holds the table of subcommands, and every subcommand is one file (train.go,
// translate.go, ...): its flags, its help, and what it prints. What they share are packages of
// internal that know no command:
//
//	cli         the command line: subcommands, help, exit codes, signals
//	settings    a training's settings: flags, files, recipes, and which of them decides
//	training    a training from its corpora to the model file, shown as it goes
//	scoring     BLEU and chrF of files: flags, reading, printing
//	record      the log and the event files of a training
//	tokenizers  the tokenizers of files
//	terminal    the line of progress, the width of the screen
//	heatmap     attention drawn as shades
//	grammar     the corpus of the demo
//	lesson      the three sentences of the lesson
//
// Recipes, which are files of settings, are in recipes.
//
// Results go to standard output, progress and warnings to standard error. The exit code is 0, or 1
// after an error, 2 after a wrong command line, 128 + the signal's number after an interrupted
// training.
package main
