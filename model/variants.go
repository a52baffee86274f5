package model

import (
	"fmt"
	"slices"
	"strings"

	"tfm/layer"
	"tfm/mat"
)

// The variants that a Config can select. The first of each is the default and the zero value, which
// a model file may omit. It is the paper's, with two exceptions that follow common practice:
// AllBiases, and SmoothOthers, because the paper cites Szegedy et al. The slices hold the names in
// files and flags.

// Placement is the position of a sublayer's norm.
type Placement uint8

const (
	PostNorm Placement = iota // Norm(x + Dropout(Sublayer(x)))
	PreNorm                   // x + Dropout(Sublayer(Norm(x)))
	DeepNorm                  // Norm(α·x + Dropout(Sublayer(x))), see Config.DeepNormScales
)

var placements = []string{"post", "pre", "deep"}

func (v Placement) MarshalText() ([]byte, error)     { return marshalName(v, placements) }
func (v *Placement) UnmarshalText(text []byte) error { return unmarshalName(v, placements, text) }

// FinalNorm selects whether a norm follows the last layer of each stack.
type FinalNorm uint8

const (
	FinalNormAuto FinalNorm = iota // on in pre-norm, otherwise off
	FinalNormOn
	FinalNormOff
)

var finalNorms = []string{"auto", "true", "false"}

func (v FinalNorm) MarshalText() ([]byte, error)     { return marshalName(v, finalNorms) }
func (v *FinalNorm) UnmarshalText(text []byte) error { return unmarshalName(v, finalNorms, text) }

// NormKind selects the formula of the norms; see layer.NormKind.
type NormKind uint8

const (
	LayerNorm    = NormKind(layer.LayerNorm)
	UnbiasedNorm = NormKind(layer.UnbiasedNorm)
	RMSNorm      = NormKind(layer.RMSNorm)
)

var normKinds = []string{"layer", "unbiased", "rms"}

func (v NormKind) MarshalText() ([]byte, error)     { return marshalName(v, normKinds) }
func (v *NormKind) UnmarshalText(text []byte) error { return unmarshalName(v, normKinds, text) }

// Positions selects the positional encoding that is added to the embeddings.
type Positions uint8

const (
	Interleaved  Positions = iota // layer.Sinusoids
	Halves                        // layer.SinusoidHalves
	TimingSignal                  // layer.TimingSignal
	Learned                       // trained parameters, one table for each side (Table 3, row E)
)

var positions = []string{"interleaved", "halves", "tensor2tensor", "learned"}

func (v Positions) MarshalText() ([]byte, error)     { return marshalName(v, positions) }
func (v *Positions) UnmarshalText(text []byte) error { return unmarshalName(v, positions, text) }

// Biases selects the linear maps of a layer that have a bias. Biases of norms do not depend on it,
// and Config.OutputBias selects the bias of the output projection.
type Biases uint8

const (
	AllBiases         Biases = iota // as in PyTorch
	FeedForwardBiases               // none in attention (tensor2tensor; section 3.2.2 has none)
	AttentionBiases                 // no biases in the feed-forward network
	NoBiases
)

var biases = []string{"all", "ff", "attention", "none"}

func (v Biases) MarshalText() ([]byte, error) { return marshalName(v, biases) }

// UnmarshalText also accepts "true" for all and "false" for none.
func (v *Biases) UnmarshalText(text []byte) error {
	switch string(text) {
	case "true":
		*v = AllBiases
	case "false":
		*v = NoBiases
	default:
		return unmarshalName(v, biases, text)
	}
	return nil
}

// Autoreg selects the first sublayer of the decoder's layers, the one that mixes the tokens of a
// target.
type Autoreg uint8

const (
	SelfAttention Autoreg = iota // masked, section 3.2.3
	// SSRU is layer.SSRU. As in Marian, the only other system with it, the decoder then begins with
	// an embedding of zeros, not that of BOS.
	SSRU
)

var autoregs = []string{"self-attention", "ssru"}

func (v Autoreg) MarshalText() ([]byte, error)     { return marshalName(v, autoregs) }
func (v *Autoreg) UnmarshalText(text []byte) error { return unmarshalName(v, autoregs, text) }

// Activation selects the activation function of the feed-forward network, one of mat.Activations.
type Activation uint8

const (
	ReLU     = Activation(mat.ReLU - mat.ReLU)
	GELU     = Activation(mat.GELU - mat.ReLU)
	GELUTanh = Activation(mat.GELUTanh - mat.ReLU)
	SiLU     = Activation(mat.SiLU - mat.ReLU)
)

var activations = func() (names []string) {
	for _, f := range mat.Activations() {
		names = append(names, f.String())
	}
	return names
}()

// Function returns the function.
func (v Activation) Function() mat.Activation { return mat.ReLU + mat.Activation(v) }

func (v Activation) MarshalText() ([]byte, error)     { return marshalName(v, activations) }
func (v *Activation) UnmarshalText(text []byte) error { return unmarshalName(v, activations, text) }

// Smoothing selects the pieces of the vocabulary that label smoothing gives probability to.
type Smoothing uint8

const (
	SmoothOthers Smoothing = iota // all except the target
	SmoothAll                     // all, including the target (Szegedy et al., 2016; PyTorch)
)

var smoothings = []string{"others", "all"}

func (v Smoothing) MarshalText() ([]byte, error)     { return marshalName(v, smoothings) }
func (v *Smoothing) UnmarshalText(text []byte) error { return unmarshalName(v, smoothings, text) }

// InitScheme selects the distribution of the initial weights; see Transformer.Init.
type InitScheme uint8

const (
	XavierInit InitScheme = iota
	PyTorchInit
	ZeroOutputInit
)

var initSchemes = []string{"xavier", "pytorch", "zero-output"}

func (v InitScheme) MarshalText() ([]byte, error)     { return marshalName(v, initSchemes) }
func (v *InitScheme) UnmarshalText(text []byte) error { return unmarshalName(v, initSchemes, text) }

// marshalName returns the name of v, for MarshalText.
func marshalName[V ~uint8](v V, names []string) ([]byte, error) {
	if int(v) >= len(names) {
		return nil, fmt.Errorf("found %d, expected 0 to %d: %s", v, len(names)-1, strings.Join(names, ", "))
	}
	return []byte(names[v]), nil
}

// unmarshalName sets v to the index of text in names, for UnmarshalText.
func unmarshalName[V ~uint8](v *V, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%.80q is not one of %s", text, strings.Join(names, ", "))
	}
	*v = V(i)
	return nil
}
