package hf

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"tfm/model/convert/internal/parts"
	"tfm/model/safetensors"
	"tfm/model/torchfile"
)

// The files with weights of a Hugging Face folder. An index, the name of a file and indexEnd, is
// JSON that lists the tensors of several files.
const (
	modelFile = "model.safetensors"
	torchFile = "pytorch_model.bin"
	indexEnd  = ".index.json"
)

// weights is the open weights of a Hugging Face folder.
type weights struct {
	*parts.Tensors
	files []io.Closer
}

// openWeights opens the weights of a folder: model.safetensors, or pytorch_model.bin, or the
// files of an index of one of them, the first that exists.
func openWeights(f parts.Folder) (*weights, error) {
	for _, name := range []string{modelFile, modelFile + indexEnd, torchFile, torchFile + indexEnd} {
		if !f.Has(name) {
			continue
		}
		var fileOf map[string]string // by names of tensors
		files := []string{name}
		if strings.HasSuffix(name, indexEnd) {
			var index struct {
				WeightMap map[string]string `json:"weight_map"`
			}
			if err := f.ReadJSON(name, false, &index); err != nil {
				return nil, err
			}
			fileOf = index.WeightMap
			files = slices.Compact(slices.Sorted(maps.Values(fileOf)))
		}
		w := &weights{}
		if err := w.open(f, name, files, fileOf); err != nil {
			w.close()
			return nil, err
		}
		return w, nil
	}
	return nil, fmt.Errorf("%s: found no weights, expected %s, %s or their files with an index", f.Path, modelFile, torchFile)
}

// open opens files whose tensors are those of fileOf, which is nil for one file without an index.
func (w *weights) open(f parts.Folder, name string, files []string, fileOf map[string]string) error {
	size := int64(0)
	for _, file := range files {
		if !f.Has(file) {
			return fmt.Errorf("%s: found the file %.80q, expected one in the folder", f.Name(name), file)
		}
		info, err := os.Stat(f.Name(file))
		if err != nil {
			return err
		}
		size += info.Size()
	}
	w.Tensors = parts.NewTensors(f.Name(name), size)
	for _, file := range files {
		if err := w.openFile(f.Name(file)); err != nil {
			return err
		}
		for tensor := range w.ByName {
			if fileOf != nil && fileOf[tensor] == "" {
				return w.Fail(tensor, "found in %s, expected only tensors of the index", file)
			}
		}
	}
	for _, tensor := range slices.Sorted(maps.Keys(fileOf)) {
		if !w.Has(tensor) {
			return w.Fail(tensor, "missing in %.80s", fileOf[tensor])
		}
	}
	return w.Err
}

// openFile adds the tensors of a file.
func (w *weights) openFile(path string) error {
	if strings.HasSuffix(path, ".safetensors") {
		s, err := safetensors.Open(path)
		if err != nil {
			return err
		}
		w.files = append(w.files, s)
		for _, t := range s.Tensors() {
			w.Add(t.Name, t.DType, t.Shape, t.Float32s)
		}
		return w.Err
	}
	s, err := torchfile.Open(path)
	if err != nil {
		return err
	}
	w.files = append(w.files, s)
	for _, t := range s.Tensors() {
		w.Add(t.Name, t.DType, t.Shape, t.Float32s)
	}
	return w.Err
}

// close closes the files. The tensors must not be read afterwards.
func (w *weights) close() {
	for _, f := range w.files {
		f.Close()
	}
}
