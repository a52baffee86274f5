package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tfm/model"
	"tfm/model/decode"
	"tfm/serve"
	"tfm/text"
	"tfm/text/split"
	"tfm/text/tokenizer/vocab"
	"tfm/translate"
)

// random writes a model with random weights and returns its path.
func random(t testing.TB, dir, src, tgt string, seed uint64, change ...func(*model.Config)) string {
	t.Helper()
	var v vocab.Trainer
	for _, s := range []string{"the red dog runs. a cat sleeps.", "der rote Hund rennt. eine Katze schläft."} {
		v.Add(text.Pair{Source: s, Target: s})
	}
	tokens, err := v.Train(300, true)
	if err != nil {
		t.Fatal(err)
	}
	config := model.Config{DModel: 16, Heads: 2, DFF: 32, EncoderLayers: 1, DecoderLayers: 1, Norm: model.PreNorm,
		SrcVocab: tokens.Source.Size(), TgtVocab: tokens.Target.Size(), Tie: model.TieAll, NormEps: 1e-5, MaxLen: 40}
	for _, f := range change {
		f(&config)
	}
	m, err := model.New(config)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocForTraining()
	m.Init(seed)
	files, err := tokens.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, src+"-"+tgt+".safetensors")
	if err := (model.File{Model: m, Tokenizers: files, SrcLang: src, TgtLang: tgt, Decoding: decode.Settings{LengthPenalty: decode.PenaltyWu, Alpha: 0.6, SplitSentences: true}.String()}).Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// newServer returns a server of models from en to de and from de to fr.
func newServer(t *testing.T, o serve.Options) (*httptest.Server, string) {
	t.Helper()
	dir := t.TempDir()
	random(t, dir, "en", "de", 1)
	random(t, dir, "de", "fr", 2)
	o.Models = []string{dir}
	return start(t, o), dir
}

// start returns a server with options.
func start(t *testing.T, o serve.Options) *httptest.Server {
	t.Helper()
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.Close(); s.Close() })
	return h
}

// writeFile writes a text to a file.
func writeFile(t testing.TB, path, s string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}

// want returns what a model says.
func want(t *testing.T, path, s string) string {
	t.Helper()
	tr, err := translate.Open(path, translate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	results, err := tr.Do(context.Background(), translate.Request{Texts: []string{s}, Split: &split.Options{Lines: true}, SplitSeveral: true})
	if err != nil {
		t.Fatal(err)
	}
	return results[0].Best()
}

// bodyOf sends a request, following no redirect, and returns the response and its body.
func bodyOf(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	return response, string(body)
}

// send sends a request and returns the status and the object of the answer.
func send(t *testing.T, r *http.Request) (status int, answer map[string]any) {
	t.Helper()
	response, body := bodyOf(t, r)
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%s %s: %v in %q", r.Method, r.URL, err, body)
	}
	return response.StatusCode, answer
}

// eventsOf sends a request of a client that accepts events and returns them.
func eventsOf(t *testing.T, r *http.Request) string {
	t.Helper()
	r.Header.Set("Accept", "text/event-stream")
	response, body := bodyOf(t, r)
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("%s: Content-Type %q", r.URL, kind)
	}
	return body
}

