package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"tfm/mat"
	"tfm/translate"
)

// file is a file as a record describes it, or a range of its bytes.
type file struct {
	Path   string    `json:"path"`
	Size   int64     `json:"size"`
	Time   time.Time `json:"time"` // of the last change
	From   int64     `json:"from,omitempty"`
	To     int64     `json:"to,omitempty"`
	SHA256 string    `json:"sha256,omitempty"`

	isPart bool // the bytes From to To; else the whole
}

// stat returns the file at path without its hash, of a part of it. A stream has only its name.
func stat(path string, p Part) (d file, err error) {
	if isStream(path) {
		if p.N > 0 {
			err = fmt.Errorf("%s: -shard needs a regular file, because it is read from its middle", path)
		}
		return file{Path: path}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return d, err
	}
	d = file{Path: path, Size: info.Size(), Time: info.ModTime().UTC()}
	if p.N > 0 {
		d.isPart = true
		d.From, d.To, err = p.in(f, d.Size)
	}
	return d, err
}

// hash sets the hash of the file, or of its range.
func (d *file) hash() error {
	f, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, d.section(f)); err != nil {
		return err
	}
	d.SHA256 = hex.EncodeToString(h.Sum(nil))
	return nil
}

func (d *file) section(f *os.File) io.Reader {
	if !d.isPart {
		return f
	}
	return io.NewSectionReader(f, d.From, d.To-d.From)
}

// isUnchanged reports whether size and time are those of another description of the file.
func (d *file) isUnchanged(other file) bool { return d.Size == other.Size && d.Time.Equal(other.Time) }

// is reports whether the file has the content of a recorded one, under whatever name: by size and
// time, or with another time or verify by its hash.
func (d *file) is(recorded file, verify bool) (bool, error) {
	if d.Size != recorded.Size || d.From != recorded.From || d.To != recorded.To {
		return false, nil
	}
	if d.isUnchanged(recorded) && !verify {
		return true, nil
	}
	err := d.hash()
	return d.SHA256 == recorded.SHA256, err
}

// record is the content of OUT.done: what the output was made of, and how.
type record struct {
	Version    string            `json:"version"`
	Arithmetic int               `json:"arithmetic"` // see translate.Arithmetic
	Kernels    string            `json:"kernels"`    // without effect on the output
	Shard      string            `json:"shard,omitempty"`
	Options    map[string]string `json:"options"` // flags that the output depends on
	Inputs     []file            `json:"inputs"`
	Files      []file            `json:"files"` // model, glossary and the like
	Output     file              `json:"output"`
	Counts
}

// Counts is what a translation counts.
type Counts struct {
	LinesIn  int            `json:"lines_in"`
	LinesOut int            `json:"lines_out"`
	Failed   int            `json:"failed,omitempty"`   // lines without an answer
	Warnings map[string]int `json:"warnings,omitempty"` // lines that were cut or repaired, by kind
}

// recordName returns the name of the record of an output.
func recordName(out string) string { return out + ".done" }

// readRecord returns the record of an output. ok is false without one, or if it is damaged.
func readRecord(out string) (r record, ok bool) {
	b, err := os.ReadFile(recordName(out))
	return r, err == nil && json.Unmarshal(b, &r) == nil
}

// fits reports whether r is the record of s, whose output is there.
func (r *record) fits(s *Shard) (bool, error) {
	if r.Arithmetic != translate.Arithmetic || r.Shard != s.Part.String() || !maps.Equal(r.Options, s.Options) || len(r.Inputs) != len(s.Inputs) || len(r.Files) != len(s.Files) {
		return false, nil
	}
	for i, path := range s.Inputs {
		if ok, err := fits(path, s.Part, r.Inputs[i], s.Verify); !ok {
			return false, err
		}
	}
	for i, path := range s.Files {
		if ok, err := fits(path, Part{}, r.Files[i], s.Verify); !ok {
			return false, err
		}
	}
	d, err := stat(s.Out, Part{})
	if err != nil {
		return false, nil
	}
	return d.is(r.Output, s.Verify)
}

func fits(path string, p Part, recorded file, verify bool) (bool, error) {
	d, err := stat(path, p)
	if err != nil {
		return false, err
	}
	return d.is(recorded, verify)
}

// newRecord returns the record of s at its begin: without counts, hashes and output.
func newRecord(s *Shard, version string) (r record, err error) {
	r = record{Version: version, Arithmetic: translate.Arithmetic, Kernels: mat.Kernel(), Shard: s.Part.String(), Options: s.Options}
	for _, path := range s.Inputs {
		d, err := stat(path, s.Part)
		if err != nil {
			return r, err
		}
		r.Inputs = append(r.Inputs, d)
	}
	for _, path := range s.Files {
		d, err := stat(path, Part{})
		if err != nil {
			return r, err
		}
		r.Files = append(r.Files, d)
	}
	return r, nil
}
