// Package serve puts package translate behind HTTP, with the interfaces of LibreTranslate, DeepLX,
// Immersive Translate and DeepL.
//
//	s, err := serve.New(serve.Options{Models: []string{"en-de.safetensors"}})
//	…
//	l, err := net.Listen("tcp", "127.0.0.1:5000")
//	…
//	err = s.Serve(ctx, l)
//
// The texts of all requests share decode steps; scheduler decides which text is next. A request
// whose texts would wait longer than Options.MaxWait is refused at once. The work of a client that
// has gone ends at the next step.
//
// The way of a request: Server.ServeHTTP checks where it comes from → call reads its parameters and
// checks its key → libretranslate.go, deepl.go or v1.go, by interface → call.admit →
// call.translateLines, line by line as scheduler lets them through → translate.Translator → JSON.
//
// The files: server.go (Options, New, routes), listen.go (connections), guard.go (hosts, origins,
// proxies), body.go (limits of bodies), keys.go (keys of clients), params.go (JSON, forms,
// queries), call.go (a request), libretranslate.go, deepl.go, v1.go (the interfaces), files.go
// (documents), detect.go (languages of texts), work.go
// (translations), schedule.go (whose text is next), catalog.go (models and pairs of languages),
// glossaries.go (glossaries by name), respond.go (answers and errors),
// metrics.go (for Prometheus), spec.go (OpenAPI), page.go (the page in a browser).
//
// # Terms
//
//   - text: an element of a request's q or text
//   - caller: a key, or without keys an address; callers share the machine equally
//   - step: a translation by one model; a pair without a model of its own takes two
package serve
