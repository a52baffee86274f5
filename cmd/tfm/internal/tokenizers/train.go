package tokenizers

import (
	"encoding"
	"fmt"
	"io"
	"os"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/tokenizer/bpe"
)

// Train trains a byte-level BPE of size pieces on files and writes it to out.
func Train(out string, size int, files []string) error {
	if size < bpe.MinSize {
		return cli.Usagef("-vocab-size is %d, expected at least %d, for 256 bytes and 3 special pieces", size, bpe.MinSize)
	}
	if err := cli.CheckOutput(out, files...); err != nil {
		return err
	}
	p := terminal.NewProgress(os.Stderr)
	defer p.Clear()
	var trainer bpe.Trainer
	lines, err := eachLine(p, files, trainer.Add)
	if err != nil {
		return err
	}
	t, err := trainer.Train(size)
	if err != nil {
		return err
	}
	return writeTokenizer(p, out, t, SampleNote(trainer.Threshold()), t.Size(), lines)
}

// writeTokenizer writes a tokenizer of one file and prints the note, unless it is "", and the
// numbers of pieces and of lines read.
func writeTokenizer(p *terminal.Progress, out string, t encoding.BinaryMarshaler, note string, pieces, lines int) error {
	data, err := t.MarshalBinary()
	if err != nil {
		return err
	}
	err = safetensors.WriteAtomic(out, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if note != "" {
		p.Line("%s: %s", out, note)
	}
	p.Line("%s: %s pieces from %s lines", out, format.Thousands(pieces), format.Thousands(lines))
	return nil
}

// SampleNote returns a note on tokenizers trained with this threshold (see bpe.Trainer), or "" if
// the counts were exact.
func SampleNote(threshold int64) string {
	return sampleNote(threshold, fmt.Sprintf("words exceed %d MiB", bpe.MaxTableBytes>>20))
}

// sampleNote is SampleNote for a table of another limit.
func sampleNote(threshold int64, exceeded string) string {
	if threshold <= 1 {
		return ""
	}
	return fmt.Sprintf("trained on a sample, because the distinct %s: words with fewer than %s occurrences are sampled in proportion to them",
		exceeded, format.Thousands(threshold))
}

// eachLine calls f with each line of files, shows their number, and returns it.
func eachLine(p *terminal.Progress, files []string, f func(line string)) (lines int, err error) {
	for _, name := range files {
		for line, err := range text.Lines(name) {
			if err != nil {
				return lines, err
			}
			f(line)
			if lines++; lines%10000 == 0 {
				p.Update(time.Now(), fmt.Sprintf("%s lines", format.Thousands(lines)))
			}
		}
	}
	return lines, nil
}
