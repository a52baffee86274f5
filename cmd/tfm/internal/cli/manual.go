package cli

import (
	"fmt"
	"io/fs"
	"strings"
)

// Manual is the text of a command's help, without its flags.
type Manual struct {
	Short    string   // what the command does, in one line
	Usage    []string // command lines after the program's and the command's name
	Examples []string // command lines
	Notes    string   // further paragraphs
	Details  string   // paragraphs of the help that shows all flags
}

// ReadManual reads the manual of a command from the file NAME.txt of a folder: the line of Short,
// and after it sections that begin with the lines # Usage, # Examples, # Notes and # Details. A
// backslash at the end of a line continues a command line. It panics if there is no such file,
// because the files are part of the program.
func ReadManual(folder fs.FS, name string) Manual {
	text, err := fs.ReadFile(folder, name+".txt")
	if err != nil {
		panic(err)
	}
	sections := strings.Split(strings.TrimSpace(string(text)), "\n\n# ")
	m := Manual{Short: sections[0]}
	for _, section := range sections[1:] {
		title, body, _ := strings.Cut(section, "\n\n")
		switch title {
		case "Usage":
			m.Usage = commandLines(body)
		case "Examples":
			m.Examples = commandLines(body)
		case "Notes":
			m.Notes = body
		case "Details":
			m.Details = body
		default:
			panic(fmt.Sprintf("%s.txt: found the section %q, expected Usage, Examples, Notes or Details", name, title))
		}
	}
	return m
}

// commandLines returns the command lines of a section.
func commandLines(section string) []string {
	return strings.Split(strings.ReplaceAll(section, " \\\n  ", " "), "\n")
}
