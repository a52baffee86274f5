package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"tfm/model"
	"tfm/model/convert/argos"
	"tfm/model/convert/ctranslate2"
	"tfm/model/convert/hf"
	"tfm/model/convert/internal/parts"
	"tfm/model/convert/marian"
	"tfm/model/convert/pytorch"
	"tfm/model/torchfile"
)

// format is a format of models.
type format struct {
	name   string
	detect func(path string, isDir bool) bool
	read   func(path string) (model.File, error) // nil, as detect: cannot be read
	write  func(path string, f model.File) error // nil: cannot be written
}

// formats are the formats, in the order in which Detect tries them.
var formats = []format{
	{"ctranslate2", func(path string, isDir bool) bool {
		return isDir && parts.IsFile(path, ctranslate2.ModelFile) && !marian.Is(path, isDir)
	}, ctranslate2.Read, ctranslate2.Write},
	{"argos", argos.Is, argos.Read, nil},
	{"marian-hf", func(path string, isDir bool) bool { return isDir && hf.ModelType(path) == hf.MarianType }, hf.ReadMarian, hf.Write},
	{"m2m-hf", func(path string, isDir bool) bool { return isDir && hf.ModelType(path) == hf.M2MType }, hf.ReadM2M, nil},
	{"marian", marian.Is, marian.Read, marian.Write},
	{"pytorch", nil, nil, pytorch.Write},
}

// Detect returns the name of the format of the model at path, a file or a folder.
func Detect(path string) (string, error) {
	f, err := detect(path)
	return f.name, err
}

func detect(path string) (format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return format{}, err
	}
	for _, f := range formats {
		if f.read != nil && f.detect(path, info.IsDir()) {
			return f, nil
		}
	}
	if info.Mode().IsRegular() {
		if err := torchError(path); err != nil {
			return format{}, err
		}
	}
	if parts.IsZip(path) {
		r, _, err := parts.OpenZip(path)
		if err != nil {
			return format{}, fmt.Errorf("%w, expected an archive, whole", err)
		}
		r.Close()
		return format{}, fmt.Errorf("%s: found no release of OPUS-MT or package of Argos Translate in the archive, expected one; unpack models of other systems", path)
	}
	if parts.IsFile(path, hf.ConfigFile) {
		return format{}, fmt.Errorf("%s: found no model of another system that tfm has: %s is of another architecture, expected model_type %s or %s", path, hf.ConfigFile, hf.MarianType, hf.M2MType)
	}
	return format{}, fmt.Errorf("%s: found no model of another system, expected a folder with config.json and weights (OPUS-MT, M2M-100, NLLB-200) or with model.bin (CTranslate2), "+
		"or a file .zip or .npz (Marian) or .argosmodel", path)
}

// torchError returns the error for a file of torch.save without a folder around it, nil for another
// file.
func torchError(path string) error {
	unreadable := ""
	if f, err := torchfile.Open(path); err == nil {
		f.Close()
	} else if errors.Is(err, torchfile.ErrFormat) || errors.As(err, new(*fs.PathError)) {
		return nil
	} else if inner := errors.Unwrap(err); inner != nil { // without path
		unreadable = fmt.Sprintf(" (which are not readable either: %v)", inner)
	}
	return fmt.Errorf("%s: found weights of PyTorch without their model's settings%s, expected a folder with both, such as config.json and pytorch_model.bin; "+
		"ct2-opennmt-py-converter and ct2-fairseq-converter of PyPI's ctranslate2 write one of a checkpoint", path, unreadable)
}

// Read reads the model at path, whose format it detects. Errors are those of the format's own
// function.
func Read(path string) (model.File, error) {
	f, err := detect(path)
	if err != nil {
		return model.File{}, err
	}
	return f.read(path)
}

// Write writes a model to path in the named format. Errors are those of the format's own function.
func Write(name, path string, file model.File) error {
	var names []string
	for _, f := range formats {
		if f.write == nil {
			continue
		}
		if f.name == name {
			return f.write(path, file)
		}
		names = append(names, f.name)
	}
	return fmt.Errorf("found format %.40q, expected one of %s", name, strings.Join(names, ", "))
}
