//go:build !unix

package cli

func survivePipe() {}

func surviveFileLimit() {}
