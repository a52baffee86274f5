// Command tfm trains the Transformer of "Attention Is All You Need" to translate, and translates
// with it.
//
// main.go holds the table of subcommands. Every subcommand has one file (train.go, translate.go,
// …) with a struct whose fields are the flags, a function that declares them, and the method run,
// which is the command. Its help is in the folder help. The packages in internal know no command:
//
//	cli         the command line: subcommands, help, completion, exit codes, signals
//	settings    the settings of a training: flags, files, recipes, and their precedence
//	training    a training, from its corpora to the model file, and its output
//	translator  models opened for translating, and the lines to translate
//	filter      lines with answers: plain text, columns or JSON objects; their progress
//	scoring     BLEU and chrF of files: flags, reading, printing
//	ordered     JSON objects whose fields have an order
//	record      the log and the event files of a training
//	release     the version of the program
//	tokenizers  tokenizers read from files and trained on files
//	terminal    the progress line, the width of the screen
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
