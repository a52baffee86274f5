package serve

import (
	"embed"
	"net/http"
	"strings"
)

//go:embed page
var page embed.FS

// pagePolicy lets the page load its own files only, without code or styles in the document.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// servePage answers with the page and its files.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "page/index.html"
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, page, name)
}
