// Package runlog is the format of a training run's log, the file log.jsonl in the folder of its
// checkpoints: one schema, its writer and its reader. It imports the standard library alone, so
// that a program can show a run without linking in what trains one.
//
// A log is lines of JSON objects. The field "event" says which of the types of line.go a line
// holds; README.md lists every field with its unit.
//
//	line.go    the schema: a struct for each kind of line
//	writer.go  Writer: appends lines, flushes them, cuts off the half line that a killed run left
//	reader.go  Read: a log as a Run, without the steps that a resumed run made again
package runlog
