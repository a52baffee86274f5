// Command tfm trains the Transformer of "Attention Is All You Need" to translate, and translates
// with it.
//
// main.go holds the table of subcommands. Every subcommand has one file (train.go, translate.go,
// …) with a struct whose fields are the flags, a function that declares them with their traits, and
// the method run, which is the command. Its help is in the folder help. The packages in internal
// know no command:
//
//	cli         the command line: subcommands, flags, help, completion, exit codes, signals
//	settings    the settings of a training: flags, files, recipes, and their precedence
//	training    a training, from its corpora to the model file; its output, log and event files
//	tokenizers  tokenizers read from files and trained on files
//	distill     the stages of a student's training
//	translator  models and documents opened for translating; the lines to translate
//	filter      lines with answers: plain text, columns or JSON objects; their progress
//	shard       a shard of the lines, written whole with a record
//	scoring     BLEU and chrF of files: flags, reading, printing
//	terminal    what is printed: progress, columns, objects, attention as shades
//	grammar     the corpus of the demo
//	lesson      the three sentences of the lesson
//	release     the version of the program
//
// Recipes, which are files of settings, are in recipes.
//
// Results go to standard output, progress and warnings to standard error. The exit code is 0, or 1
// after an error, 2 after a wrong command line, 75 after a failure that another attempt may not
// have, 128 + the signal's number after an interrupted training.
//
// # Terms
//
//   - flag: -name on the command line
//   - setting: a named value of a run: a flag, or -set name=value, or a line of a settings file
//   - action: a flag that is no setting, such as -resume
//   - trait: a property of a flag, stated where it is declared: setting, action, free to differ
//     in a resumed run, not in plans, the modes in which it applies
//   - mode: a way in which translate works: lines, lines to a file, a stream, or documents
//   - preset: a size of model with its settings; recipe: a file of settings for one corpus
//   - origin: where the value of a setting comes from: command line, file, recipe or default
//   - rule: derives a setting from other settings; choice: a setting derived from the corpus
//   - budget: the time of a run, and the size of model that suits it
//   - plan: the folder of a training in rounds, which 'tfm plan' writes
//   - round: what the workers of a plan do before their weights are averaged
//   - worker: one of the trainings of a round
//   - shard: one of N ranges of the bytes of a file
//   - stage: a part of 'tfm distill' that is done once, or of a mix of corpora
//   - line: what is translated at a time; segment: a text of a document
package main
