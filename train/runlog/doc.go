// Package runlog defines the log of a training run, the file log.jsonl in the folder of its
// checkpoints: the schema, a writer and a reader. It imports only the standard library, so that a
// program can read logs without linking in package train.
//
// A log is a sequence of records, one JSON object per line. The field "event" is the kind of the
// record; README.md lists every field with its unit.
//
//	record.go  the schema: one struct for each kind of record
//	writer.go  Writer: appends records and flushes them
//	rounds.go  ReadRounds: the logs of a training in rounds
//	reader.go  Read: parses a log into a Run, without the records that a resume repeats
//
// # Terms
//
//   - record: one line of log.jsonl
//   - kind: value of a record's field "event": start, step, valid, averaged, cooldown, saved,
//     end
//   - run: one training, from its first start record to its end record, resumes included
//   - resume: a start record whose step is that of a checkpoint; it repeats later steps
//   - partial line: the last line of a killed run, without a newline
package runlog
