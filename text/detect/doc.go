// Package detect tells in which language a text is: by its script, then by the n-grams of its words
// if several languages have the script. It imports the standard library and text packages.
//
//	detect.go     Detector: the language of a text, its candidates
//	sentences.go  the languages of the sentences of a text
//	default.go    the profiles of the binary
//
// Package profile has the method. The program internal/build makes the file profiles.bin, with
//
//	text/detect/internal/build/collect.sh TEXTS
//	go run ./text/detect/internal/build -texts TEXTS -o text/detect/profiles.bin
//
// # Texts
//
// The profiles are made from texts whose licences allow any use. They hold weights of
// n-grams, no text:
//
//   - Debian bookworm, main: descriptions of packages, translated by the Debian Description
//     Translation Project, catalogues of gettext, pages of help, manual pages and guides of the
//     packages that collect.sh lists (GPL, LGPL, MPL 2.0, CC BY-SA and the like, by package)
//   - Common Voice: sentences to read aloud (CC0)
//   - TICO-19: translations and terms about Covid-19 (CC0)
//   - Universal Dependencies: sentences of the treebanks that collect.sh lists (CC BY-SA, LGPL-LR)
//   - the Universal Declaration of Human Rights, and speeches of US presidents (public domain)
package detect
