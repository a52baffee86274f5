package decode

import (
	"reflect"
	"testing"

	"tfm/model"
)

func TestAlignHeads(t *testing.T) {
	for text, want := range map[string]AlignHeads{
		"":               {},
		"next":           {Next: true},
		"3.0":            {Heads: []CrossHead{{Layer: 3, Head: 0}}},
		"next 5.11 0.07": {Heads: []CrossHead{{Layer: 5, Head: 11}, {Layer: 0, Head: 7}}, Next: true},
	} {
		a, err := ParseAlignHeads(text)
		if err != nil || !reflect.DeepEqual(a, want) {
			t.Errorf("ParseAlignHeads(%q) = %+v, %v, want %+v", text, a, err, want)
		}
		if again, err := ParseAlignHeads(a.String()); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("ParseAlignHeads(%q) = %+v, %v, want %+v", a, again, err, want)
		}
	}
	for _, text := range []string{"1", "1.", ".1", "-1.0", "1.-1", "1.0.0", "x", "1.0 next", "70000.0", "1,0"} {
		if a, err := ParseAlignHeads(text); err == nil {
			t.Errorf("ParseAlignHeads(%q) = %+v, want an error", text, a)
		}
	}
	c := model.Config{DecoderLayers: 2, Heads: 4}
	for text, valid := range map[string]bool{"": true, "1.3": true, "next 0.0 1.1": true, "2.0": false, "0.4": false} {
		a, err := ParseAlignHeads(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Validate(c); (err == nil) != valid {
			t.Errorf("%q: Validate = %v, want valid %t", text, err, valid)
		}
	}
}
