package cli

import (
	"fmt"
	"slices"
	"strings"
)

// manIndex returns the manual page of the program, in the language of man(7).
func (p Program) manIndex() string {
	about := strings.TrimSuffix(strings.Join(strings.Fields(p.About)[1:], " "), ".")
	m := p.manStart(p.Name, about)
	m.section("SYNOPSIS")
	fmt.Fprintf(m, ".B %s\n.I command\n[\\fIflag\\fR ...] [\\fIargument\\fR ...]\n", p.Name)
	m.section("COMMANDS")
	for i, c := range p.Commands {
		if i == 0 || c.Group != p.Commands[i-1].Group {
			m.macro("SS", c.Group)
		}
		fmt.Fprintf(m, ".TP\n.BR %s (1)\n%s\n", roff(p.Name+"-"+c.Name), roff(c.Manual.Short))
	}
	m.section("EXIT STATUS")
	for _, s := range [][2]string{{"0", "success"}, {"1", "an error, printed as one line"}, {"2", "a wrong command line"}, {"128 + n", "the end by signal n"}} {
		fmt.Fprintf(m, ".TP\n.B %s\n%s\n", roff(s[0]), roff(s[1]))
	}
	return m.String()
}

// manPage returns the manual page of a command: what its help shows with all flags.
func (p Program) manPage(c Command) string {
	m := p.manStart(p.Name+"-"+c.Name, c.Manual.Short)
	usage, examples, _ := strings.Cut(strings.TrimPrefix(c.Manual.Usage, "Usage:\n"), "\n\n")
	m.section("SYNOPSIS")
	m.literal(strings.Split(usage, "\n"))
	if c.Manual.Notes+c.Manual.Details != "" {
		m.section("DESCRIPTION")
		m.paragraphs(strings.TrimSpace(c.Manual.Notes + "\n\n" + c.Manual.Details))
	}
	f, _ := c.Declare()
	if len(f.list) > 0 {
		m.section("OPTIONS")
	}
	f.Groups(func(title string, flags []*Flag) {
		m.options(title, slices.DeleteFunc(flags, (*Flag).IsSetting))
	})
	m.options(settingsTitle, f.settings())
	if _, lines, ok := strings.Cut(examples, "\n"); ok { // after the heading
		m.section("EXAMPLES")
		m.literal(strings.Split(lines, "\n"))
	}
	m.section("SEE ALSO")
	fmt.Fprintf(m, ".BR %s (1)\n", p.Name)
	return m.String()
}

// manWriter writes a manual page.
type manWriter struct{ strings.Builder }

// manStart returns a page with its title and the section NAME.
func (p Program) manStart(name, short string) *manWriter {
	m := new(manWriter)
	version := strings.TrimSpace(p.Name + " " + p.Version)
	// mandoc reads only dates without escapes.
	fmt.Fprintf(m, ".TH \"%s\" 1 \"%s\" \"%s\"\n", roff(strings.ToUpper(name)), p.Date, roff(version))
	m.section("NAME")
	fmt.Fprintf(m, "%s \\- %s\n", roff(name), roff(short))
	return m
}

// macro writes a line that calls a macro.
func (m *manWriter) macro(name string, args ...string) {
	fmt.Fprintf(m, ".%s", name)
	for _, a := range args {
		fmt.Fprintf(m, " \"%s\"", roff(a))
	}
	m.WriteString("\n")
}

func (m *manWriter) section(title string) { m.macro("SH", title) }

// literal writes lines as they are, without the indentation that all have in the help.
func (m *manWriter) literal(lines []string) {
	m.WriteString(".nf\n")
	for _, l := range lines {
		m.WriteString(roff(strings.TrimPrefix(l, "  ")) + "\n")
	}
	m.WriteString(".fi\n")
}

// paragraphs writes a text whose paragraphs are separated by blank lines. One with an indented line
// is a table.
func (m *manWriter) paragraphs(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			m.WriteString(".PP\n")
		}
		if lines := strings.Split(paragraph, "\n"); strings.Contains("\n"+paragraph, "\n ") {
			m.literal(lines)
		} else {
			m.WriteString(roff(paragraph) + "\n")
		}
	}
}

// options writes flags under their heading.
func (m *manWriter) options(title string, flags []*Flag) {
	if len(flags) > 0 && title != firstGroup {
		m.macro("SS", title)
	}
	for _, g := range flags {
		m.option(g)
	}
}

// option writes a flag. The lines of a usage after the first are a table.
func (m *manWriter) option(g *Flag) {
	kind, usage := g.usage()
	fmt.Fprintf(m, ".TP\n\\fB%s\\fR", roff(g.Label()))
	if kind != "" {
		fmt.Fprintf(m, " \\fI%s\\fR", roff(kind))
	}
	first, table, ok := strings.Cut(usage, "\n")
	fmt.Fprintf(m, "\n%s\n", roff(first))
	if ok {
		m.literal(strings.Split(table, "\n"))
	}
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
