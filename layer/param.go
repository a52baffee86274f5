package layer

import "tfm/mat"

// Param is one parameter: a named view into the weights and gradients of its Params.
type Param struct {
	Name  string
	Shape []int     // one or two sizes; a matrix W of x·W is [in, out]
	W     []float32 // weights; nil until Params.AllocWeights
	G     []float32 // gradient, which every Backward adds to; nil until Params.AllocForTraining

	// Maps are the numbers of columns of the linear maps whose matrices W holds side by side,
	// such as the projections of queries, keys and values; nil if W is not of a Linear.
	Maps []int

	accumulator *Accumulator // nil if microbatches come one after another
	gates       []gate       // one for each block of rows of G
}

// Size returns the number of weights.
func (p *Param) Size() int {
	n := 1
	for _, s := range p.Shape {
		n *= s
	}
	return n
}

// vector returns the weights of a bias, or nil if p is nil: the layer has no bias.
func (p *Param) vector() []float32 {
	if p == nil {
		return nil
	}
	return p.W
}

// Weights views the weights of a parameter with two sizes as a matrix.
func (p *Param) Weights() mat.Matrix { return mat.Of(p.W, p.Shape[0], p.Shape[1]) }

// Grad views the gradient of a parameter with two sizes as a matrix.
func (p *Param) Grad() mat.Matrix { return mat.Of(p.G, p.Shape[0], p.Shape[1]) }

// Params are all parameters of a model, in the order of their declaration, in one flat slice: the
// optimizer is one loop over it, the norm of the gradient one reduction, a checkpoint one write.
type Params struct {
	List []*Param
	W, G []float32 // all weights, all gradients
	size int       // number of weights declared

	gates []gate // of all parameters in order, if there are gradients
}

// New declares a parameter. It allocates no weights, so that a model can be described without them.
func (ps *Params) New(name string, shape ...int) *Param {
	p := &Param{Name: name, Shape: shape}
	ps.List = append(ps.List, p)
	ps.size += p.Size()
	return p
}

// Count returns the number of weights declared.
func (ps *Params) Count() int { return ps.size }

// AllocWeights makes the weights, all zeros, without gradients.
func (ps *Params) AllocWeights() {
	ps.W, ps.G, ps.gates = mat.New(1, ps.size).Data, nil, nil
	lo := 0
	for _, p := range ps.List {
		hi := lo + p.Size()
		p.W, p.G = ps.W[lo:hi:hi], nil
		lo = hi
	}
}

// AllocWeightsOf makes the weights of some parameters, all zeros, without those of others.
func AllocWeightsOf(params []*Param) {
	size := 0
	for _, p := range params {
		size += p.Size()
	}
	w := make([]float32, size)
	for _, p := range params {
		n := p.Size()
		p.W, w = w[:n:n], w[n:]
	}
}

// AllocForTraining makes the weights and the gradients, all zeros.
func (ps *Params) AllocForTraining() {
	ps.AllocWeights()
	ps.G, ps.gates = mat.New(1, ps.size).Data, ps.newGates()
	lo := 0
	for _, p := range ps.List {
		hi := lo + p.Size()
		p.G = ps.G[lo:hi:hi]
		lo = hi
	}
}
