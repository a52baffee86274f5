package cli

import (
	"fmt"
	"strings"
)

// manIndex returns the manual page of the program, in the language of man(7).
func (p Program) manIndex() string {
	_, about, _ := strings.Cut(strings.Join(strings.Fields(p.About), " "), " ")
	return p.man(p.Name, strings.TrimSuffix(about, "."), p.overview(true))
}

// manPage returns the manual page of a command: its help with all flags.
func (p Program) manPage(c Command) string {
	_, text, _ := strings.Cut(p.commandHelp(c, true), "\n\n") // without the name
	return p.man(p.Name+"-"+c.Name, c.Manual.Short, text)
}

// man returns a manual page whose text is printed as it is.
func (p Program) man(name, short, text string) string {
	version := strings.TrimSpace(p.Name + " " + p.Version)
	// mandoc reads only dates without escapes.
	return fmt.Sprintf(".TH \"%s\" 1 \"%s\" \"%s\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s\n.fi\n",
		roff(strings.ToUpper(name)), p.Date, roff(version), roff(name), roff(short), roff(strings.TrimSpace(text)))
}

// roffEscapes writes characters that roff would interpret, or replace by typographic ones.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, `"`, `\(dq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\n.", "\n\\&.")

// roff returns text as roff prints it unchanged.
func roff(text string) string {
	text = roffEscapes.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
