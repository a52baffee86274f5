package training

import (
	"os"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/model"
	"tfm/model/safetensors"
)

// InfoKey is the key of model.File.Info whose value describes the training in one line.
const InfoKey = "training"

// Save writes or replaces a model file, and prints its name, training and size.
func Save(f model.File, path string) error {
	safetensors.RemoveStale(path) // temporary files of killed runs
	if err := f.Save(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	terminal.NewProgress(os.Stderr).Text("%s: %s; %.1f MB", path, f.Info[InfoKey], float64(info.Size())/1e6)
	return nil
}

// Save writes the model file of a training.
func (r Result) Save(path string) error {
	files, err := r.Tokenizers.Marshal()
	if err != nil {
		return err
	}
	return Save(model.File{Model: r.Model, Tokenizers: files, SrcLang: r.SrcLang, TgtLang: r.TgtLang, Decoding: r.Decoding, Info: map[string]string{InfoKey: r.Info}}, path)
}
