package main

import (
	"context"
	"embed"
	"os"
	"slices"

	"tfm/cmd/tfm/internal/cli"
	"tfm/mat"
)

func program() cli.Program {
	return cli.Program{
		Name:  "tfm",
		About: "tfm trains the Transformer of \"Attention Is All You Need\" on pairs of sentences\nand translates with it.",
		Commands: slices.Concat(
			group("Everyday use", trainCommand(), translateCommand(), vocabCommand(), averageCommand(), quantizeCommand(), shortlistCommand(), alignHeadsCommand()),
			group("Models of other systems", importCommand(), exportCommand()),
			group("Prepare a corpus", cleanCommand(), holdOutCommand()),
			group("Measure", evalCommand(), scoreCommand(), scorePairsCommand(), benchCommand()),
			group("Look inside", infoCommand(), reportCommand(), demoCommand(), lessonCommand(), mnistCommand()),
			group("This program", cli.HelpCommand(program), cli.CompletionCommand(program), versionCommand()),
		),
	}
}

// help holds the manual of each command.
//
//go:embed help
var help embed.FS

// group returns commands with their manuals and the heading for the list of commands.
func group(heading string, commands ...cli.Command) []cli.Command {
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
