package serve_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tfm/serve"
)

// The page and its files have their policy and type, also below a prefix, and fit 60 KB.
func TestPage(t *testing.T) {
	h, _ := newServer(t, serve.Options{Prefix: "/tr"})
	size := 0
	for _, c := range []struct {
		path, contentType string
		status            int
	}{
		{"/tr/", "text/html; charset=utf-8", 200}, {"/tr/page/page.js", "text/javascript; charset=utf-8", 200}, {"/tr/page/api.js", "text/javascript; charset=utf-8", 200},
		{"/tr/page/lines.js", "text/javascript; charset=utf-8", 200}, {"/tr/page/texts.js", "text/javascript; charset=utf-8", 200}, {"/tr/page/files.js", "text/javascript; charset=utf-8", 200},
		{"/tr/page/style.css", "text/css; charset=utf-8", 200}, {"/tr/page/icon.svg", "image/svg+xml", 200},
		{"/tr", "", 308}, {"/tr/page/none.js", "", 404}, {"/tr/page", "", 404}, {"/trpage/page.js", "", 404}, {"/page/page.js", "", 404},
	} {
		response, body := bodyOf(t, request("GET", h.URL+c.path, "", ""))
		got := response.Header
		if response.StatusCode != c.status || c.contentType != "" && got.Get("Content-Type") != c.contentType {
			t.Errorf("%s: status %d, %s, want %d, %s", c.path, response.StatusCode, got.Get("Content-Type"), c.status, c.contentType)
		}
		if c.status == 308 && got.Get("Location") != "/tr/" {
			t.Errorf("%s: Location %q, want /tr/", c.path, got.Get("Location"))
		}
		if c.status != 200 {
			continue
		}
		size += len(body)
		policy := got.Get("Content-Security-Policy")
		for part := range strings.SplitSeq(policy, "; ") {
			if _, sources, _ := strings.Cut(part, " "); sources != "'none'" && sources != "'self'" {
				t.Errorf("%s: policy %q, want 'none' or 'self'", c.path, part)
			}
		}
		if !strings.HasPrefix(policy, "default-src 'none'; ") || got.Get("X-Content-Type-Options") != "nosniff" || got.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: headers %v", c.path, got)
		}
		if strings.Contains(body, "://") && !strings.HasSuffix(c.path, ".svg") {
			t.Errorf("%s has an absolute address", c.path)
		}
	}
	files, err := os.ReadDir("page")
	if err != nil || len(files) != 8 || size > 60_000 {
		t.Errorf("%d files of %d bytes, %v, want 8 that were checked, of up to 60,000", len(files), size, err)
	}
}

// translatedFile uploads a document to /translate_file and returns its translation.
func translatedFile(t *testing.T, server, name, content string) string {
	t.Helper()
	status, answer := send(t, upload(server+"/translate_file", name, content))
	if status != 200 {
		t.Fatalf("status %d, %v", status, answer)
	}
	_, file := bodyOf(t, request("GET", answer["translatedFileUrl"].(string), "", ""))
	return file
}

// /translate_file sends its progress to clients that accept events, and the same file.
func TestFileEvents(t *testing.T) {
	h, _ := newServer(t, serve.Options{})
	content := strings.Repeat("the red dog runs. a cat sleeps.\n\n", 20)
	list := strings.Split(strings.TrimSuffix(eventsOf(t, upload(h.URL+"/translate_file", "a.txt", content)), "\n\n"), "\n\n")
	last, total := -1, len("the red dog runs. a cat sleeps.")*20
	for _, e := range list[:len(list)-1] {
		var p struct{ Done, Total int }
		object, ok := strings.CutPrefix(e, "event: progress\ndata: ")
		if err := json.Unmarshal([]byte(object), &p); !ok || err != nil || p.Done <= last || p.Total != total {
			t.Errorf("event %q, %v, want progress after %d of %d", e, err, last, total)
		}
		last = p.Done
	}
	if len(list) != 22 || last != total {
		t.Errorf("%d events up to %d, want one for none, each of 20 texts and the file, up to %d", len(list), last, total)
	}
	var answer struct {
		URL string `json:"translatedFileUrl"`
	}
	object, ok := strings.CutPrefix(list[len(list)-1], "event: file\ndata: ")
	if err := json.Unmarshal([]byte(object), &answer); !ok || err != nil {
		t.Fatalf("last event %q, %v", list[len(list)-1], err)
	}
	if _, file := bodyOf(t, request("GET", answer.URL, "", "")); file != translatedFile(t, h.URL, "a.txt", content) {
		t.Errorf("file %q, want that of a client without events", file)
	}
	faulty := upload(h.URL+"/translate_file", "a.docx", "no archive")
	faulty.Header.Set("Accept", "text/event-stream")
	if status, answer := send(t, faulty); status != 400 {
		t.Errorf("faulty file: status %d, %v, want 400", status, answer)
	}
}

