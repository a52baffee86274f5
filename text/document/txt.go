package document

import "tfm/text/markup"

// translateTxt translates the passages of plain text.
func translateTxt(e *editor) error {
	for p := range passages(e.src) {
		t := markup.Text{Plain: p.unwrap(e.src)}
		write := func(ts []markup.Text) string { return p.wrap(ts[0], nil) }
		if err := e.edit(edit{start: p.Start, end: p.End, texts: []markup.Text{t}, write: write}); err != nil {
			return err
		}
	}
	return nil
}
