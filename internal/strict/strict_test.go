package strict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

type color uint8

func (c *color) UnmarshalText(text []byte) error {
	if string(text) != "red" {
		return fmt.Errorf("found color %q, expected red", text)
	}
	*c = 1
	return nil
}

type inner struct {
	Beam  int
	Alpha float64
}

type outer struct {
	Width   int           `json:"d_model"`
	Rate    float32       `json:"rate,omitempty"`
	Time    time.Duration `json:"time"`
	On      bool          `json:"on"`
	Name    string        `json:"name"`
	Color   color         `json:"color"`
	Search  inner         `json:"search"`
	Secret  string        `json:"-"`
	private int
}

func TestUnmarshal(t *testing.T) {
	got := outer{Width: 7, Name: "kept", private: 3}
	const text = ` {"time" : 5, "rate":0.5,"on":true,"color":"red","search":{"Alpha":1e-1,"Beam":4}, "d_model":8} ` + "\n"
	if err := Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if want := (outer{8, 0.5, 5, true, "kept", 1, inner{4, 0.1}, "", 3}); got != want {
		t.Errorf("Unmarshal: got %+v, want %+v", got, want)
	}
}

// Complete surrogate pairs, replacement characters and escaped backslashes are valid.
func TestUnmarshalSurrogatePairs(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"\ud83d\ude00\uD83D\uDE00"}`: "😀😀",
		`{"name":"\ufffd\\ud800\n"}`:          "\uFFFD\\ud800\n",
	} {
		var got outer
		if err := Unmarshal([]byte(text), &got); err != nil || got.Name != want {
			t.Errorf("Unmarshal(%s): name %q, error %v, want %q", text, got.Name, err, want)
		}
	}
}

func TestUnmarshalErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, "unexpected EOF"},
		{`{`, "unexpected EOF"},
		{`{"d_model":`, "unexpected EOF"},
		{`{"d_model":1`, "unexpected EOF"},
		{`{"d_model":1,}`, "invalid character"},
		{`null`, "found null, expected an object"},
		{`[]`, "found [], expected an object"},
		{`7`, "found 7, expected an object"},
		{`{} {}`, `found "{" after the object, expected nothing`},
		{`{}x`, `found "x" after the object, expected nothing`},
		{`{}` + "\x00", `found "\x00" after the object, expected nothing`},
		{`{"d_model":1}}`, `found "}" after the object, expected nothing`},
		{`{"gate":1}`, `unknown field "gate"`},
		{`{"D_model":1}`, `unknown field "D_model", expected "d_model"`},
		{`{"d_Model":1}`, `unknown field "d_Model", expected "d_model"`},
		{`{"Width":1}`, `unknown field "Width"`},
		{`{"Secret":"x"}`, `unknown field "Secret"`},
		{`{"-":"x"}`, `unknown field "-"`},
		{`{"private":1}`, `unknown field "private"`},
		{`{"search":{"beam":1}}`, `search: unknown field "beam", expected "Beam"`},
		{`{"search":{"Beam":1,"Beam":1}}`, `search: found field "Beam" twice`},
		{`{"search":{"Beam":"x"}}`, `search: Beam: found "x", expected int`},
		{`{"search":[]}`, `search: found [], expected an object`},
		{`{"d_model":1,"d_model":1}`, `found field "d_model" twice`},
		{`{"d_model":1,"d_\u006dodel":1}`, `found field "d_model" twice`},
		{`{"d_model":"four"}`, `d_model: found "four", expected int`},
		{`{"d_model":1.5}`, `d_model: found 1.5, expected int`},
		{`{"d_model":1e30}`, `d_model: found 1e30, expected int`},
		{`{"rate":1e39}`, `rate: found 1e39, expected float32`},
		{`{"d_model":null}`, `d_model: found null, expected int`},
		{`{"search":null}`, `search: found null, expected an object`},
		{`{"color":null}`, `color: found null, expected strict.color`},
		{`{"color":"blue"}`, `color: found color "blue", expected red`},
		{`{"color":1}`, `color: found 1, expected strict.color`},
		{`{"on":1}`, `on: found 1, expected bool`},
		{`{"name":"a\ud800b"}`, `found half of a surrogate pair`},
		{`{"name":"\\\udc00\ufffd"}`, `found half of a surrogate pair`},
		{`{"name":"\ud83d\ude00\ud800"}`, `found half of a surrogate pair`},
		{`{"n\ud800":"x"}`, `found half of a surrogate pair`},
		{`{"name":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, `name: found ` + strings.Repeat("[", 80) + `, expected string`},
	} {
		var v outer
		err := Unmarshal([]byte(c.text), &v)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Unmarshal(%.40q): error %v, want %q", c.text, err, c.want)
		}
	}
	if err := Unmarshal([]byte(`{"d_model"`), new(outer)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Unmarshal of half an object: error %v, want io.ErrUnexpectedEOF", err)
	}
}

func TestUnmarshalPanics(t *testing.T) {
	type Embedded struct{ Beam int }
	for _, c := range []struct {
		v    any
		text string
	}{
		{outer{}, `{}`},
		{new(int), `1`},
		{&struct{ List []inner }{}, `{"List":[]}`},
		{&struct{ Map map[string]inner }{}, `{"Map":{}}`},
		{&struct{ Pointer *int }{}, `{"Pointer":1}`},
		{&struct{ Embedded }{}, `{"Beam":1}`},
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "strict: ") {
					t.Errorf("Unmarshal into %T: panic %v, want one that begins with \"strict: \"", c.v, r)
				}
			}()
			Unmarshal([]byte(c.text), c.v)
		}()
	}
}

// encoding/json accepts all that strict accepts, with the same result.
func FuzzUnmarshal(f *testing.F) {
	f.Add(`{"time":5,"rate":0.5,"on":true,"color":"red","search":{"Alpha":1e-1,"Beam":4},"d_model":8}`)
	f.Add(`{"name":"\ud800","d_\u006dodel":1}`)
	f.Add(`{"search":{}} `)
	f.Fuzz(func(t *testing.T, text string) {
		var got, want outer
		if Unmarshal([]byte(text), &got) != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || got != want {
			t.Errorf("Unmarshal(%q): got %+v, want %+v as in encoding/json (error %v)", text, got, want, err)
		}
	})
}
