//go:build !purego && !noasm

package mat

// The functions of pages_amd64.s that only its others call. They are declared so that go vet checks
// their arguments.

func scoreKeysAVX512(s *scoreArgs)
func addValuesAVX512(s *valueArgs)
