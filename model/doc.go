// Package model is the Transformer: its configuration and presets, the layers of the encoder and
// the decoder, forward and backward passes over batches, and the model file. It imports attn, lang,
// layer, mat and model/safetensors. Package model/decode translates with it, package train trains
// it.
//
// The way of a batch: Batch (ragged token ids) → Pass.Train splits it into microbatches, each on
// one thread → stacks.forward: embeddings, encoder layers, decoder layers → layer.Output:
// logits, loss and its gradient, in chunks → stacks.backward: the same layers in reverse →
// Pass.embedBackward: the gradients of the embeddings, for the whole batch at once.
//
// Sizes have the names of package layer; m counts source tokens and n target tokens. A struct field
// called p holds parameters, one called act activations.
//
// The files: config.go (Config and presets), variants.go (the readings of the paper that a Config
// can select), field_error.go (errors of configurations), transformer.go (the parameters), init.go
// (their initial values), layers.go (one layer of each stack), stacks.go (both stacks, for one
// microbatch), dropout.go (random streams of dropout), batch.go, pass.go (microbatches and
// threads), rdrop.go, tuner.go (the last layer alone), precision.go, attention.go (attention
// weights of a batch), file.go (the model file), layout.go and languages.go (the languages of a
// model and their tokens), carry.go (weights copied into a model with other vocabularies), flops.go
// (operations of a training step), classifier.go (the layers over rows of float32 values, such as
// the lines of an image).
//
// # Terms
//
//   - batch: the sentence pairs of one gradient, ragged
//   - microbatch: consecutive pairs of a batch that one worker takes through the model
//   - worker: parameters, activations and workspace of one thread
//   - pass: memory and workers that take batches through a model
//   - stack: the layers of the encoder or of the decoder
//   - memory: the encoder's output, which the decoder's cross-attention reads
//   - site: one of the places in a stack where dropout applies
//   - preset: a named Config
//   - tied: of matrices that are one parameter
//   - header: the metadata of a model file
package model
