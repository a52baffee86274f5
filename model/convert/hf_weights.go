package convert

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"tfm/model/safetensors"
	"tfm/model/torchfile"
)

// The files with weights of a Hugging Face folder. An index, the name of a file and hfIndexEnd, is
// JSON that lists the tensors of several files.
const (
	hfModelFile = "model.safetensors"
	hfTorchFile = "pytorch_model.bin"
	hfIndexEnd  = ".index.json"
)

// hfWeights is the open weights of a Hugging Face folder.
type hfWeights struct {
	*tensors
	files []io.Closer
}

// openHFWeights opens the weights of a folder: model.safetensors, or pytorch_model.bin, or the
// files of an index of one of them, the first that exists.
func openHFWeights(f folder) (*hfWeights, error) {
	for _, name := range []string{hfModelFile, hfModelFile + hfIndexEnd, hfTorchFile, hfTorchFile + hfIndexEnd} {
		if !f.has(name) {
			continue
		}
		var fileOf map[string]string // by names of tensors
		files := []string{name}
		if strings.HasSuffix(name, hfIndexEnd) {
			var index struct {
				WeightMap map[string]string `json:"weight_map"`
			}
			if err := f.readJSON(name, false, &index); err != nil {
				return nil, err
			}
			fileOf = index.WeightMap
			files = slices.Compact(slices.Sorted(maps.Values(fileOf)))
		}
		w := &hfWeights{}
		if err := w.open(f, name, files, fileOf); err != nil {
			w.close()
			return nil, err
		}
		return w, nil
	}
	return nil, fmt.Errorf("%s: found no weights, expected %s, %s or their files with an index", f.path, hfModelFile, hfTorchFile)
}

// open opens files whose tensors are those of fileOf, which is nil for one file without an index.
func (w *hfWeights) open(f folder, name string, files []string, fileOf map[string]string) error {
	size := int64(0)
	for _, file := range files {
		if !f.has(file) {
			return fmt.Errorf("%s: found the file %.80q, expected one in the folder", f.name(name), file)
		}
		info, err := os.Stat(f.name(file))
		if err != nil {
			return err
		}
		size += info.Size()
	}
	w.tensors = newTensors(f.name(name), size)
	for _, file := range files {
		if err := w.openFile(f.name(file)); err != nil {
			return err
		}
		for tensor := range w.byName {
			if fileOf != nil && fileOf[tensor] == "" {
				return w.fail(tensor, "found in %s, expected only tensors of the index", file)
			}
		}
	}
	for _, tensor := range slices.Sorted(maps.Keys(fileOf)) {
		if !w.has(tensor) {
			return w.fail(tensor, "missing in %.80s", fileOf[tensor])
		}
	}
	return w.err
}

// openFile adds the tensors of a file.
func (w *hfWeights) openFile(path string) error {
	if strings.HasSuffix(path, ".safetensors") {
		s, err := safetensors.Open(path)
		if err != nil {
			return err
		}
		w.files = append(w.files, s)
		for _, t := range s.Tensors() {
			w.add(t.Name, t.DType, t.Shape, t.Float32s)
		}
		return w.err
	}
	s, err := torchfile.Open(path)
	if err != nil {
		return err
	}
	w.files = append(w.files, s)
	for _, t := range s.Tensors() {
		w.add(t.Name, t.DType, t.Shape, t.Float32s)
	}
	return w.err
}

// close closes the files. The tensors must not be read afterwards.
func (w *hfWeights) close() {
	for _, f := range w.files {
		f.Close()
	}
}
