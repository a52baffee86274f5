//go:build !amd64 || purego || noasm

package mat

// caches returns the defaults, because the sizes are unknown here.
func caches() cacheSizes { return defaultCaches }