// recorder notes what the page sends to /v1/translate.
type recorder struct {
	http.Handler
	mu       sync.Mutex
	delay    time.Duration // of each answer
	fault    int           // status of answers, with Retry-After: 2; 0 for the server's own
	running  int
	most     int      // of running
	texts    []string // in order
	requests int
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path != "/v1/translate" {
		r.Handler.ServeHTTP(w, request)
		return
	}
	body, _ := io.ReadAll(request.Body)
	var sent struct{ Texts []string }
	json.Unmarshal(body, &sent)
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	r.requests++
	r.running++
	r.most = max(r.most, r.running)
	r.texts = append(r.texts, sent.Texts...)
	fault := r.fault
	r.mu.Unlock()
	time.Sleep(r.delay)
	if fault != 0 {
		w.Header().Set("Retry-After", "2")
		w.Header().Set("Content-Type", jsonObject)
		w.WriteHeader(fault)
		io.WriteString(w, `{"error":"a fault"}`)
	} else {
		r.Handler.ServeHTTP(w, request)
	}
	r.mu.Lock()
	r.running--
	r.mu.Unlock()
}

// reset forgets what was sent, and sets the answers.
func (r *recorder) reset(delay time.Duration, fault int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delay, r.fault, r.most, r.requests, r.texts = delay, fault, 0, 0, nil
}

func (r *recorder) sent() (texts []string, requests, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.texts), r.requests, r.most
}

// translated returns the translation of each line of a text as clients without a page get it.
func translated(t *testing.T, server, s, target, glossary string) string {
	t.Helper()
	lines := strings.Split(s, "\n")
	cores := make([]string, len(lines))
	for i, l := range lines {
		cores[i] = strings.TrimSpace(l)
	}
	body, _ := json.Marshal(map[string]any{"texts": cores, "source": "en", "target": target, "glossary": glossary})
	status, answer := send(t, request("POST", server+"/v1/translate", jsonObject, string(body)))
	if status != 200 {
		t.Fatalf("status %d, %v", status, answer)
	}
	for i, x := range answer["texts"].([]any) {
		lead := lines[i][:strings.Index(lines[i], cores[i])]
		lines[i] = lead + x.(map[string]any)["translation"].(string) + lines[i][len(lead)+len(cores[i]):]
	}
	return strings.Join(lines, "\n")
}

