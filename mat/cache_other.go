//go:build !amd64 || purego || noasm

package mat

// caches returns the defaults: nothing here tells the sizes.
func caches() cacheSizes { return defaultCaches }
