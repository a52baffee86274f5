package strict

import (
	"encoding/json"
	"fmt"
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

func TestUnmarshalErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, "unexpected EOF"},
		{`{`, "unexpected EOF"},
		{`{"d_model":`, "unexpected EOF"},
		{`{"d_model":1`, "unexpected EOF"},
		{`{"d_model":1,}`, "invalid character"},
		{`null`, "found null, expected a value"},
		{`[]`, "found array, expected strict.outer"},
		{`7`, "found number, expected strict.outer"},
		{`{} {}`, `found "{" after the object, expected nothing`},
		{`{}x`, `found "x" after the object, expected nothing`},
		{`{}` + "\x00", `found "\x00" after the object, expected nothing`},
		{`{"d_model":1}}`, `found "}" after the object, expected nothing`},
		{`{"gate":1}`, `unknown field "gate"`},
		{`{"Width":1}`, `unknown field "Width"`},
		{`{"Secret":"x"}`, `unknown field "Secret"`},
		{`{"-":"x"}`, `unknown field "-"`},
		{`{"private":1}`, `unknown field "private"`},
		{`{"search":{"Beam":1,"beam":1}}`, `search: found field "beam" twice`},
		{`{"search":{"Beam":"x"}}`, `search.Beam: found string, expected int`},
		{`{"search":[]}`, `search: found array, expected strict.inner`},
		{`{"d_model":1,"d_model":1}`, `found field "d_model" twice`},
		{`{"d_model":1,"D_Model":1}`, `found field "D_Model" twice`},
		{`{"name":` + strings.Repeat("[", 100_000), "exceeded max depth"},
		{`{"d_model":1,"d_\u006dodel":1}`, `found field "d_model" twice`},
		{`{"d_model":"four"}`, `d_model: found string, expected int`},
		{`{"d_model":1.5}`, `d_model: found number 1.5, expected int`},
		{`{"d_model":1e30}`, `d_model: found number 1e30, expected int`},
		{`{"rate":1e39}`, `rate: found number 1e39, expected float32`},
		{`{"d_model":null}`, `d_model: found null`},
		{`{"search":null}`, `search: found null`},
		{`{"color":null}`, `color: found null`},
		{`{"color":"blue"}`, `found color "blue", expected red`},
		{`{"color":1}`, `color: found number, expected strict.color`},
		{`{"on":1}`, `on: found number, expected bool`},
		{`{"name":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, `name: found array, expected string`},
	} {
		var v outer
		err := Unmarshal([]byte(c.text), &v)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Unmarshal(%.40q): error %v, want %q", c.text, err, c.want)
		}
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
