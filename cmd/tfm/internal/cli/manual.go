package cli

import (
	"io/fs"
	"strings"
)

// Manual is the text of a command's help, without its flags.
type Manual struct {
	Short   string // what the command does, in one line
	Usage   string // its command lines, and examples
	Notes   string // further paragraphs
	Details string // paragraphs of the help that shows all flags
}

// ReadManual reads the manual of a command from the file NAME.txt of a folder: the line of Short,
// Usage, and the sections Notes and Details, each after a line "# Notes" or "# Details". The text
// is printed as it is, so its lines have at most 80 columns. It panics if there is no such file,
// because the files are part of the program.
func ReadManual(folder fs.FS, name string) Manual {
	text, err := fs.ReadFile(folder, name+".txt")
	if err != nil {
		panic(err)
	}
	short, body, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\n")
	body, details, _ := strings.Cut(body, "\n\n# Details\n\n")
	usage, notes, _ := strings.Cut(body, "\n\n# Notes\n\n")
	return Manual{short, usage, notes, details}
}
