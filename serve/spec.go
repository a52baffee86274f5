package serve

import (
	"bytes"
	_ "embed"
	"net/http"
	"strconv"
)

// spec describes all routes but those of the page, as OpenAPI 3.
//
//go:embed spec.json
var spec []byte

// serveSpec answers /spec. The server in it is the prefix of the paths.
func serveSpec(w http.ResponseWriter, prefix string) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(bytes.Replace(spec, []byte(`"url":"/"`), []byte(`"url":`+strconv.Quote(prefix+"/")), 1))
}
