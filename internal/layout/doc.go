// Package layout holds the test of the layout: which package may import which. It has no code.
package layout
