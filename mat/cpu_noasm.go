//go:build (!amd64 && !arm64) || purego || noasm

package mat

func native() []isa { return nil }

func features() []Feature { return nil }

func pause() {}
