package serve

import (
	"embed"
	"net/http"
)

//go:embed page
var page embed.FS

// pagePolicy lets the page load its own files only, without code or styles in the document.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// servePage answers with the page or one of its files.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if name == "" {
		name = "index.html"
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeFileFS(w, r, page, "page/"+name)
}
