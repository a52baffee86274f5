// Package stages does work of many commands in turn, such as translating a text and training on the
// translations, so that after an interruption the same command continues. It imports packages cli,
// distill, filter, release, settings, terminal and translator, format, model, safetensors, text and
// train.
//
//	work.go     Work: stages, their records, and the folder of their files
//	teacher.go  Teacher: a model whose translations are learned, part by part
//	course.go   Course: the training of a model as a stage
package stages
