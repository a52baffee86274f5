// Package model is the Transformer: its configuration and presets, the encoder and decoder layers, passes of
// batches forward and backward, and the model file. Package decode translates with it.
//
// The way of a batch: Batch (ragged token ids) → Pass: parts of it, each on one thread → stacks.forward: embeddings,
// encoder layers, decoder layers → layer.Output: logits, loss and their derivative, in chunks → stacks.backward:
// the same stations in reverse, but for the embeddings, which take the whole batch's derivatives at its end. Sizes have the names of package layer; m counts source tokens and n target tokens.
//
// The files: config.go (Config and presets), variants.go (the readings of the paper that a Config can name),
// transformer.go (parameters), init.go (how they begin), layers.go (one layer of each stack), dropout.go (what is
// dropped where), batch.go, pass.go (parts and threads), stacks.go (a part through both stacks), rdrop.go, precision.go,
// attention.go (the attention weights of a batch), file.go (the model file), language.go (the names of languages in it),
// field_error.go, carry.go (its weights in another model), flops.go (the
// work of a step); classifier.go (the layers over rows of numbers, such as the lines of an image).
package model
