//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows)

package train

// lock keeps nobody out: there are no locks that the end of a process releases.
func lock(string) (unlock func(), err error) { return func() {}, nil }
