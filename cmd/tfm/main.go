package main

import (
	"context"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/mat"
)

func program() cli.Program {
	return cli.Program{
		Name:  "tfm",
		About: "tfm trains the Transformer of \"Attention Is All You Need\" to translate, and translates with it.",
		Commands: []cli.Command{demoCommand(), lessonCommand(), trainCommand(), averageCommand(), translateCommand(), evalCommand(), scoreCommand(), reportCommand(),
			infoCommand(), vocabCommand(), mnistCommand(), benchCommand(), cli.HelpCommand(program), versionCommand()},
	}
}

func main() {
	p := program()
	if err := mat.CheckKernel(); err != nil {
		os.Exit(p.ExitCode("", err))
	}
	os.Exit(p.Run(context.Background(), os.Args[1:]))
}
