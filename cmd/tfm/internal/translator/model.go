package translator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/model"
	"tfm/model/convert"
	"tfm/model/decode"
	"tfm/train"
	"tfm/translate"
)

// Model holds the flags of a model that a command opens.
type Model struct {
	Path      string
	Threads   int
	Int8      bool // round the weights to 8 bits
	Shortlist bool // search with the shortlist of the model
	From, To  string
	Keep      bool // also as translate.Options.KeepModel
}

// PathFlag declares -model.
func (m *Model) PathFlag(f *cli.Flags) {
	f.StringVar(&m.Path, "model", settings.DefaultModel, "model `file`")
}

// LanguageFlags declares -from and -to.
func (m *Model) LanguageFlags(f *cli.Flags) {
	f.StringVar(&m.To, "to", "", "`language` to translate to, in a model of several ('tfm info' lists them): as the model spells it, or a code such as fr, fra or pt-BR")
	f.StringVar(&m.From, "from", "", "`language` of the input, in a model of several")
}

// Int8Flag declares -int8.
func (m *Model) Int8Flag(f *cli.Flags) {
	f.BoolVar(&m.Int8, "int8", false, "round the weights to 8 bits, as 'tfm quantize' does: faster, and a few translations differ")
}

// ShortlistFlag declares -shortlist.
func (m *Model) ShortlistFlag(f *cli.Flags) {
	f.BoolVar(&m.Shortlist, "shortlist", false, "choose among the pieces of the model's shortlist only ('tfm shortlist'): faster, and some translations differ").Default("the model's")
}

// Open opens the model. It reports what Check finds.
func (m *Model) Open() (*translate.Translator, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	t, err := translate.Open(m.Path, translate.Options{Threads: m.Threads, Int8: m.Int8, From: m.From, To: m.To, KeepModel: m.Keep})
	if err != nil {
		if _, notForeign := convert.Detect(m.Path); notForeign == nil {
			return nil, fmt.Errorf("%s is a model of another system: 'tfm import -o MODEL %s' makes a model file of it", m.Path, cli.ShellWord(m.Path))
		}
	}
	return t, LanguageError(err)
}

// Command returns the command line that translates with a model, without the program's name.
func Command(path string, c model.Config, srcLang, tgtLang string) string {
	line := "translate -model " + cli.ShellWord(path)
	if c.SrcLanguages != "" && srcLang == "" {
		line += " -from LANGUAGE"
	}
	if c.TgtLanguages != "" && tgtLang == "" {
		line += " -to LANGUAGE"
	}
	return line
}

// LanguageError returns the error of a language with the name of its flag, and other errors as they
// are.
func LanguageError(err error) error {
	if e := new(model.FieldError); errors.As(err, &e) && (e.Field == "from" || e.Field == "to") {
		return settings.Error(e)
	}
	return err
}

// Check reports a missing model file, or a folder of checkpoints in its place, and how to get a
// model.
func (m *Model) Check() error {
	info, err := os.Stat(m.Path)
	switch {
	case m.Path == "":
		return cli.Usagef("-model is empty")
	case err != nil && strings.Contains(m.Path, "://"):
		return fmt.Errorf("%s is an address, and tfm downloads nothing: name a file", m.Path)
	case errors.Is(err, fs.ErrNotExist):
		if checkpoint := newest(strings.TrimSuffix(m.Path, ".safetensors") + ".ckpt"); checkpoint != "" {
			return fmt.Errorf("%s does not exist, because its run has not ended: resume it with 'tfm train … -resume', or use -model %s", m.Path, cli.ShellWord(checkpoint))
		}
		return fmt.Errorf("%s does not exist: make it with 'tfm train -o %s', or name a model with -model", m.Path, cli.ShellWord(m.Path))
	case err == nil && info.IsDir():
		if checkpoint := newest(m.Path); checkpoint != "" {
			return fmt.Errorf("%s is a folder of checkpoints: use one, such as -model %s", m.Path, cli.ShellWord(checkpoint))
		}
	}
	return nil
}

// newest returns the newest checkpoint in a folder, "" without one.
func newest(dir string) string {
	checkpoints, err := train.Checkpoints(dir)
	if err != nil || len(checkpoints) == 0 {
		return ""
	}
	return checkpoints[len(checkpoints)-1]
}

// Search completes a search by t, the open model: what no flag in given sets is the model's.
func (m *Model) Search(o *decode.Options, given map[string]string, t *translate.Translator) error {
	settings.UseModelSearch(o, given, t.DefaultOptions())
	if _, ok := given["shortlist"]; !ok {
		o.Shortlist = t.DefaultOptions().Shortlist
	}
	if !m.Shortlist {
		return nil
	}
	if o.Shortlist = t.Shortlist(); o.Shortlist == nil {
		return fmt.Errorf("%s has no shortlist: learn one with 'tfm shortlist'", m.Path)
	}
	return nil
}
