package training

import (
	"os"

	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/train"
)

// Keys of model.File.Info.
const (
	InfoKey    = "training" // describes the training in one line
	VersionKey = "version"  // of the program that wrote the file, if it was a release
)

// Info returns the Info of a model file that this program writes. It contains no commit, so that
// the same commands write the same bytes with all builds that are no release.
func Info(trained string) map[string]string {
	info := map[string]string{InfoKey: trained}
	if tag := release.Current().Tag(); tag != "" {
		info[VersionKey] = tag
	}
	return info
}

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
	info := Info(r.Info)
	if r.Imported != "" {
		info[train.SourceKey] = r.Imported
	}
	return Save(model.File{Model: r.Model, Tokenizers: files, SrcLang: r.SrcLang, TgtLang: r.TgtLang, Decoding: r.Decoding.String(), Info: info}, path)
}
