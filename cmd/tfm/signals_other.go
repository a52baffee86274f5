//go:build !unix

package main

func survivePipe() {}

func surviveFileLimit() {}
