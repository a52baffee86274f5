// Package lang names languages: tags of BCP 47, codes of ISO 639 and of models, and which of them
// mean one language. It imports only the standard library.
//
//	tag.go     well-formed tags, and what else people and models call languages
//	parse.go   language, script and region of a code
//	match.go   which languages answer a request for one, which are the same, and which are close
//	codes.go   ISO 639, scripts by language and region, other names of languages
//	names.go   names in English
package lang
