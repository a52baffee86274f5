package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
)

// Sentence is a sentence, its translation, and the weights of attention.
type Sentence struct {
	Source, Translation string
	Src                 []string // pieces of the source, with EOS at the end
	In                  []string // pieces that the decoder gets, with BOS at the beginning
	Out                 []string // pieces that it predicts: In shifted by one, with EOS at the end

	// The weights of each layer and head: EncoderSelf [Src × Src], DecoderSelf [Out × In], Cross
	// [Out × Src].
	EncoderSelf, DecoderSelf, Cross [][]Weights
}

// Weights are weights of attention, 0 to 1: a row for each query, a column for each key.
type Weights [][]float32

// MaxPieces is the number of pieces of a side that the maps of attention show. Further ones are cut
// off.
const MaxPieces = 48

// attention is one of the three attentions of a sentence, ready to be drawn.
type attention struct {
	Title, Text   string
	Open          bool
	Rows, Columns []string
	Mean          picture // over the heads of the last layer
	MeanOf        string
	Layers        []layer
}

type layer struct {
	Number int
	Heads  []picture
}

// picture is a map of weights with one pixel for each. Its grey is the root of the weight, so that
// small weights are visible; the script computes the weight from it.
type picture struct {
	Number int
	URL    template.URL
	Alt    string
}

// attentions returns the maps of a sentence, or an error if its weights do not fit its pieces.
func (s Sentence) attentions() ([]attention, error) {
	src, in, out := firstPieces(s.Src), firstPieces(s.In), firstPieces(s.Out)
	all := []attention{
		{Title: "Cross-attention", Text: "which piece of the source (columns) the decoder looks at when it says a piece of the translation (rows)", Open: true, Rows: out, Columns: src},
		{Title: "Encoder self-attention", Text: "which piece of the source (columns) a piece of the source (rows) looks at", Rows: src, Columns: src},
		{Title: "Decoder self-attention", Text: "which piece that it was given (columns) the decoder looks at when it says the next one (rows); later ones are masked", Rows: out, Columns: in},
	}
	for i, layers := range [][][]Weights{s.Cross, s.EncoderSelf, s.DecoderSelf} {
		a := &all[i]
		for l, heads := range layers {
			of := layer{Number: l + 1}
			for h, w := range heads {
				p, err := draw(w, a.Rows, a.Columns)
				if err != nil {
					return nil, err
				}
				p.Number, p.Alt = h+1, fmt.Sprintf("%s, layer %d, head %d", a.Title, l+1, h+1)
				of.Heads = append(of.Heads, p)
			}
			a.Layers = append(a.Layers, of)
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

func firstPieces(pieces []string) []string { return pieces[:min(len(pieces), MaxPieces)] }

// draw returns the picture of those rows and columns of weights that have a name.
func draw(w Weights, rows, columns []string) (picture, error) {
	if len(w) < len(rows) {
		return picture{}, fmt.Errorf("report: %d rows of attention for %d pieces", len(w), len(rows))
	}
	grey := image.NewGray(image.Rect(0, 0, len(columns), len(rows)))
	for i := range rows {
		if len(w[i]) < len(columns) {
			return picture{}, fmt.Errorf("report: %d columns of attention for %d pieces", len(w[i]), len(columns))
		}
		for j := range columns {
			grey.SetGray(j, i, color.Gray{Y: uint8(math.Round(255 * math.Sqrt(float64(max(0, min(w[i][j], 1))))))})
		}
	}
	var file bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&file, grey); err != nil {
		return picture{}, err
	}
	return picture{URL: template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(file.Bytes()))}, nil
}

// mean returns the mean of the weights of heads.
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

// strongest names the column of the largest weight of each row: the map in words.
func strongest(w Weights, rows, columns []string) string {
	parts := make([]string, len(rows))
	for i := range rows {
		most := 0
		for j := range columns {
			if w[i][j] > w[i][most] {
				most = j
			}
		}
		parts[i] = fmt.Sprintf("%s → %s %.2f", rows[i], columns[most], w[i][most])
	}
	return "each row's strongest: " + strings.Join(parts, ", ")
}
