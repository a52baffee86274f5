// Package model is the Transformer: its configuration and presets, the encoder's and the decoder's
// layers, passes of batches forward and backward, and the model file. It imports attn, layer, mat
// and model/safetensors; package model/decode translates with it, package train trains it.
//
// The way of a batch: Batch (ragged token ids) → Pass.Train: microbatches, each on one thread →
// stacks.forward: embeddings, encoder layers, decoder layers → layer.Output: logits, loss and their
// derivative, in chunks → stacks.backward: the same stations in reverse → stacks.embedBackward: the
// embeddings, which take the whole batch's derivatives at its end.
//
// Sizes have the names of package layer; m counts source tokens and n target tokens. A parameter is
// found in a struct called p, an activation in one called act.
//
// The files: config.go (Config and presets), variants.go (the readings of the paper that a Config
// can name), field_error.go (what is wrong with a field), transformer.go (the parameters), init.go
// (their first values), layers.go (a layer of each stack), stacks.go (a microbatch through both
// stacks), dropout.go (what is dropped where), batch.go, pass.go (microbatches and threads),
// rdrop.go, precision.go, attention.go (the attention weights of a batch), file.go (the model
// file), language.go (the names of languages in it), carry.go (weights carried into another model),
// flops.go (the work of a step), classifier.go (the layers over rows of numbers, such as the lines
// of an image).
package model
