package serve

import (
	"cmp"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"tfm/translate"
)

// Options are the options of a Server. The zero value of a limit is its default.
type Options struct {
	Models []string // model files, or folders of files *.safetensors
	Open   translate.Options

	Glossaries []string // files of translate.ReadGlossary, chosen by their names
	Memory     string   // file of translate.Translator.ReadMemory; "" for none
	Protect    bool     // copy the ranges of markup.Protected in texts too, as in documents

	// Keys is the file of keys, a line of NewKey for each, with limits after its name such as
	// per-minute=N, per-day=N and characters=N. With "" no request needs a key.
	Keys string

	Hosts      []string       // names in Host that are answered besides localhost and addresses
	Origins    []string       // of pages of other sites that may read answers; "*" for all
	Prefix     string         // before the paths, such as /translate
	TrustProxy []netip.Prefix // proxies whose X-Forwarded-For is believed

	TLSCert, TLSKey string // PEM files for Serve; "" for connections without encryption

	MaxWait        time.Duration // expected wait beyond which a request is refused; 8 s
	MaxBody        int64         // bytes of a request with a document; 16 MB
	MaxCharacters  int           // of a request, unless its key has another limit; 200,000
	MaxTexts       int           // of a request; 1,000
	MaxConnections int           // of Serve at a time; three quarters may have requests; 4,096

	Log *slog.Logger // a line for each request, without texts, keys or addresses; nil for none
}

// withDefaults returns the options with defaults for limits that are 0.
func (o Options) withDefaults() Options {
	o.MaxWait = cmp.Or(o.MaxWait, 8*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.MaxCharacters = cmp.Or(o.MaxCharacters, 200_000)
	o.MaxTexts = cmp.Or(o.MaxTexts, 1000)
	o.MaxConnections = cmp.Or(o.MaxConnections, 4096)
	o.Prefix = strings.TrimSuffix(o.Prefix, "/")
	return o
}
