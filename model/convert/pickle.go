package convert

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A PickleError reports a source with weights in Python's pickle format.
type PickleError struct {
	File string // the pickled file
	Hint string // how to convert it with the programs that wrote it
}

func (e *PickleError) Error() string {
	return fmt.Sprintf("%s is a pickle, which runs code of its author when it is read, so tfm does not read it. If you trust its author: %s", e.File, e.Hint)
}

// checkPickle returns a *PickleError if the file at path, or the weights of the folder at path, are
// pickled, as torch.save and old versions of transformers write them. It decides by the content of
// a file, not by its name, and returns nil for a file that it cannot read.
func checkPickle(path string) error {
	files := []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		files = nil
		for _, e := range entries {
			switch e.Name() {
			case "model.safetensors", "model.bin", "model.npz":
				return nil // a pickle beside it is a second copy
			}
			if e.Type().IsRegular() {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
	}
	for _, file := range files {
		if isPickle(file) {
			return &PickleError{file, pickleHint(file)}
		}
	}
	return nil
}

// pickleHint returns the commands that convert a pickled file.
func pickleHint(file string) string {
	dir := filepath.Dir(file)
	if _, err := os.Stat(filepath.Join(dir, "config.json")); err == nil || filepath.Base(file) == "pytorch_model.bin" {
		name := filepath.ToSlash(dir)
		if strings.ContainsAny(name, "'\"\\$`!") {
			name = "FOLDER"
		}
		return fmt.Sprintf(`pip install torch transformers; python3 -c "from transformers import AutoModelForSeq2SeqLM as M; M.from_pretrained('%s').save_pretrained('%[1]s')"; `+
			`tfm import -o M.safetensors %s`, name, shellQuoted(dir))
	}
	return fmt.Sprintf(`pip install ctranslate2 torch; ct2-opennmt-py-converter --model_path %s --output_dir converted (of fairseq: ct2-fairseq-converter --model_path %[1]s `+
		`--data_dir DIR --output_dir converted); tfm import -o M.safetensors converted`, shellQuoted(file))
}

// shellQuoted returns s as one word of a shell's command line.
func shellQuoted(s string) string {
	if strings.ContainsAny(s, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// isPickle reports whether a file is a pickle or a zip file of torch.save.
func isPickle(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	start := make([]byte, 16)
	n, _ := io.ReadFull(f, start)
	start = start[:n]
	if bytes.HasPrefix(start, []byte("PK\x03\x04")) {
		z, err := zip.NewReader(f, info.Size())
		if err != nil {
			return false
		}
		for _, entry := range z.File {
			if path.Base(entry.Name) == "data.pkl" {
				return true
			}
		}
		return false
	}
	// The operation PROTO with its protocol, then one that a pickle of a number, an object or a
	// memoized frame begins with. model.bin of CTranslate2 begins with a small integer and
	// zeros.
	return n >= 3 && start[0] == 0x80 && start[1] >= 2 && start[1] <= 5 && strings.IndexByte("\x8a\x8bcG}](.\x95KMJX\x8c", start[2]) >= 0
}
