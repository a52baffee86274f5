// Package detect tells in which language a text is: by its script, then by the n-grams of its words
// if several languages have the script. It imports the standard library and text packages.
//
//	detect.go    Detector: the language of a text, its candidates
//	majority.go  Majority: the language of most of many sentences; sides in each other's language
//	default.go   the profiles of the binary
//
// Package profile has the method. The program tools/languages makes the file profiles.bin, from
// clean lines of text.
//
// # Accuracy
//
// Of FLORES (dev, 997 sentences a language), which is in no profile, in percent, for the 52
// languages that lingua has too, which are the only candidates except of langdetect
// (TestFlores; lingua-language-detector 2.1.1, fastText's lid.176.ftz, langdetect 1.0.9):
//
//	                       detect  lingua high  lingua low  lid.176.ftz  langdetect
//	sentence                 97.1         97.8        96.8         94.8        86.0
//	first 20 characters      89.9         89.6        80.5         79.3        75.7
//	first word               72.8         75.7        66.7         58.1
//
// With all languages of Default as candidates, and for the 59 languages of FLORES, it is 96.9, 88.6
// and 69.8. Of the answers with a confidence of 0.8 to 0.9, 83 to 89 of 100 are right, of those
// above 98 to 99. Sentences in Bosnian are mostly called Croatian, and half of those in Malay
// Indonesian, as their texts are few.
//
// # Texts
//
// The profiles hold weights of n-grams, no text. They are made from free texts, some under licences
// that require derived texts to have the same licence:
//
//   - Debian bookworm, main: descriptions of packages, translated by the Debian Description
//     Translation Project, catalogues of gettext, pages of help, manual pages and guides of the
//     packages of LibreOffice, Firefox, GNOME, KDE and others (GPL, LGPL, MPL 2.0, CC BY-SA and
//     the like, by package)
//   - Common Voice: sentences to read aloud (CC0)
//   - TICO-19: translations and terms about Covid-19 (CC0)
//   - Universal Dependencies: sentences of 48 treebanks (CC BY-SA, LGPL-LR)
//   - the Universal Declaration of Human Rights, and speeches of US presidents (public domain)
package detect
