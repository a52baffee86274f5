// Package e2e tests the binary as a user runs it: command lines in, files and text out. It has no
// code of its own. The tests run a tfm that they build, or the one that the environment variable
// TFM_TEST_BINARY names.
package e2e
