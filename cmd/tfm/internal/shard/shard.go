package shard

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model/safetensors"
	"tfm/text"
)

// Shard is a translation of files to one file.
type Shard struct {
	Out     string            // gzipped if it ends in .gz
	Inputs  []string          // text.Stdin among them is standard input
	Part    Part              // of the only input
	Files   []string          // the other files that the output depends on
	Options map[string]string // flags that it depends on
	Verify  bool              // compare hashes to find out whether it is done
	Expect  int               // lines of the inputs; -1 is any

	record  record
	streams map[string]hash.Hash // of what was read of inputs that can be read once
}

// isStream reports whether an input can be read once: standard input, or a pipe.
func isStream(path string) bool { return path == text.Stdin || cli.IsDevice(path) }

// Done reports whether the output is there and its record fits, and returns what that counts.
func (s *Shard) Done() (n Counts, ok bool, err error) {
	r, ok := readRecord(s.Out)
	if !ok || slices.ContainsFunc(s.Inputs, isStream) || slices.ContainsFunc(s.Files, isStream) {
		return n, false, nil
	}
	ok, err = r.fits(s)
	return r.Counts, ok, err
}

// Open opens an input, or the part of it. It must be called within Write.
func (s *Shard) Open(path string) (io.ReadCloser, error) {
	f, err := text.OpenInput(path)
	switch {
	case err != nil:
		return nil, err
	case isStream(path):
		sum := sha256.New()
		s.streams[path] = sum
		return reader{io.TeeReader(f, sum), f}, nil
	case s.Part.N == 0:
		return f, nil
	}
	magic := make([]byte, 2)
	if n, _ := f.ReadAt(magic, 0); string(magic[:n]) == "\x1f\x8b" {
		f.Close()
		return nil, fmt.Errorf("%s: -shard needs a file that is not gzipped, because it is read from its middle", path)
	}
	return reader{s.record.Inputs[0].section(f), f}, nil
}

type reader struct {
	io.Reader
	io.Closer
}

// Write writes the output, whole or not at all, and its record. translate writes the lines.
func (s *Shard) Write(version string, translate func(w io.Writer) (Counts, error)) (err error) {
	if s.record, err = newRecord(s, version); err != nil {
		return err
	}
	s.streams = map[string]hash.Hash{}
	sum := sha256.New()
	var inner error // names its own files
	err = safetensors.WriteAtomic(s.Out, func(w io.Writer) error {
		w = io.MultiWriter(w, sum)
		z := gzip.NewWriter(w)
		to := w
		if strings.HasSuffix(s.Out, ".gz") {
			to = z
		}
		if s.record.Counts, inner = translate(to); inner == nil {
			inner = s.finish()
		}
		if inner == nil && to == io.Writer(z) {
			return z.Close()
		}
		return inner
	})
	if inner != nil {
		return inner
	}
	if err != nil {
		if _, done, _ := s.Done(); done { // by another attempt, which removed the temporary file
			return nil
		}
		return err
	}
	out, err := stat(s.Out, Part{})
	if err != nil {
		return err
	}
	s.record.Output, s.record.Output.SHA256 = out, hex.EncodeToString(sum.Sum(nil))
	err = safetensors.WriteAtomic(recordName(s.Out), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s.record)
	})
	if err == nil {
		// Temporary files of killed runs. Before the end this could stop an attempt on another
		// machine, whose locks a shared file system may not show.
		safetensors.RemoveStale(s.Out)
		safetensors.RemoveStale(recordName(s.Out))
	}
	return err
}

// emptySHA256 is that of a stream without bytes.
var emptySHA256 = fmt.Sprintf("%x", sha256.Sum256(nil))

// finish completes the record's inputs, which must be as they were and have the lines expected.
func (s *Shard) finish() error {
	if n := s.record.LinesIn; s.Expect >= 0 && n != s.Expect {
		return cli.RetryError{Err: fmt.Errorf("found %d lines, expected %d as -expect says", n, s.Expect)}
	}
	for kind, list := range [][]file{s.record.Inputs, s.record.Files} {
		for i := range list {
			d := &list[i]
			if isStream(d.Path) {
				if sum := s.streams[d.Path]; sum != nil {
					d.SHA256 = hex.EncodeToString(sum.Sum(nil))
				}
				if kind == 0 && s.Expect < 0 && d.SHA256 == emptySHA256 {
					return cli.RetryError{Err: fmt.Errorf("%s is empty, as after a download that failed; -expect 0 allows it", text.InputName(d.Path))}
				}
				continue
			}
			now, err := os.Stat(d.Path)
			if err == nil && (now.Size() != d.Size || !now.ModTime().Equal(d.Time)) {
				err = cli.RetryError{Err: fmt.Errorf("%s has changed while it was read", d.Path)}
			}
			if err == nil {
				err = d.hash()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
