// Package tensorboard writes the event files that TensorBoard shows: scalars and histograms over
// the steps of a training. It imports the standard library alone. tensorboard.go is all of it.
//
// An event file is a sequence of records in TensorFlow's TFRecord framing. Each record is one
// protocol buffer, an Event (tensorflow/core/util/event.proto; the fields that are used here are
// named at the functions that write them):
//
//	uint64 length | uint32 masked CRC-32C of these 8 bytes | Event | uint32 masked CRC-32C of Event
//
// in little-endian order, where a checksum c is masked as (c rotated right by 15 bits) +
// 0xa282ead8. The first Event names the version of the format. TensorBoard reads all files of a
// folder whose names contain "tfevents", in the order of their names.
//
// # Runs that are resumed
//
// A training that is resumed at step n makes steps again that its killed predecessor has reported.
// Writer.Start(n+1) at the beginning of a new file in the same folder makes TensorBoard drop what
// it has read of steps from n+1 on, so that no part of a curve is shown twice. Its faster loader
// (TensorBoard 2.5 and later) ignores that mark, but when a tag comes with a step that is not later
// than the one before it, it drops that tag's events from there on, which has the same effect.
package tensorboard

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"time"
)

// Writer writes the events of one file, each by one call of the io.Writer's Write. After the first
// events, scalars allocate nothing. Not for concurrent use.
type Writer struct {
	w             io.Writer
	record        []byte // the framing and the Event in it
	value, packed []byte // a Summary, and a message inside it
}

// Scalar is a number with its name. The part of a name up to a slash is that of a group.
type Scalar struct {
	Tag   string
	Value float64 // shown as float32
}

// Histogram counts values: Counts[i] of them are in (Limits[i-1], Limits[i]], and Counts[0] from
// Min to Limits[0]. TensorBoard takes Max for the upper end of the last interval, so neither the
// first nor the last interval should be empty.
type Histogram struct {
	Min, Max        float64 // of the values
	Sum, SumSquares float64 // likewise
	Limits          []float64
	Counts          []float64 // as many as Limits
}

// FileName returns the name of an event file that begins now. Later files of a folder come later in
// the order of names.
func FileName(now time.Time) string {
	return fmt.Sprintf("events.out.tfevents.%010d.%09d.tfm", now.Unix(), now.Nanosecond())
}

// NewWriter writes the beginning of an event file to w. The error is that of w.
func NewWriter(w io.Writer, now time.Time) (*Writer, error) {
	t := &Writer{w: w}
	t.begin(now, 0)
	t.record = appendBytes(t.record, eventFileVersion, "brain.Event:2")
	return t, t.end()
}

// Start says that steps from this one on follow, and that events of such steps in earlier files no
// longer count. The error is that of the io.Writer, as of all methods.
func (t *Writer) Start(now time.Time, step int) error {
	t.begin(now, step)
	t.record = appendBytes(t.record, eventSessionLog, appendVarint(nil, sessionLogStatus, sessionLogStart))
	return t.end()
}

// Scalars writes numbers of a step.
func (t *Writer) Scalars(now time.Time, step int, scalars ...Scalar) error {
	t.begin(now, step)
	for _, s := range scalars {
		t.value = appendBytes(t.value, summaryValue, t.scalar(s))
	}
	t.record = appendBytes(t.record, eventSummary, t.value)
	return t.end()
}

// Histogram writes a histogram of a step. It panics if the numbers of limits and counts differ.
func (t *Writer) Histogram(now time.Time, step int, tag string, h Histogram) error {
	if len(h.Limits) != len(h.Counts) {
		panic(fmt.Sprintf("tensorboard: a histogram of %d limits and %d counts", len(h.Limits), len(h.Counts)))
	}
	t.begin(now, step)
	t.value = appendBytes(t.value, summaryValue, t.histogram(tag, h))
	t.record = appendBytes(t.record, eventSummary, t.value)
	return t.end()
}

const framing = 8 + 4 // in front of the Event

// begin begins a record: Event.wall_time in seconds and Event.step.
func (t *Writer) begin(now time.Time, step int) {
	t.record = append(t.record[:0], make([]byte, framing)...)
	t.record = appendDouble(t.record, eventWallTime, float64(now.UnixMicro())/1e6)
	t.record = appendVarint(t.record, eventStep, uint64(step))
	t.value = t.value[:0]
}

// end writes the record.
func (t *Writer) end() error {
	length := uint64(len(t.record) - framing)
	binary.LittleEndian.PutUint64(t.record, length)
	binary.LittleEndian.PutUint32(t.record[8:], maskedCRC(t.record[:8]))
	t.record = binary.LittleEndian.AppendUint32(t.record, maskedCRC(t.record[framing:]))
	_, err := t.w.Write(t.record)
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func maskedCRC(b []byte) uint32 {
	return bits.RotateLeft32(crc32.Checksum(b, castagnoli), -15) + 0xa282ead8
}

// Fields of the messages Event, SessionLog, Summary, Summary.Value and HistogramProto.
const (
	eventWallTime    = 1 // double
	eventStep        = 2 // int64
	eventFileVersion = 3 // string
	eventSummary     = 5 // Summary
	eventSessionLog  = 7 // SessionLog

	sessionLogStatus = 1 // enum
	sessionLogStart  = 1

	summaryValue = 1 // repeated Value

	valueTag       = 1 // string
	valueSimple    = 2 // float
	valueHistogram = 5 // HistogramProto

	histogramMin        = 1 // double, as the next ones
	histogramMax        = 2
	histogramCount      = 3
	histogramSum        = 4
	histogramSumSquares = 5
	histogramLimits     = 6 // repeated double, packed
	histogramCounts     = 7 // likewise
)

func (t *Writer) scalar(s Scalar) []byte {
	t.packed = appendBytes(t.packed[:0], valueTag, s.Tag)
	t.packed = appendKey(t.packed, valueSimple, fixed32)
	t.packed = binary.LittleEndian.AppendUint32(t.packed, math.Float32bits(float32(s.Value)))
	return t.packed
}

func (t *Writer) histogram(tag string, h Histogram) []byte {
	var count float64
	for _, c := range h.Counts {
		count += c
	}
	var p []byte
	p = appendDouble(p, histogramMin, h.Min)
	p = appendDouble(p, histogramMax, h.Max)
	p = appendDouble(p, histogramCount, count)
	p = appendDouble(p, histogramSum, h.Sum)
	p = appendDouble(p, histogramSumSquares, h.SumSquares)
	p = appendBytes(p, histogramLimits, doubles(h.Limits))
	p = appendBytes(p, histogramCounts, doubles(h.Counts))
	t.packed = appendBytes(t.packed[:0], valueTag, tag)
	t.packed = appendBytes(t.packed, valueHistogram, p)
	return t.packed
}

// Wire types of protocol buffers.
const (
	varint    = 0
	fixed64   = 1
	delimited = 2
	fixed32   = 5
)

func appendKey(b []byte, field, wire uint64) []byte { return binary.AppendUvarint(b, field<<3|wire) }

func appendVarint(b []byte, field, x uint64) []byte {
	return binary.AppendUvarint(appendKey(b, field, varint), x)
}

func appendDouble(b []byte, field uint64, x float64) []byte {
	return binary.LittleEndian.AppendUint64(appendKey(b, field, fixed64), math.Float64bits(x))
}

func appendBytes[T string | []byte](b []byte, field uint64, x T) []byte {
	b = binary.AppendUvarint(appendKey(b, field, delimited), uint64(len(x)))
	return append(b, x...)
}

func doubles(x []float64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}
