package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/training"
	"tfm/internal/format"
	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/report"
	"tfm/text"
	"tfm/train"
	"tfm/train/runlog"
	"tfm/translate"
)

func reportCommand(f *cli.Flags) cli.Action {
	var r reporter
	f.StringVar(&r.folder, "run", "", "`folder` with the run's checkpoints and log.jsonl")
	f.StringVar(&r.out, "o", "report.html", "`file` to write")
	f.StringVar(&r.model, "model", "", "model `file` for the attention maps")
	f.StringsVar(&r.sentences, "text", "`text` of an attention map; repeat it for more")
	cli.ThreadsFlag(f, &r.threads)
	return r.run
}

// reporter is the command with its flags.
type reporter struct {
	folder, out, model string
	sentences          []string
	threads            int
}

// defaultSentences are those from the log, if none are named.
const defaultSentences = 3

func (r *reporter) run(ctx context.Context, _ []string) error {
	err := cmp.Or(cli.UsageIf(r.folder == "", "-run is missing"), cli.UsageIf(r.out == "", "-o is empty"))
	if err != nil {
		return err
	}
	inputs := []string{filepath.Join(r.folder, runlog.FileName), r.model}
	if checkpoints, err := train.Checkpoints(r.folder); err == nil {
		inputs = append(inputs, checkpoints...)
	}
	if err := cli.CheckOutput(r.out, inputs...); err != nil {
		return err
	}
	run, err := r.log()
	if err != nil {
		return err
	}
	page := report.Page{Name: r.name(run), Run: run, Generator: "tfm " + release.Current().String()}
	if err := r.attention(ctx, &page); err != nil {
		return err
	}
	if err := safetensors.WriteAtomic(r.out, func(w io.Writer) error { return page.Write(w) }); err != nil {
		return err
	}
	info, err := os.Stat(r.out)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %s, %s, attention maps of %s; %d kB\n",
		r.out, format.Count(run.LastStep(), "step"), format.Count(len(run.Validations), "validation"), format.Count(len(page.Sentences), "sentence"), (info.Size()+999)/1000)
	return nil
}

// log reads the log of the run.
func (r *reporter) log() (*runlog.Run, error) {
	switch info, err := os.Stat(r.folder); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("-run %s: the folder does not exist", r.folder)
	case err != nil:
		return nil, fmt.Errorf("-run: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("-run is %s, expected a folder of checkpoints, such as en-de.ckpt", r.folder)
	}
	if rounds, _ := filepath.Glob(filepath.Join(r.folder, "round-*")); rounds != nil {
		return runlog.ReadRounds(r.folder)
	}
	run, err := runlog.ReadFile(filepath.Join(r.folder, runlog.FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-run %[2]s: no %[1]s, which tfm train writes beside its checkpoints", runlog.FileName, r.folder)
	}
	return run, err
}

// name returns the name of the run's model file, or else of its folder.
func (r *reporter) name(run *runlog.Run) string {
	if len(run.Starts) > 0 {
		if out := run.Starts[0].Settings["o"]; out != "" {
			return strings.TrimSuffix(filepath.Base(out), ".safetensors")
		}
	}
	path, err := filepath.Abs(r.folder)
	if err != nil {
		path = r.folder
	}
	return strings.TrimSuffix(filepath.Base(path), ".ckpt")
}

// attention adds the chosen sentences to the page, with their translations and attention. If there
// are none, or none are named and there is no model yet, the page says why it has no maps.
func (r *reporter) attention(ctx context.Context, page *report.Page) error {
	sentences, err := r.chosen()
	if err != nil {
		return err
	}
	named := len(sentences) > 0
	if !named {
		sentences = report.Sources(page.Run, defaultSentences)
	}
	if len(sentences) == 0 {
		page.Note = "No maps of attention: the log has no sample translations, and no sentences were named (-text)."
		return nil
	}
	path := r.model
	if trained := training.ModelOfRounds(r.folder); path == "" {
		if _, err := os.Stat(trained); err == nil {
			path = trained
		}
	}
	if path == "" {
		checkpoints, err := train.Checkpoints(r.folder)
		switch {
		case err != nil:
			return err
		case len(checkpoints) == 0 && named:
			return fmt.Errorf("%s: no checkpoint to translate with; name a model with -model", r.folder)
		case len(checkpoints) == 0:
			page.Note = "No maps of attention: there is no checkpoint in the folder of the run, and no model was named (-model)."
			fmt.Fprintf(os.Stderr, "tfm: there is no checkpoint in %s, so the page has no maps of attention (-model names another model)\n", r.folder)
			return nil
		}
		if path, err = train.Best(r.folder); err != nil {
			return err
		}
	}
	t, err := translate.Open(path, translate.Options{Threads: r.threads, Concurrent: 1, KeepModel: true})
	if err != nil {
		return err
	}
	defer t.Close()
	pool := mat.NewPool(r.threads)
	defer pool.Close()
	pass := model.NewPass(t.Model(), pool)
	page.Model = filepath.Base(path)
	for _, text := range sentences {
		s, err := look(ctx, t, pass, text)
		if err != nil {
			return err
		}
		page.Sentences = append(page.Sentences, s)
	}
	return nil
}

// chosen returns the sentences that the command line names.
func (r *reporter) chosen() ([]string, error) {
	var all []string
	for _, s := range r.sentences {
		if strings.TrimSpace(s) == "" {
			return nil, cli.Usagef("-text is empty")
		}
		line, _ := text.OneLine(s)
		all = append(all, line)
	}
	return all, nil
}

// look translates a sentence greedily, and keeps as much of the attention of every layer and head
// as a report shows.
func look(ctx context.Context, t *translate.Translator, pass *model.Pass, sentence string) (report.Sentence, error) {
	request := translate.Request{Texts: []string{sentence}, Decode: t.DefaultOptions(), Tokens: true}
	request.Decode.Beam = 1
	results, err := t.Do(ctx, request)
	if err != nil {
		return report.Sentence{}, err
	}
	best := results[0].Translations[0]
	s := report.Sentence{Source: sentence, Translation: best.Text}
	b := model.Batch{Source: t.Model().Config.Source}
	b.Append(ids(results[0].Tokens), ids(best.Tokens))
	tokens := t.Tokenizers()
	s.Src, s.In, s.Out = pieces(tokens.Source, b.Src), pieces(tokens.Target, b.TgtIn), pieces(tokens.Target, b.TgtOut)
	attentions := map[string]*[][]report.Weights{model.EncoderSelf: &s.EncoderSelf, model.DecoderSelf: &s.DecoderSelf, model.DecoderCross: &s.Cross}
	pass.Attention(&b, func(attention string, layer, head, _ int, w mat.Matrix) {
		layers := attentions[attention]
		if head == 0 {
			*layers = append(*layers, nil)
		}
		rows := make(report.Weights, min(w.Rows, report.MaxTokens))
		for i := range rows {
			rows[i] = append(rows[i], w.Row(i)[:min(w.Cols, report.MaxTokens)]...)
		}
		(*layers)[layer] = append((*layers)[layer], rows)
	})
	return s, nil
}

func pieces(t text.Tokenizer, ids []int32) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = t.Piece(id)
	}
	return names
}
