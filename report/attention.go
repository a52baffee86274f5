package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
)

// Sentence is a sentence, its translation, and the attention weights of the translation.
type Sentence struct {
	Source, Translation string
	Src                 []string // source tokens, ending with EOS
	In                  []string // input tokens of the decoder, beginning with BOS
	Out                 []string // output tokens of the decoder: In shifted by one, ending with EOS

	// Weights of each layer and head: EncoderSelf is [Src × Src], DecoderSelf [Out × In], Cross
	// [Out × Src].
	EncoderSelf, DecoderSelf, Cross [][]Weights
}

// Weights are attention weights, 0 to 1: a row for each query, a column for each key.
type Weights [][]float32

// MaxTokens is the number of tokens per side that the attention maps show. Sentences are truncated
// to it.
const MaxTokens = 48

// attention holds the maps of one of the three kinds of attention of a sentence.
type attention struct {
	Title, Text   string
	Open          bool
	Rows, Columns []string
	Mean          picture // over the heads of the last layer
	MeanOf        string  // caption of Mean
	Layers        []layer
}

type layer struct {
	Number int
	Heads  []picture
}

// picture is an attention map, one pixel per weight. The grey level is the square root of the
// weight, so that small weights are visible; page.js squares it.
type picture struct {
	Number int
	URL    string
	Alt    string
}

// attentions returns the maps of a sentence. It fails if there are fewer weights than tokens.
func (s Sentence) attentions() ([]attention, error) {
	src, in, out := firstTokens(s.Src), firstTokens(s.In), firstTokens(s.Out)
	all := []attention{
		{Title: "Cross-attention", Text: "from each token of the translation (rows) to the tokens of the source (columns)", Open: true, Rows: out, Columns: src},
		{Title: "Encoder self-attention", Text: "from each token of the source (rows) to the tokens of the source (columns)", Rows: src, Columns: src},
		{Title: "Decoder self-attention", Text: "from each predicted token (rows) to the preceding tokens of the translation (columns); later tokens are masked", Rows: out, Columns: in},
	}
	for i, layers := range [][][]Weights{s.Cross, s.EncoderSelf, s.DecoderSelf} {
		a := &all[i]
		for l, heads := range layers {
			maps := layer{Number: l + 1}
			for h, w := range heads {
				p, err := draw(w, a.Rows, a.Columns)
				if err != nil {
					return nil, err
				}
				p.Number, p.Alt = h+1, fmt.Sprintf("%s, layer %d, head %d", a.Title, l+1, h+1)
				maps.Heads = append(maps.Heads, p)
			}
			a.Layers = append(a.Layers, maps)
		}
		if len(layers) == 0 || len(layers[len(layers)-1]) == 0 {
			continue
		}
		m := mean(layers[len(layers)-1], len(a.Rows), len(a.Columns))
		var err error
		if a.Mean, err = draw(m, a.Rows, a.Columns); err != nil {
			return nil, err
		}
		a.MeanOf = fmt.Sprintf("layer %d, mean of %d heads", len(layers), len(layers[len(layers)-1]))
		a.Mean.Alt = a.MeanOf + "; " + strongest(m, a.Rows, a.Columns)
	}
	return all, nil
}

func firstTokens(tokens []string) []string { return tokens[:min(len(tokens), MaxTokens)] }

// draw returns the map of the first len(rows) rows and len(columns) columns of w.
func draw(w Weights, rows, columns []string) (picture, error) {
	if len(w) < len(rows) {
		return picture{}, fmt.Errorf("report: found %d rows of attention weights, expected %d, one for each token", len(w), len(rows))
	}
	grey := image.NewGray(image.Rect(0, 0, len(columns), len(rows)))
	for i := range rows {
		if len(w[i]) < len(columns) {
			return picture{}, fmt.Errorf("report: found %d columns of attention weights, expected %d, one for each token", len(w[i]), len(columns))
		}
		for j := range columns {
			grey.SetGray(j, i, color.Gray{Y: uint8(math.Round(255 * math.Sqrt(float64(max(0, min(w[i][j], 1))))))})
		}
	}
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, grey); err != nil {
		return picture{}, err
	}
	return picture{URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes())}, nil
}

// mean returns the mean of the heads' weights.
func mean(heads []Weights, rows, columns int) Weights {
	m := make(Weights, rows)
	for i := range m {
		m[i] = make([]float32, columns)
		for _, w := range heads {
			for j := range m[i] {
				m[i][j] += w[i][j] / float32(len(heads))
			}
		}
	}
	return m
}

// strongest describes a map in words: the largest weight of each row.
func strongest(w Weights, rows, columns []string) string {
	entries := make([]string, len(rows))
	for i := range rows {
		best := 0
		for j := range columns {
			if w[i][j] > w[i][best] {
				best = j
			}
		}
		entries[i] = fmt.Sprintf("%s → %s %.2f", rows[i], columns[best], w[i][best])
	}
	return "largest weight of each row: " + strings.Join(entries, ", ")
}
