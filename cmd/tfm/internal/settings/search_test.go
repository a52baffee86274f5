package settings

import (
	"testing"

	"tfm/model/decode"
)

// Flags that are not given have the model's values, the end rule of the search too.
func TestUseModelSearch(t *testing.T) {
	imported := decode.OptionsFor(decode.Settings{LengthPenalty: decode.PenaltyPower, Alpha: 0.6, Search: decode.SearchShrinking, Beam: 2, LengthFactor: 3})
	for name, change := range map[string]func(want *decode.Options){
		"":               func(want *decode.Options) {},
		"beam":           func(want *decode.Options) { want.Beam = 4 },
		"max-extra":      func(want *decode.Options) { want.LengthFactor = 0 },
		"alpha":          func(want *decode.Options) { want.Alpha = decode.DefaultOptions().Alpha },
		"length-penalty": func(want *decode.Options) { want.Penalty = decode.PenaltyWu },
	} {
		got, want := decode.DefaultOptions(), imported
		change(&want)
		if UseModelSearch(&got, map[string]string{name: ""}, imported); got != want {
			t.Errorf("-%s: found %+v, want %+v", name, got, want)
		}
	}
	list := decode.DefaultOptions()
	list.NBest = 3
	if UseModelSearch(&list, nil, imported); list.Beam != 3 {
		t.Errorf("3 best of a beam of 2: found a beam of %d", list.Beam)
	}
}