func request(method, url, contentType, body string) *http.Request {
	r, _ := http.NewRequest(method, url, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

const (
	form       = "application/x-www-form-urlencoded"
	jsonObject = "application/json"
)

// All encodings of a request have the translation of package translate.
func TestEncodings(t *testing.T) {
	h, dir := newServer(t, serve.Options{})
	const s = "the red dog runs. a cat sleeps."
	expected := want(t, filepath.Join(dir, "en-de.safetensors"), s)
	fields := url.Values{"q": {s}, "source": {"en"}, "target": {"de"}, "api_key": {""}}.Encode()
	object := `{"q": "` + s + `", "source": "EN", "target": "de", "api_key": null}`
	multipart := "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n" + s + "\r\n--x\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n--x--\r\n"
	for name, r := range map[string]*http.Request{
		"form":           request("POST", h.URL+"/translate", form, fields),
		"json":           request("POST", h.URL+"/translate", jsonObject, object),
		"charset":        request("POST", h.URL+"/translate", jsonObject+"; charset=utf-8", object),
		"multipart":      request("POST", h.URL+"/translate", "multipart/form-data; boundary=x", multipart),
		"query":          request("POST", h.URL+"/translate?"+fields, "", ""),
		"GET with query": request("GET", h.URL+"/translate?"+fields, "", ""),
		"GET with body":  request("GET", h.URL+"/translate", jsonObject, object),
		"two slashes":    request("POST", h.URL+"//translate", form, fields),
		"byte order":     request("POST", h.URL+"/translate", jsonObject, "\uFEFF"+object),
		"q twice":        request("POST", h.URL+"/translate", form, fields+"&q=b"),
	} {
		if status, answer := send(t, r); status != 200 || answer["translatedText"] != expected || len(answer) != 1 {
			t.Errorf("%s: status %d, %v, want the translation %q only", name, status, answer, expected)
		}
	}
}

// A list has a list; a pair without a model takes two; languages have other names too.
func TestTexts(t *testing.T) {
	h, dir := newServer(t, serve.Options{})
	post := func(body string) (int, map[string]any) {
		return send(t, request("POST", h.URL+"/translate", jsonObject, body))
	}
	first, second := filepath.Join(dir, "en-de.safetensors"), filepath.Join(dir, "de-fr.safetensors")
	status, answer := post(`{"q": ["the red dog runs.", "1 2 3", ""], "source": "en", "target": "fr"}`)
	list, _ := answer["translatedText"].([]any)
	if status != 200 || len(list) != 3 || list[0] != want(t, second, want(t, first, "the red dog runs.")) || list[1] != "1 2 3" || list[2] != "" {
		t.Errorf("status %d, %v", status, answer)
	}
	_, answer = post(`{"q": ["the red dog runs.", "1 2 3", ""], "source": "en", "target": "de", "alternatives": 2}`)
	if a, _ := answer["alternatives"].([]any); len(a) != 3 || len(a[0].([]any)) == 0 || len(a[1].([]any)) != 0 {
		t.Errorf("alternatives %v, want some for the first text only", answer["alternatives"])
	}
	_, answer = post(`{"q": "<p>the <b>red dog</b> runs.</p>", "source": "en", "target": "de", "format": "html", "alternatives": 2}`)
	if a, _ := answer["alternatives"].([]any); len(a) == 0 || a[0] == answer["translatedText"] || !strings.HasPrefix(a[0].(string), "<p>") || strings.Count(a[0].(string), "<b>") != 1 {
		t.Errorf("alternatives %q of %q, want some with the elements", answer["alternatives"], answer["translatedText"])
	}
	status, answer = post(`{"text": "the red dog runs.", "source_lang": "EN", "target_lang": "DE"}`)
	if status != 200 || answer["data"] != want(t, first, "the red dog runs.") || answer["code"] != 200.0 {
		t.Errorf("DeepLX: status %d, %v", status, answer)
	}
	_, answer = send(t, request("POST", h.URL+"/v2/translate", jsonObject, `{"text": ["the <x id=\"1\">red dog</x> runs."], "source_lang": "EN", "target_lang": "DE", "tag_handling": "xml", "ignore_tags": ["x"]}`))
	if list, _ := answer["translations"].([]any); len(list) != 1 || !strings.Contains(list[0].(map[string]any)["text"].(string), `<x id="1">red dog</x>`) {
		t.Errorf("DeepL with ignored elements: %v", answer)
	}
	status, answer = post(`{"text_list": ["the red dog runs."], "source_lang": "en", "target_lang": "de"}`)
	if list, _ := answer["translations"].([]any); status != 200 || len(list) != 1 || list[0].(map[string]any)["text"] != want(t, first, "the red dog runs.") {
		t.Errorf("Immersive Translate: status %d, %v", status, answer)
	}
}

// A text or sentence of the memory has its translation, in the languages that TMX names; others
// have those of the models.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	tmx, tsv, broken, swapped := filepath.Join(dir, "m.tmx"), filepath.Join(dir, "m.tsv"), filepath.Join(dir, "m.broken"), filepath.Join(dir, "swapped.tsv")
	const unit = `<tu><tuv xml:lang="en-US"><seg>the red dog runs.</seg></tuv><tuv xml:lang="de"><seg>HUND</seg></tuv></tu>`
	for path, s := range map[string]string{tmx: `<tmx version="1.4"><header srclang="en-US"/><body>` + unit + `</body></tmx>`, tsv: "the red dog runs.\tHUND\n", broken: `<tmx version="1.4"><header srclang="en-US"/><body>` + unit + `<tu>`} {
		writeFile(t, path, s)
	}
	h, models := newServer(t, serve.Options{Memory: tmx})
	cat := want(t, filepath.Join(models, "en-de.safetensors"), "a cat sleeps.")
	for text, translation := range map[string]string{"the red  dog runs.": "HUND", "the red dog runs. a cat sleeps.": "HUND " + cat, "a cat sleeps.": cat} {
		status, answer := send(t, request("POST", h.URL+"/v1/translate", jsonObject, `{"texts": ["`+text+`"], "source": "en", "target": "de", "alignment": true, "alternatives": 2, "next": 2}`))
		texts, _ := answer["texts"].([]any)
		if status != 200 || len(texts) != 1 || texts[0].(map[string]any)["translation"] != translation {
			t.Errorf("%q: status %d, %v, want %q", text, status, answer, translation)
			continue
		}
		first := texts[0].(map[string]any)["sentences"].([]any)[0].(map[string]any)
		if first["memory"] == true != strings.HasPrefix(translation, "HUND") {
			t.Errorf("%q: sentence %v", text, first)
		}
		if next, _ := texts[0].(map[string]any)["next"].([]any); len(next) == 0 {
			t.Errorf("%q: %v, want other translations in next", text, texts[0])
		}
		status, answer = send(t, request("POST", h.URL+"/translate", jsonObject, `{"q": "`+text+`", "source": "en", "target": "de"}`))
		if status != 200 || answer["translatedText"] != translation {
			t.Errorf("%q: status %d, %v, want %q", text, status, answer, translation)
		}
	}
	for path, want := range map[string]string{tsv: "2 pairs", filepath.Join(dir, "none"): "no such file", broken: "m.broken:1: "} {
		if s, err := serve.New(serve.Options{Models: []string{models}, Memory: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want an error with %s", path, s, err, want)
		}
	}
	start(t, serve.Options{Models: []string{filepath.Join(models, "en-de.safetensors")}, Memory: tsv})
	reversed := strings.Repeat("Der Hund, den wir gestern sahen, lief über die Straße.\tThe dog that we saw yesterday ran across the street.\n", 60)
	writeFile(t, swapped, reversed)
	if _, err := serve.New(serve.Options{Models: []string{filepath.Join(models, "en-de.safetensors")}, Memory: swapped}); err == nil || !strings.Contains(err.Error(), "swapped.tsv: found sources that look like de") {
		t.Errorf("columns in the other order: error %v", err)
	}
}

// A memory of two languages is that of both directions of a model of many, and of no others.
func TestMemoryOfManyLanguages(t *testing.T) {
	dir := t.TempDir()
	many := random(t, dir, "", "", 3, func(c *model.Config) {
		c.Source, c.TargetBegins = model.FromFirst, true
		c.SrcLanguages = "eng_Latn=270 deu_Latn=271 fra_Latn=272 zho_Hans=273 zho_Hant=274"
		for i := range 200 { // as many as NLLB-200 has: 40,000 pairs
			c.SrcLanguages += model.Languages(fmt.Sprintf(" q%c%c=275", 'a'+i/20, 'a'+i%20))
		}
		c.TgtLanguages = c.SrcLanguages
	})
	memory := func(languages ...string) string {
		var b strings.Builder
		for _, l := range languages {
			b.WriteString(`<tuv xml:lang="` + l + `"><seg>` + l + `</seg></tuv>`)
		}
		path := filepath.Join(dir, strings.Join(languages, "-")+".tmx")
		writeFile(t, path, `<tmx version="1.4"><header srclang="en-US"/><body><tu>`+b.String()+`</tu></body></tmx>`)
		return path
	}
	h := start(t, serve.Options{Models: []string{many}, Memory: memory("en-US", "zh-CN")})
	for _, c := range []struct{ text, source, target, want string }{
		{"en-US", "en", "zh-Hans", "zh-CN"}, {"zh-CN", "zh-Hans", "en", "en-US"}, {"en-US", "en", "zh-Hant", ""}, {"en-US", "en", "de", ""}, {"en-US", "de", "zh-Hans", ""},
	} {
		status, answer := send(t, request("POST", h.URL+"/v1/translate", jsonObject, `{"texts": ["`+c.text+`"], "source": "`+c.source+`", "target": "`+c.target+`"}`))
		texts, _ := answer["texts"].([]any)
		if status != 200 || len(texts) != 1 || c.want != "" != (texts[0].(map[string]any)["translation"] == "zh-CN" || texts[0].(map[string]any)["translation"] == "en-US") ||
			c.want != "" && texts[0].(map[string]any)["translation"] != c.want {
			t.Errorf("%v: status %d, %v", c, status, answer)
		}
	}
	for path, want := range map[string]string{memory("en", "es"): "found no model for en and es", memory("en", "de", "fr"): "expected two languages"} {
		if s, err := serve.New(serve.Options{Models: []string{many}, Memory: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want an error with %s", path, s, err, want)
		}
	}
}

// The server's own interface has the sentences of a text with their ranges, and what can follow
// a prefix; as events it has the same translation.
func TestV1(t *testing.T) {
	h, dir := newServer(t, serve.Options{})
	const s = "the red dog runs. a cat sleeps."
	expected := want(t, filepath.Join(dir, "en-de.safetensors"), s)
	body := `{"texts": ["` + s + `"], "source": "en", "target": "de", "alignment": true}`
	status, answer := send(t, request("POST", h.URL+"/v1/translate", jsonObject, body))
	texts, _ := answer["texts"].([]any)
	if status != 200 || len(texts) != 1 || texts[0].(map[string]any)["translation"] != expected {
		t.Fatalf("status %d, %v, want %q", status, answer, expected)
	}
	sentences := texts[0].(map[string]any)["sentences"].([]any)
	if len(sentences) != 2 || sentences[1].(map[string]any)["source"].([]any)[0] != 18.0 {
		t.Errorf("sentences %v, want two, the second from byte 18", sentences)
	}
	events := eventsOf(t, request("POST", h.URL+"/v1/translate", jsonObject, body))
	if !strings.Contains(events, `"translation":`+quoted(expected)) || !strings.HasSuffix(events, "event: end\ndata: {}\n\n") {
		t.Errorf("events %q, want the translation and the end", events)
	}
	faulty := request("POST", h.URL+"/v1/translate", jsonObject, `{"texts": "a dog", "source": "en", "target": "zz"}`)
	if events, want := eventsOf(t, faulty), "event: error\ndata: {\"error\":\"zz is not supported\",\"status\":400}\n\n"; events != want {
		t.Errorf("events %q, want %q", events, want)
	}
	status, answer = send(t, request("POST", h.URL+"/v1/translate", jsonObject, `{"texts": ["a cat sleeps."], "source": "en", "target": "de", "prefix": "ein", "next": 3}`))
	list, _ := answer["texts"].([]any)[0].(map[string]any)["next"].([]any)
	if status != 200 || len(list) < 2 {
		t.Errorf("status %d, %v, want continuations", status, answer)
	}
	for _, x := range list {
		if !strings.HasPrefix(x.(string), "ein") {
			t.Errorf("continuation %q, want one of \"ein\"", x)
		}
	}
}

// Faults have the status and the message of LibreTranslate.
func TestErrors(t *testing.T) {
	h, _ := newServer(t, serve.Options{MaxCharacters: 100, MaxTexts: 2})
	for body, expected := range map[string]string{
		`{"source": "en", "target": "de"}`:                                          "Invalid request: missing q parameter",
		`{"q": "", "source": "en", "target": "de"}`:                                 "Invalid request: missing q parameter",
		`{"q": "a", "target": "de"}`:                                                "Invalid request: missing source parameter",
		`{"q": "a", "source": "en"}`:                                                "Invalid request: missing target parameter",
		`{"q": "a", "source": "en", "target": "zz"}`:                                "zz is not supported",
		`{"q": "a", "source": "fr", "target": "en"}`:                                "English (en) is not available as a target language from French (fr)",
		`{"q": "a", "source": "en", "target": "de", "format": "rtf"}`:               "rtf format is not supported",
		`{"q": "a", "source": "en", "target": "de", "alternatives": "x"}`:           "Invalid request: alternatives parameter is not a number",
		`{"q": ["a", "b", "c"], "source": "en", "target": "de"}`:                    "Invalid request: request (3) exceeds text limit (2)",
		`{"q": "` + strings.Repeat("é", 101) + `", "source": "en", "target": "de"}`: "Invalid request: request (101) exceeds text limit (100)",
		`{"q": 7, "source": "en", "target": "de"}`:                                  "Invalid request: q parameter is not a string",
		`{"q": "a", "source": "en", "target": "de", "alternatives": [1]}`:           "Invalid request: alternatives parameter is not a number",
		`{"q": "a", "source": "en", "target": "de", "format": ["html"]}`:            `["html"] format is not supported`,
		`[]`:                "Invalid JSON format",
		`{"q`:               "Invalid JSON format",
		"{\"q\": \"\xff\"}": "Invalid JSON format",
	} {
		if status, answer := send(t, request("POST", h.URL+"/translate", jsonObject, body)); status != 400 || answer["error"] != expected {
			t.Errorf("%s: status %d, %v, want %q", body, status, answer, expected)
		}
	}
	for path, field := range map[string]string{"/v2/translate": "message", "/translate": "code"} {
		status, answer := send(t, request("POST", h.URL+path, jsonObject, `{"text": "a", "target_lang": "zz"}`))
		if status != 400 || answer["message"] != "zz is not supported" || answer[field] == nil || answer["error"] != nil {
			t.Errorf("%s: status %d, %v, want a message", path, status, answer)
		}
	}
}

// Keys are counted, in a parameter and in the header. TestGuessedKeys has wrong ones.
func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	key, line := serve.NewKey("mastodon")
	writeFile(t, path, "# clients\n"+line+" per-minute=2 characters=50\n")
	h, _ := newServer(t, serve.Options{Keys: path})
	post := func(key string) (int, map[string]any) {
		return send(t, request("POST", h.URL+"/translate", jsonObject, `{"q": "a dog", "source": "en", "target": "de", "api_key": "`+key+`"}`))
	}
	r := request("POST", h.URL+"/translate", jsonObject, `{"q": "a dog", "source": "en", "target": "de"}`)
	r.Header.Set("Authorization", "DeepL-Auth-Key "+key)
	if status, answer := send(t, r); status != 200 {
		t.Errorf("key in the header: status %d, %v", status, answer)
	}
	if status, answer := post(key); status != 200 {
		t.Errorf("key: status %d, %v", status, answer)
	}
	if status, answer := post(key); status != 429 || answer["error"] != "Slowdown: 2 per 1 minute" {
		t.Errorf("third request: status %d, %v", status, answer)
	}
}

// A page of another site, or one whose name resolves to this machine, gets no answer.
func TestOrigins(t *testing.T) {
	h, _ := newServer(t, serve.Options{Hosts: []string{"translate.example"}, Origins: []string{"https://app.example"}})
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"evil.example", "", 403}, {"translate.example:5000", "", 200}, {"localhost:5000", "", 200}, {"[::1]:5000", "", 200},
		{"", "https://evil.example", 403}, {"", "https://app.example", 200}, {"", "null", 403},
	} {
		r := request("GET", h.URL+"/health", "", "")
		if c.host != "" {
			r.Host = c.host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if status, answer := send(t, r); status != c.status {
			t.Errorf("host %q, origin %q: status %d, %v, want %d", c.host, c.origin, status, answer, c.status)
		}
	}
}

// /spec has the routes, each of them with its methods only.
func TestSpec(t *testing.T) {
	h, _ := newServer(t, serve.Options{})
	status, answer := send(t, request("GET", h.URL+"/spec", "", ""))
	paths, _ := answer["paths"].(map[string]any)
	if status != 200 || len(paths) < 15 {
		t.Fatalf("status %d, %d paths", status, len(paths))
	}
	for path, operations := range paths {
		for _, method := range []string{"GET", "POST"} {
			response, _ := bodyOf(t, request(method, h.URL+path, "", ""))
			_, documented := operations.(map[string]any)[strings.ToLower(method)]
			if refused := response.StatusCode == 405; refused == documented {
				t.Errorf("%s %s: status %d, documented %v", method, path, response.StatusCode, documented)
			}
		}
	}
}
