// Package argos reads packages of Argos Translate, in argos.go: a model of CTranslate2 with its
// tokenizer and its languages.
package argos
