package cli

import (
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
)

// fill wraps text to width columns.
func fill(text string, width int) []string { return terminal.Wrap(strings.Fields(text), width) }

// join joins units with spaces into lines of at most width columns, and of at most width-indent
// after the first line.
func join(units []string, width, indent int) (lines []string) {
	for _, u := range units {
		if n := len(lines); n > 0 && terminal.Columns(lines[n-1])+1+terminal.Columns(u) <= width {
			lines[n-1] += " " + u
			continue
		}
		if len(lines) == 1 {
			width -= indent
		}
		lines = append(lines, u)
	}
	return lines
}

// paragraphs wraps text, whose paragraphs are separated by blank lines, to width columns. A
// paragraph of lines that begin with a space is a table: a row there is continued below its last
// column, which follows two spaces. Lines that are indented more than the first continue a row.
func paragraphs(text string, width int) string {
	var out []string
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if !strings.HasPrefix(p, " ") {
			out = append(out, strings.Join(fill(p, width), "\n"))
			continue
		}
		indent := len(p) - len(strings.TrimLeft(p, " "))
		var rows []string
		for _, line := range strings.Split(p, "\n") {
			if text := strings.TrimLeft(line, " "); len(line)-len(text) > indent && len(rows) > 0 {
				rows[len(rows)-1] += " " + text
				continue
			}
			rows = append(rows, line)
		}
		for i := range rows {
			rows[i] = hang(rows[i], width)
		}
		out = append(out, strings.Join(rows, "\n"))
	}
	return strings.Join(out, "\n\n")
}

// hang wraps a row of a table to width columns and indents the continuation to its last column, or
// by two if less than minText columns remain.
func hang(row string, width int) string {
	text := strings.TrimLeft(row, " ")
	start := len(row) - len(text)
	indent := start
	if i := strings.LastIndex(text, "  "); i >= 0 {
		start, text = start+i+2, text[i+2:]
		indent = start
	}
	if words := strings.Fields(text); width-indent < minText && len(words) > 0 {
		words[0] = row[:start] + words[0]
		return strings.Join(join(words, width, 2), "\n  ")
	}
	return row[:start] + strings.Join(fill(text, width-indent), "\n"+strings.Repeat(" ", indent))
}

// minText is the least number of columns for a text beside another column.
const minText = 20

// commandLine wraps a command line to width columns. Lines before the last end in a backslash, so
// that a shell reads one line. The others are indented by two; none begins with the value of a flag
// or the file of a redirection.
func commandLine(line string, width int) []string {
	if terminal.Columns(line) <= width {
		return []string{line}
	}
	var units []string
	for _, word := range shellWords(line) {
		if n := len(units); n > 0 && (valueOf(units[n-1], word) || slices.Contains([]string{"<", ">", "|"}, units[n-1])) {
			units[n-1] += " " + word
			continue
		}
		units = append(units, word)
	}
	lines := join(units, width-len(` \`), 2)
	for i := range lines {
		if i > 0 {
			lines[i] = "  " + lines[i]
		}
		if i < len(lines)-1 {
			lines[i] += ` \`
		}
	}
	return lines
}

// valueOf reports whether word can be the value of the flag before it.
func valueOf(flag, word string) bool {
	return strings.HasPrefix(strings.TrimLeft(flag, "["), "-") && !strings.Contains(flag, " ") && !strings.HasSuffix(flag, "]") &&
		!strings.HasPrefix(strings.TrimLeft(word, "["), "-") && !strings.ContainsAny(word[:1], "<>|")
}

// shellWords splits a command line at spaces outside quotes and brackets.
func shellWords(line string) (words []string) {
	var quote rune
	depth, start := 0, -1
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '[':
			depth++
		case r == ']':
			depth--
		}
		if r == ' ' && quote == 0 && depth == 0 {
			if start >= 0 {
				words = append(words, line[start:i])
			}
			start = -1
		} else if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		words = append(words, line[start:])
	}
	return words
}