// The page in chromium shows translations, and sends what it must, to its own server only.
func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a browser")
	}
	driver := startDriver(t)
	dir := t.TempDir()
	for i, p := range [][2]string{{"en", "de"}, {"de", "en"}, {"en", "ar"}, {"ar", "en"}, {"zh-Hans", "en"}} {
		random(t, dir, p[0], p[1], uint64(i+1))
	}
	glossary := filepath.Join(dir, "terms.tsv")
	writeFile(t, glossary, "dog\tHund\n")
	start := func(t *testing.T, o serve.Options) (*recorder, string) {
		o.Models, o.Glossaries = []string{dir}, []string{glossary}
		s, err := serve.New(o)
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{Handler: s}
		h := httptest.NewServer(r)
		t.Cleanup(func() { h.Close(); s.Close() })
		return r, h.URL
	}
	record, server := start(t, serve.Options{})
	const text = "the red dog runs. a cat sleeps.\n\n  a red cat runs. the dog sleeps."
	b := openBrowser(t, driver, server+"/", "en-US", 1280)
	// fresh loads the page anew for a test.
	fresh := func(t *testing.T) *browser {
		record.reset(0, 0)
		b := &browser{t, b.session}
		b.open(server + "/")
		b.choose("source", "en")
		b.choose("target", "de")
		return b
	}

	t.Run("typing", func(t *testing.T) {
		b := fresh(t)
		record.reset(100*time.Millisecond, 0)
		typed := strings.Repeat("the red dog runs. ", 3) + "a cat sleeps."
		b.run(`$("text").focus()`)
		b.press(time.Second/30, strings.Split(typed, "")...)
		if got, expected := b.translation(), translated(t, server, typed, "de", ""); got != expected {
			t.Errorf("translation %q, want %q", got, expected)
		}
		b.set(text) // while nothing is in flight
		if got, expected := b.translation(), translated(t, server, text, "de", ""); got != expected {
			t.Errorf("translation %q, want %q", got, expected)
		}
		_, requests, most := record.sent()
		if most != 1 || requests < 3 || requests > len(typed)/2 {
			t.Errorf("%d requests for %d keys, up to %d at a time, want 1", requests, len(typed), most)
		}
	})

	t.Run("unchanged", func(t *testing.T) {
		b := fresh(t)
		long := "the red dog runs and runs. a cat sleeps and sleeps. a red cat runs and runs. the dog sleeps and runs. a dog runs."
		b.set(text + "\n" + long)
		b.idle()
		record.reset(0, 0)
		changed := strings.Replace(text, "red cat", "cat", 1) + "\n" + strings.Replace(long, "red cat", "cat", 1)
		b.set(changed)
		got := b.translation()
		sent, _, _ := record.sent()
		if expected := []string{"a cat runs. the dog sleeps.", "a cat sleeps and sleeps. a cat runs and runs. the dog sleeps and runs."}; !slices.Equal(sent, expected) {
			t.Errorf("sent %q, want %q: a changed line, and the changed sentence of a long one with those beside it", sent, expected)
		}
		if expected := translated(t, server, changed, "de", ""); got != expected {
			t.Errorf("translation %q, want %q", got, expected)
		}
		record.reset(0, 0)
		b.set(text)
		b.idle()
		if sent, _, _ := record.sent(); len(sent) > 0 {
			t.Errorf("sent %q again", sent)
		}
	})

	t.Run("edits", func(t *testing.T) {
		b := fresh(t)
		random := rand.New(rand.NewPCG(7, 2))
		words := strings.Fields("the red dog runs. a cat sleeps. The Dr. 5. (a b) e.g. Rote! Hund? rennt… 3 eine «Katze» schläft. \u00a0 zzz")
		pick := func() string { return words[random.IntN(len(words))] }
		whole := map[string]bool{} // lines
		for series := range 20 {
			lines := [][]string{strings.Fields(strings.Repeat("the red dog runs and runs. a cat sleeps. ", 4))}
			show := func() string {
				joined := make([]string, len(lines))
				for i, l := range lines {
					joined[i] = strings.Join(l, " ")
				}
				return strings.Join(joined, "\n")
			}
			for range 8 {
				i := random.IntN(len(lines))
				at := random.IntN(len(lines[i]) + 1)
				switch random.IntN(6) {
				case 0:
					lines = slices.Insert(lines, i, []string{pick(), pick(), pick()})
				case 1:
					if len(lines) > 1 {
						lines = slices.Delete(lines, i, i+1)
					}
				case 2:
					lines[i] = slices.Clone(lines[random.IntN(len(lines))])
				case 3:
					if at < len(lines[i]) {
						lines[i] = slices.Delete(slices.Clone(lines[i]), at, at+1)
					}
				default:
					lines[i] = slices.Insert(slices.Clone(lines[i]), at, pick())
				}
				b.set(show())
				for _, l := range strings.Split(show(), "\n") {
					whole[strings.TrimSpace(l)] = true
				}
				if random.IntN(3) == 0 {
					b.idle()
				}
			}
			if got, expected := b.translation(), translated(t, server, show(), "de", ""); got != expected {
				t.Fatalf("series %d ends with the translation\n%q of\n%q, want\n%q", series, got, show(), expected)
			}
		}
		sent, _, most := record.sent()
		if n := len(slices.DeleteFunc(sent, func(s string) bool { return whole[s] })); n < 20 || most > 1 {
			t.Errorf("%d requests for parts of lines, up to %d at a time, want many, one at a time", n, most)
		}
	})

	t.Run("alignment", func(t *testing.T) {
		b := fresh(t)
		b.set(text)
		b.idle()
		b.point(1, false)
		marked := b.run(`return [...document.querySelectorAll("mark")].map((e) => e.textContent)`).([]any)
		for _, m := range marked {
			if !slices.Contains(strings.Fields(strings.ReplaceAll(text, ".", " .")), m.(string)) {
				t.Errorf("marked %q, want words of the text", marked)
			}
		}
		if linked := b.run(`return document.querySelectorAll(".word")[1].classList.contains("linked")`); linked != true {
			t.Error("the word under the mouse is not marked")
		}
		// Back from the marked word of the text.
		at := b.run(`const r = document.querySelector("mark").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]`).([]any)
		b.pointAt(at[0].(float64), at[1].(float64), false)
		if linked := b.run(`return document.querySelectorAll(".word")[1].classList.contains("linked")`); linked != true {
			t.Errorf("the words of %q are not marked", marked)
		}
	})

	t.Run("alternatives", func(t *testing.T) {
		b := fresh(t)
		b.set(text)
		before := strings.Split(b.translation(), "\n")
		b.point(1, true)
		b.wait(`return document.querySelectorAll("#menu button").length > 1`)
		chosen := b.text(`return document.querySelectorAll("#menu button")[1].title`)
		b.run(`document.querySelectorAll("#menu button")[1].click()`)
		after := strings.Split(b.translation(), "\n")
		if !strings.Contains(after[0], chosen) || after[0] == before[0] || after[2] != before[2] {
			t.Errorf("lines %q after %q of %q", after, chosen, before)
		}
		b.set(text + "\na dog.")
		if got := strings.Split(b.translation(), "\n"); got[0] != after[0] {
			t.Errorf("line %q, want the choice to stay in %q", got[0], after[0])
		}
	})

	t.Run("keyboard", func(t *testing.T) {
		b := fresh(t)
		b.run(`$("text").focus()`)
		b.press(0, strings.Split("the red dog runs.", "")...)
		before := b.translation()
		b.press(0, tab, tab)
		if at := b.text(`return document.activeElement.id`); at != "translation" {
			t.Fatalf("two tabs lead to %q", at)
		}
		b.press(0, right, right, left, right)
		if said := b.text(`return $("said").textContent`); !strings.Contains(said, ": ") {
			t.Errorf("a screen reader hears %q, want a word and its source", said)
		}
		b.press(0, enter)
		b.wait(`return document.querySelectorAll("#menu button").length > 1 && $("menu").contains(document.activeElement)`)
		b.press(0, escape)
		if at := b.text(`return $("menu").hidden + document.activeElement.id`); at != "truetranslation" {
			t.Errorf("after Escape %q, want the translation", at)
		}
		b.press(0, enter)
		b.wait(`return document.querySelectorAll("#menu button").length > 1`)
		b.press(0, down, up, down, enter)
		if after := b.translation(); after == before {
			t.Errorf("translation %q, want another choice", after)
		}
		reached := map[string]bool{}
		b.run(`document.activeElement.blur()`)
		for range 14 {
			b.press(0, tab)
			reached[b.text(`return document.activeElement.id`)] = true
		}
		for _, id := range []string{"ui", "source", "swap", "target", "text", "clear", "translation", "copy", "glossary", "choose"} {
			if !reached[id] {
				t.Errorf("tabs do not reach %s, but %v", id, reached)
			}
		}
	})

	t.Run("swap", func(t *testing.T) {
		b := fresh(t)
		b.set("the red dog runs.")
		first := b.translation()
		b.run(`$("swap").click()`)
		b.idle()
		if got := b.text(`return [$("source").value, $("target").value, $("text").value].join()`); got != "de,en,"+first {
			t.Errorf("after the swap %q, want de to en of %q", got, first)
		}
		if got := b.text(`return [...$("target").options].map((o) => o.value).join()`); got != "ar,en" {
			t.Errorf("targets of German %q, want those of models", got)
		}
		b.choose("source", "zh-Hans")
		if b.run(`return $("swap").disabled`) != true {
			t.Error("languages are swapped without a model")
		}
	})

	t.Run("file", func(t *testing.T) {
		b := fresh(t)
		content := "the red dog runs.\n\na cat sleeps.\n"
		path := filepath.Join(t.TempDir(), "a.txt")
		writeFile(t, path, content)
		for _, id := range b.call("POST", "/element", map[string]string{"using": "css selector", "value": "#files"}).(map[string]any) {
			b.call("POST", "/element/"+id.(string)+"/value", map[string]string{"text": path})
		}
		b.wait(`return document.querySelectorAll("#list a").length === 1`)
		_, got := bodyOf(t, request("GET", b.text(`return document.querySelector("#list a").href`), "", ""))
		if expected := translatedFile(t, server, "a.txt", content); got != expected {
			t.Errorf("file %q, want %q", got, expected)
		}
		b.run(`const d = new DataTransfer(); d.items.add(new File(["x"], "b.docx"));
			document.dispatchEvent(new DragEvent("drop", { dataTransfer: d, cancelable: true }))`)
		b.wait(`return document.querySelector("#list .fault")?.textContent.includes("b.docx")`)
		b.run(`document.querySelectorAll("#list button")[1].click()`)
		if rows := b.run(`return $("list").children.length`); rows != 1.0 {
			t.Errorf("%v rows, want 1 after one was removed", rows)
		}
	})

	t.Run("glossary", func(t *testing.T) {
		b := fresh(t)
		b.set("the red dog runs.")
		b.idle()
		b.choose("glossary", "terms")
		if got, expected := b.translation(), translated(t, server, "the red dog runs.", "de", "terms"); got != expected || !strings.Contains(got, "Hund") {
			t.Errorf("translation %q, want %q with Hund", got, expected)
		}
	})

	t.Run("overload", func(t *testing.T) {
		b := fresh(t)
		record.reset(0, 503)
		b.set("the red dog runs.")
		b.wait(`return $("fault").textContent === "The server is busy. Trying again in 2 s."`)
		b.set("the red dog")
		b.set("a cat sleeps.")
		if _, requests, _ := record.sent(); requests != 1 {
			t.Errorf("%d requests before the time of Retry-After, want 1", requests)
		}
		record.reset(0, 0)
		b.wait(`return $("fault").textContent === ""`)
		if got, expected := b.translation(), translated(t, server, "a cat sleeps.", "de", ""); got != expected {
			t.Errorf("translation %q, want %q", got, expected)
		}
	})

	t.Run("languages", func(t *testing.T) {
		b := fresh(t)
		b.set(text)
		b.idle()
		b.choose("target", "ar")
		if got := b.text(`return [getComputedStyle($("translation")).direction, $("translation").lang, $("text").dir].join()`); got != "rtl,ar,ltr" {
			t.Errorf("direction and language %q, want rtl,ar,ltr", got)
		}
		for _, expected := range []string{"en Translate German", "zh 翻译 德语", "en Translate German"} {
			got := b.text(`return [document.documentElement.lang, document.title, [...$("target").options].find((o) => o.value === "de").text].join(" ")`)
			if got != expected {
				t.Errorf("page %q, want %q", got, expected)
			}
			b.run(`$("ui").click()`)
		}
		if got, expected := b.translation(), translated(t, server, text, "ar", ""); got != expected {
			t.Errorf("translation %q, want %q", got, expected)
		}
		b.choose("target", "en")
		b.choose("source", "auto")
		b.set("der rote Hund rennt und schläft. eine Katze schläft.")
		b.idle()
		if got := b.text(`return $("detected").textContent + $("swap").disabled`); got != "检测到：德语false" {
			t.Errorf("detected %q, want German, which can be swapped, in Chinese", got)
		}
	})
	b.check(server, "/v1/translate - Failed to load resource: the server responded with a status of 503", "/translate_file - Failed to load resource: the server responded with a status of 400")

	t.Run("phone", func(t *testing.T) {
		b := openBrowser(t, driver, server+"/", "zh-CN,en", 360)
		for _, language := range []string{"zh", "en"} {
			if got := b.text(`return document.documentElement.lang`); got != language {
				t.Errorf("language %q, want %s", got, language)
			}
			b.choose("source", "zh-Hans")
			b.set("一只红色的狗。" + strings.Repeat("w", 100))
			b.idle()
			if wide := b.run(`return [...document.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > 360 && !e.closest(".unseen")).map((e) => e.outerHTML.slice(0, 80))`).([]any); len(wide) > 0 {
				t.Errorf("wider than the screen: %v", wide)
			}
			// A select is as wide as its longest name if it may.
			if cut := b.run(`const s = $("source"), w = s.clientWidth; s.style.width = "max-content"; const n = s.clientWidth; s.style.width = ""; return n > w`); cut != false {
				t.Error("names of languages are cut")
			}
			b.run(`$("ui").click()`)
		}
		b.check(server)
	})

	t.Run("key", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keys")
		key, line := serve.NewKey("browser")
		writeFile(t, path, line+"\n")
		record, server := start(t, serve.Options{Keys: path})
		b := openBrowser(t, driver, server+"/", "en", 1280)
		b.choose("source", "en")
		b.choose("target", "de")
		b.set("the red dog runs.")
		b.wait(`return $("fault").textContent === "This server needs an API key."`)
		if _, requests, _ := record.sent(); requests != 0 {
			t.Errorf("%d requests without a key", requests)
		}
		b.choose("key", "wrong")
		b.wait(`return $("fault").textContent === "The server does not accept this key."`)
		b.choose("key", key)
		b.wait(`return $("fault").textContent === ""`)
		b.idle()
		if b.text(`return $("translation").textContent`) == "" || b.run(`return $("glossaries").hidden`) != false {
			t.Error("no translation or glossaries with the key")
		}
		b.check(server, "/v1/translate - Failed to load resource: the server responded with a status of 403", "/v1/glossaries - Failed to load resource: the server responded with a status of 403")
		b.open(server + "/")
		if b.text(`return $("key").value`) != "" {
			t.Error("the key is stored")
		}
	})
}
