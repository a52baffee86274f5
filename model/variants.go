package model

import (
	"fmt"
	"slices"
	"strings"

	"tfm/layer"
	"tfm/mat"
)

// The readings of the paper that a Config can name. The first of each is the paper's own and the
// zero value, so it is what a model file means that does not name any. In files and flags they have
// the names below.

// Placement says where the norm of a sublayer stands.
type Placement uint8

const (
	PostNorm Placement = iota // Norm(x + Dropout(Sublayer(x)))
	PreNorm                   // x + Dropout(Sublayer(Norm(x)))
	DeepNorm                  // Norm(α·x + Dropout(Sublayer(x))), with some weights begun smaller (Wang et al., 2022)
)

var placements = []string{"post", "pre", "deep"}

func (v Placement) MarshalText() ([]byte, error)     { return marshalName(v, placements) }
func (v *Placement) UnmarshalText(text []byte) error { return unmarshalName(v, placements, text) }

// FinalNorm says whether a norm stands behind the last layer of each stack.
type FinalNorm uint8

const (
	FinalNormAuto FinalNorm = iota // in pre-norm it does, else not
	FinalNormOn
	FinalNormOff
)

var finalNorms = []string{"auto", "true", "false"}

func (v FinalNorm) MarshalText() ([]byte, error)     { return marshalName(v, finalNorms) }
func (v *FinalNorm) UnmarshalText(text []byte) error { return unmarshalName(v, finalNorms, text) }

// NormKind says what a norm computes; see layer.NormKind.
type NormKind uint8

const (
	LayerNorm    = NormKind(layer.LayerNorm)
	UnbiasedNorm = NormKind(layer.UnbiasedNorm)
	RMSNorm      = NormKind(layer.RMSNorm)
)

var normKinds = []string{"layer", "unbiased", "rms"}

func (v NormKind) MarshalText() ([]byte, error)     { return marshalName(v, normKinds) }
func (v *NormKind) UnmarshalText(text []byte) error { return unmarshalName(v, normKinds, text) }

// Positions says what is added to the embeddings for the places of the tokens.
type Positions uint8

const (
	Interleaved  Positions = iota // layer.Sinusoids
	Halves                        // layer.SinusoidHalves
	TimingSignal                  // layer.TimingSignal
	Learned                       // trained embeddings, one table for each side (Table 3, row E)
)

var positions = []string{"interleaved", "halves", "tensor2tensor", "learned"}

func (v Positions) MarshalText() ([]byte, error)     { return marshalName(v, positions) }
func (v *Positions) UnmarshalText(text []byte) error { return unmarshalName(v, positions, text) }

// Biases says which of the linear maps of a layer have them. Norms have theirs, the projection to
// the vocabulary has Config.OutputBias.
type Biases uint8

const (
	AllBiases         Biases = iota
	FeedForwardBiases        // attention has none (tensor2tensor; section 3.2.2 writes none)
	AttentionBiases          // feed-forward has none
	NoBiases
)

var biases = []string{"all", "ff", "attention", "none"}

func (v Biases) MarshalText() ([]byte, error) { return marshalName(v, biases) }

// UnmarshalText takes "true" for all and "false" for none as well.
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

// Activation is the function inside the feed-forward network; see mat.Activation.
type Activation uint8

const (
	ReLU Activation = iota
	GELU
	GELUTanh
	SiLU
)

var (
	activations         = []string{"relu", "gelu", "gelu-tanh", "silu"}
	activationFunctions = []mat.Activation{mat.ReLU, mat.GELU, mat.GELUTanh, mat.SiLU}
)

func (v Activation) MarshalText() ([]byte, error)     { return marshalName(v, activations) }
func (v *Activation) UnmarshalText(text []byte) error { return unmarshalName(v, activations, text) }

// Smoothing says which entries of the vocabulary label smoothing gives weight to.
type Smoothing uint8

const (
	SmoothOthers Smoothing = iota // all but the target
	SmoothAll                     // all, the target among them (PyTorch)
)

var smoothings = []string{"others", "all"}

func (v Smoothing) MarshalText() ([]byte, error)     { return marshalName(v, smoothings) }
func (v *Smoothing) UnmarshalText(text []byte) error { return unmarshalName(v, smoothings, text) }

// Start says how weights begin; see Transformer.Init.
type Start uint8

const (
	XavierStart Start = iota
	PyTorchStart
)

var starts = []string{"xavier", "pytorch"}

func (v Start) MarshalText() ([]byte, error)     { return marshalName(v, starts) }
func (v *Start) UnmarshalText(text []byte) error { return unmarshalName(v, starts, text) }

func marshalName[V ~uint8](v V, names []string) ([]byte, error) {
	if int(v) >= len(names) {
		return nil, fmt.Errorf("%d is none of %s", v, strings.Join(names, ", "))
	}
	return []byte(names[v]), nil
}

func unmarshalName[V ~uint8](v *V, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%.80q is none of %s", text, strings.Join(names, ", "))
	}
	*v = V(i)
	return nil
}
