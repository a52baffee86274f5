// Package pytorch writes models for torch.nn.Transformer, in pytorch.go, with the program
// pytorch.py that loads them.
package pytorch
