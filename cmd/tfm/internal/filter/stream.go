package filter

import (
	"bufio"
	"context"
	"io"
	"iter"

	"tfm/text"
	"tfm/translate"
)

// Stream translates one line at a time and writes each translation while it is made. It calls
// prompt before it reads a line.
func Stream(ctx context.Context, out io.Writer, t *translate.Translator, lines iter.Seq2[text.Line, error], o translate.LineOptions, prompt func()) error {
	w := bufio.NewWriter(out)
	var failed error // to write
	write := func(s string) {
		w.WriteString(s)
		failed = w.Flush() // its error is also that of WriteString
	}
	o.Certain = func(_ int, part string) { write(part) }
	prompt()
	n, without := 0, 0 // lines, and those without answer
	for l, err := range lines {
		if err != nil {
			return err
		}
		o.Texts = []string{l.Text}
		if o.Text != nil {
			o.Texts[0] = o.Text(l)
		}
		results, err := t.Do(ctx, o.Request)
		if err != nil {
			return err
		}
		if write("\n"); failed != nil {
			return failed
		}
		for _, warning := range l.Warnings {
			o.Warn(warning)
		}
		if warning, ok := results[0].LineWarning(l); ok {
			o.Warn(warning)
		}
		n++
		if err := results[0].Err; err != nil {
			without++
			o.Warn(l.Warning(FailedLine, "%v", err))
		}
		if !text.IsBlank(l.Text) {
			o.Decode.First++
		}
		prompt()
	}
	return Failed(without, n, "line", "translated")
}
