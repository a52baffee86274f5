package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
	"tfm/text/tokenizer/bpe"
)

// Check reports flags that exclude each other, are missing, or are invalid by themselves. It needs
// no file.
func (r *Run) Check() error {
	trains := !r.Resume && r.Options.Init == "" && r.Vocab == "" // a tokenizer
	return cmp.Or(
		r.checkInit(),
		cli.UsageIf(r.Mix != "" && (r.TSV != "" || r.Src != "" || r.Tgt != ""), "either -mix, or -src and -tgt, or -tsv"),
		errors.Join(checkPairs("", r.TSV, r.Src, r.Tgt), checkPairs("valid-", r.ValidTSV, r.ValidSrc, r.ValidTgt)),
		cli.UsageIf(r.TSV == "" && r.Src == "" && r.Mix == "" && !r.Dump, "-src and -tgt are missing"),
		cli.UsageIf(r.Trim && !r.Resume && r.Options.Init == "", "-trim drops pieces of a model: -init is missing"),
		cli.UsageIf(r.Trim && r.Vocab != "", "either -trim or -vocab"),
		cli.UsageIf(r.Out == "", "-o is empty"),
		cli.UsageIf(r.Resume && r.Force, "either -resume or -force"),
		cli.UsageIf((trains || r.Options.Init != "" && r.sizeGiven() && r.VocabSize != 0) && r.VocabSize < bpe.MinSize,
			"-vocab-size is %d, expected at least %d, for 256 bytes and 3 special pieces", r.VocabSize, bpe.MinSize),
	)
}

// checkInit reports an -init without a file, and a way to draw weights as its file.
func (r *Run) checkInit() error {
	init := r.Options.Init
	message := fmt.Sprintf("-init is %q, expected a model file", init)
	if slices.Contains(names[model.InitScheme](), init) {
		return cli.UsageError{Message: message, Meant: r.flags.Lookup("init-scheme").Word(init)}
	}
	return cli.UsageIf(r.Origin("init") == CommandLine && strings.TrimSpace(init) == "", "%s", message)
}

// checkPairs reports flags of pairs, whose names begin with prefix, that do not go together.
func checkPairs(prefix, tsv, src, tgt string) error {
	return cmp.Or(
		cli.UsageIf(tsv != "" && (src != "" || tgt != ""), "either -%stsv or -%[1]ssrc and -%[1]stgt", prefix),
		cli.UsageIf(src == "" && tgt != "", "-%ssrc and -%[1]stgt belong together: -%[1]ssrc is missing", prefix),
		cli.UsageIf(src != "" && tgt == "", "-%ssrc and -%[1]stgt belong together: -%[1]stgt is missing", prefix),
	)
}

// Error joins errs into a UsageError, nil if all are nil. In a *model.FieldError it replaces the
// name of the field by that of its flag.
func Error(errs ...error) error {
	for i, err := range errs {
		if invalid := new(model.FieldError); errors.As(err, &invalid) {
			e := *invalid
			e.Field = label(flagOf(e.Field))
			errs[i] = &e
		}
	}
	if err := errors.Join(errs...); err != nil {
		return cli.UsageError{Message: err.Error()}
	}
	return nil
}

// label returns the name of a flag as the command line has it: with a dash unless it is a setting.
func label(name string) string {
	if g := declared().Lookup(name); g != nil {
		return g.Label()
	}
	return "-" + name
}

// flagNames are the flags of the fields with other names.
var flagNames = map[string]string{"smoothing": "smoothing-over", "biases": "bias", "start": "init-scheme"}

// flagOf returns the flag of a field of model.Config, decode.Options or train.Options.
func flagOf(field string) string {
	field = strings.TrimPrefix(field, "search.")
	return cmp.Or(flagNames[field], strings.ReplaceAll(field, "_", "-"))
}
