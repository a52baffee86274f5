package main

import (
	"context"
	"embed"
	"os"
	"slices"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/release"
	"tfm/mat"
)

func program() cli.Program {
	build := release.Current()
	return cli.Program{
		Name: "tfm", Version: build.Version, Date: build.Date,
		About: "tfm trains the Transformer of \"Attention Is All You Need\" on pairs of sentences\nand translates with it.",
		Commands: slices.Concat(
			group("Everyday use", []cli.Command{
				{Name: "train", NoArgs: true, Setup: trainCommand},
				{Name: "translate", Setup: translateCommand},
				{Name: "serve", Setup: serveCommand},
				{Name: "vocab", Setup: vocabCommand},
				{Name: "average", Setup: averageCommand},
				{Name: "distill", NoArgs: true, Setup: distillCommand},
				{Name: "quantize", Setup: quantizeCommand},
				{Name: "shortlist", NoArgs: true, Setup: shortlistCommand},
				{Name: "align-heads", Rare: true, NoArgs: true, Setup: alignHeadsCommand},
			}),
			group("Train in rounds, on many machines", []cli.Command{
				{Name: "plan", Setup: planCommand},
				{Name: "work", Rare: true, Setup: workCommand},
				{Name: "merge", Rare: true, Setup: mergeCommand},
			}),
			group("Models of other systems", []cli.Command{
				{Name: "import", Setup: importCommand},
				{Name: "export", Setup: exportCommand},
			}),
			group("Prepare a corpus", []cli.Command{
				{Name: "clean", NoArgs: true, Setup: cleanCommand},
				{Name: "detect", Setup: detectCommand},
				{Name: "hold-out", NoArgs: true, Setup: holdOutCommand},
			}),
			group("Measure", []cli.Command{
				{Name: "eval", NoArgs: true, Setup: evalCommand},
				{Name: "score", Setup: scoreCommand},
				{Name: "score-pairs", NoArgs: true, Setup: scorePairsCommand},
				{Name: "bench", NoArgs: true, Setup: benchCommand},
			}),
			group("Look inside", []cli.Command{
				{Name: "info", Setup: infoCommand},
				{Name: "report", NoArgs: true, Setup: reportCommand},
			}),
			group("Learn", []cli.Command{
				{Name: "demo", NoArgs: true, Setup: demoCommand},
				{Name: "lesson", Rare: true, NoArgs: true, Setup: lessonCommand},
				{Name: "mnist", NoArgs: true, Setup: mnistCommand},
			}),
			group("This program", []cli.Command{
				cli.HelpCommand(program),
				cli.CompletionCommand(program),
				{Name: "version", Rare: true, NoArgs: true, Setup: versionCommand},
			}),
		),
	}
}

// help holds the manual of each command.
//
//go:embed help
var help embed.FS

// group returns commands with their manuals and the heading for the list of commands.
func group(heading string, commands []cli.Command) []cli.Command {
	for i := range commands {
		commands[i].Group, commands[i].Manual = heading, cli.ReadManual(help, "help/"+commands[i].Name)
	}
	return commands
}

func main() {
	p := program()
	if err := mat.CheckKernel(); err != nil {
		os.Exit(p.ExitCode("", err))
	}
	os.Exit(p.Run(context.Background(), os.Args[1:]))
}
