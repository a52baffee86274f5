// Package layout holds tests of the whole tree: which package may import which, and that README.md
// shows the examples as they are. It has no code.
package layout
