package varint

import (
	"strings"
	"testing"
)

func TestDecoder(t *testing.T) {
	d := New([]byte("magic\x01\x05\xAC\x02\x02ab\x00"), "magic", 1)
	if a, b, s, empty := d.Number(), d.Number(), d.String(), d.String(); a != 5 || b != 300 || s != "ab" || empty != "" || d.Err != nil || len(d.Data) > 0 {
		t.Errorf("decoded %d, %d, %q, %q with %d bytes left and error %v", a, b, s, empty, len(d.Data), d.Err)
	}
	for data, want := range map[string]string{
		"mag":                                    `begins with "mag", expected "magic"`,
		"magic":                                  "truncated",
		"magic\x02":                              "version 2, expected 1",
		"magic\x01":                              "truncated",
		"magic\x01\x03ab":                        "truncated",
		"magic\x01\x80\x00":                      "number 0 is not in its shortest form",
		"magic\x01" + strings.Repeat("\xFF", 20): "number overflows 64 bits",
	} {
		d := New([]byte(data), "magic", 1)
		if s := d.String(); s != "" || d.Err == nil || d.Err.Error() != want || d.Number() != 0 {
			t.Errorf("%q: decoded %q with error %v, want %q", data, s, d.Err, want)
		}
	}
}
