// Package parttest has what tests of several systems share, in parttest.go: models with random
// weights, and the folders of test data.
package parttest
