package serve_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browser is a chromium that chromedriver drives by WebDriver.
type browser struct {
	*testing.T
	session string // address
}

// startDriver starts chromedriver and returns its address.
func startDriver(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromedriver"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs chromium and chromedriver, for example from 'apt-get install chromium-driver'")
		}
	}
	c := exec.Command("chromedriver", "--port=0")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	started := regexp.MustCompile(`successfully on port (\d+)`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := started.FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, out)
			return "http://127.0.0.1:" + m[1]
		}
	}
	t.Fatal("chromedriver does not start")
	return ""
}

// openBrowser opens a window of a width on a page, with the languages that its user prefers.
func openBrowser(t *testing.T, driver, page, languages string, width int) *browser {
	t.Helper()
	b := &browser{t, driver}
	options := map[string]any{
		"binary": must(exec.LookPath("chromium")),
		"args":   []string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"},
		"prefs":  map[string]string{"intl.accept_languages": languages},
	}
	created := b.call("POST", "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": map[string]string{"browser": "ALL", "performance": "ALL"},
	}}}).(map[string]any)
	b.session += "/session/" + created["sessionId"].(string)
	t.Cleanup(func() { b.call("DELETE", "", struct{}{}) })
	b.devtools("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	b.devtools("Page.addScriptToEvaluateOnNewDocument", map[string]string{"source": `
		window.violations = [];
		document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI));`})
	b.open(page)
	return b
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

func (b *browser) devtools(command string, params any) {
	b.Helper()
	b.call("POST", "/goog/cdp/execute", map[string]any{"cmd": command, "params": params})
}

// call sends a command and returns its value.
func (b *browser) call(method, path string, body any) any {
	b.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	request, err := http.NewRequest(method, b.session+path, bytes.NewReader(data))
	if err != nil {
		b.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Value any }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%s %s: status %d, %v, %.500v", method, path, response.StatusCode, err, answer.Value)
	}
	return answer.Value
}

// open goes to a page and waits until it is ready.
func (b *browser) open(page string) {
	b.Helper()
	b.call("POST", "/url", map[string]string{"url": page})
	b.wait(`return document.getElementById("target").options.length > 0`)
}

// run runs a script and returns its value.
func (b *browser) run(script string, args ...any) any {
	b.Helper()
	return b.call("POST", "/execute/sync", map[string]any{"script": `const $ = (id) => document.getElementById(id);` + script, "args": append([]any{}, args...)})
}

// text returns the value of a script as a string.
func (b *browser) text(script string, args ...any) string {
	b.Helper()
	return fmt.Sprint(b.run(script, args...))
}

// wait waits until a script returns true.
func (b *browser) wait(script string, args ...any) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if b.run(script, args...) == true {
			return
		}
	}
	b.Fatalf("never true: %s %v; the page shows %q", script, args, b.run(`return document.body.innerText`))
}

// idle waits until the text is translated.
func (b *browser) idle() {
	b.Helper()
	b.wait(`return $("translation").ariaBusy === "false" && !document.querySelector(".stale")`)
}

// translation returns the lines of the translation.
func (b *browser) translation() string {
	b.Helper()
	b.idle()
	return b.text(`return [...document.querySelectorAll(".line")].map((e) => e.textContent).join("\n")`)
}

// set puts a text into the field.
func (b *browser) set(text string) {
	b.Helper()
	b.run(`$("text").focus(); $("text").value = arguments[0]; $("text").dispatchEvent(new Event("input"))`, text)
}

// choose chooses an option of a select.
func (b *browser) choose(id, value string) {
	b.Helper()
	b.run(`$(arguments[0]).value = arguments[1]; $(arguments[0]).dispatchEvent(new Event("change"))`, id, value)
}

// Keys of WebDriver.
const (
	tab, enter, escape         = "\ue004", "\ue007", "\ue00c"
	end, left, up, right, down = "\ue010", "\ue012", "\ue013", "\ue014", "\ue015"
	shift                      = "\ue008"
)

// press presses keys one after another, with a pause after each.
func (b *browser) press(pause time.Duration, keys ...string) {
	b.Helper()
	var actions []map[string]any
	for _, k := range keys {
		actions = append(actions, map[string]any{"type": "keyDown", "value": k}, map[string]any{"type": "keyUp", "value": k})
		if pause > 0 {
			actions = append(actions, map[string]any{"type": "pause", "duration": pause.Milliseconds()})
		}
	}
	b.act(map[string]any{"type": "key", "id": "keyboard", "actions": actions})
}

func (b *browser) act(actions ...map[string]any) {
	b.Helper()
	b.call("POST", "/actions", map[string]any{"actions": actions})
}

// point moves the mouse to the middle of a word of the translation, and clicks on it.
func (b *browser) point(word int, click bool) {
	b.Helper()
	at := b.run(`const r = document.querySelectorAll(".word")[arguments[0]].getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]`, word).([]any)
	b.pointAt(at[0].(float64), at[1].(float64), click)
}

func (b *browser) pointAt(x, y float64, click bool) {
	b.Helper()
	actions := []map[string]any{{"type": "pointerMove", "x": int(x), "y": int(y)}}
	if click {
		actions = append(actions, map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0})
	}
	b.act(map[string]any{"type": "pointer", "id": "mouse", "parameters": map[string]string{"pointerType": "mouse"}, "actions": actions})
}

// check reports requests to other servers, refused by the policy of the page or not, and errors of
// scripts. Lines of the log about an answer of the server that begin with an address in expected
// are none.
func (b *browser) check(server string, expected ...string) {
	b.Helper()
	if v := b.run(`return violations`).([]any); len(v) > 0 {
		b.Errorf("violations of the policy: %v", v)
	}
	requests := 0
	for _, entry := range b.call("POST", "/se/log", map[string]string{"type": "performance"}).([]any) {
		var event struct {
			Message struct {
				Method string
				Params struct{ Request struct{ URL string } }
			}
		}
		if err := json.Unmarshal([]byte(entry.(map[string]any)["message"].(string)), &event); err != nil {
			b.Fatal(err)
		}
		if event.Message.Method != "Network.requestWillBeSent" {
			continue
		}
		requests++
		if u := event.Message.Params.Request.URL; !strings.HasPrefix(u, server+"/") {
			b.Errorf("request to %s", u)
		} else if strings.Contains(u, "?") || strings.Contains(u, "#") {
			b.Errorf("%s: want no query in an address", u)
		}
	}
	if requests == 0 {
		b.Error("the log has no requests")
	}
	for _, entry := range b.call("POST", "/se/log", map[string]string{"type": "browser"}).([]any) {
		message := entry.(map[string]any)["message"].(string)
		known := false
		for _, e := range expected {
			known = known || strings.HasPrefix(message, server+e)
		}
		if !known {
			b.Errorf("the browser logs %s", message)
		}
	}
	if stored := b.text(`return [localStorage.length, sessionStorage.length, document.cookie, location.search, location.hash].join()`); stored != "0,0,,," {
		b.Errorf("%s in storage, cookies or the address", stored)
	}
}
