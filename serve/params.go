package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// params are the parameters of a request: the members of a JSON object, or the fields of a form in
// the body, of either encoding, and in the query.
type params struct {
	json map[string]any // nil for a form
	form url.Values
	file *upload // of a multipart form; nil without one
}

// upload is a file in a form.
type upload struct {
	name string
	data []byte
}

// readParams reads the parameters of r, whatever its method: some clients send a form in the query
// of a POST without a body, others a body with GET.
func readParams(r *http.Request) (*params, error) {
	query := parseForm(r.URL.RawQuery)
	kind, attrs, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	if kind == "multipart/form-data" {
		return readMultipart(multipart.NewReader(r.Body, attrs["boundary"]), query)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err)
	}
	if kind == "application/json" || strings.HasSuffix(kind, "+json") {
		p := &params{form: query}
		body = bytes.TrimPrefix(body, []byte("\uFEFF"))
		if !utf8.Valid(body) || json.Unmarshal(body, &p.json) != nil || p.json == nil {
			return nil, badRequest("Invalid JSON format")
		}
		return p, nil
	}
	return &params{form: merged(query, parseForm(string(body)))}, nil
}

// parseForm reads a query or a form. A percent sign without two digits is text, as in the curl
// command of somebody who does not escape it; url.ParseQuery would refuse it, and semicolons.
func parseForm(s string) url.Values {
	form := url.Values{}
	for field := range strings.SplitSeq(s, "&") {
		name, value, _ := strings.Cut(field, "=")
		if field != "" {
			form.Add(unescape(name), unescape(value))
		}
	}
	return form
}

func unescape(s string) string {
	var b strings.Builder
	s = strings.ReplaceAll(s, "+", " ")
	for {
		before, after, found := strings.Cut(s, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		code, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if s = after; len(after) >= 2 && err == nil {
			b.WriteByte(byte(code))
			s = after[2:]
		} else {
			b.WriteByte('%')
		}
	}
}

// merged returns the values of both, those of a first.
func merged(a, b url.Values) url.Values {
	for name, values := range b {
		a[name] = append(a[name], values...)
	}
	return a
}

// maxFields is the limit of the parts of a multipart form.
const maxFields = 2000

// readMultipart reads a form whose size the caller limits. Of several files it keeps the first.
func readMultipart(m *multipart.Reader, query url.Values) (*params, error) {
	p := &params{form: query}
	for range maxFields {
		part, err := m.NextRawPart()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, bodyError(err)
		}
		data, err := io.ReadAll(part)
		switch {
		case err != nil:
			return nil, bodyError(err)
		case part.FileName() == "":
			p.form.Add(part.FormName(), string(data))
		case p.file == nil:
			p.file = &upload{part.FileName(), data}
		}
	}
	return nil, badRequest("Invalid form: more than " + strconv.Itoa(maxFields) + " fields")
}

// bodyError returns the error of reading a body: that of a limit, or one of its form.
func bodyError(err error) error {
	if limit := new(statusError); errors.As(err, &limit) {
		return limit
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &statusError{status: http.StatusRequestTimeout, message: "Request takes too long"}
	}
	return badRequest("Invalid body")
}

// text returns a parameter, or "" if it is missing. A number counts as its digits, a list or object
// as its JSON.
func (p *params) text(name string) string {
	if p.json == nil {
		return strings.ToValidUTF8(p.form.Get(name), "\uFFFD")
	}
	switch v := p.json[name].(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		text, _ := json.Marshal(v) // was JSON
		return string(text)
	}
}

// texts returns a parameter that is a text or a list of texts. Line ends of forms, which are CR LF,
// become LF. The error names the parameter.
func (p *params) texts(name string) (texts []string, isList bool, err error) {
	if p.json == nil {
		if !p.form.Has(name) {
			return nil, false, nil
		}
		for _, s := range p.form[name] {
			texts = append(texts, strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n"))
		}
		return texts, len(texts) > 1, nil
	}
	switch v := p.json[name].(type) {
	case nil:
		return nil, false, nil
	case string:
		return []string{v}, false, nil
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, true, badRequest("Invalid request: " + name + " parameter is not a list of strings")
			}
			texts = append(texts, s)
		}
		return texts, true, nil
	}
	return nil, false, badRequest("Invalid request: " + name + " parameter is not a string")
}

// has reports whether there is a parameter.
func (p *params) has(name string) bool {
	if p.json == nil {
		return p.form.Has(name)
	}
	_, ok := p.json[name]
	return ok
}

// number returns a parameter that is a number of at least 0, rounded down, or 0 if it is missing.
func (p *params) number(name string) (int, error) {
	s := p.text(name)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(n) < 1<<31) {
		return 0, badRequest("Invalid request: " + name + " parameter is not a number")
	}
	return max(int(n), 0), nil
}

// characters returns the number of characters of texts.
func characters(texts []string) (n int) {
	for _, s := range texts {
		n += utf8.RuneCountInString(s)
	}
	return n
}
