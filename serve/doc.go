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
// checks its key → answerLibre, answerDeepL, answerV1 or answerDocument, by interface → admit,
// unless it would wait too long → schedule, in its caller's turn → run, line by line, by the models
// of its languages → the answer as JSON or events.
//
// The files call only those that stand after them: listen.go (connections), server.go (New,
// routes), v1.go, deepl.go, libretranslate.go (the interfaces), document.go (documents), work.go
// (admit, schedule, run), languages.go (of texts, and their models), call.go (a request),
// backend.go (what calls share), guard.go (hosts, origins, proxies), options.go (Options),
// metrics.go (for Prometheus), keys.go (keys of clients), schedule.go (whose text is next),
// limits.go (sizes and times), params.go (JSON, forms, queries), store.go (translated documents),
// page.go (the page in a browser), respond.go (answers and errors), catalog.go (models and pairs of
// languages), glossaries.go (glossaries by name), spec.go (OpenAPI).
//
// # Terms
//
//   - text: an element of a request's q or text
//   - caller: a key, or without keys an address; callers share the machine equally
//   - step: a translation by one model; a pair without a model of its own takes two
package serve
