package detect

import (
	_ "embed"
	"sync"

	"tfm/text/detect/profile"
)

//go:embed profiles.bin
var file []byte

// Default returns the detector of all languages that the binary has profiles of, and of those that
// are alone with their script. It decompresses the profiles at the first call.
func Default() *Detector { return defaultDetector() }

var defaultDetector = sync.OnceValue(func() *Detector {
	model, err := profile.Decode(file)
	if err != nil {
		panic(err) // the file is part of the binary
	}
	d := &Detector{model: model}
	for i := range model.Languages {
		l := &model.Languages[i]
		d.scripts[l.Script] = append(d.scripts[l.Script], language{l.Tag, l})
	}
	for s, tag := range alone {
		d.scripts[s] = append(d.scripts[s], language{tag, nil})
	}
	return d
})

// alone are the languages of scripts that no other language of the detector has.
var alone = map[profile.Script]string{
	profile.Greek: "el", profile.Armenian: "hy", profile.Georgian: "ka", profile.Gurmukhi: "pa", profile.Gujarati: "gu", profile.Oriya: "or",
	profile.Tamil: "ta", profile.Telugu: "te", profile.Kannada: "kn", profile.Malayalam: "ml", profile.Sinhala: "si", profile.Thai: "th", profile.Lao: "lo",
	profile.Tibetan: "bo", profile.Myanmar: "my", profile.Khmer: "km", profile.Hangul: "ko", profile.Thaana: "dv",
}
